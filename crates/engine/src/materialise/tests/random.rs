//! Random schemas and data: what is inferred is what the same rules add as updates, applied one by one until none adds anything; and what
//! run-time reasoning finds. `LODE_RULES_CASES` tries more of them, `LODE_RULES_SEED` others.

use super::{MaterialiseOptions, PROLOGUE, apply, by, database, rows, triples, update};
use crate::options::DefaultGraph;
use crate::testing::Random;
use crate::{Database, QueryOptions, Reasoning, RuleSet, UpdateOptions};
use std::collections::BTreeSet;

const CLASSES: [&str; 5] = [":A", ":B", ":C", ":D", ":E"];
const PROPERTIES: [&str; 5] = [":p", ":q", ":r", ":t", ":u"];
const THINGS: [&str; 6] = [":a", ":b", ":c", ":d", ":e", ":f"];
const SKOS: [&str; 10] = [
    "skos:broader",
    "skos:narrower",
    "skos:related",
    "skos:broaderTransitive",
    "skos:exactMatch",
    "skos:closeMatch",
    "skos:broadMatch",
    "skos:inScheme",
    "skos:topConceptOf",
    "skos:member",
];

/// A statement of a schema: of RDF Schema, of what `rdfs-plus` knows, or of OWL.
pub(super) fn schema(random: &mut Random, kinds: usize) -> String {
    let (class, property) = (random.of(&CLASSES), random.of(&PROPERTIES));
    let (other_class, other_property) = (random.of(&CLASSES), random.of(&PROPERTIES));
    match random.below(kinds) {
        0 | 1 => format!("{class} rdfs:subClassOf {other_class}"),
        2 => format!("{property} rdfs:subPropertyOf {other_property}"),
        3 => format!("{property} rdfs:domain {class}"),
        4 => format!("{property} rdfs:range {class}"),
        5 => format!("{property} owl:inverseOf {other_property}"),
        6 => format!("{property} a {}", random.of(&["owl:SymmetricProperty", "owl:TransitiveProperty"])),
        7 => format!("{class} owl:equivalentClass {other_class}"),
        8 => format!("{property} owl:equivalentProperty {other_property}"),
        9 => format!(
            "{class} owl:intersectionOf ({other_class} {} {})",
            random.of(&CLASSES),
            random.of(&CLASSES)
        ),
        10 => format!("{class} owl:unionOf ({other_class} {})", random.of(&CLASSES)),
        11 => format!("{class} owl:someValuesFrom {other_class} ; owl:onProperty {property}"),
        12 => format!("{class} owl:allValuesFrom {other_class} ; owl:onProperty {property}"),
        13 => format!("{class} owl:hasValue {} ; owl:onProperty {property}", random.of(&THINGS)),
        14 => format!("{property} owl:propertyChainAxiom ({other_property} {})", random.of(&PROPERTIES)),
        15 => format!(
            "{property} a {}",
            random.of(&["owl:FunctionalProperty", "owl:InverseFunctionalProperty"])
        ),
        16 => format!("{class} owl:hasKey ({property} {other_property})"),
        17 => format!("{} owl:sameAs {}", random.of(&THINGS), random.of(&THINGS)),
        18 => format!("{class} owl:oneOf ({} {})", random.of(&THINGS), random.of(&THINGS)),
        _ => format!("{class} a owl:Class . {property} a owl:ObjectProperty"),
    }
}

pub(super) fn fact(random: &mut Random, set: RuleSet) -> String {
    if set == RuleSet::Skos {
        return format!("{} {} {}", random.of(&THINGS), random.of(&SKOS), random.of(&THINGS));
    }
    match random.below(4) {
        0 => format!("{} a {}", random.of(&THINGS), random.of(&CLASSES)),
        1 if random.below(3) == 0 => format!("{} {} 7", random.of(&THINGS), random.of(&PROPERTIES)),
        _ => format!("{} {} {}", random.of(&THINGS), random.of(&PROPERTIES), random.of(&THINGS)),
    }
}

/// What a set of rules has something to do with.
pub(crate) fn data(random: &mut Random, set: RuleSet) -> String {
    let kinds = match set {
        RuleSet::Rdfs => 5,
        RuleSet::RdfsPlus => 9,
        RuleSet::Owl2Rl => 20,
        RuleSet::Skos => 0,
    };
    let mut all = Vec::new();
    if kinds > 0 {
        all.extend((0..random.below(7) + 1).map(|_| schema(random, kinds)).collect::<Vec<_>>());
    }
    all.extend((0..random.below(10) + 2).map(|_| fact(random, set)).collect::<Vec<_>>());
    all.join(" . ")
}

/// Each rule as an update, until none adds anything.
pub(super) fn one_by_one(rules: &str, data: &str) -> BTreeSet<String> {
    let all = database(data);
    let text = format!("{PROLOGUE}{}", rules.replace("CONSTRUCT", "INSERT"));
    loop {
        let report = all.update(&text, &UpdateOptions::default()).unwrap();
        if report.inserted == 0 {
            break;
        }
    }
    update(&all, "DELETE { ?s ?p ?o } WHERE { ?s ?p ?o FILTER(STRSTARTS(STR(?p), 'urn:lodestore:rules:')) }");
    triples(&all, true)
}

pub(super) fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

fn cases(set: RuleSet, usual: u64, check: impl Fn(u64, &str, Database)) {
    let (cases, seed) = (number("LODE_RULES_CASES", usual), number("LODE_RULES_SEED", 1));
    for case in seed..seed + cases {
        let data = data(&mut Random(case << 20), set);
        let all = database(&data);
        apply(&all, &[set.name()]);
        check(case, &data, all);
    }
}

pub(super) fn blanks_aside(triples: &BTreeSet<String>) -> (usize, BTreeSet<String>) {
    let named = triples.iter().filter(|triple| !triple.contains("_:")).cloned().collect();
    (triples.len(), named)
}

fn like_updates(set: RuleSet, usual: u64) {
    cases(set, usual, |case, data, all| {
        let (found, expected) = (triples(&all, true), one_by_one(set.text(), data));
        assert_eq!(
            blanks_aside(&found),
            blanks_aside(&expected),
            "{} LODE_RULES_SEED={case}\n{data}",
            set.name()
        );
    });
}

#[test]
fn rdfs_is_what_updates_add() {
    like_updates(RuleSet::Rdfs, 60);
}

#[test]
fn rdfs_plus_is_what_updates_add() {
    like_updates(RuleSet::RdfsPlus, 60);
}

#[test]
fn skos_is_what_updates_add() {
    like_updates(RuleSet::Skos, 30);
}

#[test]
fn owl2_rl_is_what_updates_add() {
    like_updates(RuleSet::Owl2Rl, 40);
}

#[test]
fn any_number_of_threads_finds_the_same_and_tells_the_same() {
    for case in 1..number("LODE_RULES_CASES", 12) {
        let mut random = Random(case << 28);
        let set = [RuleSet::RdfsPlus, RuleSet::Owl2Rl][random.below(2)];
        let mut data = data(&mut random, set);
        for _ in 0..random.below(300) + 50 {
            let (s, p, o) = (random.below(60), random.of(&PROPERTIES), random.below(60));
            let class = random.of(&CLASSES);
            data += &if o < 20 { format!(" . :x{s} a {class}") } else { format!(" . :x{s} {p} :x{o}") };
        }
        let default_graph = (case % 3 == 0).then_some(DefaultGraph::Union);
        let by_threads = |threads: usize| {
            let all = database(&data);
            let evaluation = QueryOptions { threads, ..QueryOptions::default() };
            let options = MaterialiseOptions { evaluation, default_graph, ..by(&[set.name()]) };
            let report = all.materialise(&options).unwrap();
            let told = report.rules.iter().map(|rule| (rule.rule.clone(), rule.triples, rule.evaluations));
            let told: Vec<_> = told.collect();
            (blanks_aside(&triples(&all, true)), report.rounds, report.inferred, told)
        };
        let expected = by_threads(1);
        for threads in [2, 5] {
            assert_eq!(by_threads(threads), expected, "case {case}, {threads} threads\n{data}");
        }
    }
}

#[test]
fn what_run_time_reasoning_finds_is_what_is_inferred() {
    for set in [RuleSet::Rdfs, RuleSet::RdfsPlus] {
        cases(set, 60, |case, data, all| {
            // Where properties turn round, run-time reasoning goes through literals.
            if data.contains(" 7") {
                return;
            }
            let stated = database(data);
            let reasoning = Reasoning::by(set.name().parse().unwrap());
            let options = QueryOptions { reasoning, ..QueryOptions::default() };
            let found: BTreeSet<String> =
                rows(&stated, "SELECT * { ?s ?p ?o }", &options).into_iter().collect();
            assert_eq!(triples(&all, true), found, "{} LODE_RULES_SEED={case}\n{data}", set.name());
        });
    }
}

#[test]
fn changes_and_the_kept_rules_lead_to_what_a_new_database_has() {
    for case in 1..number("LODE_RULES_CASES", 25) {
        let mut random = Random(case << 24);
        let set = [RuleSet::RdfsPlus, RuleSet::Owl2Rl][random.below(2)];
        let (first, second) = (data(&mut random, set), data(&mut random, set));
        let all = database(&first);
        apply(&all, &[set.name()]);
        update(&all, &format!("INSERT DATA {{ {second} }}"));
        update(&all, "DELETE WHERE { ?x a :A } ; DELETE WHERE { :A ?p ?o } ; DELETE WHERE { ?s :p ?o }");
        let report = all.materialise(&by(&[])).unwrap();
        assert!(!report.was_up_to_date || report.inferred == report.before);
        let fresh = database(&first);
        update(&fresh, &format!("INSERT DATA {{ {second} }}"));
        update(&fresh, "DELETE WHERE { ?x a :A } ; DELETE WHERE { :A ?p ?o } ; DELETE WHERE { ?s :p ?o }");
        apply(&fresh, &[set.name()]);
        assert_eq!(blanks_aside(&triples(&all, true)), blanks_aside(&triples(&fresh, true)), "case {case}");
        assert_eq!(blanks_aside(&triples(&all, false)), blanks_aside(&triples(&fresh, false)), "case {case}");
    }
}

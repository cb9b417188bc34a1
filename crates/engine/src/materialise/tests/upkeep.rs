//! Commits bring what follows up to date: after each of many random transactions it is what the rules give from nothing. `LODE_UPKEEP_SETS` and
//! `LODE_UPKEEP_COMMITS` say of how many sets of rules, with how many transactions for each; `LODE_RULES_SEED` tries others.

use super::super::upkeep::{ANEW, ROWS};
use super::random::{data, fact, number, schema};
use super::upkeep_rules;
use super::{apply, by, database, rows, update};
use crate::testing::Random;
use crate::{Database, DefaultGraph, MaterialiseOptions, QueryOptions, RuleSet, UpdateOptions};
use lode_store::WriteOptions;
use std::collections::BTreeSet;

/// What was inferred.
pub(super) fn inferred(all: &Database) -> BTreeSet<String> {
    let query = "SELECT * { GRAPH <urn:lodestore:inferred> { ?s ?p ?o } }";
    rows(all, query, &QueryOptions::default()).into_iter().collect()
}

/// Fails where what was inferred is not what rules give from nothing.
pub(super) fn check(all: &Database, options: &MaterialiseOptions, what: &dyn Fn() -> String) {
    let known = all.inferences(&all.snapshot()).unwrap().unwrap();
    assert!(known.maintained, "{}", what());
    check_with(all, options, what);
}

/// The same, whoever has brought it up to date.
pub(super) fn check_with(all: &Database, options: &MaterialiseOptions, what: &dyn Fn() -> String) {
    let known = all.inferences(&all.snapshot()).unwrap().unwrap();
    assert!(known.up_to_date, "{}", what());
    let kept = inferred(all);
    all.drop_inferences(&QueryOptions::default()).unwrap();
    all.materialise(options).unwrap();
    let anew = inferred(all);
    let (too_few, too_many): (Vec<_>, Vec<_>) =
        (anew.difference(&kept).collect(), kept.difference(&anew).collect());
    assert!(kept == anew, "missing: {too_few:?}\nnot to be there: {too_many:?}\n{}", what());
}

/// A transaction: facts that come, and of those that are there some that go.
pub(super) fn transaction(
    random: &mut Random,
    there: &mut Vec<String>,
    new: &dyn Fn(&mut Random) -> String,
) -> String {
    let mut text = String::new();
    for _ in 0..random.below(4) + 1 {
        if random.below(5) < 2 && !there.is_empty() {
            let gone = there.swap_remove(random.below(there.len()));
            text += &format!("DELETE DATA {{ {gone} }} ;\n");
        } else {
            let one = new(random);
            text += &format!("INSERT DATA {{ {one} }} ;\n");
            if !one.contains('(') {
                there.push(one);
            }
        }
    }
    text
}

#[test]
fn random_rules_after_each_commit() {
    let (sets, commits) = (number("LODE_UPKEEP_SETS", 40), number("LODE_UPKEEP_COMMITS", 8));
    let seed = number("LODE_RULES_SEED", 1);
    let (mut tried, mut case) = (0, seed);
    while tried < sets {
        let at = case;
        case += 1;
        let mut random = Random(at << 22);
        let text = upkeep_rules::rules(&mut random);
        let mut options = by(&[&text]);
        options.default_graph = (random.below(5) == 0).then_some(DefaultGraph::Union);
        let all = database(":a :p :b");
        // Not all have strata.
        if all.materialise(&options).is_err() {
            continue;
        }
        tried += 1;
        let (mut there, mut done) = (Vec::new(), String::new());
        for _ in 0..commits {
            let request = transaction(&mut random, &mut there, &upkeep_rules::fact);
            done += &format!("--\n{request}");
            update(&all, &request);
            check(&all, &options, &|| format!("LODE_RULES_SEED={at}\n{text}\n{done}"));
        }
    }
    println!("{tried} sets of rules, {} transactions", tried * commits);
    assert!(tried * 2 > case - seed, "{tried} of {}", case - seed);
    assert_eq!(ANEW.get(), 0);
}

#[test]
fn sets_of_rules_after_each_commit() {
    let (cases, commits) = (number("LODE_UPKEEP_SETS", 24), number("LODE_UPKEEP_COMMITS", 6));
    let seed = number("LODE_RULES_SEED", 1);
    for case in seed..seed + cases {
        let mut random = Random(case << 21);
        let set = [RuleSet::Rdfs, RuleSet::RdfsPlus, RuleSet::Owl2Rl, RuleSet::Owl2Rl, RuleSet::Skos]
            [case as usize % 5];
        let kinds = match set {
            RuleSet::Rdfs => 5,
            RuleSet::RdfsPlus => 9,
            _ => 20,
        };
        let new = |random: &mut Random| match (set, random.below(3)) {
            (RuleSet::Skos, _) | (_, 1..) => fact(random, set),
            _ => schema(random, kinds),
        };
        let first = data(&mut random, set);
        let all = database(&first);
        let options = by(&[set.name()]);
        apply(&all, &[set.name()]);
        let (mut there, mut done) = (Vec::new(), String::new());
        for _ in 0..commits {
            let request = match random.below(12) {
                0 => "DELETE WHERE { ?x a :A }".to_owned(),
                1 => "DELETE WHERE { ?s :p ?o } ; DELETE WHERE { :A ?p ?o }".to_owned(),
                _ => transaction(&mut random, &mut there, &new),
            };
            done += &format!("--\n{request}");
            update(&all, &request);
            check(&all, &options, &|| format!("{} LODE_RULES_SEED={case}\n{first}\n{done}", set.name()));
        }
    }
    assert_eq!(ANEW.get(), 0);
}

#[test]
fn what_takes_too_long_is_made_anew_in_the_same_commit() {
    let cases = number("LODE_UPKEEP_SETS", 12);
    for case in 1..=cases {
        let mut random = Random(case << 20);
        // Given up at once, or in the middle; what was inferred is in segments, or in memory.
        ROWS.set(Some([0, 30, 200][random.below(3)]));
        let logged_changes_max = [16, 100_000][random.below(2)];
        let all =
            Database::in_memory_with(WriteOptions { logged_changes_max, ..WriteOptions::default() }).unwrap();
        let first = data(&mut random, RuleSet::Owl2Rl);
        update(&all, &format!("INSERT DATA {{ {first} }}"));
        apply(&all, &["owl2-rl"]);
        let (mut there, mut done) = (Vec::new(), String::new());
        let new = |random: &mut Random| match random.below(3) {
            0 => schema(random, 20),
            _ => fact(random, RuleSet::Owl2Rl),
        };
        for _ in 0..5 {
            let request = transaction(&mut random, &mut there, &new);
            done += &format!("--\n{request}");
            update(&all, &request);
            check(&all, &by(&["owl2-rl"]), &|| format!("LODE_UPKEEP_SETS, case {case}\n{first}\n{done}"));
        }
    }
    ROWS.set(None);
    assert!(ANEW.get() > cases);
}

#[test]
fn commits_that_make_all_anew_count_what_was_asked_for() {
    ROWS.set(Some(0));
    for logged_changes_max in [8, 100_000] {
        let all =
            Database::in_memory_with(WriteOptions { logged_changes_max, ..WriteOptions::default() }).unwrap();
        let things: Vec<String> = (0..30).map(|i| format!(":x{i} a :A")).collect();
        update(
            &all,
            &format!(
                "INSERT DATA {{ :A rdfs:subClassOf :B . :B rdfs:subClassOf :C . {} }}",
                things.join(" . ")
            ),
        );
        apply(&all, &["rdfs"]);
        let change = |request: &str| {
            let report =
                all.update(&format!("{}{request}", super::PROLOGUE), &UpdateOptions::default()).unwrap();
            (report.inserted, report.deleted, report.inferences_stale)
        };
        let count = |class: &str| {
            rows(&all, &format!("SELECT ?x {{ ?x a {class} }}"), &QueryOptions::default()).len()
        };
        assert_eq!(change("DELETE DATA { :B rdfs:subClassOf :C }"), (0, 1, false));
        assert_eq!((count(":B"), count(":C")), (30, 0));
        assert_eq!(change("INSERT DATA { :B rdfs:subClassOf :D . :y a :A }"), (2, 0, false));
        assert_eq!((count(":B"), count(":D")), (31, 31));
        assert_eq!(change("DELETE WHERE { ?x a :A }"), (0, 31, false));
        assert_eq!(count("?c"), 0);
        check(&all, &by(&["rdfs"]), &String::new);
    }
    ROWS.set(None);
}

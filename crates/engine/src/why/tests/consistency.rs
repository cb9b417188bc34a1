//! What is contradictory: by each rule of the sets that says so, and by rules of one's own; with its proof.

use super::*;
use crate::{Consistency, RuleSet};

/// A rule, data that are contradictory by it, and data that are not.
const OWL: &[(&str, &str, &str)] = &[
    ("eq-diff1", ":x owl:sameAs :y . :x owl:differentFrom :y", ":x owl:sameAs :y . :x owl:differentFrom :z"),
    ("eq-diff1", ":x owl:differentFrom :x", ":x owl:differentFrom :y"),
    (
        "eq-diff2",
        "[] a owl:AllDifferent ; owl:members (:u :x :v :y) . :x owl:sameAs :y",
        "[] a owl:AllDifferent ; owl:members (:u :x :v) . :x owl:sameAs :y",
    ),
    (
        "eq-diff3",
        "[] a owl:AllDifferent ; owl:distinctMembers (:x :y) . :y owl:sameAs :x",
        "[] owl:distinctMembers (:x :y) . :y owl:sameAs :x",
    ),
    ("prp-irp", ":p a owl:IrreflexiveProperty . :x :p :x", ":p a owl:IrreflexiveProperty . :x :p :y"),
    (
        "prp-asyp",
        ":p a owl:AsymmetricProperty . :x :p :y . :y :p :x",
        ":p a owl:AsymmetricProperty . :x :p :y . :y :p :z",
    ),
    (
        "prp-pdw",
        ":p owl:propertyDisjointWith :q . :x :p :y ; :q :y",
        ":p owl:propertyDisjointWith :q . :x :p :y . :y :q :x",
    ),
    (
        "prp-adp",
        "[] a owl:AllDisjointProperties ; owl:members (:r :p :q) . :x :p :y ; :q :y",
        "[] a owl:AllDisjointProperties ; owl:members (:r :p :q) . :x :p :y ; :q :z",
    ),
    (
        "prp-npa1",
        "[] owl:sourceIndividual :x ; owl:assertionProperty :p ; owl:targetIndividual :y . :x :p :y",
        "[] owl:sourceIndividual :x ; owl:assertionProperty :p ; owl:targetIndividual :y . :y :p :x",
    ),
    (
        "prp-npa2",
        "[] owl:sourceIndividual :x ; owl:assertionProperty :p ; owl:targetValue 7 . :x :p 7",
        "[] owl:sourceIndividual :x ; owl:assertionProperty :p ; owl:targetValue 7 . :x :p 8",
    ),
    (
        "prp-fp-literal",
        ":p a owl:FunctionalProperty . :x :p 7, 8",
        ":p a owl:FunctionalProperty . :x :p 7, 7.0 . :y :p 8",
    ),
    ("cls-nothing2", ":A rdfs:subClassOf owl:Nothing . :x a :A", ":A rdfs:subClassOf owl:Nothing"),
    ("cls-com", ":A owl:complementOf :B . :x a :A, :B", ":A owl:complementOf :B . :x a :A . :y a :B"),
    (
        "cls-maxc1",
        ":A owl:maxCardinality 0 ; owl:onProperty :p . :x a :A ; :p :y",
        ":A owl:maxCardinality 1 ; owl:onProperty :p . :x a :A ; :p :y",
    ),
    (
        "cls-maxc2-literal",
        ":A owl:maxCardinality 1 ; owl:onProperty :p . :x a :A ; :p 'a', 'b'",
        ":A owl:maxCardinality 1 ; owl:onProperty :p . :x a :A ; :p 'a'",
    ),
    (
        "cls-maxqc1",
        ":A owl:maxQualifiedCardinality 0 ; owl:onProperty :p ; owl:onClass :B . :x a :A ; :p :y . :y a :B",
        ":A owl:maxQualifiedCardinality 0 ; owl:onProperty :p ; owl:onClass :B . :x a :A ; :p :y . :y a :C",
    ),
    (
        "cls-maxqc2",
        ":A owl:maxQualifiedCardinality 0 ; owl:onProperty :p ; owl:onClass owl:Thing . :x a :A ; :p :y",
        ":A owl:maxQualifiedCardinality 2 ; owl:onProperty :p ; owl:onClass owl:Thing . :x a :A ; :p :y",
    ),
    (
        "cax-dw",
        ":A owl:disjointWith :B . :C rdfs:subClassOf :B . :x a :A, :C",
        ":A owl:disjointWith :B . :B rdfs:subClassOf :C . :x a :A, :C",
    ),
    (
        "cax-adc",
        "[] a owl:AllDisjointClasses ; owl:members (:C :A :B) . :x a :A, :B",
        "[] a owl:AllDisjointClasses ; owl:members (:C :A :B) . :x a :A . :y a :B",
    ),
];

const SKOS: &[(&str, &str, &str)] = &[
    ("S9", ":x skos:inScheme :s . :s a skos:Concept", ":x skos:inScheme :s . :x a skos:Concept"),
    (
        "S13-pref-alt",
        ":x skos:prefLabel 'a'@en ; skos:altLabel 'a'@en",
        ":x skos:prefLabel 'a'@en ; skos:altLabel 'a'@de",
    ),
    (
        "S13-pref-hidden",
        ":x skos:prefLabel 'a' ; skos:hiddenLabel 'a'",
        ":x skos:prefLabel 'a' . :y skos:hiddenLabel 'a'",
    ),
    (
        "S13-alt-hidden",
        ":x skos:altLabel 'a' ; skos:hiddenLabel 'a'",
        ":x skos:altLabel 'a' ; skos:hiddenLabel 'b'",
    ),
    ("S14", ":x skos:prefLabel 'a'@en, 'b'@en", ":x skos:prefLabel 'a'@en, 'b'@de"),
    (
        "S27",
        ":x skos:related :y ; skos:broader :z . :z skos:broader :y",
        ":x skos:related :y ; skos:broader :z . :y skos:broader :z",
    ),
    ("S37-concept", ":c skos:member :x . :c a skos:Concept", ":c skos:member :x . :x a skos:Concept"),
    ("S37-scheme", ":c skos:member :x . :y skos:inScheme :c", ":c skos:member :x . :x skos:inScheme :y"),
    ("S46-broad", ":x skos:exactMatch :y ; skos:broadMatch :y", ":x skos:exactMatch :y ; skos:broadMatch :z"),
    (
        "S46-related",
        ":x skos:exactMatch :y . :y skos:relatedMatch :x",
        ":x skos:exactMatch :y . :y skos:closeMatch :x",
    ),
];

fn checked(database: &Database, limit: usize) -> Consistency {
    let options = WhyOptions { proofs_max: limit, ..WhyOptions::default() };
    database.consistency(database.snapshot(), &options).unwrap()
}

#[test]
fn each_rule_finds_what_is_contradictory_and_nothing_else() {
    for (set, cases) in [(RuleSet::Owl2Rl, OWL), (RuleSet::Skos, SKOS)] {
        for (rule, wrong, right) in cases {
            let all = database(wrong);
            apply(&all, set.name());
            let found = checked(&all, 100);
            let names: Vec<_> = found.contradictions.iter().map(|one| one.rule.name.as_str()).collect();
            assert!(names.contains(rule), "{wrong}: {found:?}");
            let explanation =
                asked(&all, "false", &WhyOptions { proofs_max: 100, ..WhyOptions::default() }).unwrap();
            let told = text(&explanation);
            assert!(
                explanation.holds && told.contains(&format!("contradiction   by {rule} of {}", set.name())),
                "{told}"
            );
            let all = database(right);
            apply(&all, set.name());
            let found = checked(&all, 100);
            assert!(found.contradictions.is_empty() && found.is_complete, "{right}: {found:?}");
            assert!(!why(&all, "false").holds, "{right}");
        }
        let names: Vec<_> = set
            .rules()
            .unwrap()
            .into_iter()
            .filter(|rule| rule.is_contradiction())
            .map(|rule| rule.name)
            .collect();
        assert!(
            names.iter().all(|name| cases.iter().any(|(rule, ..)| rule == name)),
            "each has a case: {names:?}"
        );
    }
}

#[test]
fn rules_of_ones_own_say_what_must_not_be() {
    let all = database(":x :age -1 . :y :age 3 . :z :age -7 . :a :parent :b . :b :parent :a");
    apply(
        &all,
        "CONSTRUCT { ?x :above ?z } WHERE { ?x :parent ?z } ;
         # rule loop\nASK { ?x :above ?y . ?y :above ?x FILTER(STR(?x) < STR(?y)) } ;
         CONSTRUCT { ?x :above ?z } WHERE { ?x :above ?y . ?y :above ?z }
         # rule young\nASK WHERE { ?x :age ?n FILTER(?n < 0) }",
    );
    let found = checked(&all, 10);
    assert_eq!((found.rules, found.is_complete, found.is_stale), (2, true, false));
    let names: Vec<_> = found.contradictions.iter().map(|one| one.rule.name.as_str()).collect();
    assert_eq!(names, ["loop", "young", "young"]);
    assert_eq!(checked(&all, 1).contradictions.len(), 1);
    assert!(!checked(&all, 1).is_complete);
    assert!(told(&all, "false").starts_with("contradiction   by young of own.rq\n"), "the shortest first");
    let options = WhyOptions { proofs_max: 10, ..WhyOptions::default() };
    let told = text(&asked(&all, "false", &options).unwrap());
    assert_eq!(told.matches("contradiction").count(), 3, "{told}");
    assert!(told.contains(":a :parent :b   asserted"), "{told}");
    update(&all, "DELETE DATA { :x :age -1 }");
    let found = checked(&all, 10);
    assert_eq!(
        (found.contradictions.len(), found.is_stale),
        (2, false),
        "commits keep inferences up to date"
    );
}

#[test]
fn without_rules_nothing_is_contradictory() {
    let all = database(":A owl:disjointWith :B . :x a :A, :B");
    assert_eq!(checked(&all, 10).rules, 0);
    assert_eq!(
        told(&all, "false"),
        "nothing is contradictory: there are no rules (lode materialise keeps some, and --reason rdfs reasons at run time)\n"
    );
    apply(&all, "rdfs");
    assert_eq!(told(&all, "false"), "nothing is contradictory by rdfs\n");
}

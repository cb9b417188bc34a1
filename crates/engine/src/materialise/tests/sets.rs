//! Each rule of each set: what follows, and what does not where something is missing.

use super::{apply, ask, database};
use crate::RuleSet;
use std::collections::BTreeSet;

/// A rule, data from which something follows by it, what that is, and data from which it does not.
type Case = (&'static str, &'static str, &'static str, &'static str);

const RDFS: &[Case] = &[
    (
        "rdfs5",
        ":p rdfs:subPropertyOf :q . :q rdfs:subPropertyOf :r",
        ":p rdfs:subPropertyOf :r",
        ":p rdfs:subPropertyOf :q . :r rdfs:subPropertyOf :q",
    ),
    (
        "rdfs11",
        ":A rdfs:subClassOf :B . :B rdfs:subClassOf :C . :C rdfs:subClassOf :D",
        ":A rdfs:subClassOf :D",
        ":B rdfs:subClassOf :A . :C rdfs:subClassOf :B . :D rdfs:subClassOf :C",
    ),
    ("rdfs7", ":p rdfs:subPropertyOf :q . :x :p 1", ":x :q 1", ":q rdfs:subPropertyOf :p . :x :p 1"),
    ("rdfs2", ":p rdfs:domain :C . :x :p 1", ":x a :C", ":p rdfs:range :C . :x :p 1"),
    ("rdfs3", ":p rdfs:range :C . :x :p :y", ":y a :C", ":p rdfs:domain :C . :x :p :y"),
    ("rdfs9", ":A rdfs:subClassOf :B . :x a :A", ":x a :B", ":B rdfs:subClassOf :A . :x a :A"),
];

const RDFS_PLUS: &[Case] = &[
    (
        "equivalent-classes",
        ":A owl:equivalentClass :B . :x a :B",
        ":x a :A",
        ":A owl:equivalentClass :B . :x a :C",
    ),
    (
        "equivalent-properties",
        ":p owl:equivalentProperty :q . :x :q :y",
        ":x :p :y",
        ":p owl:equivalentProperty :q . :y :q :x",
    ),
    (
        "intersection",
        ":A owl:intersectionOf (:B :C) . :x a :A",
        ":x a :C",
        ":A owl:intersectionOf (:B :C) . :x a :B",
    ),
    ("inverse", ":p owl:inverseOf :q . :x :p :y", ":y :q :x", ":p owl:inverseOf :q . :x :q :y"),
    ("inverse-back", ":p owl:inverseOf :q . :x :q :y", ":y :p :x", ":p owl:inverseOf :q . :x :p :y"),
    (
        "symmetric",
        ":p a owl:SymmetricProperty . :x :p :y",
        ":y :p :x",
        ":q a owl:SymmetricProperty . :x :p :y",
    ),
    (
        "transitive",
        ":p a owl:TransitiveProperty . :x :p :y . :y :p :z . :z :p :u",
        ":x :p :u",
        ":p a owl:TransitiveProperty . :x :p :y . :z :p :u",
    ),
];

const SKOS: &[Case] = &[
    ("S4", ":x skos:inScheme :s", ":s a skos:ConceptScheme", ":x skos:member :s"),
    ("S5", ":s skos:hasTopConcept :x", ":s a skos:ConceptScheme", ":x skos:hasTopConcept :s"),
    ("S6", ":s skos:hasTopConcept :x", ":x a skos:Concept", ":x skos:inScheme :s"),
    ("S7", ":x skos:topConceptOf :s", ":x skos:inScheme :s", ":s skos:topConceptOf :x"),
    ("S8", ":s skos:hasTopConcept :x", ":x skos:topConceptOf :s", ":x skos:hasTopConcept :s"),
    ("S8-back", ":x skos:topConceptOf :s", ":s skos:hasTopConcept :x", ":x skos:inScheme :s"),
    ("S11", ":x skos:altLabel 'a'", ":x rdfs:label 'a'", ":x skos:notation 'a'"),
    ("S17", ":x skos:scopeNote 'a'", ":x skos:note 'a'", ":x skos:prefLabel 'a'"),
    ("S19", ":x skos:semanticRelation :y", ":y a skos:Concept", ":x skos:member :y"),
    ("S21", ":x skos:related :y", ":x skos:semanticRelation :y", ":x skos:member :y"),
    ("S22-broader", ":x skos:broader :y", ":x skos:broaderTransitive :y", ":y skos:broader :x"),
    ("S22-narrower", ":x skos:narrower :y", ":x skos:narrowerTransitive :y", ":y skos:narrower :x"),
    ("S23", ":x skos:related :y", ":y skos:related :x", ":x skos:related :z"),
    (
        "S24-broader",
        ":x skos:broader :y . :y skos:broader :z",
        ":x skos:broaderTransitive :z",
        ":x skos:broader :y . :z skos:broader :y",
    ),
    (
        "S24-narrower",
        ":x skos:narrowerTransitive :y . :y skos:narrower :z",
        ":x skos:narrowerTransitive :z",
        ":x skos:narrower :y . :z skos:narrower :y",
    ),
    ("S25", ":x skos:broader :y", ":y skos:narrower :x", ":x skos:broaderTransitive :y"),
    ("S25-back", ":x skos:narrower :y", ":y skos:broader :x", ":x skos:narrowerTransitive :y"),
    ("S26", ":x skos:broaderTransitive :y", ":y skos:narrowerTransitive :x", ":x skos:related :y"),
    ("S26-back", ":x skos:narrowerTransitive :y", ":y skos:broaderTransitive :x", ":x skos:related :y"),
    ("S29", ":c a skos:OrderedCollection", ":c a skos:Collection", ":c a skos:Concept"),
    ("S31", ":c skos:member :x", ":c a skos:Collection", ":x skos:member :c"),
    ("S33", ":c skos:memberList (:x)", ":c a skos:OrderedCollection", ":c skos:member :x"),
    ("S36", ":c skos:memberList (:x :y)", ":c skos:member :y", ":c skos:memberList (:x)"),
    ("S39", ":x skos:mappingRelation :y", ":x skos:semanticRelation :y", ":y skos:mappingRelation :x"),
    ("S40", ":x skos:closeMatch :y", ":x skos:mappingRelation :y", ":x skos:related :y"),
    ("S41-broad", ":x skos:broadMatch :y", ":x skos:broader :y", ":x skos:closeMatch :y"),
    ("S41-narrow", ":x skos:narrowMatch :y", ":x skos:narrower :y", ":x skos:closeMatch :y"),
    ("S41-related", ":x skos:relatedMatch :y", ":x skos:related :y", ":x skos:closeMatch :y"),
    ("S42", ":x skos:exactMatch :y", ":x skos:closeMatch :y", ":x skos:broadMatch :y"),
    ("S43", ":x skos:broadMatch :y", ":y skos:narrowMatch :x", ":x skos:broader :y"),
    ("S43-back", ":x skos:narrowMatch :y", ":y skos:broadMatch :x", ":x skos:narrower :y"),
    ("S44-close", ":x skos:closeMatch :y", ":y skos:closeMatch :x", ":x skos:broadMatch :y"),
    ("S44-exact", ":x skos:exactMatch :y", ":y skos:exactMatch :x", ":x skos:closeMatch :y"),
    ("S44-related", ":x skos:relatedMatch :y", ":y skos:relatedMatch :x", ":x skos:related :y"),
    (
        "S45",
        ":x skos:exactMatch :y . :y skos:exactMatch :z",
        ":x skos:exactMatch :z",
        ":x skos:closeMatch :y . :y skos:closeMatch :z",
    ),
];

const OWL: &[Case] = &[
    (
        "scm-cls",
        ":A a owl:Class",
        ":A rdfs:subClassOf :A, owl:Thing . owl:Nothing rdfs:subClassOf :A . :A owl:equivalentClass :A",
        ":A a rdfs:Class",
    ),
    (
        "scm-sco",
        ":A rdfs:subClassOf :B . :B rdfs:subClassOf :C",
        ":A rdfs:subClassOf :C",
        ":A rdfs:subClassOf :B . :C rdfs:subClassOf :B",
    ),
    ("scm-eqc1", ":A owl:equivalentClass :B", ":B rdfs:subClassOf :A", ":A rdfs:subClassOf :B"),
    (
        "scm-eqc2",
        ":A rdfs:subClassOf :B . :B rdfs:subClassOf :A",
        ":A owl:equivalentClass :B",
        ":A rdfs:subClassOf :B",
    ),
    (
        "scm-op",
        ":p a owl:ObjectProperty",
        ":p rdfs:subPropertyOf :p ; owl:equivalentProperty :p",
        ":p a rdf:Property",
    ),
    (
        "scm-dp",
        ":p a owl:DatatypeProperty",
        ":p rdfs:subPropertyOf :p ; owl:equivalentProperty :p",
        ":p a rdf:Property",
    ),
    (
        "scm-spo",
        ":p rdfs:subPropertyOf :q . :q rdfs:subPropertyOf :r",
        ":p rdfs:subPropertyOf :r",
        ":p rdfs:subPropertyOf :q . :r rdfs:subPropertyOf :q",
    ),
    ("scm-eqp1", ":p owl:equivalentProperty :q", ":q rdfs:subPropertyOf :p", ":p rdfs:subPropertyOf :q"),
    (
        "scm-eqp2",
        ":p rdfs:subPropertyOf :q . :q rdfs:subPropertyOf :p",
        ":q owl:equivalentProperty :p",
        ":p rdfs:subPropertyOf :q",
    ),
    (
        "scm-dom1",
        ":p rdfs:domain :A . :A rdfs:subClassOf :B",
        ":p rdfs:domain :B",
        ":p rdfs:domain :A . :B rdfs:subClassOf :A",
    ),
    (
        "scm-dom2",
        ":q rdfs:domain :A . :p rdfs:subPropertyOf :q",
        ":p rdfs:domain :A",
        ":p rdfs:range :A . :p rdfs:subPropertyOf :q . :q rdfs:domain :B",
    ),
    (
        "scm-rng1",
        ":p rdfs:range :A . :A rdfs:subClassOf :B",
        ":p rdfs:range :B",
        ":p rdfs:domain :A . :A rdfs:subClassOf :B",
    ),
    (
        "scm-rng2",
        ":q rdfs:range :A . :p rdfs:subPropertyOf :q",
        ":p rdfs:range :A",
        ":q rdfs:domain :A . :p rdfs:subPropertyOf :q",
    ),
    (
        "scm-hv",
        ":A owl:hasValue :i ; owl:onProperty :p . :B owl:hasValue :i ; owl:onProperty :q . :p rdfs:subPropertyOf :q",
        ":A rdfs:subClassOf :B",
        ":A owl:hasValue :i ; owl:onProperty :p . :B owl:hasValue :j ; owl:onProperty :q . :p rdfs:subPropertyOf :q",
    ),
    (
        "scm-svf1",
        ":A owl:someValuesFrom :C ; owl:onProperty :p . :B owl:someValuesFrom :D ; owl:onProperty :p . :C rdfs:subClassOf :D",
        ":A rdfs:subClassOf :B",
        ":A owl:someValuesFrom :C ; owl:onProperty :p . :B owl:someValuesFrom :D ; owl:onProperty :q . :C rdfs:subClassOf :D",
    ),
    (
        "scm-svf2",
        ":A owl:someValuesFrom :C ; owl:onProperty :p . :B owl:someValuesFrom :C ; owl:onProperty :q . :p rdfs:subPropertyOf :q",
        ":A rdfs:subClassOf :B",
        ":A owl:someValuesFrom :C ; owl:onProperty :p . :B owl:allValuesFrom :C ; owl:onProperty :q . :p rdfs:subPropertyOf :q",
    ),
    (
        "scm-avf1",
        ":A owl:allValuesFrom :C ; owl:onProperty :p . :B owl:allValuesFrom :D ; owl:onProperty :p . :C rdfs:subClassOf :D",
        ":A rdfs:subClassOf :B",
        ":A owl:allValuesFrom :C ; owl:onProperty :p . :B owl:allValuesFrom :D ; owl:onProperty :p . :D rdfs:subClassOf :C",
    ),
    (
        "scm-avf2",
        ":A owl:allValuesFrom :C ; owl:onProperty :p . :B owl:allValuesFrom :C ; owl:onProperty :q . :p rdfs:subPropertyOf :q",
        ":B rdfs:subClassOf :A",
        ":A owl:allValuesFrom :C ; owl:onProperty :q . :B owl:allValuesFrom :C ; owl:onProperty :p . :p rdfs:subPropertyOf :q",
    ),
    ("scm-int", ":A owl:intersectionOf (:B :C)", ":A rdfs:subClassOf :C", ":A owl:unionOf (:B :C)"),
    ("scm-uni", ":A owl:unionOf (:B :C)", ":C rdfs:subClassOf :A", ":A owl:intersectionOf (:B :C)"),
    ("eq-sym", ":x owl:sameAs :y", ":y owl:sameAs :x", ":x owl:differentFrom :y"),
    (
        "eq-trans",
        ":x owl:sameAs :y . :y owl:sameAs :z",
        ":x owl:sameAs :z",
        ":x owl:sameAs :y . :z owl:sameAs :u",
    ),
    ("eq-rep-s", ":x owl:sameAs :y ; :p 1", ":y :p 1", ":x owl:differentFrom :y ; :p 1"),
    ("eq-rep-p", ":p owl:sameAs :q . :x :p 1", ":x :q 1", ":r owl:sameAs :q . :x :p 1"),
    ("eq-rep-o", ":x owl:sameAs :y . :z :p :x", ":z :p :y", ":x owl:sameAs :u . :z :p :x"),
    ("prp-dom", ":p rdfs:domain :C . :x :p 1", ":x a :C", ":p rdfs:range :C . :x :p 1"),
    ("prp-rng", ":p rdfs:range :C . :x :p :y", ":y a :C", ":p rdfs:domain :C . :x :p :y"),
    (
        "prp-fp",
        ":p a owl:FunctionalProperty . :x :p :y, :z",
        ":y owl:sameAs :z",
        ":p a owl:FunctionalProperty . :x :p :y . :u :p :z",
    ),
    (
        "prp-ifp",
        ":p a owl:InverseFunctionalProperty . :y :p 1 . :z :p 1",
        ":y owl:sameAs :z",
        ":p a owl:InverseFunctionalProperty . :y :p 1 . :z :p 2",
    ),
    (
        "prp-symp",
        ":p a owl:SymmetricProperty . :x :p :y",
        ":y :p :x",
        ":q a owl:SymmetricProperty . :x :p :y",
    ),
    (
        "prp-trp",
        ":p a owl:TransitiveProperty . :x :p :y . :y :p :z",
        ":x :p :z",
        ":q a owl:TransitiveProperty . :x :p :y . :y :p :z",
    ),
    ("prp-spo1", ":p rdfs:subPropertyOf :q . :x :p 1", ":x :q 1", ":q rdfs:subPropertyOf :p . :x :p 1"),
    (
        "prp-spo2-1",
        ":p owl:propertyChainAxiom (:a) . :x :a :y",
        ":x :p :y",
        ":p owl:propertyChainAxiom (:a :b) . :x :a :y",
    ),
    (
        "prp-spo2-2",
        ":p owl:propertyChainAxiom (:a :b) . :x :a :y . :y :b :z",
        ":x :p :z",
        ":p owl:propertyChainAxiom (:b :a) . :x :a :y . :y :b :z",
    ),
    (
        "prp-spo2-3",
        ":p owl:propertyChainAxiom (:a :b :c) . :x :a :y . :y :b :z . :z :c 1",
        ":x :p 1",
        ":p owl:propertyChainAxiom (:a :b :c) . :x :a :y . :y :b :z . :y :c 1",
    ),
    (
        "prp-spo2-4",
        ":p owl:propertyChainAxiom (:a :b :c :a) . :x :a :y . :y :b :z . :z :c :u . :u :a :v",
        ":x :p :v",
        ":p owl:propertyChainAxiom (:a :b :c :a) . :x :a :y . :y :b :z . :z :c :u . :u :b :v",
    ),
    (
        "prp-eqp1",
        ":p owl:equivalentProperty :q . :x :p 1",
        ":x :q 1",
        ":p owl:equivalentProperty :r . :x :p 1",
    ),
    (
        "prp-eqp2",
        ":p owl:equivalentProperty :q . :x :q 1",
        ":x :p 1",
        ":r owl:equivalentProperty :q . :x :q 1",
    ),
    ("prp-inv1", ":p owl:inverseOf :q . :x :p :y", ":y :q :x", ":p owl:inverseOf :q . :x :q :y"),
    ("prp-inv2", ":p owl:inverseOf :q . :x :q :y", ":y :p :x", ":p owl:inverseOf :q . :x :p :y"),
    (
        "prp-key-1",
        ":C owl:hasKey (:k) . :x a :C ; :k 1 . :y a :C ; :k 1",
        ":x owl:sameAs :y",
        ":C owl:hasKey (:k) . :x a :C ; :k 1 . :y :k 1",
    ),
    (
        "prp-key-2",
        ":C owl:hasKey (:k :l) . :x a :C ; :k 1 ; :l 2 . :y a :C ; :k 1 ; :l 2",
        ":x owl:sameAs :y",
        ":C owl:hasKey (:k :l) . :x a :C ; :k 1 ; :l 2 . :y a :C ; :k 1 ; :l 3",
    ),
    (
        "prp-key-3",
        ":C owl:hasKey (:k :l :m) . :x a :C ; :k 1 ; :l 2 ; :m 3 . :y a :C ; :k 1 ; :l 2 ; :m 3",
        ":x owl:sameAs :y",
        ":C owl:hasKey (:k :l :m) . :x a :C ; :k 1 ; :l 2 ; :m 3 . :y a :C ; :k 1 ; :l 2",
    ),
    (
        "prp-key-4",
        ":C owl:hasKey (:k :l :m :n) . :x a :C ; :k 1 ; :l 2 ; :m 3 ; :n 4 . :y a :C ; :k 1 ; :l 2 ; :m 3 ; :n 4",
        ":x owl:sameAs :y",
        ":C owl:hasKey (:k :l :m :n) . :x a :C ; :k 1 ; :l 2 ; :m 3 ; :n 4 . :y a :C ; :k 1 ; :l 2 ; :m 3 ; :n 5",
    ),
    ("cls-thing", ":x :p :y", "owl:Thing a owl:Class", ""),
    ("cls-nothing1", ":x :p :y", "owl:Nothing a owl:Class", ""),
    (
        "cls-int1-last",
        ":A owl:intersectionOf (:B) . :x a :B",
        ":x a :A",
        ":A owl:intersectionOf (:B) . :x a :C",
    ),
    (
        "cls-int1-next",
        ":A owl:intersectionOf (:B :C :D) . :x a :B, :C, :D",
        ":x a :A",
        ":A owl:intersectionOf (:B :C :D) . :x a :B, :D",
    ),
    (
        "cls-int1-lists",
        ":A owl:intersectionOf (:B :C) . :x a :B, :C",
        ":x a :A",
        ":A :intersectionOf (:B :C) . :x a :B, :C",
    ),
    (
        "cls-int1",
        ":A owl:intersectionOf (:B :C) . :x a :B, :C",
        ":x a :A",
        ":A owl:intersectionOf (:B :C) . :x a :C",
    ),
    (
        "cls-int2",
        ":A owl:intersectionOf (:B :C) . :x a :A",
        ":x a :B, :C",
        ":A owl:unionOf (:B :C) . :x a :A",
    ),
    ("cls-uni", ":A owl:unionOf (:B :C) . :x a :C", ":x a :A", ":A owl:intersectionOf (:B :C) . :x a :C"),
    (
        "cls-svf1",
        ":A owl:someValuesFrom :C ; owl:onProperty :p . :x :p :y . :y a :C",
        ":x a :A",
        ":A owl:someValuesFrom :C ; owl:onProperty :p . :x :p :y . :y a :D",
    ),
    (
        "cls-svf2",
        ":A owl:someValuesFrom owl:Thing ; owl:onProperty :p . :x :p :y",
        ":x a :A",
        ":A owl:someValuesFrom :Thing ; owl:onProperty :p . :x :p :y",
    ),
    (
        "cls-avf",
        ":A owl:allValuesFrom :C ; owl:onProperty :p . :x a :A ; :p :y",
        ":y a :C",
        ":A owl:allValuesFrom :C ; owl:onProperty :p . :x :p :y",
    ),
    (
        "cls-hv1",
        ":A owl:hasValue 1 ; owl:onProperty :p . :x a :A",
        ":x :p 1",
        ":A owl:hasValue 1 ; owl:onProperty :q . :x a :A",
    ),
    (
        "cls-hv2",
        ":A owl:hasValue 1 ; owl:onProperty :p . :x :p 1",
        ":x a :A",
        ":A owl:hasValue 1 ; owl:onProperty :p . :x :p 2",
    ),
    (
        "cls-maxc2",
        ":A owl:maxCardinality '1'^^xsd:nonNegativeInteger ; owl:onProperty :p . :x a :A ; :p :y, :z",
        ":y owl:sameAs :z",
        ":A owl:maxCardinality 2 ; owl:onProperty :p . :x a :A ; :p :y, :z",
    ),
    (
        "cls-maxqc3",
        ":A owl:maxQualifiedCardinality 1 ; owl:onProperty :p ; owl:onClass :C . :x a :A ; :p :y, :z . :y a :C . :z a :C",
        ":y owl:sameAs :z",
        ":A owl:maxQualifiedCardinality 1 ; owl:onProperty :p ; owl:onClass :C . :x a :A ; :p :y, :z . :y a :C . :z a :D",
    ),
    (
        "cls-maxqc4",
        ":A owl:maxQualifiedCardinality 1 ; owl:onProperty :p ; owl:onClass owl:Thing . :x a :A ; :p :y, :z",
        ":y owl:sameAs :z",
        ":A owl:maxQualifiedCardinality 1 ; owl:onProperty :p ; owl:onClass :Thing . :x a :A ; :p :y, :z",
    ),
    ("cls-oo", ":A owl:oneOf (:x :y)", ":y a :A", ":A owl:unionOf (:x :y)"),
    ("cax-sco", ":A rdfs:subClassOf :B . :x a :A", ":x a :B", ":B rdfs:subClassOf :A . :x a :A"),
    ("cax-eqc1", ":A owl:equivalentClass :B . :x a :A", ":x a :B", ":A owl:disjointWith :B . :x a :A"),
    ("cax-eqc2", ":A owl:equivalentClass :B . :x a :B", ":x a :A", ":A owl:disjointWith :B . :x a :B"),
];

fn check(set: RuleSet, cases: &[&[Case]]) {
    let cases: Vec<Case> = cases.iter().flat_map(|cases| cases.iter().copied()).collect();
    for (rule, data, follows, others) in &cases {
        let all = database(data);
        apply(&all, &[set.name()]);
        assert!(ask(&all, follows), "{} {rule}: {follows}", set.name());
        // What is true without any data cannot be missing.
        if !others.is_empty() {
            let all = database(others);
            apply(&all, &[set.name()]);
            assert!(!ask(&all, follows), "{} {rule}: no {follows}", set.name());
        }
    }
    let tried: BTreeSet<&str> = cases.iter().map(|case| case.0).collect();
    let rules = set.rules().unwrap();
    // What must not be has its cases with explanations.
    let adding = rules.iter().filter(|rule| !rule.is_contradiction());
    let all: BTreeSet<&str> = adding.map(|rule| rule.name.as_str()).collect();
    assert_eq!(tried, all, "{}: a case of each rule", set.name());
}

#[test]
fn rdfs() {
    check(RuleSet::Rdfs, &[RDFS]);
}

#[test]
fn rdfs_plus() {
    check(RuleSet::RdfsPlus, &[RDFS, RDFS_PLUS]);
}

#[test]
fn skos() {
    check(RuleSet::Skos, &[SKOS]);
}

#[test]
fn owl2_rl() {
    check(RuleSet::Owl2Rl, &[OWL]);
}

#[test]
fn what_rules_have_for_themselves_does_not_stay() {
    let all = database(":A owl:intersectionOf (:B :C :D) . :x a :B, :C, :D");
    let report = apply(&all, &["owl2-rl"]);
    assert!(!ask(&all, "?x <urn:lodestore:rules:in> ?y") && !ask(&all, "?x <urn:lodestore:rules:of> ?y"));
    let graph =
        super::rows(&all, "SELECT * { GRAPH <urn:lodestore:inferred> { ?s ?p ?o } }", &Default::default());
    assert_eq!(report.inferred, graph.len() as u64);
}

#[test]
fn lists_without_a_rule_are_told() {
    let all = database(
        ":p owl:propertyChainAxiom (:a :b :c :d :e) . :q owl:propertyChainAxiom (:a :b :c :d) . :C owl:hasKey (:a :b :c :d :e :f)",
    );
    assert_eq!(apply(&all, &["owl2-rl"]).lists_too_long, 2);
    assert_eq!(apply(&all, &["rdfs"]).lists_too_long, 0);
}

//! What is told of a triple.

use super::*;
use crate::{CancelToken, DefaultGraph, GraphRules, GraphSet, QueryOptions, Reasoning, SchemaRules};

#[test]
fn what_is_asserted_says_where() {
    let all = database(":tom a :Cat . GRAPH :g { :tom a :Cat . :rex a :Dog }");
    let explanation = why(&all, ":tom a :Cat");
    assert_eq!(explanation.asserted, ["default", "http://e/g"]);
    assert_eq!((explanation.holds, explanation.proofs[0].height), (true, 0));
    assert_eq!(told(&all, ":tom a :Cat"), ":tom a :Cat   asserted in the default graph, :g\n");
    let elsewhere = told(&all, ":rex a :Dog");
    assert_eq!(elsewhere, ":rex a :Dog\n  is not in what is asked, but asserted in :g\n");
    let nowhere = told(&all, ":rex a :Cat");
    assert_eq!(
        nowhere,
        ":rex a :Cat\n  is not asserted, and does not follow: there are no rules (lode materialise keeps some, and --reason rdfs reasons at run time)\n"
    );
    assert!(!why(&all, ":nobody :knows 'nothing'@en").holds);
}

#[test]
fn trees_have_facts_and_rules() {
    let all = database(
        ":Cat rdfs:subClassOf :Pet . :Pet rdfs:subClassOf :Animal . :owns rdfs:range :Cat . :ann :owns :tom",
    );
    apply(&all, "rdfs");
    assert_eq!(
        told(&all, ":tom a :Animal"),
        "\
:tom a :Animal   by rdfs9 of rdfs
├─ :Cat rdfs:subClassOf :Animal   by rdfs11 of rdfs
│  ├─ :Cat rdfs:subClassOf :Pet   asserted
│  └─ :Pet rdfs:subClassOf :Animal   asserted
└─ :tom a :Cat   by rdfs3 of rdfs
   ├─ :owns rdfs:range :Cat   asserted
   └─ :ann :owns :tom   asserted
"
    );
    let options = WhyOptions { proofs_max: 5, ..WhyOptions::default() };
    let explanation = asked(&all, ":tom a :Animal", &options).unwrap();
    assert_eq!(explanation.proofs.iter().map(|proof| proof.height).collect::<Vec<_>>(), [2, 3]);
    let second = &explanation.proofs[1].steps;
    assert!(second.iter().all(|step| step.rule.is_some() == step.asserted.is_empty()), "{second:?}");
}

#[test]
fn what_does_not_follow_tells_what_is_missing() {
    let all = database(
        ":Cat rdfs:subClassOf :Animal . :owns rdfs:domain :Person . :ann :owns :tom . :tom a :Cat . :bob :likes :tom",
    );
    apply(&all, "rdfs");
    let missing = told(&all, ":bob a :Person");
    assert!(
        missing.starts_with(":bob a :Person\n  is not asserted, and does not follow by rdfs\n"),
        "{missing}"
    );
    assert!(
        missing.contains("would follow by rdfs2 of rdfs if there were: :likes rdfs:domain :Person\n"),
        "{missing}"
    );
    assert!(missing.contains("would follow by rdfs2 of rdfs if there were: :bob :owns ?y\n"), "{missing}");
    let missing = told(&all, ":bob a :Animal");
    assert!(missing.contains("if there were: :bob a :Cat\n"), "{missing}");
}

#[test]
fn long_chains_are_one_step() {
    let chain: String = (0..400).map(|n| format!(":n{n} :next :n{} . ", n + 1)).collect();
    let all = database(&format!("{chain} :next a owl:TransitiveProperty ; rdfs:subPropertyOf :before"));
    apply(&all, "owl2-rl");
    let explanation = why(&all, ":n3 :next :n390");
    let proof = &explanation.proofs[0];
    assert_eq!((proof.height, proof.steps[0].premises.len()), (1, 388));
    assert!(explanation.facts < 1000);
    let deeper = why(&all, ":n3 :before :n390");
    assert_eq!(deeper.proofs[0].height, 2);
    // Of steps that follow themselves.
    let edges: String = (0..40).map(|n| format!(":n{n} :edge :n{} . ", n + 1)).collect();
    let all = database(&format!("{edges} :next a owl:TransitiveProperty . :edge rdfs:subPropertyOf :next"));
    apply(&all, "rdfs-plus");
    let proof = &why(&all, ":n0 :next :n40").proofs[0];
    assert_eq!((proof.height, proof.steps[0].premises.len()), (2, 41));
}

#[test]
fn lists_are_walked_and_what_sets_have_for_themselves_is_not_told() {
    let all = database(
        ":Both owl:intersectionOf (:A :B :C) . :x a :A, :B, :C . :y a :Both . :Any owl:unionOf (:A :D) . :z a :D",
    );
    apply(&all, "owl2-rl");
    for (triple, leaves) in [(":x a :Both", 10), (":y a :C", 5), (":z a :Any", 4)] {
        let explanation = why(&all, triple);
        let text = text(&explanation);
        assert!(!text.contains("urn:lodestore") && !text.contains("aux:"), "{text}");
        assert!(text.contains("owl:intersectionOf") || text.contains("owl:unionOf"), "{text}");
        let stated = explanation.proofs[0].steps.iter().filter(|step| step.rule.is_none()).count();
        assert_eq!(stated, leaves, "{text}");
    }
}

#[test]
fn rules_of_ones_own_tell_their_conditions() {
    let all = database(":a :knows :b . :b :age 7 . :c :age 70 . GRAPH :g { :b :likes :c }");
    apply(
        &all,
        "# rule old\nCONSTRUCT { ?x a :Old } WHERE { ?x :age ?n FILTER(?n > 60) };
         # rule lonely\nCONSTRUCT { ?x a :Lonely } WHERE { ?x :age ?n FILTER NOT EXISTS { ?y :knows ?x } };
         # rule fan\nCONSTRUCT { ?x :fan ?y } WHERE { GRAPH :g { ?x :likes ?y } ?y a :Old };
         # rule many\nCONSTRUCT { ?x :count ?n } WHERE { { SELECT ?x (COUNT(*) AS ?n) { ?x :age ?a } GROUP BY ?x } };
         # rule named\nCONSTRUCT { ?i a :Name } WHERE { ?x :age ?a BIND(IRI(CONCAT(STR(?x), '-name')) AS ?i) };
         # rule either\nCONSTRUCT { ?x a :Either } WHERE { { ?x :nothing ?y } UNION { ?x ^:likes|:knows+ ?y } }",
    );
    let old = told(&all, ":c a :Old");
    assert!(old.contains("where FILTER(") && old.contains(":c :age \"70\"^^xsd:integer   asserted"), "{old}");
    let lonely = told(&all, ":c a :Lonely");
    assert!(lonely.contains("by lonely of own.rq") && lonely.contains("NOT"), "{lonely}");
    let fan = told(&all, ":b :fan :c");
    assert!(fan.contains(":b :likes :c   asserted in :g") && fan.contains("by old"), "{fan}");
    let many = told(&all, ":b :count 1");
    assert!(many.contains("by many of own.rq") && many.contains("COUNT"), "{many}");
    let named = told(&all, "<http://e/c-name> a :Name");
    assert!(named.contains("by named") && named.contains(":c :age"), "{named}");
    let either = told(&all, ":a a :Either");
    assert!(either.contains("by either") && either.contains(":a :knows :b   asserted"), "{either}");
}

#[test]
fn what_is_computed_or_may_be_missing_must_be_the_same() {
    let all = database(":a :p 1 ; :q :x . :b :p 2 . :c :p :z ; :both :y . :d :both :y");
    apply(
        &all,
        "# rule maybe\nCONSTRUCT { ?s :maybe ?v } WHERE { ?s :p ?n OPTIONAL { ?s :q ?v } };
         # rule twice\nCONSTRUCT { ?s :twice ?m } WHERE { ?s :p ?n BIND(?n * 2 AS ?m) };
         # rule one\nCONSTRUCT { ?s :one ?v } WHERE { { ?s :q ?v } UNION { ?s :p ?k } };
         # rule given\nCONSTRUCT { ?s :given ?v } WHERE { VALUES ?v { :u :v } ?s :both ?k };
         # rule shared\nCONSTRUCT { ?s :maybe ?v } WHERE { ?s :both ?v }",
    );
    for (triple, rule) in [
        (":a :maybe :x", "maybe"),
        (":c :maybe :y", "shared"),
        (":d :maybe :y", "shared"),
        (":b :twice 4", "twice"),
        (":a :one :x", "one"),
        (":d :given :v", "given"),
    ] {
        let told = told(&all, triple);
        assert!(told.contains(&format!("by {rule} of own.rq")) && told.contains("asserted"), "{told}");
    }
    let options = WhyOptions { proofs_max: 9, ..WhyOptions::default() };
    let several = asked(&all, ":c :maybe :y", &options).unwrap();
    assert_eq!(several.proofs.len(), 1, "{}", text(&several));
    for triple in [":b :maybe :x", ":b :twice 5", ":b :one :x", ":d :given :w"] {
        let missing = why(&all, triple);
        assert!(!missing.holds && missing.nearest.iter().all(|one| one.rule.name != "twice"), "{missing:?}");
    }
}

#[test]
fn what_would_be_inferred_now_is_told() {
    let all = database(":Cat rdfs:subClassOf :Animal");
    apply_maintained(&all, "rdfs", false);
    update(&all, "INSERT DATA { :tom a :Cat }");
    let explanation = why(&all, ":tom a :Animal");
    assert!(!explanation.holds && explanation.is_stale && explanation.proofs.len() == 1, "{explanation:?}");
    let told = text(&explanation);
    assert!(told.contains("is not there yet, and follows from what is") && told.contains("rdfs9"), "{told}");
    assert!(told.contains("lode materialise"), "{told}");
}

#[test]
fn stale_inferences_are_told() {
    let all = database(":Cat rdfs:subClassOf :Animal . :tom a :Cat");
    apply_maintained(&all, "rdfs", false);
    update(&all, "DELETE DATA { :tom a :Cat }");
    let explanation = why(&all, ":tom a :Animal");
    assert!(explanation.holds && explanation.is_stale && explanation.proofs.is_empty());
    let text = text(&explanation);
    assert!(
        text.contains("no proof of it was found: it may have followed before")
            && text.contains("lode materialise"),
        "{text}"
    );
    let asserted = QueryOptions { inferred: false, ..QueryOptions::default() };
    let options = WhyOptions { evaluation: asserted, ..WhyOptions::default() };
    assert!(!asked(&all, ":tom a :Animal", &options).unwrap().holds);
}

#[test]
fn who_may_read_little_is_told_little() {
    let all = database(
        ":Cat rdfs:subClassOf :Animal . :tom a :Cat . GRAPH :secret { :tom a :Cat . :Secret rdfs:subClassOf :Animal . :rex a :Secret }",
    );
    apply(&all, "rdfs");
    let by = |patterns: &[&str], reasoning| {
        let read = GraphSet::of(patterns.iter().map(|pattern| pattern.parse().unwrap()));
        let graphs = GraphRules { read, ..GraphRules::default() };
        let default_graph = DefaultGraph::Union;
        let evaluation = QueryOptions { graphs, reasoning, default_graph, ..QueryOptions::default() };
        WhyOptions { evaluation, ..WhyOptions::default() }
    };
    let reason = || Reasoning::by(SchemaRules::RDFS);
    let explanation = asked(&all, ":tom a :Cat", &by(&["default"], None)).unwrap();
    assert_eq!(explanation.asserted, ["default"]);
    assert!(!asked(&all, ":tom a :Animal", &by(&["default"], None)).unwrap().holds, "inferences are hidden");
    assert!(asked(&all, ":tom a :Animal", &by(&["default"], reason())).unwrap().holds);
    let secret = asked(&all, ":rex a :Animal", &by(&["default"], reason())).unwrap();
    assert!(
        !secret.holds && secret.nearest.iter().all(|one| !one.missing.concat().contains("Secret")),
        "{secret:?}"
    );
    let open = asked(&all, ":rex a :Animal", &by(&["default", "http://e/secret"], reason())).unwrap();
    assert!(open.holds && text(&open).contains("asserted in :secret"), "{open:?}");
}

#[test]
fn reasoning_at_run_time_is_explained() {
    let all = database(
        ":Cat rdfs:subClassOf :Pet . :Pet owl:equivalentClass :HouseAnimal . :has owl:inverseOf :of . GRAPH :g { :tom a :Cat ; :of :ann }
         :of rdfs:domain :Owned . :near a owl:TransitiveProperty, owl:SymmetricProperty . :a :near :b . :c :near :b",
    );
    let with = |graph: DefaultGraph| {
        let reasoning = Reasoning::by(SchemaRules::RDFS_PLUS);
        let evaluation = QueryOptions { reasoning, default_graph: graph, ..QueryOptions::default() };
        WhyOptions { evaluation, ..WhyOptions::default() }
    };
    for triple in [":tom a :HouseAnimal", ":ann :has :tom", ":tom a :Owned", ":tom a :Pet"] {
        let explanation = asked(&all, triple, &with(DefaultGraph::Union)).unwrap();
        let text = text(&explanation);
        assert!(explanation.holds && !explanation.proofs.is_empty(), "{text}");
        assert!(text.contains("of --reason rdfs-plus") && text.contains("asserted in :g"), "{text}");
        assert!(!asked(&all, triple, &with(DefaultGraph::Separate)).unwrap().holds, "{triple}");
    }
    let near = asked(&all, ":a :near :c", &with(DefaultGraph::Separate)).unwrap();
    assert_eq!(near.proofs[0].height, 2, "{}", text(&near));
    assert!(!asked(&all, ":tom a :Dog", &with(DefaultGraph::Union)).unwrap().holds);
}

#[test]
fn blank_nodes_have_the_labels_of_the_store() {
    let all = database(":Cat rdfs:subClassOf :Animal . _:x a :Cat ; :name 'tom'");
    apply(&all, "rdfs");
    let rows = crate::testing::sorted_rows(
        &all,
        &prologue(),
        "SELECT ?x { ?x :name 'tom' }",
        &QueryOptions::default(),
    );
    let told = told(&all, &format!("{} a :Animal", rows[0]));
    assert!(told.contains(&format!("└─ {} a :Cat   asserted", rows[0])), "{told}");
}

#[test]
fn texts_that_are_no_triple_are_refused() {
    let all = database(":a :p 1");
    for (wrong, message) in [
        (":a :p", "line 1"),
        (":a :p ?x", "a variable"),
        (":a ?p 1", "?p is a variable"),
        (":a :p 1, 2", "several triples"),
        (":a :p/:q 1", "several triples"),
        ("", "no triple"),
        (":a :p 1 } ; CLEAR ALL {", "line 1"),
    ] {
        let error = match asked(&all, wrong, &WhyOptions::default()) {
            Ok(found) => panic!("{wrong}: {found:?}"),
            Err(error) => error.to_string(),
        };
        assert!(error.contains(message), "{wrong}: {error}");
    }
}

#[test]
fn limits_hold() {
    let links: String = (0..60).map(|n| format!(":n{n} :p{} :n{} . ", n % 2, (n * 7 + 1) % 60)).collect();
    let all = database(&links);
    apply(
        &all,
        "CONSTRUCT { ?x :q ?z } WHERE { ?x :p0 ?y . ?y :p1 ?z }; CONSTRUCT { ?x :q ?z } WHERE { ?x :q ?y . ?y :q ?z . ?y :q ?u };
         CONSTRUCT { ?x :r ?z } WHERE { ?x :q ?y . ?z :q ?y }",
    );
    let rows = crate::testing::sorted_rows(
        &all,
        &prologue(),
        "SELECT * { ?x :r ?y } LIMIT 1",
        &QueryOptions::default(),
    );
    let triple = rows[0].replacen(' ', " :r ", 1).replace(['<', '>'], "");
    for (facts_max, depth_max) in [(1, 64), (20_000, 0), (3, 2)] {
        let options = WhyOptions { facts_max, depth_max, ..WhyOptions::default() };
        let explanation = asked(&all, &triple, &options).unwrap();
        assert!(
            explanation.holds && !explanation.is_complete && explanation.proofs.is_empty(),
            "{explanation:?}"
        );
        assert!(text(&explanation).contains("allow more"), "{explanation:?}");
    }
    let evaluation =
        QueryOptions { cancel: CancelToken::new(Some(std::time::Duration::ZERO)), ..QueryOptions::default() };
    let late = asked(&all, &triple, &WhyOptions { evaluation, ..WhyOptions::default() });
    assert!(late.is_err());
    let evaluation = QueryOptions { memory_bytes: 1000, ..QueryOptions::default() };
    let small = asked(&all, &triple, &WhyOptions { evaluation, ..WhyOptions::default() });
    assert!(small.is_err());
}

/// Each of many equal names is so by way of each other one: the search ends, whether or not it has found a proof.
#[test]
fn large_groups_of_equal_names_have_an_end() {
    let chain: String = (1..150).map(|n| format!(":n{n} owl:sameAs :n{} . ", n - 1)).collect();
    let all = database(&format!("{chain} :n5 :p :x"));
    apply(&all, "owl2-rl");
    let options = WhyOptions { facts_max: 2_000, ..WhyOptions::default() };
    let found = asked(&all, ":n0 :p :x", &options).unwrap();
    assert!(found.holds && (!found.proofs.is_empty() || !found.is_complete), "{found:?}");
}

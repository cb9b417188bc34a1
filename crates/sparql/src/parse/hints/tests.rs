//! What is hinted at, and what is not.

use super::{Findings, findings, findings_of_update};

fn found(text: &str) -> Findings {
    let text = format!("PREFIX : <http://e/> {text}");
    assert!(crate::parse_query(&text, None).is_ok(), "{text}");
    findings(&text, None)
}

fn hints(text: &str) -> Vec<String> {
    let found = found(text);
    found.hints.into_iter().map(|hint| format!("{}; {}", hint.message, hint.help)).collect()
}

#[test]
fn variables_without_a_value() {
    for (text, hint) in [
        (
            "SELECT ?nmae { ?s :p ?name }",
            "?nmae is selected, and nothing gives it a value; did you mean ?name?",
        ),
        ("SELECT ?s { ?s :p ?o FILTER(?x > 1) }", "nothing gives ?x a value; "),
        ("SELECT ?s { ?s :p ?o } ORDER BY ?price", "nothing gives ?price a value; "),
        (
            "CONSTRUCT { ?s :q ?obejct } { ?s :p ?object }",
            "nothing gives ?obejct a value, so nothing is made with it; did you mean ?object?",
        ),
        (
            "SELECT * { ?s :p ?o { ?s :q ?x FILTER(?o > 1) } }",
            "?o has no value here: FILTER sees what its own group gives values; put the FILTER into the group that does",
        ),
        (
            "SELECT * { BIND(?o + 1 AS ?n) ?s :p ?o }",
            "?o has no value here: BIND sees what its own group has before it; put BIND behind what gives the value",
        ),
        (
            "SELECT ?s ?x { ?s :p ?o MINUS { ?s :q ?x } }",
            "?x has no value here: only MINUS, EXISTS or an inner query that does not select it has one; ",
        ),
        (
            "SELECT ?person { ?person :name ?n . ?preson :mbox ?m . ?person :q ?n }",
            "?preson stands here only; did you mean ?person?",
        ),
        (
            "SELECT ?Name { ?s :p ?Name . ?t :q ?name FILTER(?s != ?t && ?Name = 1) }",
            "?name stands here only; did you mean ?Name?",
        ),
    ] {
        assert_eq!(hints(text), [hint], "{text}");
    }
    for text in [
        "SELECT ?s { ?s :p ?any }",
        "SELECT ?label1 ?s { ?s :p ?label1 ; :q ?label2 FILTER(?label1 > 1) }",
        "SELECT ?s { ?s :p ?o OPTIONAL { ?s :q ?x FILTER(?o > ?x) } }",
        "SELECT ?s { ?s :p ?o FILTER EXISTS { ?t :q ?x { ?t :r ?y FILTER(?o > ?y) } FILTER(?x = ?s) } }",
        "SELECT (COUNT(?o) AS ?n) { ?s :p ?o } GROUP BY (STR(?s) AS ?k) HAVING(?n > 1) ORDER BY ?k",
        "SELECT (?o + 1 AS ?a) (?a + 1 AS ?b) { ?s :p ?o } ORDER BY ?b",
        "SELECT ?x ?y { VALUES ?x { 1 } } VALUES ?y { 2 }",
        "SELECT ?y { { SELECT (1 AS ?y) {} } } ",
        "SELECT ?g ?z { GRAPH ?g { ?s (:p/:q)* ?z } }",
        "SELECT ?r { SERVICE :x { ?r :p 1 FILTER(?foreign) } }",
        "SELECT ?r ?x { << ?s :p ?o ~ ?r >> :q [ :p ( 1 ?x ) ] }",
        "CONSTRUCT WHERE { ?s :p ?o }",
        "DESCRIBE ?s { ?s :p ?o }",
        "SELECT * { { ?s :p ?o } UNION { ?s :q ?p } FILTER(?o = ?p) }",
    ] {
        assert_eq!(hints(text), [""; 0], "{text}");
    }
}

#[test]
fn comparisons_that_cannot_hold() {
    for (condition, hint) in [
        (
            "STR(?o) > 5",
            "`>` of a text and a number is always an error; compare numbers: xsd:decimal(STR(?o))",
        ),
        (
            "STRLEN(?o) < \"5\"",
            "`<` of a number and a text is always an error; compare numbers: xsd:decimal(\"5\")",
        ),
        ("BOUND(?o) = 1", "`=` of a boolean and a number is always an error; "),
        ("DATATYPE(?o) = \"http://x/y\"", "an IRI never equals a text; write the IRI: <http://x/y>"),
        (
            "?o = :x && :x < :y",
            "`<` of two IRIs is always an error: they have no order; compare their texts: STR(?x) < STR(?y)",
        ),
    ] {
        assert_eq!(hints(&format!("SELECT * {{ ?s :p ?o FILTER({condition}) }}")), [hint], "{condition}");
    }
    for condition in [
        "?o > 5",
        "STR(?o) > \"5\"",
        "LANG(?o) = \"en\"",
        "DATATYPE(?o) = :x",
        "?o = \"x\"@en",
        "?o < \"2020-01-01\"",
        "1 < 2.5e0",
        "\"2020\"^^:year > 1",
        "IRI(?o) = :x",
        "(1 < 2) = true",
    ] {
        assert_eq!(hints(&format!("SELECT * {{ ?s :p ?o FILTER({condition}) }}")), [""; 0], "{condition}");
    }
}

#[test]
fn minus_that_removes_nothing() {
    let hint = "MINUS has no variable in common with what is before it, so it removes nothing; use a variable of the pattern in it, or \
                write FILTER NOT EXISTS { ... }";
    assert_eq!(hints("SELECT * { ?s :p ?o MINUS { ?x :q ?y } }"), [hint]);
    assert_eq!(hints("SELECT * { ?s :p ?o MINUS { ?x :q ?o } }"), [""; 0]);
}

#[test]
fn parts_that_nothing_joins() {
    let unjoined = |text: &str| {
        let text = format!("SELECT * {{ {text} }}");
        found(&text).unjoined.len()
    };
    for text in [
        "?a :p ?b . ?c :q ?d",
        "?a a :C . ?b a :C",
        "?a :p ?b ; :q ?c . ?d :p ?e . ?a :r ?f",
        "GRAPH :g { ?a :p ?b . ?c :q ?d }",
        "{ ?a :p ?b . ?c :q ?d } UNION { ?a :p ?d }",
    ] {
        assert_eq!(unjoined(text), 1, "{text}");
    }
    for text in [
        "?a :p ?b . ?b :q ?d",
        "?a :p ?b . ?c :q ?d FILTER(?b < ?d)",
        "?a :p ?b . ?c :q ?d BIND(?b + ?d AS ?x)",
        ":x :p ?b . ?c :q :x",
        ":x :p ?b . ?c :q <http://e/x>",
        ":x-y :p ?b . ?c :q :x\\-y",
        "<http://e/x> :p ?b . ?c :q <http://e/\\u0078>",
        "_:a :p ?b . _:a :q ?d",
        "?a :p ?b . { SELECT (COUNT(*) AS ?n) { ?x :q ?y } }",
        "?a :p ?b VALUES ?z { 1 2 }",
        "?a :p ?b OPTIONAL { ?a :q ?d }",
        "?a :p ?b . { ?b :q ?c } ?c :r ?d",
        "?a :p ?b MINUS { ?a :q ?x . ?b :q ?y }",
        "?a :p ?b OPTIONAL { ?a :q ?x . ?b :q ?y }",
        "?a :p ?b . FILTER EXISTS { ?c :q ?d . ?a :r ?c }",
    ] {
        assert_eq!(unjoined(text), 0, "{text}");
    }
}

#[test]
fn constants_have_their_places() {
    let found = found("SELECT * { :s :p :o ; a :C . GRAPH :g { ?x :q/^:r* ?y } OPTIONAL { ?x :t 1 } }");
    let all: Vec<_> = found
        .constants
        .iter()
        .map(|c| format!("{:?} {} {}", c.role, found.short(&c.iri), c.is_required))
        .collect();
    assert_eq!(
        all,
        [
            "Subject :s true",
            "Predicate :p true",
            "Object :o true",
            "Class :C true",
            "Graph :g true",
            "Predicate :q true",
            "Predicate :r false",
            "Predicate :t false"
        ]
    );
    assert!(super::findings("SELECT * { ?s <relative> ?o ", None).constants.is_empty());
}

#[test]
fn hostile_texts_are_looked_at_in_bounds() {
    let many: String =
        (0..2_000).map(|n| format!("?a{n} :p{n} ?b{n} FILTER(?c{n} > STR(?d{n}) && STR(1) > 2) ")).collect();
    let found = found(&format!(
        "SELECT * {{ {} }}",
        many.get(..60_000).and_then(|text| text.rsplit_once(" FILTER")).map_or("", |(a, _)| a)
    ));
    assert!(found.hints.len() <= 32 && found.constants.len() <= 32);
    for (open, close) in [("{ ", "} "), ("[ :p ", "] "), ("OPTIONAL { ", "} ")] {
        let text =
            format!("PREFIX : <http://e/> ASK {{ {} ?s :p ?o {} }}", open.repeat(400), close.repeat(400));
        findings(&text, None);
    }
}

fn of_update(text: &str) -> Findings {
    let text = format!("PREFIX : <http://e/> {text}");
    assert!(crate::parse_update(&text, None).is_ok(), "{text}");
    findings_of_update(&text, None)
}

#[test]
fn patterns_of_updates_are_as_those_of_queries() {
    for (text, hint) in [
        (
            "DELETE { ?s :p ?od } INSERT { ?s :p 1 } WHERE { ?s :p ?old }",
            "nothing gives ?od a value, so nothing is deleted with it; did you mean ?old?",
        ),
        (
            "INSERT { ?s :q ?obejct } WHERE { ?s :p ?object }",
            "nothing gives ?obejct a value, so nothing is made with it; did you mean ?object?",
        ),
        (
            "INSERT { ?s :q 1 } WHERE { ?s :p ?o FILTER(STR(?o) > 2) }",
            "`>` of a text and a number is always an error; compare numbers: xsd:decimal(STR(?o))",
        ),
        (
            "DELETE WHERE { ?person :p ?name . ?person :q ?mail . ?preson :r ?name }",
            "?preson stands here only; did you mean ?person?",
        ),
        // Names are of one operation.
        (
            "INSERT { ?s :q 1 } WHERE { ?s :p 1 } ; INSERT { ?s :q ?value } WHERE { ?s :p 2 } ; DELETE WHERE { ?s :p ?value }",
            "nothing gives ?value a value, so nothing is made with it; ",
        ),
    ] {
        let found = of_update(text).hints;
        let told: Vec<String> =
            found.into_iter().map(|hint| format!("{}; {}", hint.message, hint.help)).collect();
        assert_eq!(told, [hint], "{text}");
    }
    assert_eq!(of_update("DELETE WHERE { ?a :p ?b . ?c :q ?d }").unjoined.len(), 1);
    assert_eq!(of_update("CLEAR DEFAULT ; DELETE WHERE { ?a :p ?b . ?c :q ?d }").unjoined.len(), 0);
}

#[test]
fn what_an_update_makes_is_not_looked_for() {
    for (text, expected) in [
        ("INSERT DATA { :s :p :o } ; DELETE DATA { :s :p :o }", &[][..]),
        ("DELETE WHERE { ?s :p ?o . GRAPH :g { ?s a :C } }", &["p Default", "g Any", "C Named"]),
        ("WITH :g DELETE { ?s :p ?o } WHERE { ?s :q ?o }", &["g Any", "q Named"]),
        ("WITH :g INSERT { ?s :p ?o } WHERE { GRAPH :h { ?s :q ?o } }", &["h Any", "q Named"]),
        ("INSERT { GRAPH :new { ?s :p 1 } } USING :g WHERE { ?s :q ?o }", &["g Any", "q Default"]),
        ("DELETE { GRAPH :g { ?s :p 1 } } WHERE { ?s :q ?o }", &["q Default", "g Any"]),
        ("INSERT DATA { :s :new 1 } ; INSERT { ?s :p 2 } WHERE { ?s :new 1 ; :q 2 }", &["q Default"]),
        ("INSERT { ?s :r ?o } WHERE { ?s :q ?o } ; DELETE WHERE { ?s :t ?o }", &["q Default"]),
        ("LOAD <file:///x> ; DELETE WHERE { ?s :t ?o }", &[]),
        ("CREATE GRAPH :g ; DELETE WHERE { GRAPH :g { ?s :t ?o } }", &["t Named"]),
    ] {
        let graph = |graph: &super::InGraph<String>| match graph {
            super::InGraph::Default => "Default",
            super::InGraph::Named(_) => "Named",
            super::InGraph::Any => "Any",
        };
        let found = of_update(text);
        let all: Vec<String> = found
            .constants
            .iter()
            .map(|c| format!("{} {}", c.iri.trim_start_matches("http://e/"), graph(&c.graph)))
            .collect();
        assert_eq!(all, expected, "{text}");
    }
    let using = of_update("INSERT { ?s :p 1 } USING :g WHERE { ?s :q ?o } ; DELETE WHERE { ?s :q 1 }");
    assert_eq!(using.constants.iter().map(|c| c.has_dataset).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn properties_whose_values_are_searched_are_constants() {
    let iris = |text: &str| -> Vec<String> {
        found(&format!("PREFIX text: <urn:lodestore:text:> {text}"))
            .constants
            .into_iter()
            .map(|c| c.iri)
            .collect()
    };
    assert_eq!(
        iris("SELECT * { ?s text:query (:title :name \"sea\" 10) }"),
        ["http://e/title", "http://e/name"]
    );
    assert!(iris("SELECT * { (?s ?score) text:query \"sea\" . ?s text:query (\"sea\" 10) }").is_empty());
}

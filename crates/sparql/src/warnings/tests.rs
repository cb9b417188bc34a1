//! What is warned of, and how long warnings are.

use super::{Given, Known, PlanWarning, of_queries};
use crate::function::{Function, Meaning, ValueType};
use crate::parse_query;
use lode_syntax::Form;

const XSD: &str = "http://www.w3.org/2001/XMLSchema#";
const STRING: &str = "http://www.w3.org/2001/XMLSchema#string";

/// The casts of the queries below.
fn cast(name: &str) -> Option<&'static Function> {
    static CAST: Function =
        Function::new("a cast", &[ValueType::Term], ValueType::Literal, &()).meaning(Meaning::Cast);
    let name = name.strip_prefix(XSD)?;
    ["integer", "unsignedByte", "dayTimeDuration"].contains(&name).then_some(&CAST)
}

fn warnings(text: &str) -> Vec<String> {
    placed(text).into_iter().map(|(warning, _)| warning).collect()
}

/// What is warned of, and what it is of in the text.
fn placed(text: &str) -> Vec<(String, String)> {
    let text = format!("PREFIX : <http://x/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> {text}");
    let pattern_problem = |pattern: &str, flags: &str| {
        (pattern.starts_with('(') || flags == "z").then(|| "it is none".to_owned())
    };
    let geometry_problem = |text: &str, datatype: &str| {
        (datatype == "http://x/place" && text != "here").then(|| "is not here".to_owned())
    };
    let known = Known {
        function_of: &cast,
        nearest: &|_| None,
        pattern_problem: &pattern_problem,
        replace_problem: &|pattern, _, _| (pattern == "x*").then_some((true, "is found in every place")),
        geometry_problem: &geometry_problem,
        argument_problem: &|function, at, given| {
            let is_wrong = function == "http://x/f" && at == 1 && given != Given::Literal("here", STRING);
            is_wrong.then(|| "is no place".to_owned())
        },
    };
    let warnings = of_queries([&parse_query(&text, None).unwrap()], known);
    let placed = PlanWarning::placed(&warnings, &text, Form::Query);
    assert!(warnings.iter().zip(&*placed).all(|(one, other)| one.code() == other.code()));
    placed.iter().map(|one| (one.to_string(), one.span().map_or("", |span| &text[span]).to_owned())).collect()
}

#[test]
fn functions_that_nobody_defines() {
    let place = |call: &str| {
        [
            format!("SELECT ({call} AS ?y) {{ ?x :p ?o }}"),
            format!("ASK {{ ?x :p ?o FILTER(1 + {call} = 2 || ?o) }}"),
            format!("CONSTRUCT {{ ?y :p 1 }} WHERE {{ ?x :p ?o BIND(IF(?o, 1, {call}) AS ?y) }}"),
            format!(
                "DESCRIBE ?x {{ ?x :p ?o FILTER NOT EXISTS {{ GRAPH ?g {{ ?x :q ?y FILTER({call}) }} }} }}"
            ),
            format!("SELECT * {{ ?x :p ?o OPTIONAL {{ ?x :q ?y FILTER({call}) }} }}"),
            format!("SELECT ?x {{ ?x :p ?o }} ORDER BY DESC({call})"),
            format!("SELECT (SUM({call}) AS ?n) {{ ?x :p ?o MINUS {{ ?x :q 1 }} }}"),
            format!("SELECT ?k {{ ?x :p ?o }} GROUP BY ({call} AS ?k)"),
            format!("SELECT (1 AS ?one) {{ ?x :p ?o }} GROUP BY ?x HAVING({call})"),
            format!(
                "SELECT ?o {{ {{ SELECT DISTINCT ?o {{ ?x :p ?o FILTER(?o IN (1, {call})) }} LIMIT 1 }} UNION {{}} }}"
            ),
        ]
    };
    let error = "each call is an error: FILTER drops its rows, BIND leaves its variable unbound";
    for (call, warning) in [
        (":f(?x)", "no function <http://x/f> is known"),
        ("xsd:anyURI(?x)", "nothing can be cast to <http://www.w3.org/2001/XMLSchema#anyURI>"),
        (
            "xsd:integer(?x, 2)",
            "the cast <http://www.w3.org/2001/XMLSchema#integer> takes one value, not several or none",
        ),
    ] {
        for text in place(call) {
            assert_eq!(warnings(&text), [format!("{warning}; {error}")], "{text}");
        }
    }
    for call in ["xsd:integer(?x)", "xsd:unsignedByte(?x)", "xsd:dayTimeDuration(?x)", "STR(?x)", "?x"] {
        for text in place(call) {
            assert!(warnings(&text).is_empty(), "{text}");
        }
    }
    assert!(warnings("SELECT * { SERVICE <http://e/> { ?x :p ?o FILTER(:f(?x)) } }").is_empty());
}

#[test]
fn arguments_that_are_none_of_a_function() {
    let error = "is no place; each call is an error: FILTER drops its rows, BIND leaves its variable unbound";
    let of = |pattern: &str| {
        let found = placed(&format!("SELECT * {{ {pattern} }}")).into_iter();
        found.filter(|(told, _)| told.contains("is no place")).collect::<Vec<_>>()
    };
    for (argument, shown) in [
        ("'there'", "\"there\""),
        ("\"\"\"the\\u0072e\"\"\"@en", "\"there\""),
        (":here", "<http://x/here>"),
        ("<http://x/h\\u0065re>", "<http://x/here>"),
        ("7", "\"7\""),
        ("true", "\"true\""),
        ("?x", "?x"),
    ] {
        let found = of(&format!("?x :p ?o FILTER(:f('here', {argument}))"));
        let written = argument.trim_end_matches("@en");
        assert_eq!(found, [(format!("{shown} {error}"), written.to_owned())], "{argument}");
    }
    // A variable may be a literal, and is said to be none only where it is the subject of a triple in each solution.
    for pattern in [
        "?x :p ?o FILTER(:f(1, 'here') || :f(1, ?o) || :f(1, ?z) || :f(?x, 'here'))",
        "{ ?x :p ?o } UNION { ?o :p ?x } FILTER(:f(1, ?x))",
        "?o :p ?q OPTIONAL { ?x :p ?o } FILTER(:f(1, ?x))",
        "?x :p* ?o FILTER(:f(1, ?x))",
        "?o :p ?q { SELECT ?o { ?x :p ?o } } FILTER(:f(1, ?x))",
        "VALUES ?x { 1 } FILTER(:f(1, ?x))",
        "?o :p ?q MINUS { ?x :p ?o } FILTER(:f(1, ?x))",
        "?o :p ?x FILTER EXISTS { ?z :p ?o FILTER(:f(1, ?x)) }",
    ] {
        assert_eq!(of(pattern), [], "{pattern}");
    }
    for pattern in [
        "{ ?x :p ?o } UNION { ?x :q ?o } FILTER(:f(1, ?x))",
        "?o :p ?q OPTIONAL { ?x :p ?o FILTER(:f(1, ?x)) }",
        "GRAPH ?g { ?x :p ?o } BIND(:f(1, ?x) AS ?y)",
        "{ SELECT DISTINCT ?x { ?x :p ?o } LIMIT 9 } FILTER(:f(1, ?x))",
        "?o :p ?q FILTER EXISTS { ?x :p ?o FILTER(:f(1, ?x)) }",
    ] {
        assert_eq!(of(pattern).len(), 1, "{pattern}");
    }
    let many = "FILTER(:f(1, ?o)) ".repeat(100);
    assert_eq!(of(&format!("?x :p ?o {many}")), []);
}

#[test]
fn warnings_have_places() {
    let found =
        placed("SELECT * { ?x :p ':g', '(' FILTER(<http://x/g>(1) || REGEX(?x, 'a\\n') || REGEX(?x, '('))}");
    let places: Vec<&str> = found.iter().map(|(_, place)| place.as_str()).collect();
    assert_eq!(places, ["<http://x/g>", "'('"]);
    // What was shortened, and what has another prefix.
    let long = "(".repeat(500);
    let found = placed(&format!("PREFIX : <http://y/> ASK {{ FILTER(:g(REGEX('', '{long}'))) }}"));
    let places: Vec<&str> = found.iter().map(|(_, place)| place.as_str()).collect();
    assert_eq!(places, [":g", &format!("'{long}'")]);
}

#[test]
fn geometries_that_are_none() {
    let found =
        warnings("ASK { ?x :p ?o FILTER(xsd:integer('there'^^:place) || xsd:integer('here'^^:place)) }");
    assert_eq!(found, ["\"there\" is not here"]);
    assert!(warnings("ASK { ?x :p 'there'^^:place FILTER(?x = 'there'^^:place) }").is_empty());
}

#[test]
fn constants_beside_relations_of_places() {
    let geo = "PREFIX geo: <http://www.opengis.net/ont/geosparql#> PREFIX geof: <http://www.opengis.net/def/function/geosparql/>";
    let of = |pattern: &str| warnings(&format!("{geo} ASK {{ {pattern} }}"));
    let no_place = "\"POINT(1 2)\" has no datatype of a geometry (geo:wktLiteral and others), so that nothing is related to it but what data says";
    assert_eq!(of("?x geo:sfWithin 'there'^^:place")[1], "\"there\" is not here");
    for relation in ["geo:sfWithin", "geo:rcc8eq|:near", ":part/geo:ehMeet"] {
        assert_eq!(of(&format!("?x {relation} 'POINT(1 2)'")), [no_place], "{relation}");
    }
    for pattern in [
        "?x geo:sfWithin 'POINT(1 2)'^^geo:wktLiteral",
        "?x :near 'POINT(1 2)'",
        "?x geo:sfWithin ?y",
        "?x geo:asWKT 'POINT(1 2)'",
    ] {
        assert!(of(pattern).is_empty(), "{pattern}");
    }
    let relate = |pattern: &str| of(&format!("?x :p ?o FILTER(geof:relate(?o, ?o, {pattern}))"));
    for pattern in ["'XYZ'", "'TF*012TF'", "'tf*012tf*'"] {
        let told = relate(pattern);
        assert!(told.iter().any(|told| told.contains("is no pattern of geof:relate")), "{told:?}");
    }
    let is_of_matrix = |told: &String| told.contains("geof:relate,");
    assert!(!relate("'TF*012TF*'").iter().any(is_of_matrix) && !relate("?o").iter().any(is_of_matrix));
}

#[test]
fn patterns_that_are_none() {
    let error = "is no regular expression: it is none; each call is an error: FILTER drops its rows, BIND leaves its \
                 variable unbound";
    let found = warnings(
        "SELECT (REPLACE(?o, \"(\\n\", \"\") AS ?y) { ?x :p ?o FILTER(REGEX(?o, \"a\") && REGEX(?o, \"(a\") || REGEX(?o, \"a\", \"z\")) }",
    );
    let expected = [
        format!("\"(\u{FFFD}\" {error}"),
        format!("\"(a\" {error}"),
        format!("\"a\" with the flags \"z\" {error}"),
    ];
    assert_eq!(found, expected);
    for text in [
        "REGEX(?o, ?o)",
        "REGEX(?o, \"a\", ?o)",
        "REGEX(?o, STR(\"(\"))",
        "REGEX(\"(\", \"a\")",
        "CONTAINS(?o, \"(\")",
    ] {
        assert!(warnings(&format!("ASK {{ ?x :p ?o FILTER({text}) }}")).is_empty(), "{text}");
    }
    let found = warnings(
        "ASK { ?x :p ?o FILTER(REGEX(?o, \"a\"@en) || REPLACE(?o, \"x*\", 7) = REPLACE(?o, \"x*\", \"\")) }",
    );
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(
        found[0].starts_with("\"x*\" is found") && found[1].starts_with("\"7\" is no string"),
        "{found:?}"
    );
    let deep = format!("ASK {{ ?x :p ?o FILTER(REGEX(?o, \"{}\")) }}", "(".repeat(3000));
    assert_eq!(warnings(&deep).len(), 1);
    let many: String = (0..200).map(|n| format!("REGEX(?o, \"({n}\") || ")).collect();
    assert_eq!(warnings(&format!("ASK {{ ?x :p ?o FILTER({many} false) }}")).len(), 9);
}

#[test]
fn warnings_are_few_and_short() {
    let calls: String = (0..50).map(|n| format!(":f{n}(:f{n}(1)), ")).collect();
    let found = warnings(&format!("ASK {{ FILTER(COALESCE({calls} 1)) }}"));
    assert_eq!((found.len(), found[8].as_str()), (9, "and 42 more warnings"));
    let found = warnings(&format!("ASK {{ FILTER(<http://é.example/{}>(1)) }}", "ü".repeat(5000)));
    assert!(found[0].chars().count() < 400 && found[0].contains("üü...> is known"), "{found:?}");
    // As deep as expressions may be.
    let deep = format!("ASK {{ FILTER({}1{}) }}", ":f(".repeat(900), ")".repeat(900));
    assert_eq!(warnings(&deep).len(), 1);
}

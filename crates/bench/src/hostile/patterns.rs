//! Many patterns, groups, OPTIONALs, UNIONs, BINDs beside each other.

use super::shape::{Shape, counting, each};

const JOINED: Option<&str> = Some("joined with each other");
const DEEP: Option<&str> = Some("levels deep");
const OPERATORS: Option<&str> = Some("operators");
const PATTERNS: Option<&str> = Some("triple patterns");

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        name: "patterns-of-a-subject",
        query: |n| counting(&each(n, |i| format!(":a :p ?o{i} ."))),
        parts_max: 1_000,
        refused: JOINED,
    },
    Shape {
        name: "patterns-in-a-chain",
        query: |n| counting(&format!("?x0 :q 1 . {}", each(n, |i| format!("?x{i} :p ?x{} .", i + 1)))),
        parts_max: 999,
        refused: JOINED,
    },
    Shape {
        name: "patterns-without-a-connection",
        query: |n| counting(&each(n, |i| format!("?s{i} :q 1 ."))),
        parts_max: 1_000,
        refused: JOINED,
    },
    Shape {
        name: "groups-side-by-side",
        query: |n| counting(&each(n, |i| format!("{{ ?x{i} :q 1 . ?x{i} :name ?n{i} }}"))),
        parts_max: 500,
        refused: JOINED,
    },
    Shape {
        name: "optionals",
        query: |n| counting(&format!("?s :p ?o . {}", each(n, |i| format!("OPTIONAL {{ ?s :q ?x{i} }}")))),
        parts_max: 2_480,
        refused: DEEP,
    },
    Shape {
        name: "optionals-of-two-patterns",
        query: |n| {
            let optional = |i| format!("OPTIONAL {{ ?s :q ?x{i} . ?s :name ?y{i} FILTER(?x{i} > 0) }}");
            counting(&format!("?s :p ?o . {}", each(n, optional)))
        },
        parts_max: 500,
        refused: None,
    },
    Shape {
        name: "minuses",
        query: |n| counting(&format!("?s :p ?o . {}", each(n, |i| format!("MINUS {{ ?s :q {} }}", i + 4)))),
        parts_max: 2_480,
        refused: DEEP,
    },
    Shape {
        name: "binds",
        query: |n| counting(&format!("?s :p ?o . {}", each(n, |i| format!("BIND(?o AS ?x{i})")))),
        parts_max: 2_480,
        refused: DEEP,
    },
    Shape {
        name: "filters",
        query: |n| counting(&format!("?s :q ?o . {}", each(n, |i| format!("FILTER(?o != {})", i + 4)))),
        parts_max: 5_000,
        refused: None,
    },
    Shape {
        name: "filters-not-exists",
        query: |n| {
            counting(&format!(
                "?s :p ?o . {}",
                each(n, |i| format!("FILTER NOT EXISTS {{ ?s :q {} }}", i + 4))
            ))
        },
        parts_max: 1_000,
        refused: None,
    },
    Shape {
        name: "unions",
        query: |n| counting(&format!("{{ ?s :p ?o }} {}", each(n, |_| "UNION { ?s :q ?o }".to_owned()))),
        parts_max: 9_999,
        refused: PATTERNS,
    },
    Shape {
        name: "empty-unions",
        query: |n| counting(&format!("{{}} {}", each(n, |_| "UNION {}".to_owned()))),
        parts_max: 19_990,
        refused: OPERATORS,
    },
    Shape {
        name: "unions-of-variables",
        query: |n| counting(&format!("{{ ?s :p ?o }} {}", each(n, |i| format!("UNION {{ ?s :q ?o{i} }}")))),
        parts_max: 2_000,
        refused: None,
    },
    Shape {
        name: "select-expressions",
        query: |n| {
            format!(
                "PREFIX : <http://e/> SELECT {} {{ ?s :q ?o }}",
                each(n, |i| format!("(?o + {i} AS ?x{i})"))
            )
        },
        parts_max: 2_480,
        refused: DEEP,
    },
    Shape {
        name: "aggregates",
        query: |n| {
            format!(
                "PREFIX : <http://e/> SELECT {} {{ ?s :q ?o }}",
                each(n, |i| format!("(SUM(?o + {i}) AS ?x{i})"))
            )
        },
        parts_max: 1_000,
        refused: None,
    },
    Shape {
        name: "group-keys",
        query: |n| {
            let keys = each(n, |i| format!("(?o + {i} AS ?x{i})"));
            format!("PREFIX : <http://e/> SELECT (COUNT(*) AS ?n) {{ ?s :q ?o }} GROUP BY {keys}")
        },
        parts_max: 2_480,
        refused: DEEP,
    },
    Shape {
        name: "construct-templates",
        query: |n| {
            format!(
                "PREFIX : <http://e/> CONSTRUCT {{ {} }} {{ ?s :p ?o }}",
                each(n, |i| format!("?s :p{i} ?o ."))
            )
        },
        parts_max: 5_000,
        refused: None,
    },
];

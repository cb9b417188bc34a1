//! Patterns in patterns in patterns.

use super::shape::{Shape, counting, nested};

const BRACKETS: Option<&str> = Some("brackets are nested");

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        name: "groups",
        query: |n| counting(&nested(n, "{ ", "?s :p ?o", " }")),
        parts_max: 999,
        refused: BRACKETS,
    },
    Shape {
        name: "groups-with-patterns",
        query: |n| counting(&nested(n, "{ ?s :p ?o ", "", " }")),
        parts_max: 999,
        refused: BRACKETS,
    },
    Shape {
        name: "groups-with-filters",
        query: |n| counting(&nested(n, "{ FILTER(?o != :z) ", "?s :p ?o", " }")),
        parts_max: 998,
        refused: BRACKETS,
    },
    Shape {
        name: "sub-selects",
        query: |n| counting(&nested(n, "{ SELECT * { ", "?s :p ?o", " } }")),
        parts_max: 499,
        refused: BRACKETS,
    },
    Shape {
        name: "sub-selects-with-patterns",
        query: |n| counting(&nested(n, "{ SELECT ?s ?o { ?s :p ?o ", "", " } }")),
        parts_max: 499,
        refused: BRACKETS,
    },
    Shape {
        name: "sub-selects-with-everything",
        query: |n| {
            let open = "{ SELECT DISTINCT ?s (COUNT(?o) AS ?c) { ?s :p ?o ";
            counting(&nested(n, open, "", " } GROUP BY ?s HAVING(COUNT(?o) > 0) ORDER BY ?s LIMIT 10 }"))
        },
        parts_max: 300,
        refused: None,
    },
    Shape {
        name: "optionals-in-optionals",
        query: |n| counting(&nested(n, "?s :p ?o OPTIONAL { ", "?s :q ?z", " }")),
        parts_max: 999,
        refused: BRACKETS,
    },
    Shape {
        name: "optionals-of-sub-selects",
        query: |n| {
            counting(&nested(n, "?s :p ?o OPTIONAL { ?s :q ?z { SELECT DISTINCT ?s { ", "?s :q ?z", " } } }"))
        },
        parts_max: 333,
        refused: BRACKETS,
    },
    Shape {
        name: "minuses-in-minuses",
        query: |n| counting(&nested(n, "?s :p ?o MINUS { ", "?s :q 9", " }")),
        parts_max: 999,
        refused: BRACKETS,
    },
    Shape {
        name: "unions-in-unions",
        query: |n| counting(&nested(n, "{ ?s :p ?o } UNION { ", "?s :q ?o", " }")),
        parts_max: 999,
        refused: BRACKETS,
    },
    Shape {
        name: "graphs-in-graphs",
        query: |n| counting(&nested(n, "GRAPH :g { ", "?s :p ?o", " }")),
        parts_max: 999,
        refused: BRACKETS,
    },
    Shape {
        name: "variable-graphs",
        query: |n| counting(&nested(n, "GRAPH ?g { ?s :p+ ?o ", "", " }")),
        parts_max: 200,
        refused: None,
    },
    Shape {
        name: "exists-not-exists",
        query: |n| counting(&format!("?s :p ?o {}", nested(n, "FILTER NOT EXISTS { ?s :p ?o ", "", " }"))),
        parts_max: 300,
        refused: None,
    },
    Shape {
        name: "open-brackets",
        query: |n| counting(&"{ ".repeat(n)),
        parts_max: 0,
        refused: Some("is not closed"),
    },
];

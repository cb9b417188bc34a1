//! Long lists: collections, blank nodes, IN, VALUES, triple terms.

use super::shape::{Shape, counting, each, nested};

const JOINED: Option<&str> = Some("joined with each other");
const BRACKETS: Option<&str> = Some("brackets are nested");

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        name: "in-integers",
        query: |n| counting(&format!("?s :q ?o FILTER(?o IN (1{}))", each(n, |i| format!(", {}", i + 4)))),
        parts_max: 100_000,
        refused: None,
    },
    Shape {
        name: "not-in-integers",
        query: |n| {
            counting(&format!("?s :q ?o FILTER(?o NOT IN (1{}))", each(n, |i| format!(", {}", i + 4))))
        },
        parts_max: 100_000,
        refused: None,
    },
    Shape {
        name: "in-iris",
        query: |n| counting(&format!("?s :p ?o FILTER(?o IN (:a{}))", each(n, |i| format!(", :x{i}")))),
        parts_max: 100_000,
        refused: None,
    },
    Shape {
        name: "in-mixed",
        query: |n| {
            let each = each(n, |i| format!(", {i}.5, 'x{i}', 'x{i}'@en, {i}e0, :x{i}, '{i}'^^:unknown"));
            counting(&format!("?s :q ?o FILTER(?o IN (1{each}))"))
        },
        parts_max: 20_000,
        refused: None,
    },
    Shape {
        name: "values",
        query: |n| counting(&format!("VALUES ?o {{ 1 {} }} ?s :q ?o", each(n, |i| (i + 4).to_string()))),
        parts_max: 100_000,
        refused: None,
    },
    Shape {
        name: "values-of-rows",
        query: |n| {
            counting(&format!("VALUES (?s ?o) {{ (:a 1) {} }} ?s :q ?o", each(n, |i| format!("(:x{i} {i})"))))
        },
        parts_max: 100_000,
        refused: None,
    },
    Shape {
        name: "collection",
        query: |n| counting(&format!(":a :list ({})", each(n, |i| i.to_string()))),
        parts_max: 499,
        refused: JOINED,
    },
    Shape {
        name: "collections-in-collections",
        query: |n| counting(&format!(":a :list {}", nested(n, "( ", "1", " )"))),
        parts_max: 499,
        refused: JOINED,
    },
    Shape {
        name: "blank-nodes",
        query: |n| counting(&format!(":a :p {}", nested(n, "[ :p ", ":a", " ]"))),
        parts_max: 998,
        refused: BRACKETS,
    },
    Shape {
        name: "blank-nodes-side-by-side",
        query: |n| counting(&each(n, |_| "[] :q 1 .".to_owned())),
        parts_max: 1_000,
        refused: JOINED,
    },
    Shape {
        name: "triple-terms",
        query: |n| counting(&format!("?s :p {}", nested(n, "<<( :a :p ", ":a", " )>>"))),
        parts_max: 990,
        refused: BRACKETS,
    },
    Shape {
        name: "triple-terms-with-variables",
        query: |n| counting(&format!("?s :p {}", nested(n, "<<( ?s :p ", "?o", " )>>"))),
        parts_max: 990,
        refused: BRACKETS,
    },
    Shape {
        name: "reified-triples",
        query: |n| counting(&format!("{} :p ?o", nested(n, "<< ", ":a", " :p :a >>"))),
        parts_max: 499,
        refused: None,
    },
];

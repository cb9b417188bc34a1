//! Long and deep expressions.

use super::shape::{Shape, counting, each, nested};

const DEEP: Option<&str> = Some("levels deep");
const OPERATORS: Option<&str> = Some("operators");
const BRACKETS: Option<&str> = Some("brackets are nested");

fn filter(condition: &str) -> String {
    counting(&format!("?s :q ?o FILTER({condition})"))
}

fn chain(n: usize, first: &str, next: impl Fn(usize) -> String) -> String {
    format!("{first}{}", each(n, next))
}

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        name: "sums",
        query: |n| filter(&format!("{} > 0", chain(n, "?o", |_| " + 1".to_owned()))),
        parts_max: 2_480,
        refused: DEEP,
    },
    Shape {
        name: "differences",
        query: |n| filter(&format!("{} < 9", chain(n, "?o", |_| " - 1".to_owned()))),
        parts_max: 2_480,
        refused: DEEP,
    },
    Shape {
        name: "products",
        query: |n| filter(&format!("{} > 0", chain(n, "?o", |_| " * 1".to_owned()))),
        parts_max: 2_480,
        refused: DEEP,
    },
    Shape {
        name: "quotients",
        query: |n| filter(&format!("{} > 0", chain(n, "?o", |_| " / 1".to_owned()))),
        parts_max: 2_480,
        refused: DEEP,
    },
    Shape {
        name: "conjunctions",
        query: |n| filter(&chain(n, "?o = ?o", |i| format!(" && ?o != {}", i + 4))),
        parts_max: 19_998,
        refused: OPERATORS,
    },
    Shape {
        name: "disjunctions",
        query: |n| filter(&chain(n, "?o = 1", |i| format!(" || ?o = {}", i + 4))),
        parts_max: 19_998,
        refused: OPERATORS,
    },
    Shape {
        name: "disjunctions-of-iris",
        query: |n| {
            counting(&format!("?s :p ?o FILTER({})", chain(n, "?o = :a", |i| format!(" || ?o = :x{i}"))))
        },
        parts_max: 19_998,
        refused: OPERATORS,
    },
    Shape {
        name: "disjunctions-of-calls",
        query: |n| filter(&chain(n, "STR(?o) = '1'", |i| format!(" || STR(?o) = '{}'", i + 4))),
        parts_max: 19_000,
        refused: None,
    },
    Shape {
        name: "mixed-connectives",
        query: |n| filter(&nested(n, "(?o = 1 || (?o = 2 && ", "?o = 3", "))")),
        parts_max: 499,
        refused: BRACKETS,
    },
    Shape {
        name: "brackets",
        query: |n| filter(&nested(n, "(", "?o", ")")),
        parts_max: 998,
        refused: BRACKETS,
    },
    Shape {
        name: "calls",
        query: |n| filter(&format!("{} > 0", nested(n, "ABS(", "?o", ")"))),
        parts_max: 998,
        refused: BRACKETS,
    },
    Shape {
        name: "conditionals",
        query: |n| filter(&format!("{} > 0", nested(n, "IF(?o = 1, ?o, ", "?o", ")"))),
        parts_max: 998,
        refused: BRACKETS,
    },
    Shape {
        name: "coalesced",
        query: |n| filter(&format!("{} > 0", nested(n, "COALESCE(?z, ", "?o", ")"))),
        parts_max: 998,
        refused: BRACKETS,
    },
    Shape {
        name: "concatenations",
        query: |n| filter(&format!("STRLEN({}) > 0", nested(n, "CONCAT(", "STR(?o)", ")"))),
        parts_max: 996,
        refused: BRACKETS,
    },
    Shape {
        name: "negations",
        query: |n| filter(&format!("{}BOUND(?o)", "!".repeat(n))),
        parts_max: 990,
        refused: BRACKETS,
    },
    Shape {
        name: "negations-in-brackets",
        query: |n| filter(&nested(n, "!(", "?o", ")")),
        parts_max: 490,
        refused: BRACKETS,
    },
    Shape {
        name: "arguments",
        query: |n| filter(&format!("COALESCE({}?o) > 0", each(n, |_| "?z,".to_owned()))),
        parts_max: 20_000,
        refused: None,
    },
    Shape {
        name: "exists-in-exists",
        query: |n| counting(&format!("?s :p ?o {}", nested(n, "FILTER EXISTS { ?s :p ?o ", "", "}"))),
        parts_max: 300,
        refused: None,
    },
    Shape {
        name: "exists-over-optionals",
        query: |n| {
            let body = nested(n, "FILTER EXISTS { ?s :p ?o OPTIONAL { ?o :q ?z } ", "", "}");
            counting(&format!("?s :p ?o {body}"))
        },
        parts_max: 40,
        refused: None,
    },
];

//! Property paths of many steps, and in many brackets.

use super::shape::{Shape, counting, nested};

const JOINED: Option<&str> = Some("joined with each other");
const PATTERNS: Option<&str> = Some("triple patterns");
const BRACKETS: Option<&str> = Some("brackets are nested");

/// `first` and `next` as often as to have `n` parts.
fn chain(n: usize, first: &str, next: &str) -> String {
    format!("{first}{}", next.repeat(n.saturating_sub(1)))
}

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        name: "path-steps",
        query: |n| counting(&format!(":a {} ?x", chain(n, ":p", "/:p"))),
        parts_max: 1_000,
        refused: JOINED,
    },
    Shape {
        name: "path-steps-repeated",
        query: |n| counting(&format!(":a ({})+ ?x", chain(n, ":p", "/:p"))),
        parts_max: 5_000,
        refused: None,
    },
    Shape {
        name: "path-steps-each-repeated",
        query: |n| counting(&format!(":a {} ?x", chain(n, ":q?", "/:q?"))),
        parts_max: 500,
        refused: None,
    },
    Shape {
        name: "path-alternatives",
        query: |n| counting(&format!(":a {} ?x", chain(n, ":p", "|:q"))),
        parts_max: 9_990,
        refused: PATTERNS,
    },
    Shape {
        name: "path-alternatives-repeated",
        query: |n| counting(&format!(":a ({})* ?x", chain(n, ":p", "|:q"))),
        parts_max: 9_990,
        refused: PATTERNS,
    },
    Shape {
        name: "path-negated-set",
        query: |n| counting(&format!(":a !({}) ?x", chain(n, ":q", "|:q"))),
        parts_max: 19_999,
        // It is a list, however long.
        refused: None,
    },
    Shape {
        name: "path-brackets",
        query: |n| counting(&format!(":a {} ?x", nested(n, "(", ":p", ")"))),
        parts_max: 999,
        refused: BRACKETS,
    },
    Shape {
        name: "path-closures-of-closures",
        query: |n| counting(&format!(":a {} ?x", nested(n, "(", ":p", ")*"))),
        parts_max: 999,
        refused: BRACKETS,
    },
    Shape {
        name: "path-alternatives-of-closures",
        query: |n| counting(&format!(":a {} ?x", nested(n, "(:q|", ":p", ")+"))),
        parts_max: 999,
        refused: BRACKETS,
    },
    Shape {
        name: "path-inverses",
        query: |n| counting(&format!(":a {} ?x", nested(n, "^(", ":p", ")"))),
        parts_max: 999,
        refused: BRACKETS,
    },
];

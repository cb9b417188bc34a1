//! Long regular expressions.

use super::shape::{Shape, counting};

fn matching(pattern: &str) -> String {
    counting(&format!("?s ?p ?o FILTER REGEX(STR(?o), '{pattern}', 'i')"))
}

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        name: "alternatives",
        query: |n| {
            matching(&(0..n).map(|i| format!("w{}x{i}", i * 7919 % 100_003)).collect::<Vec<_>>().join("|"))
        },
        parts_max: 4_000,
        refused: None,
    },
    Shape {
        name: "optional-characters",
        query: |n| matching(&"[a-z]?".repeat(n)),
        parts_max: 16_000,
        refused: None,
    },
];

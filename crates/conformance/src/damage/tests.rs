//! Tests of damage. The program `damage` runs any number of variants.

use super::{Outcome, damaged_databases, damaged_documents, damaged_queries};

fn assert_good(outcome: &Outcome) {
    assert!(
        outcome.failures.is_empty(),
        "{} failures, the first: {}",
        outcome.failures.len(),
        outcome.failures[0]
    );
    assert!(outcome.refused > 0 && outcome.right > 0, "{outcome:?}");
}

#[test]
fn databases() {
    assert_good(&damaged_databases(0, 200, &mut |_| {}).unwrap());
}

#[test]
fn queries() {
    assert_good(&damaged_queries(0, 1000, &mut |_| {}).unwrap());
}

#[test]
fn documents() {
    assert_good(&damaged_documents(0, 1000, &mut |_| {}).unwrap());
}

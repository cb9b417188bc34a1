//! Tests of isomorphism.

use super::isomorphic;
use oxrdf::{BlankNode, Literal, NamedNode, Term, Triple};

fn blank(label: &str) -> Option<Term> {
    Some(BlankNode::new_unchecked(label).into())
}

fn text(value: &str) -> Option<Term> {
    Some(Literal::new_simple_literal(value).into())
}

#[test]
fn renamed_cycles_are_the_same_and_cycles_of_other_lengths_are_not() {
    let cycle = |names: &[&str]| -> Vec<Vec<Option<Term>>> {
        (0..names.len()).map(|i| vec![blank(names[i]), blank(names[(i + 1) % names.len()])]).collect()
    };
    assert!(isomorphic(&cycle(&["a", "b", "c", "d"]), &cycle(&["x", "w", "z", "y"])));
    let two = [cycle(&["a", "b"]), cycle(&["c", "d"])].concat();
    assert!(!isomorphic(&cycle(&["a", "b", "c", "d"]), &two));
}

#[test]
fn multiplicity_counts() {
    assert!(isomorphic(&[vec![text("a")], vec![None]], &[vec![None], vec![text("a")]]));
    assert!(!isomorphic(
        &[vec![text("a")], vec![text("a")], vec![text("b")]],
        &[vec![text("a")], vec![text("b")], vec![text("b")]]
    ));
}

#[test]
fn different_nodes_do_not_become_one() {
    assert!(!isomorphic(&[vec![blank("a"), blank("b")]], &[vec![blank("a"), blank("a")]]));
    assert!(!isomorphic(&[vec![blank("a")], vec![blank("b")]], &[vec![blank("a")], vec![blank("a")]]));
}

#[test]
fn many_alike_nodes_are_matched_quickly() {
    let rows = |prefix: &str| (0..5000).map(|i| vec![blank(&format!("{prefix}{i}"))]).collect::<Vec<_>>();
    assert!(isomorphic(&rows("a"), &rows("b")));
}

#[test]
fn many_alike_pairs_are_matched_quickly() {
    let pairs = |prefix: &str| -> Vec<Vec<Option<Term>>> {
        (0..4000).map(|i| vec![blank(&format!("{prefix}{i}")), blank(&format!("{prefix}{i}o"))]).collect()
    };
    let (same, mut other) = (pairs("b"), pairs("b"));
    assert!(isomorphic(&pairs("a"), &same));
    // Pairs of other nodes, and then a chain.
    other[0] = vec![blank("b0"), blank("b1")];
    other[1] = vec![blank("b0o"), blank("b1o")];
    assert!(isomorphic(&pairs("a"), &other));
    other[1] = vec![blank("b1"), blank("b1o")];
    assert!(!isomorphic(&pairs("a"), &other));
}

#[test]
fn nodes_inside_triple_terms_are_renamed_too() {
    let row = |label: &str, object: &str| {
        let triple = Triple::new(
            BlankNode::new_unchecked(label),
            NamedNode::new_unchecked("http://e/p"),
            BlankNode::new_unchecked(object),
        );
        vec![Some(Term::from(triple)), blank(label)]
    };
    assert!(isomorphic(&[row("a", "b")], &[row("c", "d")]));
    assert!(!isomorphic(&[row("a", "b")], &[row("c", "c")]));
}

//! Strongly connected components: what uses each other, directly or around a circle.

use std::collections::{BTreeMap, BTreeSet};

/// The strongly connected components with more than one member, largest first.
pub fn knots<T: Ord + Clone>(arrows: &BTreeSet<(T, T)>) -> Vec<Vec<T>> {
    let mut ahead: BTreeMap<&T, Vec<&T>> = BTreeMap::new();
    let mut behind: BTreeMap<&T, Vec<&T>> = BTreeMap::new();
    for (from, to) in arrows {
        ahead.entry(from).or_default().push(to);
        behind.entry(to).or_default().push(from);
    }
    // Kosaraju: the order in which a walk ahead leaves the nodes, then walks behind in the reverse of it.
    let mut seen = BTreeSet::new();
    let mut left = Vec::new();
    for node in ahead.keys().copied() {
        walk(node, &ahead, &mut seen, &mut left);
    }
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for node in left.into_iter().rev() {
        let mut knot = Vec::new();
        walk(node, &behind, &mut seen, &mut knot);
        if knot.len() > 1 {
            let mut knot: Vec<T> = knot.into_iter().cloned().collect();
            knot.sort();
            found.push(knot);
        }
    }
    found.sort_by_key(|knot| std::cmp::Reverse(knot.len()));
    found
}

/// Leaves `node` and what it reaches into `left`, each after all that it reaches.
fn walk<'a, T: Ord>(
    node: &'a T,
    next: &BTreeMap<&'a T, Vec<&'a T>>,
    seen: &mut BTreeSet<&'a T>,
    left: &mut Vec<&'a T>,
) {
    if !seen.insert(node) {
        return;
    }
    for neighbour in next.get(node).into_iter().flatten().copied() {
        walk(neighbour, next, seen, left);
    }
    left.push(node);
}

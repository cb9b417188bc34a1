//! The delta against a plain set of quads.

use super::{ChangeSet, Delta, Row};
use lode_base::memory_budget::MemoryBudget;
use lode_packed::Order;
use lode_rdf::value_id::Section;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn quad() -> impl Strategy<Value = Row> {
    (2_u64..6, 2_u64..5, 2_u64..8, 1_u64..4).prop_map(|(s, p, o, g)| [s, p, o, g])
}

/// The change set that makes `after` of `before`.
fn run(before: &BTreeSet<Row>, after: &BTreeSet<Row>) -> ChangeSet {
    ChangeSet::new(after.difference(before).copied().collect(), before.difference(after).copied().collect())
}

proptest! {
    #[test]
    fn insertions_in_place_are_those_of_a_merge(
        old in prop::collection::btree_set(quad(), 0..200),
        new in prop::collection::btree_set(quad(), 0..80),
        is_shared: bool,
    ) {
        let new: Vec<Row> = new.difference(&old).copied().collect();
        let (old, new) = (ChangeSet::new(old.into_iter().collect(), Vec::new()), ChangeSet::new(new, Vec::new()));
        let memory = MemoryBudget::new(1 << 20);
        let old = old.within(&memory);
        for order in [Order::Posg, Order::Gspo] {
            old.inserts.make_readable(order, &[]).unwrap();
        }
        let expected = ChangeSet::merge(&old, &new);
        let shared = is_shared.then(|| old.clone());
        let found = old.insert_within(&new, &memory).unwrap();
        for order in Order::ALL {
            prop_assert_eq!(found.inserts.rows(order), expected.inserts.rows(order));
        }
        drop((found, shared));
        prop_assert_eq!(memory.used(), 0);
    }

    #[test]
    fn runs_add_up(base in prop::collection::btree_set(quad(), 0..40), steps in prop::collection::vec(prop::collection::vec((quad(), any::<bool>()), 1..12), 0..30)) {
        let (mut now, mut delta) = (base.clone(), Delta::default());
        for (number, step) in steps.iter().enumerate() {
            let before = now.clone();
            for (quad, insert) in step {
                if *insert { now.insert(*quad); } else { now.remove(quad); }
            }
            if number % 3 == 0 {
                // Some orders are ready when change sets are merged, others are not.
                delta.count(Order::ALL[number % Order::COUNT], &[]);
            }
            delta = delta.with_changes(run(&before, &now));
        }
        let net = delta.net();
        let expected = run(&base, &now);
        prop_assert_eq!(net.inserts.rows(Order::Spog), expected.inserts.rows(Order::Spog));
        prop_assert_eq!(net.deletes.rows(Order::Spog), expected.deletes.rows(Order::Spog));
        prop_assert_eq!(delta.net_quads(), now.len() as i64 - base.len() as i64);
        for order in Order::ALL {
            prop_assert_eq!(net.inserts.rows(order), expected.inserts.rows(order));
            let named = |set: &BTreeSet<Row>| set.iter().filter(|q| order != Order::Gspo || q[3] != 1).count() as i64;
            prop_assert_eq!(delta.count(order, &[]), named(&now) - named(&base));
        }
        let all: Vec<Row> = base.union(&now).copied().collect();
        for (quad, said) in all.iter().zip(delta.mentions(&all)) {
            prop_assert_eq!(said.unwrap_or(base.contains(quad)), now.contains(quad));
        }
    }
}

/// Quads of more predicates than are told apart, or of fewer.
fn many(predicates: u64) -> impl Strategy<Value = BTreeSet<Row>> {
    let quad = (2_u64..9, 2..2 + predicates, 2_u64..6, 1_u64..4).prop_map(|(s, p, o, g)| [s, p, o, g]);
    prop::collection::btree_set(quad, 0..160)
}

fn of_order(quads: &BTreeSet<Row>, order: Order) -> Vec<Row> {
    let is_meant = |quad: &&Row| order != Order::Gspo || quad[3] != 1;
    let mut rows: Vec<Row> =
        quads.iter().filter(is_meant).map(|quad| super::rows::column_order(quad, order)).collect();
    rows.sort_unstable();
    rows
}

proptest! {
    #[test]
    fn large_sets_count_and_are_read_as_sorted_ones(
        quads in prop_oneof![many(3), many(7)],
        later in many(4),
        asked in prop::collection::vec((0..Order::COUNT, prop::collection::vec(1_u64..10, 0..4), 1_u64..10), 1..12),
        grows: bool,
    ) {
        let (mut quads, memory) = (quads, MemoryBudget::new(1 << 20));
        let mut set = ChangeSet::new(quads.iter().copied().collect(), Vec::new()).within(&memory);
        if grows {
            // What is known of a set is that of the larger one afterwards.
            set.inserts.count(Order::Psog, &[3]);
            let new: Vec<Row> = later.difference(&quads).copied().collect();
            set = set.insert_within(&ChangeSet::new(new, Vec::new()), &memory).unwrap();
            quads.extend(later);
        }
        for (order, prefix, end) in asked {
            let order = Order::ALL[order];
            let rows = of_order(&quads, order);
            let expected: Vec<Row> = rows.iter().filter(|row| row.starts_with(&prefix)).copied().collect();
            set.inserts.make_countable(order, &prefix).unwrap();
            prop_assert_eq!(set.inserts.count(order, &prefix), expected.len());
            if let Some((last, same)) = prefix.split_last() {
                let (from, to) = (prefix.clone(), [same, &[end]].concat());
                let is_between = |row: &&Row| row.starts_with(same) && (*last..end).contains(&row[same.len()]);
                let between = rows.iter().filter(is_between).count();
                prop_assert_eq!(set.inserts.between(order, &from, &to).len(), between);
            }
            set.inserts.make_readable(order, &prefix).unwrap();
            let cursor = set.inserts.cursor(order, &prefix);
            prop_assert_eq!(cursor.rest(), expected);
        }
        for order in Order::ALL {
            prop_assert_eq!(&**set.inserts.rows(order), &of_order(&quads, order));
        }
        drop(set);
        prop_assert_eq!(memory.used(), 0);
    }
}

#[test]
fn terms_are_seen_up_to_the_count() {
    let delta = Delta::default();
    let terms = delta.terms();
    assert_eq!(terms.insert(Section::Iri, b"a"), Some(0));
    assert_eq!(terms.insert(Section::String, b"a"), Some(1));
    assert_eq!(terms.insert(Section::Iri, b"a"), Some(0));
    assert_eq!(delta.id_of_key(Section::Iri, b"a"), None);
    let later = delta.with_changes(ChangeSet::default());
    let id = later.id_of_key(Section::String, b"a").unwrap();
    assert_eq!(later.with_key(id, |_, key| key.to_vec()), Some(b"a".to_vec()));
    assert_eq!(delta.with_key(id, |_, key| key.to_vec()), None);
}

//! The delta against a plain set of quads.

use super::{ChangeSet, Delta, Row};
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

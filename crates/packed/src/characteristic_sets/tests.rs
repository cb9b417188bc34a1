//! Characteristic sets: counted, estimated by, encoded, and refused when damaged.

use super::*;
use crate::error::PackedError;
use lode_base::checksum::checksum;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The predicate of classes.
const TYPE: u64 = 7;

type Quads = BTreeSet<[u64; 3]>;

fn gathered(quads: &Quads) -> CharacteristicSets {
    let column = |at: usize| -> Vec<u64> { quads.iter().map(|quad| quad[at]).collect() };
    let (s, p, o) = (column(0), column(1), column(2));
    gather_columns(Some(TYPE), [&s, &p, &o])
}

fn any(predicate: u64) -> StarMember {
    StarMember { predicate, object: None }
}

fn class(object: u64) -> StarMember {
    StarMember { predicate: TYPE, object: Some(object) }
}

fn star_of(stars: &CharacteristicSets, members: &[StarMember]) -> Star {
    let mut star = Star::new(members.len());
    stars.add_to(members, &mut star);
    star
}

/// Subjects that have all members asked for, and the solutions of their join.
fn naive(quads: &Quads, members: &[StarMember], wanted: u32) -> (u64, u64) {
    let mut subjects: BTreeMap<u64, Vec<[u64; 3]>> = BTreeMap::new();
    quads.iter().for_each(|quad| subjects.entry(quad[0]).or_default().push(*quad));
    let asked: Vec<&StarMember> =
        members.iter().enumerate().filter(|(at, _)| wanted & (1 << at) != 0).map(|(_, m)| m).collect();
    let (mut count, mut rows) = (0, 0);
    for quads in subjects.values() {
        let matches = |m: &StarMember| {
            let fits = |quad: &&[u64; 3]| quad[1] == m.predicate && m.object.is_none_or(|o| o == quad[2]);
            quads.iter().filter(fits).count() as u64
        };
        let each: Vec<u64> = asked.iter().map(|m| matches(m)).collect();
        count += u64::from(each.iter().all(|n| *n > 0));
        rows += each.iter().product::<u64>();
    }
    (count, rows)
}

/// 600 products with properties that are there or not together, 2,000 offers of one class.
fn shop() -> Quads {
    let mut quads = Quads::new();
    for s in 0..600 {
        quads.extend([[s, 10, s], [s, TYPE, 500], [s, TYPE, 501 + s % 5]]);
        if s % 3 == 0 {
            quads.extend([[s, 11, 1], [s, 12, s % 7], [s, 12, s % 7 + 1]]);
        }
    }
    for s in 1_000..3_000 {
        quads.extend([[s, 20, s % 600], [s, 21, s % 31], [s, TYPE, 600]]);
    }
    quads
}

#[test]
fn what_comes_together_is_known_exactly() {
    let quads = shop();
    let stars = gathered(&quads);
    assert_eq!((stars.len(), stars.others()), (3, 0));
    assert_eq!(stars.quads_of(TYPE), 3_200);
    assert_eq!(stars.quads_of(99), 0);
    let members = [any(10), any(11), any(12), any(20), any(TYPE)];
    let star = star_of(&stars, &members);
    for wanted in 1..1_u32 << members.len() {
        let (subjects, rows) = naive(&quads, &members, wanted);
        assert_eq!(star.subjects(wanted), subjects as f64, "{wanted:b}");
        assert!((star.rows(wanted) - rows as f64).abs() < 1e-6, "{wanted:b}");
    }
}

#[test]
fn a_class_says_which_sets_its_subjects_have() {
    let quads = shop();
    let stars = gathered(&quads);
    let members = [class(600), any(21), any(10), class(500)];
    let star = star_of(&stars, &members);
    for wanted in [0b0001, 0b0010, 0b0011, 0b0101, 0b1100, 0b1000, 0b1001] {
        let (subjects, rows) = naive(&quads, &members, wanted);
        assert_eq!((star.subjects(wanted), star.rows(wanted)), (subjects as f64, rows as f64), "{wanted:b}");
    }
    // Products have two types, offers one: only those with a label are asked for.
    assert_eq!(star_of(&stars, &[any(TYPE), any(10)]).rows_where(0b11, 0b01), 1_200.0);
    let narrow = [class(500), class(502), any(10)];
    assert_eq!(star_of(&stars, &narrow).subjects(0b111), 120.0);
}

#[test]
fn rare_sets_are_counted_together() {
    // Each subject has two predicates of its own choice of 200 besides two that all have: far more sets than are kept here.
    let mut quads = Quads::new();
    for s in 1..=4_000_u64 {
        let (a, b) = (s * 7 % 200, s * s % 199);
        quads.extend([[s, 300, 1], [s, 301, s], [s, 1_000 + a, 1], [s, 1_300 + b, 1]]);
    }
    let stars = gathered(&quads);
    assert!(stars.others() > 1_000, "{}", stars.others());
    let subjects: u64 = stars.sets.iter().map(|set| set.subjects).sum();
    assert_eq!(subjects + stars.others(), 4_000);
    assert_eq!(stars.quads_of(300), 4_000);
    let members = [any(300), any(301), any(1_007)];
    let star = star_of(&stars, &members);
    for (wanted, factor) in [(0b001, 1.001), (0b011, 1.001), (0b101, 1.5), (0b111, 1.5)] {
        let (_, rows) = naive(&quads, &members, wanted);
        let q = star.rows(wanted) / rows as f64;
        assert!((1.0 / factor..=factor).contains(&q), "{wanted:b}: {} of {rows}", star.rows(wanted));
    }
}

#[test]
fn damaged_files_are_refused() {
    let stars = gathered(&shop());
    let mut bytes = stars.encode();
    assert_eq!(CharacteristicSets::decode(&bytes, "s").unwrap(), stars);
    for bit in 0..bytes.len() * 8 {
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(CharacteristicSets::decode(&bytes, "s").is_err(), "bit {bit}");
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
    for cut in 0..bytes.len() {
        assert!(CharacteristicSets::decode(&bytes[..cut], "s").is_err(), "cut at {cut}");
    }
    bytes[8] = 99;
    seal(&mut bytes);
    assert!(matches!(CharacteristicSets::decode(&bytes, "s"), Err(PackedError::Version { found: 99, .. })));
}

fn seal(bytes: &mut [u8]) {
    let end = bytes.len() - 8;
    let sum = checksum(&bytes[..end]);
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
}

proptest! {
    #[test]
    fn sets_come_back_and_single_predicates_are_exact(
        quads in prop::collection::btree_set([1_u64..40, 5_u64..12, 1_u64..6], 1..300),
    ) {
        let stars = gathered(&quads);
        prop_assert_eq!(&CharacteristicSets::decode(&stars.encode(), "s").unwrap(), &stars);
        let members = [any(5), any(6), any(TYPE), class(3)];
        let star = star_of(&stars, &members);
        for wanted in 1..1_u32 << members.len() {
            let (subjects, rows) = naive(&quads, &members, wanted);
            if stars.others() == 0 && wanted & 0b1000 == 0 {
                prop_assert_eq!(star.subjects(wanted), subjects as f64);
            }
            if wanted.count_ones() == 1 {
                prop_assert!((star.rows(wanted) - rows as f64).abs() < 1e-6);
            }
        }
    }

    /// Bytes that the checksum fits, as damage cannot make them but malice can: refused, or sets that can be asked.
    #[test]
    fn sealed_nonsense_is_harmless(changes in prop::collection::vec((16_usize..2_000, any_byte()), 1..8)) {
        let mut bytes = gathered(&shop()).encode();
        for (at, byte) in changes {
            let end = bytes.len() - 8;
            bytes[16 + (at - 16) % (end - 16)] = byte;
        }
        seal(&mut bytes);
        if let Ok(stars) = CharacteristicSets::decode(&bytes, "s") {
            let star = star_of(&stars, &[any(10), class(500), any(12)]);
            for wanted in 1..8 {
                prop_assert!(star.rows(wanted) >= 0.0 && star.subjects(wanted) >= 0.0);
            }
        }
    }
}

fn any_byte() -> impl Strategy<Value = u8> {
    proptest::num::u8::ANY
}

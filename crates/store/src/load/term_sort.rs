//! Sorts the terms of a run by class and key without moving the keys: entries carry sixteen bytes of their key, taken at
//! the depth where the keys of a group first differ.

use crate::load::arena::{Arena, Position};
use crate::segment_builder::Class;
use lode_base::huge;

/// A term in sorted order.
#[derive(Debug, Clone, Copy, Default)]
pub struct SortedTerm {
    /// [`PREFIX_BYTES`] of the key, as numbers that compare like them (scratch of the sort).
    prefix: [u64; 2],
    /// Where the term is.
    pub position: Position,
    /// Bytes of its key: kept here so that sorting needs not look at the header, which is often on another cache line.
    length: u32,
}

/// Bytes that sorting takes per term.
pub const SORT_BYTES_PER_TERM: usize = size_of::<SortedTerm>();

/// The terms of a run in order, and where each class ends.
#[derive(Debug, Default)]
pub struct SortedTerms {
    /// All terms, class after class.
    pub terms: Vec<SortedTerm>,
    /// End of each class in `terms`.
    pub ends: [usize; Class::COUNT],
}

/// Bytes of a key that are compared at once: reaching for them is what costs, so they are not few.
const PREFIX_BYTES: usize = 16;
/// Groups of at most this many terms are sorted by comparing keys.
const SMALL_GROUP: usize = 8;

/// Sorts all terms of an arena.
pub fn sort_terms(arena: &Arena, count: usize) -> SortedTerms {
    let mut counts = [0_usize; Class::COUNT];
    arena.for_each(&mut |_, header| counts[header.class() as usize] += 1);
    let mut starts = [0_usize; Class::COUNT];
    let mut ends = [0_usize; Class::COUNT];
    let mut sum = 0;
    for class in Class::ALL {
        starts[class as usize] = sum;
        sum += counts[class as usize];
        ends[class as usize] = sum;
    }
    debug_assert_eq!(sum, count);
    let mut terms: Vec<SortedTerm> = huge::zeros(sum);
    let mut next = starts;
    arena.for_each(&mut |position, header| {
        let slot = &mut next[header.class() as usize];
        if let Some(term) = terms.get_mut(*slot) {
            *term = SortedTerm { prefix: [0; 2], position, length: header.length() as u32 };
        }
        *slot += 1;
    });
    for class in Class::ALL {
        if let Some(group) = terms.get_mut(starts[class as usize]..ends[class as usize]) {
            sort_group(arena, group);
        }
    }
    SortedTerms { terms, ends }
}

/// Sorts terms of one class. Groups wait on a list, not on the call stack: keys decide how deep they nest.
fn sort_group(arena: &Arena, terms: &mut [SortedTerm]) {
    let mut todo = vec![(0, terms.len(), 0)];
    while let Some((start, end, mut depth)) = todo.pop() {
        let Some(group) = terms.get_mut(start..end) else { continue };
        if group.len() <= SMALL_GROUP {
            group.sort_unstable_by(|a, b| tail(arena, a, depth).cmp(tail(arena, b, depth)));
            continue;
        }
        if !load_prefixes(arena, group, depth) {
            depth += common_prefix(arena, group, depth);
            load_prefixes(arena, group, depth);
        }
        group.sort_unstable_by_key(|term| term.prefix);
        let mut from = 0;
        for same in group.chunk_by_mut(|a, b| a.prefix == b.prefix) {
            let to = from + same.len();
            if same.len() > 1 {
                let ended = ended_first(same, depth + PREFIX_BYTES);
                todo.push((start + from + ended, start + to, depth + PREFIX_BYTES));
            }
            from = to;
        }
    }
}

/// Takes the bytes at `depth` of every key; whether they differ.
fn load_prefixes(arena: &Arena, group: &mut [SortedTerm], depth: usize) -> bool {
    let first = group.first().map_or([0; 2], |term| prefix(tail(arena, term, depth)));
    let mut difference = 0;
    for term in group {
        term.prefix = prefix(tail(arena, term, depth));
        difference |= (term.prefix[0] ^ first[0]) | (term.prefix[1] ^ first[1]);
    }
    difference != 0
}

/// Moves keys that end within `depth` to the front, shortest first (they are prefixes of the others, padded with
/// zeros), and returns how many they are.
fn ended_first(same: &mut [SortedTerm], depth: usize) -> usize {
    let mut ended = 0;
    for at in 0..same.len() {
        if same.get(at).is_some_and(|term| (term.length as usize) < depth) {
            same.swap(at, ended);
            ended += 1;
        }
    }
    if let Some(front) = same.get_mut(..ended) {
        front.sort_unstable_by_key(|term| term.length);
    }
    ended
}

#[inline]
fn tail<'a>(arena: &'a Arena, term: &SortedTerm, depth: usize) -> &'a [u8] {
    arena.tail(term.position, term.length, depth)
}

/// The first bytes of a key, followed by zeros where it is shorter.
#[inline]
fn prefix(key: &[u8]) -> [u64; 2] {
    let mut bytes = [0; PREFIX_BYTES];
    match key.first_chunk::<PREFIX_BYTES>() {
        Some(first) => bytes = *first,
        None => {
            if let Some(front) = bytes.get_mut(..key.len()) {
                front.copy_from_slice(key);
            }
        }
    }
    let number = u128::from_be_bytes(bytes);
    [(number >> 64) as u64, number as u64]
}

/// Bytes from `depth` on that all keys of a group share.
fn common_prefix(arena: &Arena, group: &[SortedTerm], depth: usize) -> usize {
    let Some((first, rest)) = group.split_first() else { return 0 };
    let mut shared = tail(arena, first, depth);
    for term in rest {
        let key = tail(arena, term, depth);
        if !key.starts_with(shared) {
            let same = shared.iter().zip(key).take_while(|(a, b)| a == b).count();
            shared = shared.get(..same).unwrap_or_default();
        }
        if shared.is_empty() {
            break;
        }
    }
    shared.len()
}

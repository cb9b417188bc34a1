//! Sorts the terms of a run by class and key without moving the keys: entries carry eight bytes of their key, taken at
//! the depth where the keys of a group first differ.

use crate::load::arena::{Arena, Position};
use crate::load::class::Class;
use lode_base::huge;

/// A term in sorted order.
#[derive(Debug, Clone, Copy, Default)]
pub struct SortedTerm {
    /// Eight bytes of the key (scratch of the sort).
    prefix: u64,
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

/// Groups of at most this many terms are sorted by comparing keys.
const SMALL_GROUP: usize = 24;

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
            *term = SortedTerm { prefix: 0, position, length: header.length() as u32 };
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
                let ended = ended_first(same, depth + 8);
                todo.push((start + from + ended, start + to, depth + 8));
            }
            from = to;
        }
    }
}

/// Takes the eight bytes at `depth` of every key; whether they differ.
fn load_prefixes(arena: &Arena, group: &mut [SortedTerm], depth: usize) -> bool {
    let first = group.first().map_or(0, |term| eight_bytes(tail(arena, term, depth)));
    let mut difference = 0;
    for term in group {
        term.prefix = eight_bytes(tail(arena, term, depth));
        difference |= term.prefix ^ first;
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

#[inline]
fn eight_bytes(key: &[u8]) -> u64 {
    if let Some(first) = key.first_chunk::<8>() {
        return u64::from_be_bytes(*first);
    }
    let mut bytes = [0; 8];
    for (to, from) in bytes.iter_mut().zip(key) {
        *to = *from;
    }
    u64::from_be_bytes(bytes)
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

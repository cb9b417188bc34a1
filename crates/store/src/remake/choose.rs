//! Which segments make up a database, as their descriptions tell: those that no other one replaces, if their dictionaries share out the
//! numbers of terms without a gap, and the ids of their rows are of these numbers.
//!
//! A compaction that was stopped leaves new segments beside the old ones, which hold the same: so without those of the last compactions
//! there may be other choices. The same goes for segments of what a log tells. Clearing graphs and loads leave no choice.

use crate::manifest::{SegmentEntry, Sign};
use lode_packed::SegmentMeta;
use lode_packed::segment::SegmentOrigin;
use lode_rdf::value_id::Section;
use std::collections::BTreeSet;

/// Segments that may make up the database.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// Their lines in a manifest, in its order.
    pub segments: Vec<SegmentEntry>,
    /// The version all of which is in them.
    pub version: u64,
    /// Logs below this speak of other ids.
    pub log_from: u64,
}

/// All choices, the one with the newest segments first. `logged` is the first version that the newest log tells of: segments with
/// what it tells may have been written, and the log that was to follow it not.
pub fn choices(found: &[SegmentMeta], logged: Option<u64>) -> Vec<Choice> {
    let mut taken: Vec<&SegmentMeta> = found.iter().collect();
    let mut choices = without_merges(taken.clone());
    let is_logged = |meta: &&SegmentMeta| {
        !meta.origin.is_merge && logged.is_some_and(|first| meta.origin.version >= first)
    };
    if taken.iter().any(is_logged) {
        taken.retain(|meta| !is_logged(meta));
        choices.extend(without_merges(taken));
    }
    choices
}

/// The choice with all of these, then without the last compaction, and so on.
fn without_merges(mut taken: Vec<&SegmentMeta>) -> Vec<Choice> {
    let mut choices = Vec::new();
    loop {
        choices.extend(choice(&taken));
        match last_merge(&taken) {
            Some(merge) => taken.retain(|meta| !merge.contains(&meta.origin.number)),
            None => return choices,
        }
    }
}

/// What these segments are, if they fit together.
fn choice(taken: &[&SegmentMeta]) -> Option<Choice> {
    if !merges_are_whole(taken) {
        return None;
    }
    let mut replaced = numbers(taken, |meta| &meta.origin.replaces);
    replaced.extend(numbers(taken, |meta| &meta.origin.buried));
    let emptied = numbers(taken, |meta| &meta.origin.empties);
    let mut live: Vec<&SegmentMeta> =
        taken.iter().copied().filter(|meta| !replaced.contains(&meta.origin.number)).collect();
    // Of two that begin with the same terms, the one that has none comes first.
    live.sort_by_key(|meta| {
        (meta.bases.iter().sum::<u64>(), meta.terms() != [0; Section::COUNT], meta.origin.number)
    });
    let (mut bases, mut numbering) = ([0; Section::COUNT], 0);
    for meta in &live {
        let origin = &meta.origin;
        if meta.bases != bases || origin.numbering < numbering {
            return None;
        }
        numbering = origin.numbering;
        bases.iter_mut().zip(meta.terms()).for_each(|(base, terms)| *base += terms);
    }
    let entry = |meta: &&SegmentMeta| {
        let entry = SegmentEntry::of(meta);
        let is_empty = emptied.contains(&entry.number);
        SegmentEntry { sign: if is_empty { Sign::TermsOnly } else { entry.sign }, ..entry }
    };
    let segments: Vec<SegmentEntry> = live.iter().map(entry).collect();
    let renumbered = live.iter().filter(|meta| meta.origin.is_merge && meta.origin.numbering == numbering);
    let log_from = renumbered.filter(|_| numbering > 0).map(|meta| meta.origin.next_log).max().unwrap_or(0);
    let version = live.iter().map(|meta| meta.origin.version).max().unwrap_or(0);
    Some(Choice { segments, version, log_from })
}

fn numbers<'a>(taken: &[&'a SegmentMeta], list: impl Fn(&'a SegmentMeta) -> &'a Vec<u64>) -> BTreeSet<u64> {
    taken.iter().flat_map(|meta| list(meta)).copied().collect()
}

/// Whether each compaction whose old segments are all there has written all that these add up to.
fn merges_are_whole(taken: &[&SegmentMeta]) -> bool {
    let emptied = numbers(taken, |meta| &meta.origin.empties);
    let quads = |meta: &SegmentMeta| {
        if emptied.contains(&meta.origin.number) { 0 } else { SegmentEntry::of(meta).sign.of(meta.quads()) }
    };
    taken.iter().filter(|meta| meta.origin.is_merge).all(|meta| {
        let merged = &meta.origin.replaces;
        let old: Vec<&&SegmentMeta> =
            taken.iter().filter(|other| merged.contains(&other.origin.number)).collect();
        let new = taken.iter().filter(|other| other.origin.is_merge && other.origin.replaces == *merged);
        // What a graph was cleared of since counts for the new ones, too.
        let is_untouched = new.clone().all(|other| !emptied.contains(&other.origin.number));
        old.len() < merged.len()
            || !is_untouched
            || old.iter().map(|meta| quads(meta)).sum::<i128>() == new.map(|meta| quads(meta)).sum::<i128>()
    })
}

/// The segments of the newest compaction that may not have taken effect: what it merged is all there, and nothing was built upon it.
fn last_merge(taken: &[&SegmentMeta]) -> Option<BTreeSet<u64>> {
    let merges = || taken.iter().map(|meta| &meta.origin).filter(|origin| origin.is_merge);
    let last = merges().filter(|origin| !origin.replaces.is_empty()).max_by_key(|origin| origin.number)?;
    let numbering = last.numbering;
    // One that gave terms new numbers merged only segments that had come before it.
    let gives_numbers = merges().any(|origin| {
        origin.numbering == numbering && origin.replaces.iter().max().is_some_and(|old| *old < numbering)
    });
    let is_own = |origin: &&SegmentOrigin| match gives_numbers {
        true => origin.numbering == numbering,
        false => origin.replaces == last.replaces,
    };
    let own: Vec<&SegmentOrigin> = merges().filter(is_own).collect();
    let numbers: BTreeSet<u64> = own.iter().map(|origin| origin.number).collect();
    let is_there = |number: &u64| taken.iter().any(|meta| meta.origin.number == *number);
    let is_needed = taken.iter().map(|meta| &meta.origin).any(|origin| {
        let speaks_of_it =
            origin.replaces.iter().chain(&origin.empties).any(|number| numbers.contains(number));
        let has_its_ids = gives_numbers && origin.numbering == numbering && !origin.is_merge;
        speaks_of_it || has_its_ids
    });
    let is_undone = own.iter().flat_map(|origin| &origin.replaces).all(is_there);
    (is_undone && !is_needed).then_some(numbers)
}

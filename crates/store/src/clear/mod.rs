//! Clears graphs, also large ones, with little memory and little writing: for transactions, and for loads that take the place of
//! something. What is written are segments that no manifest names yet; the version that has them is seen by whoever clears, until a
//! manifest of that version is published.

mod graph_reader;
mod graphs;
mod picked_segment;
mod plan;

#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod tests;

pub use graphs::Graphs;

use crate::error::StoreError;
use crate::manifest::{Manifest, SegmentEntry, Sign};
use crate::segment_builder::{BuildError, NewFolders, NewOrigin};
use crate::store::Store;
use crate::version::{OpenSegment, Version};
use lode_base::cancel::CancelToken;
use lode_rdf::value_id::Section;
use picked_segment::{Picked, PickedSegment};
use plan::{Fate, Holding, plan};
use std::sync::Arc;

/// A version without the quads of some graphs. No manifest on disk names it.
#[derive(Debug)]
pub struct Cleared {
    /// The version.
    pub version: Arc<Version>,
    /// Quads that it has not, of those that the version before it had.
    pub quads: u64,
    /// The segments that were written for it.
    pub written: Written,
}

/// Segments that no manifest names. Dropped, their files go with the last version that holds them, unless they were kept.
#[derive(Debug, Default)]
pub struct Written(Vec<OpenSegment>);

impl Written {
    /// More of them.
    pub fn extend(&mut self, mut more: Self) {
        self.0.append(&mut more.0);
    }

    /// Those that a version has belong to the database from now on, or may turn out to. Others were replaced in their turn.
    pub fn keep(mut self, version: &Version) {
        let has = |open: &OpenSegment| {
            version.manifest.segments.iter().any(|entry| entry.number == open.entry.number)
        };
        self.0.retain(|open| !has(open));
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        // Nobody but the transaction has read them, and it removes them itself.
        self.0.iter().for_each(|open| open.set_obsolete(&Arc::default()));
    }
}

/// Bytes of the cache that clearing has aside: it reads every block once.
const ASIDE_BYTES: usize = 1 << 20;

/// With what to clear.
#[derive(Debug, Clone, Copy)]
pub struct ClearOptions<'a> {
    /// Threads.
    pub threads: usize,
    /// Stops the work.
    pub cancel: &'a CancelToken,
}

/// Quads of graphs in the segments of a version, whether or not others of them delete these.
pub fn quads_in_segments(version: &Version, graphs: Graphs) -> Result<u64, StoreError> {
    Ok(holdings(version, graphs)?.iter().map(|held| held.cleared).sum())
}

/// Clears graphs of a version: of its segments, and of its delta. What is in the delta stays in memory.
pub fn clear(
    store: &Store,
    before: &Version,
    graphs: Graphs,
    options: ClearOptions<'_>,
) -> Result<Cleared, BuildError> {
    let mut folders = NewFolders::new(store);
    let fates = plan(&holdings(before, graphs)?);
    let read = before.aside(ASIDE_BYTES);
    let segments = Clearing { store, before: &read, graphs, options }.write(&fates, &mut folders)?;
    let manifest = store.writer()?.numbered(Manifest { segments, ..before.manifest.clone() });
    let opened = store.open_with(manifest, &before.segments)?;
    folders.keep();
    let is_known =
        |open: &OpenSegment| before.segments.iter().any(|old| old.entry.number == open.entry.number);
    let written = Written(opened.segments.iter().filter(|open| !is_known(open)).cloned().collect());
    let delta = before.delta.without(&|quad| graphs.contain(quad[3]));
    let version = Version { delta, number: before.number, next_blank: before.next_blank, ..opened };
    let quads = before.quads() - version.quads();
    Ok(Cleared { version: Arc::new(version), quads, written })
}

fn holdings(version: &Version, graphs: Graphs) -> Result<Vec<Holding>, StoreError> {
    let holding = |segment: &OpenSegment| {
        let (sign, quads) = (segment.entry.sign, segment.entry.quads);
        let cleared = if sign == Sign::TermsOnly { 0 } else { graphs.quads_in(segment)? };
        Ok(Holding { sign, quads, cleared })
    };
    version.segments.iter().map(holding).collect()
}

fn has_terms(open: &OpenSegment) -> bool {
    open.entry.terms != [0; Section::COUNT]
}

struct Clearing<'a> {
    store: &'a Store,
    before: &'a Version,
    graphs: Graphs,
    options: ClearOptions<'a>,
}

impl Clearing<'_> {
    /// Writes new segments; the segments that there are then.
    fn write(&self, fates: &[Fate], folders: &mut NewFolders<'_>) -> Result<Vec<SegmentEntry>, BuildError> {
        let mut segments = Vec::new();
        let mut bases = [0; Section::COUNT];
        let mut deleted: Vec<OpenSegment> = Vec::new();
        // Those that no segment takes the place of: the last one says so.
        let mut gone: Vec<&OpenSegment> = Vec::new();
        for (open, fate) in self.before.segments.iter().zip(fates) {
            bases.iter_mut().zip(open.entry.terms).for_each(|(base, terms)| *base += terms);
            if *fate != Fate::Replaced {
                segments.push(open.entry.clone());
                deleted.extend((*fate == Fate::Deleted).then(|| open.clone()));
                continue;
            }
            if has_terms(open) {
                segments.push(SegmentEntry { sign: Sign::TermsOnly, ..open.entry.clone() });
            }
            let others = open.entry.quads - self.graphs.quads_in(open)?;
            if others == 0 {
                gone.push(open);
                continue;
            }
            // In the place of the old one: what comes after it may speak of its quads.
            let picked = Picked::Others(open);
            segments.push(self.segment(picked, others, open.entry.sign, &[open], bases, folders)?);
        }
        let mut quads = 0;
        for open in &deleted {
            quads += open.entry.sign.of(self.graphs.quads_in(open)?);
        }
        let quads = u64::try_from(quads).unwrap_or(0);
        // Without quads, too, where nothing else on the disk would tell what is gone if the manifest were lost.
        if quads > 0 || !gone.is_empty() {
            let picked = Picked::Cleared(&deleted);
            segments.push(self.segment(picked, quads, Sign::Deletions, &gone, bases, folders)?);
        }
        Ok(segments)
    }

    /// Writes a segment, with which the quads of others are gone.
    fn segment(
        &self,
        picked: Picked<'_>,
        quads: u64,
        sign: Sign,
        gone: &[&OpenSegment],
        bases: [u64; Section::COUNT],
        folders: &mut NewFolders<'_>,
    ) -> Result<SegmentEntry, BuildError> {
        let (number, folder) = folders.create()?;
        let ClearOptions { threads, cancel } = self.options;
        let (store, graphs, folder) = (self.store, self.graphs, &*folder);
        let version = self.before.manifest.version;
        let numbering = match picked {
            Picked::Others(open) => open.segment.meta().origin.numbering,
            Picked::Cleared(_) => self.before.numbering(),
        };
        let (emptied, replaced): (Vec<&OpenSegment>, Vec<&OpenSegment>) =
            gone.iter().partition(|open| has_terms(open));
        let mut origin =
            NewOrigin::new(number, sign, version, numbering).replacing(store, replaced.into_iter());
        origin.empties.extend(emptied.iter().map(|open| open.entry.number));
        PickedSegment { store, graphs, picked, quads, origin, folder, bases, threads, cancel }.write()
    }
}

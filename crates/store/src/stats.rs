//! What is in a version, and what it takes on disk.

use crate::distinct::{COUNTED_ROWS_MAX, Distinct};
use crate::error::StoreError;
use crate::manifest::MANIFEST;
use crate::snapshot::Snapshot;
use crate::store::Store;
use lode_packed::Order;
use lode_packed::segment::META_FILE;
use lode_rdf::value_id::Section;
use lode_rdf::{Term, ValueId};
use std::path::Path;

/// Figures of a version.
#[derive(Debug, Clone, PartialEq)]
pub struct StoreStats {
    /// Quads in all graphs.
    pub quads: u64,
    /// Quads in the default graph.
    pub default_graph_quads: u64,
    /// Number of named graphs.
    pub named_graphs: u64,
    /// The largest named graphs with their quads, largest first.
    pub largest_graphs: Vec<(Term, u64)>,
    /// Terms in the dictionaries, by section.
    pub terms: [u64; Section::COUNT],
    /// Blank nodes numbered so far.
    pub blank_nodes: u64,
    /// Distinct subjects, predicates, objects.
    pub distinct: [Distinct; 3],
    /// Number of segments.
    pub segments: u64,
    /// Bytes of each permutation, over all segments, by number of order.
    pub permutation_bytes: [u64; Order::COUNT],
    /// Quads in the GSPO permutation (the others hold all).
    pub gspo_quads: u64,
    /// Bytes of the dictionaries.
    pub dictionary_bytes: u64,
    /// Bytes of the terms' keys before compression.
    pub dictionary_key_bytes: u64,
    /// Named snapshots.
    pub snapshots: u64,
    /// Bytes of segments that only snapshots need; not among the others.
    pub snapshot_bytes: u64,
    /// Characteristic sets that subjects have, over all segments, and the subjects whose sets are too rare to be kept.
    pub predicate_sets: (u64, u64),
    /// Bytes of the manifest, the segments' descriptions and their characteristic sets.
    pub other_bytes: u64,
}

/// What the files of a version take on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DiskUse {
    /// Bytes of each permutation, over all segments, by number of order.
    pub permutation_bytes: [u64; Order::COUNT],
    /// Bytes of the dictionaries.
    pub dictionary_bytes: u64,
    /// Bytes of the characteristic sets.
    pub characteristic_sets_bytes: u64,
}

impl DiskUse {
    /// That of a version: what the segments say of themselves, so no file is read.
    pub fn of(snapshot: &Snapshot) -> Self {
        let mut sums = Self::default();
        for open in &*snapshot.version().segments {
            let meta = open.segment.meta();
            for (sum, info) in sums.permutation_bytes.iter_mut().zip(&meta.permutations) {
                *sum += info.bytes;
            }
            sums.dictionary_bytes += meta.dictionary.map_or(0, |info| info.bytes);
            sums.characteristic_sets_bytes += meta.characteristic_sets.map_or(0, |info| info.bytes);
        }
        sums
    }
}

impl StoreStats {
    /// Bytes of all files.
    pub fn bytes(&self) -> u64 {
        self.permutation_bytes.iter().sum::<u64>() + self.dictionary_bytes + self.other_bytes
    }

    /// Gathers the figures of the current version; at most `graphs_max` graphs are named.
    ///
    /// # Errors
    /// Where a file cannot be read or is damaged.
    pub fn gather(store: &Store, graphs_max: usize) -> Result<Self, StoreError> {
        Self::gather_at(store, &store.snapshot(), graphs_max)
    }

    /// The same of a version that is held, such as a named snapshot. What is told of all snapshots is as it is now.
    ///
    /// # Errors
    /// Like [`Self::gather`].
    pub fn gather_at(store: &Store, snapshot: &Snapshot, graphs_max: usize) -> Result<Self, StoreError> {
        let version = snapshot.version();
        let gspo_quads = snapshot.count(Order::Gspo, &[])?;
        let (named_graphs, largest_graphs) = graphs(snapshot, graphs_max)?;
        let mut stats = Self {
            quads: snapshot.quad_count(),
            default_graph_quads: snapshot.quad_count() - gspo_quads,
            named_graphs,
            largest_graphs,
            terms: version.manifest.terms(),
            blank_nodes: version.next_blank,
            distinct: [
                Distinct::of(snapshot, Order::Spog, COUNTED_ROWS_MAX)?,
                Distinct::of(snapshot, Order::Psog, COUNTED_ROWS_MAX)?,
                Distinct::of(snapshot, Order::Ospg, COUNTED_ROWS_MAX)?,
            ],
            segments: version.segments.len() as u64,
            permutation_bytes: [0; Order::COUNT],
            gspo_quads,
            dictionary_bytes: 0,
            dictionary_key_bytes: 0,
            snapshots: store.snapshots()?.len() as u64,
            snapshot_bytes: store.snapshot_bytes()?,
            predicate_sets: (0, 0),
            other_bytes: file_bytes(store, &store.folder().join(MANIFEST))?,
        };
        for open in &*version.segments {
            let meta = open.segment.meta();
            for (sum, info) in stats.permutation_bytes.iter_mut().zip(&meta.permutations) {
                *sum += info.bytes;
            }
            if let Some(info) = meta.dictionary {
                stats.dictionary_bytes += info.bytes;
                stats.dictionary_key_bytes += info.key_bytes;
            }
            if let Some(stars) = open.segment.characteristic_sets() {
                stats.predicate_sets.0 += stars.len() as u64;
                stats.predicate_sets.1 += stars.others();
            }
            stats.other_bytes += meta.characteristic_sets.map_or(0, |info| info.bytes);
            stats.other_bytes += open.file_bytes(META_FILE)?;
        }
        Ok(stats)
    }
}

/// How many named graphs there are, and the largest.
fn graphs(snapshot: &Snapshot, graphs_max: usize) -> Result<(u64, Vec<(Term, u64)>), StoreError> {
    let graphs = snapshot.named_graphs()?;
    let mut sizes: Vec<(u64, ValueId)> = Vec::with_capacity(graphs.len());
    for graph in &graphs {
        sizes.push((snapshot.count(Order::Gspo, &[*graph])?, *graph));
    }
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    sizes.truncate(graphs_max);
    let largest = sizes.into_iter().map(|(quads, graph)| Ok((snapshot.term(graph)?, quads)));
    Ok((graphs.len() as u64, largest.collect::<Result<_, StoreError>>()?))
}

fn file_bytes(store: &Store, path: &Path) -> Result<u64, StoreError> {
    store.vfs().open(path).map(|file| file.len()).map_err(StoreError::io(path))
}

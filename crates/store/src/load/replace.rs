//! What a load takes the place of: a segment that deletes it is written first, and the load works on a version that has that segment. One
//! manifest names both, so nobody sees the one without the other.

use crate::delta::Row;
use crate::error::StoreError;
use crate::load::direct::{DirectSegment, remove_segment};
use crate::load::{LoadError, LoadOptions};
use crate::manifest::{Manifest, SegmentEntry, Sign};
use crate::snapshot::Snapshot;
use crate::store::Store;
use crate::version::Version;
use lode_base::cancel::CancelToken;
use lode_packed::Order;
use lode_rdf::{NamedNode, Term, ValueId};
use std::sync::Arc;

/// Rows that are read at once.
const BATCH_ROWS: usize = 1 << 14;

/// What goes when a load is published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replace {
    /// The quads of the load's graph or, if it has none, of the default graph.
    Graph,
    /// All quads.
    All,
}

/// What is to be removed, and how.
pub struct Removal {
    what: Option<Replace>,
    graph: Option<NamedNode>,
    threads: usize,
    memory_bytes: usize,
    cancel: CancelToken,
}

impl Removal {
    /// What a load was told.
    pub fn of(options: &LoadOptions) -> Self {
        Self {
            what: options.replace,
            graph: options.graph.clone(),
            threads: options.threads.max(1),
            memory_bytes: options.memory_bytes,
            cancel: options.cancel.clone(),
        }
    }
}

/// A version without what is to be replaced. No manifest on disk names it.
pub struct Removed {
    /// The version.
    pub version: Arc<Version>,
    /// Quads that it has not.
    pub quads: u64,
    number: u64,
}

impl Removed {
    /// Removes that from `version`, which is one of segments alone; none where there is nothing to remove.
    pub fn new(store: &Store, version: &Arc<Version>, removal: &Removal) -> Result<Option<Self>, LoadError> {
        let snapshot = Snapshot::new(Arc::clone(version));
        let graph = match (removal.what, &removal.graph) {
            (None, _) => return Ok(None),
            (Some(Replace::All), _) => None,
            (Some(Replace::Graph), None) => Some(ValueId::DEFAULT_GRAPH),
            (Some(Replace::Graph), Some(name)) => match snapshot.id_of(&Term::NamedNode(name.clone()))? {
                Some(id) => Some(id),
                None => return Ok(None),
            },
        };
        if !has_quads(&snapshot, graph)? {
            return Ok(None);
        }
        let number = store.writer()?.take_segments(1);
        let removed = write(store, &snapshot, graph, number, removal).and_then(|entry| {
            let mut manifest =
                Manifest { next_segment: store.writer()?.next_segment(), ..version.manifest.clone() };
            let quads = entry.quads;
            manifest.segments.push(entry);
            Ok(Self { version: Arc::new(store.open_version(manifest)?), quads, number })
        });
        if removed.is_err() {
            remove(store, number)?;
        }
        removed.map(Some)
    }

    /// Publishes the removal alone, where a load has nothing to add.
    pub fn publish(&self, store: &Store) -> Result<(), StoreError> {
        let before = &self.version.manifest;
        let next_segment = store.writer()?.next_segment();
        store.publish(Manifest { version: before.version + 1, next_segment, ..before.clone() })
    }

    /// Gives it up: everything is as it was.
    pub fn give_up(self, store: &Store) -> Result<(), StoreError> {
        drop(self.version);
        remove(store, self.number)
    }
}

fn remove(store: &Store, number: u64) -> Result<(), StoreError> {
    remove_segment(store, number);
    store.writer()?.give_back_segments(number, 1, 0);
    Ok(())
}

/// Whether there is something in a graph (`None`: in any).
fn has_quads(snapshot: &Snapshot, graph: Option<ValueId>) -> Result<bool, StoreError> {
    Ok(match graph {
        None => snapshot.quad_count() > 0,
        Some(ValueId::DEFAULT_GRAPH) => snapshot.quad_count() > snapshot.count(Order::Gspo, &[])?,
        Some(graph) => snapshot.count(Order::Gspo, &[graph])? > 0,
    })
}

/// Writes the segment of deletions, durably.
fn write(
    store: &Store,
    snapshot: &Snapshot,
    graph: Option<ValueId>,
    number: u64,
    removal: &Removal,
) -> Result<SegmentEntry, LoadError> {
    let segment = DirectSegment {
        store,
        number,
        sign: Sign::Deletions,
        bases: snapshot.version().manifest.terms(),
        terms: &[],
        threads: removal.threads,
        memory_bytes: removal.memory_bytes,
        cancel: &removal.cancel,
    };
    segment.write(&|visit| scan(snapshot, graph, visit))
}

/// Visits the quads of a graph (`None`: of all), some at a time.
fn scan(
    snapshot: &Snapshot,
    graph: Option<ValueId>,
    visit: &mut dyn FnMut(&[Row]) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    // The order that begins with the graph has named graphs only.
    let named = graph.filter(|graph| *graph != ValueId::DEFAULT_GRAPH);
    let (order, prefix) = match &named {
        Some(graph) => (Order::Gspo, std::slice::from_ref(graph)),
        None => (Order::Spog, &[][..]),
    };
    let mut scan = snapshot.scan(order, prefix, 0b1111)?;
    let mut columns: [Vec<ValueId>; 4] = Default::default();
    let mut rows: Vec<Row> = Vec::new();
    loop {
        columns.iter_mut().for_each(Vec::clear);
        let count = scan.next(BATCH_ROWS, &mut columns)?;
        if count == 0 {
            return Ok(());
        }
        rows.clear();
        rows.extend((0..count).map(|at| {
            let mut quad = [0; 4];
            for (position, column) in order.positions().into_iter().zip(&columns) {
                quad[position as usize] = column[at].to_bits();
            }
            quad
        }));
        rows.retain(|row| graph.is_none_or(|graph| row[3] == graph.to_bits()));
        visit(&rows)?;
    }
}

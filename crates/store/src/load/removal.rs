//! What a load takes the place of: it is cleared first, and the load works on a version that has it not. One
//! manifest names what was written for both, so nobody sees the one without the other.

use crate::clear::{self, ClearOptions, Cleared, Graphs, Written};
use crate::error::StoreError;
use crate::load::error::LoadError;
use crate::load::options::LoadOptions;
use crate::load::replace::Replace;
use crate::manifest::{Inferences, Manifest};
use crate::snapshot::Snapshot;
use crate::store::Store;
use crate::version::Version;
use lode_base::cancel::CancelToken;
use lode_rdf::{NamedNode, Term, ValueId};
use std::sync::Arc;

/// What is to be removed, and how.
pub struct Removal {
    what: Option<Replace>,
    graph: Option<NamedNode>,
    threads: usize,
    cancel: CancelToken,
}

impl Removal {
    /// What a load was told.
    pub fn of(options: &LoadOptions) -> Self {
        Self {
            what: options.replace,
            graph: options.graph.clone(),
            threads: options.threads.max(1),
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
    written: Written,
}

impl Removed {
    /// Removes that from `version`, which is one of segments alone; none where there is nothing to remove.
    pub fn new(store: &Store, version: &Arc<Version>, removal: &Removal) -> Result<Option<Self>, LoadError> {
        let graphs = match (removal.what, &removal.graph) {
            (None, _) => return Ok(None),
            (Some(Replace::All), _) => Graphs::All,
            (Some(Replace::Graph), None) => Graphs::One(ValueId::DEFAULT_GRAPH),
            (Some(Replace::Graph), Some(name)) => {
                let snapshot = Snapshot::new(Arc::clone(version));
                match snapshot.id_of(&Term::NamedNode(name.clone()))? {
                    Some(id) => Graphs::One(id),
                    None => return Ok(None),
                }
            }
        };
        if clear::quads_in_segments(version, graphs)? == 0 {
            return Ok(None);
        }
        let options = ClearOptions { threads: removal.threads, cancel: &removal.cancel };
        let Cleared { version, quads, written } = clear::clear(store, version, graphs, options)?;
        Ok(Some(Self { version, quads, written }))
    }

    /// Publishes the removal alone, where a load has nothing to add.
    pub fn publish(&self, store: &Store) -> Result<(), StoreError> {
        let before = &self.version.manifest;
        let inferences = before.inferences.clone().map(Inferences::stale);
        let manifest = Manifest { version: before.version + 1, inferences, ..before.clone() };
        store.publish(store.writer()?.numbered(manifest))
    }

    /// What was written belongs to the database from now on, or may turn out to. Without this everything is as it was.
    pub fn keep(self) {
        self.written.keep(&self.version);
    }
}

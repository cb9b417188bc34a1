//! Triples that rules find, gathered until a round ends: each once, and none that is there already.

use crate::EngineError;
use lode_base::memory_budget::{MemoryBudget, OutOfBudget, Reservation};
use lode_exec::ExecError;
use lode_packed::Order;
use lode_rdf::ValueId;
use lode_store::{Snapshot, Transaction};

/// Subject, predicate, object.
pub(super) type Triple = [ValueId; 3];

/// Bytes that a transaction takes for each quad that is deleted from a graph that is small.
pub(super) const DELETION_BYTES: usize = 112;
/// Triples that are gathered before they are compared with what there is, at most.
const WAITING_MAX: usize = 4 << 20;
/// Triples whose memory is taken at once.
const AT_ONCE: usize = 16 << 10;
/// Triples that are looked up at once.
const LOOKED_UP: usize = 64 << 10;

/// Whether a triple is there already.
pub(super) struct Known<'a> {
    pub transaction: &'a mut Transaction,
    /// The graph of inferences.
    pub inferred: ValueId,
    /// The state that rules read, where that is of all graphs.
    pub all_graphs: Option<&'a Snapshot>,
}

impl Known<'_> {
    /// Takes out of sorted triples those that are there.
    fn remove(&mut self, triples: &mut Vec<Triple>) -> Result<(), EngineError> {
        let mut kept = Vec::with_capacity(triples.len());
        for chunk in triples.chunks(LOOKED_UP) {
            let with = |graph: ValueId| move |[s, p, o]: &Triple| [*s, *p, *o, graph];
            let held: Vec<bool> = match self.all_graphs {
                Some(snapshot) => {
                    let mut held = Vec::with_capacity(chunk.len());
                    for triple in chunk {
                        held.push(snapshot.count(Order::Spog, triple)? > 0);
                    }
                    held
                }
                None => {
                    // Of each triple in both graphs; that of the default graph is the least.
                    let graphs = [ValueId::DEFAULT_GRAPH, self.inferred];
                    let quads: Vec<_> =
                        chunk.iter().flat_map(|triple| graphs.map(|graph| with(graph)(triple))).collect();
                    self.transaction.holds(&quads)?.chunks(2).map(|pair| pair.contains(&true)).collect()
                }
            };
            kept.extend(chunk.iter().zip(held).filter(|(_, held)| !held).map(|(triple, _)| *triple));
        }
        *triples = kept;
        Ok(())
    }
}

/// What a round has found.
pub(super) struct Gather {
    waiting: Vec<Triple>,
    /// Sorted, each once, and not there before.
    new: Vec<Triple>,
    held: Reservation,
}

impl Gather {
    pub fn new(budget: &MemoryBudget) -> Self {
        Self { waiting: Vec::new(), new: Vec::new(), held: budget.reserve_empty() }
    }

    /// One more.
    pub fn push(&mut self, triple: Triple, known: &mut Known<'_>) -> Result<(), EngineError> {
        if self.waiting.len().is_multiple_of(AT_ONCE) {
            let is_full = self.waiting.len() >= WAITING_MAX;
            // What is sorted and compared is there twice for a moment.
            let more = self.room(self.waiting.len() + AT_ONCE);
            if is_full || self.held.grow(more).is_err() {
                self.settle(known)?;
                let more = self.room(AT_ONCE);
                self.held.grow(more).map_err(too_much)?;
            }
        }
        self.waiting.push(triple);
        Ok(())
    }

    /// Bytes that are missing for so many that wait.
    fn room(&self, waiting: usize) -> usize {
        let bytes = (2 * waiting + 2 * self.new.len()) * size_of::<Triple>();
        bytes.saturating_sub(self.held.bytes())
    }

    /// Compares what waits with what there is. How many are new.
    pub fn settle(&mut self, known: &mut Known<'_>) -> Result<usize, EngineError> {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.sort_unstable();
        waiting.dedup();
        waiting.retain(|triple| self.new.binary_search(triple).is_err());
        known.remove(&mut waiting)?;
        let found = waiting.len();
        if self.new.is_empty() {
            self.new = waiting;
        } else if found > 0 {
            self.new.append(&mut waiting);
            // Two sorted runs: a merge.
            self.new.sort();
        }
        self.held.shrink((2 * self.new.len()) * size_of::<Triple>());
        Ok(found)
    }

    /// What was found, sorted, and the memory that it takes. Nothing may wait.
    pub fn finish(self) -> (Vec<Triple>, Reservation) {
        (self.new, self.held)
    }
}

/// The error of inferences for which there is no memory.
pub(crate) fn too_much(error: OutOfBudget) -> EngineError {
    EngineError::Execution(ExecError::OutOfMemory(error))
}

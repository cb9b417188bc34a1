//! Triples that rules find, gathered until a round ends: each once, and none that is there already.

use crate::EngineError;
use lode_base::cancel::CancelToken;
use lode_base::gallop::gallop;
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
/// Triples that are sorted between two looks at the clock.
const SORTED_AT_ONCE: usize = 256 << 10;
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
        let mut kept = 0;
        for start in (0..triples.len()).step_by(LOOKED_UP) {
            self.transaction.cancel().check().map_err(EngineError::Cancelled)?;
            let end = triples.len().min(start + LOOKED_UP);
            for (at, is_held) in (start..end).zip(self.held(&triples[start..end])?) {
                if !is_held {
                    triples[kept] = triples[at];
                    kept += 1;
                }
            }
        }
        triples.truncate(kept);
        Ok(())
    }

    /// Whether each of sorted triples is there.
    fn held(&mut self, triples: &[Triple]) -> Result<Vec<bool>, EngineError> {
        if let Some(snapshot) = self.all_graphs {
            let is_held = |triple: &Triple| Ok(snapshot.count(Order::Spog, triple)? > 0);
            return triples.iter().map(is_held).collect();
        }
        // Of each triple in both graphs; that of the default graph is the least.
        let graphs = [ValueId::DEFAULT_GRAPH, self.inferred];
        let quads: Vec<_> =
            triples.iter().flat_map(|[s, p, o]| graphs.map(|graph| [*s, *p, *o, graph])).collect();
        Ok(self.transaction.holds(&quads)?.chunks(2).map(|pair| pair.contains(&true)).collect())
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
                if !is_full {
                    self.waiting = Vec::new();
                    self.held.shrink(self.room_taken(0));
                }
                let more = self.room(AT_ONCE);
                self.held.grow(more).map_err(too_much)?;
            }
        }
        self.waiting.push(triple);
        Ok(())
    }

    /// Bytes that are missing for so many that wait.
    fn room(&self, waiting: usize) -> usize {
        self.room_taken(waiting.max(self.waiting.capacity() / 2)).saturating_sub(self.held.bytes())
    }

    fn room_taken(&self, waiting: usize) -> usize {
        (2 * waiting + 2 * self.new.len()) * size_of::<Triple>()
    }

    /// Compares what waits with what there is. How many are new.
    pub fn settle(&mut self, known: &mut Known<'_>) -> Result<usize, EngineError> {
        let mut waiting = std::mem::take(&mut self.waiting);
        sort(&mut waiting, known.transaction.cancel())?;
        waiting.dedup();
        remove(&mut waiting, &self.new);
        known.remove(&mut waiting)?;
        let found = waiting.len();
        if found > 0 {
            let is_first = self.new.is_empty();
            self.new.extend_from_slice(&waiting);
            if !is_first {
                // Two sorted runs: a merge.
                self.new.sort();
            }
        }
        // Its memory is used again: to give it back and take it anew costs more than what is done with it.
        waiting.clear();
        self.waiting = waiting;
        self.held.shrink(self.room_taken(self.waiting.capacity() / 2));
        Ok(found)
    }

    /// What was found, sorted, and the memory that it takes. Nothing may wait.
    pub fn finish(mut self) -> (Vec<Triple>, Reservation) {
        self.waiting = Vec::new();
        self.held.shrink(self.room_taken(0));
        (self.new, self.held)
    }
}

/// Sorts in pieces, so that it can be stopped; merging sorted runs is what the sort of the library is quick at.
fn sort(triples: &mut [Triple], cancel: &CancelToken) -> Result<(), EngineError> {
    if triples.len() > SORTED_AT_ONCE && !triples.is_sorted() {
        for piece in triples.chunks_mut(SORTED_AT_ONCE) {
            cancel.check().map_err(EngineError::Cancelled)?;
            piece.sort_unstable();
        }
        triples.sort();
    } else {
        triples.sort_unstable();
    }
    cancel.check().map_err(EngineError::Cancelled)
}

/// Takes out of sorted triples those that are among others, sorted as well.
fn remove(triples: &mut Vec<Triple>, others: &[Triple]) {
    let mut at = 0;
    triples.retain(|triple| {
        at = gallop(at, others.len(), |at| others.get(at).is_some_and(|other| other < triple));
        others.get(at) != Some(triple)
    });
}

/// The error of inferences for which there is no memory.
pub(crate) fn too_much(error: OutOfBudget) -> EngineError {
    EngineError::Execution(ExecError::OutOfMemory(error))
}

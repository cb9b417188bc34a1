//! Triples that rules find, gathered until a round ends: each once, and none that is there already.

use crate::EngineError;
use lode_base::cancel::CancelToken;
use lode_base::gallop::gallop;
use lode_base::memory_budget::{MemoryBudget, OutOfBudget, Reservation};
use lode_base::pieces;
use lode_exec::ExecError;
use lode_packed::Order;
use lode_rdf::ValueId;
use lode_store::{Present, Snapshot};

/// Subject, predicate, object.
pub(super) type Triple = [ValueId; 3];

/// Bytes that a transaction takes for each quad that is deleted from a graph that is small.
pub(super) const DELETION_BYTES: usize = 112;
/// Triples that are gathered before they are compared with what there is, at most.
const WAITING_MAX: usize = if cfg!(test) { 64 } else { 4 << 20 };
/// Triples whose memory is taken at once.
const AT_ONCE: usize = if cfg!(test) { 16 } else { 16 << 10 };
/// Triples that are looked up at once.
const LOOKED_UP: usize = if cfg!(test) { 16 } else { 32 << 10 };

/// What is there already.
pub(super) struct Known<'a> {
    pub present: &'a Present,
    /// The graph of inferences.
    pub inferred: ValueId,
    /// The state that rules read, where that is of all graphs.
    pub all_graphs: Option<&'a Snapshot>,
    pub cancel: &'a CancelToken,
    /// Threads that sort and look up. What is found is the same for any number.
    pub threads: usize,
}

impl Known<'_> {
    fn check(&self) -> Result<(), EngineError> {
        self.cancel.check().map_err(EngineError::Cancelled)
    }

    /// Takes out of sorted triples those that are there.
    fn remove(&self, triples: &mut Vec<Triple>) -> Result<(), EngineError> {
        let parts: Vec<&[Triple]> = triples.chunks(LOOKED_UP).collect();
        let held = pieces::each(parts, self.threads, &|part| self.check().and_then(|()| self.held(part)));
        let held = held.into_iter().collect::<Result<Vec<_>, _>>()?;
        let mut held = held.iter().flatten();
        triples.retain(|_| held.next().is_none_or(|is_held| !is_held));
        Ok(())
    }

    /// Whether each of sorted triples is there.
    fn held(&self, triples: &[Triple]) -> Result<Vec<bool>, EngineError> {
        if let Some(snapshot) = self.all_graphs {
            let is_held = |triple: &Triple| Ok(snapshot.count(Order::Spog, triple)? > 0);
            return triples.iter().map(is_held).collect();
        }
        // Of each triple in both graphs; that of the default graph is the least.
        let graphs = [ValueId::DEFAULT_GRAPH, self.inferred];
        let quads = triples.iter().flat_map(|[s, p, o]| graphs.map(|graph| [*s, *p, *o, graph])).collect();
        Ok(self.present.holds(quads)?.chunks(2).map(|pair| pair.contains(&true)).collect())
    }
}

/// What a round has found.
pub(super) struct Gather {
    waiting: Vec<Triple>,
    /// Sorted, each once, and not there before.
    new: Vec<Triple>,
    /// Triples that are new and not told of yet.
    found: usize,
    held: Reservation,
}

impl Gather {
    pub fn new(budget: &MemoryBudget) -> Self {
        Self { waiting: Vec::new(), new: Vec::new(), found: 0, held: budget.reserve_empty() }
    }

    /// One more.
    pub fn push(&mut self, triple: Triple, known: &Known<'_>) -> Result<(), EngineError> {
        if self.waiting.len().is_multiple_of(AT_ONCE) {
            let is_full = self.waiting.len() >= WAITING_MAX;
            // What is sorted and compared is there twice for a moment.
            let more = self.room(self.waiting.len() + AT_ONCE);
            if is_full || self.held.grow(more).is_err() {
                self.compare(known)?;
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

    /// Compares what waits with what there is. How many are new since this was last asked.
    pub fn settle(&mut self, known: &Known<'_>) -> Result<usize, EngineError> {
        self.compare(known)?;
        Ok(std::mem::take(&mut self.found))
    }

    fn compare(&mut self, known: &Known<'_>) -> Result<(), EngineError> {
        let mut waiting = std::mem::take(&mut self.waiting);
        pieces::sort(&mut waiting, known.threads, &|| known.check())?;
        waiting.dedup();
        remove(&mut waiting, &self.new);
        known.remove(&mut waiting)?;
        self.found += waiting.len();
        if !waiting.is_empty() {
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
        Ok(())
    }

    /// What was found, sorted, and the memory that it takes. Nothing may wait.
    pub fn finish(mut self) -> (Vec<Triple>, Reservation) {
        self.waiting = Vec::new();
        self.held.shrink(self.room_taken(0));
        (self.new, self.held)
    }
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

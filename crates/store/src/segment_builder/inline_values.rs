//! The inline values of a load: listed, so that rows hold their ranks; or, where the list would take too much memory, only from where to
//! where those of each kind are, so that rows hold the values themselves ([why](../../../../docs/design/024-load-memory-of-inline-values.md)).

use super::term_index::TermIndex;
use lode_rdf::value_id::PAYLOAD_BITS;

/// From the first to the last id of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The least id.
    pub first: u64,
    /// The greatest id.
    pub last: u64,
}

impl Span {
    /// The byte of the kind.
    pub fn kind(self) -> usize {
        (self.first >> PAYLOAD_BITS) as usize
    }

    /// How many ids there are from the first to the last.
    pub fn ids(self) -> u64 {
        self.last - self.first + 1
    }
}

/// The distinct inline values of a load.
#[derive(Debug, Clone, Default)]
pub struct InlineValues {
    listed: Vec<u64>,
    /// Empty while all values are listed.
    spans: Vec<Span>,
    listed_max: usize,
}

impl InlineValues {
    /// None yet; a list of up to `listed_max` is kept.
    pub fn new(listed_max: usize) -> Self {
        Self { listed_max, ..Self::default() }
    }

    /// All values, sorted.
    pub fn of_list(listed: Vec<u64>) -> Self {
        Self { listed_max: listed.len(), listed, spans: Vec::new() }
    }

    /// Adds an id, which must be greater than all before; what the term is called until all are known.
    pub fn push(&mut self, id: u64) -> TermIndex {
        if self.listed.len() < self.listed_max {
            self.listed.push(id);
            return TermIndex::rank(self.listed.len() as u64 - 1);
        }
        if self.spans.is_empty() {
            self.listed.iter().for_each(|id| extend(&mut self.spans, *id));
        }
        extend(&mut self.spans, id);
        TermIndex::value(id)
    }

    /// Where the values of each kind are, in order of the kinds, if they are not all listed.
    pub fn spans(&self) -> Option<&[Span]> {
        (!self.spans.is_empty()).then_some(&self.spans)
    }

    /// The values in order: all of them, or where there are [`Self::spans`], the first.
    pub fn into_listed(self) -> Vec<u64> {
        self.listed
    }
}

fn extend(spans: &mut Vec<Span>, id: u64) {
    match spans.last_mut() {
        Some(span) if span.first >> PAYLOAD_BITS == id >> PAYLOAD_BITS => span.last = id,
        _ => spans.push(Span { first: id, last: id }),
    }
}

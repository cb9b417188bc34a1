//! What a reader sees: one version of the database, unchanging while it is held.

use lode_packed::Order;
use lode_rdf::{Term, ValueId};
use std::ops::Range;

/// Errors of the store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {}

/// A version of the database, cheap to clone, readable from many threads.
///
/// The segments of a version hold disjoint sets of quads, so counts add up and scans need no de-duplication.
#[derive(Debug, Clone)]
pub struct Snapshot {}

impl Snapshot {
    /// Quads in all graphs.
    pub fn quad_count(&self) -> u64 {
        unimplemented!()
    }

    /// Exact number of quads whose first columns in `order` are `prefix` (0 to 4 ids).
    pub fn count(&self, _order: Order, _prefix: &[ValueId]) -> Result<u64, StoreError> {
        unimplemented!()
    }

    /// Quads whose first columns in `order` are `prefix`, sorted in `order`. Of the four columns only those in `columns`
    /// (bit `i` = column `i` of the order) are read and delivered; the others cost nothing.
    pub fn scan(&self, _order: Order, _prefix: &[ValueId], _columns: u8) -> Result<Scan, StoreError> {
        unimplemented!()
    }

    /// Splits the quads under `prefix` into at most `parts` key ranges of about equal size, for morsels: the bounds are
    /// values of column `prefix.len()`, half open; no two ranges share a value of that column.
    pub fn split(
        &self,
        _order: Order,
        _prefix: &[ValueId],
        _parts: usize,
    ) -> Result<Vec<Range<ValueId>>, StoreError> {
        unimplemented!()
    }

    /// The id of a term, or `None` where neither the dictionary holds it nor the id itself can. Blank nodes in queries
    /// are variables, so a blank node term is looked up only when it came out of this database (`_:b<number>`).
    pub fn id_of(&self, _term: &Term) -> Result<Option<ValueId>, StoreError> {
        unimplemented!()
    }

    /// The term of an id. Errors for ids that this database never gave (and for `Kind::Local` and `Kind::Special`).
    pub fn term(&self, _id: ValueId) -> Result<Term, StoreError> {
        unimplemented!()
    }

    /// Calls `visit(index, term)` for every id, in an order that is cheap (sorted by id, block by block).
    pub fn terms(
        &self,
        _ids: &[ValueId],
        _visit: &mut dyn FnMut(usize, Term) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        unimplemented!()
    }

    /// Dictionary keys (see `lode_rdf::key`) instead of terms: no parsing, no allocation per term. `ids` must be of
    /// dictionary kinds.
    pub fn keys(
        &self,
        _ids: &[ValueId],
        _visit: &mut dyn FnMut(usize, &[u8]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        unimplemented!()
    }

    /// Whether ids of dictionary kinds compare like their keys in this version (true while there is one dictionary).
    pub fn ids_are_ordered(&self) -> bool {
        unimplemented!()
    }

    /// The named graphs, sorted by id.
    pub fn named_graphs(&self) -> Result<Vec<ValueId>, StoreError> {
        unimplemented!()
    }

    /// Number of distinct values of column `prefix.len()` under `prefix`; exact where cheap, else an estimate.
    pub fn distinct(&self, _order: Order, _prefix: &[ValueId]) -> Result<u64, StoreError> {
        unimplemented!()
    }
}

/// A cursor over sorted quads.
#[derive(Debug)]
pub struct Scan {}

impl Scan {
    /// Appends up to `rows_max` further rows to `columns` (only to those asked for) and returns how many; 0 at the end.
    pub fn next(&mut self, _rows_max: usize, _columns: &mut [Vec<ValueId>; 4]) -> Result<usize, StoreError> {
        unimplemented!()
    }

    /// Moves forward to the first row not before `key` (whole prefix included, 1 to 4 ids); never backward.
    pub fn seek(&mut self, _key: &[ValueId]) -> Result<(), StoreError> {
        unimplemented!()
    }

    /// Ends the scan before the first row at or after `key`.
    pub fn limit_to(&mut self, _key: &[ValueId]) -> Result<(), StoreError> {
        unimplemented!()
    }
}

//! The delta: what small transactions changed since the last segment was written. In memory, and for every reader as immutable as a segment.
//!
//! Quads are in *change sets*, each the net effect of some transactions, newest last. A commit adds a change set and merges it with change sets that
//! are not much larger, so that there are only about as many as the logarithm of the delta's size, and each quad is moved about
//! that often. New terms are in one table that only grows; a version sees those before its own count.
//!
//! A delta that is being written as segments is *frozen*: change sets that come later are not merged with its own, so that they can be told
//! apart when the segments are there ([`Delta::since`]).

mod change_set;
mod quad_set;
mod rows;
mod summary;
mod term_table;

#[cfg(test)]
mod tests;

pub use change_set::ChangeSet;
pub use quad_set::{MemoryCursor, QuadSet};
pub use rows::Row;
pub use term_table::{Keys, TermTable};

use crate::error::StoreError;
use lode_packed::Order;
use lode_rdf::value_id::Section;
use lode_rdf::{Kind, ValueId};
use std::sync::Arc;

/// Set in the payload of ids of terms that are in no segment's dictionary yet.
pub const DELTA_TERM: u64 = 1 << 55;
/// Also set while the transaction that brought the term has not committed.
pub const OWN_TERM: u64 = 1 << 54;

/// A change set is merged with the one before it unless that is so many times larger.
const MERGE_RATIO: usize = 4;
/// Bytes of memory for each quad in the delta: a row of 32 bytes in each of seven orders.
const QUAD_BYTES: usize = Order::COUNT * size_of::<Row>();

/// Whether an id stands for a term in the delta.
pub fn is_delta_term(id: ValueId) -> bool {
    id.payload() & DELTA_TERM != 0 && id.kind().is_some_and(|kind| kind.section().is_some())
}

/// The id of the delta's term `index`.
pub fn delta_id(section: Section, index: u64) -> ValueId {
    ValueId::new(section.kind(), DELTA_TERM | index)
}

/// The id of the term `index` of a transaction that has not committed.
pub fn own_id(section: Section, index: u64) -> ValueId {
    ValueId::new(section.kind(), DELTA_TERM | OWN_TERM | index)
}

/// The delta of one version.
#[derive(Debug, Clone, Default)]
pub struct Delta {
    /// The change sets, newest last. None is empty.
    change_sets: Vec<Arc<ChangeSet>>,
    /// How many of them, the oldest, nothing is merged with.
    frozen: usize,
    terms: Arc<TermTable>,
    term_count: u64,
    /// Terms of the transaction that alone sees this version.
    own: Option<Arc<TermTable>>,
}

impl Delta {
    /// The delta with these quads and terms, as a log tells them.
    pub fn new(change_set: ChangeSet, terms: Arc<TermTable>) -> Self {
        let term_count = terms.len();
        let change_sets = if change_set.is_empty() { Vec::new() } else { vec![Arc::new(change_set)] };
        Self { change_sets, frozen: 0, terms, term_count, own: None }
    }

    /// The change sets, oldest first.
    pub fn change_sets(&self) -> &[Arc<ChangeSet>] {
        &self.change_sets
    }

    /// Whether there are neither quads nor terms.
    pub fn is_empty(&self) -> bool {
        self.change_sets.is_empty() && self.term_count == 0
    }

    /// Terms that this version sees, not counting those of its own transaction.
    pub fn term_count(&self) -> u64 {
        self.term_count
    }

    /// The table of terms; it may hold more than this version sees.
    pub fn terms(&self) -> &Arc<TermTable> {
        &self.terms
    }

    /// The id of a term for whoever has the write lock and this delta for the tip's; a new one if need be.
    pub fn add_term(&self, section: Section, key: &[u8]) -> Result<ValueId, StoreError> {
        Ok(delta_id(section, self.terms.insert_or_fail(section, key)?))
    }

    /// How many terms this version sees, also those of its own transaction.
    pub fn terms_seen(&self) -> u64 {
        self.term_count + self.own.as_ref().map_or(0, |own| own.len())
    }

    /// Calls `visit` with each term that this version sees.
    pub fn each_term(&self, visit: &mut dyn FnMut(ValueId, Section, &[u8])) {
        for index in 0..self.term_count {
            self.terms.with_key(index, |section, key| visit(delta_id(section, index), section, key));
        }
        if let Some(own) = &self.own {
            for index in 0..own.len() {
                own.with_key(index, |section, key| visit(own_id(section, index), section, key));
            }
        }
    }

    /// Whether ids of terms may be in this delta.
    pub fn has_terms(&self) -> bool {
        self.term_count > 0 || self.own.as_ref().is_some_and(|own| own.len() > 0)
    }

    /// Insertions less deletions.
    pub fn net_quads(&self) -> i64 {
        self.change_sets
            .iter()
            .map(|change_set| change_set.inserts.len() as i64 - change_set.deletes.len() as i64)
            .sum()
    }

    /// Insertions and deletions.
    pub fn changes(&self) -> usize {
        self.change_sets.iter().map(|change_set| change_set.len()).sum()
    }

    /// Bytes of memory that it takes once all orders have been read.
    pub fn memory_bytes(&self) -> usize {
        self.changes() * QUAD_BYTES + self.terms.memory_bytes()
    }

    /// The id of a term that this version sees.
    pub fn id_of_key(&self, section: Section, key: &[u8]) -> Option<ValueId> {
        if self.term_count > 0
            && let Some(index) = self.terms.find(section, key).filter(|index| *index < self.term_count)
        {
            return Some(delta_id(section, index));
        }
        let index = self.own.as_ref()?.find(section, key)?;
        Some(own_id(section, index))
    }

    /// Calls `visit` with the key of a delta term's id; `None` where this version does not see it.
    pub fn with_key<T>(&self, id: ValueId, visit: impl FnOnce(Section, &[u8]) -> T) -> Option<T> {
        let section = id.kind().and_then(Kind::section)?;
        let index = id.payload() & !(DELTA_TERM | OWN_TERM);
        let table = if id.payload() & OWN_TERM != 0 {
            self.own.as_ref()?
        } else {
            (index < self.term_count).then_some(&self.terms)?
        };
        table.with_key(index, |of, key| (of == section).then(|| visit(section, key)))?
    }

    /// This delta with the changes of one more change set, and the terms that the table now holds.
    #[must_use]
    pub fn with_changes(&self, change_set: ChangeSet) -> Self {
        let mut change_sets = self.change_sets.clone();
        if !change_set.is_empty() {
            push(&mut change_sets, self.frozen, change_set);
        }
        let (frozen, terms) = (self.frozen, Arc::clone(&self.terms));
        Self { change_sets, frozen, terms, term_count: self.terms.len(), own: None }
    }

    /// This delta, of which all that is in it now stays apart from what comes later.
    #[must_use]
    pub fn freeze(&self) -> Self {
        Self { frozen: self.change_sets.len(), ..self.clone() }
    }

    /// This delta, of which nothing stays apart.
    #[must_use]
    pub fn thaw(&self) -> Self {
        Self { frozen: 0, ..self.clone() }
    }

    /// What came after `before` was frozen, on top of segments of all that is in `before`; `final_id` gives the ids of its terms there,
    /// if a dictionary has them. None where this delta does not go on from that one.
    pub fn since(
        &self,
        before: &Self,
        final_id: &dyn Fn(ValueId) -> Option<ValueId>,
    ) -> Result<Option<Self>, StoreError> {
        let Some((frozen, later)) = self.change_sets.split_at_checked(before.change_sets.len()) else {
            return Ok(None);
        };
        let is_same = frozen.iter().zip(&before.change_sets).all(|(now, then)| Arc::ptr_eq(now, then));
        if !is_same || !Arc::ptr_eq(&self.terms, &before.terms) {
            return Ok(None);
        }
        let terms = TermTable::default();
        self.terms.for_each_from(before.term_count, |section, key| {
            terms.insert_or_fail(section, key).map(|_| ())
        })?;
        let new_id = |bits: &mut u64| -> Result<(), StoreError> {
            let id = ValueId::from_bits(*bits);
            let Some(section) = id.kind().and_then(Kind::section).filter(|_| is_delta_term(id)) else {
                return Ok(());
            };
            let index = id.payload() & (OWN_TERM - 1);
            let new = match (index.checked_sub(before.term_count), final_id(id)) {
                (Some(index), _) => delta_id(section, index),
                (None, Some(id)) => id,
                // What brought the term was undone before a segment was written.
                (None, None) => {
                    let known = self.terms.with_key(index, |_, key| terms.insert_or_fail(section, key));
                    delta_id(section, known.ok_or(StoreError::UnknownId(id))??)
                }
            };
            *bits = new.to_bits();
            Ok(())
        };
        let rename = |quads: &QuadSet| -> Result<Vec<Row>, StoreError> {
            let mut rows = quads.rows(Order::Spog).to_vec();
            rows.as_flattened_mut().iter_mut().try_for_each(new_id)?;
            rows.sort_unstable();
            Ok(rows)
        };
        let net = net(later);
        let change_set = ChangeSet::new(rename(&net.inserts)?, rename(&net.deletes)?);
        Ok(Some(Self::new(change_set, Arc::new(terms))))
    }

    /// What a transaction sees that has made the changes `change_set` and has terms of its own.
    #[must_use]
    pub fn with_own(&self, change_set: &Arc<ChangeSet>, own: &Arc<TermTable>) -> Self {
        let mut delta = self.clone();
        delta.change_sets.extend((!change_set.is_empty()).then(|| Arc::clone(change_set)));
        delta.own = Some(Arc::clone(own));
        delta
    }

    /// This delta without what it says of some quads.
    #[must_use]
    pub fn without(&self, is_meant: &dyn Fn(&Row) -> bool) -> Self {
        let change_sets = self
            .change_sets
            .iter()
            .map(|change_set| ChangeSet::without(change_set, is_meant))
            .filter(|change_set| !change_set.is_empty());
        Self { change_sets: change_sets.collect(), frozen: 0, ..self.clone() }
    }

    /// This delta where terms of segments have other ids now.
    pub fn renamed(&self, new_id: &dyn Fn(u64) -> Option<u64>) -> Result<Self, StoreError> {
        let rename = |quads: &QuadSet| -> Result<Vec<Row>, StoreError> {
            let mut rows = quads.rows(Order::Spog).to_vec();
            for id in rows.as_flattened_mut() {
                let old = ValueId::from_bits(*id);
                if !is_delta_term(old) {
                    *id = new_id(*id).ok_or(StoreError::UnknownId(old))?;
                }
            }
            rows.sort_unstable();
            Ok(rows)
        };
        let net = self.net();
        let change_set = ChangeSet::new(rename(&net.inserts)?, rename(&net.deletes)?);
        Ok(Self::new(change_set, Arc::clone(&self.terms)))
    }

    /// All change sets as one.
    pub fn net(&self) -> Arc<ChangeSet> {
        net(&self.change_sets)
    }

    /// For each of `quads` (S, P, O, G; sorted) what the delta says: it is inserted, deleted, or not mentioned.
    pub fn mentions(&self, quads: &[Row]) -> Vec<Option<bool>> {
        let mut said = vec![None; quads.len()];
        // The newest change set that mentions a quad decides.
        for change_set in self.change_sets.iter().rev() {
            change_set.inserts.mark(quads, true, &mut said);
            change_set.deletes.mark(quads, false, &mut said);
        }
        said
    }

    /// To be called before rows with a prefix are read: sorts the order of change sets that have some, if there is memory for what is not sorted yet.
    pub fn make_readable(&self, order: Order, prefix: &[u64]) -> Result<(), StoreError> {
        self.sets().try_for_each(|set| set.make_readable(order, prefix)).map_err(StoreError::OutOfMemory)
    }

    /// The same before rows are counted: large sets know some counts.
    pub fn make_countable(&self, order: Order, prefix: &[u64]) -> Result<(), StoreError> {
        self.sets().try_for_each(|set| set.make_countable(order, prefix)).map_err(StoreError::OutOfMemory)
    }

    fn sets(&self) -> impl Iterator<Item = &QuadSet> {
        self.change_sets.iter().flat_map(|change_set| [&change_set.inserts, &change_set.deletes])
    }

    /// Insertions less deletions under a prefix.
    pub fn count(&self, order: Order, prefix: &[u64]) -> i64 {
        let count = |set: &QuadSet| set.count(order, prefix) as i64;
        self.change_sets
            .iter()
            .map(|change_set| count(&change_set.inserts) - count(&change_set.deletes))
            .sum()
    }

    /// Insertions less deletions that are not before the key `from`, but before `to`.
    pub fn count_between(&self, order: Order, from: &[u64], to: &[u64]) -> i64 {
        let count = |set: &QuadSet| set.between(order, from, to).len() as i64;
        self.change_sets
            .iter()
            .map(|change_set| count(&change_set.inserts) - count(&change_set.deletes))
            .sum()
    }

    /// Whether no change set has quads under a prefix.
    pub fn is_untouched(&self, order: Order, prefix: &[u64]) -> bool {
        self.sets().all(|set| set.count(order, prefix) == 0)
    }
}

/// Runs (oldest first) as one.
fn net(change_sets: &[Arc<ChangeSet>]) -> Arc<ChangeSet> {
    match change_sets.split_first() {
        None => Arc::default(),
        Some((first, [])) => Arc::clone(first),
        Some((first, rest)) => Arc::new(
            rest.iter().fold(ChangeSet::clone(first), |net, change_set| ChangeSet::merge(&net, change_set)),
        ),
    }
}

/// Adds a change set, and merges change sets at the end that are of about the same size, but none of the first `frozen`.
fn push(change_sets: &mut Vec<Arc<ChangeSet>>, frozen: usize, change_set: ChangeSet) {
    let mut last = change_set;
    while change_sets.len() > frozen
        && let Some(before) = change_sets.pop_if(|before| before.len() < MERGE_RATIO * last.len())
    {
        last = ChangeSet::merge(&before, &last);
    }
    // Insertions and deletions may have cancelled each other out.
    if !last.is_empty() {
        change_sets.push(Arc::new(last));
    }
}

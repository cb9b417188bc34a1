//! The net effect of one or more transactions: quads that they inserted, and quads that they deleted.

use crate::delta::quad_set::{OrdersMemory, QuadSet};
use crate::delta::rows::{Row, difference, union};
use lode_base::memory_budget::{MemoryBudget, OutOfBudget};
use lode_packed::Order;
use std::sync::{Arc, Mutex, PoisonError};

/// Insertions and deletions; no quad is in both.
#[derive(Debug, Clone, Default)]
pub struct ChangeSet {
    /// Quads that were not visible before.
    pub inserts: QuadSet,
    /// Quads that were visible before.
    pub deletes: QuadSet,
}

impl ChangeSet {
    /// A change set of quads (S, P, O, G), both sorted and without duplicates.
    pub fn new(inserts: Vec<Row>, deletes: Vec<Row>) -> Self {
        Self { inserts: QuadSet::new(inserts), deletes: QuadSet::new(deletes) }
    }

    /// Insertions and deletions.
    pub fn len(&self) -> usize {
        self.inserts.len() + self.deletes.len()
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// This change set without what it says of some quads.
    pub fn without(change_set: &Arc<Self>, is_meant: &dyn Fn(&Row) -> bool) -> Arc<Self> {
        let rows = |set: &QuadSet| Arc::clone(set.rows(Order::Spog));
        let sets = [rows(&change_set.inserts), rows(&change_set.deletes)];
        if !sets.iter().any(|rows| rows.iter().any(is_meant)) {
            return Arc::clone(change_set);
        }
        let [inserts, deletes] =
            sets.map(|rows| -> Vec<Row> { rows.iter().filter(|row| !is_meant(row)).copied().collect() });
        Arc::new(Self::new(inserts, deletes))
    }

    /// One change set with the effect of `older` and then `newer`. Orders that the larger of the two has ready are ready in the result.
    pub fn merge(older: &Self, newer: &Self) -> Self {
        let larger = if older.len() < newer.len() { newer } else { older };
        let mut merged = Self::default();
        for order in Order::ALL.into_iter().filter(|order| larger.is_ready(*order)) {
            let (inserts, deletes) = merge_order(older, newer, order);
            merged.inserts.set(order, inserts);
            merged.deletes.set(order, deletes);
        }
        merged
    }

    /// As [`Self::merge`], with orders from `memory`: those that are ready, and those that are sorted later.
    pub fn merge_within(older: &Self, newer: &Self, memory: &MemoryBudget) -> Result<Self, OutOfBudget> {
        let is_plain = !Order::ALL.into_iter().any(|order| order != Order::Spog && newer.is_ready(order));
        if older.is_empty() && is_plain {
            return Ok(newer.clone().within(memory));
        }
        let (smaller, larger) = if older.len() < newer.len() { (older, newer) } else { (newer, older) };
        let orders = Order::ALL.into_iter().filter(|order| *order != Order::Spog && larger.is_ready(*order));
        let bytes = orders.count() * size_of::<Row>();
        // The smaller one is sorted in each of them, too.
        let mut room = memory.reserve(bytes * (larger.len() + 2 * smaller.len()))?;
        let mut merged = Self::merge(older, newer);
        room.shrink(bytes * merged.len());
        merged.set_memory(Some(Arc::new(Mutex::new(room))));
        Ok(merged)
    }

    /// Adds insertions of quads that are not there, as [`Self::merge_within`] would; where it has deletions, or nobody counts its orders, that is done.
    pub fn insert_within(mut self, new: &Self, memory: &MemoryBudget) -> Result<Self, OutOfBudget> {
        let is_plain = self.deletes.is_empty() && new.deletes.is_empty();
        let Some(room) = self.inserts.memory().filter(|_| is_plain && self.len() >= new.len()) else {
            return Self::merge_within(&self, new, memory);
        };
        let orders =
            Order::ALL.into_iter().filter(|order| *order != Order::Spog && self.inserts.is_ready(*order));
        let bytes = orders.count() * size_of::<Row>();
        let mut room = room.lock().unwrap_or_else(PoisonError::into_inner);
        // The new ones are sorted in each of them, too.
        room.grow(2 * bytes * new.len())?;
        self.inserts.extend(&new.inserts);
        let sorted = room.bytes() - bytes * new.len();
        room.shrink(sorted);
        drop(room);
        Ok(self)
    }

    /// This change set with orders from `memory`, of which none is ready.
    #[must_use]
    pub fn within(mut self, memory: &MemoryBudget) -> Self {
        self.set_memory(Some(Arc::new(Mutex::new(memory.reserve_empty()))));
        self
    }

    /// This change set, whose orders somebody else counts.
    #[must_use]
    pub fn uncounted(mut self) -> Self {
        self.set_memory(None);
        self
    }

    fn set_memory(&mut self, memory: Option<OrdersMemory>) {
        self.inserts.set_memory(memory.clone());
        self.deletes.set_memory(memory);
    }

    fn is_ready(&self, order: Order) -> bool {
        [&self.inserts, &self.deletes].into_iter().all(|set| set.is_empty() || set.is_ready(order))
    }
}

/// What one inserts and the other deletes was there before both, or after neither.
fn merge_order(older: &ChangeSet, newer: &ChangeSet, order: Order) -> (Vec<Row>, Vec<Row>) {
    let rows = |set: &QuadSet| set.rows(order).to_vec();
    if older.deletes.is_empty() && newer.deletes.is_empty() {
        return (union(older.inserts.rows(order), newer.inserts.rows(order)), Vec::new());
    }
    let less = |of: &QuadSet, without: &QuadSet| {
        if without.is_empty() { rows(of) } else { difference(of.rows(order), without.rows(order)) }
    };
    let inserts = union(&less(&older.inserts, &newer.deletes), &less(&newer.inserts, &older.deletes));
    let deletes = union(&less(&older.deletes, &newer.inserts), &less(&newer.deletes, &older.inserts));
    (inserts, deletes)
}

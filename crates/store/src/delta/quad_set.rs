//! A set of quads in memory, sorted in each order that somebody has asked for.

use crate::delta::rows::{Row, column_order, gallop, insert_all, union};
use crate::delta::summary::Summary;
use lode_base::memory_budget::{OutOfBudget, Reservation};
use lode_packed::{Order, Position};
use lode_rdf::ValueId;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Sets of fewer quads are sorted when somebody asks: that is soon done.
const SUMMED_MIN: usize = if cfg!(debug_assertions) { 48 } else { 1 << 16 };
/// Room in sets that grow, for one in so many.
const GROWTH: usize = 16;
/// Values whose places are at hand while rows are put there.
const AT_HAND: usize = if cfg!(test) { 3 } else { 256 };

/// Memory for orders that are sorted when they are first read.
pub type OrdersMemory = Arc<Mutex<Reservation>>;

/// An immutable set of quads. SPOG is always ready; other orders are sorted when they are first read.
#[derive(Debug, Clone, Default)]
pub struct QuadSet {
    orders: [OnceLock<Arc<Vec<Row>>>; Order::COUNT],
    /// Of sets that are large, once somebody has asked.
    summary: OnceLock<Arc<Summary>>,
    /// What the orders besides SPOG are taken from, where they are counted as they come.
    memory: Option<OrdersMemory>,
}

impl QuadSet {
    /// A set of quads (S, P, O, G), sorted and without duplicates.
    pub fn new(quads: Vec<Row>) -> Self {
        let mut set = Self::default();
        set.set(Order::Spog, quads);
        set
    }

    /// Gives the rows of an order of a new set, which must be those that sorting would give.
    pub fn set(&mut self, order: Order, rows: Vec<Row>) {
        self.orders[order as usize] = OnceLock::from(Arc::new(rows));
    }

    /// Adds quads none of which is there, to each order that is ready: in place, where nobody else reads it.
    pub fn extend(&mut self, new: &Self) {
        for order in Order::ALL {
            let Some(rows) = self.orders[order as usize].get_mut() else { continue };
            let new = new.rows(order);
            match Arc::get_mut(rows) {
                Some(rows) => insert_all(rows, new),
                None => *rows = Arc::new(union(rows, new)),
            }
        }
        if let Some(summary) = self.summary.get_mut() {
            Arc::make_mut(summary).add(&new.summary());
        }
    }

    fn summary(&self) -> Arc<Summary> {
        Arc::clone(self.summary.get_or_init(|| Arc::new(Summary::of(self.rows(Order::Spog)))))
    }

    /// How many rows of an order have a prefix, where that is known without the order being sorted.
    fn known(&self, order: Order, prefix: &[u64]) -> Option<usize> {
        if self.is_empty() {
            return Some(0);
        }
        let is_asked = self.len() >= SUMMED_MIN && !self.is_ready(order);
        is_asked.then(|| self.summary().count(order, prefix)).flatten()
    }

    /// How many rows of an order have a prefix.
    pub fn count(&self, order: Order, prefix: &[u64]) -> usize {
        self.known(order, prefix).unwrap_or_else(|| self.range(order, prefix).len())
    }

    /// How many quads.
    pub fn len(&self) -> usize {
        self.orders[Order::Spog as usize].get().map_or(0, |rows| rows.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether an order has been sorted.
    pub fn is_ready(&self, order: Order) -> bool {
        self.orders[order as usize].get().is_some()
    }

    /// Takes the memory of orders that are still to be sorted from `memory` from now on; without one nobody counts them here.
    pub fn set_memory(&mut self, memory: Option<OrdersMemory>) {
        self.memory = memory;
    }

    /// What the memory of its orders is taken from.
    pub fn memory(&self) -> Option<OrdersMemory> {
        self.memory.clone()
    }

    /// Sorts an order, unless that is done or its rows with a prefix can be counted without, if there is memory for it.
    pub fn make_countable(&self, order: Order, prefix: &[u64]) -> Result<(), OutOfBudget> {
        if self.known(order, prefix).is_some() { Ok(()) } else { self.make_ready(order) }
    }

    /// Sorts an order, unless that is done or it has no rows with a prefix, if there is memory for it.
    pub fn make_readable(&self, order: Order, prefix: &[u64]) -> Result<(), OutOfBudget> {
        if self.known(order, prefix) == Some(0) { Ok(()) } else { self.make_ready(order) }
    }

    fn make_ready(&self, order: Order) -> Result<(), OutOfBudget> {
        let Some(memory) = self.memory.as_ref().filter(|_| !self.is_empty() && !self.is_ready(order)) else {
            return Ok(());
        };
        let mut memory = memory.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have done it meanwhile.
        if !self.is_ready(order) {
            memory.grow(self.len() * size_of::<Row>())?;
            self.rows(order);
        }
        Ok(())
    }

    /// The rows of an order. GSPO has those in named graphs only.
    pub fn rows(&self, order: Order) -> &Arc<Vec<Row>> {
        self.orders[order as usize].get_or_init(|| Arc::new(self.sort(order)))
    }

    fn sort(&self, order: Order) -> Vec<Row> {
        let quads = match self.orders[Order::Spog as usize].get() {
            Some(quads) if order != Order::Spog => quads,
            _ => return Vec::new(),
        };
        // Memory that is not written is not taken.
        let growth = if self.memory.is_some() { quads.len() / GROWTH } else { 0 };
        let mut rows = Vec::with_capacity(quads.len() + growth);
        if quads.len() >= SUMMED_MIN
            && let Some(firsts) = self.summary().first_column(order)
        {
            partition(quads, order, firsts, &mut rows);
            return rows;
        }
        let is_named = |quad: &&Row| quad[Position::G as usize] != ValueId::DEFAULT_GRAPH.to_bits();
        let meant = quads.iter().filter(|quad| order != Order::Gspo || is_named(quad));
        rows.extend(meant.map(|quad| column_order(quad, order)));
        rows.sort_unstable();
        rows
    }

    /// Where in an order the rows with a prefix are.
    pub fn range(&self, order: Order, prefix: &[u64]) -> Range<usize> {
        // No need to sort an order for that.
        if self.known(order, prefix) == Some(0) {
            return 0..0;
        }
        let rows = self.rows(order);
        let start = rows.partition_point(|row| compare(row, prefix) == Ordering::Less);
        let rest = rows.get(start..).unwrap_or_default();
        start..start + rest.partition_point(|row| compare(row, prefix) == Ordering::Equal)
    }

    /// Where in an order the rows are that are not before the key `from`, but before `to`.
    pub fn between(&self, order: Order, from: &[u64], to: &[u64]) -> Range<usize> {
        // Of one prefix with two next values.
        let shared = from.iter().zip(to).take_while(|(from, to)| from == to).count();
        if self.known(order, &from[..shared]) == Some(0) {
            return 0..0;
        }
        let before =
            |key: &[u64]| self.rows(order).partition_point(|row| compare(row, key) == Ordering::Less);
        let start = before(from);
        start..before(to).max(start)
    }

    /// A cursor over the rows with a prefix.
    pub fn cursor(&self, order: Order, prefix: &[u64]) -> MemoryCursor {
        let range = self.range(order, prefix);
        if range.is_empty() {
            return MemoryCursor { rows: Arc::default(), at: 0, end: 0 };
        }
        MemoryCursor { rows: Arc::clone(self.rows(order)), at: range.start, end: range.end }
    }

    /// Says `value` of all `quads` (S, P, O, G; sorted) in the set of which nothing was said.
    pub fn mark(&self, quads: &[Row], value: bool, said: &mut [Option<bool>]) {
        if self.is_empty() {
            return;
        }
        let rows = self.rows(Order::Spog);
        let mut at = 0;
        for (quad, said) in quads.iter().zip(said) {
            at = gallop(rows, at, quad);
            match rows.get(at) {
                None => return,
                Some(row) if row == quad => {
                    said.get_or_insert(value);
                }
                Some(_) => {}
            }
        }
    }
}

/// Appends the rows of an order of sorted quads (S, P, O, G) of which so many begin with each value: row by row to their places, where the values are few.
fn partition(quads: &[Row], order: Order, firsts: &HashMap<u64, usize>, rows: &mut Vec<Row>) {
    let mut values: Vec<_> = firsts.iter().map(|(value, count)| (*value, *count)).collect();
    values.sort_unstable();
    let (mut places, mut start) = (HashMap::with_capacity(values.len()), 0);
    for (value, count) in &values {
        places.insert(*value, start);
        start += count;
    }
    rows.resize(start, Row::default());
    // The value of the row before, and where its next row is put, by the last bits of the value.
    let mut at_hand = [(0, usize::MAX); AT_HAND];
    let position = order.positions()[0] as usize;
    for quad in quads {
        let value = quad[position];
        let hand = &mut at_hand[value as usize % AT_HAND];
        if hand.0 != value || hand.1 == usize::MAX {
            if hand.1 != usize::MAX {
                places.insert(hand.0, hand.1);
            }
            // Quads of the default graph have no row where graphs come first.
            let Some(place) = places.get(&value) else { continue };
            *hand = (value, *place);
        }
        rows[hand.1] = column_order(quad, order);
        hand.1 += 1;
    }
    let mut rest = rows.as_mut_slice();
    for (_, count) in values {
        let (group, after) = rest.split_at_mut(count);
        if !group.is_sorted() {
            group.sort_unstable();
        }
        rest = after;
    }
}

/// Compares the first columns of a row with a prefix.
fn compare(row: &Row, prefix: &[u64]) -> Ordering {
    row.iter()
        .zip(prefix)
        .map(|(row, key)| row.cmp(key))
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

/// Reads rows of one order, forward.
#[derive(Debug, Clone)]
pub struct MemoryCursor {
    rows: Arc<Vec<Row>>,
    at: usize,
    end: usize,
}

impl MemoryCursor {
    /// The rows that are left.
    pub fn rest(&self) -> &[Row] {
        self.rows.get(self.at..self.end).unwrap_or_default()
    }

    /// The next row.
    pub fn head(&self) -> Option<&Row> {
        self.rest().first()
    }

    /// Steps over rows.
    pub fn skip(&mut self, rows: usize) {
        self.at = (self.at + rows).min(self.end);
    }

    /// Ends before the first row not before `key`.
    pub fn limit_to(&mut self, key: &[u64]) {
        self.end = self.at + self.before(key);
    }

    /// How many of the rows that are left come before `key`.
    fn before(&self, key: &[u64]) -> usize {
        self.rest().partition_point(|row| compare(row, key) == Ordering::Less)
    }
}

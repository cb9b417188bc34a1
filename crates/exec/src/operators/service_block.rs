//! Rows that wait for the answer of an endpoint, in blocks that are asked for together.
//!
//! Rows of a block have the same endpoint, and bind the same of the variables that they share with the remote pattern, but for terms that
//! cannot be sent. So each row of the VALUES clause binds all of its variables: no two of them are compatible with each other, and the
//! endpoint joins each of its rows with one of them for each block row, or set of equal ones, that it matches. With UNDEF among them it could
//! join one row with several.

use super::hash_index::INDEX_ROW_BYTES;
use super::service_values::{Sent, TermTexts};
use crate::context::QueryContext;
use lode_base::memory_budget::{OutOfBudget, Reservation};
use lode_eval::batch::{Batch, position};
use lode_eval::error::ExecError;
use lode_rdf::ValueId;
use lode_sparql::{ServiceCall, VarId};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// Distinct bindings of the first block: who wants few rows need not wait for many.
const BINDINGS_FIRST: usize = 64;
/// Distinct bindings of a block: each is twice as large as the one before, up to this.
pub(super) const BINDINGS_MAX: usize = 512;
/// Bytes of a VALUES clause. Servers limit the length of forms, some to 200,000 bytes; encoded, this is at most three quarters of that.
const VALUES_BYTES_MAX: usize = 48 << 10;
/// Rows of a block that is sent with bindings: many may have the same.
const ROWS_MAX: usize = 1 << 16;
/// Blocks being filled: for other endpoints, or other sets of variables.
const OPEN_MAX: usize = 16;
/// Variables whose bindings are sent.
const SENT_VARS_MAX: usize = 60;
/// In place of a mask: rows that match nothing, for which nothing is asked.
const HOPELESS: u64 = u64::MAX;
/// Rows for which there is room at first.
const CAPACITY_FIRST: usize = 64;

/// Rows, and what is asked for them.
#[derive(Debug)]
pub(super) struct Block {
    /// The endpoint.
    pub(super) endpoint: ValueId,
    /// The rows.
    pub(super) rows: Batch,
    /// Covers the rows and an index over them.
    pub(super) reservation: Reservation,
    capacity: usize,
    /// Bit `i`: the `i`-th shared variable is sent.
    mask: u64,
    keys: HashSet<Box<[ValueId]>>,
    /// The rows of the VALUES clause.
    values: String,
}

impl Block {
    fn new(cx: &QueryContext, (endpoint, mask): (ValueId, u64), vars: &Arc<[VarId]>) -> Self {
        let (rows, reservation) = (Batch::new(Arc::clone(vars)), cx.budget.reserve_spillable());
        let (keys, values) = (HashSet::new(), String::new());
        Self { endpoint, rows, reservation, capacity: 0, mask, keys, values }
    }

    /// Whether its rows match nothing: a variable that the pattern binds in each row is a blank node here, which no other database has.
    pub(super) fn is_hopeless(&self) -> bool {
        self.mask == HOPELESS
    }

    /// Bindings that go with the request.
    pub(super) fn binding_count(&self) -> usize {
        self.keys.len()
    }

    /// Appends a row; `false`, and nothing happens, where there is no memory for it.
    fn push(&mut self, from: &Batch, row: usize) -> Result<bool, OutOfBudget> {
        if self.rows.rows == self.capacity {
            let capacity = (self.capacity * 2).max(CAPACITY_FIRST);
            let bytes = self.row_bytes() * capacity + self.values.capacity();
            match self.reservation.resize(bytes) {
                Ok(()) => {}
                Err(_) if self.capacity > 0 => return Ok(false),
                Err(_) => self.reservation.resize_to_limit(bytes)?,
            }
            for column in &mut self.rows.columns {
                column.reserve_exact(capacity - column.len());
            }
            self.capacity = capacity;
        }
        self.rows.append_range(from, row, row + 1);
        Ok(true)
    }

    fn row_bytes(&self) -> usize {
        self.rows.columns.len() * size_of::<ValueId>() + INDEX_ROW_BYTES
    }

    /// Adds a binding to those that are sent, unless it is among them.
    fn bind(&mut self, key: Vec<ValueId>, texts: &[Arc<str>]) {
        if self.mask == 0 || self.is_hopeless() || !self.keys.insert(key.into()) {
            return;
        }
        let capacity = self.values.capacity();
        self.values.push_str("( ");
        texts.iter().for_each(|text| self.values.extend([&**text, " "]));
        self.values.push_str(") ");
        if self.values.capacity() > capacity {
            // It is there, and small: the budget is told.
            self.reservation.hold(self.row_bytes() * self.capacity + self.values.capacity());
        }
    }

    fn is_full(&self, bindings_max: usize) -> bool {
        let many = self.keys.len() >= bindings_max || self.values.len() >= VALUES_BYTES_MAX;
        self.mask != 0 && (many || self.rows.rows >= ROWS_MAX)
    }

    /// The VALUES clause, nothing without bindings. `names`: of the shared variables.
    pub(super) fn values(&self, names: &[&str]) -> String {
        if self.mask == 0 {
            return String::new();
        }
        let sent = names.iter().enumerate().filter(|(i, _)| is_sent(self.mask, *i));
        let names: Vec<String> = sent.map(|(_, name)| format!("?{name}")).collect();
        format!("VALUES ({}) {{ {}}}", names.join(" "), self.values)
    }
}

fn is_sent(mask: u64, variable: usize) -> bool {
    variable < SENT_VARS_MAX && mask & (1 << variable) != 0
}

/// What becomes of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Added {
    /// It waits.
    Waits,
    /// It waits, and its block is ready.
    Filled,
    /// There is no memory for it: a block is ready that must go first.
    NoRoom,
}

/// The blocks being filled.
pub(super) struct Blocks {
    cx: Arc<QueryContext>,
    /// Columns of the shared variables among those of the rows, and whether the pattern binds the variable in each row.
    shared: Vec<(usize, bool)>,
    /// Rows that match nothing are left out.
    drops_unmatched: bool,
    open: BTreeMap<(ValueId, u64), Block>,
    ready: Vec<Block>,
    texts: TermTexts,
    bindings_max: usize,
    /// Bindings sent so far, and when there have been enough: what is left is asked for without.
    sent: usize,
    sent_max: usize,
}

impl Blocks {
    /// For rows of `vars`, which may be left out where they match nothing; after `sent_max` bindings no more are sent.
    pub(super) fn new(
        cx: &Arc<QueryContext>,
        (vars, drops_unmatched): (&[VarId], bool),
        call: &ServiceCall,
        sent_max: usize,
    ) -> Self {
        let column = |var: &VarId| Some((position(vars, *var)?, call.certain.contains(var)));
        let shared = call.columns.iter().filter_map(column).collect();
        let (open, ready, texts) = (BTreeMap::new(), Vec::new(), TermTexts::default());
        let bindings_max = BINDINGS_FIRST;
        Self {
            cx: Arc::clone(cx),
            shared,
            drops_unmatched,
            open,
            ready,
            texts,
            bindings_max,
            sent: 0,
            sent_max,
        }
    }

    /// A block that is ready.
    pub(super) fn take_ready(&mut self) -> Option<Block> {
        self.ready.pop()
    }

    /// No more rows come: a block that is as full as it will be.
    pub(super) fn take_any(&mut self) -> Option<Block> {
        self.ready.pop().or_else(|| self.open.pop_first().map(|(_, block)| block))
    }

    /// Adds a row whose endpoint is this one.
    pub(super) fn add(&mut self, endpoint: ValueId, rows: &Batch, row: usize) -> Result<Added, ExecError> {
        let (mut mask, mut key, mut texts) = (0, Vec::new(), Vec::new());
        let is_enough = self.sent >= self.sent_max;
        for (i, (column, is_certain)) in self.shared.iter().enumerate() {
            let id = rows.columns[*column][row];
            if id.is_undef() {
                continue;
            }
            match self.texts.get(&self.cx, id)? {
                Sent::Own if *is_certain => {
                    (mask, key) = (HOPELESS, Vec::new());
                    break;
                }
                Sent::Text(text) if i < SENT_VARS_MAX && !is_enough => {
                    mask |= 1 << i;
                    key.push(id);
                    texts.push(text);
                }
                Sent::Text(_) | Sent::Nothing | Sent::Own => {}
            }
        }
        if mask == HOPELESS && self.drops_unmatched {
            return Ok(Added::Waits);
        }
        if !self.open.contains_key(&(endpoint, mask)) && self.open.len() >= OPEN_MAX {
            self.finish_largest();
        }
        let new = || Block::new(&self.cx, (endpoint, mask), &rows.vars);
        let block = self.open.entry((endpoint, mask)).or_insert_with(new);
        if !block.push(rows, row)? {
            self.finish((endpoint, mask));
            return Ok(Added::NoRoom);
        }
        block.bind(key, &texts);
        if block.is_full(self.bindings_max) {
            self.finish((endpoint, mask));
            return Ok(Added::Filled);
        }
        Ok(if self.ready.is_empty() { Added::Waits } else { Added::Filled })
    }

    fn finish_largest(&mut self) {
        let largest = self.open.iter().max_by_key(|(_, block)| block.rows.rows).map(|(key, _)| *key);
        if let Some(key) = largest {
            self.finish(key);
        }
    }

    fn finish(&mut self, key: (ValueId, u64)) {
        if let Some(block) = self.open.remove(&key) {
            self.sent += block.binding_count();
            self.bindings_max = (self.bindings_max * 2).min(BINDINGS_MAX);
            self.ready.push(block);
        }
    }
}

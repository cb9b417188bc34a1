//! The table of a hash join: rows in columns, chained through flat arrays of row numbers.
//!
//! Variables that may be unbound cannot simply be hashed, since unbound matches everything. The rows are therefore grouped by
//! which of those variables they bind; for a probe row the variables that both sides bind are hashed, in an index made when
//! a combination first occurs. So OPTIONAL over optional variables stays a hash join.

use super::hash_index::{INDEX_ROW_BYTES, Index};
use super::join_output::{Pairs, compatible};
use super::spatial::{SpatialIndex, SpatialProber, SpatialTest, Wanted};
use crate::context::QueryContext;
use crate::key_filter::{FILTER_KEY_BYTES, KeyFilter};
use lode_base::cancel::CancelToken;
use lode_base::memory_budget::Reservation;
use lode_eval::batch::Batch;
use lode_eval::error::ExecError;
use lode_eval::hash::{hash_columns, mix};
use lode_rdf::ValueId;
use lode_scheduler::for_ranges;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Rows that are indexed between two looks at the cancel token.
const INDEX_ROWS_UNCHECKED: usize = 1 << 16;

/// Variables that may be unbound, at most, by which rows are grouped.
const MASK_BITS: usize = 60;

/// Rows that bind the same of the variables that may be unbound.
#[derive(Debug)]
struct Group {
    /// Bit `i`: the `i`-th of those variables is bound.
    bound: u64,
    /// The rows; `None`: all of the table.
    rows: Option<Arc<[u32]>>,
    count: usize,
    indexes: Mutex<BTreeMap<u64, Arc<Index>>>,
}

impl Group {
    fn row(&self, number: usize) -> usize {
        self.rows.as_ref().map_or(number, |rows| rows[number] as usize)
    }
}

/// The hashes of the columns of some rows: of these `numbers`, or of the members with them.
fn hash_members(
    members: Option<&[u32]>,
    columns: &[&[ValueId]],
    numbers: Range<usize>,
    hashes: &mut Vec<u64>,
) {
    hashes.clear();
    match members {
        None => {
            let parts: Vec<&[ValueId]> = columns.iter().map(|c| &c[numbers.clone()]).collect();
            hash_columns(&parts, numbers.len(), hashes);
        }
        Some(rows) => hashes.extend(
            rows[numbers]
                .iter()
                .map(|row| columns.iter().fold(0, |hash, c| mix(hash, c[*row as usize].to_bits()))),
        ),
    }
}

/// The right side of a hash join, or a part of it that memory holds.
#[derive(Debug)]
pub(crate) struct HashTable {
    /// The rows.
    pub(crate) rows: Arc<Batch>,
    on: Vec<usize>,
    maybe: Vec<usize>,
    /// Those of the variables that may be unbound for which a mask has no bit: compared pair by pair.
    rest: Vec<usize>,
    groups: Vec<Group>,
    /// Of a spatial join: how rows are found.
    pub(crate) spatial: Option<Box<SpatialIndex>>,
    /// For each of `on`: made when first asked for.
    filters: Vec<OnceLock<Option<Arc<KeyFilter>>>>,
    reservations: Mutex<Vec<Reservation>>,
}

impl HashTable {
    /// A table over `rows`, matched by the columns `on` and, where bound, `maybe`. `reservations` cover rows and one index.
    pub(crate) fn new(
        cx: &QueryContext,
        rows: Batch,
        on: Vec<usize>,
        mut maybe: Vec<usize>,
        reservations: Vec<Reservation>,
    ) -> Self {
        let rest = maybe.split_off(maybe.len().min(MASK_BITS));
        let groups = if maybe.is_empty() {
            vec![Group { bound: 0, rows: None, count: rows.rows, indexes: Mutex::default() }]
        } else {
            group_rows(&rows, &maybe)
        };
        let filters = on.iter().map(|_| OnceLock::new()).collect();
        let this = Self {
            rows: Arc::new(rows),
            on,
            maybe,
            rest,
            groups,
            spatial: None,
            filters,
            reservations: Mutex::new(reservations),
        };
        if this.is_simple() {
            // The index that every probe needs is made at once, by all threads.
            this.make_index(cx, 0, 0);
        }
        this
    }

    /// The same for a spatial join, if it is one.
    pub(crate) fn with_spatial(
        mut self,
        cx: &QueryContext,
        test: Option<&SpatialTest>,
    ) -> Result<Self, ExecError> {
        self.spatial = test.map(|test| test.index(cx, &self.rows).map(Box::new)).transpose()?;
        Ok(self)
    }

    /// Whether no row is in the table.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.rows == 0
    }

    /// The keys of the variable that is number `on` of those that are always bound; `None` where there are none or too many, or no
    /// memory for it.
    pub(crate) fn filter(&self, on: usize) -> Option<&Arc<KeyFilter>> {
        let make = || {
            let keys = self.rows.columns.get(*self.on.get(on)?)?;
            let mut reservations = self.reservations.lock().unwrap_or_else(PoisonError::into_inner);
            reservations.first_mut()?.grow(keys.len() * FILTER_KEY_BYTES).ok()?;
            KeyFilter::new(keys).map(Arc::new)
        };
        self.filters.get(on)?.get_or_init(make).as_ref()
    }

    /// Whether one index serves all probes.
    fn is_simple(&self) -> bool {
        self.maybe.is_empty() && self.rest.is_empty() && !self.on.is_empty()
    }

    fn key_columns(&self, shared: u64) -> impl Iterator<Item = usize> {
        let maybe = self.maybe.iter().enumerate().filter(move |(i, _)| shared & (1 << i) != 0);
        self.on.iter().copied().chain(maybe.map(|(_, c)| *c))
    }

    /// The index of a group over `on` and the variables of `shared`.
    fn index(&self, cx: &QueryContext, group: usize, shared: u64) -> Arc<Index> {
        {
            let indexes = self.groups[group].indexes.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(index) = indexes.get(&shared) {
                return Arc::clone(index);
            }
        }
        let mut reservations = self.reservations.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reservation) = reservations.first_mut() {
            // An index is small beside its rows, and the join cannot go on without: the budget is told, but not asked.
            let _ = reservation.grow(self.groups[group].count * INDEX_ROW_BYTES);
        }
        drop(reservations);
        self.make_index(cx, group, shared)
    }

    /// Of a query that is cancelled meanwhile the index is incomplete: who made it has to look before rows go out.
    fn make_index(&self, cx: &QueryContext, group: usize, shared: u64) -> Arc<Index> {
        let members = &self.groups[group];
        let columns: Vec<usize> = self.key_columns(shared).collect();
        let dense = match columns.as_slice() {
            [keys] if self.is_simple() => Index::dense(&self.rows.columns[*keys]),
            _ => None,
        };
        let index = Arc::new(dense.unwrap_or_else(|| Index::by_hash(members.count)));
        let part = IndexPart {
            rows: Arc::clone(&self.rows),
            members: members.rows.clone(),
            columns,
            index: Arc::clone(&index),
            cancel: cx.cancel.clone(),
        };
        for_ranges(cx.threads, members.count, move |range| part.fill(range));
        let mut indexes = members.indexes.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(indexes.entry(shared).or_insert(index))
    }
}

/// What threads need to put rows into an index.
struct IndexPart {
    rows: Arc<Batch>,
    members: Option<Arc<[u32]>>,
    columns: Vec<usize>,
    index: Arc<Index>,
    cancel: CancelToken,
}

impl IndexPart {
    fn fill(&self, range: Range<usize>) {
        let columns: Vec<&[ValueId]> =
            self.columns.iter().map(|column| self.rows.columns[*column].as_slice()).collect();
        let (index, mut hashes) = (&*self.index, Vec::new());
        for start in range.clone().step_by(INDEX_ROWS_UNCHECKED) {
            if self.cancel.check().is_err() {
                return;
            }
            let part = start..range.end.min(start + INDEX_ROWS_UNCHECKED);
            match columns.as_slice() {
                [keys] if index.is_dense() => {
                    hashes.clear();
                    hashes.extend(keys[part.clone()].iter().map(|key| key.to_bits()));
                }
                _ => hash_members(self.members.as_deref(), &columns, part.clone(), &mut hashes),
            }
            for (number, hash) in part.zip(&hashes) {
                index.insert(number, *hash);
            }
        }
    }
}

fn group_rows(rows: &Batch, maybe: &[usize]) -> Vec<Group> {
    let mut groups: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    for row in 0..rows.rows {
        let bound = bound_mask(rows, maybe, row);
        groups.entry(bound).or_default().push(u32::try_from(row).unwrap_or(u32::MAX));
    }
    let group = |(bound, rows): (u64, Vec<u32>)| Group {
        bound,
        count: rows.len(),
        rows: Some(rows.into()),
        indexes: Mutex::default(),
    };
    groups.into_iter().map(group).collect()
}

fn bound_mask(rows: &Batch, columns: &[usize], row: usize) -> u64 {
    let bound = |(i, c): (usize, &usize)| u64::from(!rows.columns[*c][row].is_undef()) << i;
    columns.iter().enumerate().map(bound).sum()
}

/// Where in a group the candidates of a left row continue.
#[derive(Debug, Clone, Copy)]
enum Candidates {
    Chain(u32),
    All(usize),
}

/// Probes tables with batches of left rows.
#[derive(Debug)]
pub(crate) struct Prober {
    on: Vec<usize>,
    maybe: Vec<usize>,
    rest: Vec<usize>,
    /// MINUS: rows that share no bound variable do not match.
    must_share: bool,
    one_suffices: bool,
    row: usize,
    group: usize,
    state: Option<Candidates>,
    shared: u64,
    hashes: Vec<u64>,
    indexes: Vec<(usize, u64, Arc<Index>)>,
    spatial: Option<SpatialProber>,
}

impl Prober {
    /// For left rows whose columns `on` and `maybe` correspond, in this order, to those of the tables.
    pub(crate) fn new(on: Vec<usize>, mut maybe: Vec<usize>, must_share: bool, one_suffices: bool) -> Self {
        let rest = maybe.split_off(maybe.len().min(MASK_BITS));
        Self {
            on,
            maybe,
            rest,
            must_share,
            one_suffices,
            row: 0,
            group: 0,
            state: None,
            shared: 0,
            hashes: Vec::new(),
            indexes: Vec::new(),
            spatial: None,
        }
    }

    /// The same for a spatial join, if it is one.
    pub(crate) fn with_spatial(mut self, test: Option<&SpatialTest>) -> Self {
        self.spatial = test.map(SpatialProber::new);
        self
    }

    /// A new batch of left rows begins.
    pub(crate) fn begin(&mut self) {
        self.row = 0;
        self.group = 0;
        self.state = None;
        self.hashes.clear();
        if let Some(spatial) = &mut self.spatial {
            spatial.begin();
        }
    }

    /// The hashes of the left rows, made when first needed.
    fn make_hashes(&mut self, left: &Batch) {
        if self.hashes.len() != left.rows {
            let columns: Vec<&[ValueId]> = self.on.iter().map(|c| left.columns[*c].as_slice()).collect();
            hash_columns(&columns, left.rows, &mut self.hashes);
        }
    }

    /// Another table is probed from now on.
    pub(crate) fn change_table(&mut self) {
        self.indexes.clear();
    }

    /// Whether all rows of the batch are probed.
    pub(crate) fn is_done(&self, left: &Batch) -> bool {
        self.row >= left.rows
    }

    /// Appends candidate pairs, up to `max` in `pairs`; the result is the number of left rows that are complete.
    pub(crate) fn candidates(
        &mut self,
        cx: &QueryContext,
        table: &HashTable,
        left: &Batch,
        pairs: &mut Pairs,
        max: usize,
    ) -> Result<usize, ExecError> {
        if let (Some(prober), Some(index)) = (&mut self.spatial, &table.spatial) {
            let wanted = Wanted { max, one_suffices: self.one_suffices };
            prober.pairs(cx, (index, &table.rows), left, &mut self.row, (pairs, wanted))?;
            return Ok(self.row);
        }
        Ok(self.matching(cx, table, left, pairs, max))
    }

    /// The pairs whose keys match.
    fn matching(
        &mut self,
        cx: &QueryContext,
        table: &HashTable,
        left: &Batch,
        pairs: &mut Pairs,
        max: usize,
    ) -> usize {
        if table.is_simple() {
            return self.simple_candidates(cx, table, left, pairs, max);
        }
        self.make_hashes(left);
        while self.row < left.rows {
            if pairs.len() >= max {
                return self.row;
            }
            if self.group == table.groups.len() {
                self.next_row();
                continue;
            }
            let state = match self.state {
                Some(state) => state,
                None => match self.enter_group(cx, table, left) {
                    Some(state) => state,
                    None => {
                        self.group += 1;
                        continue;
                    }
                },
            };
            self.state = match state {
                Candidates::All(from) => self.take_all(table, left, from, pairs, max),
                Candidates::Chain(entry) => self.take_chain(cx, table, left, entry, pairs, max),
            };
            if self.one_suffices && pairs.left.last() == Some(&row_number(self.row)) {
                self.next_row();
            } else if self.state.is_none() {
                self.group += 1;
            }
        }
        self.row
    }

    /// The same for the usual case, where one index over all rows serves.
    fn simple_candidates(
        &mut self,
        cx: &QueryContext,
        table: &HashTable,
        left: &Batch,
        pairs: &mut Pairs,
        max: usize,
    ) -> usize {
        self.group = 0;
        self.shared = 0;
        let index = self.index(cx, table);
        let keys = self.on.first().filter(|_| index.is_dense()).map(|c| left.columns[*c].as_slice());
        if keys.is_none() {
            self.make_hashes(left);
        }
        while self.row < left.rows {
            let mut entry = match (self.state.take(), keys) {
                (Some(Candidates::Chain(entry)), _) => entry,
                (_, Some(keys)) => index.head(keys[self.row].to_bits()),
                (_, None) => index.head(self.hashes[self.row]),
            };
            while entry != 0 {
                if pairs.len() >= max {
                    self.state = Some(Candidates::Chain(entry));
                    return self.row;
                }
                let found = entry as usize - 1;
                if keys.is_some() || self.equal_on(table, left, found) {
                    pairs.push(row_number(self.row), entry - 1);
                    if self.one_suffices {
                        break;
                    }
                }
                entry = index.after(entry);
            }
            self.row += 1;
        }
        self.row
    }

    fn next_row(&mut self) {
        self.row += 1;
        self.group = 0;
        self.state = None;
    }

    fn enter_group(&mut self, cx: &QueryContext, table: &HashTable, left: &Batch) -> Option<Candidates> {
        let group = &table.groups[self.group];
        let bound = if self.maybe.is_empty() { 0 } else { bound_mask(left, &self.maybe, self.row) };
        self.shared = bound & group.bound;
        if self.shared == 0 && self.on.is_empty() {
            let possible = !self.must_share || !self.rest.is_empty();
            return possible.then_some(Candidates::All(0));
        }
        let mut hash = self.hashes[self.row];
        for (i, column) in self.maybe.iter().enumerate() {
            if self.shared & (1 << i) != 0 {
                hash = mix(hash, left.columns[*column][self.row].to_bits());
            }
        }
        let index = self.index(cx, table);
        Some(index.head(hash)).filter(|entry| *entry != 0).map(Candidates::Chain)
    }

    fn index(&mut self, cx: &QueryContext, table: &HashTable) -> Arc<Index> {
        let known = self.indexes.iter().find(|(g, s, _)| (*g, *s) == (self.group, self.shared));
        if let Some((_, _, index)) = known {
            return Arc::clone(index);
        }
        let index = table.index(cx, self.group, self.shared);
        self.indexes.push((self.group, self.shared, Arc::clone(&index)));
        index
    }

    fn take_all(
        &self,
        table: &HashTable,
        left: &Batch,
        from: usize,
        pairs: &mut Pairs,
        max: usize,
    ) -> Option<Candidates> {
        let group = &table.groups[self.group];
        for number in from..group.count {
            if pairs.len() >= max {
                return Some(Candidates::All(number));
            }
            let found = group.row(number);
            if self.rest.is_empty() || self.rest_matches(table, left, found, self.must_share) {
                pairs.push(row_number(self.row), row_number(found));
                if self.one_suffices {
                    return None;
                }
            }
        }
        None
    }

    fn take_chain(
        &mut self,
        cx: &QueryContext,
        table: &HashTable,
        left: &Batch,
        mut entry: u32,
        pairs: &mut Pairs,
        max: usize,
    ) -> Option<Candidates> {
        let index = self.index(cx, table);
        let group = &table.groups[self.group];
        while entry != 0 {
            if pairs.len() >= max {
                return Some(Candidates::Chain(entry));
            }
            let found = group.row(entry as usize - 1);
            if self.equal(table, left, found) {
                pairs.push(row_number(self.row), row_number(found));
                if self.one_suffices {
                    return None;
                }
            }
            entry = index.after(entry);
        }
        None
    }

    fn equal(&self, table: &HashTable, left: &Batch, found: usize) -> bool {
        let maybe = self.maybe.iter().zip(&table.maybe).enumerate();
        let mut shared = maybe.filter(|(i, _)| self.shared & (1 << i) != 0);
        self.equal_on(table, left, found)
            && shared.all(|(_, (l, r))| left.columns[*l][self.row] == table.rows.columns[*r][found])
            && (self.rest.is_empty() || self.rest_matches(table, left, found, false))
    }

    fn equal_on(&self, table: &HashTable, left: &Batch, found: usize) -> bool {
        let mut on = self.on.iter().zip(&table.on);
        on.all(|(l, r)| left.columns[*l][self.row] == table.rows.columns[*r][found])
    }

    /// Whether the variables beyond the mask are compatible and, if they must be, one is bound on both sides.
    fn rest_matches(&self, table: &HashTable, left: &Batch, found: usize, must_share: bool) -> bool {
        let mut shares = !must_share;
        for (l, r) in self.rest.iter().zip(&table.rest) {
            let (a, b) = (left.columns[*l][self.row], table.rows.columns[*r][found]);
            if !compatible(a, b) {
                return false;
            }
            shares |= !a.is_undef() && !b.is_undef();
        }
        shares
    }
}

fn row_number(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX - 1)
}

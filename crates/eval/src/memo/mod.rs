//! What expressions of one variable were worth for terms met before: kept over the batches of a query.
//!
//! `AVG(xsd:float(xsd:string(?price)))` looks at a few thousand prices millions of times. Within a batch each is decoded once
//! anyway ([`crate::expr`]); a memo does so for the query. It is a direct-mapped table, so its size is bounded, and beside it whole
//! pages of results where the terms lie close together ([`pages`]). A memo that does not answer often enough is given up. Each thread
//! takes a memo of its own off the shelf and puts it back, so none waits for another.

mod kept;
mod pages;

pub use kept::KeptResults;

use crate::error::ExecError;
#[cfg(feature = "geo")]
use crate::geometries::Geometries;
use crate::hash::spread;
use crate::values::in_list::InList;
use lode_base::memory_budget::{MemoryBudget, Reservation};
use lode_rdf::ValueId;
use lode_scheduler::lock;
use lode_sparql::{Expr, VarId};
use pages::{EMPTY, Pages, View};
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Slots of a new table.
const SLOTS_MIN: usize = 1 << 8;
/// Slots of the largest table: 1 MiB.
const SLOTS_MAX: usize = 1 << 16;
/// Look-ups after which a table has to have paid.
const TRIAL_LOOKUPS: u64 = 1 << 17;
/// Expressions with memos; further ones do without. EXISTS can make new expressions for each binding.
const SHELVES_MAX: usize = 64;

/// All memos of a query.
#[derive(Debug, Default)]
pub struct Memos {
    shelves: Mutex<Vec<Shelf>>,
    /// What outlasts the query, and what ids mean in it.
    kept: Option<(Arc<KeptResults>, u64)>,
    /// Lists of IN with their sets. The lists are held, so that no other comes to lie where one has been.
    in_lists: Mutex<Vec<(Arc<Vec<Expr>>, Arc<InList>)>>,
    #[cfg(feature = "geo")]
    geometries: Geometries,
}

/// Sets of lists that are kept; EXISTS can make new lists for each binding.
const IN_LISTS_MAX: usize = 32;

/// The memos of one expression that nobody uses at the moment.
#[derive(Debug)]
struct Shelf {
    expr: Expr,
    memos: Vec<Memo>,
    /// None where it turned out that memos do not pay for this expression.
    pages: Option<Arc<Pages>>,
}

impl Memos {
    /// Memos of a query over a snapshot with this `terms_number`, which take from `kept` and leave there what outlasts it.
    pub fn with_kept(kept: Arc<KeptResults>, terms_number: u64) -> Self {
        Self { kept: Some((kept, terms_number)), ..Self::default() }
    }

    /// The geometries of literals.
    #[cfg(feature = "geo")]
    pub(crate) fn geometries(&self) -> &Geometries {
        &self.geometries
    }

    /// The set of a list of IN; `make` makes it when it is first asked for.
    pub(crate) fn in_list(
        &self,
        list: &Arc<Vec<Expr>>,
        make: impl FnOnce() -> Result<InList, ExecError>,
    ) -> Result<Arc<InList>, ExecError> {
        let known = |lists: &[(Arc<Vec<Expr>>, Arc<InList>)]| {
            lists.iter().find(|(known, _)| Arc::ptr_eq(known, list)).map(|(_, set)| Arc::clone(set))
        };
        if let Some(set) = known(&lock(&self.in_lists)) {
            return Ok(set);
        }
        let set = Arc::new(make()?);
        let mut lists = lock(&self.in_lists);
        if lists.len() >= IN_LISTS_MAX {
            lists.remove(0);
        }
        lists.push((Arc::clone(list), Arc::clone(&set)));
        Ok(set)
    }

    /// A memo of `expr`, a function of `var`, to use for a while; none where it would not pay or there is no memory.
    pub fn take(&self, expr: &Expr, var: VarId, budget: &MemoryBudget) -> Option<Memo> {
        let mut shelves = lock(&self.shelves);
        if let Some(shelf) = shelves.iter_mut().find(|shelf| shelf.expr == *expr) {
            let pages = shelf.pages.as_ref()?;
            if let Some(memo) = shelf.memos.pop() {
                return Some(memo);
            }
            return Memo::new(pages, budget);
        }
        if shelves.len() == SHELVES_MAX {
            return None;
        }
        let kept = self.kept.as_ref().and_then(|(kept, terms_number)| kept.pages(expr, var, *terms_number));
        let pages = kept.unwrap_or_else(|| Pages::new(budget));
        let memo = Memo::new(&pages, budget);
        shelves.push(Shelf { expr: expr.clone(), memos: Vec::new(), pages: Some(pages) });
        memo
    }

    /// Puts a memo back.
    pub fn put(&self, expr: &Expr, memo: Memo) {
        if memo.pays() {
            let mut shelves = lock(&self.shelves);
            if let Some(shelf) = shelves.iter_mut().find(|shelf| shelf.expr == *expr) {
                shelf.memos.push(memo);
            }
        } else {
            self.give_up(expr);
        }
    }

    /// Notes that memos do not pay for `expr`.
    pub fn give_up(&self, expr: &Expr) {
        if let Some(shelf) = lock(&self.shelves).iter_mut().find(|shelf| shelf.expr == *expr) {
            shelf.memos = Vec::new();
            shelf.pages = None;
        }
    }
}

/// What an expression is worth for some terms; unbound for an error.
#[derive(Debug)]
pub struct Memo {
    /// Terms and results, at the place that the term's hash gives; their number is a power of two.
    slots: Vec<(ValueId, ValueId)>,
    reservation: Reservation,
    /// The pages of all threads, and those of them that were filled when last looked at.
    pages: Arc<Pages>,
    view: Arc<View>,
    lookups: u64,
    misses: u64,
    /// Misses since the table last grew.
    new_misses: usize,
}

impl Memo {
    fn new(pages: &Arc<Pages>, budget: &MemoryBudget) -> Option<Self> {
        let reservation = budget.reserve(bytes(SLOTS_MIN)).ok()?;
        let slots = vec![(EMPTY, ValueId::UNDEF); SLOTS_MIN];
        let (pages, view) = (Arc::clone(pages), pages.view());
        Some(Self { slots, reservation, pages, view, lookups: 0, misses: 0, new_misses: 0 })
    }

    /// Looks all of `ids` up: their results, unbound for the rows that are listed as missing.
    pub fn look_up(&mut self, ids: &[ValueId]) -> (Vec<ValueId>, Vec<u32>) {
        let mask = self.slots.len() - 1;
        let mut missing = Vec::new();
        let paged = !self.view.is_empty();
        let results = ids.iter().enumerate().map(|(row, id)| {
            if paged && let Some(result) = self.view.get(*id) {
                return result;
            }
            match self.slots.get(place(*id, mask)) {
                Some((known, result)) if known == id => *result,
                _ => {
                    missing.push(u32::try_from(row).unwrap_or(u32::MAX));
                    ValueId::UNDEF
                }
            }
        });
        let results = results.collect();
        self.lookups += ids.len() as u64;
        self.misses += missing.len() as u64;
        (results, missing)
    }

    /// Remembers results of different terms.
    pub fn remember(&mut self, ids: &[ValueId], results: &[ValueId]) {
        self.new_misses += ids.len();
        while self.new_misses > self.slots.len() / 2 && self.grow() {}
        let mask = self.slots.len() - 1;
        for (id, result) in ids.iter().zip(results) {
            if let Some(slot) = self.slots.get_mut(place(*id, mask)) {
                *slot = (*id, *result);
            }
        }
    }

    /// Notes that different `ids` were missing. Returns the pages that should be filled for all terms in them.
    pub fn crowded(&mut self, ids: &[ValueId]) -> Vec<u64> {
        self.pages.missed(ids, &mut self.view)
    }

    /// Remembers the results of a page's terms.
    pub fn fill(&mut self, page: u64, ids: &[ValueId], results: &[ValueId]) {
        self.pages.fill(page, ids, results, &mut self.view);
    }

    /// Doubles the table, if it may be larger.
    fn grow(&mut self) -> bool {
        let slots = 2 * self.slots.len();
        if slots > SLOTS_MAX || self.reservation.resize(bytes(slots)).is_err() {
            return false;
        }
        let old = std::mem::replace(&mut self.slots, vec![(EMPTY, ValueId::UNDEF); slots]);
        for (id, result) in old.into_iter().filter(|(id, _)| *id != EMPTY) {
            if let Some(slot) = self.slots.get_mut(place(id, slots - 1)) {
                *slot = (id, result);
            }
        }
        true
    }

    /// Whether at least every fourth look-up was answered, once there were enough to tell.
    fn pays(&self) -> bool {
        self.lookups < TRIAL_LOOKUPS || self.misses < self.lookups / 4 * 3
    }
}

/// The ids that a page is for.
pub(crate) fn page_ids(page: u64) -> Range<ValueId> {
    pages::ids_of(page)
}

fn place(id: ValueId, mask: usize) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "only low bits are used")]
    let hash = spread(id) as usize;
    hash & mask
}

const fn bytes(slots: usize) -> usize {
    slots * size_of::<(ValueId, ValueId)>()
}

#[cfg(test)]
mod tests;

//! Pages of results: what an expression is worth for all terms of a stretch of ids.
//!
//! Where a query asks for many terms that are neighbours in the dictionary (half a million prices), it is cheaper to walk once
//! through all of them, in order, than to find each where it is. Pages that were asked for often enough are filled whole, and are
//! shared by all threads; those of some expressions outlast the query ([`super::kept`]).

use crate::hash::spread;
use hashbrown::HashTable;
use lode_base::memory_budget::{MemoryBudget, Reservation};
use lode_rdf::ValueId;
use lode_scheduler::lock;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Ids of a page, a power of two: 8 KiB of results.
const PAGE_IDS: usize = 1 << 10;
/// Look-ups that a page has to have missed before it is filled: finding one term and evaluating costs about as much as for three in a row.
const MISSES_MIN: usize = PAGE_IDS / 8 * 3;
/// Misses after which a page is tried again that was not filled: who was at it was stopped, or there was no memory.
const MISSES_AGAIN: usize = PAGE_IDS * 16;
/// The most pages that are counted, and that are kept: 32 MiB.
const PAGES_MAX: usize = 1 << 12;

/// Where there is no result, and the key of an empty slot of a table: bits that no id has.
pub(super) const EMPTY: ValueId = ValueId::from_bits(u64::MAX);

/// All pages of one expression.
#[derive(Debug)]
pub(super) struct Pages {
    /// Where filled pages are accounted.
    budget: MemoryBudget,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Pages that are not filled.
    missed: HashMap<u64, Missed>,
    filled: Arc<View>,
}

/// Look-ups that missed a page.
#[derive(Debug)]
struct Missed {
    count: usize,
    fill_at: usize,
}

/// The ids of a page.
pub(super) fn ids_of(page: u64) -> Range<ValueId> {
    let first = page * PAGE_IDS as u64;
    ValueId::from_bits(first)..ValueId::from_bits(first.saturating_add(PAGE_IDS as u64))
}

pub(super) fn page_of(id: ValueId) -> u64 {
    id.to_bits() / PAGE_IDS as u64
}

fn place_of(id: ValueId) -> usize {
    (id.to_bits() % PAGE_IDS as u64) as usize
}

impl Pages {
    pub(super) fn new(budget: &MemoryBudget) -> Arc<Self> {
        Arc::new(Self { budget: budget.clone(), state: Mutex::default() })
    }

    /// The pages filled so far.
    pub(super) fn view(&self) -> Arc<View> {
        Arc::clone(&lock(&self.state).filled)
    }

    /// Whether there is memory for another page.
    fn has_room(&self) -> bool {
        self.budget.free() >= PAGE_IDS * size_of::<ValueId>()
    }

    /// Notes look-ups that were not answered, for different ids. Brings `view` up to date, and returns the pages to be filled now,
    /// by who asks.
    pub(super) fn missed(&self, ids: &[ValueId], view: &mut Arc<View>) -> Vec<u64> {
        if !self.has_room() {
            *view = self.view();
            return Vec::new();
        }
        let mut counts: HashMap<u64, usize> = HashMap::new();
        let in_dictionary = |id: &&ValueId| id.kind().is_some_and(|kind| kind.section().is_some());
        for id in ids.iter().filter(in_dictionary) {
            *counts.entry(page_of(*id)).or_default() += 1;
        }
        let mut state = lock(&self.state);
        let mut fill: Vec<u64> = counts
            .into_iter()
            .filter(|(page, count)| state.count(*page, *count))
            .map(|(page, _)| page)
            .collect();
        fill.sort_unstable();
        *view = Arc::clone(&state.filled);
        fill
    }

    /// Keeps the results of a page, for ids in it that exist; none where there is no memory.
    pub(super) fn fill(&self, page: u64, ids: &[ValueId], results: &[ValueId], view: &mut Arc<View>) {
        let Ok(reservation) = self.budget.reserve(PAGE_IDS * size_of::<ValueId>()) else { return };
        let mut filled = Page { results: [EMPTY; PAGE_IDS], _reservation: reservation };
        for (id, result) in ids.iter().zip(results) {
            if let Some(slot) = filled.results.get_mut(place_of(*id)) {
                *slot = *result;
            }
        }
        let filled = Arc::new(filled);
        // Not to be copied for the sake of this thread.
        *view = Arc::default();
        let mut state = lock(&self.state);
        state.missed.remove(&page);
        Arc::make_mut(&mut state.filled).insert(page, filled);
        *view = Arc::clone(&state.filled);
    }
}

impl State {
    /// Counts look-ups that missed a page; whether it is to be filled now.
    fn count(&mut self, page: u64, count: usize) -> bool {
        if self.filled.pages.len() >= PAGES_MAX {
            return false;
        }
        if self.missed.len() >= PAGES_MAX {
            // Pages that are asked for again and again will be counted again.
            self.missed.clear();
        }
        // Meanwhile filled, for another thread; what is still missing are terms that came later.
        if self.filled.page(page).is_some() {
            return false;
        }
        let missed = self.missed.entry(page).or_insert(Missed { count: 0, fill_at: MISSES_MIN });
        missed.count += count;
        let fill = missed.count >= missed.fill_at;
        if fill {
            missed.fill_at = missed.count + MISSES_AGAIN;
        }
        fill
    }
}

/// Results for the ids of a page, in their order.
#[derive(Debug)]
struct Page {
    results: [ValueId; PAGE_IDS],
    _reservation: Reservation,
}

/// The pages filled at some time.
#[derive(Debug, Default, Clone)]
pub(super) struct View {
    pages: HashTable<(u64, Arc<Page>)>,
}

fn hash(page: u64) -> u64 {
    spread(ValueId::from_bits(page))
}

impl View {
    #[inline]
    fn page(&self, page: u64) -> Option<&Page> {
        self.pages.find(hash(page), |(known, _)| *known == page).map(|(_, page)| &**page)
    }

    /// The result for an id, if its page is here and has it.
    #[inline]
    pub(super) fn get(&self, id: ValueId) -> Option<ValueId> {
        let result = *self.page(page_of(id))?.results.get(place_of(id))?;
        (result != EMPTY).then_some(result)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    fn insert(&mut self, number: u64, page: Arc<Page>) {
        self.pages
            .entry(hash(number), |(known, _)| *known == number, |(known, _)| hash(*known))
            .or_insert((number, page));
    }
}

//! Pages of results: what an expression is worth for all terms of a stretch of ids.
//!
//! Where a query asks for many terms that are neighbours in the dictionary (half a million prices), it is cheaper to walk once
//! through all of them, in order, than to find each where it is. Pages that were asked for often enough are filled whole, and are
//! shared by all threads.

use super::{EMPTY, mix};
use crate::scheduler::lock;
use hashbrown::HashTable;
use lode_base::memory_budget::{MemoryBudget, Reservation};
use lode_rdf::ValueId;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Ids of a page, a power of two: 8 KiB of results.
const PAGE_IDS: usize = 1 << 10;
/// Look-ups that a page has to have missed before it is filled: finding one term and evaluating costs about as much as for three in a row.
const MISSES_MIN: usize = PAGE_IDS / 8 * 3;
/// The most pages that are counted or kept, 32 MiB.
const PAGES_MAX: usize = 1 << 12;

/// The results for the ids of a page, in their order.
type Results = Arc<[ValueId]>;

/// All pages of one expression.
#[derive(Debug, Default)]
pub(super) struct Pages {
    pages: Mutex<HashMap<u64, Page>>,
}

#[derive(Debug)]
enum Page {
    /// Not filled; so many look-ups have missed.
    Missed(usize),
    /// Some thread is at it, or there was no memory for it.
    Taken,
    Filled {
        results: Results,
        _reservation: Reservation,
    },
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
    /// Notes look-ups that were not answered, for different ids. Gives `view` the pages that were filled meanwhile, and returns
    /// those to be filled now.
    pub(super) fn missed(&self, ids: &[ValueId], view: &mut View) -> Vec<u64> {
        let mut counts: HashMap<u64, usize> = HashMap::new();
        let in_dictionary = |id: &&ValueId| id.kind().is_some_and(|kind| kind.section().is_some());
        for id in ids.iter().filter(in_dictionary) {
            *counts.entry(page_of(*id)).or_default() += 1;
        }
        let mut pages = lock(&self.pages);
        let mut fill = Vec::new();
        for (number, count) in counts {
            if !pages.contains_key(&number) && pages.len() == PAGES_MAX {
                continue;
            }
            let page = pages.entry(number).or_insert(Page::Missed(0));
            if let Page::Filled { results, .. } = page {
                view.insert(number, results);
            } else if page.count(count) {
                fill.push(number);
            }
        }
        fill.sort_unstable();
        fill
    }

    /// Keeps the results of a page, for ids in it that exist; none where there is no memory.
    pub(super) fn fill(
        &self,
        page: u64,
        ids: &[ValueId],
        results: &[ValueId],
        view: &mut View,
        budget: &MemoryBudget,
    ) {
        let Ok(reservation) = budget.reserve(PAGE_IDS * size_of::<ValueId>()) else { return };
        let mut slots = vec![EMPTY; PAGE_IDS];
        for (id, result) in ids.iter().zip(results) {
            if let Some(slot) = slots.get_mut(place_of(*id)) {
                *slot = *result;
            }
        }
        let slots = Results::from(slots);
        view.insert(page, &slots);
        lock(&self.pages).insert(page, Page::Filled { results: slots, _reservation: reservation });
    }
}

impl Page {
    /// Counts look-ups; whether the page is to be filled, by who asks.
    fn count(&mut self, missed: usize) -> bool {
        let Self::Missed(count) = self else { return false };
        *count += missed;
        let fill = *count >= MISSES_MIN;
        if fill {
            *self = Self::Taken;
        }
        fill
    }
}

/// The filled pages that one thread knows.
#[derive(Debug, Default)]
pub(super) struct View {
    pages: HashTable<(u64, Results)>,
}

fn hash(page: u64) -> u64 {
    mix(ValueId::from_bits(page))
}

impl View {
    /// The result for an id, if its page is here and has it.
    #[inline]
    pub(super) fn get(&self, id: ValueId) -> Option<ValueId> {
        let page = page_of(id);
        let (_, results) = self.pages.find(hash(page), |(known, _)| *known == page)?;
        let result = *results.get(place_of(id))?;
        (result != EMPTY).then_some(result)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    fn insert(&mut self, page: u64, results: &Results) {
        self.pages
            .entry(hash(page), |(known, _)| *known == page, |(known, _)| hash(*known))
            .or_insert_with(|| (page, Arc::clone(results)));
    }
}

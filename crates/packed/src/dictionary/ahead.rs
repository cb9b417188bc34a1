//! What a visit to many terms asks for before it gets there. It is called where a block is not in the cache: as long as all are, nothing is
//! done here.

use super::{Dictionary, FILTERS_MAX, KeyHash, Result};
use crate::ahead::{BATCH_BLOCKS_MAX, BATCH_BYTES_MAX, Flights};
use lode_base::block_cache::BlockKey;
use lode_rdf::value_id::Section;
use std::ops::Range;

/// Pages of the index that are read at once.
pub(super) const PAGES_MAX: usize = 256;

/// What a visit has asked for.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    flights: Flights,
    /// Blocks of ranks before this one were asked for.
    asked_to: u64,
}

impl Ahead {
    /// The block of the first of `ranks`, which ascend, is about to be read: asks for those of the next, too.
    pub fn prepare(&mut self, dictionary: &Dictionary, section: Section, ranks: &[u64]) -> Result<()> {
        let Some(first) = ranks.first() else { return Ok(()) };
        let file = &dictionary.opened()?.file;
        if *first < self.asked_to || !file.reads_batches_ahead() {
            return Ok(());
        }
        self.flights.clear();
        dictionary.read_pages_of_ranks(section, ranks)?;
        let (ranges, told_to) = dictionary.missing_blocks(section, ranks, true)?;
        self.asked_to = told_to;
        if ranges.len() > 1 {
            file.ask(ranges, dictionary.reading().priority, self.flights.list());
        }
        Ok(())
    }
}

impl Dictionary {
    /// Asks for the filter of a page and the page, which stand side by side: who looks up a key that there is needs both. They are called
    /// off when the result is dropped.
    pub(super) fn ask_for_top(&self, section: Section, page: usize) -> Result<Flights> {
        let mut flights = Flights::default();
        let (file, index) = (&self.opened()?.file, self.section(section)?);
        let is_read = index.slot(page).is_none_or(|slot| slot.get().is_some());
        let filter = BlockKey { file: self.0.filters_id, block: index.start(page).block };
        if !is_read && file.reads_batches_ahead() && !self.has_cached(filter) {
            let places = [index.filter_bytes(page), index.page_bytes(page)];
            let places = places.into_iter().filter(|place| !place.is_empty());
            file.ask(places, self.reading().priority, flights.list());
        }
        Ok(flights)
    }

    /// Whether it pays to ask for several things at once, as far as that is known without opening the file.
    pub fn is_far(&self) -> bool {
        self.0.part.is_far(|opened| &opened.file)
    }

    /// Asks for what tells where keys are, or that they are not there: pages of the index and their filters, as far as they are not in memory.
    ///
    /// # Errors
    /// Where the file cannot be read or is damaged.
    pub fn ask_for_tops(&self, section: Section, keys: &[&[u8]], flights: &mut Flights) -> Result<()> {
        let index = self.section(section)?;
        let mut parts = Vec::new();
        for page in keys.iter().flat_map(|key| index.pages_of_key(key).take(FILTERS_MAX)).take(PAGES_MAX) {
            let filter = BlockKey { file: self.0.filters_id, block: index.start(page).block };
            if !self.has_cached(filter) {
                parts.push(index.filter_bytes(page));
            }
            if index.slot(page).is_some_and(|slot| slot.get().is_none()) {
                parts.push(index.page_bytes(page));
            }
        }
        flights.ask(&self.opened()?.file, parts, self.reading().priority);
        Ok(())
    }

    /// Asks for the blocks in which keys are, if they are in this dictionary.
    ///
    /// # Errors
    /// Like [`Dictionary::ask_for_tops`].
    pub fn ask_for_keys(
        &self,
        section: Section,
        keys: &[(&[u8], KeyHash)],
        flights: &mut Flights,
    ) -> Result<()> {
        let index = self.section(section)?;
        let mut parts = Vec::new();
        for (key, hash) in keys {
            let pages = index.pages_of_key(key);
            if pages.len() > FILTERS_MAX || !self.may_have(section, pages.clone(), *hash)? {
                continue;
            }
            for number in pages {
                let page = self.page(section, number)?;
                let blocks = page.separators().candidates(key).take(BLOCKS_PER_KEY_MAX);
                let first = index.start(number).block;
                let missing = blocks.filter(|block| {
                    !self.has_cached(BlockKey { file: self.0.id, block: first + *block as u64 })
                });
                parts.extend(missing.map(|block| page.bytes(block)));
            }
        }
        flights.ask(&self.opened()?.file, parts, self.reading().priority);
        Ok(())
    }

    /// Asks for the pages of the index that tell where terms are. `ranks` ascend.
    ///
    /// # Errors
    /// Like [`Dictionary::ask_for_tops`].
    pub fn ask_for_term_pages(&self, section: Section, ranks: &[u64], flights: &mut Flights) -> Result<()> {
        let index = self.section(section)?;
        let parts = self.missing_pages(section, ranks)?.into_iter().map(|page| index.page_bytes(page));
        flights.ask(&self.opened()?.file, parts.collect(), self.reading().priority);
        Ok(())
    }

    /// Asks for the blocks of terms. `ranks` ascend. Of many, those of the first.
    ///
    /// # Errors
    /// Like [`Dictionary::ask_for_tops`].
    pub fn ask_for_terms(&self, section: Section, ranks: &[u64], flights: &mut Flights) -> Result<()> {
        let parts = self.missing_blocks(section, ranks, false)?.0;
        flights.ask(&self.opened()?.file, parts, self.reading().priority);
        Ok(())
    }

    /// Where the blocks of the first of `ranks`, which ascend, are that are not in the cache, and the rank before which that is told; the first block
    /// in any case where `with_first`.
    fn missing_blocks(
        &self,
        section: Section,
        ranks: &[u64],
        with_first: bool,
    ) -> Result<(Vec<Range<u64>>, u64)> {
        let (mut ranges, mut bytes, mut at, mut told_to) = (Vec::new(), 0, 0, 0);
        while let Some(rank) = ranks.get(at) {
            if bytes >= BATCH_BYTES_MAX || ranges.len() >= BATCH_BLOCKS_MAX {
                break;
            }
            let Some((is_cached, range, end)) = self.place_of_rank(section, *rank)? else { break };
            told_to = end;
            if !is_cached || at == 0 && with_first {
                bytes += range.end - range.start;
                ranges.push(range);
            }
            at += ranks[at..].partition_point(|rank| *rank < end);
        }
        Ok((ranges, told_to))
    }

    /// Whether the block of a rank is in the cache, where it is in the file, and the rank at which the next begins.
    fn place_of_rank(&self, section: Section, rank: u64) -> Result<Option<(bool, Range<u64>, u64)>> {
        let index = self.section(section)?;
        if rank >= index.terms() {
            return Ok(None);
        }
        let number = index.page_of_rank(rank);
        let page = self.page(section, number)?;
        let block = page.block_of_rank(rank);
        let key = BlockKey { file: self.0.id, block: index.start(number).block + block as u64 };
        Ok(Some((self.has_cached(key), page.bytes(block), page.ranks(block).end)))
    }

    pub(super) fn has_cached(&self, key: BlockKey) -> bool {
        let own = crate::read_context::ReadContext::own_cache(self.1.as_ref());
        self.0.cache.has(key) || own.is_some_and(|cache| cache.has(key))
    }

    /// Pages of the index that tell where terms are, and are not in memory.
    fn missing_pages(&self, section: Section, ranks: &[u64]) -> Result<Vec<usize>> {
        let index = self.section(section)?;
        let (mut pages, mut at) = (Vec::new(), 0);
        while let Some(rank) = ranks.get(at).filter(|rank| **rank < index.terms()) {
            let page = index.page_of_rank(*rank);
            if index.slot(page).is_some_and(|slot| slot.get().is_none()) {
                pages.push(page);
            }
            if pages.len() >= PAGES_MAX {
                break;
            }
            let end = index.start(page + 1).rank.max(rank + 1);
            at += ranks[at..].partition_point(|rank| *rank < end);
        }
        Ok(pages)
    }

    /// Reads them together.
    fn read_pages_of_ranks(&self, section: Section, ranks: &[u64]) -> Result<()> {
        let (index, pages) = (self.section(section)?, self.missing_pages(section, ranks)?);
        if pages.len() < 2 {
            return Ok(());
        }
        let mut flights = Vec::new();
        let places = pages.iter().map(|page| index.page_bytes(*page));
        self.opened()?.file.ask(places, self.reading().priority, &mut flights);
        pages.into_iter().try_for_each(|page| self.page(section, page).map(drop))
    }
}

/// Of a key that may be in more blocks (they begin with the same 256 bytes), the others are read when they are wanted.
const BLOCKS_PER_KEY_MAX: usize = 4;

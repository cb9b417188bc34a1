//! What a cursor asks for before it gets there. It is called where a block is not in the cache: as long as all are, nothing is done here.

use super::{Located, Permutation};
use crate::ahead::{BATCH_BLOCKS_MAX, BATCH_BYTES_MAX, Flights, Window};
use crate::error::Result;
use crate::format::PERMUTATION_PAGE_BLOCKS;
use lode_base::block_cache::BlockKey;
use std::collections::VecDeque;
use std::ops::Range;

/// What a cursor has asked for.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    flights: Flights,
    window: Window,
    /// The block that was missed last.
    last: Option<usize>,
    /// A scan has asked for all blocks before this one that are not in the cache, and for the page of the index after that number.
    asked_to: usize,
    page_asked: usize,
    /// Blocks that look-ups will need, ascending, and up to which of them they were asked for.
    expected: VecDeque<usize>,
    expected_to: usize,
}

impl Ahead {
    /// Takes the blocks that the look-ups to come need, in place of those before.
    pub fn expect(&mut self, blocks: VecDeque<usize>) {
        self.expected = blocks;
        self.expected_to = 0;
    }

    /// A block is about to be read: asks for what comes next. `end` is the row at which the cursor ends.
    pub fn prepare(&mut self, permutation: &Permutation, place: Located<'_>, end: u64) -> Result<()> {
        let (number, file) = (place.number, &permutation.opened()?.file);
        let last = self.last.replace(number);
        self.flights.forget_before(place.bytes().start);
        while self.expected.front().is_some_and(|expected| *expected < number) {
            self.expected.pop_front();
        }
        if file.reads_batches_ahead() && self.expected.len() > 1 {
            return self.ask_for_batch(permutation, number);
        }
        let goes_on =
            last.is_some_and(|last| last < number && number <= self.asked_to.max(last + NEAR_BLOCKS));
        if !goes_on {
            (self.window, self.asked_to, self.page_asked) = (Window::of(file.stripe_bytes()), number, 0);
            if last.is_some() {
                self.flights.clear();
            }
        } else if file.reads_scans_ahead() {
            return self.ask_for_window(permutation, place, end);
        }
        Ok(())
    }

    /// Asks for the next blocks that look-ups need.
    fn ask_for_batch(&mut self, permutation: &Permutation, number: usize) -> Result<()> {
        if number < self.expected_to {
            return Ok(());
        }
        let (mut ranges, mut bytes) = (Vec::new(), 0);
        for block in self.expected.iter().copied().skip_while(|block| *block < number) {
            if bytes >= BATCH_BYTES_MAX || ranges.len() >= BATCH_BLOCKS_MAX {
                break;
            }
            self.expected_to = block + 1;
            if block == number || !permutation.has_cached(block) {
                let range = permutation.locate(block)?.bytes();
                bytes += range.end - range.start;
                ranges.push(range);
            }
        }
        if ranges.len() > 1 {
            let reading = permutation.reading();
            permutation.opened()?.file.ask(ranges, reading.priority, self.flights.list());
        }
        Ok(())
    }

    /// Asks for the next window of a scan, where the last one is nearly used up. It ends with the page of the index; then the next page is
    /// asked for, which tells where its blocks are.
    fn ask_for_window(&mut self, permutation: &Permutation, place: Located<'_>, end: u64) -> Result<()> {
        let number = place.number;
        self.asked_to = self.asked_to.max(number);
        let left = match self.asked_to.checked_sub(number + 1) {
            Some(more) if place.at + more < place.page.len() => {
                place.page.bytes(place.at + more).end - place.bytes().end
            }
            Some(_) => return Ok(()),
            None => 0,
        };
        if !self.window.is_due(left) || !self.has_more(permutation, end)? {
            return Ok(());
        }
        let first = permutation.locate(self.asked_to)?;
        let (mut ranges, mut bytes, window) = (Vec::new(), 0, self.window.next());
        let mut at = first.at;
        while at < first.page.len() && bytes < window && first.page.rows(at).start < end {
            let range = first.page.bytes(at);
            if !permutation.has_cached(self.asked_to) || self.asked_to == number {
                bytes += range.end - range.start;
                ranges.push(range);
            }
            at += 1;
            self.asked_to += 1;
        }
        if at == first.page.len() {
            ranges.extend(self.next_page(permutation, first, end)?);
        }
        permutation.opened()?.file.ask(ranges, permutation.reading().ahead(), self.flights.list());
        Ok(())
    }

    /// Whether there are blocks to ask for whose page is there, or was asked for some time ago.
    fn has_more(&self, permutation: &Permutation, end: u64) -> Result<bool> {
        let page = self.asked_to / PERMUTATION_PAGE_BLOCKS;
        let index = permutation.index()?;
        let is_known = index.slot(page).is_some_and(|slot| slot.get().is_some()) || self.page_asked == page;
        if !is_known || self.asked_to >= permutation.blocks() {
            return Ok(false);
        }
        Ok(permutation.locate(self.asked_to)?.rows().start < end)
    }

    /// The page of the index after that of a block, if the cursor will get there and it was not read.
    fn next_page(
        &mut self,
        permutation: &Permutation,
        place: Located<'_>,
        end: u64,
    ) -> Result<Option<Range<u64>>> {
        let (index, next) = (permutation.index()?, place.number / PERMUTATION_PAGE_BLOCKS + 1);
        let gets_there = place.page.rows(place.page.len() - 1).end < end;
        if !gets_there || index.slot(next).is_none_or(|slot| slot.get().is_some()) {
            return Ok(None);
        }
        self.page_asked = next;
        Ok(Some(index.place(next).0))
    }
}

impl Permutation {
    pub(super) fn has_cached(&self, block: usize) -> bool {
        let key = BlockKey { file: self.0.id, block: block as u64 };
        let own = crate::read_context::ReadContext::own_cache(self.1.as_ref());
        self.0.cache.has(key) || own.is_some_and(|cache| cache.has(key))
    }

    /// The blocks in which rows that begin with these keys are searched, ascending. `keys` ascend and have `width` ids each. Pages of the
    /// index that are needed for that are read together.
    pub(super) fn blocks_of_keys(&self, keys: &[u64], width: usize) -> Result<VecDeque<usize>> {
        self.read_pages_of_keys(keys, width)?;
        let mut blocks = VecDeque::new();
        for key in keys.chunks_exact(width) {
            let Some(last) = self.block_before(key, true)? else { continue };
            let first = self.block_before(key, false)?.map_or(0, |place| place.number);
            let first = blocks.back().map_or(first, |back: &usize| first.max(back + 1));
            blocks.extend((first..=last.number).take(BLOCKS_PER_KEY_MAX));
            if blocks.len() > EXPECTED_BLOCKS_MAX {
                break;
            }
        }
        Ok(blocks)
    }

    /// Whether it pays to ask for several things at once, as far as that is known without opening the file.
    pub fn is_far(&self) -> bool {
        self.0.part.is_far(|opened| &opened.file)
    }

    /// Asks for the pages of the index that tell where rows with these first columns are, as far as they are not in memory.
    ///
    /// # Errors
    ///
    /// [`Io`](crate::PackedError::Io) where the file cannot be read, [`Corruption`](crate::PackedError::Corruption) where its bytes are damaged.
    pub fn ask_for_pages(&self, prefixes: &[Vec<u64>], flights: &mut Flights) -> Result<()> {
        let opened = self.opened()?;
        let ends = prefixes.iter().flat_map(|prefix| [true, false].map(|last| (prefix, last)));
        let pages = ends.map(|(prefix, last)| opened.index.page_before(prefix, last).unwrap_or(0));
        let missing = pages.filter(|page| opened.index.slot(*page).is_some_and(|slot| slot.get().is_none()));
        let parts = missing.take(PAGES_MAX).map(|page| opened.index.place(page).0).collect();
        flights.ask(&opened.file, parts, self.reading().priority);
        Ok(())
    }

    /// Asks for the blocks in which rows with these first columns begin and end, as far as they are not in the cache.
    ///
    /// # Errors
    ///
    /// As [`Permutation::ask_for_pages`].
    pub fn ask_for_ends(&self, prefixes: &[Vec<u64>], flights: &mut Flights) -> Result<()> {
        let mut parts = Vec::new();
        for prefix in prefixes {
            let Some(high) = self.block_before(prefix, true)? else { continue };
            let low = self.block_before(prefix, false)?.map_or_else(|| self.locate(0), Ok)?;
            if low.number == high.number && !low.may_hold(prefix) {
                continue;
            }
            let missing = [low, high].into_iter().filter(|place| !self.has_cached(place.number));
            parts.extend(missing.map(Located::bytes));
        }
        flights.ask(&self.opened()?.file, parts, self.reading().priority);
        Ok(())
    }

    fn read_pages_of_keys(&self, keys: &[u64], width: usize) -> Result<()> {
        let index = self.index()?;
        let pages = keys.chunks_exact(width).flat_map(|key| {
            let from = index.page_before(key, false).unwrap_or(0);
            from..=index.page_before(key, true).unwrap_or(from)
        });
        self.read_pages(pages)
    }

    /// Reads pages of the index, which ascend, together: those that are not in memory.
    pub(super) fn read_pages(&self, numbers: impl Iterator<Item = usize>) -> Result<()> {
        let opened = self.opened()?;
        let mut pages = Vec::new();
        for page in numbers {
            let is_read = opened.index.slot(page).is_some_and(|slot| slot.get().is_some());
            if pages.last() != Some(&page) && !is_read && pages.len() < PAGES_MAX {
                pages.push(page);
            }
        }
        pages.dedup();
        if pages.len() < 2 {
            return Ok(());
        }
        let mut flights = Vec::new();
        let places = pages.iter().map(|page| opened.index.place(*page).0);
        opened.file.ask(places, self.reading().priority, &mut flights);
        pages.into_iter().try_for_each(|page| self.page(page).map(drop))
    }
}

/// Who misses a block so few blocks after another is scanning: those between may be in the cache.
const NEAR_BLOCKS: usize = 4;
/// Of a key that has more, the rest is read as by a scan.
const BLOCKS_PER_KEY_MAX: usize = 4;
/// Later keys are told again.
const EXPECTED_BLOCKS_MAX: usize = 1 << 14;
/// Pages of the index that are read at once: each is of 512 blocks.
const PAGES_MAX: usize = 256;

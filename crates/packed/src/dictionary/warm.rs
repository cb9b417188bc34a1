//! Blocks of a dictionary that are brought into the cache before anybody wants them, or that are around one that was missed.

use super::ahead::PAGES_MAX;
use super::block::OpenBlock;
use super::page::Page;
use super::{Dictionary, Result};
use crate::ahead::Flights;
use crate::read_context::ReadContext;
use crate::warm::{OnWarmed, Wanted, Warming};
use lode_base::block_cache::BlockKey;
use lode_rdf::value_id::Section;
use std::ops::ControlFlow;

impl Dictionary {
    /// The numbers of its blocks and its filters in the keys of the cache.
    pub(crate) fn cache_files(&self) -> (u64, u64) {
        (self.0.id, self.0.filters_id)
    }

    fn warming(&self) -> Result<Warming<'_>> {
        Ok(Warming { file: &self.opened()?.file, cache: &self.0.cache, reading: self.reading() })
    }

    /// Asks for pages of the index that are not in memory; they are called off when the result is dropped.
    fn ask_for_pages(&self, pages: &[(Section, usize, Vec<usize>)]) -> Result<Flights> {
        let (mut flights, mut places) = (Flights::default(), Vec::new());
        for (section, number, _) in pages.iter().take(PAGES_MAX) {
            let index = self.section(*section)?;
            if index.slot(*number).is_some_and(|slot| slot.get().is_none()) {
                places.push(index.page_bytes(*number));
            }
        }
        let file = &self.opened()?.file;
        if file.serves_many() {
            file.ask(places, self.reading().priority, flights.list());
        }
        Ok(flights)
    }

    /// Which of these blocks, which ascend, are of each page, and their numbers there.
    fn by_page(&self, blocks: &[u64]) -> Result<Vec<(Section, usize, Vec<usize>)>> {
        let (mut pages, mut rest) = (Vec::new(), blocks);
        for section in Section::ALL {
            let index = self.section(section)?;
            for number in 0..index.len() {
                let (first, end) = (index.start(number).block, index.start(number + 1).block);
                let here;
                (here, rest) = rest.split_at(rest.partition_point(|block| *block < end));
                let here: Vec<usize> =
                    here.iter().filter_map(|block| usize::try_from(block.checked_sub(first)?).ok()).collect();
                if !here.is_empty() {
                    pages.push((section, number, here));
                }
            }
        }
        Ok(pages)
    }

    /// Brings blocks into the cache: see [`crate::warm()`]. Pages have few blocks, so those of many are asked for together.
    pub(crate) fn warm(&self, blocks: &[u64], on_warmed: OnWarmed<'_>) -> Result<ControlFlow<()>> {
        let (warming, pages) = (self.warming()?, self.by_page(blocks)?);
        let mut groups = pages.chunks(PAGES_MAX).peekable();
        let mut asked = groups.peek().map(|first| self.ask_for_pages(first)).transpose()?;
        while let Some(group) = groups.next() {
            let next = groups.peek().map(|next| self.ask_for_pages(next)).transpose()?;
            let (mut wanted, mut places) = (Vec::new(), Vec::new());
            for (section, number, blocks) in group {
                let first = self.section(*section)?.start(*number).block;
                let page = self.page(*section, *number)?;
                for block in blocks {
                    let key = BlockKey { file: self.0.id, block: first + *block as u64 };
                    wanted.push(Wanted { key, bytes: page.bytes(*block) });
                    places.push((page, *block));
                }
            }
            let load = |at: usize| self.load_block(places[at].0, places[at].1);
            if warming.run(&wanted, load, on_warmed)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            drop(std::mem::replace(&mut asked, next));
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The same of filters.
    pub(crate) fn warm_filters(&self, blocks: &[u64], on_warmed: OnWarmed<'_>) -> Result<ControlFlow<()>> {
        let (mut wanted, mut pages) = (Vec::new(), Vec::new());
        for (section, number, blocks) in self.by_page(blocks)? {
            let index = self.section(section)?;
            if blocks.first() == Some(&0) {
                let key = BlockKey { file: self.0.filters_id, block: index.start(number).block };
                wanted.push(Wanted { key, bytes: index.filter_bytes(number) });
                pages.push((section, number));
            }
        }
        let load = |at: usize| self.read_filter(pages[at].0, pages[at].1);
        self.warming()?.run(&wanted, load, on_warmed)
    }

    /// Reads a block that was missed, and where that is of use those around it. `first`: the number of the page's first block.
    pub(super) fn read_missed(&self, page: &Page, block: usize, first: u64) -> Result<OpenBlock> {
        let file = &self.opened()?.file;
        // Who has a cache of its own leaves that of the others as it is.
        let is_aside = ReadContext::own_cache(self.1.as_ref()).is_some();
        let region = if is_aside { None } else { file.miss(page.bytes(block).start) };
        let Some(region) = region else { return self.load_block(page, block) };
        let (mut own, mut wanted, mut blocks) = (0, Vec::new(), Vec::new());
        for at in 0..page.len() {
            let (bytes, key) = (page.bytes(at), BlockKey { file: self.0.id, block: first + at as u64 });
            let is_inside = region.start <= bytes.start && bytes.end <= region.end;
            if at == block || is_inside && !self.has_cached(key) {
                if at == block {
                    own = wanted.len();
                }
                wanted.push(Wanted { key, bytes });
                blocks.push(at);
            }
        }
        self.warming()?.around(&wanted, own, |at| self.load_block(page, blocks[at]))
    }
}

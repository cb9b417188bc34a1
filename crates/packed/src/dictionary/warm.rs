//! Blocks of a dictionary that are brought into the cache before anybody wants them, or that are around one that was missed.

use super::page::Page;
use super::{Dictionary, Result};
use crate::warm::{OnWarmed, Wanted, Warming};
use lode_base::block_cache::BlockKey;
use lode_rdf::value_id::Section;
use std::ops::{ControlFlow, Range};

impl Dictionary {
    /// The numbers of its blocks and its filters in the keys of the cache.
    pub(crate) fn cache_files(&self) -> (u64, u64) {
        (self.0.id, self.0.filters_id)
    }

    fn warming(&self) -> Result<Warming<'_>> {
        Ok(Warming { file: &self.opened()?.file, cache: &self.0.cache, reading: self.reading() })
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

    /// Brings blocks into the cache: see [`crate::warm::warm`].
    pub(crate) fn warm(&self, blocks: &[u64], on_warmed: OnWarmed<'_>) -> Result<ControlFlow<()>> {
        let warming = self.warming()?;
        for (section, number, blocks) in self.by_page(blocks)? {
            let first = self.section(section)?.start(number).block;
            let page = self.page(section, number)?;
            let wanted: Vec<Wanted> = blocks
                .iter()
                .map(|block| {
                    let key = BlockKey { file: self.0.id, block: first + *block as u64 };
                    Wanted { key, bytes: page.bytes(*block) }
                })
                .collect();
            let load = |at: usize| self.load_block(page, blocks[at]);
            if warming.run(&wanted, load, on_warmed)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
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

    /// A block is about to be read: asks for those around it, where that is of use. `first`: the number of the page's first block.
    pub(super) fn ask_around(&self, page: &Page, block: usize, first: u64) -> Result<()> {
        let file = &self.opened()?.file;
        let Some(region) = file.miss(page.bytes(block).start) else { return Ok(()) };
        let around = (0..page.len()).filter_map(|at| {
            let Range { start, end } = page.bytes(at);
            let key = BlockKey { file: self.0.id, block: first + at as u64 };
            let is_inside = region.start <= start && end <= region.end;
            (at == block || is_inside && !self.has_cached(key)).then_some(start..end)
        });
        file.ask_around(around);
        Ok(())
    }
}

//! Blocks of a permutation that are brought into the cache before anybody wants them, or that are around one that was missed.

use super::Permutation;
use super::{Located, PERMUTATION_PAGE_BLOCKS};
use crate::block::ParsedBlock;
use crate::error::Result;
use crate::read_context::ReadContext;
use crate::warm::{OnWarmed, Wanted, Warming};
use lode_base::block_cache::BlockKey;
use std::ops::ControlFlow;

impl Permutation {
    /// Its number in the keys of the cache.
    pub(crate) fn cache_file(&self) -> u64 {
        self.0.id
    }

    /// Brings blocks into the cache: see [`crate::warm()`].
    pub(crate) fn warm(&self, blocks: &[u64], on_warmed: OnWarmed<'_>) -> Result<ControlFlow<()>> {
        let numbers: Vec<usize> = blocks.iter().filter_map(|block| usize::try_from(*block).ok()).collect();
        let numbers = &numbers[..numbers.partition_point(|number| *number < self.blocks())];
        for numbers in numbers.chunk_by(|a, b| a / PAGES_BLOCKS == b / PAGES_BLOCKS) {
            let file = &self.opened()?.file;
            if file.serves_many() {
                self.read_pages(numbers.iter().map(|number| number / PERMUTATION_PAGE_BLOCKS))?;
            }
            let wanted = |number: &usize| {
                let key = BlockKey { file: self.0.id, block: *number as u64 };
                Ok(Wanted { key, bytes: self.locate(*number)?.bytes() })
            };
            let wanted = numbers.iter().map(wanted).collect::<Result<Vec<Wanted>>>()?;
            let warming = Warming { file, cache: &self.0.cache, reading: self.reading() };
            let load = |at: usize| self.read_block(self.locate(numbers[at])?);
            if warming.run(&wanted, load, on_warmed)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Reads a block that was missed, and where that is of use those around it.
    pub(super) fn read_missed(&self, place: Located<'_>) -> Result<ParsedBlock> {
        let file = &self.opened()?.file;
        // Who has a cache of its own leaves that of the others as it is.
        let is_aside = ReadContext::own_cache(self.1.as_ref()).is_some();
        let region = if is_aside { None } else { file.miss(place.bytes().start) };
        let Some(region) = region else { return self.read_block(place) };
        let (first, mut own, mut wanted) = (place.number - place.at, 0, Vec::new());
        for at in 0..place.page.len() {
            let bytes = place.page.bytes(at);
            let is_inside = region.start <= bytes.start && bytes.end <= region.end;
            if at == place.at || is_inside && !self.has_cached(first + at) {
                if at == place.at {
                    own = wanted.len();
                }
                wanted.push(Wanted { key: BlockKey { file: self.0.id, block: (first + at) as u64 }, bytes });
            }
        }
        let warming = Warming { file, cache: &self.0.cache, reading: self.reading() };
        let load = |at: usize| self.read_block(self.locate(wanted[at].key.block as usize)?);
        warming.around(&wanted, own, load)
    }
}

/// Of so many blocks the places are in memory at once.
const PAGES_BLOCKS: usize = 64 * PERMUTATION_PAGE_BLOCKS;

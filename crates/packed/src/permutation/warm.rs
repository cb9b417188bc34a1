//! Blocks of a permutation that are brought into the cache before anybody wants them, or that are around one that was missed.

use super::Permutation;
use super::{Located, PERMUTATION_PAGE_BLOCKS};
use crate::error::Result;
use crate::warm::{OnWarmed, Wanted, Warming};
use lode_base::block_cache::BlockKey;
use std::ops::ControlFlow;

impl Permutation {
    /// Its number in the keys of the cache.
    pub(crate) fn cache_file(&self) -> u64 {
        self.0.id
    }

    /// Brings blocks into the cache: see [`crate::warm::warm`].
    pub(crate) fn warm(&self, blocks: &[u64], on_warmed: OnWarmed<'_>) -> Result<ControlFlow<()>> {
        let numbers: Vec<usize> = blocks.iter().filter_map(|block| usize::try_from(*block).ok()).collect();
        let numbers = &numbers[..numbers.partition_point(|number| *number < self.blocks())];
        for numbers in numbers.chunk_by(|a, b| a / PAGES_BLOCKS == b / PAGES_BLOCKS) {
            self.read_pages(numbers.iter().map(|number| number / PERMUTATION_PAGE_BLOCKS))?;
            let wanted = |number: &usize| {
                let key = BlockKey { file: self.0.id, block: *number as u64 };
                Ok(Wanted { key, bytes: self.locate(*number)?.bytes() })
            };
            let wanted = numbers.iter().map(wanted).collect::<Result<Vec<Wanted>>>()?;
            let file = &self.opened()?.file;
            let warming = Warming { file, cache: &self.0.cache, reading: self.reading() };
            let load = |at: usize| self.read_block(self.locate(numbers[at])?);
            if warming.run(&wanted, load, on_warmed)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// A block is about to be read: asks for those around it, where that is of use.
    pub(super) fn ask_around(&self, place: Located<'_>) -> Result<()> {
        let file = &self.opened()?.file;
        let Some(region) = file.miss(place.bytes().start) else { return Ok(()) };
        let first = place.number - place.at;
        let around = (0..place.page.len()).filter_map(|at| {
            let bytes = place.page.bytes(at);
            let is_inside = region.start <= bytes.start && bytes.end <= region.end;
            let is_wanted = at == place.at || is_inside && !self.has_cached(first + at);
            is_wanted.then_some(bytes)
        });
        file.ask_around(around);
        Ok(())
    }
}

/// Of so many blocks the places are in memory at once.
const PAGES_BLOCKS: usize = 64 * PERMUTATION_PAGE_BLOCKS;

//! Reads a dictionary wholly and compares it with its index and footer.

use super::filter::{Filter, KeyHash};
use super::page::Page;
use super::separators::separator;
use super::{Dictionary, DictionaryInfo, Result, Terms};
use crate::error::Damage;
use crate::format::{DICTIONARY_MAGIC, FORMAT_VERSION, HEADER_BYTES};
use crate::read_context::read_error;
use lode_base::cancel::CancelToken;
use lode_base::shared_prefix::shared_prefix;
use lode_rdf::value_id::Section;

/// A walk through a section.
struct Walk {
    terms: Terms,
    previous: Vec<u8>,
    rank: u64,
    key_bytes: u64,
}

impl Walk {
    /// Compares the terms of a block with what the index says.
    fn verify_block(
        &mut self,
        page: &Page,
        filter: &Filter,
        block: usize,
    ) -> Result<std::result::Result<(), Damage>> {
        let ranks = page.ranks(block);
        for rank in ranks.clone() {
            let Some(key) = self.terms.next()? else { return Ok(Err(Damage("terms are missing"))) };
            if self.rank > 0 && self.previous.as_slice() >= key {
                return Ok(Err(Damage("terms are not in order")));
            }
            let is_first = rank == ranks.start;
            if is_first && page.separators().get(block) != separator(key, shared_prefix(&self.previous, key))
            {
                return Ok(Err(Damage("a separator of the index is wrong")));
            }
            if !filter.may_have(KeyHash::of(key)) {
                return Ok(Err(Damage("a filter of the index lacks a term")));
            }
            self.previous.clear();
            self.previous.extend_from_slice(key);
            self.key_bytes += key.len() as u64;
            self.rank += 1;
        }
        Ok(Ok(()))
    }
}

impl Dictionary {
    /// Decodes every block past the cache and checks checksums, strict order, separators, filters and counts. `on_terms` hears the
    /// number of terms done since it was called last.
    ///
    /// # Errors
    /// [`PackedError::Corruption`](crate::PackedError::Corruption) at the first fault found,
    /// [`PackedError::Cancelled`](crate::PackedError::Cancelled), and where the file cannot be read.
    pub fn verify(&self, cancel: &CancelToken, on_terms: &mut dyn FnMut(u64)) -> Result<DictionaryInfo> {
        self.verify_header()?;
        let mut key_bytes = 0;
        for section in Section::ALL {
            key_bytes += self.verify_section(section, cancel, on_terms)?;
        }
        if key_bytes != self.0.info.key_bytes {
            return Err(Damage("the keys do not have the length that the footer says").at(&self.0.name, 0));
        }
        Ok(self.0.info)
    }

    fn verify_section(
        &self,
        section: Section,
        cancel: &CancelToken,
        on_terms: &mut dyn FnMut(u64),
    ) -> Result<u64> {
        let mut walk = Walk { terms: self.iter(section), previous: Vec::new(), rank: 0, key_bytes: 0 };
        for number in 0..self.section(section)?.len() {
            let (page, filter) = (self.read_page(section, number)?, self.read_filter(section, number)?);
            for block in 0..page.len() {
                let range = page.ranks(block);
                cancel.check()?;
                let right = walk.verify_block(&page, &filter, block)?;
                self.at(page.bytes(block).start, right)?;
                on_terms(range.end - range.start);
            }
        }
        Ok(walk.key_bytes)
    }

    fn verify_header(&self) -> Result<()> {
        let mut header = [0; HEADER_BYTES];
        self.opened()?.file.read(&mut header, 0, self.reading()).map_err(read_error(&self.0.name))?;
        let mut expected = DICTIONARY_MAGIC.to_vec();
        expected.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
        expected.extend_from_slice(&0_u32.to_le_bytes());
        if header[..] != expected[..] {
            return Err(Damage("the header is wrong").at(&self.0.name, 0));
        }
        Ok(())
    }
}

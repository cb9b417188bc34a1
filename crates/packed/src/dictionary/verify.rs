//! Reads a dictionary wholly and compares it with its index and footer.

use super::{Dictionary, DictionaryInfo, Result};
use crate::error::{Damage, io_error};
use crate::format::{DICTIONARY_MAGIC, FORMAT_VERSION, HEADER_BYTES};
use lode_base::cancel::CancelToken;
use lode_rdf::value_id::Section;

/// Terms between looks at the cancel token.
const STRIDE: u64 = 4096;

impl Dictionary {
    /// Decodes every block past the cache and checks checksums, strict order, separators and counts. `on_terms` hears the
    /// number of terms done since it was called last.
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
        let index = self.section(section);
        let mut terms = self.iter(section);
        let mut previous: Vec<u8> = Vec::new();
        let (mut rank, mut key_bytes, mut block) = (0, 0, 0);
        while let Some(key) = terms.next()? {
            if rank % STRIDE == 0 {
                cancel.check()?;
            }
            if rank >= index.ranks(block).end {
                block += 1;
            }
            let sorted = rank == 0 || previous.as_slice() < key;
            if !sorted || index.block_of_key(key) != Some(block) {
                return self.in_block(section, block, Err(Damage("terms are not in order")));
            }
            previous.clear();
            previous.extend_from_slice(key);
            key_bytes += key.len() as u64;
            rank += 1;
            if rank % STRIDE == 0 {
                on_terms(STRIDE);
            }
        }
        on_terms(rank % STRIDE);
        Ok(key_bytes)
    }

    fn verify_header(&self) -> Result<()> {
        let mut header = [0; HEADER_BYTES];
        self.0.file.read_exact_at(&mut header, 0).map_err(io_error(&self.0.name))?;
        let mut expected = DICTIONARY_MAGIC.to_vec();
        expected.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
        expected.extend_from_slice(&0_u32.to_le_bytes());
        if header[..] != expected[..] {
            return Err(Damage("the header is wrong").at(&self.0.name, 0));
        }
        Ok(())
    }
}

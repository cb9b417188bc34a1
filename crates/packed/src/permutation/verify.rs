//! Reads a permutation wholly and compares it with its index and footer.

use super::info::PermutationInfo;
use super::page::BlockEntry;
use super::writer::describe;
use super::{Located, Permutation};
use crate::block::ParsedBlock;
use crate::codec::ColumnValues;
use crate::error::{Damage, Result};
use crate::fingerprint::fingerprint;
use crate::format::{FORMAT_VERSION, HEADER_BYTES, PERMUTATION_MAGIC};
use lode_base::cancel::CancelToken;
use std::sync::Arc;

impl Permutation {
    /// Decodes every block past the cache and checks checksums, strict order, counts, the index and the fingerprint.
    /// `on_block` hears the rows of each block as it is done.
    ///
    /// # Errors
    ///
    /// [`Corruption`](crate::PackedError::Corruption) for the first that is wrong, [`Io`](crate::PackedError::Io) where the file cannot be read,
    /// [`Cancelled`](crate::PackedError::Cancelled) where `cancel` says so.
    pub fn verify(&self, cancel: &CancelToken, on_block: &mut dyn FnMut(u64)) -> Result<PermutationInfo> {
        self.verify_header()?;
        let mut previous = None;
        let mut sum = 0_u64;
        cancel.check()?;
        self.for_each_parsed(&mut |place, parsed| {
            cancel.check()?;
            let columns = self.decode_parsed(place, parsed)?;
            let columns = columns.each_ref().map(Vec::as_slice);
            self.in_block(place, compare_with_index(&place.entry(), columns, previous))?;
            sum = sum.wrapping_add(fingerprint(self.order(), columns));
            previous = columns[0].len().checked_sub(1).map(|last| columns.map(|column| column[last]));
            on_block(columns[0].len() as u64);
            Ok(())
        })?;
        if sum != self.0.info.fingerprint {
            return Err(Damage("the rows do not have the fingerprint of the footer").at(&self.0.name, 0));
        }
        Ok(self.0.info)
    }

    /// Reads every block past the cache and compares checksums, but not what the blocks hold: that takes a fraction of the time.
    ///
    /// # Errors
    /// [`PackedError::Corruption`](crate::PackedError::Corruption) where a checksum or the header is wrong,
    /// [`PackedError::Cancelled`](crate::PackedError::Cancelled), and where the file cannot be read.
    pub fn verify_checksums(&self, cancel: &CancelToken) -> Result<()> {
        self.verify_header()?;
        cancel.check()?;
        self.for_each_parsed(&mut |_, _| Ok(cancel.check()?))
    }

    fn verify_header(&self) -> Result<()> {
        let mut header = [0; HEADER_BYTES];
        self.read(&mut header, 0)?;
        let mut expected = PERMUTATION_MAGIC.to_vec();
        expected.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
        expected.extend_from_slice(&u32::from(self.order() as u8).to_le_bytes());
        if header[..] != expected[..] {
            return Err(Damage("the header is wrong").at(&self.0.name, 0));
        }
        Ok(())
    }

    fn decode_parsed(&self, place: Located<'_>, parsed: ParsedBlock) -> Result<[Vec<u64>; 4]> {
        let parsed = Arc::new(parsed);
        let mut columns: [Vec<u64>; 4] = std::array::from_fn(|_| Vec::with_capacity(parsed.rows()));
        self.decode(place.number, &parsed, &mut columns)?;
        Ok(columns)
    }
}

fn compare_with_index(
    entry: &BlockEntry,
    columns: [&[u64]; 4],
    previous: Option<[u64; 4]>,
) -> std::result::Result<(), Damage> {
    let values = columns.map(ColumnValues::of);
    let found = describe(columns, &values, previous).map_err(|_| Damage("rows are not in strict order"))?;
    let same = entry.first == found.first
        && entry.min == found.min
        && entry.max == found.max
        && entry.changes == found.changes
        && entry.starts_new == found.starts_new;
    if same { Ok(()) } else { Err(Damage("a block is not as the index says")) }
}

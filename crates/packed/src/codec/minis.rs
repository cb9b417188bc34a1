//! A sequence of mini-blocks with their table of tags and bases: what the other codecs put their numbers into.
//!
//! Bytes: width of a base in bytes (0 to 8), a tag for each mini-block, a base for each, the payloads one after another.

use super::mini::{self, Mini, MiniHead};
use crate::bytes::Reader;
use crate::error::Damage;
use crate::format::{MINI_ROWS, MINIS_MAX};

/// Where the mini-blocks are.
#[derive(Debug)]
pub(crate) struct Minis {
    rows: usize,
    base_bytes: usize,
    tags_at: usize,
    bases_at: usize,
    payloads_at: usize,
    /// Start of each payload, counted from `payloads_at`.
    starts: [u32; MINIS_MAX],
}

/// The least that a column of mini-blocks can need: headers and 1-byte bases.
pub(super) fn bytes_least(rows: usize) -> usize {
    2 * rows.div_ceil(MINI_ROWS)
}

/// About how many bytes a column of these numbers takes: a quarter of the mini-blocks is looked at.
pub(super) fn estimate(numbers: &[u64]) -> usize {
    let count = numbers.len().div_ceil(MINI_ROWS);
    let step = if count >= 16 { 4 } else { 1 };
    let sample = numbers.chunks(MINI_ROWS).step_by(step);
    let (looked_at, payloads, largest) = sample.fold((0, 0, 0), |(n, bytes, largest), mini| {
        (n + 1, bytes + mini::payload_estimate(mini), mini.first().copied().unwrap_or(0).max(largest))
    });
    count * (1 + base_bytes(largest)) + payloads * count / usize::max(looked_at, 1)
}

const fn base_bytes(largest: u64) -> usize {
    8 - largest.leading_zeros() as usize / 8
}

/// Buffers of the encoder.
#[derive(Debug, Default)]
pub(crate) struct MinisEncoder {
    heads: Vec<MiniHead>,
    payloads: Vec<u8>,
}

impl MinisEncoder {
    pub(super) fn encode(&mut self, values: &[u64], out: &mut Vec<u8>) {
        self.heads.clear();
        self.payloads.clear();
        for chunk in values.chunks(MINI_ROWS) {
            let head = mini::encode(chunk, &mut self.payloads);
            self.heads.push(head);
        }
        let largest = self.heads.iter().map(|h| h.base).max().unwrap_or(0);
        let base_bytes = base_bytes(largest);
        out.push(base_bytes as u8);
        out.extend(self.heads.iter().map(|h| h.tag));
        for head in &self.heads {
            out.extend_from_slice(&head.base.to_le_bytes()[..base_bytes]);
        }
        out.extend_from_slice(&self.payloads);
    }
}

fn rows_of(rows: usize, mini: usize) -> usize {
    rows.saturating_sub(mini * MINI_ROWS).min(MINI_ROWS)
}

impl Minis {
    pub(super) fn parse(reader: &mut Reader<'_>, rows: usize) -> Result<Self, Damage> {
        let count = rows.div_ceil(MINI_ROWS);
        let base_bytes = usize::from(reader.u8()?);
        if base_bytes > 8 {
            return Err(Damage("bases are too wide"));
        }
        let tags_at = reader.position();
        let tags = reader.take(count)?;
        let bases_at = reader.position();
        reader.take(count * base_bytes)?;
        let payloads_at = reader.position();
        let mut starts = [0; MINIS_MAX];
        for (i, (tag, start)) in tags.iter().zip(&mut starts).enumerate() {
            *start = (reader.position() - payloads_at) as u32;
            let length = mini::payload_bytes(*tag, reader.rest(), rows_of(rows, i))?;
            reader.take(length)?;
        }
        Ok(Self { rows, base_bytes, tags_at, bases_at, payloads_at, starts })
    }

    fn head(&self, bytes: &[u8], mini: usize) -> Option<MiniHead> {
        let tag = *bytes.get(self.tags_at + mini)?;
        let at = self.bases_at + mini * self.base_bytes;
        let stored = bytes.get(at..at + self.base_bytes)?;
        let mut base = [0; 8];
        base.get_mut(..stored.len())?.copy_from_slice(stored);
        Some(MiniHead { tag, base: u64::from_le_bytes(base) })
    }

    /// Rows of a mini-block.
    pub(super) fn rows(&self, mini: usize) -> usize {
        rows_of(self.rows, mini)
    }

    /// Head, payload and number of rows of a mini-block.
    #[inline]
    fn mini<'a>(&self, bytes: &'a [u8], mini: usize) -> Result<(MiniHead, &'a [u8], usize), Damage> {
        let found = || {
            let rows = rows_of(self.rows, mini);
            let head = self.head(bytes, mini).filter(|_| rows > 0)?;
            // The payload knows its length; bits are read in words, which may look past it.
            let payload = bytes.get(self.payloads_at + *self.starts.get(mini)? as usize..)?;
            Some((head, payload, rows))
        };
        found().ok_or(Damage("no such mini-block"))
    }

    /// Decodes a mini-block, adding `add` to every value.
    #[inline]
    pub(super) fn decode(&self, bytes: &[u8], mini: usize, add: u64, out: &mut Mini) -> Result<(), Damage> {
        let (mut head, payload, rows) = self.mini(bytes, mini)?;
        // All kinds add the base, so this is free.
        head.base = head.base.wrapping_add(add);
        mini::decode(head, payload, rows, out)
    }

    #[inline]
    pub(super) fn first(&self, bytes: &[u8], mini: usize) -> Result<u64, Damage> {
        let (head, payload, rows) = self.mini(bytes, mini)?;
        mini::first(head, payload, rows)
    }
}

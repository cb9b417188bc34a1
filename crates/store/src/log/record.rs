//! What one transaction changed, as the payload of a record.
//!
//! Quads are most of it. They come sorted, so each is told by its differences from the one before: two bytes say how many
//! bytes the difference of each column takes, and those follow. A column that repeats costs nothing more.

use super::replay::LogRecord;
use crate::error::StoreError;
use lode_base::varint::{VARINT_BYTES_MAX, read_varint, unzigzag, write_varint, zigzag};
use lode_rdf::value_id::Section;
use std::path::Path;

/// The first byte of a payload that holds [`Changes`].
const TAG: u8 = 1;
/// Two bytes of lengths, and four differences.
const QUAD_BYTES_MAX: usize = 2 + 4 * 8;

/// What one transaction changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// The version that it made.
    pub version: u64,
    /// First blank node number not used after it.
    pub next_blank: u64,
    /// Arrival index of the first of `terms`.
    pub first_term: u64,
    /// New terms as keys of their sections, in the order of their arrival.
    pub terms: Vec<(Section, Box<[u8]>)>,
    /// Ids of the quads that it inserted: subject, predicate, object, graph; sorted.
    pub inserts: Vec<[u64; 4]>,
    /// Ids of the quads that it deleted, alike.
    pub deletes: Vec<[u64; 4]>,
}

impl Changes {
    /// Appends the payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let term_bytes: usize = self.terms.iter().map(|(_, key)| key.len() + 1 + VARINT_BYTES_MAX).sum();
        // Most differences take some bytes only; what is missing is reserved when it turns out to be.
        out.reserve(64 + term_bytes + 12 * (self.inserts.len() + self.deletes.len()));
        out.push(TAG);
        for number in [self.version, self.next_blank, self.first_term, self.terms.len() as u64] {
            write_varint(out, number);
        }
        for (section, key) in &self.terms {
            out.push(*section as u8);
            write_varint(out, key.len() as u64);
            out.extend_from_slice(key);
        }
        for quads in [&self.inserts, &self.deletes] {
            write_varint(out, quads.len() as u64);
            encode_quads(quads, out);
        }
    }

    /// Reads the payload of a record of the log `file`.
    ///
    /// # Errors
    /// [`StoreError::Corruption`] where it is none.
    pub fn decode(record: &LogRecord<'_>, file: &Path) -> Result<Self, StoreError> {
        let what = "the record is whole, but what it says is not understood";
        Self::parse(record.payload).ok_or_else(|| StoreError::corruption(file, record.offset, what))
    }

    fn parse(payload: &[u8]) -> Option<Self> {
        let (&TAG, mut input) = payload.split_first()? else { return None };
        let mut changes = Self {
            version: read_varint(&mut input)?,
            next_blank: read_varint(&mut input)?,
            first_term: read_varint(&mut input)?,
            ..Self::default()
        };
        let terms = count(&mut input, 2)?;
        changes.terms.reserve_exact(terms);
        for _ in 0..terms {
            let (&section, rest) = input.split_first()?;
            input = rest;
            let length = usize::try_from(read_varint(&mut input)?).ok()?;
            let (key, rest) = input.split_at_checked(length)?;
            input = rest;
            changes.terms.push((*Section::ALL.get(usize::from(section))?, key.into()));
        }
        for quads in [&mut changes.inserts, &mut changes.deletes] {
            let length = count(&mut input, 2)?;
            quads.reserve_exact(length);
            decode_quads(&mut input, length, quads)?;
        }
        input.is_empty().then_some(changes)
    }
}

/// A number of things that take at least `bytes_min` bytes each, and so are no more than `input` has room for.
fn count(input: &mut &[u8], bytes_min: usize) -> Option<usize> {
    let count = usize::try_from(read_varint(input)?).ok()?;
    (count <= input.len() / bytes_min).then_some(count)
}

fn encode_quads(quads: &[[u64; 4]], out: &mut Vec<u8>) {
    let mut before = [0_u64; 4];
    for quad in quads {
        // Each difference is written whole, and the next one over the bytes it does not need.
        let mut bytes = [0; QUAD_BYTES_MAX];
        let (mut lengths, mut at) = (0_u16, 2);
        for column in 0..4 {
            let difference = zigzag(quad[column].wrapping_sub(before[column]) as i64);
            let length = (64 - difference.leading_zeros()).div_ceil(8);
            lengths |= (length as u16) << (4 * column);
            bytes[at..at + 8].copy_from_slice(&difference.to_le_bytes());
            at += length as usize;
        }
        bytes[..2].copy_from_slice(&lengths.to_le_bytes());
        out.extend_from_slice(&bytes[..at]);
        before = *quad;
    }
}

fn decode_quads(input: &mut &[u8], count: usize, quads: &mut Vec<[u64; 4]>) -> Option<()> {
    let mut quad = [0_u64; 4];
    for _ in 0..count {
        if let Some(bytes) = input.first_chunk::<QUAD_BYTES_MAX>() {
            let used = decode_quad(bytes, &mut quad)?;
            *input = input.get(used..)?;
        } else {
            let mut bytes = [0; QUAD_BYTES_MAX];
            bytes[..input.len()].copy_from_slice(input);
            let used = decode_quad(&bytes, &mut quad)?;
            // What it used of the zeros behind the input was not there.
            *input = input.get(used..)?;
        }
        quads.push(quad);
    }
    Some(())
}

/// Adds a quad's differences to the one before it; how many bytes they took.
#[inline]
fn decode_quad(bytes: &[u8; QUAD_BYTES_MAX], quad: &mut [u64; 4]) -> Option<usize> {
    let lengths = u16::from_le_bytes([bytes[0], bytes[1]]);
    let mut at = 2;
    for (column, id) in quad.iter_mut().enumerate() {
        let length = usize::from(lengths >> (4 * column)) & 15;
        if length > 8 {
            return None;
        }
        let mut word = [0; 8];
        word.copy_from_slice(bytes.get(at..at + 8)?);
        let kept = u64::MAX.checked_shr(64 - 8 * length as u32).unwrap_or(0);
        *id = id.wrapping_add(unzigzag(u64::from_le_bytes(word) & kept) as u64);
        at += length;
    }
    Some(at)
}

//! Few distinct values: a sorted table of them, and mini-blocks of indexes into it. For columns such as predicates
//! whose values are few but far apart.

use super::minis::{Minis, MinisEncoder};
use super::{Mini, TABLE};
use crate::bytes::Reader;
use crate::error::Damage;
use lode_base::bitpack::{pack_sequence, sequence_bytes, unpack_sequence, width_of};
use lode_base::checksum::fold;
use lode_base::varint::write_varint;

/// The most distinct values a table has.
pub(super) const TABLE_MAX: usize = 1024;
const SLOTS: usize = 4096;
const EMPTY: u16 = u16::MAX;

/// Gathers the distinct values of a column and numbers them in order.
#[derive(Debug)]
pub(crate) struct TableBuilder {
    /// Open addressing: index into `values`, or [`EMPTY`].
    slots: Vec<u16>,
    /// Distinct values as they came.
    values: Vec<u64>,
    /// Distinct values in order.
    sorted: Vec<u64>,
    /// Number in `sorted` of each of `values`.
    ranks: Vec<u16>,
}

impl Default for TableBuilder {
    fn default() -> Self {
        Self { slots: vec![EMPTY; SLOTS], values: Vec::new(), sorted: Vec::new(), ranks: Vec::new() }
    }
}

impl TableBuilder {
    /// The slot of `value`, or the free one where it would go. At most a quarter of the slots is in use, so there is one.
    fn slot(&self, value: u64) -> usize {
        let mut at = fold(value, 0x9E37_79B9_7F4A_7C15) as usize % SLOTS;
        loop {
            let index = self.slots[at];
            if index == EMPTY || self.values[usize::from(index)] == value {
                return at;
            }
            at = (at + 1) % SLOTS;
        }
    }

    /// Takes in a column; `false` where its distinct values are too many.
    pub(super) fn build(&mut self, values: &[u64]) -> bool {
        self.slots.fill(EMPTY);
        self.values.clear();
        for &value in values {
            let at = self.slot(value);
            if self.slots[at] == EMPTY {
                if self.values.len() == TABLE_MAX {
                    return false;
                }
                self.slots[at] = self.values.len() as u16;
                self.values.push(value);
            }
        }
        self.sorted.clear();
        self.sorted.extend_from_slice(&self.values);
        self.sorted.sort_unstable();
        let rank = |value| self.sorted.partition_point(|v| v < value) as u16;
        self.ranks.clear();
        self.ranks.extend(self.values.iter().map(rank));
        true
    }

    fn rank(&self, value: u64) -> u64 {
        let index = self.slots[self.slot(value)];
        self.ranks.get(usize::from(index)).map_or(0, |rank| u64::from(*rank))
    }
}

pub(super) fn encode(values: &[u64], table: &TableBuilder, minis: &mut MinisEncoder, out: &mut Vec<u8>) {
    let (Some(&least), Some(&most)) = (table.sorted.first(), table.sorted.last()) else { return };
    let width = width_of(most - least);
    out.push(TABLE);
    write_varint(out, table.sorted.len() as u64);
    out.extend_from_slice(&least.to_le_bytes());
    out.push(width as u8);
    let entries: Vec<u64> = table.sorted.iter().map(|v| v - least).collect();
    pack_sequence(&entries, width, out);
    let codes: Vec<u64> = values.iter().map(|v| table.rank(*v)).collect();
    minis.encode(&codes, out);
}

/// The table and the indexes.
#[derive(Debug)]
pub(crate) struct Table {
    values: Vec<u64>,
    minis: Minis,
}

impl Table {
    pub(super) fn parse(reader: &mut Reader<'_>, rows: usize) -> Result<Self, Damage> {
        let count = reader.count(TABLE_MAX)?;
        let base = reader.u64()?;
        let width = u32::from(reader.u8()?);
        if width > 64 {
            return Err(Damage("table entries are too wide"));
        }
        let packed = reader.take(sequence_bytes(count, width))?;
        let mut values = vec![0; count];
        unpack_sequence(packed, width, &mut values).ok_or(Damage("a table ends too early"))?;
        values.iter_mut().for_each(|v| *v = v.wrapping_add(base));
        Ok(Self { values, minis: Minis::parse(reader, rows)? })
    }

    fn value(&self, code: u64) -> Result<u64, Damage> {
        let entry = usize::try_from(code).ok().and_then(|code| self.values.get(code));
        entry.copied().ok_or(Damage("an index is outside its table"))
    }

    #[inline]
    pub(super) fn decode(&self, bytes: &[u8], mini: usize, out: &mut Mini) -> Result<(), Damage> {
        // A short mini-block decodes to its own rows only; codes of the rest of `out` mean nothing.
        *out = [0; _];
        self.minis.decode(bytes, mini, 0, out)?;
        for value in out {
            *value = self.value(*value)?;
        }
        Ok(())
    }

    #[inline]
    pub(super) fn first(&self, bytes: &[u8], mini: usize) -> Result<u64, Damage> {
        self.value(self.minis.first(bytes, mini)?)
    }
}

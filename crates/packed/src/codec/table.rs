//! Few distinct values: a sorted table of them, and mini-blocks of indexes (*codes*) into it. For columns such as
//! predicates whose values are few but far apart.

use super::minis::{self, Minis, MinisEncoder};
use super::tags::TABLE;
use super::{ColumnValues, Mini};
use crate::bytes::Reader;
use crate::error::Damage;
use lode_base::bitpack::{pack_sequence, sequence_bytes, unpack_sequence, width_of};
use lode_base::checksum::fold;
use lode_base::varint::write_varint;

/// The most distinct values a table has.
pub(super) const TABLE_MAX: usize = 1024;
const SLOTS: usize = 4096;
const EMPTY: u16 = u16::MAX;

/// Values that are at most this far apart are looked up in an array.
const SPAN_MAX: u64 = 8192;
/// Bits of the filter that counts distinct values of a sample.
const FILTER_BITS: usize = 1 << 14;
const SAMPLE_STEP: usize = 2;

/// Gathers the distinct values of a column and numbers them in order.
#[derive(Debug)]
pub(crate) struct TableBuilder {
    /// Open addressing: an index in `values`, or [`EMPTY`].
    slots: Vec<u16>,
    /// Distinct values as they came.
    values: Vec<u64>,
    /// Ids of the distinct values in order.
    sorted: Vec<u64>,
    /// The column as indexes into `sorted`.
    codes: Vec<u16>,
    /// For each of `values` the index of the one that came after it last: a guess that saves most look-ups, since
    /// values tend to come in the same sequences.
    next: Vec<u16>,
    /// The codes as numbers.
    numbers: Vec<u64>,
    /// By the distance of a value from the least: whether it occurs, then its code.
    ranks: Vec<u16>,
}

impl Default for TableBuilder {
    fn default() -> Self {
        Self {
            slots: vec![EMPTY; SLOTS],
            values: Vec::new(),
            sorted: Vec::new(),
            codes: Vec::new(),
            next: Vec::new(),
            numbers: Vec::new(),
            ranks: Vec::new(),
        }
    }
}

/// Whether a column surely has more distinct values than a table holds: those of every other row hit that many bits of a filter.
fn surely_too_many(values: &[u64]) -> bool {
    let mut filter = [0_u64; FILTER_BITS / 64];
    for value in values.iter().step_by(SAMPLE_STEP) {
        let bit = (value.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize % FILTER_BITS;
        filter[bit / 64] |= 1 << (bit % 64);
    }
    filter.iter().map(|word| word.count_ones() as usize).sum::<usize>() > TABLE_MAX
}

impl TableBuilder {
    /// Takes in a column; `false` where its distinct values are too many.
    pub(super) fn build(&mut self, column: &ColumnValues<'_>) -> bool {
        let (min, max) = column.bounds();
        if max - min < SPAN_MAX {
            return self.build_near(column, min, (max - min) as usize + 1);
        }
        if surely_too_many(column.values) || !self.gather(column.values) {
            return false;
        }
        self.sort(column);
        true
    }

    /// Values that are less than `span` apart need no hashing.
    fn build_near(&mut self, column: &ColumnValues<'_>, min: u64, span: usize) -> bool {
        self.ranks.clear();
        self.ranks.resize(span, 0);
        for value in column.values {
            self.ranks[(value - min) as usize] = 1;
        }
        self.sorted.clear();
        for (value, rank) in (min..).zip(&mut self.ranks).filter(|(_, occurs)| **occurs != 0) {
            *rank = self.sorted.len() as u16;
            self.sorted.push(column.id(value));
        }
        if self.sorted.len() > TABLE_MAX {
            return false;
        }
        self.codes.clear();
        self.codes.extend(column.values.iter().map(|value| self.ranks[(value - min) as usize]));
        true
    }

    fn gather(&mut self, values: &[u64]) -> bool {
        self.slots.fill(EMPTY);
        self.values.clear();
        self.codes.clear();
        self.next.clear();
        let mut before = 0;
        for &value in values {
            let guess = self.next.get(before).map_or(EMPTY, |guess| *guess);
            if self.values.get(usize::from(guess)) == Some(&value) {
                before = usize::from(guess);
            } else {
                let Some(index) = self.index(value) else { return false };
                if let Some(next) = self.next.get_mut(before) {
                    *next = index;
                }
                before = usize::from(index);
            }
            self.codes.push(before as u16);
        }
        true
    }

    /// The index of `value` in `values`, where it is put if it is new; `None` where they are too many.
    fn index(&mut self, value: u64) -> Option<u16> {
        let mut at = fold(value, 0x9E37_79B9_7F4A_7C15) as usize % SLOTS;
        // At most a quarter of the slots is in use, so this ends.
        loop {
            let index = self.slots[at];
            match self.values.get(usize::from(index)) {
                Some(found) if *found == value => return Some(index),
                Some(_) => at = (at + 1) % SLOTS,
                None => break,
            }
        }
        if self.values.len() == TABLE_MAX {
            return None;
        }
        self.slots[at] = self.values.len() as u16;
        self.values.push(value);
        self.next.push(EMPTY);
        Some(self.slots[at])
    }

    /// Numbers the values in order.
    fn sort(&mut self, column: &ColumnValues<'_>) {
        self.sorted.clear();
        self.sorted.extend_from_slice(&self.values);
        self.sorted.sort_unstable();
        let rank = |value| self.sorted.partition_point(|v| v < value) as u16;
        let ranks: Vec<u16> = self.values.iter().map(rank).collect();
        for code in &mut self.codes {
            *code = ranks[usize::from(*code)];
        }
        self.sorted.iter_mut().for_each(|value| *value = column.id(*value));
    }

    /// The codes of the column.
    pub(super) fn codes(&self) -> &[u16] {
        &self.codes
    }

    /// How many codes there are.
    pub(super) fn len(&self) -> usize {
        self.sorted.len()
    }

    /// Appends the table.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let (Some(&least), Some(&most)) = (self.sorted.first(), self.sorted.last()) else { return };
        let width = width_of(most - least);
        write_varint(out, self.sorted.len() as u64);
        out.extend_from_slice(&least.to_le_bytes());
        out.push(width as u8);
        let entries: Vec<u64> = self.sorted.iter().map(|v| v - least).collect();
        pack_sequence(&entries, width, out);
    }

    fn numbers(&mut self) -> &[u64] {
        self.numbers.clear();
        self.numbers.extend(self.codes.iter().map(|code| u64::from(*code)));
        &self.numbers
    }

    /// About how many bytes [`encode`] appends.
    pub(super) fn bytes_with_minis(&mut self) -> usize {
        self.bytes() + minis::estimate(self.numbers())
    }

    /// How many bytes [`TableBuilder::encode`] appends at most.
    pub(super) fn bytes(&self) -> usize {
        let span = self.sorted.last().unwrap_or(&0) - self.sorted.first().unwrap_or(&0);
        12 + sequence_bytes(self.sorted.len(), width_of(span))
    }
}

pub(super) fn encode(table: &mut TableBuilder, minis: &mut MinisEncoder, out: &mut Vec<u8>) {
    out.push(TABLE);
    table.encode(out);
    minis.encode(table.numbers(), out);
}

/// The values of a table.
#[derive(Debug)]
pub(super) struct Values(Vec<u64>);

impl Values {
    pub(super) fn parse(reader: &mut Reader<'_>) -> Result<Self, Damage> {
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
        Ok(Self(values))
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.0.capacity() * 8
    }

    #[inline]
    pub(super) fn get(&self, code: u64) -> Result<u64, Damage> {
        let entry = usize::try_from(code).ok().and_then(|code| self.0.get(code));
        entry.copied().ok_or(Damage("an index is outside its table"))
    }

    /// Replaces codes by values.
    #[inline]
    pub(super) fn look_up(&self, codes: &mut [u64]) -> Result<(), Damage> {
        for code in codes {
            *code = self.get(*code)?;
        }
        Ok(())
    }
}

/// The table and the indexes.
#[derive(Debug)]
pub(crate) struct Table {
    values: Values,
    minis: Minis,
}

impl Table {
    pub(super) fn parse(reader: &mut Reader<'_>, rows: usize) -> Result<Self, Damage> {
        Ok(Self { values: Values::parse(reader)?, minis: Minis::parse(reader, rows)? })
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.values.memory_bytes()
    }

    #[inline]
    pub(super) fn decode(&self, bytes: &[u8], mini: usize, out: &mut Mini) -> Result<(), Damage> {
        self.codes(bytes, mini, out)?;
        self.values.look_up(out.get_mut(..self.minis.rows(mini)).unwrap_or_default())
    }

    /// The codes of a mini-block instead of the values.
    #[inline]
    pub(super) fn codes(&self, bytes: &[u8], mini: usize, out: &mut Mini) -> Result<(), Damage> {
        self.minis.decode(bytes, mini, 0, out)
    }

    #[inline]
    pub(super) fn first(&self, bytes: &[u8], mini: usize) -> Result<u64, Damage> {
        self.values.get(self.first_code(bytes, mini)?)
    }

    #[inline]
    pub(super) fn first_code(&self, bytes: &[u8], mini: usize) -> Result<u64, Damage> {
        self.minis.first(bytes, mini)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn near_values_are_numbered_like_any(
            base in 0_u64..1 << 60, span in 1_u64..SPAN_MAX, steps in proptest::collection::vec(any::<u64>(), 1..3000),
        ) {
            let values: Vec<u64> = steps.iter().map(|step| base + step % span).collect();
            let column = ColumnValues::of(&values);
            let (mut near, mut any) = (TableBuilder::default(), TableBuilder::default());
            let few = any.gather(column.values);
            prop_assert_eq!(near.build(&column), few);
            prop_assert!(!few || !surely_too_many(&values));
            if few {
                any.sort(&column);
                prop_assert_eq!(near.codes(), any.codes());
                prop_assert_eq!(near.sorted, any.sorted);
            }
        }
    }
}

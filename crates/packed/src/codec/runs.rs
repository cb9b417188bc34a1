//! Few long runs: packed values and packed ends of runs.

use super::tags::RUNS;
use super::{ColumnStats, ColumnValues, Mini};
use crate::bytes::Reader;
use crate::error::Damage;
use crate::format::{BLOCK_ROWS, MINI_ROWS};
use lode_base::bitpack::{pack_sequence, read_bits, sequence_bytes, width_of};
use lode_base::varint::write_varint;

/// Ends are kept less one.
const END_BITS: u32 = width_of(BLOCK_ROWS as u64 - 1);

/// Where the pieces are.
#[derive(Debug)]
pub(crate) struct Runs {
    rows: usize,
    count: usize,
    base: u64,
    width: u32,
    values_at: usize,
    ends_at: usize,
}

/// An upper bound of the encoded size.
pub(super) fn bytes(stats: &ColumnStats) -> usize {
    13 + sequence_bytes(stats.runs, width_of(stats.max - stats.min)) + sequence_bytes(stats.runs, END_BITS)
}

pub(super) fn encode(column: &ColumnValues<'_>, out: &mut Vec<u8>) {
    let stats = &column.stats;
    let (mut heads, mut ends, mut end) = (Vec::new(), Vec::new(), 0);
    for run in column.values.chunk_by(|a, b| a == b) {
        heads.push(column.id(run[0]) - stats.min);
        end += run.len() as u64;
        ends.push(end - 1);
    }
    let width = width_of(stats.max - stats.min);
    out.push(RUNS);
    write_varint(out, heads.len() as u64);
    out.extend_from_slice(&stats.min.to_le_bytes());
    out.push(width as u8);
    pack_sequence(&heads, width, out);
    pack_sequence(&ends, END_BITS, out);
}

impl Runs {
    pub(super) fn parse(reader: &mut Reader<'_>, rows: usize) -> Result<Self, Damage> {
        let count = reader.count(rows)?;
        let base = reader.u64()?;
        let width = u32::from(reader.u8()?);
        if count == 0 || width > 64 {
            return Err(Damage("runs without a value, or too wide"));
        }
        let values_at = reader.position();
        reader.take(sequence_bytes(count, width))?;
        let ends_at = reader.position();
        reader.take(sequence_bytes(count, END_BITS))?;
        Ok(Self { rows, count, base, width, values_at, ends_at })
    }

    fn value(&self, bytes: &[u8], run: usize) -> u64 {
        let values = bytes.get(self.values_at..).unwrap_or(&[]);
        self.base.wrapping_add(read_bits(values, run * self.width as usize, self.width))
    }

    fn end(&self, bytes: &[u8], run: usize) -> usize {
        let ends = bytes.get(self.ends_at..).unwrap_or(&[]);
        read_bits(ends, run * END_BITS as usize, END_BITS) as usize + 1
    }

    /// The run that holds `row`.
    fn run_of(&self, bytes: &[u8], row: usize) -> usize {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.end(bytes, middle) <= row {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    pub(super) fn first(&self, bytes: &[u8], mini: usize) -> Result<u64, Damage> {
        let run = self.run_of(bytes, mini * MINI_ROWS);
        if run >= self.count {
            return Err(Damage("a row is in no run"));
        }
        Ok(self.value(bytes, run))
    }

    pub(super) fn decode(&self, bytes: &[u8], mini: usize, out: &mut Mini) -> Result<(), Damage> {
        let start = mini * MINI_ROWS;
        let count = self.rows.saturating_sub(start).min(MINI_ROWS);
        let mut run = self.run_of(bytes, start);
        let mut done = 0;
        while done < count {
            if run >= self.count {
                return Err(Damage("a row is in no run"));
            }
            let end = self.end(bytes, run).saturating_sub(start).clamp(done, count);
            let value = self.value(bytes, run);
            out.get_mut(done..end).unwrap_or_default().fill(value);
            done = end;
            run += 1;
        }
        Ok(())
    }
}

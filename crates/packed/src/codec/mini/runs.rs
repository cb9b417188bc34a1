//! Repeated values: the value of each run once, and where runs end as packed lengths or as one bit per row.
//!
//! The first run's length is kept apart and the last one's not at all, because mini-blocks cut runs at both ends and
//! would otherwise spoil the width of lengths that are equal in between.

use super::kind::{Kind, Lengths, Values};
use super::packing::Mini;
use super::stats::MiniStats;
use crate::bytes::Reader;
use crate::error::Damage;
use crate::format::MINI_ROWS;
use lode_base::bitpack::{pack_sequence, read_bits, sequence_bytes, unpack_sequence, width_of};

/// A bit for each row, set where a run starts.
fn starts(values: &[u64]) -> u128 {
    let mut starts = 0;
    let mut before = None;
    for (word, values) in values.chunks(64).enumerate() {
        let mut bits = 0_u64;
        let mut last = before.unwrap_or_else(|| !values[0]);
        for (row, value) in values.iter().enumerate() {
            bits |= u64::from(*value != last) << row;
            last = *value;
        }
        before = Some(last);
        starts |= u128::from(bits) << (64 * word);
    }
    starts
}

/// The runs of a mini-block.
struct RunList {
    starts: u128,
    values: Mini,
    lengths: [u64; MINI_ROWS],
    count: usize,
}

impl RunList {
    fn of(values: &[u64]) -> Self {
        let starts = starts(values);
        let mut list = Self { starts, values: [0; _], lengths: [0; _], count: 0 };
        let mut rest = starts;
        while rest != 0 {
            let row = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let end = if rest == 0 { values.len() } else { rest.trailing_zeros() as usize };
            list.values[list.count] = values[row];
            list.lengths[list.count] = (end - row) as u64;
            list.count += 1;
        }
        list
    }

    /// Lengths of all runs but the first and the last.
    fn inner(&self) -> &[u64] {
        self.lengths.get(1..self.count - 1).unwrap_or(&[])
    }
}

/// The least length of the runs but the first and the last, and the width of the differences to it.
fn inner_lengths(values: &[u64]) -> (u64, u32) {
    let (mut least, mut most) = (u32::MAX, 0);
    // The first row starts a run, but not one in between.
    let mut rest = starts(values) & !1;
    let mut start = rest.trailing_zeros();
    rest &= rest.wrapping_sub(1);
    while rest != 0 {
        let end = rest.trailing_zeros();
        least = least.min(end - start);
        most = most.max(end - start);
        start = end;
        rest &= rest - 1;
    }
    if least > most { (1, 0) } else { (u64::from(least), width_of(u64::from(most - least))) }
}

fn values_bytes(runs: usize, kind: Values, width: u32) -> usize {
    1 + match kind {
        Values::Frame => sequence_bytes(runs, width),
        Values::Delta => sequence_bytes(runs.saturating_sub(1), width),
    }
}

const PACKED_HEAD: usize = 4;

fn lengths_bytes(rows: usize, runs: usize, kind: Lengths, width: u32) -> usize {
    match kind {
        Lengths::Packed => PACKED_HEAD + sequence_bytes(runs.saturating_sub(2), width),
        Lengths::Bits => rows.div_ceil(8),
    }
}

fn value_width(stats: &MiniStats, kind: Values) -> u32 {
    match kind {
        Values::Frame => width_of(stats.max - stats.min),
        Values::Delta => width_of(stats.delta_max.saturating_sub(1)),
    }
}

pub(super) fn plan(values: &[u64], stats: &MiniStats) -> Option<(usize, Kind)> {
    if stats.runs * 4 > values.len() * 3 {
        return None;
    }
    let kind = if stats.ascending { Values::Delta } else { Values::Frame };
    let value_bytes = values_bytes(stats.runs, kind, value_width(stats, kind));
    let bits = lengths_bytes(values.len(), stats.runs, Lengths::Bits, 0);
    let mut best = (value_bytes + bits, Lengths::Bits);
    if lengths_bytes(values.len(), stats.runs, Lengths::Packed, 0) < bits {
        let (_, width) = inner_lengths(values);
        let packed = lengths_bytes(values.len(), stats.runs, Lengths::Packed, width);
        if packed < bits {
            best = (value_bytes + packed, Lengths::Packed);
        }
    }
    Some((best.0, Kind::Runs { lengths: best.1, values: kind }))
}

/// Appends the payload and returns the base.
pub(super) fn encode(
    values: &[u64],
    stats: &MiniStats,
    lengths: Lengths,
    kind: Values,
    out: &mut Vec<u8>,
) -> u64 {
    let mut list = RunList::of(values);
    match lengths {
        Lengths::Packed => {
            let (least, width) = inner_lengths(values);
            out.extend_from_slice(&[list.count as u8, list.lengths[0] as u8, least as u8, width as u8]);
            let mut inner: Mini = [0; _];
            for (slot, length) in inner.iter_mut().zip(list.inner()) {
                *slot = length - least;
            }
            pack_sequence(&inner[..list.inner().len()], width, out);
        }
        Lengths::Bits => {
            out.extend_from_slice(&list.starts.to_le_bytes()[..values.len().div_ceil(8)]);
        }
    }
    let width = value_width(stats, kind);
    out.push(width as u8);
    let runs = list.count;
    match kind {
        Values::Frame => {
            list.values.iter_mut().for_each(|v| *v = v.wrapping_sub(stats.min));
            pack_sequence(&list.values[..runs], width, out);
            stats.min
        }
        Values::Delta => {
            for i in (1..runs).rev() {
                list.values[i] = list.values[i] - list.values[i - 1] - 1;
            }
            pack_sequence(&list.values[1..runs], width, out);
            stats.first
        }
    }
}

/// A payload taken apart: where its pieces begin. Bits are read in words, so a piece is all bytes from its start on.
struct Parts<'a> {
    runs: usize,
    /// First length, least length, width of the packed lengths.
    packed: [u8; 3],
    lengths: &'a [u8],
    width: u32,
    values: &'a [u8],
    bytes: usize,
}

fn parts<'a>(bytes: &'a [u8], count: usize, lengths: Lengths, kind: Values) -> Result<Parts<'a>, Damage> {
    let mut reader = Reader::new(bytes);
    let (runs, packed, lengths) = match lengths {
        Lengths::Packed => {
            let runs = usize::from(reader.u8()?);
            let packed = [reader.u8()?, reader.u8()?, reader.u8()?];
            if packed[2] > 8 {
                return Err(Damage("run lengths are too wide"));
            }
            let rest = reader.rest();
            reader.take(sequence_bytes(runs.saturating_sub(2), packed[2].into()))?;
            (runs, packed, rest)
        }
        Lengths::Bits => {
            let bits = reader.take(count.div_ceil(8))?;
            (bits.iter().map(|b| b.count_ones() as usize).sum(), [0; 3], bits)
        }
    };
    if runs == 0 || runs > count {
        return Err(Damage("a mini-block has too many or too few runs"));
    }
    let width = u32::from(reader.u8()?);
    if width > 64 {
        return Err(Damage("run values are too wide"));
    }
    let values = reader.rest();
    reader.take(values_bytes(runs, kind, width) - 1)?;
    Ok(Parts { runs, packed, lengths, width, values, bytes: reader.position() })
}

pub(super) fn payload_bytes(
    bytes: &[u8],
    count: usize,
    lengths: Lengths,
    kind: Values,
) -> Result<usize, Damage> {
    Ok(parts(bytes, count, lengths, kind)?.bytes)
}

pub(super) fn first(
    bytes: &[u8],
    base: u64,
    count: usize,
    lengths: Lengths,
    kind: Values,
) -> Result<u64, Damage> {
    if kind == Values::Delta {
        return Ok(base);
    }
    let parts = parts(bytes, count, lengths, kind)?;
    Ok(base.wrapping_add(read_bits(parts.values, 0, parts.width)))
}

fn run_values(parts: &Parts<'_>, base: u64, kind: Values, out: &mut Mini) -> Result<(), Damage> {
    let skip = usize::from(kind == Values::Delta);
    let packed = out.get_mut(skip..parts.runs).ok_or(Damage("too many runs"))?;
    unpack_sequence(parts.values, parts.width, packed).ok_or(Damage("run values end too early"))?;
    match kind {
        Values::Frame => packed.iter_mut().for_each(|v| *v = v.wrapping_add(base)),
        Values::Delta => {
            let mut value = base;
            for slot in packed {
                value = value.wrapping_add(*slot).wrapping_add(1);
                *slot = value;
            }
            out[0] = base;
        }
    }
    Ok(())
}

pub(super) fn decode(
    bytes: &[u8],
    base: u64,
    count: usize,
    lengths: Lengths,
    kind: Values,
    out: &mut Mini,
) -> Result<(), Damage> {
    let parts = parts(bytes, count, lengths, kind)?;
    let mut values: Mini = [0; _];
    run_values(&parts, base, kind, &mut values)?;
    match lengths {
        Lengths::Packed => fill_packed(&parts, &values, count, out),
        Lengths::Bits => fill_bits(&parts, &values, count, out),
    }
}

/// Stores of this many values at once beat exact ones for the short runs that are usual.
const FILL_ROWS: usize = 8;

/// Fills `out[start..end]`, and may write past `end`.
#[inline]
fn fill(out: &mut Mini, mut start: usize, end: usize, value: u64) {
    while start < end {
        match out.get_mut(start..start + FILL_ROWS) {
            Some(slots) => slots.fill(value),
            None => out.get_mut(start..).unwrap_or_default().fill(value),
        }
        start += FILL_ROWS;
    }
}

fn fill_packed(parts: &Parts<'_>, values: &Mini, count: usize, out: &mut Mini) -> Result<(), Damage> {
    let [first, least, width] = parts.packed.map(usize::from);
    let mut start = 0;
    for (i, value) in values.iter().enumerate().take(parts.runs) {
        let end = if i + 1 == parts.runs {
            count
        } else if i == 0 {
            first
        } else {
            start + least + read_bits(parts.lengths, (i - 1) * width, width as u32) as usize
        };
        if end > count {
            return Err(Damage("runs are longer than their mini-block"));
        }
        fill(out, start, end, *value);
        start = end;
    }
    Ok(())
}

fn fill_bits(parts: &Parts<'_>, values: &Mini, count: usize, out: &mut Mini) -> Result<(), Damage> {
    let mut next = 0_usize;
    for (slots, byte) in out.chunks_mut(8).zip(parts.lengths) {
        for (i, slot) in slots.iter_mut().enumerate() {
            next += usize::from((byte >> i) & 1);
            *slot = values[next.wrapping_sub(1) % MINI_ROWS];
        }
    }
    let starts = parts.lengths.first().is_some_and(|b| b & 1 == 1);
    if !starts || count == 0 {
        return Err(Damage("the first row starts no run"));
    }
    Ok(())
}

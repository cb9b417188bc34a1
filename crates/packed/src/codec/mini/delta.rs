//! Differences of neighbours: for ascending values. The first is the base; what all differences have in common (the
//! step) is taken off, the rest packed in one width.

use super::kind::{DELTA_WIDTH_MAX, Kind, Step};
use super::packing::{Mini, pack, packed_bytes, unpack};
use super::stats::MiniStats;
use crate::bytes::Reader;
use crate::error::Damage;
use lode_base::bitpack::width_of;
use lode_base::varint::{varint_bytes, write_varint};

pub(super) fn plan(count: usize, stats: &MiniStats) -> Option<(usize, Kind)> {
    if stats.delta_max < stats.delta_min {
        return None;
    }
    let width = width_of(stats.delta_max - stats.delta_min);
    let (step, prefix) = match stats.delta_min {
        0 => (Step::Zero, 0),
        1 => (Step::One, 0),
        other => (Step::Stored, varint_bytes(other)),
    };
    (width <= DELTA_WIDTH_MAX).then(|| (prefix + packed_bytes(count, width), Kind::Delta { step, width }))
}

pub(super) fn encode(values: &[u64], step: Step, delta_min: u64, width: u32, out: &mut Vec<u8>) {
    if step == Step::Stored {
        write_varint(out, delta_min);
    }
    let mut deltas: Mini = [0; _];
    let pairs = values.iter().zip(values.get(1..).unwrap_or_default());
    for (delta, (before, value)) in deltas[1..].iter_mut().zip(pairs) {
        *delta = value - before - delta_min;
    }
    pack(&deltas[..values.len()], width, out);
}

fn split(bytes: &[u8], step: Step) -> Result<(u64, usize), Damage> {
    Ok(match step {
        Step::Zero => (0, 0),
        Step::One => (1, 0),
        Step::Stored => {
            let mut reader = Reader::new(bytes);
            (reader.varint()?, reader.position())
        }
    })
}

pub(super) fn payload_bytes(bytes: &[u8], count: usize, step: Step, width: u32) -> Result<usize, Damage> {
    Ok(split(bytes, step)?.1 + packed_bytes(count, width))
}

#[inline]
pub(super) fn decode(
    bytes: &[u8],
    base: u64,
    count: usize,
    step: Step,
    width: u32,
    out: &mut Mini,
) -> Result<(), Damage> {
    let (step, prefix) = split(bytes, step)?;
    unpack(bytes.get(prefix..).unwrap_or(&[]), count, width, out)?;
    // The packed difference of the first value is 0, so its step is taken off beforehand.
    let mut value = base.wrapping_sub(step);
    // Rows past the last are left alone: going on would make values of which nobody knows whether they exist.
    for slot in out.get_mut(..count).unwrap_or_default() {
        value = value.wrapping_add(*slot).wrapping_add(step);
        *slot = value;
    }
    Ok(())
}

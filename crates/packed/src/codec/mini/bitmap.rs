//! Dense, strictly ascending values: one bit for every number between the first value and the last.

use super::kind::Kind;
use super::packing::Mini;
use super::stats::MiniStats;
use crate::bytes::Reader;
use crate::error::Damage;
use lode_base::varint::{varint_bytes, write_varint};

/// Longer spans are cheaper as differences.
const SPAN_MAX: u64 = 2048;

pub(super) fn plan(stats: &MiniStats) -> Option<(usize, Kind)> {
    let span = stats.last - stats.first;
    let strict = stats.delta_min > 0 && stats.delta_max > 0;
    (strict && span <= SPAN_MAX).then(|| (varint_bytes(span) + span.div_ceil(8) as usize, Kind::Bitmap))
}

/// Bit `k` stands for `first + 1 + k`.
pub(super) fn encode(values: &[u64], out: &mut Vec<u8>) {
    let (Some(&first), Some(&last)) = (values.first(), values.last()) else { return };
    write_varint(out, last - first);
    let start = out.len();
    out.resize(start + (last - first).div_ceil(8) as usize, 0);
    let bits = &mut out[start..];
    for value in values.iter().skip(1) {
        let bit = (value - first - 1) as usize;
        bits[bit / 8] |= 1 << (bit % 8);
    }
}

fn split(bytes: &[u8]) -> Result<(usize, usize), Damage> {
    let mut reader = Reader::new(bytes);
    let span = reader.count(SPAN_MAX as usize)?;
    Ok((reader.position(), span.div_ceil(8)))
}

pub(super) fn payload_bytes(bytes: &[u8]) -> Result<usize, Damage> {
    let (prefix, length) = split(bytes)?;
    Ok(prefix + length)
}

#[inline]
pub(super) fn decode(bytes: &[u8], base: u64, count: usize, out: &mut Mini) -> Result<(), Damage> {
    let (prefix, length) = split(bytes)?;
    let bits = bytes.get(prefix..prefix + length).ok_or(Damage("a bitmap ends too early"))?;
    out[0] = base;
    let mut slots = out.iter_mut().take(count).skip(1);
    for (i, chunk) in bits.chunks(8).enumerate() {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        let mut word = u64::from_le_bytes(word);
        let start = base.wrapping_add(1 + 64 * i as u64);
        while word != 0 {
            let Some(slot) = slots.next() else { return Err(Damage("a bitmap has too many bits")) };
            *slot = start.wrapping_add(u64::from(word.trailing_zeros()));
            word &= word - 1;
        }
    }
    if slots.next().is_some() {
        return Err(Damage("a bitmap has too few bits"));
    }
    Ok(())
}

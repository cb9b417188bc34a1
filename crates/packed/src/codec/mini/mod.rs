//! Mini-blocks: 128 numbers (fewer in the last one), encoded in the way that is smallest for just them.
//!
//! A mini-block is a *tag* byte, a *base* (kept in a table of bases beside it) and a payload whose length follows from
//! the tag and the payload's own first bytes.

mod bitmap;
mod delta;
mod frame;
mod runs;
mod stats;

use crate::error::Damage;
use crate::format::MINI_ROWS;
use lode_base::bitpack;
use stats::MiniStats;

/// The values of one mini-block.
pub(crate) type Mini = [u64; MINI_ROWS];

/// Tags. Widths are added to the first three.
const FRAME: u8 = 0;
const DELTA: u8 = 65;
const BITMAP: u8 = 164;
const RUNS: u8 = 165;

/// Deltas are at most this wide; wider ones gain nothing over a frame.
const DELTA_WIDTH_MAX: u32 = 32;
const DELTA_TAGS: u8 = DELTA_WIDTH_MAX as u8 + 1;

/// The kinds of mini-block, as the tag names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `base + packed`.
    Frame { width: u32 },
    /// `base`, then each the one before plus a step plus a packed number.
    Delta { step: delta::Step, width: u32 },
    /// Strictly ascending: a bit per number of the span after `base`.
    Bitmap,
    /// Each value repeated.
    Runs { lengths: runs::Lengths, values: runs::Values },
}

impl Kind {
    fn tag(self) -> u8 {
        match self {
            Self::Frame { width } => FRAME + width as u8,
            Self::Delta { step, width } => DELTA + step as u8 * DELTA_TAGS + width as u8,
            Self::Bitmap => BITMAP,
            Self::Runs { lengths, values } => RUNS + 2 * lengths as u8 + values as u8,
        }
    }

    fn from_tag(tag: u8) -> Option<Self> {
        Some(match tag {
            0..DELTA => Self::Frame { width: u32::from(tag) },
            DELTA..=163 => {
                let step = match (tag - DELTA) / DELTA_TAGS {
                    0 => delta::Step::Zero,
                    1 => delta::Step::One,
                    _ => delta::Step::Stored,
                };
                Self::Delta { step, width: u32::from((tag - DELTA) % DELTA_TAGS) }
            }
            BITMAP => Self::Bitmap,
            165 => Self::Runs { lengths: runs::Lengths::Packed, values: runs::Values::Frame },
            166 => Self::Runs { lengths: runs::Lengths::Packed, values: runs::Values::Delta },
            167 => Self::Runs { lengths: runs::Lengths::Bits, values: runs::Values::Frame },
            168 => Self::Runs { lengths: runs::Lengths::Bits, values: runs::Values::Delta },
            _ => return None,
        })
    }
}

/// Packs numbers: a full group in lanes, a shorter tail as a plain sequence.
fn pack(values: &[u64], width: u32, out: &mut Vec<u8>) {
    match <&Mini>::try_from(values) {
        Ok(group) => bitpack::pack_group(group, width, out),
        Err(_) => bitpack::pack_sequence(values, width, out),
    }
}

const fn packed_bytes(count: usize, width: u32) -> usize {
    bitpack::sequence_bytes(count, width)
}

#[inline]
fn unpack(bytes: &[u8], count: usize, width: u32, out: &mut Mini) -> Result<(), Damage> {
    let done = match out.get_mut(..count) {
        Some(_) if count == MINI_ROWS => bitpack::unpack_group(bytes, width, out),
        Some(tail) => bitpack::unpack_sequence(bytes, width, tail),
        None => None,
    };
    done.ok_or(Damage("a mini-block ends too early"))
}

#[inline]
fn packed_value(bytes: &[u8], count: usize, width: u32, index: usize) -> u64 {
    if count == MINI_ROWS {
        bitpack::group_value(bytes, width, index)
    } else {
        bitpack::read_bits(bytes, index * width as usize, width)
    }
}

/// A mini-block's tag and base; the payload went to the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MiniHead {
    pub tag: u8,
    pub base: u64,
}

/// Appends the payload of 1 to 128 values in the smallest encoding.
pub(crate) fn encode(values: &[u64], out: &mut Vec<u8>) -> MiniHead {
    let stats = MiniStats::of(values);
    let (_, kind) = choose(values, &stats);
    let base = match kind {
        Kind::Frame { width } => {
            frame::encode(values, stats.min, width, out);
            stats.min
        }
        Kind::Delta { step, width } => {
            delta::encode(values, step, stats.delta_min, width, out);
            stats.first
        }
        Kind::Bitmap => {
            bitmap::encode(values, out);
            stats.first
        }
        Kind::Runs { lengths, values: kind } => runs::encode(values, &stats, lengths, kind, out),
    };
    MiniHead { tag: kind.tag(), base }
}

/// Length of the payload that [`encode`] appends.
pub(crate) fn payload_estimate(values: &[u64]) -> usize {
    choose(values, &MiniStats::of(values)).0
}

/// The smallest kind, and its payload's length.
fn choose(values: &[u64], stats: &MiniStats) -> (usize, Kind) {
    let width = bitpack::width_of(stats.max - stats.min);
    let mut best = (packed_bytes(values.len(), width), Kind::Frame { width });
    if width == 0 {
        return best;
    }
    let mut offer = |candidate: Option<(usize, Kind)>| {
        if let Some(candidate) = candidate
            && candidate.0 < best.0
        {
            best = candidate;
        }
    };
    if stats.ascending {
        offer(delta::plan(values.len(), stats));
        offer(bitmap::plan(stats));
    }
    offer(runs::plan(values, stats));
    best
}

/// Length of the payload at the front of `bytes`.
pub(crate) fn payload_bytes(tag: u8, bytes: &[u8], count: usize) -> Result<usize, Damage> {
    let kind = Kind::from_tag(tag).ok_or(Damage("unknown kind of mini-block"))?;
    match kind {
        Kind::Frame { width } => Ok(packed_bytes(count, width)),
        Kind::Delta { step, width } => delta::payload_bytes(bytes, count, step, width),
        Kind::Bitmap => bitmap::payload_bytes(bytes),
        Kind::Runs { lengths, values } => runs::payload_bytes(bytes, count, lengths, values),
    }
}

/// Decodes `count` values into the front of `out`.
#[inline]
pub(crate) fn decode(head: MiniHead, bytes: &[u8], count: usize, out: &mut Mini) -> Result<(), Damage> {
    let kind = Kind::from_tag(head.tag).ok_or(Damage("unknown kind of mini-block"))?;
    match kind {
        Kind::Frame { width } => frame::decode(bytes, head.base, count, width, out),
        Kind::Delta { step, width } => delta::decode(bytes, head.base, count, step, width, out),
        Kind::Bitmap => bitmap::decode(bytes, head.base, count, out),
        Kind::Runs { lengths, values } => runs::decode(bytes, head.base, count, lengths, values, out),
    }
}

/// The first value alone.
#[inline]
pub(crate) fn first(head: MiniHead, bytes: &[u8], count: usize) -> Result<u64, Damage> {
    let kind = Kind::from_tag(head.tag).ok_or(Damage("unknown kind of mini-block"))?;
    Ok(match kind {
        Kind::Frame { width } => head.base.wrapping_add(packed_value(bytes, count, width, 0)),
        Kind::Delta { .. } | Kind::Bitmap => head.base,
        Kind::Runs { lengths, values } => runs::first(bytes, head.base, count, lengths, values)?,
    })
}

#[cfg(test)]
mod tests;

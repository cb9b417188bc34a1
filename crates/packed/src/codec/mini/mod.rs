//! Mini-blocks: 128 numbers (fewer in the last one), encoded in the way that is smallest for just them.
//!
//! A mini-block is a *tag* byte, a *base* (kept in a table of bases beside it) and a payload whose length follows from
//! the tag and the payload's own first bytes.

mod bitmap;
mod delta;
mod frame;
mod kind;
mod packing;
mod runs;
mod stats;

use crate::error::Damage;
use kind::Kind;
use lode_base::bitpack;
pub(crate) use packing::Mini;
use packing::{packed_bytes, packed_value};
use stats::MiniStats;

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

//! Frame of reference: the least value as base, the differences to it packed in one width.

use super::packing::{Mini, pack, unpack};
use crate::error::Damage;

pub(super) fn encode(values: &[u64], base: u64, width: u32, out: &mut Vec<u8>) {
    let mut offsets: Mini = [0; _];
    for (offset, value) in offsets.iter_mut().zip(values) {
        *offset = value - base;
    }
    pack(&offsets[..values.len()], width, out);
}

#[inline]
pub(super) fn decode(
    bytes: &[u8],
    base: u64,
    count: usize,
    width: u32,
    out: &mut Mini,
) -> Result<(), Damage> {
    if width == 0 {
        *out = [base; _];
        return Ok(());
    }
    unpack(bytes, count, width, out)?;
    for value in out.iter_mut() {
        *value = value.wrapping_add(base);
    }
    Ok(())
}

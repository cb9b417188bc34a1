//! The numbers of a mini-block in one width: what several kinds of them are made of.

use crate::error::Damage;
use crate::format::MINI_ROWS;
use lode_base::bitpack;

/// The values of one mini-block.
pub(crate) type Mini = [u64; MINI_ROWS];

/// Packs numbers: a full group in lanes, a shorter tail as a plain sequence.
pub(super) fn pack(values: &[u64], width: u32, out: &mut Vec<u8>) {
    match <&Mini>::try_from(values) {
        Ok(group) => bitpack::pack_group(group, width, out),
        Err(_) => bitpack::pack_sequence(values, width, out),
    }
}

pub(super) const fn packed_bytes(count: usize, width: u32) -> usize {
    bitpack::sequence_bytes(count, width)
}

#[inline]
pub(super) fn unpack(bytes: &[u8], count: usize, width: u32, out: &mut Mini) -> Result<(), Damage> {
    let done = match out.get_mut(..count) {
        Some(_) if count == MINI_ROWS => bitpack::unpack_group(bytes, width, out),
        Some(tail) => bitpack::unpack_sequence(bytes, width, tail),
        None => None,
    };
    done.ok_or(Damage("a mini-block ends too early"))
}

#[inline]
pub(super) fn packed_value(bytes: &[u8], count: usize, width: u32, index: usize) -> u64 {
    if count == MINI_ROWS {
        bitpack::group_value(bytes, width, index)
    } else {
        bitpack::read_bits(bytes, index * width as usize, width)
    }
}

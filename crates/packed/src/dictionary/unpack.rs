//! Decompression of blocks.

use super::block::Division;
use super::page::BlockEntry;
use super::symbols::SymbolTable;
use crate::error::Damage;

/// Replaces `raw` by the block before compression. `packed` is as long as `entry` says, and its checksum is right.
pub(super) fn unpack(
    packed: &[u8],
    entry: BlockEntry,
    table: &SymbolTable,
    raw: &mut Vec<u8>,
) -> Result<(), Damage> {
    let raw_bytes = entry.raw_bytes as usize;
    if packed.len() == raw_bytes {
        // Not worth compressing.
        raw.clear();
        raw.extend_from_slice(packed);
        return Ok(());
    }
    let Division { groups_bytes, .. } = Division::of_block(raw_bytes, entry.terms as usize)?;
    let codes =
        packed.len().checked_sub(raw_bytes - groups_bytes).and_then(|len| packed.split_at_checked(len));
    let (codes, ends) = codes.ok_or(Damage("a block is too short for its groups"))?;
    // Before memory is taken for it.
    if groups_bytes > SymbolTable::raw_bytes_max(codes) {
        return Err(Damage("a block is too short for its length before compression"));
    }
    raw.resize(raw_bytes, 0);
    let (groups, raw_ends) = raw.split_at_mut(groups_bytes);
    table.decode(codes, groups)?;
    raw_ends.copy_from_slice(ends);
    Ok(())
}

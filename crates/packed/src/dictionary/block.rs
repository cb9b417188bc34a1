//! A dictionary block: sorted keys, front-coded in groups.
//!
//! A block is its groups and then where each ends, in 2 bytes each, or 4 where the groups have 64 KiB or more. A group is a whole
//! key (length, bytes), then up to 15 keys as the length they share with the one before, the length of the rest, the rest.
//! The ends are never compressed, so that any group of an open block is one step away.

use crate::bytes::Reader;
use crate::error::Damage;
use crate::format::GROUP_TERMS;
use lode_base::block_cache::CachedBlock;
use lode_base::varint::write_varint;
use std::cmp::Ordering;
use std::ops::Range;

/// How a block of some length is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Division {
    /// Bytes of all groups.
    pub groups_bytes: usize,
    /// Bytes of the end of a group.
    end_bytes: usize,
}

impl Division {
    fn of_groups(groups_bytes: usize) -> Self {
        Self { groups_bytes, end_bytes: if groups_bytes < 1 << 16 { 2 } else { 4 } }
    }

    /// The division of a block of `bytes` bytes that holds `terms` terms.
    pub(super) fn of_block(bytes: usize, terms: usize) -> Result<Self, Damage> {
        let groups = terms.div_ceil(GROUP_TERMS);
        let short = bytes.checked_sub(2 * groups).map(Self::of_groups).filter(|short| short.end_bytes == 2);
        let long = || bytes.checked_sub(4 * groups).map(Self::of_groups).filter(|long| long.end_bytes == 4);
        short.or_else(long).ok_or(Damage("a dictionary block is too short for its groups"))
    }
}

/// Collects the keys of one block, at the end of a buffer.
#[derive(Debug, Default)]
pub(super) struct BlockBuilder {
    /// Where each group begins in the buffer.
    starts: Vec<usize>,
    pub terms: usize,
}

impl BlockBuilder {
    /// Bytes so far, if they go to `out`.
    pub(super) fn bytes(&self, out: &[u8]) -> usize {
        self.starts.first().map_or(0, |start| out.len() - start)
    }

    /// Appends a key that shares `shared` bytes with the one before.
    pub(super) fn push(&mut self, key: &[u8], shared: usize, out: &mut Vec<u8>) {
        if self.terms.is_multiple_of(GROUP_TERMS) {
            self.starts.push(out.len());
            write_varint(out, key.len() as u64);
            out.extend_from_slice(key);
        } else {
            write_varint(out, shared as u64);
            write_varint(out, (key.len() - shared) as u64);
            out.extend_from_slice(&key[shared..]);
        }
        self.terms += 1;
    }

    /// Completes the block with the ends of its groups and starts anew; returns where the groups are.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) -> Range<usize> {
        let groups = self.starts.first().copied().unwrap_or(out.len())..out.len();
        let end_bytes = Division::of_groups(groups.len()).end_bytes;
        for end in self.starts.iter().skip(1).chain([&groups.end]) {
            out.extend_from_slice(&((end - groups.start) as u32).to_le_bytes()[..end_bytes]);
        }
        self.starts.clear();
        self.terms = 0;
        groups
    }
}

/// A decompressed block: what the cache keeps, shared by all readers.
#[derive(Debug, Default)]
pub(super) struct OpenBlock {
    raw: Vec<u8>,
    division: Division,
    terms: usize,
}

impl CachedBlock for OpenBlock {
    fn bytes(&self) -> usize {
        self.raw.capacity() + size_of::<Self>()
    }
}

impl OpenBlock {
    /// Opens the decompressed bytes of a block of `terms` terms.
    pub(super) fn parse(raw: Vec<u8>, terms: usize) -> Result<Self, Damage> {
        let division = Division::of_block(raw.len(), terms)?;
        let block = Self { raw, division, terms };
        if terms == 0 || block.start(terms.div_ceil(GROUP_TERMS)) == Some(division.groups_bytes) {
            Ok(block)
        } else {
            Err(Damage("the groups of a dictionary block do not fit its bytes"))
        }
    }

    /// The buffer, for the next block.
    pub(super) fn into_buffer(self) -> Vec<u8> {
        self.raw
    }

    pub(super) fn terms(&self) -> usize {
        self.terms
    }

    fn groups(&self) -> &[u8] {
        self.raw.get(..self.division.groups_bytes).unwrap_or(&[])
    }

    /// Where a group begins, which is where the one before it ends.
    #[inline]
    fn start(&self, group: usize) -> Option<usize> {
        let Some(before) = group.checked_sub(1) else { return Some(0) };
        let Division { groups_bytes, end_bytes } = self.division;
        let ends = self.raw.get(groups_bytes + before * end_bytes..)?;
        match end_bytes {
            2 => ends.first_chunk().map(|end| usize::from(u16::from_le_bytes(*end))),
            _ => ends.first_chunk().map(|end| u32::from_le_bytes(*end) as usize),
        }
    }

    /// A walk that starts at the first key of a group.
    pub(super) fn walk(&self, group: usize) -> Result<Walk<'_>, Damage> {
        let start = if group * GROUP_TERMS < self.terms { self.start(group) } else { None };
        let bytes =
            start.and_then(|start| self.groups().get(start..)).ok_or(Damage("no such group of terms"))?;
        Ok(Walk { reader: Reader::new(bytes), next: group * GROUP_TERMS })
    }

    /// A walk that goes on at byte `place`, before the key of rank `next`.
    #[inline]
    pub(super) fn resume(&self, place: usize, next: usize) -> Result<Walk<'_>, Damage> {
        let bytes = self.groups().get(place..).ok_or(Damage("a group of terms ends too early"))?;
        Ok(Walk { reader: Reader::new(bytes), next })
    }

    /// The key of rank `rank` inside the block.
    pub(super) fn get(&self, rank: usize, key: &mut Vec<u8>) -> Result<(), Damage> {
        let mut walk = self.walk(rank / GROUP_TERMS)?;
        walk.advance_to(rank, key)
    }

    /// The first key of a group.
    pub(super) fn first_key(&self, group: usize) -> Result<&[u8], Damage> {
        let mut walk = self.walk(group)?;
        let length = walk.reader.count(self.raw.len())?;
        walk.reader.take(length)
    }

    /// The rank inside the block of the first key that is not before `target`, and whether it is equal.
    pub(super) fn lower_bound(&self, target: &[u8]) -> Result<(usize, bool), Damage> {
        let (mut low, mut high) = (0, self.terms.div_ceil(GROUP_TERMS));
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.first_key(middle)? <= target {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let Some(group) = low.checked_sub(1) else { return Ok((0, false)) };
        let mut walk = self.walk(group)?;
        let mut key = Vec::new();
        let end = self.terms.min((group + 1) * GROUP_TERMS);
        for rank in group * GROUP_TERMS..end {
            walk.step(&mut key)?;
            match key.as_slice().cmp(target) {
                Ordering::Less => {}
                found => return Ok((rank, found == Ordering::Equal)),
            }
        }
        Ok((end, false))
    }
}

/// Walks the keys of a block.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    reader: Reader<'a>,
    /// Rank inside the block of the key that comes next.
    next: usize,
}

impl Walk<'_> {
    /// Turns `key`, which holds the key before, into the next one.
    #[inline]
    pub(super) fn step(&mut self, key: &mut Vec<u8>) -> Result<(), Damage> {
        if self.next.is_multiple_of(GROUP_TERMS) {
            key.clear();
        } else {
            let shared = self.reader.count(key.len())?;
            key.truncate(shared);
        }
        let length = self.reader.count(self.reader.rest().len())?;
        key.extend_from_slice(self.reader.take(length)?);
        self.next += 1;
        Ok(())
    }

    /// Walks until `key` is the key of rank `rank`, which must not be behind.
    pub(super) fn advance_to(&mut self, rank: usize, key: &mut Vec<u8>) -> Result<(), Damage> {
        while self.next <= rank {
            self.step(key)?;
        }
        Ok(())
    }

    /// Bytes that the walk has covered.
    #[inline]
    pub(super) fn bytes_read(&self) -> usize {
        self.reader.position()
    }

    /// Rank inside the block of the key that [`Walk::step`] gives next.
    pub(super) fn next_rank(&self) -> usize {
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lode_base::shared_prefix::shared_prefix;

    #[test]
    fn golden_block() {
        let mut builder = BlockBuilder::default();
        let keys = ["http://a/1", "http://a/2", "http://b"];
        let mut previous = "";
        let mut raw = Vec::new();
        for key in keys {
            builder.push(key.as_bytes(), shared_prefix(previous.as_bytes(), key.as_bytes()), &mut raw);
            previous = key;
        }
        assert_eq!(builder.finish(&mut raw), 0..17);
        assert_eq!(raw, b"\x0ahttp://a/1\x09\x012\x07\x01b\x11\0");
        let view = OpenBlock::parse(raw, 3).unwrap();
        let mut key = Vec::new();
        for (rank, expected) in keys.iter().enumerate() {
            view.get(rank, &mut key).unwrap();
            assert_eq!(key, expected.as_bytes());
            assert_eq!(view.lower_bound(expected.as_bytes()), Ok((rank, true)));
        }
        assert_eq!(view.lower_bound(b"a"), Ok((0, false)));
        assert_eq!(view.lower_bound(b"http://a/11"), Ok((1, false)));
        assert_eq!(view.lower_bound(b"x"), Ok((3, false)));
    }

    #[test]
    fn divisions_are_found_again() {
        for groups_bytes in (0..70).chain(65_400..65_700).chain([1 << 20]) {
            for groups in [1, 2, 3, 100] {
                let division = Division::of_groups(groups_bytes);
                let bytes = groups_bytes + groups * division.end_bytes;
                assert_eq!(Division::of_block(bytes, groups * GROUP_TERMS), Ok(division));
                assert_eq!(Division::of_block(bytes, (groups - 1) * GROUP_TERMS + 1), Ok(division));
            }
        }
        assert!(Division::of_block(1, 1).is_err());
        assert!(Division::of_block(100, 1600).is_err());
    }

    #[test]
    fn prefixes() {
        assert_eq!(shared_prefix(b"", b"abc"), 0);
        assert_eq!(shared_prefix(b"0123456789", b"0123456789"), 10);
        assert_eq!(shared_prefix(b"0123456789", b"01234567x"), 8);
        assert_eq!(shared_prefix(b"0123x56789", b"0123y"), 4);
    }
}

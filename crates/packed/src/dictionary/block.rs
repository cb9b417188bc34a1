//! A dictionary block: sorted keys, front-coded in groups, compressed.
//!
//! Before compression a block is the byte length of each group (varints), then the groups. A group is a whole key
//! (length, bytes), then up to 15 keys as the length they share with the one before, the length of the rest, the rest.
//! In memory an open block keeps the groups and where each begins, so that any group is one step away.

use crate::bytes::Reader;
use crate::error::Damage;
use crate::format::GROUP_TERMS;
use lode_base::block_cache::CachedBlock;
use lode_base::varint::write_varint;
use std::cmp::Ordering;

/// How many bytes at the front are equal.
pub(super) fn shared_prefix(a: &[u8], b: &[u8]) -> usize {
    let mut shared = 0;
    for (a, b) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        if a != b {
            break;
        }
        shared += 8;
    }
    let rest = |bytes| <[u8]>::get(bytes, shared..).unwrap_or(&[]).iter();
    shared + rest(a).zip(rest(b)).take_while(|(a, b)| a == b).count()
}

/// Collects the keys of one block.
#[derive(Debug, Default)]
pub(super) struct BlockBuilder {
    groups: Vec<u8>,
    /// Where each group begins.
    starts: Vec<usize>,
    pub terms: usize,
}

impl BlockBuilder {
    /// Bytes so far.
    pub(super) fn bytes(&self) -> usize {
        self.groups.len()
    }

    /// Appends a key that shares `shared` bytes with the one before.
    pub(super) fn push(&mut self, key: &[u8], shared: usize) {
        if self.terms.is_multiple_of(GROUP_TERMS) {
            self.starts.push(self.groups.len());
            write_varint(&mut self.groups, key.len() as u64);
            self.groups.extend_from_slice(key);
        } else {
            write_varint(&mut self.groups, shared as u64);
            write_varint(&mut self.groups, (key.len() - shared) as u64);
            self.groups.extend_from_slice(&key[shared..]);
        }
        self.terms += 1;
    }

    /// Replaces `out` by the block before compression, and starts anew.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) {
        out.clear();
        self.starts.push(self.groups.len());
        for pair in self.starts.windows(2) {
            write_varint(out, (pair[1] - pair[0]) as u64);
        }
        out.extend_from_slice(&self.groups);
        self.groups.clear();
        self.starts.clear();
        self.terms = 0;
    }
}

/// A decompressed block: what the cache keeps, shared by all readers.
#[derive(Debug, Default)]
pub(super) struct OpenBlock {
    groups: Vec<u8>,
    /// Where each group begins.
    starts: Vec<u32>,
    terms: usize,
}

impl CachedBlock for OpenBlock {
    fn bytes(&self) -> usize {
        self.groups.capacity() + self.starts.capacity() * 4 + size_of::<Self>()
    }
}

impl OpenBlock {
    /// Takes apart the decompressed bytes of a block of `terms` terms.
    pub(super) fn parse(mut raw: Vec<u8>, terms: usize) -> Result<Self, Damage> {
        let group_count = terms.div_ceil(GROUP_TERMS);
        let mut reader = Reader::new(&raw);
        let mut starts = Vec::with_capacity(group_count.min(raw.len()));
        let mut start = 0_usize;
        for _ in 0..group_count {
            starts.push(u32::try_from(start).map_err(|_| Damage("a dictionary block is too large"))?);
            start += reader.count(raw.len())?;
        }
        if start != reader.rest().len() {
            return Err(Damage("the groups of a dictionary block do not fit its bytes"));
        }
        let head = reader.position();
        raw.drain(..head);
        Ok(Self { groups: raw, starts, terms })
    }

    /// The buffer, for the next block.
    pub(super) fn into_buffer(self) -> Vec<u8> {
        self.groups
    }

    pub(super) fn terms(&self) -> usize {
        self.terms
    }

    /// A walk that starts at the first key of a group.
    pub(super) fn walk(&self, group: usize) -> Result<Walk<'_>, Damage> {
        let start = self.starts.get(group).map(|start| *start as usize);
        let bytes =
            start.and_then(|start| self.groups.get(start..)).ok_or(Damage("no such group of terms"))?;
        Ok(Walk { reader: Reader::new(bytes), next: group * GROUP_TERMS })
    }

    /// A walk that goes on at byte `place`, before the key of rank `next`.
    #[inline]
    pub(super) fn resume(&self, place: usize, next: usize) -> Result<Walk<'_>, Damage> {
        let bytes = self.groups.get(place..).ok_or(Damage("a group of terms ends too early"))?;
        Ok(Walk { reader: Reader::new(bytes), next })
    }

    /// The key of rank `rank` inside the block.
    pub(super) fn get(&self, rank: usize, key: &mut Vec<u8>) -> Result<(), Damage> {
        let mut walk = self.walk(rank / GROUP_TERMS)?;
        walk.advance_to(rank, key)
    }

    fn first_key(&self, group: usize) -> Result<&[u8], Damage> {
        let mut walk = self.walk(group)?;
        let length = walk.reader.count(self.groups.len())?;
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

    #[test]
    fn golden_block() {
        let mut builder = BlockBuilder::default();
        let keys = ["http://a/1", "http://a/2", "http://b"];
        let mut previous = "";
        for key in keys {
            builder.push(key.as_bytes(), shared_prefix(previous.as_bytes(), key.as_bytes()));
            previous = key;
        }
        let mut raw = Vec::new();
        builder.finish(&mut raw);
        assert_eq!(raw, b"\x11\x0ahttp://a/1\x09\x012\x07\x01b");
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
    fn prefixes() {
        assert_eq!(shared_prefix(b"", b"abc"), 0);
        assert_eq!(shared_prefix(b"0123456789", b"0123456789"), 10);
        assert_eq!(shared_prefix(b"0123456789", b"01234567x"), 8);
        assert_eq!(shared_prefix(b"0123x56789", b"0123y"), 4);
    }
}

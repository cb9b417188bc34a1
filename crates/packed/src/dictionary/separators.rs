//! Separators of blocks, and of pages of blocks: the shortest key that tells one from the one before it, cut at 256 bytes, so that
//! an index is small whatever the keys are.

use crate::bytes::Reader;
use crate::codec::{ColumnEncoder, decode_long};
use crate::error::Damage;
use crate::format::SEPARATOR_BYTES_MAX;
use lode_base::shared_prefix::shared_prefix;
use lode_base::varint::write_varint;
use std::ops::Range;

/// The separator before a block that begins with `key`, which shares `shared` bytes with the key before it: the shortest prefix
/// that is after that key, unless it is too long.
pub(super) fn separator(key: &[u8], shared: usize) -> &[u8] {
    key.get(..SEPARATOR_BYTES_MAX.min(shared + 1)).unwrap_or(key)
}

/// Whether a separator may be shorter than it would have to be to tell its block from the one before.
fn is_cut(separator: &[u8]) -> bool {
    separator.len() == SEPARATOR_BYTES_MAX
}

/// Separators in order: they ascend, strictly where they are not of the greatest length.
#[derive(Debug, Default)]
pub(super) struct Separators {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Separators {
    pub(super) fn push(&mut self, separator: &[u8]) {
        self.bytes.extend_from_slice(separator);
        self.ends.push(self.bytes.len());
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn get(&self, number: usize) -> &[u8] {
        let start = number.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied());
        let range = start.zip(self.ends.get(number)).map(|(start, end)| start..*end);
        range.and_then(|range| self.bytes.get(range)).unwrap_or(&[])
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * size_of::<usize>()
    }

    /// Appends some of them.
    pub(super) fn encode(&self, numbers: Range<usize>, encoder: &mut ColumnEncoder, out: &mut Vec<u8>) {
        let (mut shared, mut suffixes, mut text) = (Vec::new(), Vec::new(), Vec::new());
        let mut previous = &[][..];
        for number in numbers {
            let separator = self.get(number);
            let common = shared_prefix(previous, separator);
            shared.push(common as u64);
            suffixes.push((separator.len() - common) as u64);
            text.extend_from_slice(&separator[common..]);
            previous = separator;
        }
        encoder.encode_long(&shared, out);
        encoder.encode_long(&suffixes, out);
        write_varint(out, text.len() as u64);
        out.extend_from_slice(&text);
    }

    /// Reads `count` that [`Separators::encode`] wrote.
    pub(super) fn decode(reader: &mut Reader<'_>, count: usize) -> Result<Self, Damage> {
        let shared = decode_long(reader, count)?;
        let suffixes = decode_long(reader, count)?;
        let length = reader.count(usize::MAX)?;
        let mut text = Reader::new(reader.take(length)?);
        let mut separators = Self { bytes: Vec::new(), ends: Vec::with_capacity(count) };
        let mut previous = 0..0;
        for (number, (shared, suffix)) in shared.into_iter().zip(suffixes).enumerate() {
            let bytes = &mut separators.bytes;
            let start = bytes.len();
            let shared = usize::try_from(shared).ok().filter(|shared| *shared <= previous.len());
            let shared = shared.ok_or(Damage("a separator shares more than there is"))?;
            let suffix =
                usize::try_from(suffix).ok().filter(|suffix| *suffix <= SEPARATOR_BYTES_MAX - shared);
            let suffix = suffix.ok_or(Damage("a separator is too long"))?;
            bytes.extend_from_within(previous.start..previous.start + shared);
            bytes.extend_from_slice(text.take(suffix)?);
            let (before, separator) = (&bytes[previous.clone()], &bytes[start..]);
            if number > 0 && !(before < separator || before == separator && is_cut(separator)) {
                return Err(Damage("separators are not in order"));
            }
            previous = start..bytes.len();
            separators.ends.push(previous.end);
        }
        if !text.rest().is_empty() {
            return Err(Damage("bytes left over behind the separators"));
        }
        separators.bytes.shrink_to_fit();
        Ok(separators)
    }

    /// Which of the parts between separators can hold `key`: none where it is before all, and several only where their separators
    /// were cut. Then it is the last whose first key is not after `key`, and the first of them where there is none.
    pub(super) fn candidates(&self, key: &[u8]) -> Range<usize> {
        let end = self.first(|separator| separator > key);
        let Some(last) = end.checked_sub(1) else { return 0..0 };
        let cut = self.get(last);
        if !is_cut(cut) {
            return last..end;
        }
        // Keys of the part before may be at or after a separator that was cut, too.
        self.first(|separator| separator >= cut).saturating_sub(1)..end
    }

    /// The first separator that is so, if that is true of all behind it.
    fn first(&self, is_so: impl Fn(&[u8]) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if is_so(self.get(middle)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_ascend_and_are_short() {
        let decode = |all: &[&[u8]]| {
            let mut separators = Separators::default();
            all.iter().for_each(|separator| separators.push(separator));
            let mut bytes = Vec::new();
            separators.encode(0..all.len(), &mut ColumnEncoder::default(), &mut bytes);
            let read = Separators::decode(&mut Reader::new(&bytes), all.len())?;
            assert!((0..all.len()).all(|number| read.get(number) == all[number]));
            Ok::<_, Damage>(read)
        };
        let (cut, long) = ([b'x'; SEPARATOR_BYTES_MAX], [b'x'; SEPARATOR_BYTES_MAX + 1]);
        let separators = decode(&[b"", b"a", &cut, &cut, b"y"]).unwrap();
        assert_eq!(separators.candidates(b""), 0..1);
        assert_eq!(separators.candidates(b"a"), 1..2);
        assert_eq!(separators.candidates(&cut[1..]), 1..2);
        assert_eq!(separators.candidates(&cut), 1..4);
        assert_eq!(separators.candidates(&long), 1..4);
        assert_eq!(separators.candidates(b"yy"), 4..5);
        assert_eq!(decode(&[b"a"]).unwrap().candidates(b"A"), 0..0);
        assert!(decode(&[b"a", b"a"]).is_err());
        assert!(decode(&[b"", b""]).is_err());
        assert!(decode(&[b"b", b"a"]).is_err());
        assert!(decode(&[b"a", &long]).is_err());
    }
}

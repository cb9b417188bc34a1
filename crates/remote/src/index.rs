//! The index of a segment's objects: for each file its length, the checksums of its pages, and its end, so that one request tells all that is needed to
//! open the segment's files, and each byte that comes later can be verified by itself.

use crate::error::RemoteError;
use lode_base::checksum::checksum;
use std::sync::Arc;

/// Bytes that have a checksum of their own: what is read of the cache at least.
pub const PAGE_BYTES: u64 = 64 << 10;
/// So much of the end of each file is in the index: its footer, and of a small file all.
const END_BYTES: u64 = 64 << 10;
/// A longer index is none: enough for segments of some terabytes.
pub const BYTES_MAX: u64 = 1 << 30;

const MAGIC: &[u8; 8] = b"LODEindx";
/// The version before it had no parts.
const VERSION: u32 = 2;
const VERSION_WITHOUT_PARTS: u32 = 1;
/// Files of a segment.
const FILES_MAX: usize = 64;
const NAME_BYTES_MAX: usize = 128;

/// A file of a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexedFile {
    /// Its name in the segment's folder.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// Of each page.
    pub sums: Arc<[u64]>,
    /// Its last bytes.
    pub end: Arc<[u8]>,
    /// Parts before, ascending, without which nothing of the file is found.
    pub parts: Vec<IndexedPart>,
}

/// A part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexedPart {
    /// Where it begins.
    pub offset: u64,
    /// What is there.
    pub bytes: Arc<[u8]>,
}

impl IndexedFile {
    /// Where its end begins.
    pub fn end_start(&self) -> u64 {
        self.bytes - self.end.len() as u64
    }

    /// What is at a place, where a part has all of it.
    pub fn part(&self, offset: u64, length: usize) -> Option<&[u8]> {
        let after = self.parts.partition_point(|part| part.offset <= offset);
        let part = self.parts.get(after.checked_sub(1)?)?;
        let from = usize::try_from(offset - part.offset).ok()?;
        part.bytes.get(from..from.checked_add(length)?)
    }
}

/// Makes the entry of a file while its bytes pass.
#[derive(Debug, Default)]
pub struct FileIndexer {
    page: Vec<u8>,
    sums: Vec<u64>,
    /// The last full page and what follows it: no less than the end.
    last: Vec<u8>,
    bytes: u64,
}

impl FileIndexer {
    /// Takes the next bytes of the file.
    pub fn push(&mut self, mut bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        while !bytes.is_empty() {
            let room = PAGE_BYTES as usize - self.page.len();
            let (now, later) = bytes.split_at(bytes.len().min(room));
            self.page.extend_from_slice(now);
            bytes = later;
            if self.page.len() as u64 == PAGE_BYTES {
                self.sums.push(checksum(&self.page));
                std::mem::swap(&mut self.last, &mut self.page);
                self.page.clear();
            }
        }
    }

    /// The entry.
    pub fn finish(mut self, name: &str) -> IndexedFile {
        if !self.page.is_empty() {
            self.sums.push(checksum(&self.page));
        }
        self.last.extend_from_slice(&self.page);
        let end = self.last.len() - self.last.len().min(self.bytes.min(END_BYTES) as usize);
        IndexedFile {
            name: name.to_owned(),
            bytes: self.bytes,
            sums: self.sums.into(),
            end: self.last.get(end..).unwrap_or_default().into(),
            parts: Vec::new(),
        }
    }
}

/// The bytes of an index.
pub fn encode(files: &[IndexedFile]) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend_from_slice(&VERSION.to_le_bytes());
    out.extend_from_slice(&(files.len() as u32).to_le_bytes());
    for file in files {
        out.extend_from_slice(&(file.name.len() as u32).to_le_bytes());
        out.extend_from_slice(file.name.as_bytes());
        out.extend_from_slice(&file.bytes.to_le_bytes());
        out.extend(file.sums.iter().flat_map(|sum| sum.to_le_bytes()));
        out.extend_from_slice(&file.end);
        out.extend_from_slice(&(file.parts.len() as u32).to_le_bytes());
        for part in &file.parts {
            out.extend_from_slice(&part.offset.to_le_bytes());
            out.extend_from_slice(&(part.bytes.len() as u32).to_le_bytes());
            out.extend_from_slice(&part.bytes);
        }
    }
    out
}

/// Reads what [`encode`] wrote, whose checksum is right; `object` is for error messages.
///
/// # Errors
/// Where the bytes are no index, or one of another version.
pub fn decode(bytes: &[u8], object: &str) -> Result<Vec<IndexedFile>, RemoteError> {
    let damaged = |what: &str| RemoteError::damaged(object, 0, what);
    let mut reader = Reader(bytes);
    if reader.take(MAGIC.len()) != Some(MAGIC.as_slice()) {
        return Err(damaged("not the index of a segment"));
    }
    let has_parts = match reader.u32() {
        Some(VERSION) => true,
        Some(VERSION_WITHOUT_PARTS) => false,
        Some(found) => {
            return Err(RemoteError::Format { object: object.to_owned(), found, supported: VERSION });
        }
        None => return Err(damaged("cut short")),
    };
    let files = parse(&mut reader, has_parts).filter(|_| reader.0.is_empty());
    files.ok_or_else(|| damaged("the index of the segment is damaged"))
}

fn parse(reader: &mut Reader<'_>, has_parts: bool) -> Option<Vec<IndexedFile>> {
    let count = reader.u32()? as usize;
    if count > FILES_MAX {
        return None;
    }
    (0..count)
        .map(|_| {
            let length = reader.u32()? as usize;
            let name = std::str::from_utf8(reader.take(length).filter(|_| length <= NAME_BYTES_MAX)?).ok()?;
            // It becomes part of a path.
            let is_plain =
                !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '\\', '\0']);
            let bytes = reader.u64()?;
            let pages = usize::try_from(bytes.div_ceil(PAGE_BYTES)).ok()?;
            let sums = reader.take(pages.checked_mul(8)?)?;
            let sums = sums.as_chunks::<8>().0.iter().map(|sum| u64::from_le_bytes(*sum)).collect();
            let end = reader.take(bytes.min(END_BYTES) as usize)?.into();
            let parts = if has_parts { parts(reader, bytes)? } else { Vec::new() };
            is_plain.then(|| IndexedFile { name: name.to_owned(), bytes, sums, end, parts })
        })
        .collect()
}

/// Parts of a file of so many bytes.
fn parts(reader: &mut Reader<'_>, bytes: u64) -> Option<Vec<IndexedPart>> {
    let (count, mut end) = (reader.u32()?, 0);
    let mut parts = Vec::new();
    for _ in 0..count {
        let (offset, length) = (reader.u64()?, reader.u32()?);
        let is_next = offset >= end && length > 0;
        end = offset.checked_add(u64::from(length)).filter(|end| is_next && *end <= bytes)?;
        parts.push(IndexedPart { offset, bytes: reader.take(length as usize)?.into() });
    }
    Some(parts)
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indexed(bytes: &[u8], piece: usize) -> IndexedFile {
        let mut indexer = FileIndexer::default();
        bytes.chunks(piece).for_each(|piece| indexer.push(piece));
        indexer.finish("f")
    }

    #[test]
    fn files_of_all_lengths() {
        let page = PAGE_BYTES as usize;
        for length in [0, 1, page - 1, page, page + 1, 2 * page, 3 * page + 17] {
            let bytes: Vec<u8> = (0..length).map(|i| (i * 7 % 251) as u8).collect();
            let file = indexed(&bytes, 1000);
            assert_eq!(file, indexed(&bytes, page * 2));
            assert_eq!(file.sums.len(), length.div_ceil(page));
            assert!(file.sums.iter().zip(bytes.chunks(page)).all(|(sum, page)| *sum == checksum(page)));
            assert_eq!(&*file.end, &bytes[file.end_start() as usize..], "{length}");
            assert_eq!(file.end.len(), length.min(END_BYTES as usize));
            let parts = match length {
                0..20 => Vec::new(),
                _ => vec![
                    IndexedPart { offset: 3, bytes: bytes[3..10].into() },
                    IndexedPart { offset: 10, bytes: bytes[10..14].into() },
                ],
            };
            let files = [file.clone(), IndexedFile { name: "g".to_owned(), parts, ..file }];
            if length > 20 {
                assert_eq!(files[1].part(4, 2), Some(&bytes[4..6]));
                assert_eq!(files[1].part(10, 4), Some(&bytes[10..14]));
                for (offset, count) in
                    [(0, 1), (2, 2), (9, 2), (10, 5), (14, 1), (u64::MAX, 1), (4, usize::MAX)]
                {
                    assert_eq!(files[1].part(offset, count), None);
                }
            }
            let encoded = encode(&files);
            assert_eq!(decode(&encoded, "x").unwrap(), files);
            for cut in [0, 7, 8, 12, 15, 20, encoded.len() - 1] {
                assert!(decode(&encoded[..cut], "x").is_err(), "{cut}");
            }
            assert!(decode(&[&encoded[..], b"x"].concat(), "x").is_err());
        }
    }

    #[test]
    fn hostile_indexes_are_refused() {
        let head = |count: u32, rest: &[u8]| {
            [&MAGIC[..], &VERSION.to_le_bytes(), &count.to_le_bytes(), rest].concat()
        };
        let file = |name: &str, bytes: u64| {
            [&(name.len() as u32).to_le_bytes()[..], name.as_bytes(), &bytes.to_le_bytes()].concat()
        };
        // A file of ten bytes with a part.
        let parted = |count: u32, offset: u64, length: u32| {
            let part = [&offset.to_le_bytes()[..], &length.to_le_bytes(), &[7; 4]].concat();
            [file("a", 10), vec![0; 8 + 10], count.to_le_bytes().to_vec(), part].concat()
        };
        assert_eq!(decode(&head(1, &parted(1, 3, 4)), "x").unwrap()[0].parts[0].offset, 3);
        for (count, offset, length) in
            [(1, 7, 4), (1, u64::MAX, 4), (1, 3, 5), (1, 3, 0), (2, 3, 4), (u32::MAX, 3, 4), (0, 3, 4)]
        {
            assert!(
                decode(&head(1, &parted(count, offset, length)), "x").is_err(),
                "{count} {offset} {length}"
            );
        }
        assert!(decode(&head(0, &[]), "x").unwrap().is_empty());
        for rest in [
            file("../../etc/passwd", 0),
            file("..", 0),
            file("", 0),
            file("a", u64::MAX),
            file("a", 1 << 40),
            vec![255; 12],
        ] {
            assert!(decode(&head(1, &rest), "x").is_err());
        }
        assert!(decode(&head(u32::MAX, &[]), "x").is_err());
        assert!(matches!(
            decode(&[&MAGIC[..], &9_u32.to_le_bytes()].concat(), "x"),
            Err(RemoteError::Format { found: 9, .. })
        ));
    }
}

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
const VERSION: u32 = super::version::FORMAT_VERSION;
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
}

impl IndexedFile {
    /// Where its end begins.
    pub fn end_start(&self) -> u64 {
        self.bytes - self.end.len() as u64
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
    match reader.u32() {
        Some(VERSION) => {}
        Some(found) => {
            return Err(RemoteError::Format { object: object.to_owned(), found, supported: VERSION });
        }
        None => return Err(damaged("cut short")),
    }
    let files = parse(&mut reader).filter(|_| reader.0.is_empty());
    files.ok_or_else(|| damaged("the index of the segment is damaged"))
}

fn parse(reader: &mut Reader<'_>) -> Option<Vec<IndexedFile>> {
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
            is_plain.then(|| IndexedFile { name: name.to_owned(), bytes, sums, end })
        })
        .collect()
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
            let files = [file.clone(), IndexedFile { name: "g".to_owned(), ..file }];
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

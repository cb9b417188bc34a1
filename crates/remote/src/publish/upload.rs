//! Writes the objects of a publication. An object that is there with the right length is not written again: none of its name has ever had other bytes.

use super::publication::Publication;
use crate::collect::condemned;
use crate::error::RemoteError;
use crate::index::{self, FileIndexer, IndexedFile, IndexedPart};
use crate::keys;
use crate::object::ObjectStore;
use crate::version::ObjectRef;
use lode_base::checksum::checksum;
use lode_base::vfs::ReadAt;
use lode_store::{OriginalLog, OriginalSegment, index_parts};
use std::collections::BTreeSet;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_128;

/// Read at once.
const CHUNK_BYTES: u64 = 1 << 20;
/// Pages of indexes that a segment's index has, at most: all of some hundred million quads. Those of a larger one are fetched when they are wanted.
const PARTS_BYTES_MAX: u64 = 4 << 20;

/// What is written, and what has been.
pub struct Upload<'a> {
    publication: &'a Publication<'a>,
    /// What garbage collection may be about to remove.
    condemned: BTreeSet<String>,
    pub objects: u64,
    pub bytes: u64,
    pub bytes_found: u64,
}

impl<'a> Upload<'a> {
    pub fn begin(publication: &'a Publication<'a>) -> Result<Self, RemoteError> {
        let condemned = condemned(publication.store)?;
        Ok(Self { publication, condemned, objects: 0, bytes: 0, bytes_found: 0 })
    }

    fn store(&self) -> &'a dyn ObjectStore {
        self.publication.store
    }

    /// Writes the objects of a segment, its index last.
    pub fn segment(&mut self, segment: &OriginalSegment) -> Result<ObjectRef<u64>, RemoteError> {
        let folder = keys::segment(&segment.entry);
        let is_condemned = self.condemned.contains(&folder);
        let mut files = Vec::with_capacity(segment.files.len() + 1);
        let mut room = PARTS_BYTES_MAX;
        for file in &segment.files {
            let name = file.name.to_string_lossy();
            let reader = file.open(self.publication.vfs, &segment.folder)?;
            let mut file = self.file(&folder, &name, &*reader, is_condemned)?;
            file.parts = parts(&reader, &file, &mut room)
                .map_err(RemoteError::io(segment.folder.join(&file.name).display().to_string()))?;
            files.push(file);
        }
        files.push(self.file(&folder, lode_store::META_FILE, &Bytes(&segment.meta), is_condemned)?);
        let bytes = index::encode(&files);
        let key = format!("{folder}/{}", keys::INDEX);
        self.put_bytes(&key, &bytes)?;
        Ok(ObjectRef { bytes: bytes.len() as u64, checksum: checksum(&bytes) })
    }

    /// Writes one object; what its index says of it.
    fn file(
        &mut self,
        folder: &str,
        name: &str,
        reader: &dyn ReadAt,
        is_condemned: bool,
    ) -> Result<index::IndexedFile, RemoteError> {
        let (publication, key) = (self.publication, format!("{folder}/{name}"));
        let mut body =
            Body { publication, reader, at: 0, chunk: Vec::new(), taken: 0, indexer: FileIndexer::default() };
        let bytes = reader.len();
        let is_there = !is_condemned && self.store().size(&key)? == Some(bytes);
        let written = match is_there {
            true => io::copy(&mut body, &mut io::sink())
                .map(drop)
                .map_err(RemoteError::io(self.store().object(&key))),
            false => self.store().put(&key, &mut body),
        };
        publication.cancel.check()?;
        written?;
        if is_there {
            self.bytes_found += bytes;
        } else {
            self.objects += 1;
            self.bytes += bytes;
        }
        Ok(body.indexer.finish(name))
    }

    fn put_bytes(&mut self, key: &str, bytes: &[u8]) -> Result<(), RemoteError> {
        self.publication.cancel.check()?;
        self.store().put(key, &mut &*bytes)?;
        self.objects += 1;
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Writes the log up to its end, under a name that says what is in it.
    pub fn log(&mut self, log: &OriginalLog) -> Result<ObjectRef<u128>, RemoteError> {
        let bytes = read_log(log)?;
        let checksum = xxh3_128(&bytes);
        self.put_bytes(&keys::log(checksum), &bytes)?;
        self.publication.progress.add(bytes.len() as u64);
        Ok(ObjectRef { bytes: bytes.len() as u64, checksum })
    }

    /// Makes sure that garbage collection, which knew nothing of the version, has removed none of its new objects meanwhile. From when the
    /// manifest is there it does not.
    pub fn make_sure(
        &mut self,
        segments: &[&OriginalSegment],
        log: Option<&OriginalLog>,
    ) -> Result<(), RemoteError> {
        for segment in segments {
            let folder = keys::segment(&segment.entry);
            let files =
                segment.files.iter().map(|file| (file.name.to_string_lossy().into_owned(), Some(file.bytes)));
            let own = [
                (lode_store::META_FILE.to_owned(), Some(segment.meta.len() as u64)),
                (keys::INDEX.to_owned(), None),
            ];
            for (name, bytes) in files.chain(own) {
                let found = self.store().size(&format!("{folder}/{name}"))?;
                if found.is_none() || bytes.is_some_and(|bytes| found != Some(bytes)) {
                    self.condemned.insert(folder.clone());
                    self.segment(segment)?;
                    break;
                }
            }
        }
        if let Some(log) = log {
            let key = keys::log(xxh3_128(&read_log(log)?));
            if self.store().size(&key)?.is_none() {
                self.log(log)?;
            }
        }
        Ok(())
    }
}

/// Pages of an index, which a reader has at hand then; none of a file whose index is damaged, or has more than there is room for.
fn parts(reader: &Arc<dyn ReadAt>, file: &IndexedFile, room: &mut u64) -> io::Result<Vec<IndexedPart>> {
    let places = index_parts(Arc::clone(reader), &file.name).unwrap_or_default();
    // The end is there already.
    let before: Vec<_> = places.into_iter().filter(|place| place.start < file.end_start()).collect();
    let total: u64 = before.iter().map(|place| place.end - place.start).sum();
    if total > *room {
        return Ok(Vec::new());
    }
    *room -= total;
    let read = |place: Range<u64>| {
        let mut bytes = vec![0; (place.end - place.start) as usize];
        reader.read_exact_at(&mut bytes, place.start)?;
        Ok(IndexedPart { offset: place.start, bytes: bytes.into() })
    };
    before.into_iter().filter(|place| !place.is_empty()).map(read).collect()
}

fn read_log(log: &OriginalLog) -> Result<Vec<u8>, RemoteError> {
    let mut bytes = vec![0; log.end.offset as usize];
    log.reader.read_exact_at(&mut bytes, 0).map_err(RemoteError::io(log.path.display().to_string()))?;
    Ok(bytes)
}

/// The bytes of a file that is published, which are indexed while they pass.
struct Body<'a> {
    publication: &'a Publication<'a>,
    reader: &'a dyn ReadAt,
    /// What was read of the file.
    at: u64,
    chunk: Vec<u8>,
    /// What was taken of the chunk.
    taken: usize,
    indexer: FileIndexer,
}

impl Read for Body<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.chunk.len() {
            self.publication.cancel.check().map_err(io::Error::other)?;
            self.publication.progress.add(self.chunk.len() as u64);
            self.chunk.resize((self.reader.len() - self.at).min(CHUNK_BYTES) as usize, 0);
            self.reader.read_exact_at(&mut self.chunk, self.at)?;
            self.indexer.push(&self.chunk);
            self.at += self.chunk.len() as u64;
            self.taken = 0;
        }
        let left = self.chunk.get(self.taken..).unwrap_or_default();
        let count = left.len().min(buf.len());
        for (to, from) in buf.iter_mut().zip(left) {
            *to = *from;
        }
        self.taken += count;
        Ok(count)
    }
}

/// A file whose bytes are here.
#[derive(Debug)]
struct Bytes<'a>(&'a [u8]);

impl ReadAt for Bytes<'_> {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let found = usize::try_from(offset).ok().and_then(|at| self.0.get(at..)?.get(..buf.len()));
        buf.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

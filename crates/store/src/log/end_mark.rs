//! The end mark of a log: up to where it was durable once, in a small file beside it.
//!
//! Damage to the last records of a log looks like a tail that a power cut tore, and a file that was cut like one that was
//! never longer. The mark tells them apart: what it speaks of was there. It is written when the log is closed, and when nobody
//! has written for a while, in one step and beside commits. What it says stays true, so one that is not the newest does
//! no harm.

use super::frame::{Salt, encode_header};
use super::log_end::LogEnd;
use crate::error::StoreError;
use lode_base::vfs::Vfs;
use std::io;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64_with_seed;

const MAGIC: [u8; 8] = *b"LODElend";
/// Version of the format that brought the mark.
const VERSION: u32 = 4;
/// Bytes of the file.
const BYTES: usize = 40;

/// What is known of the end of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndMark {
    /// The file was durable up to this byte, where a record ends.
    pub offset: u64,
    /// The number of the record that comes there.
    pub next_sequence: u64,
    /// Whether the log was closed there. Nothing was acknowledged since, unless it is durable behind it.
    pub is_closed: bool,
}

/// What is found in the place of a mark.
#[derive(Debug)]
pub enum FoundMark {
    /// Nothing: the log has never been closed or idle.
    None,
    /// A mark of this log.
    Sound(EndMark),
    /// Something else.
    Damaged(StoreError),
}

/// The file of a log's end mark.
pub fn mark_file(log: &Path) -> PathBuf {
    log.with_extension("end")
}

/// Where the next one is written.
fn tmp_file(log: &Path) -> PathBuf {
    log.with_extension("end.tmp")
}

/// Removes the end mark of a log, if there is one.
pub fn remove_mark(vfs: &dyn Vfs, log: &Path) -> io::Result<()> {
    let mark = mark_file(log);
    if vfs.exists(&mark) { vfs.remove(&mark) } else { Ok(()) }
}

/// Removes a log and its end mark.
///
/// # Errors
/// Where the file system refuses.
pub fn remove_log(vfs: &dyn Vfs, log: &Path) -> io::Result<()> {
    // First the mark: one that is left may be taken for that of another log.
    remove_mark(vfs, log)?;
    vfs.remove(log)
}

/// Writes the mark of a log that was copied and is durable up to its end. It was not closed there: the database that it was copied from went on.
///
/// # Errors
/// Where the file system refuses to read or to write.
pub fn mark_end(
    vfs: &dyn Vfs,
    log: &Path,
    database: u128,
    number: u64,
    end: LogEnd,
) -> Result<(), StoreError> {
    let (_, salt) = encode_header(database, number);
    let mark = EndMark { offset: end.offset, next_sequence: end.next_sequence, is_closed: false };
    match EndMark::read(vfs, log, salt)? {
        FoundMark::Sound(found) if found == mark => Ok(()),
        _ => mark.write(vfs, log, salt),
    }
}

impl EndMark {
    /// Whether the log ends where it says.
    pub fn is_at(&self, end: &LogEnd) -> bool {
        (self.offset, self.next_sequence) == (end.offset, end.next_sequence)
    }

    /// Records and bytes that it knows of behind `end`.
    pub fn behind(&self, end: &LogEnd) -> (u64, u64) {
        let records = self.next_sequence.saturating_sub(end.next_sequence);
        (records, self.offset.saturating_sub(end.offset))
    }

    /// Reads the mark beside a log.
    ///
    /// # Errors
    /// Where there is a file that cannot be read. One that is damaged is no error.
    pub fn read(vfs: &dyn Vfs, log: &Path, salt: Salt) -> Result<FoundMark, StoreError> {
        let path = mark_file(log);
        let mut bytes = [0; BYTES];
        let file = match vfs.open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(FoundMark::None),
            other => other.map_err(StoreError::io(&path))?,
        };
        let damaged = || FoundMark::Damaged(StoreError::corruption(&path, 0, "no end mark of this log"));
        if file.len() != BYTES as u64 {
            return Ok(damaged());
        }
        file.read_exact_at(&mut bytes, 0).map_err(StoreError::io(&path))?;
        match Self::decode(&bytes, salt) {
            Some(Ok(mark)) => Ok(FoundMark::Sound(mark)),
            Some(Err(found)) => {
                let file = path.display().to_string();
                Err(StoreError::Version { file, found, supported: VERSION })
            }
            None => Ok(damaged()),
        }
    }

    /// Makes this the mark of a log, durably and in one step.
    ///
    /// # Errors
    /// Where the file system refuses to write.
    pub fn write(&self, vfs: &dyn Vfs, log: &Path, salt: Salt) -> Result<(), StoreError> {
        let (path, tmp) = (mark_file(log), tmp_file(log));
        let write = || -> io::Result<()> {
            let mut file = vfs.create(&tmp)?;
            file.write_all(&self.encode(salt))?;
            file.sync()?;
            drop(file);
            vfs.rename(&tmp, &path)
        };
        if let Err(source) = write() {
            // What cannot be removed now is removed when the database is next opened for writing.
            let _ = vfs.remove(&tmp);
            return Err(StoreError::Io { path, source });
        }
        let folder = log.parent().unwrap_or(log);
        vfs.sync_dir(folder).map_err(StoreError::io(folder))
    }

    fn encode(&self, salt: Salt) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&u32::from(self.is_closed).to_le_bytes());
        bytes[16..24].copy_from_slice(&self.offset.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.next_sequence.to_le_bytes());
        let check = xxh3_64_with_seed(&bytes[..BYTES - 8], salt.get());
        bytes[BYTES - 8..].copy_from_slice(&check.to_le_bytes());
        bytes
    }

    /// The version instead where that is another.
    fn decode(bytes: &[u8; BYTES], salt: Salt) -> Option<Result<Self, u32>> {
        let (fields, check) = bytes.split_at(BYTES - 8);
        if fields[..8] != MAGIC || xxh3_64_with_seed(fields, salt.get()).to_le_bytes() != check {
            return None;
        }
        let short = |at: usize| Some(u32::from_le_bytes(*fields.get(at..)?.first_chunk()?));
        let long = |at: usize| Some(u64::from_le_bytes(*fields.get(at..)?.first_chunk()?));
        let version = short(8)?;
        if version != VERSION {
            return Some(Err(version));
        }
        Some(Ok(Self { offset: long(16)?, next_sequence: long(24)?, is_closed: short(12)? == 1 }))
    }
}

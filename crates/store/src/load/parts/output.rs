//! What came of a task: which attempt counts, and what its files were when they were written. By that whoever goes on with a load can tell whether they
//! still are.

use super::record::{Record, RecordReader};
use super::task::Phase;
use crate::error::StoreError;
use lode_base::cancel::CancelToken;
use lode_base::checksum::file_checksum;
use lode_base::frame_file::check_frames;
use lode_base::vfs::{ReadAt, Vfs};
use lode_packed::segment::DICTIONARY_FILE;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// An attempt that counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Its name.
    pub attempt: String,
    /// Its files.
    pub files: Vec<OutputFile>,
}

/// A file that an attempt has written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputFile {
    /// Its name.
    pub name: String,
    bytes: u64,
    /// Of all its bytes. None of one that consists of frames: these have their own, and whoever reads them looks at these.
    checksum: Option<u64>,
}

/// How much of a file is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Nothing.
    None,
    /// Whether it is there and as long as it was, and of one that is not read otherwise before it is published, all bytes.
    Unread,
    /// All bytes.
    All,
}

impl Output {
    /// That of an attempt at a task of a phase, the files of which are in a folder.
    pub fn of_folder(
        attempt: &str,
        phase: Phase,
        vfs: &Arc<dyn Vfs>,
        folder: &Path,
    ) -> Result<Self, StoreError> {
        let mut files = Vec::new();
        for name in vfs.list(folder).map_err(StoreError::io(folder))? {
            let path = folder.join(&name);
            let read = || {
                let file = vfs.open(&path)?;
                let name = name.to_string_lossy().into_owned();
                let is_framed = phase != Phase::Orders && name != DICTIONARY_FILE;
                let checksum = (!is_framed).then(|| file_checksum(&*file, &|| Ok(()))).transpose()?;
                Ok(OutputFile { name, bytes: file.len(), checksum })
            };
            files.push(read().map_err(StoreError::io(&path))?);
        }
        Ok(Self { attempt: attempt.to_owned(), files })
    }

    /// The same with files of another list that this has not.
    #[must_use]
    pub fn with(mut self, more: Self) -> Self {
        let is_new = |file: &OutputFile| self.files.iter().all(|known| known.name != file.name);
        let new: Vec<OutputFile> = more.files.into_iter().filter(is_new).collect();
        self.files.extend(new);
        self
    }

    /// The bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut record = Record::default();
        record.bytes(self.attempt.as_bytes());
        record.number(self.files.len() as u64);
        for file in &self.files {
            record.bytes(file.name.as_bytes());
            record.number(file.bytes);
            record.option(file.checksum, |record, checksum| record.bytes(&checksum.to_le_bytes()));
        }
        record.into_sealed_bytes()
    }

    /// Reads what [`Self::encode`] wrote to a file.
    pub fn decode(path: &Path, bytes: Vec<u8>) -> Result<Self, StoreError> {
        let mut record = RecordReader::sealed(path, bytes)?;
        let mut output = Self { attempt: record.text()?, files: Vec::new() };
        for _ in 0..record.count()? {
            let (name, bytes) = (record.text()?, record.number()?);
            let checksum = record.option(RecordReader::bytes)?;
            let checksum =
                checksum.map(|bytes| bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes)));
            output.files.push(OutputFile { name, bytes, checksum });
        }
        Ok(output)
    }
}

impl OutputFile {
    /// Reads as much of the file as `look` says.
    ///
    /// # Errors
    /// `InvalidData` where it is not what was written; where it cannot be read, or the work is cancelled.
    pub fn check(&self, file: &dyn ReadAt, look: Look, cancel: &CancelToken) -> io::Result<()> {
        let damaged = |what: &str| Err(io::Error::new(io::ErrorKind::InvalidData, what));
        if file.len() != self.bytes {
            return damaged("the file has another length than what was written");
        }
        let goes_on = || cancel.check().map_err(io::Error::other);
        match self.checksum {
            Some(checksum) if checksum != file_checksum(file, &goes_on)? => {
                damaged("the bytes of the file are not what was written")
            }
            None if look == Look::All => check_frames(file, &goes_on),
            _ => Ok(()),
        }
    }
}

/// What a disk gives that cannot read a block.
const EIO: i32 = 5;

/// Whether what was written for a load is gone or is not what it was, as opposed to what is out of reach for now.
pub fn is_damage(error: &StoreError) -> bool {
    match error {
        StoreError::Io { source, .. } => {
            let kinds = [io::ErrorKind::NotFound, io::ErrorKind::InvalidData, io::ErrorKind::UnexpectedEof];
            kinds.contains(&source.kind()) || source.raw_os_error() == Some(EIO)
        }
        StoreError::Corruption { .. } | StoreError::Version { .. } => true,
        _ => false,
    }
}

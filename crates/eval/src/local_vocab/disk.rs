//! The temporary files of a query's terms: made when they are first needed.

use super::disk_index::{PageFile, PlaceAt};
use super::term_file::{TermFile, damaged};
use super::term_hash::hash;
use lode_rdf::Term;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The files.
#[derive(Debug, Default)]
pub struct Disk {
    folder: OnceLock<PathBuf>,
    terms: OnceLock<TermFile>,
    pages: OnceLock<PageFile>,
    /// Held while one is made.
    making: Mutex<()>,
    /// Why a write has failed. Nobody knows then how much of it is in the file, and what is behind it would not be where it is looked for: so
    /// nothing more is written.
    failed: OnceLock<io::ErrorKind>,
}

/// Where a term is.
#[derive(Debug, Clone, Copy)]
pub enum Place {
    /// In the file of terms; with its hash.
    Known(u64, u64),
    /// That is on the disk, too.
    Entry(PlaceAt),
}

impl Disk {
    /// The folder of the files; whether nobody had said which.
    pub fn set_folder(&self, folder: &Path) -> bool {
        self.folder.get().is_none() && self.folder.set(folder.to_owned()).is_ok()
    }

    /// The file of terms; an error where nobody has said in which folder.
    pub fn terms(&self) -> io::Result<&TermFile> {
        self.made(&self.terms, TermFile::in_folder)
    }

    /// The file of hashes and places, alike.
    pub fn pages(&self) -> io::Result<&PageFile> {
        self.made(&self.pages, PageFile::in_folder)
    }

    fn made<'a, T>(&self, file: &'a OnceLock<T>, make: impl Fn(&Path) -> io::Result<T>) -> io::Result<&'a T> {
        if let Some(file) = file.get() {
            return Ok(file);
        }
        let folder = self.folder.get().ok_or(io::ErrorKind::NotFound)?;
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if file.get().is_none() {
            // Nobody else sets it meanwhile.
            let _ = file.set(make(folder)?);
        }
        file.get().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Writes something, unless a write has failed before.
    pub fn write<T>(&self, write: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        if let Some(kind) = self.failed.get() {
            return Err((*kind).into());
        }
        write().inspect_err(|error| {
            // Where two fail at once, either may say why.
            let _ = self.failed.set(error.kind());
        })
    }

    /// Why something cannot be read: where a write has failed, since it is not there.
    pub fn reason(&self, error: io::Error) -> io::Error {
        self.failed.get().map_or(error, |kind| (*kind).into())
    }

    /// How many files there are.
    #[cfg(test)]
    pub fn files(&self) -> usize {
        usize::from(self.terms.get().is_some()) + usize::from(self.pages.get().is_some())
    }

    /// The term at a place.
    pub fn read(&self, place: Place) -> io::Result<Term> {
        self.read_at(place).map_err(|error| self.reason(error))
    }

    fn read_at(&self, place: Place) -> io::Result<Term> {
        let (term_hash, place) = match place {
            Place::Known(hash, place) => (hash, place),
            Place::Entry(entry) => entry.read(self.pages()?)?,
        };
        let term = self.terms()?.read(place)?;
        if hash(&term) == term_hash { Ok(term) } else { Err(damaged()) }
    }
}

#[cfg(test)]
mod tests {
    //! Behind a write that failed.
    use super::*;

    #[test]
    fn nothing_more_is_written_and_readers_hear_why() {
        let (disk, mut tried) = (Disk::default(), 0);
        assert!(disk.write(|| Ok(())).is_ok());
        let lost = || io::Error::from(io::ErrorKind::UnexpectedEof);
        assert_eq!(disk.reason(lost()).kind(), io::ErrorKind::UnexpectedEof, "nothing has failed yet");
        for _ in 0..2 {
            let failed = disk.write::<()>(|| {
                tried += 1;
                Err(io::ErrorKind::StorageFull.into())
            });
            assert_eq!(failed.map_err(|error| error.kind()), Err(io::ErrorKind::StorageFull));
        }
        assert_eq!(tried, 1);
        assert_eq!(disk.reason(lost()).kind(), io::ErrorKind::StorageFull);
    }
}

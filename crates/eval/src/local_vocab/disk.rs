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

    /// How many files there are.
    #[cfg(test)]
    pub fn files(&self) -> usize {
        usize::from(self.terms.get().is_some()) + usize::from(self.pages.get().is_some())
    }

    /// The term at a place.
    pub fn read(&self, place: Place) -> io::Result<Term> {
        let (term_hash, place) = match place {
            Place::Known(hash, place) => (hash, place),
            Place::Entry(entry) => entry.read(self.pages()?)?,
        };
        let term = self.terms()?.read(place)?;
        if hash(&term) == term_hash { Ok(term) } else { Err(damaged()) }
    }
}

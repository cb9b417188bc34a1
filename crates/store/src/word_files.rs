//! The files of an index of the words of a segment's texts, and how they are read: see [`crate::words`].

use crate::index_files::IndexKind;
use lode_base::cancel::CancelToken;
use lode_base::vfs::Vfs;
use lode_packed::{BlockCache, Dictionary, Order, PackedError, Permutation, ReadContext};
use lode_rdf::value_id::Section;
use lode_text::index::{ANALYSIS_VERSION, LENGTHS, WordIndex};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The section of its dictionary in which words and names are.
pub const WORDS: Section = Section::String;
/// The order that rows of words and texts are written as: the first columns are what sorts them.
pub const ROWS: Order = Order::Spog;
/// Keys that are read at once.
const KEYS_AT_ONCE: u64 = 1024;
/// Rows that are read at once.
pub const ROWS_AT_ONCE: usize = 1 << 14;

/// Indexes of words, as others that are kept.
pub const KIND: IndexKind = IndexKind { kept_file: "text-index", name: "words", version: ANALYSIS_VERSION };

/// The file of words in a segment's folder; where it is, that of rows is, too.
pub fn words_file(folder: &Path) -> PathBuf {
    KIND.keys_file(folder)
}

/// The file of rows.
pub fn rows_file(folder: &Path) -> PathBuf {
    KIND.rows_file(folder)
}

/// Files of earlier versions.
pub fn old_files(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let names = (1..ANALYSIS_VERSION)
        .flat_map(|version| ["lode", "perm"].map(|end| format!("words-{version}.{end}")));
    names.map(|name| folder.join(name)).collect::<Vec<_>>().into_iter()
}

/// An index of the words of a segment.
#[derive(Debug, Clone)]
pub struct Words {
    words: Dictionary,
    rows: Permutation,
    texts: u64,
}

impl Words {
    /// Opens that of a segment's folder; none where there is none.
    pub fn open(vfs: &dyn Vfs, folder: &Path, cache: &Arc<BlockCache>) -> Result<Option<Self>, PackedError> {
        let path = words_file(folder);
        if !Self::is_in(vfs, folder) {
            return Ok(None);
        }
        let open = |path: PathBuf| {
            let name = path.display().to_string();
            match vfs.open_immutable(&path) {
                Ok(file) => Ok(Some((file, name))),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
                Err(source) => Err(PackedError::Io { path: name.as_str().into(), source }),
            }
        };
        let (Some((words, name)), Some((rows, name_of_rows))) = (open(path)?, open(rows_file(folder))?)
        else {
            return Ok(None);
        };
        let words = Dictionary::open(words, &name, Arc::clone(cache))?;
        let rows = Permutation::open(rows, &name_of_rows, Arc::clone(cache))?;
        let lengths = match words.find(WORDS, LENGTHS)? {
            Some(number) => rows.range(&[number])?,
            None => 0..0,
        };
        Ok(Some(Self { words, rows, texts: lengths.end - lengths.start }))
    }

    /// Whether a segment's folder has one.
    pub fn is_in(vfs: &dyn Vfs, folder: &Path) -> bool {
        vfs.exists(&words_file(folder))
    }

    /// The same files for a reader.
    #[must_use]
    pub fn read_by(&self, context: Option<&Arc<ReadContext>>) -> Self {
        Self { words: self.words.read_by(context), rows: self.rows.read_by(context), texts: self.texts }
    }

    /// Reads all of it.
    pub fn verify(&self, cancel: &CancelToken, on_progress: &mut dyn FnMut(u64)) -> Result<(), PackedError> {
        self.words.verify(cancel, on_progress)?;
        self.rows.verify(cancel, on_progress)?;
        Ok(())
    }
}

impl WordIndex for Words {
    type Error = PackedError;

    fn texts(&self) -> u64 {
        self.texts
    }

    fn find(&self, key: &[u8]) -> Result<Option<u64>, PackedError> {
        self.words.find(WORDS, key)
    }

    fn each_key(&self, start: &[u8], found: &mut dyn FnMut(&[u8], u64) -> bool) -> Result<(), PackedError> {
        let first = self.words.lower_bound(WORDS, start)?;
        // No key has this byte.
        let end = self.words.lower_bound(WORDS, &[start, &[0xFF]].concat())?;
        let mut goes_on = true;
        let mut from = first;
        while goes_on && from < end {
            let numbers: Vec<u64> = (from..end.min(from + KEYS_AT_ONCE)).collect();
            self.words.visit_sorted::<PackedError>(WORDS, &numbers, &mut |at, key| {
                goes_on = goes_on && found(key, from + at as u64);
                Ok(())
            })?;
            from += KEYS_AT_ONCE;
        }
        Ok(())
    }

    fn list(&self, number: u64, found: &mut dyn FnMut(&[u64]) -> bool) -> Result<(), PackedError> {
        self.each(self.rows.range(&[number])?, 0b0010, &mut |[_, texts, ..]| found(texts))
    }

    fn counts(
        &self,
        number: u64,
        texts: Range<u64>,
        found: &mut dyn FnMut(&[u64], &[u64]) -> bool,
    ) -> Result<(), PackedError> {
        let rows = self.rows.range(&[number])?;
        let from = self.rows.lower_bound(&[number, texts.start], rows.clone())?;
        let end = self.rows.lower_bound(&[number, texts.end], from..rows.end)?;
        self.each(from..end, 0b0110, &mut |[_, texts, counts, _]| found(texts, counts))
    }
}

impl Words {
    /// Calls `found` with columns of some rows, until it says no.
    fn each(
        &self,
        rows: Range<u64>,
        columns: u8,
        found: &mut dyn FnMut(&[Vec<u64>; 4]) -> bool,
    ) -> Result<(), PackedError> {
        let mut cursor = self.rows.cursor(rows, columns);
        let mut read: [Vec<u64>; 4] = Default::default();
        while cursor.next(ROWS_AT_ONCE, &mut read)? > 0 {
            if !found(&read) {
                break;
            }
            read.iter_mut().for_each(Vec::clear);
        }
        Ok(())
    }
}

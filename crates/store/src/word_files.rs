//! The files of an index of the words of a segment's texts, and how they are read: see [`crate::words`].

use lode_base::cancel::CancelToken;
use lode_base::vfs::Vfs;
use lode_packed::{BlockCache, Dictionary, Order, PackedError, Permutation, ReadContext};
use lode_rdf::value_id::Section;
use lode_text::index::{ANALYSIS_VERSION, WordIndex};
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

/// The file of words in a segment's folder; where it is, that of rows is, too.
pub fn words_file(folder: &Path) -> PathBuf {
    folder.join(format!("words-{ANALYSIS_VERSION}.lode"))
}

/// The file of rows.
pub fn rows_file(folder: &Path) -> PathBuf {
    folder.join(format!("words-{ANALYSIS_VERSION}.perm"))
}

/// An index of the words of a segment.
#[derive(Debug, Clone)]
pub struct Words {
    words: Dictionary,
    rows: Permutation,
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
        Ok(Some(Self { words, rows: Permutation::open(rows, &name_of_rows, Arc::clone(cache))? }))
    }

    /// Whether a segment's folder has one.
    pub fn is_in(vfs: &dyn Vfs, folder: &Path) -> bool {
        vfs.exists(&words_file(folder))
    }

    /// The same files for a reader.
    #[must_use]
    pub fn read_by(&self, context: Option<&Arc<ReadContext>>) -> Self {
        Self { words: self.words.read_by(context), rows: self.rows.read_by(context) }
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

    fn count(&self, number: u64) -> Result<u64, PackedError> {
        let rows = self.rows.range(&[number])?;
        Ok(rows.end - rows.start)
    }

    fn list(&self, number: u64, out: &mut Vec<u64>) -> Result<(), PackedError> {
        let mut cursor = self.rows.cursor(self.rows.range(&[number])?, 0b0010);
        let mut columns = [Vec::new(), std::mem::take(out), Vec::new(), Vec::new()];
        while cursor.next(ROWS_AT_ONCE, &mut columns)? > 0 {}
        let [_, texts, ..] = columns;
        *out = texts;
        Ok(())
    }
}

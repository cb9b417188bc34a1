//! Makes the indexes of words of a database's segments.

use super::lists::{AllKeys, Listing};
use super::settings::words_of;
use super::texts_of;
use super::tokens::{Tokenizing, Tokens};
use crate::error::StoreError;
use crate::index_files::{KEYS, ROWS};
use crate::kept_indexes;
use crate::segment_builder::memory_bytes_default;
use crate::store::Store;
use crate::version::OpenSegment;
use crate::word_files::WORDS;
use lode_base::cancel::CancelToken;
use lode_base::vfs::Vfs;
use lode_packed::{DictionaryWriter, PermutationWriter};
use lode_text::index::TextSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Keys between two looks at the cancel token.
const KEYS_UNCHECKED: usize = 256;

/// How to index words.
#[derive(Debug, Clone)]
pub struct WordsOptions {
    /// Bytes of memory for words, and for sorting.
    pub memory_bytes: usize,
    /// Threads to make them with.
    pub threads: usize,
    /// Also where there is an index.
    pub force: bool,
    /// Stops it.
    pub cancel: CancelToken,
}

impl Default for WordsOptions {
    fn default() -> Self {
        let (threads, memory_bytes) = (lode_base::cores::cores(), memory_bytes_default());
        Self { memory_bytes, threads, force: false, cancel: CancelToken::default() }
    }
}

/// What was done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WordsReport {
    /// Segments that were indexed now,
    pub segments: u64,
    /// and texts of them.
    pub texts: u64,
    /// Bytes of their indexes.
    pub bytes: u64,
    /// Segments that had an index, or have no texts.
    pub others: u64,
}

/// Whether the database has indexes of words.
pub fn keeps_words(store: &Store) -> bool {
    kept_indexes::keeps(store, &WORDS)
}

/// Removes the indexes of words, and makes none for new segments.
///
/// # Errors
///
/// Where a file cannot be removed.
pub fn drop_words(store: &Store) -> Result<(), StoreError> {
    kept_indexes::drop_all(store, &WORDS)?;
    let version = store.version();
    let folders = version.segments.iter().map(|segment| store.folder().join(segment.entry.folder()));
    kept_indexes::remove_files(store, folders.flat_map(|folder| WORDS.old_files(&folder)).collect())
}

/// Makes an index of the words of each segment that has none, and from now on of new ones. Who reads at the same time is not kept waiting, and finds it as soon as it is whole.
///
/// # Errors
///
/// Where files cannot be read or written, the words do not fit into memory, or it was cancelled.
pub fn index_words(store: &Store, options: &WordsOptions) -> Result<WordsReport, StoreError> {
    kept_indexes::in_turn(store, &options.cancel, || {
        kept_indexes::keep(store, &WORDS)?;
        index_in_turn(store, options)
    })
}

/// The same for who has the right to replace segments.
pub(crate) fn index_in_turn(store: &Store, options: &WordsOptions) -> Result<WordsReport, StoreError> {
    let (mut report, mut without) = (WordsReport::default(), 0);
    let of = words_of(store)?.filter(|of| !of.is_all());
    let snapshot = store.snapshot();
    let others = kept_indexes::each_without(store, &WORDS, options.force, |segment, folder| {
        let texts: u64 = texts_of(segment).iter().sum();
        if texts == 0 {
            without += 1;
            return Ok(());
        }
        let covered = match &of {
            Some(of) => Some(snapshot.covered_by(of, segment, &options.cancel)?),
            None => None,
        };
        report.segments += 1;
        report.texts += covered.as_ref().map_or(texts, TextSet::len);
        report.bytes += Building { vfs: store.vfs(), folder, segment, covered, options }.run()?;
        Ok(())
    })?;
    report.others = others + without;
    Ok(report)
}

struct Building<'b> {
    vfs: &'b Arc<dyn Vfs>,
    folder: &'b Path,
    segment: &'b OpenSegment,
    /// The texts that it is of, where these are not all.
    covered: Option<TextSet>,
    options: &'b WordsOptions,
}

impl Building<'_> {
    fn run(&self) -> Result<u64, StoreError> {
        let [new_words, new_lists] = WORDS.new_files(self.folder);
        let bytes = self.write(&new_words, &new_lists)?;
        if self.covered.is_some() {
            // One that is there may be of other texts.
            kept_indexes::remove_in(&**self.vfs, &WORDS, self.folder)?;
        }
        let placed = WORDS.put_in_place(&**self.vfs, self.folder);
        placed.map_err(|(path, error)| io(&path)(error))?;
        for old in WORDS.old_files(self.folder) {
            // What earlier versions have left takes room only.
            let _ = self.vfs.remove(&old);
        }
        Ok(bytes)
    }

    fn write(&self, words: &Path, lists: &Path) -> Result<u64, StoreError> {
        let Some(dictionary) = self.segment.dictionary() else { return Ok(0) };
        let WordsOptions { memory_bytes, threads, cancel, .. } = self.options;
        let (memory_bytes, threads) = (*memory_bytes, *threads);
        let (vfs, covered) = (&**self.vfs, self.covered.as_ref());
        let tokens =
            Tokenizing { vfs, folder: self.folder, dictionary, covered, memory_bytes, threads, cancel }
                .run()?;
        let spilled: Vec<PathBuf> = tokens.spilled.iter().map(|(_, path)| path.clone()).collect();
        let keys = AllKeys::of(&tokens);
        let bytes = self.write_words(words, &keys.keys).and_then(|bytes| {
            let texts = texts_of(self.segment).iter().sum();
            let listing =
                Listing { vfs: self.vfs, folder: self.folder, texts, memory_bytes, threads, cancel };
            Ok(bytes + self.write_rows(lists, &listing, tokens, &keys)?)
        });
        for path in &spilled {
            // Most are gone already.
            let _ = self.vfs.remove(path);
        }
        bytes
    }

    fn write_words(&self, path: &Path, keys: &[Box<[u8]>]) -> Result<u64, StoreError> {
        let mut writer = DictionaryWriter::new(self.vfs.create(path).map_err(io(path))?);
        for (number, key) in keys.iter().enumerate() {
            if number.is_multiple_of(KEYS_UNCHECKED) {
                self.options.cancel.check()?;
            }
            writer.push(KEYS, key)?;
        }
        let (info, mut file) = writer.finish_into_file()?;
        file.sync().map_err(io(path))?;
        Ok(info.bytes)
    }

    fn write_rows(
        &self,
        path: &Path,
        listing: &Listing<'_>,
        tokens: Tokens,
        keys: &AllKeys,
    ) -> Result<u64, StoreError> {
        let mut writer = PermutationWriter::new(self.vfs.create(path).map_err(io(path))?, ROWS);
        let mut zeros = Vec::new();
        listing.run(tokens, keys, &mut |words, texts, counts| {
            self.options.cancel.check()?;
            zeros.resize(words.len(), 0);
            writer.push([words, texts, counts, &zeros]).map_err(StoreError::from)
        })?;
        let (info, mut file) = writer.finish_into_file()?;
        file.sync().map_err(io(path))?;
        Ok(info.bytes)
    }
}

fn io(path: &Path) -> impl FnOnce(std::io::Error) -> StoreError {
    let path = path.to_owned();
    |source| StoreError::Io { path, source }
}

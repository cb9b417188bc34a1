//! The files of an index of the words of a segment's texts, and how they are read: see [`crate::words`].

use crate::index_files::{IndexFiles, IndexKind, KEYS};
use lode_base::block_cache::{BlockKey, CachedBlock};
use lode_base::cancel::CancelToken;
use lode_base::vfs::Vfs;
use lode_packed::{BlockCache, PackedError, ReadContext};
use lode_text::index::{ANALYSIS_VERSION, COVERED, LENGTHS, TextSet, Union, WordIndex, language_starts};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// Keys that are read at once.
const KEYS_AT_ONCE: u64 = 1024;
/// Rows that are read at once.
pub const ROWS_AT_ONCE: usize = 1 << 14;

/// Lengths of so many texts are kept together in the cache: scores need those of texts that are anywhere, and to unpack all between them takes longer than all else.
const LENGTHS_AT_ONCE: u64 = 1 << 14;

/// Lengths of neighbouring texts, as the index has them: what is more is told as the greatest.
struct Lengths(Box<[u16]>);

impl CachedBlock for Lengths {
    fn bytes(&self) -> usize {
        size_of_val(&*self.0)
    }
}

/// Indexes of words.
pub const WORDS: IndexKind = IndexKind { kept_file: "text-index", name: "words", version: ANALYSIS_VERSION };

/// An index of the words of a segment.
#[derive(Debug, Clone)]
pub struct Words {
    files: IndexFiles,
    /// The rows of lengths: one for each text, in order.
    lengths: Range<u64>,
    /// The texts that it has, where these are not all.
    covered: Option<Arc<TextSet>>,
    /// The languages that its words have, once it was asked.
    languages: Arc<OnceLock<u32>>,
    cache: Arc<BlockCache>,
    /// What lengths are called in the cache.
    lengths_file: u64,
}

impl Words {
    /// Opens that of a segment's folder; none where there is none.
    pub fn open(vfs: &dyn Vfs, folder: &Path, cache: &Arc<BlockCache>) -> Result<Option<Self>, PackedError> {
        let Some(files) = IndexFiles::open(&WORDS, vfs, folder, cache)? else { return Ok(None) };
        let lengths = match files.keys.find(KEYS, LENGTHS)? {
            Some(number) => files.rows.range(&[number])?,
            None => 0..0,
        };
        if let Some(last) = lengths.end.checked_sub(1).filter(|last| *last >= lengths.start)
            && files.rows.row(last)?[1] != last - lengths.start
        {
            // Not each text has its length: made by something else.
            return Ok(None);
        }
        let (cache, lengths_file) = (Arc::clone(cache), cache.file_id());
        let mut words =
            Self { files, lengths, covered: None, languages: Arc::default(), cache, lengths_file };
        if let Some(number) = words.files.keys.find(KEYS, COVERED)? {
            let mut union = Union::new(words.texts());
            words.list(number..number + 1, &mut |texts| {
                union.add(texts);
                true
            })?;
            words.covered = Some(Arc::new(union.finish()));
        }
        Ok(Some(words))
    }

    /// The texts that it has, where these are not all.
    pub fn covered(&self) -> Option<&Arc<TextSet>> {
        self.covered.as_ref()
    }

    /// The same files for a reader.
    #[must_use]
    pub fn read_by(&self, context: Option<&Arc<ReadContext>>) -> Self {
        Self { files: self.files.read_by(context), ..self.clone() }
    }

    /// Reads all of it.
    pub fn verify(&self, cancel: &CancelToken, on_progress: &mut dyn FnMut(u64)) -> Result<(), PackedError> {
        self.files.verify(cancel, on_progress)
    }

    /// The rows of some keys, which are neighbours.
    fn rows_of(&self, numbers: &Range<u64>) -> Result<Range<u64>, PackedError> {
        let first = self.files.rows.range(&[numbers.start])?;
        if numbers.end - numbers.start <= 1 {
            return Ok(first);
        }
        Ok(first.start..self.files.rows.lower_bound(&[numbers.end], first.start..self.files.rows.rows())?)
    }

    /// The lengths of some texts, by number.
    fn some_lengths(&self, number: u64) -> Result<Arc<Lengths>, PackedError> {
        let key = BlockKey { file: self.lengths_file, block: number };
        self.cache.get_or_load(key, || {
            let first = number.saturating_mul(LENGTHS_AT_ONCE);
            let mut found = Vec::new();
            self.lengths(first..first.saturating_add(LENGTHS_AT_ONCE), &mut |lengths| {
                found.extend(lengths.iter().map(|length| u16::try_from(*length).unwrap_or(u16::MAX)));
                true
            })?;
            Ok(Lengths(found.into()))
        })
    }

    /// Calls `found` with columns of some rows, until it says no.
    fn each(
        &self,
        rows: Range<u64>,
        columns: u8,
        found: &mut dyn FnMut(&[Vec<u64>; 4]) -> bool,
    ) -> Result<(), PackedError> {
        let mut cursor = self.files.rows.cursor(rows, columns);
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

impl WordIndex for Words {
    type Error = PackedError;

    fn texts(&self) -> u64 {
        self.lengths.end - self.lengths.start
    }

    fn keys(&self) -> u64 {
        self.files.keys.len(KEYS)
    }

    fn count(&self, numbers: Range<u64>) -> Result<u64, PackedError> {
        let rows = self.rows_of(&numbers)?;
        Ok(rows.end.saturating_sub(rows.start))
    }

    fn languages(&self) -> Result<u32, PackedError> {
        if let Some(known) = self.languages.get() {
            return Ok(*known);
        }
        let (mut bits, mut before) = (0, None);
        for (index, start) in language_starts().enumerate() {
            let start = self.files.keys.lower_bound(KEYS, &start)?;
            if before.is_some_and(|before| before < start) {
                bits |= 1 << (index - 1);
            }
            before = Some(start);
        }
        Ok(*self.languages.get_or_init(|| bits))
    }

    fn find(&self, key: &[u8]) -> Result<Option<u64>, PackedError> {
        self.files.keys.find(KEYS, key)
    }

    fn each_key(&self, start: &[u8], found: &mut dyn FnMut(&[u8], u64) -> bool) -> Result<(), PackedError> {
        let first = self.files.keys.lower_bound(KEYS, start)?;
        // No key has this byte.
        let end = self.files.keys.lower_bound(KEYS, &[start, &[0xFF]].concat())?;
        let mut goes_on = true;
        let mut from = first;
        while goes_on && from < end {
            let numbers: Vec<u64> = (from..end.min(from + KEYS_AT_ONCE)).collect();
            self.files.keys.visit_sorted::<PackedError>(KEYS, &numbers, &mut |at, key| {
                goes_on = goes_on && found(key, from + at as u64);
                Ok(())
            })?;
            from += KEYS_AT_ONCE;
        }
        Ok(())
    }

    fn list(&self, numbers: Range<u64>, found: &mut dyn FnMut(&[u64]) -> bool) -> Result<(), PackedError> {
        self.each(self.rows_of(&numbers)?, 0b0010, &mut |[_, texts, ..]| found(texts))
    }

    fn counts(
        &self,
        numbers: Range<u64>,
        texts: Range<u64>,
        found: &mut dyn FnMut(&[u64], &[u64]) -> bool,
    ) -> Result<(), PackedError> {
        let mut rows = self.rows_of(&numbers)?;
        if numbers.end - numbers.start == 1 {
            let from = self.files.rows.lower_bound(&[numbers.start, texts.start], rows.clone())?;
            rows = from..self.files.rows.lower_bound(&[numbers.start, texts.end], from..rows.end)?;
        }
        self.each(rows, 0b0110, &mut |[_, texts, counts, _]| found(texts, counts))
    }

    fn lengths(&self, texts: Range<u64>, found: &mut dyn FnMut(&[u64]) -> bool) -> Result<(), PackedError> {
        let Range { start, end } = self.lengths;
        let row = |text: u64| start.saturating_add(text).min(end);
        self.each(row(texts.start)..row(texts.end), 0b0100, &mut |[_, _, lengths, _]| found(lengths))
    }

    fn lengths_of(
        &self,
        texts: &[u64],
        out: &mut Vec<u32>,
        work: &mut dyn FnMut(usize) -> bool,
    ) -> Result<bool, PackedError> {
        for some in texts.chunk_by(|a, b| a / LENGTHS_AT_ONCE == b / LENGTHS_AT_ONCE) {
            let Some(first) = some.first() else { continue };
            let lengths = self.some_lengths(first / LENGTHS_AT_ONCE)?;
            out.extend(some.iter().map(|text| {
                let length = lengths.0.get((text % LENGTHS_AT_ONCE) as usize);
                length.map_or(u32::from(u16::MAX), |length| u32::from(*length))
            }));
            if !work(size_of_val(some)) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

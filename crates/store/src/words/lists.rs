//! The lists of an index: words and names in order, and the texts of each word, made of what threads have found.

use super::tokens::{Batch, Tokens, unspilled};
use crate::error::StoreError;
use lode_base::cancel::CancelToken;
use lode_base::external_sort::{ExternalSorter, SortOptions, SortedRows};
use lode_base::row_file::RowFileReader;
use lode_base::vfs::Vfs;
use lode_text::index::{COUNT_MAX, each_name};
use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Bits for how often a text has a word, where rows are sorted outside of memory and there is room for as many.
const COUNT_BITS: u32 = 16;

/// Words and names, ascending: their places are their numbers.
#[derive(Debug)]
pub(super) struct AllKeys {
    pub keys: Vec<Box<[u8]>>,
    /// By thread and its own number.
    pub numbers: Vec<Vec<u64>>,
    /// Names and words, ascending.
    pub names: Vec<(u64, u64)>,
}

impl AllKeys {
    /// Of all words that were found.
    pub(super) fn of(tokens: &Tokens) -> Self {
        let words: HashSet<&[u8]> = tokens.vocabularies.iter().flat_map(|part| part.words()).collect();
        let mut names: Vec<(Box<[u8]>, &[u8])> = Vec::new();
        for word in &words {
            each_name(word, &mut |name| names.push((name.into(), word)));
        }
        let of_names: HashSet<&[u8]> = names.iter().map(|(name, _)| &**name).collect();
        let mut keys: Vec<&[u8]> = words.iter().copied().collect();
        keys.extend(of_names.into_iter().filter(|name| !words.contains(name)));
        keys.sort_unstable();
        let number = |key: &[u8]| keys.binary_search(&key).unwrap_or(0) as u64;
        let numbers = tokens.vocabularies.iter().map(|part| part.words().map(number).collect()).collect();
        let mut named: Vec<(u64, u64)> =
            names.iter().map(|(name, word)| (number(name), number(word))).collect();
        named.sort_unstable();
        named.dedup();
        Self { keys: keys.into_iter().map(Box::from).collect(), numbers, names: named }
    }

    fn number(&self, thread: usize, word: usize) -> u64 {
        self.numbers.get(thread).and_then(|own| own.get(word)).copied().unwrap_or(0)
    }
}

/// Where rows are sorted, and how.
pub(super) struct Listing<'l> {
    pub vfs: &'l Arc<dyn Vfs>,
    pub folder: &'l Path,
    pub texts: u64,
    pub memory_bytes: usize,
    pub threads: usize,
    pub cancel: &'l CancelToken,
}

/// Calls for rows of a word, a text (or of a name and a word), and a count.
pub(super) type Push<'p> = dyn FnMut(&[u64], &[u64], &[u64]) -> Result<(), StoreError> + 'p;

impl Listing<'_> {
    /// Calls `push` with all rows, ascending.
    pub(super) fn run(&self, tokens: Tokens, keys: &AllKeys, push: &mut Push<'_>) -> Result<(), StoreError> {
        let count_max = self.count_max(keys)?;
        let mut out = Rows { names: &keys.names, count_max, columns: Default::default(), push };
        if tokens.spilled.is_empty() {
            self.in_memory(tokens.batches, keys, &mut out)?;
        } else {
            self.sorted(tokens, keys, &mut out)?;
        }
        out.names_before(u64::MAX)?;
        out.flush()
    }

    /// Bits of a word and of a text.
    fn bits(&self, keys: &AllKeys) -> (u32, u32) {
        (bits_of(keys.keys.len() as u64), bits_of(self.texts))
    }

    /// The greatest count that has room beside a word and a text in 64 bits: the same however rows are sorted.
    fn count_max(&self, keys: &AllKeys) -> Result<u64, StoreError> {
        let (word, text) = self.bits(keys);
        let too_many = StoreError::WordsTooMany { memory_bytes: self.memory_bytes };
        let room = 64_u32.checked_sub(word + text).filter(|room| *room > 0).ok_or(too_many)?;
        Ok((1 << room.min(COUNT_BITS)) - 1)
    }

    /// Each row goes to its place: batches ascend by text, so each list does.
    fn in_memory(
        &self,
        batches: Vec<Batch>,
        keys: &AllKeys,
        out: &mut Rows<'_, '_>,
    ) -> Result<(), StoreError> {
        let mut ends = vec![0_usize; keys.keys.len() + 1];
        for batch in &batches {
            self.cancel.check()?;
            for row in &batch.rows {
                if let Some(count) = ends.get_mut(keys.number(batch.thread, row.word()) as usize + 1) {
                    *count += 1;
                }
            }
        }
        let mut all = 0;
        for end in &mut ends {
            all += *end;
            *end = all;
        }
        let parts = parts(&ends, self.threads);
        let mut lists = vec![0_u64; all];
        std::thread::scope(|scope| {
            let mut rest = lists.as_mut_slice();
            for words in parts {
                let starts = ends.get(words.start..words.end).unwrap_or_default();
                // Of no words, too: where there are fewer words than threads.
                let first = ends.get(words.start).copied().unwrap_or(all);
                let end = ends.get(words.end).copied().unwrap_or(all);
                let len = end.saturating_sub(first).min(rest.len());
                let (own, behind) = std::mem::take(&mut rest).split_at_mut(len);
                rest = behind;
                let batches = &batches;
                scope.spawn(move || self.scatter(batches, keys, words.start, starts, own));
            }
        });
        drop(batches);
        self.cancel.check()?;
        for (word, range) in ends.windows(2).enumerate() {
            let list = lists.get(range[0]..range[1]).unwrap_or_default();
            out.list(word as u64, list)?;
        }
        Ok(())
    }

    /// Puts the rows of some words, from `first` on, at their places: `starts` by word, of all rows, and `own` begins with the first of these.
    fn scatter(&self, batches: &[Batch], keys: &AllKeys, first: usize, starts: &[usize], own: &mut [u64]) {
        let before = starts.first().copied().unwrap_or(0);
        let mut next: Vec<usize> = starts.iter().map(|start| start - before).collect();
        for batch in batches {
            if self.cancel.check().is_err() {
                return;
            }
            let text = batch.first << COUNT_BITS;
            for row in &batch.rows {
                let word = keys.number(batch.thread, row.word()) as usize;
                let Some(next) = word.checked_sub(first).and_then(|word| next.get_mut(word)) else {
                    continue;
                };
                if let Some(place) = own.get_mut(*next) {
                    *place = text + row.rest();
                }
                *next += 1;
            }
        }
    }

    /// By sorting in parts.
    fn sorted(&self, tokens: Tokens, keys: &AllKeys, out: &mut Rows<'_, '_>) -> Result<(), StoreError> {
        let (word_bits, text_bits) = self.bits(keys);
        let count_bits = (64 - word_bits - text_bits).min(COUNT_BITS);
        let text_shift = count_bits;
        let word_shift = text_bits + count_bits;
        let io = |source: io::Error| StoreError::Io { path: self.folder.to_owned(), source };
        let options = SortOptions {
            vfs: Arc::clone(self.vfs),
            folder: self.folder.to_owned(),
            name: "words-rows".to_owned(),
            bits: 0..word_shift + word_bits,
            memory_bytes: self.memory_bytes / 2,
            threads: self.threads,
        };
        let mut sorter = ExternalSorter::<u64>::new(options, 0);
        let count_max = out.count_max;
        let packed = |word: u64, text: u64| {
            let count = (text & COUNT_MAX).min(count_max);
            word << word_shift | (text >> COUNT_BITS) << text_shift | count
        };
        let mut packed_rows = Vec::new();
        for batch in &tokens.batches {
            self.cancel.check()?;
            packed_rows.clear();
            let row = |row: &super::tokens::Row| {
                packed(keys.number(batch.thread, row.word()), (batch.first << COUNT_BITS) + row.rest())
            };
            packed_rows.extend(batch.rows.iter().map(row));
            sorter.push(&packed_rows).map_err(io)?;
        }
        drop(tokens.batches);
        for (thread, path) in &tokens.spilled {
            let mut file = RowFileReader::<u128>::open(&**self.vfs, path).map_err(io)?;
            let mut rows = Vec::new();
            while file.next(&mut rows).map_err(io)? {
                self.cancel.check()?;
                packed_rows.clear();
                packed_rows.extend(rows.iter().map(|row| {
                    let (word, text) = unspilled(*row);
                    packed(keys.number(*thread, word), text)
                }));
                sorter.push(&packed_rows).map_err(io)?;
            }
            drop(file);
            let _ = self.vfs.remove(path);
        }
        let (text_mask, count_mask) = ((1_u64 << text_bits) - 1, (1_u64 << count_bits) - 1);
        let mut list = |rows: &[u64]| {
            self.cancel.check()?;
            rows.iter().try_for_each(|row| {
                let text = row >> text_shift & text_mask;
                out.list(row >> word_shift, &[text << COUNT_BITS | row & count_mask])
            })
        };
        match sorter.finish().map_err(io)? {
            SortedRows::Memory(rows) => list(&rows),
            SortedRows::Runs(mut merge) => {
                let mut rows = Vec::new();
                while merge.next(&mut rows).map_err(io)? {
                    list(&rows)?;
                }
                Ok(())
            }
        }
    }
}

/// Takes texts word by word, and gives them on in columns, with names between.
struct Rows<'r, 'p> {
    names: &'r [(u64, u64)],
    count_max: u64,
    columns: [Vec<u64>; 3],
    push: &'r mut Push<'p>,
}

/// Rows that are given on at once.
const ROWS_AT_ONCE: usize = 1 << 14;

impl Rows<'_, '_> {
    /// Texts of a word, with their counts behind them.
    fn list(&mut self, word: u64, texts: &[u64]) -> Result<(), StoreError> {
        self.names_before(word)?;
        for part in texts.chunks(ROWS_AT_ONCE) {
            let [words, numbers, counts] = &mut self.columns;
            words.resize(words.len() + part.len(), word);
            numbers.extend(part.iter().map(|text| text >> COUNT_BITS));
            let max = self.count_max;
            counts.extend(part.iter().map(|text| match text & COUNT_MAX {
                count if count >= max => COUNT_MAX,
                count => count,
            }));
            if words.len() >= ROWS_AT_ONCE {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn names_before(&mut self, word: u64) -> Result<(), StoreError> {
        let now = self.names.partition_point(|(name, _)| *name < word);
        let (now, later) = self.names.split_at(now);
        self.names = later;
        for part in now.chunks(ROWS_AT_ONCE) {
            let [names, words, counts] = &mut self.columns;
            names.extend(part.iter().map(|(name, _)| name));
            words.extend(part.iter().map(|(_, word)| word));
            counts.resize(words.len(), 0);
            if names.len() >= ROWS_AT_ONCE {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        let [words, texts, counts] = &self.columns;
        (self.push)(words, texts, counts)?;
        self.columns.iter_mut().for_each(Vec::clear);
        Ok(())
    }
}

/// Ranges of words, of about as many rows each.
fn parts(ends: &[usize], threads: usize) -> Vec<std::ops::Range<usize>> {
    let (all, words) = (ends.last().copied().unwrap_or(0), ends.len() - 1);
    let threads = threads.max(1);
    let mut parts = Vec::with_capacity(threads);
    let mut start = 0;
    for part in 1..=threads {
        let end = if part == threads {
            words
        } else {
            ends.partition_point(|end| *end < all / threads * part).clamp(start, words)
        };
        parts.push(start..end);
        start = end;
    }
    parts
}

/// Bits that numbers below `end` have.
fn bits_of(end: u64) -> u32 {
    (u64::BITS - end.leading_zeros()).max(1)
}

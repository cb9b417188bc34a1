//! The lists of an index: words and names in order, and the texts of each word, made of what threads have found.

use super::postings::Postings;
use super::tokens::{Tokens, unspilled};
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

/// Words between two looks at the cancel token.
const WORDS_UNCHECKED: usize = 256;

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

    /// By thread and number: the word's own number there and one; 0 where it has none.
    fn own(&self, threads: usize) -> Vec<Vec<u32>> {
        let mut own = vec![vec![0; self.keys.len()]; threads];
        for (own, numbers) in own.iter_mut().zip(&self.numbers) {
            for (number, word) in (1..).zip(numbers) {
                if let Some(own) = own.get_mut(*word as usize) {
                    *own = number;
                }
            }
        }
        own
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
            self.in_memory(tokens.postings, keys, &mut out)?;
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

    /// Each word's lists, of all threads, become one: texts that a thread took at a time ascend, so that to sort is to merge.
    fn in_memory(
        &self,
        mut postings: Vec<Postings>,
        keys: &AllKeys,
        out: &mut Rows<'_, '_>,
    ) -> Result<(), StoreError> {
        let own = keys.own(postings.len());
        let mut list = Vec::new();
        for word in 0..keys.keys.len() {
            if word.is_multiple_of(WORDS_UNCHECKED) {
                self.cancel.check()?;
            }
            list.clear();
            for (postings, own) in postings.iter_mut().zip(&own) {
                if let Some(own) = own.get(word).and_then(|own| own.checked_sub(1)) {
                    postings.read(own as usize, &mut list);
                }
            }
            list.sort();
            out.list(word as u64, &list)?;
        }
        Ok(())
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
        let (mut packed_rows, mut texts) = (Vec::new(), Vec::new());
        for (thread, mut postings) in tokens.postings.into_iter().enumerate() {
            for word in 0..postings.words() {
                texts.clear();
                postings.read(word, &mut texts);
                let number = keys.number(thread, word);
                packed_rows.extend(texts.iter().map(|text| packed(number, *text)));
                if packed_rows.len() >= ROWS_AT_ONCE || word + 1 == postings.words() {
                    self.cancel.check()?;
                    sorter.push(&packed_rows).map_err(io)?;
                    packed_rows.clear();
                }
            }
        }
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

/// Bits that numbers below `end` have.
fn bits_of(end: u64) -> u32 {
    (u64::BITS - end.leading_zeros()).max(1)
}

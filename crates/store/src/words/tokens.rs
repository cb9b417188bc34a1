//! The words of all texts, by several threads: each takes some texts at a time and numbers the words that it meets for itself.

use super::vocabulary::Vocabulary;
use super::with_text;
use crate::error::StoreError;
use lode_base::cancel::CancelToken;
use lode_base::row_file::RowFileWriter;
use lode_base::vfs::Vfs;
use lode_packed::{Dictionary, dictionary::Terms};
use lode_rdf::value_id::Section;
use lode_text::index::{COUNT_MAX, COVERED, Keys, LENGTHS, TextSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Texts that a thread takes at a time, at most, and bytes of them.
const BATCH_TEXTS: usize = 1 << 12;
const BATCH_BYTES: usize = 1 << 20;
/// Bits of a row for how often a text has a word, and for the text's place in its batch.
const COUNT_BITS: u32 = 16;
const PLACE_BITS: u32 = 16;
/// A part of the memory that rows may take, and words of all threads.
const ROWS_PART: usize = 4;
const WORDS_PART: usize = 4;

/// How the words of texts are found.
pub(super) struct Tokenizing<'t> {
    pub vfs: &'t dyn Vfs,
    /// Where rows go that find no room.
    pub folder: &'t Path,
    pub dictionary: &'t Dictionary,
    /// The texts whose words are wanted, where these are not all.
    pub covered: Option<&'t TextSet>,
    pub memory_bytes: usize,
    pub threads: usize,
    pub cancel: &'t CancelToken,
}

/// A row: a word by the number of its thread, the place of a text in its batch, and how often it has the word.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row(u64);

impl Row {
    fn new(word: u32, place: usize) -> Self {
        Self(u64::from(word) << (PLACE_BITS + COUNT_BITS) | (place as u64) << COUNT_BITS)
    }

    fn count(&mut self, more: u64) {
        self.0 += more.min(COUNT_MAX - (self.0 & COUNT_MAX));
    }

    pub(super) fn word(self) -> usize {
        (self.0 >> (PLACE_BITS + COUNT_BITS)) as usize
    }

    /// The place, and behind it the count.
    pub(super) fn rest(self) -> u64 {
        self.0 & ((1 << (PLACE_BITS + COUNT_BITS)) - 1)
    }
}

/// Rows of some texts, ascending by text.
#[derive(Debug)]
pub(super) struct Batch {
    /// The number of the first text.
    pub first: u64,
    /// Whose numbers its words have.
    pub thread: usize,
    pub rows: Vec<Row>,
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    /// By thread.
    pub vocabularies: Vec<Vocabulary>,
    /// Ascending by text.
    pub batches: Vec<Batch>,
    /// Files of rows that found no room, and whose numbers their words have: a word, a text and a count, as [`spilled`] has them.
    pub spilled: Vec<(usize, PathBuf)>,
}

/// A row in a file, and back.
fn spilled(row: Row, first: u64) -> u128 {
    u128::from(row.word() as u64) << 64 | u128::from((first << COUNT_BITS) + row.rest())
}

/// The word, and the text with its count behind it.
pub(super) fn unspilled(row: u128) -> (usize, u64) {
    #[expect(clippy::cast_possible_truncation, reason = "the upper and the lower half")]
    let halves = ((row >> 64) as usize, row as u64);
    halves
}

impl Tokenizing<'_> {
    /// Finds all words. What is left in files on errors is removed.
    pub(super) fn run(&self) -> Result<Tokens, StoreError> {
        let sections = vec![Section::LangString, Section::String];
        let texts = Texts { dictionary: self.dictionary, sections, terms: None, number: 0 };
        let shared = Shared {
            texts: Mutex::new(texts),
            rows_bytes: AtomicUsize::new(0),
            words_bytes: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
        };
        let threads = self.threads.max(1);
        let parts: Vec<Result<Part, StoreError>> = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads)
                .map(|thread| {
                    scope.spawn({
                        let shared = &shared;
                        move || self.part(thread, shared)
                    })
                })
                .collect();
            let own = self.part(0, &shared);
            let joined = others.into_iter().map(|other| match other.join() {
                Ok(part) => part,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            std::iter::once(own).chain(joined.collect::<Vec<_>>()).collect()
        });
        let mut tokens = Tokens::default();
        let mut failed = None;
        for (thread, part) in parts.into_iter().enumerate() {
            match part {
                Ok(part) => {
                    tokens.vocabularies.push(part.vocabulary);
                    tokens.batches.extend(part.batches);
                    tokens.spilled.extend(part.file.map(|path| (thread, path)));
                }
                Err(error) => drop(failed.get_or_insert(error)),
            }
        }
        if let Some(error) = failed {
            for thread in 0..threads {
                // One that was not begun is not there.
                let _ = self.vfs.remove(&self.spill_path(thread));
            }
            return Err(error);
        }
        tokens.batches.sort_unstable_by_key(|batch| batch.first);
        Ok(tokens)
    }

    fn spill_path(&self, thread: usize) -> PathBuf {
        self.folder.join(format!("words-{thread}.rows"))
    }

    /// What one thread does.
    fn part(&self, thread: usize, shared: &Shared<'_>) -> Result<Part, StoreError> {
        let mut work = Work {
            of: self,
            thread,
            shared,
            part: Part::default(),
            keys: Keys::default(),
            words_bytes: 0,
            file: None,
        };
        let mut done = work.run();
        if let Some(file) = work.file.take() {
            let path = self.spill_path(thread);
            done = done
                .and(file.finish().map(drop).map_err(|source| StoreError::Io { path: path.clone(), source }));
            work.part.file = Some(path);
        }
        shared.is_over.fetch_or(done.is_err(), Ordering::Relaxed);
        done.map(|()| work.part)
    }
}

/// What the threads share.
struct Shared<'t> {
    texts: Mutex<Texts<'t>>,
    rows_bytes: AtomicUsize,
    words_bytes: AtomicUsize,
    /// One has failed.
    is_over: AtomicBool,
}

#[derive(Default)]
struct Part {
    vocabulary: Vocabulary,
    batches: Vec<Batch>,
    file: Option<PathBuf>,
}

struct Work<'w, 's> {
    of: &'w Tokenizing<'w>,
    thread: usize,
    shared: &'w Shared<'s>,
    part: Part,
    keys: Keys,
    /// What its words take of the shared count.
    words_bytes: usize,
    file: Option<RowFileWriter<u128>>,
}

impl Work<'_, '_> {
    fn run(&mut self) -> Result<(), StoreError> {
        let mut taken = Taken::default();
        let memory_bytes = self.of.memory_bytes;
        let bytes_max = (memory_bytes / 64).clamp(1 << 10, BATCH_BYTES);
        while !self.shared.is_over.load(Ordering::Relaxed) {
            self.of.cancel.check()?;
            {
                let mut texts = self.shared.texts.lock().unwrap_or_else(PoisonError::into_inner);
                texts.take(&mut taken, bytes_max)?;
            }
            if taken.ends.is_empty() {
                break;
            }
            let rows = self.rows(&taken)?;
            self.keep(taken.first, rows)?;
            // Names take as much again.
            let bytes = self.part.vocabulary.memory_bytes();
            let more = bytes - std::mem::replace(&mut self.words_bytes, bytes);
            if self.shared.words_bytes.fetch_add(more, Ordering::Relaxed) + more > memory_bytes / WORDS_PART {
                return Err(StoreError::WordsTooMany { memory_bytes });
            }
        }
        Ok(())
    }

    fn rows(&mut self, taken: &Taken) -> Result<Vec<Row>, StoreError> {
        let mut rows: Vec<Row> = Vec::new();
        let (keys, vocabulary) = (&mut self.keys, &mut self.part.vocabulary);
        if self.of.covered.is_some() {
            // Also an index of no text tells that it has not all.
            vocabulary.number(COVERED);
        }
        let mut start = 0;
        for (place, (section, end)) in taken.ends.iter().enumerate() {
            let key = taken.bytes.get(start..*end).unwrap_or_default();
            start = *end;
            vocabulary.begin_text();
            if let Some(covered) = self.of.covered {
                if !covered.has(taken.first + place as u64) {
                    // Lengths are found by place.
                    rows.push(Row::new(vocabulary.number(LENGTHS), place));
                    continue;
                }
                rows.push(Row::new(vocabulary.number(COVERED), place));
            }
            with_text(*section, key, |text, language| {
                let length = keys.each_word(text, language, &mut |word| {
                    let (number, at) = vocabulary.row(word, rows.len());
                    if at == rows.len() {
                        rows.push(Row::new(number, place));
                    }
                    if let Some(row) = rows.get_mut(at) {
                        row.count(1);
                    }
                });
                let mut row = Row::new(vocabulary.number(LENGTHS), place);
                row.count(length);
                rows.push(row);
            });
        }
        Ok(rows)
    }

    /// Keeps rows in memory, or in a file where there is no room for more.
    fn keep(&mut self, first: u64, mut rows: Vec<Row>) -> Result<(), StoreError> {
        rows.shrink_to_fit();
        let bytes = size_of_val(rows.as_slice());
        let before = self.shared.rows_bytes.fetch_add(bytes, Ordering::Relaxed);
        if before + bytes <= self.of.memory_bytes / ROWS_PART {
            self.part.batches.push(Batch { first, thread: self.thread, rows });
            return Ok(());
        }
        let path = self.of.spill_path(self.thread);
        let io = |source: io::Error| StoreError::Io { path: path.clone(), source };
        let mut file = match self.file.take() {
            Some(file) => file,
            None => RowFileWriter::create(self.of.vfs, &path).map_err(io)?,
        };
        // What was kept goes there, too: only files can be sorted in parts.
        for batch in self.part.batches.drain(..).chain([Batch { first, thread: self.thread, rows }]) {
            let rows: Vec<u128> = batch.rows.iter().map(|row| spilled(*row, batch.first)).collect();
            file.push(&rows).map_err(io)?;
        }
        self.file = Some(file);
        Ok(())
    }
}

/// Some texts as the dictionary has them.
#[derive(Default)]
struct Taken {
    first: u64,
    bytes: Vec<u8>,
    /// Where each ends.
    ends: Vec<(Section, usize)>,
}

/// All texts, in order.
struct Texts<'t> {
    dictionary: &'t Dictionary,
    /// Those not begun, the last first.
    sections: Vec<Section>,
    terms: Option<(Section, Terms)>,
    /// Of the next text.
    number: u64,
}

impl Texts<'_> {
    /// The next ones; none at the end.
    fn take(&mut self, taken: &mut Taken, bytes_max: usize) -> Result<(), StoreError> {
        taken.bytes.clear();
        taken.ends.clear();
        taken.first = self.number;
        while taken.ends.len() < BATCH_TEXTS && taken.bytes.len() < bytes_max {
            let Some((section, terms)) = &mut self.terms else {
                let Some(section) = self.sections.pop() else { break };
                self.terms = Some((section, self.dictionary.iter(section)));
                continue;
            };
            match terms.next()? {
                Some(key) => {
                    taken.bytes.extend_from_slice(key);
                    taken.ends.push((*section, taken.bytes.len()));
                    self.number += 1;
                }
                None => self.terms = None,
            }
        }
        Ok(())
    }
}

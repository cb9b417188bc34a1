//! The words of all texts, by several threads: each takes some texts at a time and numbers the words that it meets for itself.

use super::postings::{Posting, Postings};
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
/// A part of the memory that lists of texts may take, and words of all threads.
const LISTS_PART: usize = 4;
const WORDS_PART: usize = 4;
/// Texts of words that are found before they go into their lists, about, and rows that are written at once.
const FOUND_MAX: usize = 1 << 10;
const ROWS_AT_ONCE: usize = 1 << 13;

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

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    /// By thread.
    pub vocabularies: Vec<Vocabulary>,
    /// Their texts.
    pub postings: Vec<Postings>,
    /// Files of rows that found no room, and whose numbers their words have: a word, a text and a count, as [`spilled`] has them.
    pub spilled: Vec<(usize, PathBuf)>,
}

/// A row in a file, and back.
fn spilled(word: usize, text: u64) -> u128 {
    u128::from(word as u64) << 64 | u128::from(text)
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
            lists_bytes: AtomicUsize::new(0),
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
                    tokens.postings.push(part.postings);
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
            found: Vec::new(),
            words_bytes: 0,
            lists_bytes: 0,
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
    lists_bytes: AtomicUsize,
    words_bytes: AtomicUsize,
    /// One has failed.
    is_over: AtomicBool,
}

#[derive(Default)]
struct Part {
    vocabulary: Vocabulary,
    postings: Postings,
    file: Option<PathBuf>,
}

struct Work<'w, 's> {
    of: &'w Tokenizing<'w>,
    thread: usize,
    shared: &'w Shared<'s>,
    part: Part,
    keys: Keys,
    /// What was found and is in no list yet.
    found: Vec<Posting>,
    /// What its words take of the shared counts, and its lists.
    words_bytes: usize,
    lists_bytes: usize,
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
            self.find(&taken);
            self.keep()?;
        }
        self.part.vocabulary.finish(&mut self.found);
        self.part.postings.extend(&self.found);
        self.keep()
    }

    /// The words of some texts.
    fn find(&mut self, taken: &Taken) {
        let (keys, found, Part { vocabulary, postings, .. }) =
            (&mut self.keys, &mut self.found, &mut self.part);
        // Also an index of no text tells that it has not all.
        let covering = self.of.covered.map(|covered| (covered, vocabulary.number(COVERED)));
        let lengths = vocabulary.number(LENGTHS);
        let mut start = 0;
        for (text, (section, end)) in (taken.first..).zip(&taken.ends) {
            let key = taken.bytes.get(start..*end).unwrap_or_default();
            start = *end;
            if let Some((covered, word)) = covering {
                if !covered.has(text) {
                    // Lengths are found by place.
                    found.push(Posting { word: lengths, text, count: 0 });
                    continue;
                }
                found.push(Posting { word, text, count: 0 });
            }
            with_text(*section, key, |literal, language| {
                let length =
                    keys.each_word(literal, language, &mut |word| vocabulary.push(word, text, found));
                let count = u16::try_from(length.min(COUNT_MAX)).unwrap_or(u16::MAX);
                found.push(Posting { word: lengths, text, count });
            });
            if found.len() >= FOUND_MAX {
                postings.extend(found);
                found.clear();
            }
        }
    }

    /// Keeps lists in memory, or in a file where there is no room for more. Words have to find room.
    fn keep(&mut self) -> Result<(), StoreError> {
        let memory_bytes = self.of.memory_bytes;
        // Names take as much again.
        let bytes = self.part.vocabulary.memory_bytes();
        let more = bytes - std::mem::replace(&mut self.words_bytes, bytes);
        if self.shared.words_bytes.fetch_add(more, Ordering::Relaxed) + more > memory_bytes / WORDS_PART {
            return Err(StoreError::WordsTooMany { memory_bytes });
        }
        let postings = &mut self.part.postings;
        let bytes = postings.memory_bytes();
        let before = std::mem::replace(&mut self.lists_bytes, bytes);
        let all = self.shared.lists_bytes.fetch_add(bytes - before, Ordering::Relaxed) + bytes - before;
        if bytes == 0 || all <= memory_bytes / LISTS_PART && !postings.is_full() {
            return Ok(());
        }
        let path = self.of.spill_path(self.thread);
        let io = |source: io::Error| StoreError::Io { path: path.clone(), source };
        let mut file = match self.file.take() {
            Some(file) => file,
            None => RowFileWriter::create(self.of.vfs, &path).map_err(io)?,
        };
        let (mut texts, mut rows) = (Vec::new(), Vec::new());
        for word in 0..postings.words() {
            texts.clear();
            postings.read(word, &mut texts);
            rows.extend(texts.iter().map(|text| spilled(word, *text)));
            if rows.len() >= ROWS_AT_ONCE {
                file.push(&rows).map_err(io)?;
                rows.clear();
            }
        }
        file.push(&rows).map_err(io)?;
        self.file = Some(file);
        postings.clear();
        self.lists_bytes = 0;
        self.shared.lists_bytes.fetch_sub(bytes, Ordering::Relaxed);
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

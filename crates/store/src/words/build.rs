//! Makes the index of a segment's words: once over the texts for the words, once more for where they are.

use super::texts_of;
use crate::error::StoreError;
use crate::store::Store;
use crate::version::OpenSegment;
use crate::word_files::{ROWS, ROWS_AT_ONCE, WORDS, rows_file, words_file};
use lode_base::cancel::CancelToken;
use lode_base::external_sort::{ExternalSorter, SortOptions, SortedRows};
use lode_base::vfs::Vfs;
use lode_packed::{Dictionary, DictionaryWriter, PermutationWriter};
use lode_rdf::TermRef;
use lode_rdf::key::with_term;
use lode_rdf::value_id::Section;
use lode_text::analysis::Language;
use lode_text::index::{each_name, each_word};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

/// Texts between two looks at the cancel token.
const TEXTS_UNCHECKED: usize = 256;
/// What a word takes in memory beside its letters, about.
const WORD_BYTES: usize = 96;

/// How to index words.
#[derive(Debug, Clone)]
pub struct WordsOptions {
    /// Bytes of memory for words, and for sorting.
    pub memory_bytes: usize,
    /// Also where there is an index.
    pub force: bool,
    /// Stops it.
    pub cancel: CancelToken,
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

/// Says that the database has indexes of words: those of new segments are made, too.
const KEPT_FILE: &str = "text-index";

/// Whether the database has indexes of words.
pub fn keeps_words(store: &Store) -> bool {
    store.vfs().exists(&store.folder().join(KEPT_FILE))
}

fn keep_words(store: &Store) -> Result<(), StoreError> {
    if keeps_words(store) {
        return Ok(());
    }
    let path = store.folder().join(KEPT_FILE);
    let made = store.vfs().create(&path).and_then(|mut file| file.sync());
    made.and_then(|()| store.vfs().sync_dir(store.folder())).map_err(io(&path))
}

/// Removes the indexes of words, and makes none for new segments.
///
/// # Errors
///
/// Where a file cannot be removed.
pub fn drop_words(store: &Store) -> Result<(), StoreError> {
    let mut files = vec![store.folder().join(KEPT_FILE)];
    for segment in store.version().segments.iter() {
        let folder = store.folder().join(segment.entry.folder());
        files.extend([words_file(&folder), rows_file(&folder)]);
    }
    for file in files {
        match store.vfs().remove(&file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(io(&file)(error)),
            _ => {}
        }
    }
    Ok(())
}

/// Makes an index of the words of each segment that has none, and from now on of new ones. Who reads at the same time is not kept waiting, and finds it as soon as it is whole.
///
/// # Errors
///
/// Where files cannot be read or written, the words do not fit into memory, or it was cancelled.
pub fn index_words(store: &Store, options: &WordsOptions) -> Result<WordsReport, StoreError> {
    // Nobody replaces a segment meanwhile.
    store.compaction_lock().lock(&options.cancel)?;
    let report = keep_words(store).and_then(|()| index_in_turn(store, options));
    store.compaction_lock().unlock();
    report
}

/// The same for who has the right to replace segments.
pub(crate) fn index_in_turn(store: &Store, options: &WordsOptions) -> Result<WordsReport, StoreError> {
    let version = store.version();
    let mut report = WordsReport::default();
    for segment in version.segments.iter() {
        let folder = store.folder().join(segment.entry.folder());
        let is_there = [words_file(&folder), rows_file(&folder)].iter().all(|file| store.vfs().exists(file));
        let has = is_there && !options.force;
        let texts: u64 = texts_of(segment).iter().sum();
        if has || texts == 0 {
            report.others += 1;
            continue;
        }
        report.segments += 1;
        report.texts += texts;
        report.bytes += Building { vfs: store.vfs(), folder: &folder, segment, options }.run()?;
    }
    Ok(report)
}

struct Building<'b> {
    vfs: &'b Arc<dyn Vfs>,
    folder: &'b Path,
    segment: &'b OpenSegment,
    options: &'b WordsOptions,
}

impl Building<'_> {
    fn run(&self) -> Result<u64, StoreError> {
        let keys = self.keys()?;
        let numbers: HashMap<&[u8], u64> = (0..).zip(&keys).map(|(number, key)| (&**key, number)).collect();
        let rows = self.rows(&keys, &numbers)?;
        let (words, lists) = (words_file(self.folder), rows_file(self.folder));
        let [new_words, new_lists] = ["words.new", "rows.new"].map(|name| self.folder.join(name));
        let bytes = self.write_words(&new_words, &keys)? + self.write_rows(&new_lists, rows, &keys)?;
        // The words last: where they are, all is there. An older index of this version has the same rows.
        for (from, to) in [(&new_lists, &lists), (&new_words, &words)] {
            self.vfs.rename(from, to).map_err(io(to))?;
            self.vfs.sync_dir(self.folder).map_err(io(self.folder))?;
        }
        Ok(bytes)
    }
}

impl Building<'_> {
    /// Words and names, ascending.
    fn keys(&self) -> Result<Vec<Box<[u8]>>, StoreError> {
        let mut words: HashSet<Box<[u8]>> = HashSet::new();
        let mut bytes = 0;
        let most = self.options.memory_bytes / 2;
        self.each_text(|_, text, language| {
            each_word(text, language, &mut |word| {
                if !words.contains(word) {
                    bytes += word.len() + WORD_BYTES;
                    words.insert(word.into());
                }
            });
            // Names take as much again.
            if bytes > most / 4 {
                Err(StoreError::WordsTooMany { memory_bytes: self.options.memory_bytes })
            } else {
                Ok(())
            }
        })?;
        let mut names = HashSet::new();
        for word in &words {
            each_name(word, &mut |name| {
                if !words.contains(name) && !names.contains(name) {
                    names.insert(Box::from(name));
                }
            });
        }
        let mut keys: Vec<Box<[u8]>> = words.into_iter().chain(names).collect();
        keys.sort_unstable();
        Ok(keys)
    }

    /// Rows of a word and a text, or of a name and a word, sorted.
    fn rows(&self, keys: &[Box<[u8]>], numbers: &HashMap<&[u8], u64>) -> Result<SortedRows<u64>, StoreError> {
        let shift = self.shift(keys);
        let bits = 0..shift + bits_of(keys.len() as u64);
        let options = SortOptions {
            vfs: Arc::clone(self.vfs),
            folder: self.folder.to_owned(),
            name: "words-rows".to_owned(),
            bits,
            memory_bytes: self.options.memory_bytes / 2,
            threads: 1,
        };
        let mut sorter = ExternalSorter::<u64>::new(options, 0);
        let mut rows: Vec<u64> = Vec::new();
        self.each_text(|number, text, language| {
            rows.clear();
            each_word(text, language, &mut |word| {
                rows.extend(numbers.get(word).map(|word| word << shift | number));
            });
            rows.sort_unstable();
            rows.dedup();
            sorter.push(&rows).map_err(io(self.folder))
        })?;
        for (number, word) in (0..).zip(keys) {
            rows.clear();
            each_name(word, &mut |name| rows.extend(numbers.get(name).map(|name| name << shift | number)));
            sorter.push(&rows).map_err(io(self.folder))?;
        }
        sorter.finish().map_err(io(self.folder))
    }

    /// Bits for a text or a word.
    fn shift(&self, keys: &[Box<[u8]>]) -> u32 {
        let texts: u64 = texts_of(self.segment).iter().sum();
        bits_of(texts.max(keys.len() as u64))
    }

    fn write_words(&self, path: &Path, keys: &[Box<[u8]>]) -> Result<u64, StoreError> {
        let mut writer = DictionaryWriter::new(self.vfs.create(path).map_err(io(path))?);
        for (number, key) in keys.iter().enumerate() {
            if number.is_multiple_of(TEXTS_UNCHECKED) {
                self.options.cancel.check()?;
            }
            writer.push(WORDS, key)?;
        }
        let (info, mut file) = writer.finish_into_file()?;
        file.sync().map_err(io(path))?;
        Ok(info.bytes)
    }

    fn write_rows(&self, path: &Path, rows: SortedRows<u64>, keys: &[Box<[u8]>]) -> Result<u64, StoreError> {
        let shift = self.shift(keys);
        let mut writer = PermutationWriter::new(self.vfs.create(path).map_err(io(path))?, ROWS);
        let mut columns = [Vec::new(), Vec::new(), Vec::new()];
        let mut push = |rows: &[u64]| {
            self.options.cancel.check()?;
            columns.iter_mut().for_each(Vec::clear);
            columns[0].extend(rows.iter().map(|row| row >> shift));
            columns[1].extend(rows.iter().map(|row| row & ((1 << shift) - 1)));
            columns[2].resize(rows.len(), 0);
            let [words, texts, zeros] = &columns;
            writer.push([words, texts, zeros, zeros]).map_err(StoreError::from)
        };
        match rows {
            SortedRows::Memory(rows) => rows.chunks(ROWS_AT_ONCE).try_for_each(&mut push)?,
            SortedRows::Runs(mut merge) => {
                let mut rows = Vec::new();
                while merge.next(&mut rows).map_err(io(self.folder))? {
                    push(&rows)?;
                }
            }
        }
        let (info, mut file) = writer.finish_into_file()?;
        file.sync().map_err(io(path))?;
        Ok(info.bytes)
    }

    /// Calls `found` with each text and its number.
    fn each_text(
        &self,
        mut found: impl FnMut(u64, &str, Language) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let Some(dictionary) = self.segment.dictionary() else { return Ok(()) };
        let mut number = 0_u64;
        for section in [Section::String, Section::LangString] {
            each_key(dictionary, section, |key| {
                if number.is_multiple_of(TEXTS_UNCHECKED as u64) {
                    self.options.cancel.check()?;
                }
                with_text(section, key, |text, language| found(number, text, language)).transpose()?;
                number += 1;
                Ok(())
            })?;
        }
        Ok(())
    }
}

fn each_key(
    dictionary: &Dictionary,
    section: Section,
    mut found: impl FnMut(&[u8]) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut keys = dictionary.iter(section);
    while let Some(key) = keys.next()? {
        found(key)?;
    }
    Ok(())
}

/// Calls `f` with the text of a key and its language; none for what is no text.
pub(super) fn with_text<R>(section: Section, key: &[u8], f: impl FnOnce(&str, Language) -> R) -> Option<R> {
    let of_term = |term: TermRef<'_>| match term {
        TermRef::Literal(literal) => {
            Some(f(literal.value(), literal.language().map_or(Language::NONE, Language::of_tag)))
        }
        _ => None,
    };
    with_term(section, key, of_term).ok().flatten()
}

/// Bits that numbers below `end` have.
fn bits_of(end: u64) -> u32 {
    (u64::BITS - end.leading_zeros()).max(1)
}

fn io(path: &Path) -> impl FnOnce(std::io::Error) -> StoreError {
    let path = path.to_owned();
    |source| StoreError::Io { path, source }
}

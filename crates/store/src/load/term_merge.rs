//! Merges the sorted terms of all runs, class by class, so that every distinct term gets its number once.
//!
//! Blank nodes come first and inline values need no dictionary; the others are looked up in the dictionaries the database has
//! and, where new, appended to the new one. Triple terms around blank nodes get their keys only now, as blank nodes have their
//! final numbers by then. Every run learns the numbers of its terms.

use crate::load::error::LoadError;
use crate::load::run::{ClassTerms, Run, TermStore, TermWriter};
use crate::load::run_codes::{BlankNumbers, CodeSink, RunCodes};
use crate::load::term_cursor::TermCursor;
use crate::load::term_roles::{NameList, Roles};
use crate::progress::LoadProgress;
use crate::segment_builder::{Class, ClassCounts, InlineValues, TermIndex};
use lode_base::cancel::CancelToken;
use lode_base::frame_file::FrameWriter;
use lode_base::vfs::Vfs;
use lode_rdf::key::{Encoded, blank_from_label, decode, encode_with};
use lode_rdf::value_id::{Kind, PAYLOAD_MAX, Section, ValueId};
use std::cmp::Ordering;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Where terms that are not blank nodes or inline values get their numbers.
pub trait TermNumbers {
    /// The number of a term in its section; keys of a section ascend from call to call, sections too.
    fn number(&mut self, section: Section, key: &[u8]) -> Result<u64, LoadError>;
}

/// What the merge needs besides the runs.
#[derive(Debug)]
pub struct MergeContext<'a> {
    /// For temporary files.
    pub vfs: &'a Arc<dyn Vfs>,
    /// Their folder.
    pub folder: &'a Path,
    /// First blank node number not used.
    pub next_blank: u64,
    /// Asked now and then.
    pub cancel: &'a CancelToken,
    /// Told now and then.
    pub progress: &'a LoadProgress,
    /// Bytes of a frame of a temporary file.
    pub frame_bytes: usize,
    /// Bytes of each run's current term that are held.
    pub head_bytes: usize,
    /// The most inline values that are listed.
    pub inline_max: usize,
    /// The most predicates, and the most graph names, that are listed.
    pub names_max: usize,
}

/// What the merge found.
#[derive(Debug)]
pub struct Merged {
    /// Blank nodes and inline values of this load. The classes that are in dictionaries are for the caller to fill in.
    pub counts: ClassCounts,
    /// Predicates, sorted; none where there are too many.
    pub predicates: Option<Vec<TermIndex>>,
    /// Graph names, sorted; none where there are too many.
    pub graphs: Option<Vec<TermIndex>>,
    /// The numbers of each run's terms.
    pub codes: Vec<RunCodes>,
    /// Distinct terms of this load, by class.
    pub distinct: [u64; Class::COUNT],
}

/// How often to look at the cancel token, in terms.
const CHECK_EVERY: u64 = 1 << 14;

/// Tells the numbers of a run's blank nodes, which were merged before.
pub type BlanksOfRun<'a> = &'a dyn Fn(usize) -> Result<BlankNumbers, LoadError>;

/// Merges the terms of all runs.
pub fn merge_terms<N: TermNumbers>(
    runs: &[Run],
    numbers: &mut N,
    context: &MergeContext<'_>,
) -> Result<Merged, LoadError> {
    merge_classes(&Class::ALL, None, runs, numbers, context)
}

/// Merges the triple terms of all runs, the blank nodes of which have their numbers already.
pub fn merge_triple_terms<N: TermNumbers>(
    blanks: BlanksOfRun<'_>,
    runs: &[Run],
    numbers: &mut N,
    context: &MergeContext<'_>,
) -> Result<Merged, LoadError> {
    merge_classes(&[Class::TripleTerm], Some(blanks), runs, numbers, context)
}

fn merge_classes<N: TermNumbers>(
    classes: &[Class],
    blanks: Option<BlanksOfRun<'_>>,
    runs: &[Run],
    numbers: &mut N,
    context: &MergeContext<'_>,
) -> Result<Merged, LoadError> {
    let io = |source| LoadError::temporary(context.folder, source);
    let mut sink = CodeSink::new(runs, context.vfs, context.folder, context.frame_bytes).map_err(io)?;
    let mut merge = Merge {
        sink: &mut sink,
        context,
        blanks,
        inline: InlineValues::new(context.inline_max),
        predicates: NameList::new(context.names_max),
        graphs: NameList::new(context.names_max),
        distinct: [0; Class::COUNT],
        since_check: 0,
        key: Vec::new(),
    };
    for class in classes.iter().copied() {
        match class {
            Class::OpenTriple => {}
            Class::TripleTerm => merge.triple_terms(runs, numbers)?,
            _ => {
                let cursors = runs.iter().map(|run| TermCursor::new(&run.store, class, context.head_bytes));
                let cursors = cursors.enumerate().collect();
                merge.class(class, cursors, numbers)?;
            }
        }
    }
    let Merge { inline, mut predicates, mut graphs, distinct, .. } = merge;
    let codes = sink.finish().map_err(io)?;
    for (run, codes) in runs.iter().zip(&codes) {
        predicates.extend(codes.in_memory(&run.predicates));
        graphs.extend(codes.in_memory(&run.graphs));
    }
    let (predicates, graphs) = (predicates.into_names(), graphs.into_names());
    let mut counts = ClassCounts { blank_base: context.next_blank, inline, ..ClassCounts::default() };
    counts.counts[Class::Blank as usize] = distinct[Class::Blank as usize];
    counts.counts[Class::Inline as usize] = distinct[Class::Inline as usize];
    Ok(Merged { counts, predicates, graphs, codes, distinct })
}

struct Merge<'a> {
    sink: &'a mut CodeSink,
    context: &'a MergeContext<'a>,
    /// Where blank nodes are not merged here.
    blanks: Option<BlanksOfRun<'a>>,
    inline: InlineValues,
    predicates: NameList,
    graphs: NameList,
    distinct: [u64; Class::COUNT],
    since_check: u64,
    /// A long key.
    key: Vec<u8>,
}

impl Merge<'_> {
    fn io(&self) -> impl Fn(io::Error) -> LoadError + use<> {
        let folder = self.context.folder.to_owned();
        move |source| LoadError::temporary(&folder, source)
    }

    fn class<N: TermNumbers>(
        &mut self,
        class: Class,
        mut cursors: Vec<(usize, TermCursor<'_>)>,
        numbers: &mut N,
    ) -> Result<(), LoadError> {
        let io = self.io();
        let mut heap = Heap::default();
        for at in 0..cursors.len() {
            if cursors[at].1.advance().map_err(&io)? {
                heap.push(at, &cursors).map_err(&io)?;
            }
        }
        let mut long = std::mem::take(&mut self.key);
        while let Some(first) = heap.pop(&cursors).map_err(&io)? {
            let index = self.index(class, cursors[first].1.key(&mut long).map_err(&io)?, numbers)?;
            let mut roles = cursors[first].1.roles();
            self.sink.set(cursors[first].0, cursors[first].1.number(), index).map_err(&io)?;
            // The same term in other runs.
            while let Some(top) = heap.top() {
                if cursors[top].1.compare(&cursors[first].1).map_err(&io)? != Ordering::Equal {
                    break;
                }
                let (run, cursor) = &mut cursors[top];
                roles = roles.and(cursor.roles());
                self.sink.set(*run, cursor.number(), index).map_err(&io)?;
                if cursor.advance().map_err(&io)? {
                    heap.sift_down(&cursors).map_err(&io)?;
                } else {
                    heap.pop(&cursors).map_err(&io)?;
                }
            }
            self.name(index, roles);
            if cursors[first].1.advance().map_err(&io)? {
                heap.push(first, &cursors).map_err(&io)?;
            }
        }
        self.key = long;
        Ok(())
    }

    #[inline]
    fn name(&mut self, index: TermIndex, roles: Roles) {
        if roles.has(Roles::PREDICATE) {
            self.predicates.push(index);
        }
        if roles.has(Roles::GRAPH) {
            self.graphs.push(index);
        }
    }

    fn index<N: TermNumbers>(
        &mut self,
        class: Class,
        key: &[u8],
        numbers: &mut N,
    ) -> Result<TermIndex, LoadError> {
        let seen = self.distinct[class as usize];
        self.distinct[class as usize] = seen + 1;
        self.since_check += 1;
        if self.since_check >= CHECK_EVERY {
            self.context.cancel.check()?;
            self.context.progress.add_terms(self.since_check);
            self.since_check = 0;
        }
        match class.section() {
            Some(section) => Ok(TermIndex::new(class, numbers.number(section, key)?)),
            None if class == Class::Inline => {
                Ok(self.inline.push(key.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes))))
            }
            None if self.context.next_blank + seen > PAYLOAD_MAX => Err(LoadError::limit("blank nodes")),
            None => Ok(TermIndex::new(class, seen)),
        }
    }

    fn triple_terms<N: TermNumbers>(&mut self, runs: &[Run], numbers: &mut N) -> Result<(), LoadError> {
        let io = self.io();
        let mut resolved = Vec::new();
        for (at, run) in runs.iter().enumerate() {
            if let Some(store) = self.resolve(at, run)? {
                resolved.push((at, store));
            }
        }
        let mut cursors = Vec::new();
        for (at, run) in runs.iter().enumerate() {
            cursors.push((at, TermCursor::new(&run.store, Class::TripleTerm, self.context.head_bytes)));
        }
        for (at, open) in &resolved {
            cursors.push((
                *at,
                match open {
                    Resolved::Pairs(pairs) => TermCursor::over_pairs(pairs),
                    Resolved::File(store) => {
                        TermCursor::new(store, Class::TripleTerm, self.context.head_bytes)
                    }
                },
            ));
        }
        self.sink.flush().map_err(io)?;
        self.class(Class::TripleTerm, cursors, numbers)
    }

    /// The open triple terms of a run with their final keys, sorted.
    fn resolve(&mut self, at: usize, run: &Run) -> Result<Option<Resolved>, LoadError> {
        let io = self.io();
        let mut cursor = TermCursor::new(&run.store, Class::OpenTriple, self.context.head_bytes);
        let mut pairs = Vec::new();
        let mut blanks = None;
        while cursor.advance().map_err(&io)? {
            if blanks.is_none() {
                blanks = Some(match self.blanks {
                    Some(of_run) => of_run(at)?,
                    None => self.sink.blank_numbers(at).map_err(&io)?,
                });
            }
            let Some(blanks) = &blanks else { break };
            let first = self.context.next_blank;
            let key = close(cursor.key(&mut self.key).map_err(&io)?, |local| {
                let number = blanks.get(u32::try_from(local).ok()?)?;
                Some(ValueId::new(Kind::Blank, (first + number).min(PAYLOAD_MAX)))
            });
            pairs.push((key.ok_or(LoadError::limit("nested triple terms"))?, cursor.number()));
        }
        if pairs.is_empty() {
            return Ok(None);
        }
        pairs.sort_unstable();
        Ok(Some(match run.store {
            TermStore::Memory { .. } => Resolved::Pairs(pairs),
            TermStore::File { .. } => Resolved::File(self.spill(at, &pairs).map_err(&io)?),
        }))
    }

    fn spill(&self, run: usize, pairs: &[(Vec<u8>, u32)]) -> io::Result<TermStore> {
        let path = self.context.folder.join(open_terms_file(run));
        let mut file = FrameWriter::new(self.context.vfs.create(&path)?);
        let mut writer = TermWriter::default();
        for (key, number) in pairs {
            writer.write(key, *number, Roles::default(), &mut file)?;
        }
        let end = file.cut()?;
        file.flush()?;
        let mut classes: Box<[ClassTerms; Class::COUNT]> = Box::default();
        classes[Class::TripleTerm as usize] = (0..end).into();
        Ok(TermStore::File { file: self.context.vfs.open(&path)?, classes })
    }
}

/// The temporary file with the triple terms around blank nodes of a run, once these have their numbers.
pub fn open_terms_file(run: usize) -> String {
    format!("open-{run}.terms")
}

enum Resolved {
    Pairs(Vec<(Vec<u8>, u32)>),
    File(TermStore),
}

/// The key of a triple term with its blank nodes' numbers replaced.
fn close(key: &[u8], number: impl Fn(u64) -> Option<ValueId>) -> Option<Vec<u8>> {
    let term = decode(Section::TripleTerm, key).ok()?;
    let mut closed = Vec::with_capacity(key.len());
    let mut map = |label: &str| number(blank_from_label(label)?.payload());
    match encode_with(term.as_ref(), &mut closed, &mut map) {
        Encoded::Key(Section::TripleTerm) => Some(closed),
        _ => None,
    }
}

/// A binary heap of cursors, smallest key on top.
#[derive(Default)]
struct Heap(Vec<usize>);

impl Heap {
    fn top(&self) -> Option<usize> {
        self.0.first().copied()
    }

    fn push(&mut self, cursor: usize, cursors: &[(usize, TermCursor<'_>)]) -> io::Result<()> {
        self.0.push(cursor);
        let mut at = self.0.len() - 1;
        while at > 0 {
            let parent = (at - 1) / 2;
            if cursors[self.0[at]].1.compare(&cursors[self.0[parent]].1)?.is_ge() {
                break;
            }
            self.0.swap(at, parent);
            at = parent;
        }
        Ok(())
    }

    fn pop(&mut self, cursors: &[(usize, TermCursor<'_>)]) -> io::Result<Option<usize>> {
        let Some(top) = self.top() else { return Ok(None) };
        self.0.swap_remove(0);
        self.sift_down(cursors)?;
        Ok(Some(top))
    }

    /// Restores the order after the top's cursor has moved.
    fn sift_down(&mut self, cursors: &[(usize, TermCursor<'_>)]) -> io::Result<()> {
        let less =
            |one: usize, two: usize| Ok::<_, io::Error>(cursors[one].1.compare(&cursors[two].1)?.is_lt());
        let mut at = 0;
        loop {
            let mut child = 2 * at + 1;
            if child >= self.0.len() {
                return Ok(());
            }
            let right = child + 1;
            if right < self.0.len() && less(self.0[right], self.0[child])? {
                child = right;
            }
            if !less(self.0[child], self.0[at])? {
                return Ok(());
            }
            self.0.swap(at, child);
            at = child;
        }
    }
}

//! A run: what one worker gathered until its share of memory was full. Its terms are sorted; they and the rows stay in
//! memory where the budget allows it, else they go to the worker's temporary files.

use crate::load::arena::Arena;
use crate::load::interner::Interner;
use crate::load::run_rows::{ClosedRows, Rows};
use crate::load::term_roles::{Roles, RunRoles};
use crate::load::term_sort::{SORT_BYTES_PER_TERM, SortedTerm, SortedTerms, sort_terms};
use crate::segment_builder::Class;
use lode_base::frame_file::{FRAME_BYTES, FrameReader, FrameWriter};
use lode_base::shared_prefix::shared_prefix;
use lode_base::varint::write_varint;
use lode_base::vfs::{ReadAt, Vfs};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bits of a term's number; the roles are above them.
pub const NUMBER_BITS: u32 = u32::BITS - Roles::BITS;
/// Numbers that a run has.
pub const NUMBERS_MAX: u32 = 1 << NUMBER_BITS;
/// Frames of terms have at least this many bytes.
const FRAME_BYTES_MIN: usize = 4 << 10;
/// Terms between two marks, where a class has many;
const MARK_TERMS: usize = if cfg!(test) { 4 } else { 2048 };
/// else as many as make so many marks, since rows may be many where terms are few.
const MARKS_OF_FEW: usize = 64;
/// Bytes of a term's key that a mark has.
const MARK_KEY_BYTES_MAX: usize = 256;

/// A closed run.
#[derive(Debug)]
pub struct Run {
    /// Distinct terms.
    pub terms: u32,
    /// The terms, sorted.
    pub store: TermStore,
    /// Its quads.
    pub rows: ClosedRows,
    /// How many quads.
    pub row_count: u64,
    /// Numbers of the terms that are predicates, in the order the rows refer to them.
    pub predicates: NumberList,
    /// Numbers of the terms that are graph names.
    pub graphs: NumberList,
    /// Places in the terms of each class where reading may begin, if such were wanted.
    pub marks: [Vec<Mark>; Class::COUNT],
}

/// A place in the terms of a class where reading may begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// The front of the key of the first term there.
    pub key: Vec<u8>,
    /// Whether that is the whole key.
    pub is_whole: bool,
    /// Where its frame begins.
    pub offset: u64,
    /// Terms from there to the next mark, and rows that have one of them for a subject.
    pub weight: u64,
}

/// Numbers of terms of a run.
#[derive(Debug)]
pub enum NumberList {
    /// In memory.
    Memory(Vec<u32>),
    /// In a temporary file.
    File {
        /// The file.
        file: Arc<dyn ReadAt>,
        /// Where its frames are.
        range: Range<u64>,
    },
}

impl NumberList {
    fn write(numbers: &[u32], file: &mut FrameWriter) -> io::Result<Range<u64>> {
        let start = file.cut()?;
        for number in numbers {
            file.write(&number.to_le_bytes())?;
        }
        Ok(start..file.cut()?)
    }

    /// The numbers.
    pub fn load(self) -> io::Result<Vec<u32>> {
        let (file, range) = match self {
            Self::Memory(numbers) => return Ok(numbers),
            Self::File { file, range } => (file, range),
        };
        let (mut frames, mut numbers) = (FrameReader::new(file, range.start, range.end), Vec::new());
        while !frames.at_end() {
            numbers.push(frames.take(4)?.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes)));
        }
        Ok(numbers)
    }
}

/// The sorted terms of a run.
#[derive(Debug)]
pub enum TermStore {
    /// In memory.
    Memory {
        /// The keys.
        arena: Arena,
        /// Their order.
        sorted: SortedTerms,
    },
    /// Front-coded in a temporary file.
    File {
        /// The file.
        file: Arc<dyn ReadAt>,
        /// Those of each class.
        classes: Box<[ClassTerms; Class::COUNT]>,
    },
}

/// The terms of one class of a run in a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClassTerms {
    /// Where their frames are.
    pub frames: Range<u64>,
    /// Only those from this key on are wanted,
    pub from: Vec<u8>,
    /// and only those before this one, of at most [`SHARED_BYTES_MAX`] bytes.
    pub until: Option<Vec<u8>>,
}

impl ClassTerms {
    /// The terms from one key on and before another, of which only these frames need to be read: those from the last mark that is certainly not behind
    /// the lower bound to the first one behind the upper bound.
    pub fn between(frames: Range<u64>, marks: &[Mark], from: Vec<u8>, until: Option<Vec<u8>>) -> Self {
        let before = marks.iter().take_while(|mark| mark.key <= from);
        let start = before.filter(|mark| mark.is_whole).last().map_or(frames.start, |mark| mark.offset);
        // The front of a key is not behind the key.
        let behind = until.as_ref().and_then(|until| marks.iter().find(|mark| mark.key >= *until));
        let end = behind.map_or(frames.end, |mark| mark.offset);
        Self { frames: start.min(end)..end, from, until }
    }
}

impl From<Range<u64>> for ClassTerms {
    /// All terms of these frames.
    fn from(frames: Range<u64>) -> Self {
        Self { frames, ..Self::default() }
    }
}

impl TermStore {
    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Memory { arena, sorted } => arena.bytes() + sorted.terms.len() * SORT_BYTES_PER_TERM,
            Self::File { .. } => 0,
        }
    }
}

impl Run {
    /// Closes a run that stays in memory.
    pub fn in_memory(interner: Interner, mut rows: Rows) -> Self {
        let terms = interner.terms();
        let (predicates, graphs) = rows.number_predicates_and_graphs(terms);
        let arena = interner.into_arena();
        let sorted = sort_terms(&arena, terms as usize);
        rows.drop_spare();
        let row_count = rows.count();
        Self {
            terms,
            store: TermStore::Memory { arena, sorted },
            rows: ClosedRows::Memory(rows.take().into_iter()),
            row_count,
            predicates: NumberList::Memory(predicates),
            graphs: NumberList::Memory(graphs),
            marks: Default::default(),
        }
    }
}

/// What is left to know of a run whose terms and rows are in temporary files.
#[derive(Debug)]
struct SpilledRun {
    terms: u32,
    classes: [Range<u64>; Class::COUNT],
    rows: Range<u64>,
    row_count: u64,
    predicates: Range<u64>,
    graphs: Range<u64>,
    marks: [Vec<Mark>; Class::COUNT],
}

/// The temporary files of one worker.
#[derive(Debug)]
pub struct Spill {
    vfs: Arc<dyn Vfs>,
    terms_path: PathBuf,
    rows_path: PathBuf,
    terms: FrameWriter,
    rows: FrameWriter,
    runs: Vec<SpilledRun>,
    marks: bool,
}

impl Spill {
    /// Creates the files of worker `number`, whose runs have about `run_bytes`, and [`Run::marks`] if these are wanted.
    pub fn create(
        vfs: &Arc<dyn Vfs>,
        folder: &Path,
        number: usize,
        run_bytes: usize,
        marks: bool,
    ) -> io::Result<Self> {
        let terms_path = folder.join(format!("worker-{number}.terms"));
        let rows_path = folder.join(format!("worker-{number}.rows"));
        Ok(Self {
            terms: FrameWriter::with_frames_of(vfs.create(&terms_path)?, frame_bytes(run_bytes)),
            rows: FrameWriter::new(vfs.create(&rows_path)?),
            vfs: Arc::clone(vfs),
            terms_path,
            rows_path,
            runs: Vec::new(),
            marks,
        })
    }

    /// Writes a run and clears `interner` and `rows` for the next.
    pub fn add(&mut self, interner: &mut Interner, rows: &mut Rows) -> io::Result<()> {
        let terms = interner.terms();
        let (predicates, graphs) = rows.number_predicates_and_graphs(terms);
        let rows_of = if self.marks { rows.count_subjects(terms) } else { Vec::new() };
        let (classes, marks) = {
            let sorted = sort_terms(interner.arena(), terms as usize);
            let roles = RunRoles::new(terms, &predicates, &graphs);
            let marks = self.marks.then_some(rows_of.as_slice());
            write_terms(interner.arena(), &sorted, &roles, marks, &mut self.terms)?
        };
        let predicates = NumberList::write(&predicates, &mut self.rows)?;
        let graphs = NumberList::write(&graphs, &mut self.rows)?;
        let row_count = rows.count();
        let rows = rows.spill(&mut self.rows)?;
        interner.clear();
        self.runs.push(SpilledRun { terms, classes, rows, row_count, predicates, graphs, marks });
        Ok(())
    }

    /// Ends the files and returns their runs.
    pub fn finish(mut self) -> io::Result<Vec<Run>> {
        self.terms.flush()?;
        self.rows.flush()?;
        let terms_file = self.vfs.open(&self.terms_path)?;
        let rows_file = self.vfs.open(&self.rows_path)?;
        let open = |run: SpilledRun| Run {
            terms: run.terms,
            store: TermStore::File {
                file: Arc::clone(&terms_file),
                classes: Box::new(run.classes.map(Into::into)),
            },
            rows: ClosedRows::File { file: Arc::clone(&rows_file), range: run.rows },
            row_count: run.row_count,
            predicates: NumberList::File { file: Arc::clone(&rows_file), range: run.predicates },
            graphs: NumberList::File { file: Arc::clone(&rows_file), range: run.graphs },
            marks: run.marks,
        };
        Ok(self.runs.into_iter().map(open).collect())
    }
}

/// Bytes of a frame of terms: the merge holds some of each run, and the less memory there is, the more runs there are.
pub fn frame_bytes(run_bytes: usize) -> usize {
    (run_bytes / 4096).clamp(FRAME_BYTES_MIN, FRAME_BYTES)
}

/// Writes the terms of all classes. With the rows of each subject there are marks.
fn write_terms(
    arena: &Arena,
    sorted: &SortedTerms,
    roles: &RunRoles,
    rows_of: Option<&[u32]>,
    file: &mut FrameWriter,
) -> io::Result<([Range<u64>; Class::COUNT], [Vec<Mark>; Class::COUNT])> {
    let mut ranges = std::array::from_fn(|_| 0..0);
    let mut marks: [Vec<Mark>; Class::COUNT] = Default::default();
    let mut start = 0;
    for (class, range) in ranges.iter_mut().enumerate() {
        let from = file.cut()?;
        let end = sorted.ends[class];
        let terms = sorted.terms.get(start..end).unwrap_or_default();
        let between = (terms.len() / MARKS_OF_FEW).clamp(1, MARK_TERMS);
        for part in terms.chunks(if rows_of.is_some() { between } else { usize::MAX }) {
            if let Some(rows_of) = rows_of {
                marks[class].push(mark(arena, part, rows_of, file.cut()?));
            }
            let mut writer = TermWriter::default();
            for term in part {
                let header = arena.header(term.position);
                let number = header.number();
                writer.write(arena.key_of(term.position, header), number, roles.of(number), file)?;
            }
        }
        *range = from..file.cut()?;
        start = end;
    }
    Ok((ranges, marks))
}

/// The mark before some terms.
fn mark(arena: &Arena, terms: &[SortedTerm], rows_of: &[u32], offset: u64) -> Mark {
    let first = terms.first().map(|term| arena.key_of(term.position, arena.header(term.position)));
    let first = first.unwrap_or_default();
    let rows = |term: &SortedTerm| {
        let number = arena.header(term.position).number();
        u64::from(rows_of.get(number as usize).copied().unwrap_or(0))
    };
    Mark {
        key: first.get(..MARK_KEY_BYTES_MAX).unwrap_or(first).to_vec(),
        is_whole: first.len() <= MARK_KEY_BYTES_MAX,
        offset,
        weight: terms.len() as u64 + terms.iter().map(rows).sum::<u64>(),
    }
}

/// Bytes of the front of a key that may be shared with the one before: whoever reads keys holds so much of each at least.
pub const SHARED_BYTES_MAX: usize = 4 << 10;

/// Front-codes terms into a stream: number and roles, bytes shared with the key before, bytes of the rest, the rest.
#[derive(Debug, Default)]
pub struct TermWriter {
    /// The front of the key before.
    last: Vec<u8>,
    entry: Vec<u8>,
}

impl TermWriter {
    /// Appends a term; keys must ascend.
    pub fn write(&mut self, key: &[u8], number: u32, roles: Roles, file: &mut FrameWriter) -> io::Result<()> {
        let shared = shared_prefix(&self.last, key);
        let rest = key.get(shared..).unwrap_or_default();
        self.entry.clear();
        self.entry.extend_from_slice(&(number | roles.bits() << NUMBER_BITS).to_le_bytes());
        write_varint(&mut self.entry, shared as u64);
        write_varint(&mut self.entry, rest.len() as u64);
        file.write(&self.entry)?;
        file.write(rest)?;
        self.last.truncate(shared);
        let kept = rest.len().min(SHARED_BYTES_MAX.saturating_sub(shared));
        self.last.extend_from_slice(rest.get(..kept).unwrap_or_default());
        Ok(())
    }
}

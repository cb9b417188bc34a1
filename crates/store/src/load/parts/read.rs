//! The first phase: reads a shard into runs of sorted terms, with marks, and rows.

use super::context::TaskContext;
use super::frame_range::FrameRange;
use super::line_range::{LineRange, place_in_file};
use super::plan::{SOURCES_PER_FILE, Shard, begins_as_text};
use super::record::{Record, RecordReader};
use super::task::{Phase, Task};
use crate::error::StoreError;
use crate::load::error::LoadError;
use crate::load::gather::{Gatherer, SpillTo};
use crate::load::run::{ClassTerms, Mark, NumberList, Run, TermStore};
use crate::load::run_rows::ClosedRows;
use crate::segment_builder::Class;
use lode_base::vfs::ReadAt;
use lode_ingest::{IngestError, ReadContext, Source, read_sources};
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// What came of a shard.
#[derive(Debug, Default)]
pub struct ShardRuns {
    /// Quads read.
    pub quads: u64,
    /// Prefixes that it declares.
    pub prefixes: Vec<(String, String)>,
    /// Its runs.
    pub runs: Vec<RunPlaces>,
}

/// Where in the files of a shard a run is.
#[derive(Debug, Default)]
pub struct RunPlaces {
    /// Distinct terms.
    pub terms: u32,
    /// Quads.
    pub row_count: u64,
    /// Frames of terms, by class.
    pub classes: [Range<u64>; Class::COUNT],
    /// Frames of rows.
    pub rows: Range<u64>,
    /// Frames of the numbers of predicates,
    pub predicates: Range<u64>,
    /// and of graph names.
    pub graphs: Range<u64>,
    /// Places where reading may begin, by class.
    pub marks: [Vec<Mark>; Class::COUNT],
}

/// The file with the terms of all runs of a shard, and that with the rest of them.
const TERMS_FILE: &str = "worker-0.terms";
const ROWS_FILE: &str = "worker-0.rows";
/// The file that tells where they are.
pub const RUNS_FILE: &str = "runs";

/// Reads a shard into a folder.
pub fn read_shard(number: usize, folder: &Path, context: &TaskContext<'_>) -> Result<(), LoadError> {
    let plan = context.plan;
    let missing = || LoadError::limit("shards");
    let shard = plan.shards.get(number).ok_or_else(missing)?;
    let vfs = context.vfs();
    let bytes = vfs.open(&shard.path).map_err(StoreError::io(&shard.path))?.len();
    if bytes != shard.file_bytes {
        return Err(LoadError::Source(IngestError::Format {
            source_name: shard.path.display().to_string(),
            message: "it has another length than when the load began; remove the work folder and begin again"
                .into(),
        }));
    }
    let (source, start) = open(shard, context)?;
    let options = plan.read.options(plan.memory_bytes)?;
    let parse = options.parse_options()?;
    let reading = ReadContext {
        vfs,
        spill: folder,
        threads: 1,
        memory_bytes: context.working_bytes,
        format: options.format,
        one_graph: false,
        parse: &parse,
        quarantine: None,
        cancel: context.cancel,
        progress: context.progress.read(),
    };
    let graph = options.graph.map(lode_rdf::NamedNode::into_string);
    let first_source = shard.file * SOURCES_PER_FILE;
    let gathered = read_sources(vec![source], &reading, &|worker, memory_bytes| {
        let to = SpillTo { vfs, folder, worker, for_others: true };
        Gatherer::new(to, memory_bytes, graph.clone()).with_first_source(first_source)
    });
    let gathered = gathered.map_err(|error| placed(error, shard, start, context))?;
    if gathered.sources.len() > SOURCES_PER_FILE as usize {
        return Err(LoadError::limit("files in one archive"));
    }
    let mut found =
        ShardRuns { quads: gathered.sources.iter().map(|source| source.quads).sum(), ..ShardRuns::default() };
    for source in &gathered.sources {
        let prefixes = source.notes.prefixes.iter().map(|(name, iri)| (name.to_owned(), iri.to_owned()));
        found.prefixes.extend(prefixes);
    }
    for run in gathered.outputs.into_iter().flatten() {
        found.runs.push(RunPlaces::of(run)?);
    }
    Ok(found.encode().write(&**vfs, &folder.join(RUNS_FILE))?)
}

/// Where the lines of a shard are counted from.
#[derive(Debug, Clone, Copy)]
enum Lines {
    /// From the first of the file.
    OfFile,
    /// From the one that begins here.
    From(u64),
    /// From the first of a piece of a compressed file, which begins here.
    OfPiece(u64),
}

/// What is read of a shard, and where its lines are counted from.
fn open(shard: &Shard, context: &TaskContext<'_>) -> Result<(Source, Lines), LoadError> {
    let Some((start, end)) = shard.range else { return Ok((Source::path(&shard.path), Lines::OfFile)) };
    let io = || StoreError::io(&shard.path);
    let file = context.vfs().open(&shard.path).map_err(io())?;
    let (reader, start): (Box<dyn Read + Send>, _) = if begins_as_text(&*file).map_err(io())? {
        let lines = LineRange::new(file, start..end).map_err(io())?;
        let start = lines.start();
        (Box::new(lines), Lines::From(start))
    } else {
        (Box::new(FrameRange::new(&file, start..end).map_err(io())?), Lines::OfPiece(start))
    };
    let name = shard.path.display().to_string();
    let format = context.plan.read.format.or(lode_rdf::RdfFormat::from_file_name(&name));
    let source = Source::reader(name, reader);
    let source = match format {
        Some(format) => source.with_format(format),
        None => source,
    };
    Ok((source, start))
}

/// An error with its place in the whole file.
fn placed(error: LoadError, shard: &Shard, lines: Lines, context: &TaskContext<'_>) -> LoadError {
    let (source_name, line, column, message) = match error {
        LoadError::Source(IngestError::Syntax { source_name, line, column, message }) => {
            (source_name, line, column, message)
        }
        error => return error,
    };
    let find = |start| {
        let file = context.vfs().open(&shard.path).ok()?;
        place_in_file(&*file, start, line, context.cancel)
    };
    let (line, message) = match lines {
        Lines::OfFile | Lines::OfPiece(0) => (line, message),
        Lines::From(start) => match find(start) {
            Some((line, byte)) => (line, format!("{message} (the line begins at byte {byte})")),
            None => (line, format!("{message} (lines counted from byte {start})")),
        },
        Lines::OfPiece(start) => {
            let from = format!(
                "lines counted from the first that begins behind byte {start} of the compressed file"
            );
            (line, format!("{message} ({from})"))
        }
    };
    LoadError::Source(IngestError::Syntax { source_name, line, column, message })
}

impl RunPlaces {
    fn of(run: Run) -> Result<Self, LoadError> {
        let kept = || LoadError::limit("runs in memory");
        let TermStore::File { classes, .. } = run.store else { return Err(kept()) };
        let ClosedRows::File { range: rows, .. } = run.rows else { return Err(kept()) };
        let NumberList::File { range: predicates, .. } = run.predicates else { return Err(kept()) };
        let NumberList::File { range: graphs, .. } = run.graphs else { return Err(kept()) };
        let classes = classes.map(|class| class.frames);
        Ok(Self {
            terms: run.terms,
            row_count: run.row_count,
            classes,
            rows,
            predicates,
            graphs,
            marks: run.marks,
        })
    }
}

/// The runs of a shard, which others go on with.
#[derive(Debug)]
pub struct OpenShard {
    /// What is known of them.
    pub found: ShardRuns,
    terms: Option<Arc<dyn ReadAt>>,
    rows: Option<Arc<dyn ReadAt>>,
}

impl OpenShard {
    /// Those of a shard that was read.
    pub fn open(number: usize, context: &TaskContext<'_>) -> Result<Self, StoreError> {
        let folder = context.board.input(Task::new(Phase::Read, number))?;
        let found = ShardRuns::read(&folder, context)?;
        let open = |name: &str| {
            let path = folder.join(name);
            let is_there = !found.runs.is_empty();
            is_there.then(|| context.vfs().open(&path).map_err(StoreError::io(&path))).transpose()
        };
        let (terms, rows) = (open(TERMS_FILE)?, open(ROWS_FILE)?);
        Ok(Self { found, terms, rows })
    }

    /// One run, with the terms that these bounds of each class leave; none of a class without.
    pub fn terms_of(
        &self,
        run: usize,
        bounds: &dyn Fn(Class) -> Option<(Vec<u8>, Option<Vec<u8>>)>,
    ) -> Option<Run> {
        let (found, file) = (self.found.runs.get(run)?, self.terms.as_ref()?);
        let classes = Class::ALL.map(|class| {
            let Some((from, until)) = bounds(class) else { return ClassTerms::default() };
            let frames = found.classes[class as usize].clone();
            let marks = &found.marks[class as usize];
            ClassTerms::between(frames, marks, from, until)
        });
        let nothing = || NumberList::Memory(Vec::new());
        Some(Run {
            terms: found.terms,
            store: TermStore::File { file: Arc::clone(file), classes: Box::new(classes) },
            rows: ClosedRows::Memory(Vec::new().into_iter()),
            row_count: 0,
            predicates: nothing(),
            graphs: nothing(),
            marks: Default::default(),
        })
    }

    /// The rows of one run, and the lists that they refer to.
    pub fn rows_of(&self, run: usize) -> Option<(ClosedRows, NumberList, NumberList)> {
        let (found, file) = (self.found.runs.get(run)?, self.rows.as_ref()?);
        let list = |range: &Range<u64>| NumberList::File { file: Arc::clone(file), range: range.clone() };
        let rows = ClosedRows::File { file: Arc::clone(file), range: found.rows.clone() };
        Some((rows, list(&found.predicates), list(&found.graphs)))
    }
}

impl ShardRuns {
    /// What a shard's folder says.
    pub fn read(folder: &Path, context: &TaskContext<'_>) -> Result<Self, StoreError> {
        let path = folder.join(RUNS_FILE);
        let mut record = RecordReader::open(&**context.vfs(), &path)?;
        let mut found = Self { quads: record.number()?, ..Self::default() };
        for _ in 0..record.count()? {
            found.prefixes.push((record.text()?, record.text()?));
        }
        for _ in 0..record.count()? {
            found.runs.push(RunPlaces::decode(&mut record)?);
        }
        Ok(found)
    }

    fn encode(&self) -> Record {
        let mut record = Record::default();
        record.number(self.quads);
        record.number(self.prefixes.len() as u64);
        for (name, iri) in &self.prefixes {
            record.bytes(name.as_bytes());
            record.bytes(iri.as_bytes());
        }
        record.number(self.runs.len() as u64);
        self.runs.iter().for_each(|run| run.encode(&mut record));
        record
    }
}

impl RunPlaces {
    fn encode(&self, record: &mut Record) {
        record.number(u64::from(self.terms));
        record.number(self.row_count);
        for range in self.classes.iter().chain([&self.rows, &self.predicates, &self.graphs]) {
            record.number(range.start);
            record.number(range.end);
        }
        for marks in &self.marks {
            record.number(marks.len() as u64);
            for mark in marks {
                record.bytes(&mark.key);
                record.number(u64::from(mark.is_whole));
                record.number(mark.offset);
                record.number(mark.weight);
            }
        }
    }

    fn decode(record: &mut RecordReader) -> Result<Self, StoreError> {
        let terms = record.number()?.min(u64::from(u32::MAX)) as u32;
        let mut run = Self { terms, row_count: record.number()?, ..Self::default() };
        let mut range = || -> Result<Range<u64>, StoreError> { Ok(record.number()?..record.number()?) };
        for class in &mut run.classes {
            *class = range()?;
        }
        (run.rows, run.predicates, run.graphs) = (range()?, range()?, range()?);
        for marks in &mut run.marks {
            for _ in 0..record.count()? {
                marks.push(Mark {
                    key: record.bytes()?,
                    is_whole: record.number()? != 0,
                    offset: record.number()?,
                    weight: record.number()?,
                });
            }
        }
        Ok(run)
    }
}

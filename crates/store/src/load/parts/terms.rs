//! The third phase: merges the terms of all runs whose keys are of one part. That writes the part's dictionary, and tells each run the numbers of these
//! terms among those of the part.

use super::context::TaskContext;
use super::cut::PartBounds;
use super::read::OpenShard;
use super::record::{Record, RecordReader};
use super::task::Task;
use crate::error::StoreError;
use crate::load::dictionary_numbers::DictionaryNumbers;
use crate::load::error::LoadError;
use crate::load::run::{Run, frame_bytes};
use crate::load::run_codes::RunCodes;
use crate::load::term_merge::{MergeContext, Merged, merge_terms};
use crate::segment_builder::{Class, DictionaryPipeline, TermIndex};
use lode_base::vfs::ReadAt;
use lode_packed::segment::DICTIONARY_FILE;
use lode_rdf::value_id::Section;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The file with the numbers of all runs' terms.
const CODES_FILE: &str = "codes";
/// The file that tells what else came of the terms.
pub const FILE: &str = "terms";
/// What a predicate or a graph name takes in a list of all of them.
const NAME_BYTES: usize = 4 * size_of::<u64>();

/// What came of the terms of a part.
#[derive(Debug)]
pub struct PartTerms {
    /// Its folder.
    pub folder: PathBuf,
    /// Distinct terms, by class: of those in dictionaries only the new ones.
    pub new: [u64; Class::COUNT],
    /// The inline values, sorted: all, or where there are spans, the first.
    pub inline: Vec<u64>,
    /// The first and the last value of each kind, where not all are listed.
    pub spans: Option<Vec<u64>>,
    /// Predicates and graph names, sorted; none where there are too many.
    pub names: [Option<Vec<TermIndex>>; 2],
    /// Frames with the numbers of each run's terms, by shard and run.
    frames: Vec<Vec<u64>>,
}

/// Merges the terms of a part.
pub fn merge_part(part: usize, folder: &Path, context: &TaskContext<'_>) -> Result<(), LoadError> {
    let bounds = PartBounds::read(context)?;
    let runs = runs_of(&|class| bounds.of(part, class), context)?;
    write_terms(&runs, 0, folder, context, &|runs, numbers, merge| merge_terms(runs, numbers, merge))
}

/// How terms are merged.
pub type MergeOf<'a> =
    &'a dyn Fn(&[Run], &mut DictionaryNumbers<'_>, &MergeContext<'_>) -> Result<Merged, LoadError>;

/// Writes what comes of the terms of some runs, merged: a dictionary, and the numbers of the terms.
pub fn write_terms(
    runs: &[Run],
    next_blank: u64,
    folder: &Path,
    context: &TaskContext<'_>,
    merge: MergeOf<'_>,
) -> Result<(), LoadError> {
    let (vfs, working) = (context.vfs(), context.working_bytes);
    // The values and names of all parts are listed together.
    let list_bytes = working / 8;
    let base = context.base()?;
    let terms: u64 = runs.iter().map(|run| u64::from(run.terms)).sum();
    let of_merge = MergeContext {
        vfs,
        folder,
        next_blank,
        cancel: context.cancel,
        progress: context.progress,
        frame_bytes: frame_bytes(working),
        head_bytes: working / 4 / runs.len().max(1),
        inline_max: list_bytes / size_of::<u64>(),
        names_max: list_bytes / NAME_BYTES,
    };
    let merged = std::thread::scope(|scope| {
        let dictionary = DictionaryPipeline::start(scope, 0, vfs, &folder.join(DICTIONARY_FILE));
        let mut numbers = DictionaryNumbers::new(&base, dictionary, terms / context.plan.parts as u64, 0);
        let mut merged = merge(runs, &mut numbers, &of_merge)?;
        for (section, given) in Section::ALL.into_iter().zip(numbers.given()) {
            merged.distinct[Class::of(section) as usize] = given;
        }
        if let Some((_, file)) = numbers.finish()? {
            file.sync()?;
        }
        Ok::<_, LoadError>(merged)
    })?;
    Ok(encode(merged).write(&**vfs, &folder.join(FILE))?)
}

/// The runs of all shards, with the terms that these bounds of each class leave.
pub fn runs_of(
    bounds: &dyn Fn(Class) -> Option<(Vec<u8>, Option<Vec<u8>>)>,
    context: &TaskContext<'_>,
) -> Result<Vec<Run>, LoadError> {
    let mut runs = Vec::new();
    for number in 0..context.plan.shards.len() {
        context.cancel.check()?;
        let shard = OpenShard::open(number, context)?;
        let all = 0..shard.found.runs.len();
        runs.extend(all.filter_map(|run| shard.terms_of(run, bounds)));
    }
    Ok(runs)
}

fn encode(merged: Merged) -> Record {
    let mut record = Record::default();
    merged.distinct.iter().for_each(|count| record.number(*count));
    let spans = merged
        .counts
        .inline
        .spans()
        .map(|spans| spans.iter().flat_map(|span| [span.first, span.last]).collect::<Vec<_>>());
    record.numbers(merged.counts.inline.into_listed().into_iter());
    record.option(spans, |record, spans| record.numbers(spans.into_iter()));
    for names in [merged.predicates, merged.graphs] {
        record.option(names, |record, names| record.numbers(names.into_iter().map(|name| name.0)));
    }
    record.number(merged.codes.len() as u64);
    for codes in &merged.codes {
        let frames = match codes {
            RunCodes::File { frames, .. } => frames.as_slice(),
            RunCodes::Memory(_) => &[],
        };
        record.numbers(frames.iter().copied());
    }
    record
}

impl PartTerms {
    /// What came of a task that has merged terms.
    pub fn of_task(task: Task, context: &TaskContext<'_>) -> Result<Self, StoreError> {
        let folder = context.board.input(task)?;
        let mut record = RecordReader::open(&**context.vfs(), &folder.join(FILE))?;
        let new = record.array()?;
        let inline = record.numbers()?;
        let spans = record.option(RecordReader::numbers)?;
        let mut names = || {
            let names = record.option(RecordReader::numbers)?;
            Ok::<_, StoreError>(names.map(|names| names.into_iter().map(TermIndex).collect()))
        };
        let names = [names()?, names()?];
        let frames = (0..record.count()?).map(|_| record.numbers()).collect::<Result<_, _>>()?;
        Ok(Self { folder, new, inline, spans, names, frames })
    }

    /// The file with the numbers of runs' terms, which [`Self::codes_of`] tells from.
    pub fn open_codes(&self, context: &TaskContext<'_>) -> Result<Option<Arc<dyn ReadAt>>, StoreError> {
        let path = self.folder.join(CODES_FILE);
        let is_there = !self.frames.is_empty();
        is_there.then(|| context.vfs().open(&path).map_err(StoreError::io(&path))).transpose()
    }

    /// The numbers of the terms of a run, of those that are of this part; `run` counts those of all shards.
    pub fn codes_of(
        &self,
        run: usize,
        terms: u32,
        file: &Arc<dyn ReadAt>,
        context: &TaskContext<'_>,
    ) -> RunCodes {
        let frames = self.frames.get(run).cloned().unwrap_or_default();
        let frame_bytes = frame_bytes(context.working_bytes) as u64;
        RunCodes::File { file: Arc::clone(file), frames, terms, frame_bytes }
    }
}

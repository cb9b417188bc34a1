//! The fourth phase: gives the rows of a shard the codes of their terms, and each part those whose subjects are its own.

use super::context::TaskContext;
use super::cut::PartBounds;
use super::numbering::Numbering;
use super::read::OpenShard;
use crate::load::error::LoadError;
use crate::load::run_codes::RunCodes;
use crate::load::subject_sort::{CodeMaps, RunRows};
use crate::segment_builder::{Class, PackedRow, RowShape, TermIndex};
use lode_base::row_file::RowFileWriter;
use lode_base::vfs::ReadAt;
use lode_packed::Order;
use std::path::Path;
use std::sync::Arc;

/// The file of a shard with the rows of a part.
pub fn rows_file(part: usize) -> String {
    format!("rows-{part:06}")
}

/// Packs the rows of a shard.
pub fn pack_shard(number: usize, folder: &Path, context: &TaskContext<'_>) -> Result<(), LoadError> {
    let numbering = Numbering::read(context)?;
    match numbering.layout.key_bits() {
        0..=64 => pack::<u64>(number, folder, &numbering, context),
        65..=128 => pack::<u128>(number, folder, &numbering, context),
        _ => Err(LoadError::limit("distinct values, predicates and graph names")),
    }
}

fn pack<R: PackedRow>(
    number: usize,
    folder: &Path,
    numbering: &Numbering,
    context: &TaskContext<'_>,
) -> Result<(), LoadError> {
    let io = context.io(folder);
    let shard = OpenShard::open(number, context)?;
    let first = PartBounds::read(context)?.runs_before(number);
    let codes = numbering.parts.iter().map(|part| part.open_codes(context));
    let codes = codes.collect::<Result<Vec<_>, _>>()?;
    let mut output = Output::<R>::create(folder, numbering, context)?;
    for run in 0..shard.found.runs.len() {
        let terms = shard.found.runs[run].terms;
        let codes = codes_of(first + run, terms, &codes, numbering, context)?;
        let Some((rows, predicates, graphs)) = shard.rows_of(run) else { continue };
        let run = RunRows { rows, codes: RunCodes::Memory(codes), predicates, graphs };
        let (maps, mut rows) = CodeMaps::new(run, &numbering.layout).map_err(&io)?;
        let mut packed = Vec::new();
        while let Some(chunk) = rows.next().map_err(&io)? {
            for frame in chunk.frames() {
                context.cancel.check()?;
                maps.pack::<R>(frame, &numbering.layout, output.shape, &mut packed);
                output.push(&packed).map_err(&io)?;
            }
        }
    }
    output.finish().map_err(&io)
}

/// The numbers of all terms of a run, from all parts.
fn codes_of(
    run: usize,
    terms: u32,
    files: &[Option<Arc<dyn ReadAt>>],
    numbering: &Numbering,
    context: &TaskContext<'_>,
) -> Result<Vec<TermIndex>, LoadError> {
    let mut all: Vec<TermIndex> = lode_base::huge::zeros(terms as usize);
    for (part, (known, file)) in numbering.parts.iter().zip(files).enumerate() {
        context.cancel.check()?;
        let Some(file) = file else { continue };
        let taken = known.codes_of(run, terms, file, context).for_each(&mut |number, index| {
            if let Some(code) = all.get_mut(number as usize) {
                *code = numbering.index(part, index);
            }
        });
        taken.map_err(context.io(&known.folder))?;
    }
    Ok(all)
}

/// The rows of all parts, while they are written.
struct Output<R> {
    shape: RowShape,
    files: Vec<RowFileWriter<R>>,
    waiting: Vec<Vec<R>>,
    /// The code as a resource of the first IRI.
    first_iri: u64,
    /// Codes as resources of the first new blank nodes,
    blanks: Vec<u64>,
    /// and of the first new IRIs, of the parts.
    iris: Vec<u64>,
}

impl<R: PackedRow> Output<R> {
    fn create(folder: &Path, numbering: &Numbering, context: &TaskContext<'_>) -> Result<Self, LoadError> {
        let parts = context.plan.parts;
        let create = |part| RowFileWriter::create(&**context.vfs(), &folder.join(rows_file(part)));
        Ok(Self {
            shape: numbering.layout.shape(Order::Spog),
            files: (0..parts).map(create).collect::<Result<_, _>>().map_err(context.io(folder))?,
            waiting: (0..parts).map(|_| Vec::new()).collect(),
            first_iri: numbering.first_iri(),
            blanks: numbering.first_resources(Class::Blank),
            iris: numbering.first_resources(Class::Iri),
        })
    }

    fn push(&mut self, rows: &[R]) -> std::io::Result<()> {
        for row in rows {
            let [subject, ..] = self.shape.fields(*row);
            let part = self.part_of(subject);
            self.waiting[part].push(*row);
        }
        for (waiting, file) in self.waiting.iter_mut().zip(&mut self.files) {
            if waiting.len() >= lode_base::row_file::BLOCK_ROWS {
                file.push(waiting)?;
                waiting.clear();
            }
        }
        Ok(())
    }

    /// The part that has the rows of a subject.
    #[inline]
    fn part_of(&self, subject: u64) -> usize {
        let firsts = if subject < self.first_iri { &self.blanks } else { &self.iris };
        let first_new = self.iris.first().copied().unwrap_or(0);
        if (self.first_iri..first_new).contains(&subject) {
            // Of those that the database had before each part takes as many, whatever their keys.
            let (at, all) = (u128::from(subject - self.first_iri), u128::from(first_new - self.first_iri));
            return (at * self.files.len() as u128 / all) as usize;
        }
        // Parts without terms begin where the next one does.
        firsts.partition_point(|first| *first <= subject).saturating_sub(1)
    }

    fn finish(self) -> std::io::Result<()> {
        for (waiting, mut file) in self.waiting.into_iter().zip(self.files) {
            file.push(&waiting)?;
            file.finish()?;
        }
        Ok(())
    }
}

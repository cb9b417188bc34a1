//! The phase behind that of the terms, where triple terms have blank nodes in them: the keys of these hold the numbers of the blank nodes, which are known
//! once the terms of all parts are merged. One task merges all triple terms; they become a segment of their own, behind those of the parts, that has no quads.

use super::context::TaskContext;
use super::numbering::Numbering;
use super::terms::{runs_of, write_terms};
use crate::error::StoreError;
use crate::load::error::LoadError;
use crate::load::run_codes::BlankNumbers;
use crate::load::term_merge::{merge_triple_terms, open_terms_file};
use crate::segment_builder::Class;
use lode_rdf::value_id::Section;
use std::io;
use std::path::Path;

/// Merges the triple terms of all shards.
pub fn merge_triples(folder: &Path, context: &TaskContext<'_>) -> Result<(), LoadError> {
    let numbering = Numbering::of_parts(context)?;
    let all = |class: Class| (class.section() == Some(Section::TripleTerm)).then(|| (Vec::new(), None));
    let runs = runs_of(&all, context)?;
    let blanks = |run: usize| blanks_of(run, runs.get(run).map_or(0, |run| run.terms), &numbering, context);
    write_terms(&runs, context.plan.first_blank(), folder, context, &|runs, numbers, merge| {
        merge_triple_terms(&blanks, runs, numbers, merge)
    })?;
    (0..runs.len()).try_for_each(|run| {
        let path = folder.join(open_terms_file(run));
        match context.vfs().remove(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::io(&path)(error).into()),
            _ => Ok(()),
        }
    })
}

/// The numbers of the blank nodes of a run, from all parts.
fn blanks_of(
    run: usize,
    terms: u32,
    numbering: &Numbering,
    context: &TaskContext<'_>,
) -> Result<BlankNumbers, LoadError> {
    let mut found = Vec::new();
    for (part, known) in numbering.parts.iter().enumerate() {
        context.cancel.check()?;
        let Some(file) = known.open_codes(context)? else { continue };
        let before = numbering.before(part, Class::Blank);
        let taken = known.codes_of(run, terms, &file, context).for_each(&mut |number, index| {
            if index.class() == Class::Blank {
                found.push((number, before + index.number()));
            }
        });
        taken.map_err(context.io(&known.folder))?;
    }
    Ok(found.into_iter().collect())
}

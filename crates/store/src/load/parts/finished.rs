//! What a load has made that is not published as a database in a folder: who publishes it elsewhere puts it together. The segments are there already; each
//! attempt at one has a random number of its own for it, so that two who write a segment do not write over each other.

use super::board::Board;
use super::context::TaskContext;
use super::numbering::Numbering;
use super::plan::Plan;
use super::publish::{PartsReport, identity, of_shards};
use super::task::{Phase, Task};
use crate::error::StoreError;
use crate::kept_prefixes::joined;
use crate::last_prefixes::KeptPrefixes;
use crate::load::error::LoadError;
use crate::manifest::{Manifest, SegmentEntry};
use crate::progress::LoadProgress;
use crate::segment_builder::Class;
use lode_base::cancel::CancelToken;
use lode_packed::SegmentMeta;
use lode_packed::segment::SegmentOrigin;
use std::path::PathBuf;
use std::sync::Arc;

/// What a load has made.
#[derive(Debug)]
pub struct Finished {
    /// What is told of it.
    pub report: PartsReport,
    /// The manifest of its only version.
    pub manifest: Manifest,
    /// Of each of its segments, in the order of the manifest, what the place keeps of the attempt that counts.
    pub segments: Vec<FinishedSegment>,
    /// Random numbers of the segments of attempts that do not count. Not all of them need be there.
    pub others: Vec<u128>,
    /// The prefixes that its files declare, as a database keeps them.
    pub prefixes: KeptPrefixes,
}

/// A segment.
#[derive(Debug)]
pub struct FinishedSegment {
    /// Its line in the manifest.
    pub entry: SegmentEntry,
    /// The folder, in the place's file system, of the attempt that counts.
    pub attempt: PathBuf,
}

/// The random number of a segment by the attempt that wrote it.
fn identity_of_attempt(plan: &Plan, part: usize, time: u32) -> u128 {
    identity(plan, part).wrapping_add(u128::from(time) << 64)
}

/// The description of a segment of a database that has nothing else, and the number of which is that of the load.
pub fn described(meta: SegmentMeta, plan: &Plan, part: usize, time: u32) -> SegmentMeta {
    let origin = SegmentOrigin {
        identity: identity_of_attempt(plan, part, time),
        database: plan.identity,
        number: part as u64 + 1,
        next_log: 1,
        ..meta.origin
    };
    SegmentMeta { origin, ..meta }
}

/// What a load has made of which all tasks are done.
///
/// # Errors
/// Where a task is not done, or what came of it cannot be read.
pub fn finished(
    board: &Board,
    cancel: &CancelToken,
    progress: &Arc<LoadProgress>,
) -> Result<Finished, LoadError> {
    let plan = board.planned()?;
    let context = TaskContext::new(board, &plan, cancel, progress);
    let numbering = Numbering::read(&context)?;
    let (mut report, prefixes) = of_shards(&numbering, &context)?;
    let mut segments = Vec::new();
    for part in 0..numbering.parts.len() {
        let attempt = board.input(Task::new(Phase::Orders, part))?;
        let meta = SegmentMeta::read(&**board.vfs(), &attempt)?;
        if meta.quads() > 0 || meta.dictionary.is_some() {
            segments.push(FinishedSegment { entry: SegmentEntry::of(&meta), attempt });
        }
    }
    let manifest = Manifest {
        version: 1,
        next_blank: numbering.all(Class::Blank),
        next_segment: numbering.parts.len() as u64 + 1,
        segments: segments.iter().map(|segment| segment.entry.clone()).collect(),
        ..Manifest::new(plan.identity)
    };
    (report.added, report.segments) = (manifest.quads(), segments.len());
    let others = other_identities(board, &plan, &segments)?;
    let new = prefixes.iter().map(|(name, iri)| (name.as_str(), iri.as_str()));
    Ok(Finished { report, manifest, segments, others, prefixes: joined(&[], new).into() })
}

fn other_identities(
    board: &Board,
    plan: &Plan,
    segments: &[FinishedSegment],
) -> Result<Vec<u128>, StoreError> {
    let claims = board.claims()?;
    let mut others = Vec::new();
    for part in 0..=plan.parts {
        let prefix = format!("{}.", Task::new(Phase::Orders, part));
        let times = claims.iter().filter_map(|claim| claim.strip_prefix(&prefix)?.parse::<u32>().ok());
        others.extend(times.map(|time| identity_of_attempt(plan, part, time)));
    }
    others.retain(|other| segments.iter().all(|segment| segment.entry.identity != *other));
    Ok(others)
}

//! Shapes as a guard of transactions: what a transaction makes of the database is validated before it is committed.
//!
//! Once it is known that the committed data conform, by a validation of all of them, they stay so, since nothing else is committed. Then shapes that say of a node only what
//! its own triples tell are validated for the nodes of changed quads alone.

use crate::error::ShaclError;
use crate::read::Shapes;
use crate::report::{Report, ReportFormat};
use crate::validate::{Summary, ValidateOptions, validate_within};
use crate::vocabulary::RDFS_SUB_CLASS_OF;
use crate::words::constant;
use lode_engine::store::{CommitCheck, Proposed, StoreError};
use lode_engine::{EngineError, ExecError, TableOptions};
use lode_rdf::{RdfFormat, Term, ValueId};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Results in the report of a change that is refused.
const RESULTS_MAX: u64 = 100;
/// With more nodes in changed quads all are validated.
const NODES_MAX: usize = 1_000;

/// The check of commits by which the data always conform to shapes; results that only warn or inform do not count. A change that is refused is told with a report
/// in Turtle. It is for one store: [`CommitCheck::run`] of what is committed lets it look at less afterwards.
pub fn guard(shapes: Arc<Shapes>, options: ValidateOptions) -> CommitCheck {
    let guard = Guard { shapes, options, conforms: AtomicBool::new(false) };
    CommitCheck::new(move |proposed| guard.check(proposed))
}

struct Guard {
    shapes: Arc<Shapes>,
    options: ValidateOptions,
    /// Whether all that is committed conforms.
    conforms: AtomicBool,
}

impl Guard {
    fn check(&self, proposed: &Proposed<'_>) -> Result<(), StoreError> {
        let nodes = if self.conforms.load(Ordering::Acquire) { self.nodes(proposed)? } else { None };
        let (report, summary) = self.violations(proposed, nodes.as_deref()).map_err(failed)?;
        if summary.violations == 0 {
            if proposed.is_committed() {
                self.conforms.store(true, Ordering::Release);
            }
            return Ok(());
        }
        let count = summary.violations;
        let what = if count == 1 { "violation" } else { "violations" };
        Err(StoreError::Refused(format!(
            "the change is refused, since the data would not conform to the shapes: {count} {what}; nothing was changed\n{report}"
        )))
    }

    /// The nodes of changed quads; none where all nodes must be looked at.
    fn nodes(&self, proposed: &Proposed<'_>) -> Result<Option<Vec<String>>, StoreError> {
        // What follows from a quad may be about any node.
        if self.options.query.reasoning.is_some() {
            return Ok(None);
        }
        let Some(changed) = proposed.changed_quads() else { return Ok(None) };
        let sub_class_of = proposed.snapshot.id_of(&Term::from(RDFS_SUB_CLASS_OF.into_owned()))?;
        let mut ids: BTreeSet<ValueId> = BTreeSet::new();
        for [subject, predicate, object, _] in changed {
            if Some(predicate) == sub_class_of {
                return Ok(None);
            }
            ids.extend([subject, object]);
            if ids.len() > NODES_MAX {
                return Ok(None);
            }
        }
        let mut nodes = Vec::with_capacity(ids.len());
        for id in ids {
            // Blank nodes have no name in a query.
            let Some(node) = constant(&proposed.snapshot.term(id)?) else { return Ok(None) };
            nodes.push(node);
        }
        Ok(Some(nodes))
    }

    /// The report, in Turtle, and the numbers.
    fn violations(
        &self,
        proposed: &Proposed<'_>,
        nodes: Option<&[String]>,
    ) -> Result<(String, Summary), ShaclError> {
        let mut options = self.options.clone();
        options.query.cancel = proposed.cancel.clone();
        options.results_max = RESULTS_MAX;
        options.ignores_mild = true;
        let turtle = ReportFormat::Rdf(RdfFormat::Turtle);
        let mut report = Report::start(turtle, TableOptions::default(), Vec::new())?;
        let tell = &mut |result: &crate::result::ValidationResult| report.push(result);
        let summary = validate_within(proposed.snapshot, &self.shapes, &options, nodes, tell)?;
        Ok((String::from_utf8_lossy(&report.finish(&summary)?).into_owned(), summary))
    }
}

/// A check that fails lets nothing pass.
fn failed(error: ShaclError) -> StoreError {
    match error {
        ShaclError::Engine(EngineError::Cancelled(reason)) => StoreError::Cancelled(reason),
        ShaclError::Engine(EngineError::Execution(ExecError::OutOfMemory(reason))) => {
            StoreError::OutOfMemory(reason)
        }
        ShaclError::Engine(EngineError::Store(error)) => error,
        other => StoreError::Refused(format!(
            "the change is refused, since the data cannot be validated: {other}; nothing was changed"
        )),
    }
}

//! DELETE and INSERT with WHERE: all solutions are found in the state before the operation, then all deletions are made, then all
//! insertions.

use super::Updater;
use super::rows::Rows;
use super::rules::Guard;
use super::template::{Row, Target, Template};
use super::terms::{Labels, NewTerms};
use crate::EngineError;
use crate::options::QueryOptions;
use crate::query::{PreparedQuery, SessionOptions, share_of};
use lode_rdf::{GraphNameRef, Term};
use lode_sparql::update::{Modify, TermTemplate};
use std::sync::Arc;

impl Updater<'_> {
    pub(super) fn modify(&mut self, modify: &Modify) -> Result<(), EngineError> {
        for template in &modify.insert {
            match &template.graph {
                None => self.adds_to(GraphNameRef::DefaultGraph),
                Some(TermTemplate::Const(Term::NamedNode(name))) => self.adds_to(name.as_ref().into()),
                Some(_) => {}
            }
        }
        let snapshot = self.draft.snapshot()?;
        // What follows is nothing that could be deleted, and would be stated by being inserted.
        let evaluation =
            &QueryOptions { reasoning: None, inferred: false, ..self.options.evaluation.clone() };
        let (budget, memos, share) = (self.budget.clone(), Arc::default(), share_of(evaluation));
        let session = SessionOptions { budget, now: self.now, memos, share };
        let bound = (!evaluation.bindings.is_empty())
            .then(|| lode_sparql::bind(modify.query.clone(), &evaluation.bindings));
        let query = bound.as_ref().unwrap_or(&modify.query);
        let query = PreparedQuery::planned(query, snapshot, evaluation, session, None)?;
        let mut execution = query.execute()?;
        let cx = Arc::clone(execution.context());
        let rows = || Rows::new(&self.budget, &evaluation.spill_dir);
        let (mut deleted, mut inserted) = (rows(), rows());
        let mut templates = None;
        let mut guard = Guard::new(modify, &evaluation.graphs);
        while let Some(batch) = execution.next()? {
            // Without solutions constants need not be known.
            let (delete, insert) = match &mut templates {
                Some(templates) => templates,
                none => none.insert(self.templates(modify, &cx)?),
            };
            for row in 0..batch.rows {
                let row = Row { cx: &cx, batch: &batch, row };
                self.adds_unseen |= guard.check(row)?;
                delete.fill(row, &mut self.draft, &mut |quad| deleted.push(quad))?;
                insert.fill(row, &mut self.draft, &mut |quad| inserted.push(quad))?;
            }
        }
        drop(execution);
        deleted.for_each(|quad| self.delete(quad))?;
        inserted.for_each(|quad| self.insert(quad))
    }

    fn templates<'a>(
        &mut self,
        modify: &'a Modify,
        cx: &lode_exec::QueryContext,
    ) -> Result<(Template<'a>, Template<'a>), EngineError> {
        let insert = Target::Insert {
            terms: NewTerms::new(Labels::OfSolutions, &self.draft),
            made: self.draft.ids(),
            blanks: Vec::new(),
        };
        Ok((
            Template::new(&modify.delete, Target::Delete, cx, &mut self.draft)?,
            Template::new(&modify.insert, insert, cx, &mut self.draft)?,
        ))
    }
}

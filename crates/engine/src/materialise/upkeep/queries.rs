//! Rules by their queries: for bodies that have no other form, and for many triples at once.

use super::super::found::Found;
use super::super::gather::Triple;
use super::super::head::Head;
use super::limits::{TRIPLES_MAX, TooMuch};
use super::view::Stop;
use crate::inferred;
use crate::options::{DefaultGraph, QueryOptions};
use crate::query::{PreparedQuery, SessionOptions, share_of};
use lode_base::memory_budget::MemoryBudget;
use lode_rdf::{NamedNode, Term, ValueId};
use lode_sparql::plan::{DatasetOverride, InferredGraph};
use lode_sparql::rules::Rule;
use lode_store::{Snapshot, Transaction};
use oxsdatatypes::DateTime;
use spargebra::Query;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The graph of triples that a query is about; it is in no version that is committed.
const ABOUT: &str = "urn:lodestore:new";

/// How queries of rules run.
pub(super) struct Queries {
    evaluation: QueryOptions,
    budget: MemoryBudget,
    now: DateTime,
    about: Option<ValueId>,
}

impl Queries {
    pub fn new(transaction: &Transaction, graph: ValueId, all_graphs: bool, budget: &MemoryBudget) -> Self {
        let hidden = [inferred::name(), NamedNode::new_unchecked(ABOUT)].into();
        let inferred = InferredGraph { graph, is_shown: true, is_alone: false, hidden };
        let evaluation = QueryOptions {
            default_graph: if all_graphs { DefaultGraph::Union } else { DefaultGraph::Separate },
            dataset: Some(DatasetOverride { inferred: Some(inferred), ..DatasetOverride::default() }),
            cancel: transaction.cancel().clone(),
            takes_turns: false,
            ..QueryOptions::default()
        };
        Self { evaluation, budget: budget.clone(), now: DateTime::now(), about: None }
    }

    /// A version with triples in a graph of their own.
    fn about(
        &mut self,
        transaction: &mut Transaction,
        snapshot: &Snapshot,
        triples: &[Triple],
    ) -> Result<Snapshot, Stop> {
        let graph = match self.about {
            Some(graph) => graph,
            None => {
                let name = Term::from(NamedNode::new_unchecked(ABOUT));
                *self.about.insert(transaction.intern(&name)?.unwrap_or_default())
            }
        };
        let quads = triples.iter().map(|[s, p, o]| [*s, *p, *o, graph]).collect();
        Ok(transaction.beside(snapshot, quads)?)
    }

    /// What a rule makes of solutions of which one of `delta` (sorted) is part.
    pub fn forward(
        &mut self,
        rule: &Rule,
        transaction: &mut Transaction,
        snapshot: &Snapshot,
        delta: &[Triple],
        found: &Found,
        heads: &mut BTreeSet<Triple>,
    ) -> Result<(), Stop> {
        let mut about = None;
        for form in rule.deltas(&NamedNode::new_unchecked(ABOUT)) {
            if !found.has(&form.atom, snapshot)? {
                continue;
            }
            let about = match &about {
                Some(about) => about,
                None => about.insert(self.about(transaction, snapshot, delta)?),
            };
            self.run(rule, &form.query, transaction, about.clone(), heads)?;
        }
        Ok(())
    }

    /// Those of `wanted` (sorted, none of which is there) that a rule makes.
    pub fn wanted(
        &mut self,
        rule: &Rule,
        transaction: &mut Transaction,
        snapshot: &Snapshot,
        wanted: &[Triple],
        held: &mut BTreeSet<Triple>,
    ) -> Result<(), Stop> {
        // Where rules read all graphs, they would read that one.
        if self.evaluation.default_graph == DefaultGraph::Union {
            return self.run(rule, &rule.query(), transaction, snapshot.clone(), held);
        }
        let about = self.about(transaction, snapshot, wanted)?;
        for head in 0..rule.head.len() {
            let query = rule.query_for(head, &NamedNode::new_unchecked(ABOUT));
            let query = query.unwrap_or_else(|| rule.query());
            self.run(rule, &query, transaction, about.clone(), held)?;
        }
        Ok(())
    }

    /// What a rule makes of the solutions of one of its queries.
    pub fn run(
        &mut self,
        rule: &Rule,
        query: &Query,
        transaction: &mut Transaction,
        snapshot: Snapshot,
        heads: &mut BTreeSet<Triple>,
    ) -> Result<(), Stop> {
        let (budget, memos, share) = (self.budget.clone(), Arc::default(), share_of(&self.evaluation));
        let session = SessionOptions { budget, now: self.now, memos, share };
        let prepared = PreparedQuery::planned(query, snapshot, &self.evaluation, session, None)?;
        let mut execution = prepared.execute()?;
        let cx = Arc::clone(execution.context());
        let mut head = None;
        let mut triples = Vec::new();
        while let Some(batch) = execution.next()? {
            // Its constants get ids only where it makes something.
            let head = match &mut head {
                Some(head) => head,
                None => head.insert(Head::new(rule, transaction)?),
            };
            for row in 0..batch.rows {
                head.fill((&batch, row), &cx, transaction, &mut triples)?;
            }
            heads.extend(triples.drain(..));
            if heads.len() > TRIPLES_MAX {
                return Err(Stop::TooMuch(TooMuch::Work));
            }
        }
        Ok(())
    }
}

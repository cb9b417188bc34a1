//! What an update may change: what the request says of graphs is looked at before anything is done, so that a refusal tells nothing of what is
//! there; graphs that come out of WHERE, as they come; and of CLEAR ALL and its like the graphs that there are for who asks.

use super::template::Row;
use crate::EngineError;
use crate::graph_rules::{GraphRules, INFERRED_GRAPH, graph_of, named};
use lode_rdf::{GraphNameRef, Term, ValueId};
use lode_sparql::Update;
use lode_sparql::update::{
    GraphTarget, Modify, Operation, QuadTemplate, TermTemplate, Transfer, TransferKind,
};
use std::collections::HashMap;

/// Fails where a request names a graph that it may not change so.
pub(super) fn check(update: &Update, rules: &GraphRules, has_inferences: bool) -> Result<(), EngineError> {
    update.operations.iter().try_for_each(check_inferred)?;
    if has_inferences {
        update.operations.iter().try_for_each(check_kept)?;
    }
    if rules.is_free() {
        return Ok(());
    }
    update.operations.iter().try_for_each(|operation| check_operation(operation, rules))
}

/// Nobody states anything where inferences are.
fn check_inferred(operation: &Operation) -> Result<(), EngineError> {
    let check = |graph: GraphNameRef<'_>| match graph {
        GraphNameRef::NamedNode(name) if name.as_str() == INFERRED_GRAPH => Err(EngineError::Forbidden(
            format!("the graph <{INFERRED_GRAPH}> has what rules add, and nothing else: nothing was changed"),
        )),
        _ => Ok(()),
    };
    match operation {
        Operation::InsertData(quads) => quads.iter().try_for_each(|quad| check(quad.graph_name.as_ref())),
        Operation::Modify(modify) => modify.insert.iter().try_for_each(|template| match &template.graph {
            Some(TermTemplate::Const(term)) => graph_of(term).map_or(Ok(()), check),
            _ => Ok(()),
        }),
        Operation::Load { into, .. } => check(named(into.as_ref())),
        Operation::Transfer(transfer) => check(named(transfer.to.as_ref())),
        Operation::DeleteData(_) | Operation::Clear(_) | Operation::Create { .. } | Operation::Nothing => {
            Ok(())
        }
    }
}

/// Nobody takes anything from there by its name where rules would add it again.
fn check_kept(operation: &Operation) -> Result<(), EngineError> {
    match operation {
        Operation::DeleteData(quads) => {
            quads.iter().try_for_each(|quad| check_kept_graph(quad.graph_name.as_ref()))
        }
        Operation::Modify(modify) => modify.delete.iter().try_for_each(|template| match &template.graph {
            Some(TermTemplate::Const(term)) => graph_of(term).map_or(Ok(()), check_kept_graph),
            _ => Ok(()),
        }),
        Operation::Clear(GraphTarget::One(graph)) => check_kept_graph(named(graph.as_ref())),
        Operation::Transfer(transfer) if transfer.kind == TransferKind::Move => {
            check_kept_graph(named(transfer.from.as_ref()))
        }
        _ => Ok(()),
    }
}

/// The same of one graph of a database that has rules.
pub(super) fn check_kept_graph(graph: GraphNameRef<'_>) -> Result<(), EngineError> {
    match graph {
        GraphNameRef::NamedNode(name) if name.as_str() == INFERRED_GRAPH => {
            Err(EngineError::Forbidden(format!(
                "the graph <{INFERRED_GRAPH}> has what follows by the rules, which would be there again: lode materialise --drop (DELETE /admin/materialise of a server) removes all of it, and the rules; nothing was changed"
            )))
        }
        _ => Ok(()),
    }
}

fn check_operation(operation: &Operation, rules: &GraphRules) -> Result<(), EngineError> {
    match operation {
        Operation::InsertData(quads) => {
            quads.iter().try_for_each(|quad| rules.check_add(quad.graph_name.as_ref()))
        }
        Operation::DeleteData(quads) => {
            quads.iter().try_for_each(|quad| rules.check_remove(quad.graph_name.as_ref()))
        }
        Operation::Modify(modify) => check_templates(modify, rules),
        Operation::Load { into, .. } => rules.check_add(named(into.as_ref())),
        Operation::Clear(GraphTarget::One(graph)) => rules.check_remove(named(graph.as_ref())),
        // The default graph is always there, for who may read it.
        Operation::Clear(GraphTarget::All) if rules.may_read(GraphNameRef::DefaultGraph) => {
            rules.check_remove(GraphNameRef::DefaultGraph)
        }
        Operation::Clear(GraphTarget::Named | GraphTarget::All) | Operation::Nothing => Ok(()),
        Operation::Create { graph, .. } => rules.check_add(graph.as_ref().into()),
        Operation::Transfer(transfer) => check_transfer(transfer, rules),
    }
}

fn check_transfer(transfer: &Transfer, rules: &GraphRules) -> Result<(), EngineError> {
    let (from, to) = (named(transfer.from.as_ref()), named(transfer.to.as_ref()));
    match transfer.kind {
        TransferKind::Add => rules.check_add(to),
        TransferKind::Copy => rules.check_remove(to),
        TransferKind::Move => rules.check_remove(to).and_then(|()| rules.check_remove(from)),
    }
}

fn check_templates(modify: &Modify, rules: &GraphRules) -> Result<(), EngineError> {
    let each = |templates: &[QuadTemplate], check: &dyn Fn(GraphNameRef<'_>) -> Result<(), EngineError>| {
        templates.iter().try_for_each(|template| match &template.graph {
            None => check(GraphNameRef::DefaultGraph),
            Some(TermTemplate::Const(term)) => graph_of(term).map_or(Ok(()), check),
            Some(_) => Ok(()),
        })
    };
    each(&modify.delete, &|graph| rules.check_remove(graph))?;
    each(&modify.insert, &|graph| rules.check_add(graph))
}

/// So many graphs are remembered.
pub(super) const GRAPHS_MAX: usize = 1 << 12;

/// Looks at the graphs of templates that come out of WHERE.
pub(super) struct Guard<'a> {
    rules: &'a GraphRules,
    deleted: Vec<usize>,
    inserted: Vec<usize>,
    /// Whether quads may be taken from graphs that were met, and added to them.
    known: HashMap<ValueId, Allowed>,
}

#[derive(Clone, Copy)]
struct Allowed {
    remove: bool,
    add: bool,
    read: bool,
}

impl<'a> Guard<'a> {
    /// For the templates of an operation.
    pub fn new(modify: &Modify, rules: &'a GraphRules) -> Self {
        let columns = |templates: &[QuadTemplate]| -> Vec<usize> {
            let column = |template: &QuadTemplate| match template.graph {
                Some(TermTemplate::Column(column)) => Some(column),
                _ => None,
            };
            let mut columns: Vec<usize> = templates.iter().filter_map(column).collect();
            columns.sort_unstable();
            columns.dedup();
            columns
        };
        // To the graph of inferences nobody adds, whatever else is allowed.
        let deleted = if rules.is_free() { Vec::new() } else { columns(&modify.delete) };
        let inserted = columns(&modify.insert);
        Self { rules, deleted, inserted, known: HashMap::new() }
    }

    /// Fails where a row leads to a graph that may not be changed so, whether or not its quads are complete; else whether something is
    /// added to a graph that may not be read.
    pub fn check(&mut self, row: Row<'_>) -> Result<bool, EngineError> {
        let mut adds_unseen = false;
        for at in 0..self.deleted.len() + self.inserted.len() {
            let removes = at < self.deleted.len();
            let column = if removes { self.deleted[at] } else { self.inserted[at - self.deleted.len()] };
            let id = row.id(column);
            let Some(allowed) = self.allowed(id, row)? else { continue };
            if !(if removes { allowed.remove } else { allowed.add }) {
                let term = row.cx.term(id)?;
                return graph_of(&term).map_or(Ok(false), |graph| Err(crate::graph_rules::forbidden(graph)));
            }
            adds_unseen |= !removes && !allowed.read;
        }
        Ok(adds_unseen)
    }

    /// None of what is no graph.
    fn allowed(&mut self, id: ValueId, row: Row<'_>) -> Result<Option<Allowed>, EngineError> {
        if id.is_undef() {
            return Ok(None);
        }
        if let Some(known) = self.known.get(&id) {
            return Ok(Some(*known));
        }
        let term: Term = row.cx.term(id)?;
        let rules = self.rules;
        let allowed = graph_of(&term).map(|graph| Allowed {
            remove: rules.may_remove(graph),
            add: rules.may_add(graph),
            read: rules.may_read(graph),
        });
        if let Some(allowed) = allowed {
            if self.known.len() >= GRAPHS_MAX {
                self.known.clear();
            }
            self.known.insert(id, allowed);
        }
        Ok(allowed)
    }
}

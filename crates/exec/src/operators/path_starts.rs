//! Where a search along a property path may begin, when no end of the path is known for a row: at the near ends of its first edges.

use super::path_edges::{GRAPH, NEAR};
use super::path_search::Search;
use crate::pattern::{Columns, Pattern};
use lode_eval::error::ExecError;
use lode_eval::merge_sort::{sort_by_number, sort_in_steps};
use lode_packed::Order;
use lode_rdf::ValueId;
use lode_scheduler::steps::dedup_by;
use lode_sparql::plan::Path;
use lode_sparql::{ScanPattern, Slot};
use std::ops::Range;

/// Terms to start from, sorted and distinct.
#[derive(Debug)]
pub(crate) enum Starts {
    /// In one graph.
    Terms(Vec<ValueId>),
    /// In many: graph and term.
    InGraphs(Vec<(ValueId, ValueId)>),
}

impl Starts {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Terms(terms) => terms.len(),
            Self::InGraphs(nodes) => nodes.len(),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Terms(terms) => size_of_val(terms.as_slice()),
            Self::InGraphs(nodes) => size_of_val(nodes.as_slice()),
        }
    }

    /// Each with its graph, where it is in one of many.
    pub(super) fn terms(&self) -> impl Iterator<Item = (ValueId, ValueId)> + '_ {
        let (terms, nodes): (&[ValueId], &[(ValueId, ValueId)]) = match self {
            Self::Terms(terms) => (terms, &[]),
            Self::InGraphs(nodes) => (&[], nodes),
        };
        terms.iter().map(|term| (ValueId::UNDEF, *term)).chain(nodes.iter().copied())
    }

    pub(super) fn push(&mut self, graph: Option<ValueId>, term: ValueId) {
        match self {
            Self::Terms(terms) if terms.last() != Some(&term) => terms.push(term),
            Self::Terms(_) => {}
            Self::InGraphs(nodes) => {
                let node = (graph.unwrap_or(ValueId::UNDEF), term);
                if nodes.last() != Some(&node) {
                    nodes.push(node);
                }
            }
        }
    }
}

impl Search {
    /// The nodes from which `path` may lead somewhere: all of the graph, if the path can have no length. With `only` those of this term.
    pub(crate) fn starts(
        &mut self,
        path: &Path,
        backward: bool,
        only: Option<ValueId>,
    ) -> Result<Starts, ExecError> {
        let mut starts = self.no_starts();
        if path.is_nullable() {
            self.edge_ends(Slot::Any, Order::Spog, only, &mut starts)?;
            self.edge_ends(Slot::Any, Order::Ospg, only, &mut starts)?;
        } else {
            self.first_nodes(path, backward, only, &mut starts)?;
        }
        self.settle(&mut starts)?;
        Ok(starts)
    }

    /// None yet.
    pub(super) fn no_starts(&self) -> Starts {
        match &self.graph_nodes {
            None => Starts::Terms(Vec::new()),
            Some(_) => Starts::InGraphs(Vec::new()),
        }
    }

    /// Sorts them, and keeps each once.
    pub(super) fn settle(&self, starts: &mut Starts) -> Result<(), ExecError> {
        let check = || self.cx.cancel.check();
        match starts {
            Starts::Terms(terms) => {
                sort_by_number(terms, |term| term.to_bits(), &check)?;
                dedup_by(terms, &self.cx.cancel, PartialEq::eq, |_, _| ())?;
            }
            Starts::InGraphs(nodes) => {
                sort_in_steps(nodes, Ord::cmp, check)?;
                dedup_by(nodes, &self.cx.cancel, PartialEq::eq, |_, _| ())?;
            }
        }
        Ok(())
    }

    /// Some of `starts` as nodes of this search.
    pub(crate) fn nodes(&mut self, starts: &Starts, range: Range<usize>) -> Result<Vec<ValueId>, ExecError> {
        match starts {
            Starts::Terms(terms) => Ok(terms[range].to_vec()),
            Starts::InGraphs(nodes) => {
                nodes[range].iter().map(|(graph, term)| self.node(*graph, *term)).collect()
            }
        }
    }

    pub(super) fn first_nodes(
        &mut self,
        path: &Path,
        backward: bool,
        only: Option<ValueId>,
        starts: &mut Starts,
    ) -> Result<(), ExecError> {
        match path {
            Path::Predicate(None) => Ok(()),
            Path::Predicate(Some(predicate)) => {
                let order = if backward { Order::Posg } else { Order::Psog };
                self.edge_ends(Slot::Const(*predicate), order, only, starts)
            }
            Path::Negated(_) => {
                let order = if backward { Order::Ospg } else { Order::Spog };
                self.edge_ends(Slot::Any, order, only, starts)
            }
            Path::Type(step) => self.type_starts(step, backward, only, starts),
            Path::Reverse(inner) => self.first_nodes(inner, !backward, only, starts),
            Path::Sequence(first, last) => {
                let (near, far) = if backward { (last, first) } else { (first, last) };
                self.first_nodes(near, backward, only, starts)?;
                if near.is_nullable() { self.first_nodes(far, backward, only, starts) } else { Ok(()) }
            }
            Path::Alternative(a, b) => {
                self.first_nodes(a, backward, only, starts)?;
                self.first_nodes(b, backward, only, starts)
            }
            Path::ZeroOrMore(inner) | Path::OneOrMore(inner) | Path::ZeroOrOne(inner) => {
                self.first_nodes(inner, backward, only, starts)
            }
        }
    }

    /// The values of the first free column of `order`: subjects or objects of edges.
    pub(super) fn edge_ends(
        &mut self,
        predicate: Slot,
        order: Order,
        only: Option<ValueId>,
        starts: &mut Starts,
    ) -> Result<(), ExecError> {
        let near = only.map_or(Slot::Var(NEAR), Slot::Const);
        let (subject, object) = match order {
            Order::Posg | Order::Ospg => (Slot::Any, near),
            _ => (near, Slot::Any),
        };
        let pattern =
            ScanPattern { subject, predicate, object, graph: self.graph.clone(), order, within: None };
        let pattern = Pattern::new(&pattern, |_| false, |_| true, self.single_graph);
        let column = |var| pattern.outputs.iter().find(|(v, _)| *v == var).map(|(_, column)| *column);
        let (term, graph) = (column(NEAR), column(GRAPH));
        if pattern.impossible {
            return Ok(());
        }
        let mut scan = self.cx.snapshot.scan(pattern.order, &pattern.prefix(), pattern.mask())?;
        let mut columns = Columns::default();
        let (mut last, mut selection) = (None, Vec::new());
        loop {
            self.cx.cancel.check()?;
            columns.iter_mut().for_each(Vec::clear);
            let rows = scan.next(self.cx.batch_rows, &mut columns)?;
            if rows == 0 {
                return Ok(());
            }
            self.counters.read(0, rows as u64);
            selection.clear();
            pattern.select(&columns, 0, rows, &mut last, &mut selection);
            for row in &selection {
                let value = |column: usize| columns[column][*row as usize];
                starts.push(graph.map(value), only.or(term.map(value)).unwrap_or(ValueId::UNDEF));
            }
            self.hold(starts.bytes())?;
        }
    }
}

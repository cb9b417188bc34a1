//! Searching along property paths, from many start nodes at once: each step looks up the sorted, distinct nodes of the frontier.
//!
//! Sequences and alternatives keep multiplicities, as joins and unions do; `*`, `+` and `?` give each end once per start.
//!
//! Where the graph is a variable the search is in all graphs at once: its nodes are those of [`GraphNodes`], a term in a graph each.

use super::graph_nodes::GraphNodes;
use super::path_edges::{CHECK_EVERY, Edges, FAR, GRAPH, NEAR, PREDICATE};
use crate::context::QueryContext;
use crate::cursor::Cursor;
use crate::pattern::Pattern;
use crate::profile::NodeCounters;
use crate::reservation::cover;
use lode_base::memory_budget::Reservation;
use lode_eval::error::ExecError;
use lode_eval::hash::IdHash;
use lode_eval::merge_sort::{sort_by_number, sort_in_steps};
use lode_packed::Order;
use lode_rdf::ValueId;
use lode_scheduler::steps::{append, collect, dedup_by, steps};
use lode_sparql::plan::Path;
use lode_sparql::{GraphScope, ScanPattern, Slot};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A start's number, and a node reached from it.
pub(crate) type Reached = (u32, ValueId);

/// Ends reached between two looks.
const ROWS_UNCHECKED: usize = 1 << 14;

/// A search in one graph (or merge of graphs), or in each of many.
pub(crate) struct Search {
    pub(super) cx: Arc<QueryContext>,
    pub(super) counters: Arc<NodeCounters>,
    pub(super) graph: GraphScope,
    pub(super) single_graph: bool,
    /// Its nodes, where it is in each of many graphs.
    pub(super) graph_nodes: Option<GraphNodes>,
    reservation: Reservation,
    held: usize,
    /// Bytes that the steps around the present one hold.
    pub(super) around: usize,
}

impl Search {
    /// In `graph`, or in each graph where that is a variable; `single_graph`: all quads are in the default graph.
    pub(crate) fn new(
        cx: &Arc<QueryContext>,
        counters: &Arc<NodeCounters>,
        graph: &GraphScope,
        single_graph: bool,
    ) -> Result<Self, ExecError> {
        let (graph, graph_nodes) = match graph {
            GraphScope::Named { slot: Slot::Var(_), among } => {
                let graph = GraphScope::Named { slot: Slot::Var(GRAPH), among: among.clone() };
                (graph, Some(GraphNodes::new(&cx.budget)))
            }
            one => (one.clone(), None),
        };
        Ok(Self {
            cx: Arc::clone(cx),
            counters: Arc::clone(counters),
            graph,
            single_graph,
            graph_nodes,
            reservation: cx.budget.reserve(0)?,
            held: 0,
            around: 0,
        })
    }

    /// The node that a term is: itself, or in one of many graphs a number.
    pub(super) fn node(&mut self, graph: ValueId, term: ValueId) -> Result<ValueId, ExecError> {
        match &mut self.graph_nodes {
            Some(nodes) => nodes.number(graph, term, &self.cx.cancel),
            None => Ok(term),
        }
    }

    /// The term that a node is.
    pub(super) fn term(&self, node: ValueId) -> ValueId {
        self.graph_nodes.as_ref().map_or(node, |nodes| nodes.node(node).1)
    }

    /// The graph that a node is in, where it is one of many.
    pub(super) fn graph_of(&self, node: ValueId) -> ValueId {
        self.graph_nodes.as_ref().map_or(ValueId::UNDEF, |nodes| nodes.node(node).0)
    }

    /// Forgets numbers of nodes.
    pub(super) fn forget_nodes(&mut self) {
        if let Some(nodes) = &mut self.graph_nodes {
            nodes.clear();
        }
    }

    /// The ends of `path` from each of `starts`, by start. `backward`: the starts are the path's ends.
    pub(crate) fn reach(
        &mut self,
        path: &Path,
        backward: bool,
        starts: &[ValueId],
    ) -> Result<Vec<Reached>, ExecError> {
        // A search that ended in an error, which fewer starts may avoid, has left its mark.
        self.around = 0;
        let from = (0..).zip(starts.iter().copied()).collect();
        let result = self.expand(path, backward, from);
        self.held = 0;
        let kept = result.as_ref().map_or(0, |r| r.len() * size_of::<Reached>());
        self.reservation.resize(kept.min(self.reservation.bytes()))?;
        let mut reached = result?;
        self.sort(&mut reached, |(start, _)| u64::from(*start))?;
        Ok(reached)
    }

    /// How many times `path` leads from the first to the second of each pair.
    pub(crate) fn count(&mut self, path: &Path, pairs: &[(ValueId, ValueId)]) -> Result<Vec<u64>, ExecError> {
        let mut counts = vec![0; pairs.len()];
        let backward = match pairs.first() {
            Some((from, to)) => self.fan_out(path, *to, true)? < self.fan_out(path, *from, false)?,
            None => false,
        };
        let start = |(from, to): &(ValueId, ValueId)| if backward { *to } else { *from };
        let target = |(from, to): &(ValueId, ValueId)| if backward { *from } else { *to };
        let targets: Vec<ValueId> = pairs.iter().map(target).collect();
        if let Path::ZeroOrMore(inner) | Path::OneOrMore(inner) = path {
            let zero = matches!(path, Path::ZeroOrMore(_));
            let starts: Vec<ValueId> = pairs.iter().map(start).collect();
            self.around = 0;
            let reached = self.close(inner, backward, &starts, zero, Some(&targets));
            self.held = 0;
            self.reservation.resize(0)?;
            for (pair, node) in reached? {
                let hit = node == targets[pair as usize];
                counts[pair as usize] = u64::from(hit || counts[pair as usize] > 0);
            }
            return Ok(counts);
        }
        let starts: Vec<ValueId> = pairs.iter().map(start).collect();
        for (pair, node) in self.reach(path, backward, &starts)? {
            counts[pair as usize] += u64::from(node == targets[pair as usize]);
        }
        Ok(counts)
    }

    /// A guess at the number of first steps from a node.
    fn fan_out(&self, path: &Path, node: ValueId, backward: bool) -> Result<u64, ExecError> {
        self.edges_of_term(path, self.term(node), backward)
    }

    fn edges_of_term(&self, path: &Path, node: ValueId, backward: bool) -> Result<u64, ExecError> {
        let snapshot = &self.cx.snapshot;
        Ok(match path {
            Path::Predicate(None) => 0,
            Path::Predicate(Some(p)) if backward => snapshot.count(Order::Posg, &[*p, node])?,
            Path::Predicate(Some(p)) => snapshot.count(Order::Psog, &[*p, node])?,
            Path::Reverse(inner) => self.edges_of_term(inner, node, !backward)?,
            Path::Sequence(first, last) => {
                self.edges_of_term(if backward { last } else { first }, node, backward)?
            }
            Path::Alternative(a, b) => {
                self.edges_of_term(a, node, backward)?.saturating_add(self.edges_of_term(b, node, backward)?)
            }
            Path::ZeroOrMore(inner) | Path::OneOrMore(inner) | Path::ZeroOrOne(inner) => {
                self.edges_of_term(inner, node, backward)?
            }
            Path::Negated(_) if backward => snapshot.count(Order::Ospg, &[node])?,
            Path::Negated(_) => snapshot.count(Order::Spog, &[node])?,
            Path::Type(step) => self.edges_of_term(&step.stated, node, backward)?,
        })
    }

    pub(super) fn expand(
        &mut self,
        path: &Path,
        backward: bool,
        from: Vec<Reached>,
    ) -> Result<Vec<Reached>, ExecError> {
        if from.is_empty() {
            return Ok(from);
        }
        match path {
            Path::Predicate(None) => Ok(Vec::new()),
            Path::Predicate(Some(predicate)) => {
                let predicate = Slot::Const(*predicate);
                self.step(&self.edge(predicate, self.edge_order(true, backward), backward), &[], from)
            }
            Path::Negated(excluded) => {
                let order = self.edge_order(false, backward);
                self.step(&self.edge(Self::any_predicate(), order, backward), excluded, from)
            }
            Path::Type(step) => {
                let nodes = self.distinct_nodes(&from)?;
                let reached = self.type_ends(step, backward, &nodes)?;
                self.spread(&from, &nodes, reached)
            }
            Path::Reverse(inner) => self.expand(inner, !backward, from),
            Path::Sequence(first, last) => {
                let (near, far) = if backward { (last, first) } else { (first, last) };
                let middle = self.expand(near, backward, from)?;
                self.expand(far, backward, middle)
            }
            Path::Alternative(a, b) => {
                let mut copy = Vec::new();
                append(&mut copy, &from, &self.cx.cancel)?;
                let mut reached = self.expand(a, backward, copy)?;
                append(&mut reached, &self.expand(b, backward, from)?, &self.cx.cancel)?;
                self.hold(reached.len() * size_of::<Reached>())?;
                Ok(reached)
            }
            Path::ZeroOrMore(inner) => self.expand_closure(inner, backward, &from, true),
            Path::OneOrMore(inner) => self.expand_closure(inner, backward, &from, false),
            Path::ZeroOrOne(inner) => {
                let starts = self.distinct_nodes(&from)?;
                let zero = |number: usize| (u32::try_from(number).unwrap_or(u32::MAX), starts[number]);
                let mut reached = collect(starts.len(), &self.cx.cancel, zero)?;
                let zero = collect(starts.len(), &self.cx.cancel, zero)?;
                append(&mut reached, &self.expand(inner, backward, zero)?, &self.cx.cancel)?;
                sort_in_steps(&mut reached, Reached::cmp, || self.cx.cancel.check())?;
                dedup_by(&mut reached, &self.cx.cancel, PartialEq::eq, |_, _| ())?;
                self.spread(&from, &starts, reached)
            }
        }
    }

    fn expand_closure(
        &mut self,
        inner: &Path,
        backward: bool,
        from: &[Reached],
        zero: bool,
    ) -> Result<Vec<Reached>, ExecError> {
        let starts = self.distinct_nodes(from)?;
        let reached = self.close(inner, backward, &starts, zero, None)?;
        self.spread(from, &starts, reached)
    }

    /// For each of `from` all that was `reached` from its node: the numbers in `reached` count `starts`.
    pub(super) fn spread(
        &mut self,
        from: &[Reached],
        starts: &[ValueId],
        mut reached: Vec<Reached>,
    ) -> Result<Vec<Reached>, ExecError> {
        if from.len() == starts.len() {
            return self.renumbered(from, starts, reached);
        }
        self.sort(&mut reached, |(start, _)| u64::from(*start))?;
        let mut all = Vec::new();
        for (i, (tag, node)) in from.iter().enumerate() {
            if i % CHECK_EVERY == 0 {
                self.cx.cancel.check()?;
                self.hold((all.len() + reached.len()) * size_of::<Reached>())?;
            }
            let Ok(start) = starts.binary_search(node) else { continue };
            let first = reached.partition_point(|(s, _)| (*s as usize) < start);
            let count = reached[first..].partition_point(|(s, _)| *s as usize == start);
            let ends = &reached[first..first + count];
            if count > CHECK_EVERY {
                self.hold((all.len() + reached.len() + count) * size_of::<Reached>())?;
            }
            for step in steps(count, &self.cx.cancel) {
                all.extend(ends[step?].iter().map(|(_, end)| (*tag, *end)));
            }
        }
        self.hold((all.len() + reached.len()) * size_of::<Reached>())?;
        Ok(all)
    }

    /// The same where each start is one of `from`: nothing is copied, of which there may be gigabytes.
    fn renumbered(
        &self,
        from: &[Reached],
        starts: &[ValueId],
        mut reached: Vec<Reached>,
    ) -> Result<Vec<Reached>, ExecError> {
        let mut tags = collect(starts.len(), &self.cx.cancel, |_| 0)?;
        for step in steps(from.len(), &self.cx.cancel) {
            for (tag, node) in &from[step?] {
                if let Ok(start) = starts.binary_search(node) {
                    tags[start] = *tag;
                }
            }
        }
        for step in steps(reached.len(), &self.cx.cancel) {
            reached[step?].iter_mut().for_each(|(start, _)| *start = tags[*start as usize]);
        }
        Ok(reached)
    }

    pub(super) fn distinct_nodes(&self, from: &[Reached]) -> Result<Vec<ValueId>, ExecError> {
        let mut nodes = collect(from.len(), &self.cx.cancel, |at| from[at].1)?;
        self.sort(&mut nodes, |node| node.to_bits())?;
        dedup_by(&mut nodes, &self.cx.cancel, PartialEq::eq, |_, _| ())?;
        Ok(nodes)
    }

    /// Sorts in steps between which a query can stop.
    fn sort<T: Copy>(&self, values: &mut [T], number: impl Fn(&T) -> u64 + Copy) -> Result<(), ExecError> {
        Ok(sort_by_number(values, number, &|| self.cx.cancel.check())?)
    }

    /// The pattern of an edge from `NEAR` to `FAR`.
    pub(super) fn edge(&self, predicate: Slot, order: Order, backward: bool) -> Pattern {
        let (subject, object) =
            if backward { (Slot::Var(FAR), Slot::Var(NEAR)) } else { (Slot::Var(NEAR), Slot::Var(FAR)) };
        let pattern =
            ScanPattern { subject, predicate, object, graph: self.graph.clone(), order, within: None };
        let bound = |var| var == NEAR || (var == GRAPH && order == Order::Gspo);
        Pattern::new(&pattern, bound, |var| !bound(var), self.single_graph)
    }

    /// The order in which to look edges up.
    pub(super) fn edge_order(&self, has_predicate: bool, backward: bool) -> Order {
        match (has_predicate, backward) {
            // Of a term that many graphs have, only the edges in this one are read. There is no such order of objects.
            (_, false) if self.graph_nodes.is_some() => Order::Gspo,
            (true, false) => Order::Psog,
            (true, true) => Order::Posg,
            (false, false) => Order::Spog,
            (false, true) => Order::Ospg,
        }
    }

    /// A predicate that [`Search::walk`] compares with those excluded.
    pub(super) const fn any_predicate() -> Slot {
        Slot::Var(PREDICATE)
    }

    /// One step along edges whose predicate is not `excluded`.
    fn step(
        &mut self,
        pattern: &Pattern,
        excluded: &[ValueId],
        mut from: Vec<Reached>,
    ) -> Result<Vec<Reached>, ExecError> {
        self.sort(&mut from, |(_, node)| node.to_bits())?;
        let mut same: Vec<&[Reached]> = Vec::new();
        for (at, starts) in from.chunk_by(|a, b| a.1 == b.1).enumerate() {
            if at % ROWS_UNCHECKED == 0 {
                self.cx.cancel.check()?;
            }
            same.push(starts);
        }
        let nodes = same.iter().filter_map(|same| same.first()).map(|(_, node)| *node);
        self.walk(pattern, excluded, nodes, |at, far, out| {
            let starts = same.get(at).copied().unwrap_or_default();
            out.extend(starts.iter().map(|(start, _)| (*start, far)));
        })
    }

    /// Walks the edges of `nodes` (ascending) whose predicate is not `excluded`; `emit` gets the number of the node, the far end, and what
    /// will be returned.
    pub(super) fn walk<T>(
        &mut self,
        pattern: &Pattern,
        excluded: &[ValueId],
        nodes: impl Iterator<Item = ValueId>,
        emit: impl Fn(usize, ValueId, &mut Vec<T>),
    ) -> Result<Vec<T>, ExecError> {
        let cancel = self.cx.cancel.clone();
        let Some(edges) = Edges::of(pattern, excluded, &cancel) else { return Ok(Vec::new()) };
        let mut cursor = Cursor::new(&self.cx.snapshot, pattern, self.cx.batch_rows)?;
        let (mut out, mut looked_at) = (Vec::new(), 0);
        match self.graph_nodes.take() {
            None => edges.of_terms(&mut cursor, nodes, |at, far| {
                self.look(&out, &mut looked_at)?;
                emit(at, far, &mut out);
                Ok(true)
            })?,
            Some(mut graph_nodes) => {
                let keys = edges.keys(&graph_nodes, nodes)?;
                let result = edges.of_keys(&mut cursor, &keys, |at, graph, far| {
                    self.look(&out, &mut looked_at)?;
                    let far = graph_nodes.number(graph, far, &cancel)?;
                    emit(at, far, &mut out);
                    Ok(true)
                });
                self.graph_nodes = Some(graph_nodes);
                result?;
            }
        }
        self.hold(out.len() * size_of::<T>())?;
        self.counters.read(cursor.lookups, cursor.rows);
        Ok(out)
    }

    /// Looks now and then whether to go on, and whether there is memory: one node may be reached in as many ways as there is memory for, each
    /// of which goes on to each far end.
    pub(super) fn look<T>(&mut self, out: &[T], looked_at: &mut usize) -> Result<(), ExecError> {
        if out.len() < *looked_at + ROWS_UNCHECKED {
            return Ok(());
        }
        *looked_at = out.len();
        self.cx.cancel.check()?;
        self.hold(size_of_val(out))
    }

    /// Reserves what the search holds at its fullest.
    pub(super) fn hold(&mut self, bytes: usize) -> Result<(), ExecError> {
        self.held = self.held.max(self.around + bytes);
        cover(&mut self.reservation, self.held)?;
        self.counters.hold(self.held);
        Ok(())
    }

    /// Which of `nodes` (sorted) are subjects or objects in the graph.
    pub(crate) fn existing(&mut self, nodes: &[ValueId]) -> Result<HashSet<ValueId, IdHash>, ExecError> {
        let mut existing: HashSet<ValueId, IdHash> = HashSet::default();
        for backward in [false, true] {
            let pattern = self.edge(Slot::Any, self.edge_order(false, backward), backward);
            let missing: Vec<ValueId> =
                nodes.iter().copied().filter(|node| !existing.contains(node)).collect();
            existing.extend(self.with_edge(&pattern, &missing)?.into_iter().map(|at| missing[at]));
        }
        Ok(existing)
    }

    /// The numbers of those of `nodes` (sorted) that have an edge. One is enough, further ones are not read.
    pub(super) fn with_edge(&self, pattern: &Pattern, nodes: &[ValueId]) -> Result<Vec<usize>, ExecError> {
        let mut found = Vec::new();
        let Some(edges) = Edges::of(pattern, &[], &self.cx.cancel) else { return Ok(found) };
        let mut cursor = Cursor::new(&self.cx.snapshot, pattern, self.cx.batch_rows)?;
        let mut exists = |at: usize| {
            found.push(at);
            Ok(false)
        };
        match &self.graph_nodes {
            None => edges.of_terms(&mut cursor, nodes.iter().copied(), |at, _| exists(at))?,
            Some(graph_nodes) => {
                let keys = edges.keys(graph_nodes, nodes.iter().copied())?;
                edges.of_keys(&mut cursor, &keys, |at, _, _| exists(at))?;
            }
        }
        self.counters.read(cursor.lookups, cursor.rows);
        Ok(found)
    }
}

/// The places of equal values: for each distinct value its number, in order of first occurrence.
pub(crate) fn number<T: Copy + Eq + std::hash::Hash>(
    values: impl Iterator<Item = T>,
) -> (Vec<T>, Vec<usize>) {
    let mut numbers: HashMap<T, usize, IdHash> = HashMap::default();
    let mut distinct = Vec::new();
    let places = values
        .map(|value| {
            *numbers.entry(value).or_insert_with(|| {
                distinct.push(value);
                distinct.len() - 1
            })
        })
        .collect();
    (distinct, places)
}

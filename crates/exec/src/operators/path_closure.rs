//! `*` and `+`: breadth-first search from up to 64 starts at once. Each node has a bit for each start that has reached it, so that where
//! searches meet they go on as one (Then et al., "The More the Merrier: Efficient Multi-Source Graph Traversal", VLDB 2014).
//!
//! A closure gives each end once, whatever the number of ways there, so multiplicities inside it are dropped at every step: through a
//! country that ten thousand people share leads one way and not ten thousand.

use super::path_search::{Reached, Search};
use super::visited::{Marked, Visited, both, merged};
use lode_base::cancel::{CancelToken, Cancelled};
use lode_eval::error::ExecError;
use lode_eval::hash::IdHash;
use lode_packed::Order;
use lode_rdf::ValueId;
use lode_scheduler::steps::{append, collect, steps};
use lode_sparql::Slot;
use lode_sparql::plan::Path;
use std::collections::HashMap;

/// Visited nodes, each with up to 64 starts, between two looks at the cancel token.
const NODES_UNCHECKED: usize = 1 << 10;

/// Starts of one search.
const STARTS: usize = u64::BITS as usize;

impl Search {
    /// All nodes reached from each start by one step or more, and with `zero` the start itself; each once. With `targets` (one per
    /// start) the search from a start ends where its target is found.
    pub(super) fn close(
        &mut self,
        inner: &Path,
        backward: bool,
        starts: &[ValueId],
        zero: bool,
        targets: Option<&[ValueId]>,
    ) -> Result<Vec<Reached>, ExecError> {
        let mut all = Vec::new();
        for (at, some) in starts.chunks(STARTS).enumerate() {
            let first = at * STARTS;
            let targets = targets.map(|targets| Targets::new(targets.get(first..).unwrap_or_default()));
            let visited = self.close_some(inner, backward, some, zero, targets)?;
            let held = visited.bytes();
            let visited = visited.into_nodes();
            let mut pairs = 0;
            for step in steps(visited.len(), &self.cx.cancel) {
                pairs += visited[step?].iter().map(|(_, mask)| mask.count_ones() as usize).sum::<usize>();
            }
            self.hold(held + pairs * size_of::<Reached>())?;
            all.reserve(pairs);
            for (at, (node, mask)) in visited.iter().enumerate() {
                if at % NODES_UNCHECKED == 0 {
                    self.cx.cancel.check()?;
                }
                let mut mask = *mask;
                while mask != 0 {
                    let start = first + mask.trailing_zeros() as usize;
                    all.push((u32::try_from(start).unwrap_or(u32::MAX), *node));
                    mask &= mask - 1;
                }
            }
            self.around += pairs * size_of::<Reached>();
        }
        self.around -= all.len() * size_of::<Reached>();
        Ok(all)
    }

    /// The same from up to [`STARTS`] starts.
    fn close_some(
        &mut self,
        inner: &Path,
        backward: bool,
        starts: &[ValueId],
        zero: bool,
        mut targets: Option<Targets>,
    ) -> Result<Visited, ExecError> {
        let starts = starts.iter().enumerate().map(|(bit, node)| (*node, 1 << bit)).collect();
        let mut frontier = merged(starts, &self.cx.cancel)?;
        let mut visited = Visited::default();
        if zero {
            visited.visit(&mut frontier, &self.cx.cancel)?;
            if let Some(targets) = &mut targets {
                targets.note(&frontier, &self.cx.cancel)?;
            }
        }
        loop {
            if let Some(targets) = &targets {
                frontier.iter_mut().for_each(|(_, mask)| *mask &= !targets.found);
                frontier.retain(|(_, mask)| *mask != 0);
            }
            if frontier.is_empty() {
                return Ok(visited);
            }
            frontier = self.next_frontier(inner, backward, frontier, &mut visited)?;
            if let Some(targets) = &mut targets {
                targets.note(&frontier, &self.cx.cancel)?;
            }
        }
    }

    /// The nodes one step beyond `frontier`, with the marks that are new to them.
    fn next_frontier(
        &mut self,
        inner: &Path,
        backward: bool,
        frontier: Vec<Marked>,
        visited: &mut Visited,
    ) -> Result<Vec<Marked>, ExecError> {
        self.cx.cancel.check()?;
        let held = visited.bytes();
        self.around += held;
        let mut reached = self.expand_marked(inner, backward, frontier)?;
        self.around -= held;
        visited.visit(&mut reached, &self.cx.cancel)?;
        self.hold(visited.bytes() + reached.len() * size_of::<Marked>())?;
        Ok(reached)
    }

    /// The ends of `path` from marked nodes (sorted, distinct), with the marks of all that lead there.
    fn expand_marked(
        &mut self,
        path: &Path,
        backward: bool,
        from: Vec<Marked>,
    ) -> Result<Vec<Marked>, ExecError> {
        if from.is_empty() {
            return Ok(from);
        }
        match path {
            Path::Predicate(None) => Ok(Vec::new()),
            Path::Predicate(Some(predicate)) => {
                let order = self.edge_order(true, backward);
                self.step_marked(Slot::Const(*predicate), order, backward, &[], &from)
            }
            Path::Negated(excluded) => {
                let order = self.edge_order(false, backward);
                self.step_marked(Self::any_predicate(), order, backward, excluded, &from)
            }
            Path::Type(step) => {
                let nodes: Vec<ValueId> = from.iter().map(|(node, _)| *node).collect();
                let reached = self.type_ends(step, backward, &nodes)?;
                let mask = |at: u32| from.get(at as usize).map_or(0, |(_, mask)| *mask);
                let cancel = &self.cx.cancel;
                let reached = collect(reached.len(), cancel, |at| (reached[at].1, mask(reached[at].0)))?;
                Ok(merged(reached, cancel)?)
            }
            Path::Reverse(inner) => self.expand_marked(inner, !backward, from),
            Path::Sequence(first, last) => {
                let (near, far) = if backward { (last, first) } else { (first, last) };
                let middle = self.expand_marked(near, backward, from)?;
                self.expand_marked(far, backward, middle)
            }
            Path::Alternative(a, b) => {
                let reached = self.expand_marked(a, backward, self.copy(&from)?)?;
                let more = self.expand_marked(b, backward, from)?;
                Ok(both(reached, &more, &self.cx.cancel)?)
            }
            Path::ZeroOrOne(inner) => {
                let reached = self.copy(&from)?;
                let more = self.expand_marked(inner, backward, from)?;
                Ok(both(reached, &more, &self.cx.cancel)?)
            }
            Path::ZeroOrMore(inner) => self.close_marked(inner, backward, from, true),
            Path::OneOrMore(inner) => self.close_marked(inner, backward, from, false),
        }
    }

    /// A closure inside a closure.
    fn close_marked(
        &mut self,
        inner: &Path,
        backward: bool,
        from: Vec<Marked>,
        zero: bool,
    ) -> Result<Vec<Marked>, ExecError> {
        let mut visited = Visited::default();
        let mut frontier = from;
        if zero {
            visited.visit(&mut frontier, &self.cx.cancel)?;
        }
        while !frontier.is_empty() {
            frontier = self.next_frontier(inner, backward, frontier, &mut visited)?;
        }
        Ok(merged(visited.into_nodes(), &self.cx.cancel)?)
    }

    fn copy(&self, marked: &[Marked]) -> Result<Vec<Marked>, ExecError> {
        let mut copy = Vec::new();
        append(&mut copy, marked, &self.cx.cancel)?;
        Ok(copy)
    }

    fn step_marked(
        &mut self,
        predicate: Slot,
        order: Order,
        backward: bool,
        excluded: &[ValueId],
        from: &[Marked],
    ) -> Result<Vec<Marked>, ExecError> {
        let pattern = self.edge(predicate, order, backward);
        let nodes = from.iter().map(|(node, _)| *node);
        let mask = |at: usize| from.get(at).map_or(0, |(_, mask)| *mask);
        let reached = self.walk(&pattern, excluded, nodes, |at, far, out| out.push((far, mask(at))))?;
        Ok(merged(reached, &self.cx.cancel)?)
    }
}

/// What the searches look for.
struct Targets {
    /// The starts that look for a node.
    wanted: HashMap<ValueId, u64, IdHash>,
    /// Starts whose search is over.
    found: u64,
}

impl Targets {
    /// Of the first [`STARTS`] starts.
    fn new(targets: &[ValueId]) -> Self {
        let mut wanted: HashMap<ValueId, u64, IdHash> = HashMap::default();
        for (bit, target) in targets.iter().take(STARTS).enumerate() {
            *wanted.entry(*target).or_default() |= 1 << bit;
        }
        Self { wanted, found: 0 }
    }

    fn note(&mut self, reached: &[Marked], cancel: &CancelToken) -> Result<(), Cancelled> {
        for step in steps(reached.len(), cancel) {
            for (node, mask) in &reached[step?] {
                self.found |= self.wanted.get(node).map_or(0, |starts| starts & mask);
            }
        }
        Ok(())
    }
}

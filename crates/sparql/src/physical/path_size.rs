//! How large the search of a path is, and how many values its ends have: guesses from the counts of its predicates.

use super::cost;
use crate::cardinality::{Distinct, estimate};
use crate::logical::{QuadPattern, term_slot_var};
use crate::plan::{GraphScope, Path, Slot, TermSlot};
use crate::statistics::Statistics;
use lode_packed::Order;

/// Pairs that one start is thought to have.
const REACH: f64 = 10.0;
/// Of all quads, the part whose terms a path that can be empty is thought to begin at.
const EMPTY_SHARE: f64 = 0.1;

/// How large a path's search is, roughly.
#[derive(Debug, Clone, Copy)]
pub(super) struct PathSize {
    /// Pairs of ends.
    pub rows: f64,
    /// Edges visited when all starts are searched.
    pub edges: f64,
    /// Starts.
    starts: f64,
    /// Distinct values of the subject and of the object.
    ends: [f64; 2],
}

impl PathSize {
    /// The size of a path with these ends.
    pub fn estimate(
        subject: &TermSlot,
        path: &Path,
        object: &TermSlot,
        graph: &GraphScope,
        stats: &dyn Statistics,
    ) -> Self {
        let edges = edges(path, graph, stats).max(1.0);
        let ends = ends(path, graph, stats).map(|count| count.max(1.0));
        let starts = (edges / 2.0).max(1.0);
        let reach = REACH.min(edges);
        let variables = [subject, object].iter().filter(|s| matches!(s, TermSlot::Var(_))).count();
        match variables {
            0 => Self { rows: 1.0, edges: reach * 10.0, starts: 1.0, ends },
            1 => Self { rows: reach, edges: reach * 10.0, starts: 1.0, ends },
            _ => Self { rows: starts * reach, edges: edges * reach, starts, ends },
        }
    }

    /// The cost of searching from so many rows.
    pub fn search_cost(&self, rows: f64) -> f64 {
        cost::path(rows * self.per_start() * 2.0).min(cost::path(self.edges) + rows * 100.0)
    }

    /// Pairs of one start.
    pub fn per_start(&self) -> f64 {
        (self.rows / self.starts.max(1.0)).max(1.0)
    }

    /// The distinct values of the variables at the ends.
    pub fn distinct(&self, subject: &TermSlot, object: &TermSlot) -> Distinct {
        let [starts, ends] = self.ends;
        let vars = [(term_slot_var(subject), starts), (term_slot_var(object), ends)];
        vars.into_iter().filter_map(|(var, count)| Some((var?, count.min(self.rows)))).collect()
    }
}

/// Quads with this predicate, or with any.
fn count(predicate: Slot, graph: &GraphScope, stats: &dyn Statistics) -> f64 {
    let any = Slot::Any;
    let pattern = QuadPattern { subject: any, predicate, object: any, graph: graph.clone(), objects: None };
    estimate(&pattern, stats).rows
}

fn edges(path: &Path, graph: &GraphScope, stats: &dyn Statistics) -> f64 {
    match path {
        Path::Predicate(Some(id)) => count(Slot::Const(*id), graph, stats),
        Path::Predicate(None) => 0.0,
        Path::Negated(_) => count(Slot::Any, graph, stats),
        Path::Type(step) => {
            let typing = step.typing.iter().map(|typing| count(Slot::Const(typing.property), graph, stats));
            edges(&step.stated, graph, stats) + typing.sum::<f64>()
        }
        // Paths that can be empty start at every term.
        Path::ZeroOrMore(p) | Path::ZeroOrOne(p) => {
            edges(p, graph, stats) + count(Slot::Any, graph, stats) * EMPTY_SHARE
        }
        Path::Reverse(p) | Path::OneOrMore(p) => edges(p, graph, stats),
        Path::Sequence(a, b) | Path::Alternative(a, b) => edges(a, graph, stats) + edges(b, graph, stats),
    }
}

/// Distinct subjects and objects.
fn ends(path: &Path, graph: &GraphScope, stats: &dyn Statistics) -> [f64; 2] {
    let distinct = |order, prefix: &[_]| stats.distinct(order, prefix) as f64;
    match path {
        Path::Predicate(Some(id)) => [distinct(Order::Psog, &[*id]), distinct(Order::Posg, &[*id])],
        Path::Predicate(None) => [0.0; 2],
        Path::Negated(_) => [distinct(Order::Spog, &[]), distinct(Order::Ospg, &[])],
        Path::Type(step) => {
            let [mut nodes, classes] = ends(&step.stated, graph, stats);
            for typing in &step.typing {
                let order = if typing.inverse { Order::Posg } else { Order::Psog };
                nodes += distinct(order, &[typing.property]);
            }
            [nodes, classes]
        }
        Path::ZeroOrMore(p) | Path::ZeroOrOne(p) => {
            let terms = count(Slot::Any, graph, stats) * EMPTY_SHARE;
            ends(p, graph, stats).map(|count| count + terms)
        }
        Path::OneOrMore(p) => ends(p, graph, stats),
        Path::Reverse(p) => {
            let [subjects, objects] = ends(p, graph, stats);
            [objects, subjects]
        }
        Path::Sequence(a, b) => [ends(a, graph, stats)[0], ends(b, graph, stats)[1]],
        Path::Alternative(a, b) => {
            let [a, b] = [a, b].map(|path| ends(path, graph, stats));
            [a[0] + b[0], a[1] + b[1]]
        }
    }
}

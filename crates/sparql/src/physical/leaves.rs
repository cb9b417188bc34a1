//! Operators without inputs, but for scans.

use super::node::{self, PathSize, Planned};
use crate::cardinality::estimate;
use crate::logical::{Logical, LogicalOp, QuadPattern};
use crate::plan::{GraphScope, Path, PlanOp, Slot, TermSlot};
use crate::statistics::Statistics;
use lode_packed::Order;

/// The plan of a leaf.
pub(super) fn lower(logical: &Logical, stats: &dyn Statistics) -> Planned {
    match &logical.op {
        LogicalOp::Unit => node::unit(),
        LogicalOp::Values { columns, rows } => node::values(columns, rows, &logical.certain),
        LogicalOp::Domain { columns, rows } => node::domain(columns, *rows),
        LogicalOp::GraphNames { slot, among } => {
            let all = stats.distinct(Order::Gspo, &[]) as f64;
            let graphs = among.as_ref().map_or(all, |graphs| graphs.len() as f64);
            let op = PlanOp::GraphNames { slot: *slot, among: among.clone() };
            node::graph_names(op, slot, graphs)
        }
        LogicalOp::Path { subject, path, object, graph } => {
            let size = path_size(subject, path, object, graph, stats);
            node::path(None, subject.clone(), path.clone(), object.clone(), graph.clone(), size)
        }
        LogicalOp::ForEachGraph { var, among, pattern } => {
            let all = stats.distinct(Order::Gspo, &[]) as f64;
            let graphs = among.as_ref().map_or(all, |graphs| graphs.len() as f64).max(1.0);
            let op = PlanOp::ForEachGraph { var: *var, among: among.clone(), pattern: pattern.clone() };
            node::leaf(op, &logical.vars, &logical.certain, graphs * 10.0, graphs * 50_000.0)
        }
        // Everything else has inputs; an empty leaf is the safe answer for what cannot come here.
        _ => node::empty(&logical.vars),
    }
}

/// How large the search of a path with these ends is.
pub(super) fn path_size(
    subject: &TermSlot,
    path: &Path,
    object: &TermSlot,
    graph: &GraphScope,
    stats: &dyn Statistics,
) -> PathSize {
    let edges = path_edges(path, graph, stats).max(1.0);
    let starts = (edges / 2.0).max(1.0);
    let ends = [subject, object].iter().filter(|s| matches!(s, TermSlot::Var(_))).count();
    let reach = 10.0_f64.min(edges);
    match ends {
        0 => PathSize { rows: 1.0, edges: reach * 10.0, starts: 1.0 },
        1 => PathSize { rows: reach, edges: reach * 10.0, starts: 1.0 },
        _ => PathSize { rows: starts * reach, edges: edges * reach, starts },
    }
}

fn path_edges(path: &Path, graph: &GraphScope, stats: &dyn Statistics) -> f64 {
    let count = |predicate: Slot| {
        let any = Slot::Any;
        let pattern =
            QuadPattern { subject: any, predicate, object: any, graph: graph.clone(), objects: None };
        estimate(&pattern, stats).rows
    };
    match path {
        Path::Predicate(Some(id)) => count(Slot::Const(*id)),
        Path::Predicate(None) => 0.0,
        Path::Negated(_) => count(Slot::Any),
        // Paths that can be empty start at every term.
        Path::ZeroOrMore(p) | Path::ZeroOrOne(p) => path_edges(p, graph, stats) + count(Slot::Any) * 0.1,
        Path::Reverse(p) | Path::OneOrMore(p) => path_edges(p, graph, stats),
        Path::Sequence(a, b) | Path::Alternative(a, b) => {
            path_edges(a, graph, stats) + path_edges(b, graph, stats)
        }
    }
}

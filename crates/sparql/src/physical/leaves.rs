//! Operators without inputs, but for scans.

use super::node::{self, Planned};
use super::path_size::PathSize;
use crate::logical::{Logical, LogicalOp};
use crate::plan::PlanOp;
use crate::statistics::Statistics;
use lode_packed::Order;

/// The plan of a leaf.
pub(super) fn lower(logical: &Logical, stats: &dyn Statistics) -> Planned {
    match &logical.op {
        LogicalOp::Unit => node::unit(),
        LogicalOp::Values { columns, rows } => node::values(columns, rows, &logical.certain),
        LogicalOp::Ids { var, list } => node::ids(*var, list),
        LogicalOp::Domain { columns, rows } => node::domain(columns, *rows),
        LogicalOp::GraphNames { slot, among } => {
            let all = stats.distinct(Order::Gspo, &[]) as f64;
            let graphs = among.as_ref().map_or(all, |graphs| graphs.len() as f64);
            let op = PlanOp::GraphNames { slot: *slot, among: among.clone() };
            node::graph_names(op, slot, graphs)
        }
        LogicalOp::Path { subject, path, object, graph } => {
            let size = PathSize::estimate(subject, path, object, graph, stats);
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

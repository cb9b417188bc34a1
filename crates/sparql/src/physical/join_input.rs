//! The members of a join group, ready to be ordered: the ways each can be had, and what may be done with it besides.

use super::lowering::{Lowering, keep_best};
use super::node::{self, Planned};
use super::path_size::PathSize;
use crate::cardinality::{Distinct, constant_prefix, estimate, scan_orders, slot_at, with_order};
use crate::logical::{Logical, LogicalOp, QuadPattern, term_slot_var};
use crate::plan::{GraphScope, Path, ScanPattern, Slot, TermSlot, VarId};
use crate::service_call::ServiceCall;
use crate::var_set::VarSet;
use lode_packed::Order;
use lode_packed::order::Position;
use std::sync::Arc;

/// One member of a join group.
pub(super) struct Input {
    pub vars: VarSet,
    pub certain: VarSet,
    pub rows: f64,
    pub distinct: Distinct,
    /// Plans for it alone, differing in their order; none for a step.
    pub plans: Vec<Planned>,
    /// What it is to the rows of other members.
    pub access: Access,
}

/// How a member can be joined to rows besides by its own plan.
pub(super) enum Access {
    /// Only by its plan.
    Plan,
    /// Looked up row by row.
    Lookup(QuadPattern),
    /// Searched from the rows.
    Path { subject: TermSlot, path: Path, object: TermSlot, graph: GraphScope, size: PathSize },
    /// Asked for with the bindings of the rows.
    Service(Arc<ServiceCall>),
    /// Takes a triple term of the rows apart; has no plan of its own.
    TripleTerm { term: VarId, slots: [TermSlot; 3] },
}

impl Input {
    /// A member of a join; `interest`: variables by which it may pay to have rows sorted.
    pub fn new(logical: &Logical, interest: &VarSet, lowering: &Lowering<'_>) -> Self {
        match &logical.op {
            LogicalOp::Scan(pattern) => Self::scan(pattern, interest, lowering),
            LogicalOp::TripleTerm { input: None, term, subject, predicate, object } => {
                let slots = [subject.clone(), predicate.clone(), object.clone()];
                let access = Access::TripleTerm { term: *term, slots };
                let (vars, certain) = (logical.vars.clone(), logical.certain.clone());
                Self { vars, certain, rows: 1.0, distinct: Distinct::new(), plans: Vec::new(), access }
            }
            LogicalOp::Path { subject, path, object, graph } => {
                let size = PathSize::estimate(subject, path, object, graph, lowering.stats);
                let access = Access::Path {
                    subject: subject.clone(),
                    path: path.clone(),
                    object: object.clone(),
                    graph: graph.clone(),
                    size,
                };
                Self::planned(logical, lowering.lower(logical, interest), access)
            }
            LogicalOp::Service { input: None, call } if term_slot_var(&call.endpoint).is_none() => {
                Self::planned(logical, lowering.lower(logical, interest), Access::Service(Arc::clone(call)))
            }
            _ => Self::planned(logical, lowering.lower(logical, interest), Access::Plan),
        }
    }

    fn planned(logical: &Logical, plans: Vec<Planned>, access: Access) -> Self {
        let first = plans.first();
        let rows = first.map_or(0.0, |p| p.node.rows);
        let distinct = first.map(|p| p.distinct.clone()).unwrap_or_default();
        // What a plan knows to be certain can be more than what its pattern promised, never less.
        let certain = first.map_or_else(|| logical.certain.clone(), Planned::certain);
        let vars = first.map_or_else(|| logical.vars.clone(), Planned::vars);
        Self { vars, certain, rows, distinct, plans, access }
    }

    fn scan(pattern: &QuadPattern, interest: &VarSet, lowering: &Lowering<'_>) -> Self {
        let plans = scans(pattern, interest, lowering);
        let vars = pattern.vars();
        let rows = plans.iter().map(|p| p.node.rows).reduce(f64::min).unwrap_or(0.0);
        let distinct = plans.first().map(|p| p.distinct.clone()).unwrap_or_default();
        let access = Access::Lookup(pattern.clone());
        Self { certain: vars.clone(), vars, rows, distinct, plans, access }
    }
}

/// A scan in each order that may be of use; the cheapest first.
pub(super) fn scans(pattern: &QuadPattern, interest: &VarSet, lowering: &Lowering<'_>) -> Vec<Planned> {
    let found = estimate(pattern, lowering.stats);
    let mut plans: Vec<Planned> = Vec::new();
    for order in scan_orders(pattern) {
        let scan = with_order(pattern, order);
        // In other orders the rows of a range are not side by side: all are delivered, and the condition drops the others.
        let (rows, read) = match (&scan.within, &pattern.objects) {
            (None, Some(_)) if found.read > 0.0 => (found.rows * found.read_all / found.read, found.read_all),
            (None, _) => (found.rows, found.read_all),
            (Some(_), _) => (found.rows, found.read),
        };
        plans.push(node::scan(scan, rows, read, found.distinct.clone()));
    }
    keep_best(plans, interest)
}

/// The permutation for looking a pattern up by the variables that rows bind: constants and those first, and nothing else of
/// them later. Among several the one whose variables come as `sorted_by` has them.
pub(super) fn lookup_pattern(
    pattern: &QuadPattern,
    bound: &VarSet,
    sorted_by: &[VarId],
) -> Option<ScanPattern> {
    let named = matches!(pattern.graph, GraphScope::Named { .. });
    let mut best: Option<(usize, Order)> = None;
    for order in Order::ALL {
        if order == Order::Gspo && !named {
            continue;
        }
        let Some(score) = lookup_score(pattern, order, bound, sorted_by) else { continue };
        if best.is_none_or(|(s, _)| score > s) {
            best = Some((score, order));
        }
    }
    // A look-up reads what is under its key.
    best.map(|(_, order)| ScanPattern { within: None, ..with_order(pattern, order) })
}

/// How well an order serves look-ups; `None` if it does not.
fn lookup_score(pattern: &QuadPattern, order: Order, bound: &VarSet, sorted_by: &[VarId]) -> Option<usize> {
    let fixed = |p: Position| match slot_at(pattern, p) {
        Slot::Const(_) => true,
        Slot::Var(v) => bound.contains(v),
        Slot::Any => false,
    };
    let positions = order.positions();
    let prefix = positions.iter().take_while(|p| fixed(**p)).count();
    let graph_constant = matches!(slot_at(pattern, Position::G), Slot::Const(_));
    let late = positions.iter().skip(prefix).any(|p| fixed(*p) && !(*p == Position::G && graph_constant));
    if prefix == 0 || late {
        return None;
    }
    // Constants first: the keys then lie close together. A graph in the prefix saves its check.
    let constants = constant_prefix(pattern, order).len();
    let keys: Vec<VarId> = positions[constants..prefix]
        .iter()
        .filter_map(|p| crate::logical::slot_var(&slot_at(pattern, *p)))
        .collect();
    let in_order = usize::from(sorted_by.starts_with(&keys));
    Some(1 + constants * 4 + in_order * 2)
}

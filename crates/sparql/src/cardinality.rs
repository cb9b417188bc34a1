//! How many rows: exact counts of patterns from the block indexes, estimates for all that is built on them.

use crate::expr::Expr;
use crate::logical::QuadPattern;
use crate::plan::{GraphScope, ScanPattern, Slot, VarId};
use crate::statistics::Statistics;
use lode_packed::Order;
use lode_packed::order::Position;
use lode_rdf::ValueId;
use std::collections::BTreeMap;
use std::ops::Range;

/// Estimated numbers of distinct values, by variable.
pub(crate) type Distinct = BTreeMap<VarId, f64>;

/// The six orders that hold all quads.
pub(crate) const FULL_ORDERS: [Order; 6] =
    [Order::Spog, Order::Sopg, Order::Psog, Order::Posg, Order::Ospg, Order::Opsg];

/// What is known of one pattern.
pub(crate) struct PatternEstimate {
    /// Rows; zero only if there certainly are none.
    pub rows: f64,
    /// Rows that a scan reads: more, where the graph is checked row by row.
    pub read: f64,
    /// Rows that a scan reads in an order in which the objects asked for do not lie side by side.
    pub read_all: f64,
    /// Distinct values of its variables.
    pub distinct: Distinct,
}

/// The slot at a position; the graph's is `Any` unless a graph or a variable is asked for.
pub(crate) fn slot_at(pattern: &QuadPattern, position: Position) -> Slot {
    match position {
        Position::S => pattern.subject,
        Position::P => pattern.predicate,
        Position::O => pattern.object,
        Position::G => match &pattern.graph {
            GraphScope::Named { slot, .. } => *slot,
            _ => Slot::Any,
        },
    }
}

/// The constants at the start of an order.
pub(crate) fn constant_prefix(pattern: &QuadPattern, order: Order) -> Vec<ValueId> {
    let mut prefix = Vec::with_capacity(4);
    for position in order.positions() {
        match slot_at(pattern, position) {
            Slot::Const(id) => prefix.push(id),
            Slot::Var(_) | Slot::Any => break,
        }
    }
    prefix
}

/// A pattern with its permutation.
pub(crate) fn with_order(pattern: &QuadPattern, order: Order) -> ScanPattern {
    let QuadPattern { subject, predicate, object, graph, objects } = pattern.clone();
    let first_free = order.positions().get(constant_prefix(pattern, order).len()).copied();
    let within = objects.filter(|_| first_free == Some(Position::O));
    ScanPattern { subject, predicate, object, graph, order, within }
}

fn constants(pattern: &QuadPattern) -> usize {
    [pattern.subject, pattern.predicate, pattern.object]
        .iter()
        .filter(|s| matches!(s, Slot::Const(_)))
        .count()
}

/// The orders in which all constants come first: a constant graph may come before the others, in GSPO.
pub(crate) fn scan_orders(pattern: &QuadPattern) -> Vec<Order> {
    let wanted = constants(pattern);
    let mut orders: Vec<Order> = Vec::with_capacity(6);
    for order in FULL_ORDERS {
        let prefix = order.positions()[..3]
            .iter()
            .take_while(|p| matches!(slot_at(pattern, **p), Slot::Const(_)))
            .count();
        if prefix == wanted {
            orders.push(order);
        }
    }
    if let GraphScope::Named { slot, among } = &pattern.graph {
        let after = Order::Gspo.positions()[1..]
            .iter()
            .take_while(|p| matches!(slot_at(pattern, **p), Slot::Const(_)))
            .count();
        let fits = match slot {
            Slot::Const(_) => after == wanted,
            Slot::Var(_) | Slot::Any => wanted == 0 && among.is_none(),
        };
        if fits {
            orders.insert(0, Order::Gspo);
        }
    }
    orders
}

/// Rows in all graphs, and rows in the pattern's graphs; a variable in two positions is not looked at.
fn counts(pattern: &QuadPattern, stats: &dyn Statistics) -> (f64, f64) {
    let order = FULL_ORDERS
        .into_iter()
        .find(|o| constant_prefix(pattern, *o).len().min(3) == constants(pattern))
        .unwrap_or(Order::Spog);
    let mut prefix = constant_prefix(pattern, order);
    prefix.truncate(3);
    let all = stats.count(order, &prefix) as f64;
    (all, in_scope(pattern, order, &prefix, all, stats))
}

/// Whether a pattern certainly matches nothing.
pub(crate) fn has_no_rows(pattern: &QuadPattern, stats: &dyn Statistics) -> bool {
    counts(pattern, stats).1 == 0.0
}

/// Estimates a pattern.
pub(crate) fn estimate(pattern: &QuadPattern, stats: &dyn Statistics) -> PatternEstimate {
    let (all, rows) = counts(pattern, stats);
    let read = if scan_orders(pattern).first() == Some(&Order::Gspo) { rows } else { all };
    let mut distinct = Distinct::new();
    for position in [Position::S, Position::P, Position::O, Position::G] {
        if let Slot::Var(var) = slot_at(pattern, position) {
            let count = distinct_at(pattern, position, stats).min(rows.max(1.0)).max(1.0);
            distinct.entry(var).and_modify(|d| *d = d.min(count)).or_insert(count);
        }
    }
    let read_all = read;
    let (rows, read) = ranged(pattern, (all, rows, read), &mut distinct, stats);
    let rows = repeated(pattern, rows, &distinct);
    distinct.values_mut().for_each(|d| *d = d.min(rows.max(1.0)));
    PatternEstimate { rows, read, read_all, distinct }
}

/// Of `all` rows under the constants, those in the pattern's graphs.
fn in_scope(
    pattern: &QuadPattern,
    order: Order,
    prefix: &[ValueId],
    all: f64,
    stats: &dyn Statistics,
) -> f64 {
    if all == 0.0 {
        return 0.0;
    }
    let quads = (stats.quad_count() as f64).max(1.0);
    let part = |graphs: f64| (all * graphs / quads).max(1.0).min(all);
    let in_graph = |g: ValueId| match g {
        ValueId::DEFAULT_GRAPH => quads - stats.count(Order::Gspo, &[]) as f64,
        named => stats.count(Order::Gspo, &[named]) as f64,
    };
    let exact = |g: ValueId| {
        let mut key = prefix.to_vec();
        key.push(g);
        stats.count(order, &key) as f64
    };
    match &pattern.graph {
        GraphScope::Default if !stats.has_named_graphs() => all,
        GraphScope::Default if prefix.len() == 3 => exact(ValueId::DEFAULT_GRAPH),
        GraphScope::Default => part(quads - stats.count(Order::Gspo, &[]) as f64),
        GraphScope::Union => all,
        GraphScope::Merge(graphs) => part(graphs.iter().take(64).map(|g| in_graph(*g)).sum()),
        GraphScope::Named { slot: Slot::Const(g), .. } => {
            let gspo = constant_prefix(pattern, Order::Gspo);
            if prefix.len() == 3 {
                exact(*g)
            } else if gspo.len() == prefix.len() + 1 {
                stats.count(Order::Gspo, &gspo) as f64
            } else {
                part(in_graph(*g)).min(in_graph(*g))
            }
        }
        GraphScope::Named { among: Some(graphs), .. } => {
            part(graphs.iter().take(64).map(|g| in_graph(*g)).sum())
        }
        GraphScope::Named { among: None, .. } => {
            let named = stats.count(Order::Gspo, &[]) as f64;
            if prefix.is_empty() { named } else { part(named) }
        }
    }
}

/// Distinct values at a position under the pattern's constants, in all graphs.
fn distinct_at(pattern: &QuadPattern, position: Position, stats: &dyn Statistics) -> f64 {
    if position == Position::G {
        return stats.distinct(Order::Gspo, &[]) as f64;
    }
    let wanted = constants(pattern);
    for order in FULL_ORDERS {
        let prefix = constant_prefix(pattern, order);
        if prefix.len() == wanted && order.positions().get(wanted) == Some(&position) {
            return stats.distinct(order, &prefix) as f64;
        }
    }
    1.0
}

/// The prefixes that are looked up to estimate a pattern: those of [`counts`] and [`distinct_at`].
pub(crate) fn counted(pattern: &QuadPattern) -> Vec<(Order, Vec<ValueId>)> {
    let wanted = constants(pattern);
    let orders =
        FULL_ORDERS.into_iter().filter(|order| constant_prefix(pattern, *order).len().min(3) == wanted);
    let mut nexts = Vec::new();
    let mut found = Vec::new();
    for order in orders.filter(|_| wanted > 0) {
        let next = order.positions().get(wanted).copied();
        if !nexts.contains(&next) {
            nexts.push(next);
            let mut prefix = constant_prefix(pattern, order);
            prefix.truncate(3);
            found.push((order, prefix));
        }
    }
    found
}

/// The part of `rows` whose objects are asked for, and of the rows `read` where the permutation has them side by side.
fn ranged(
    pattern: &QuadPattern,
    (all, rows, read): (f64, f64, f64),
    distinct: &mut Distinct,
    stats: &dyn Statistics,
) -> (f64, f64) {
    let Some((order, prefix, values)) = object_range(pattern) else { return (rows, read) };
    let part = stats.count_between(order, &prefix, values) as f64 / all.max(1.0);
    if let Slot::Var(var) = pattern.object {
        distinct.entry(var).and_modify(|count| *count = (*count * part).max(1.0));
    }
    (rows * part, read * part)
}

/// The order in which the objects of a pattern follow its constants, those constants, and the range of objects asked for.
fn object_range(pattern: &QuadPattern) -> Option<(Order, Vec<ValueId>, &Range<ValueId>)> {
    let values = pattern.objects.as_ref()?;
    let wanted = constants(pattern);
    FULL_ORDERS.into_iter().find_map(|order| {
        let prefix = constant_prefix(pattern, order);
        let fits = prefix.len() == wanted && order.positions().get(wanted) == Some(&Position::O);
        fits.then_some((order, prefix, values))
    })
}

/// A variable in two positions: only rows where both are equal.
fn repeated(pattern: &QuadPattern, rows: f64, distinct: &Distinct) -> f64 {
    let mut rows = rows;
    let mut seen: Vec<VarId> = Vec::with_capacity(4);
    for position in [Position::S, Position::P, Position::O, Position::G] {
        if let Slot::Var(var) = slot_at(pattern, position) {
            if seen.contains(&var) && rows > 0.0 {
                rows = (rows / distinct.get(&var).copied().unwrap_or(1.0)).max(1.0);
            }
            seen.push(var);
        }
    }
    rows
}

/// The part of rows that a condition keeps.
pub(crate) fn selectivity(expr: &Expr, distinct: &Distinct) -> f64 {
    let of = |e: &Expr| match e {
        Expr::Var(v) => distinct.get(v).map(|d| (1.0 / d.max(1.0)).max(1e-6)),
        _ => None,
    };
    let kept = match expr {
        Expr::Equal(a, b) | Expr::SameTerm(a, b) => match (of(a), of(b)) {
            (Some(a), Some(b)) => a.min(b),
            (Some(a), None) | (None, Some(a)) => a,
            (None, None) => 0.1,
        },
        Expr::Less(..) | Expr::LessOrEqual(..) | Expr::Greater(..) | Expr::GreaterOrEqual(..) => 0.33,
        Expr::In(a, list) => of(a).map_or(0.3, |s| s * list.len() as f64),
        Expr::Among(_, ids) => ids.share(),
        Expr::Not(inner) => 1.0 - selectivity(inner, distinct),
        Expr::And(parts) => parts.iter().map(|p| selectivity(p, distinct)).product(),
        Expr::Or(parts) => parts.iter().map(|p| selectivity(p, distinct)).sum(),
        Expr::Bound(_) => 0.9,
        Expr::Call(..) => 0.2,
        _ => 0.5,
    };
    kept.clamp(1e-6, 1.0)
}

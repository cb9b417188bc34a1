//! Plan nodes with what is known of their output: one constructor per operator.

use super::cost;
use super::path_size::PathSize;
use crate::cardinality::{Distinct, selectivity};
use crate::expr::{Aggregate, Expr};
use crate::id_set::IdList;
use crate::logical::{graph_var, slot_var, term_slot_var};
use crate::plan::{
    GraphScope, JoinCondition, JoinKind, Path, PlanNode, PlanOp, ScanPattern, Slot, SortKey, SubPattern,
    TermSlot, VarId,
};
use crate::service_call::ServiceCall;
use crate::var_set::VarSet;
use std::sync::Arc;

/// A plan node, and the distinct values of its columns.
#[derive(Debug, Clone)]
pub(crate) struct Planned {
    pub node: PlanNode,
    pub distinct: Distinct,
}

impl Planned {
    pub(super) fn new(
        op: PlanOp,
        vars: Vec<VarId>,
        certain: &VarSet,
        sorted_by: Vec<VarId>,
        rows: f64,
        cost: f64,
        mut distinct: Distinct,
    ) -> Self {
        let (rows, cost) = (bounded(rows), bounded(cost));
        distinct.values_mut().for_each(|d| *d = d.min(rows).max(1.0));
        let certain = certain.as_slice().to_vec();
        Self { node: PlanNode { id: 0, op, vars, certain, sorted_by, rows, cost }, distinct }
    }

    /// Columns bound in every row.
    pub fn certain(&self) -> VarSet {
        self.node.certain.iter().copied().collect()
    }

    /// Columns.
    pub fn vars(&self) -> VarSet {
        self.node.vars.iter().copied().collect()
    }

    /// Distinct values of a column, estimated.
    pub fn distinct_of(&self, var: VarId) -> f64 {
        self.distinct.get(&var).copied().unwrap_or(self.node.rows).clamp(1.0, self.node.rows.max(1.0))
    }
}

/// Estimates of joins of hundreds of patterns go beyond all numbers: they stop where they can still be multiplied with each other, and be compared.
fn bounded(estimate: f64) -> f64 {
    estimate.min(1e100)
}

pub(super) fn unit() -> Planned {
    Planned::new(PlanOp::Unit, Vec::new(), &VarSet::new(), Vec::new(), 1.0, 0.0, Distinct::new())
}

pub(super) fn empty(vars: &VarSet) -> Planned {
    let columns = vars.as_slice().to_vec();
    Planned::new(PlanOp::Empty, columns, vars, Vec::new(), 0.0, 0.0, Distinct::new())
}

pub(super) fn values(columns: &[VarId], rows: &[Vec<Option<lode_rdf::Term>>], certain: &VarSet) -> Planned {
    let count = rows.len() as f64;
    let distinct = columns.iter().map(|v| (*v, count)).collect();
    let op = PlanOp::Values(rows.to_vec());
    let cost = cost::output(count, columns.len()) * 50.0;
    Planned::new(op, columns.to_vec(), certain, Vec::new(), count, cost, distinct)
}

/// Ids that are known.
pub(super) fn ids(var: VarId, list: &Arc<IdList>) -> Planned {
    let count = list.ids.len() as f64;
    let certain: VarSet = std::iter::once(var).collect();
    let (distinct, cost) = (std::iter::once((var, count)).collect(), cost::output(count, 1));
    Planned::new(PlanOp::Ids(Arc::clone(list)), vec![var], &certain, vec![var], count, cost, distinct)
}

/// The bindings of a dependent plan's outer variables.
pub(super) fn domain(columns: &[VarId], rows: f64) -> Planned {
    let certain: VarSet = columns.iter().copied().collect();
    let distinct = columns.iter().map(|v| (*v, rows)).collect();
    let cost = cost::output(rows, columns.len());
    Planned::new(PlanOp::Domain, columns.to_vec(), &certain, Vec::new(), rows, cost, distinct)
}

/// What a scan delivers, in the order of its columns, and how far that is sorted.
pub(crate) fn scan_columns(pattern: &ScanPattern) -> (Vec<VarId>, Vec<VarId>) {
    let mut vars = Vec::with_capacity(4);
    let mut sorted_by = Vec::with_capacity(4);
    let mut sorted = true;
    for position in pattern.order.positions() {
        use lode_packed::order::Position;
        let slot = match position {
            Position::S => pattern.subject,
            Position::P => pattern.predicate,
            Position::O => pattern.object,
            Position::G => match &pattern.graph {
                GraphScope::Named { slot, .. } => *slot,
                // Not delivered, and the last column: nothing is sorted by it.
                _ => continue,
            },
        };
        match slot {
            Slot::Const(_) => {}
            Slot::Any => sorted = false,
            Slot::Var(var) => {
                if !vars.contains(&var) {
                    vars.push(var);
                    if sorted {
                        sorted_by.push(var);
                    }
                }
            }
        }
    }
    (vars, sorted_by)
}

pub(super) fn checks_graph(pattern: &ScanPattern) -> bool {
    use lode_packed::Order;
    !matches!(
        (&pattern.graph, pattern.order),
        (GraphScope::Named { .. }, Order::Gspo) | (GraphScope::Named { slot: Slot::Var(_), .. }, _)
    )
}

pub(super) fn scan(pattern: ScanPattern, rows: f64, read: f64, distinct: Distinct) -> Planned {
    let (vars, sorted_by) = scan_columns(&pattern);
    let certain: VarSet = vars.iter().copied().collect();
    let read = if pattern.order == lode_packed::Order::Gspo { rows } else { read };
    let cost = cost::scan(read, vars.len(), checks_graph(&pattern));
    Planned::new(PlanOp::IndexScan(pattern), vars, &certain, sorted_by, rows, cost, distinct)
}

pub(super) fn graph_names(op: PlanOp, slot: &Slot, graphs: f64) -> Planned {
    let vars: Vec<VarId> = slot_var(slot).into_iter().collect();
    let certain: VarSet = vars.iter().copied().collect();
    let rows = if vars.is_empty() { 1.0 } else { graphs };
    let distinct = vars.iter().map(|v| (*v, rows)).collect();
    Planned::new(op, vars, &certain, Vec::new(), rows, 1_000.0 + rows * 300.0, distinct)
}

/// A leaf whose size is a guess.
pub(super) fn leaf(op: PlanOp, vars: &VarSet, certain: &VarSet, rows: f64, cost: f64) -> Planned {
    Planned::new(op, vars.as_slice().to_vec(), certain, Vec::new(), rows, cost, Distinct::new())
}

pub(super) fn filter(input: Planned, exprs: Vec<Expr>) -> Planned {
    if exprs.is_empty() {
        return input;
    }
    let kept: f64 = exprs.iter().map(|e| selectivity(e, &input.distinct)).product();
    let rows = input.node.rows * kept;
    filter_to(input, exprs, rows)
}

/// A filter that leaves so many rows.
pub(super) fn filter_to(input: Planned, exprs: Vec<Expr>, rows: f64) -> Planned {
    if exprs.is_empty() {
        return Planned { node: PlanNode { rows: bounded(rows), ..input.node }, distinct: input.distinct };
    }
    let cost: f64 = exprs.iter().map(|e| cost::filter(input.node.rows, e)).sum();
    let (certain, distinct) = (input.certain(), input.distinct);
    let node = input.node;
    let (vars, sorted_by, total) = (node.vars.clone(), node.sorted_by.clone(), node.cost + cost);
    let op = PlanOp::Filter { input: Arc::new(node), exprs };
    Planned::new(op, vars, &certain, sorted_by, rows, total, distinct)
}

pub(super) fn extend(input: Planned, var: VarId, expr: Expr, bound: bool) -> Planned {
    let mut certain = input.certain();
    if bound {
        certain.insert(var);
    }
    let mut distinct = input.distinct;
    let node = input.node;
    let values = match &expr {
        Expr::Const(_) => 1.0,
        Expr::Var(v) => distinct.get(v).copied().unwrap_or(node.rows),
        _ => node.rows,
    };
    distinct.insert(var, values);
    let (mut vars, sorted_by, rows) = (node.vars.clone(), node.sorted_by.clone(), node.rows);
    vars.push(var);
    let cost = node.cost + cost::extend(rows, &expr);
    let op = PlanOp::Extend { input: Arc::new(node), var, expr };
    Planned::new(op, vars, &certain, sorted_by, rows, cost, distinct)
}

pub(super) fn triple_term(input: Planned, term: VarId, slots: [TermSlot; 3]) -> Planned {
    let (mut certain, distinct) = (input.certain(), input.distinct.clone());
    let node = input.node;
    let mut vars = node.vars.clone();
    for var in slots.iter().filter_map(term_slot_var).chain([term]) {
        if !vars.contains(&var) {
            vars.push(var);
        }
        certain.insert(var);
    }
    let (sorted_by, rows) = (node.sorted_by.clone(), node.rows);
    let cost = node.cost + cost::triple_term(rows);
    let [subject, predicate, object] = slots;
    let op = PlanOp::TripleTerm { input: Arc::new(node), term, subject, predicate, object };
    Planned::new(op, vars, &certain, sorted_by, rows, cost, distinct)
}

pub(super) fn union(branches: Vec<Planned>, vars: &VarSet, certain: &VarSet) -> Planned {
    let (rows, cost, distinct) = all_of(&branches, vars);
    let op = PlanOp::Union(branches.into_iter().map(|b| b.node).collect());
    Planned::new(op, vars.as_slice().to_vec(), certain, Vec::new(), rows, cost, distinct)
}

/// The union of branches that are all sorted by `sorted_by`.
pub(super) fn merge_union(
    branches: Vec<Planned>,
    vars: &VarSet,
    certain: &VarSet,
    sorted_by: Vec<VarId>,
) -> Planned {
    let (rows, cost, distinct) = all_of(&branches, vars);
    let cost = cost + cost::merge_union(rows, branches.len());
    let op = PlanOp::MergeUnion(branches.into_iter().map(|b| b.node).collect());
    Planned::new(op, vars.as_slice().to_vec(), certain, sorted_by, rows, cost, distinct)
}

/// Rows of all branches, what they cost to make and to hand on, and the distinct values of their columns.
fn all_of(branches: &[Planned], vars: &VarSet) -> (f64, f64, Distinct) {
    let rows = branches.iter().map(|b| b.node.rows).sum();
    let cost: f64 = branches.iter().map(|b| b.node.cost).sum();
    let mut distinct = Distinct::new();
    for (var, count) in branches.iter().flat_map(|branch| &branch.distinct) {
        *distinct.entry(*var).or_insert(0.0) += count;
    }
    (rows, cost + cost::output(rows, vars.as_slice().len()), distinct)
}

pub(super) fn project(input: Planned, columns: Vec<VarId>) -> Planned {
    if input.node.vars == columns {
        return input;
    }
    let kept: VarSet = columns.iter().copied().collect();
    let certain = input.certain().intersect(&kept);
    let mut distinct = input.distinct;
    distinct.retain(|v, _| kept.contains(*v));
    let node = match input.node.op {
        // One projection is enough, unless the lower one hides a column of the same name.
        PlanOp::Project(below) if columns.iter().all(|v| input.node.vars.contains(v)) => {
            Arc::unwrap_or_clone(below)
        }
        op => PlanNode { op, ..input.node },
    };
    let sorted_by = node.sorted_by.iter().copied().take_while(|v| kept.contains(*v)).collect();
    let (rows, cost) = (node.rows, node.cost);
    Planned::new(PlanOp::Project(Arc::new(node)), columns, &certain, sorted_by, rows, cost, distinct)
}

pub(super) fn distinct(input: Planned) -> Planned {
    let certain = input.certain();
    let groups = group_count(&input, &input.node.vars);
    let distinct = input.distinct;
    let node = input.node;
    let cost = node.cost + cost::group(node.rows, node.sorted_by.len() == node.vars.len(), 0);
    let (vars, sorted_by) = (node.vars.clone(), node.sorted_by.clone());
    Planned::new(PlanOp::Distinct(Arc::new(node)), vars, &certain, sorted_by, groups, cost, distinct)
}

pub(super) fn reduced(input: Planned) -> Planned {
    let certain = input.certain();
    let distinct = input.distinct;
    let node = input.node;
    let (vars, sorted_by) = (node.vars.clone(), node.sorted_by.clone());
    let (rows, cost) = (node.rows, node.cost + node.rows);
    Planned::new(PlanOp::Reduced(Arc::new(node)), vars, &certain, sorted_by, rows, cost, distinct)
}

pub(super) fn sort(input: Planned, keys: Vec<SortKey>, limit: Option<usize>) -> Planned {
    let certain = input.certain();
    let distinct = input.distinct;
    let node = input.node;
    let rows = limit.map_or(node.rows, |l| node.rows.min(l as f64));
    let cost = node.cost + cost::sort(node.rows, keys.len(), limit);
    let vars = node.vars.clone();
    let op = PlanOp::Sort { input: Arc::new(node), keys, limit };
    Planned::new(op, vars, &certain, Vec::new(), rows, cost, distinct)
}

pub(super) fn slice(input: Planned, start: usize, length: Option<usize>) -> Planned {
    let certain = input.certain();
    let distinct = input.distinct;
    let node = input.node;
    let left = (node.rows - start as f64).max(0.0);
    let rows = length.map_or(left, |l| left.min(l as f64));
    let (vars, sorted_by, cost) = (node.vars.clone(), node.sorted_by.clone(), node.cost);
    let op = PlanOp::Slice { input: Arc::new(node), start, length };
    Planned::new(op, vars, &certain, sorted_by, rows, cost, distinct)
}

pub(super) fn limit_by(input: Planned, keys: Vec<VarId>, start: usize, length: Option<usize>) -> Planned {
    let certain = input.certain();
    let groups = group_count(&input, &keys);
    let distinct = input.distinct;
    let node = input.node;
    let left = (node.rows - start as f64 * groups).max(0.0);
    let rows = length.map_or(left, |l| left.min(l as f64 * groups));
    let cost = node.cost + cost::group(node.rows, false, 0);
    let (vars, sorted_by) = (node.vars.clone(), node.sorted_by.clone());
    let op = PlanOp::LimitBy { input: Arc::new(node), keys, start, length };
    Planned::new(op, vars, &certain, sorted_by, rows, cost, distinct)
}

/// Estimated number of distinct combinations of columns.
pub(super) fn group_count(input: &Planned, keys: &[VarId]) -> f64 {
    let rows = input.node.rows;
    let combinations: f64 = keys.iter().map(|v| input.distinct_of(*v)).product();
    combinations.min(rows).max(if keys.is_empty() { 1.0 } else { 0.0 })
}

pub(super) fn group(input: Planned, keys: Vec<VarId>, aggregates: Vec<Aggregate>) -> Planned {
    let key_set: VarSet = keys.iter().copied().collect();
    let sorted = !keys.is_empty() && {
        let first: VarSet = input.node.sorted_by.iter().copied().take(key_set.len()).collect();
        first == key_set
    };
    let rows = group_count(&input, &keys);
    let mut certain = input.certain().intersect(&key_set);
    certain.extend(&aggregates.iter().filter(|a| a.function.always_bound).map(|a| a.output).collect());
    let mut distinct = input.distinct;
    distinct.retain(|v, _| key_set.contains(*v));
    let node = input.node;
    let vars: Vec<VarId> = keys.iter().copied().chain(aggregates.iter().map(|a| a.output)).collect();
    let sorted_by = if sorted { node.sorted_by[..key_set.len()].to_vec() } else { Vec::new() };
    let cost = node.cost
        + cost::group(node.rows, sorted, aggregates.len())
        + cost::distinct_arguments(node.rows, &aggregates);
    let op = PlanOp::Group { input: Arc::new(node), keys, aggregates, sorted };
    Planned::new(op, vars, &certain, sorted_by, rows, cost, distinct)
}

/// A path, alone or from the rows of an input.
pub(super) fn path(
    input: Option<Planned>,
    subject: TermSlot,
    path: Path,
    object: TermSlot,
    graph: GraphScope,
    size: PathSize,
) -> Planned {
    let own: VarSet = [&subject, &object].into_iter().filter_map(term_slot_var).collect();
    let Some(input) = input else {
        let columns = own.union(&graph_var(&graph).into_iter().collect());
        let distinct = size.distinct(&subject, &object);
        let op = PlanOp::Path { input: None, subject, path, object, graph };
        let vars = columns.as_slice().to_vec();
        return Planned::new(op, vars, &columns, Vec::new(), size.rows, cost::path(size.edges), distinct);
    };
    let bound = own.intersect(&input.certain());
    let fixed = bound.len() + usize::from(own.len() < 2);
    let mut certain = input.certain();
    certain.extend(&own);
    let mut distinct = input.distinct;
    for (var, count) in size.distinct(&subject, &object) {
        distinct.entry(var).and_modify(|d| *d = d.min(count)).or_insert(count);
    }
    let node = input.node;
    let mut vars = node.vars.clone();
    vars.extend(own.iter().filter(|v| !node.vars.contains(v)).collect::<Vec<_>>());
    let reach = size.per_start();
    let rows = if fixed >= 2 { node.rows * 0.5 } else { node.rows * reach };
    let cost =
        node.cost + cost::path(node.rows * reach * 2.0).min(cost::path(size.edges) + node.rows * 100.0);
    let sorted_by = node.sorted_by.clone();
    let op = PlanOp::Path { input: Some(Arc::new(node)), subject, path, object, graph };
    Planned::new(op, vars, &certain, sorted_by, rows, cost, distinct)
}

/// All rows of a service.
pub(super) fn service(call: &Arc<ServiceCall>) -> Planned {
    let op = PlanOp::Service { input: None, call: Arc::clone(call), kind: JoinKind::Inner, filter: None };
    let columns = call.columns.iter().copied().collect();
    let certain = call.certain.iter().copied().collect();
    leaf(op, &columns, &certain, call.rows, cost::service(call.rows))
}

/// A service joined with rows, whose bindings go with the requests.
pub(super) fn service_join(
    input: Planned,
    call: &Arc<ServiceCall>,
    kind: JoinKind,
    filter: Option<Expr>,
) -> Planned {
    let right = service(call);
    let condition = condition(&input, &right, filter);
    let joined = joined(&input, &right, kind, &condition);
    let shared: Vec<VarId> = condition.maybe.iter().chain(&condition.on).copied().collect();
    let bindings = group_count(&input, &shared);
    let check = condition.filter.as_ref().map_or(0.0, |f| cost::filter(joined.rows.max(1.0), f));
    let cost = input.node.cost
        + cost::service_join(bindings, joined.rows, call.rows)
        + check
        + cost::output(joined.rows, joined.vars.len());
    let (input, call, filter) = (Some(Arc::new(input.node)), Arc::clone(call), condition.filter);
    let op = PlanOp::Service { input, call, kind, filter };
    Planned::new(op, joined.vars, &joined.certain, Vec::new(), joined.rows, cost, joined.distinct)
}

/// The solutions of a pattern for each row, its values put in.
pub(super) fn lateral(input: Planned, pattern: &Arc<SubPattern>, certain: &VarSet) -> Planned {
    let (mut vars, distinct) = (input.node.vars.clone(), input.distinct);
    let own: VarSet = pattern.scope.values().copied().collect();
    vars.extend(own.minus(&input.node.vars.iter().copied().collect()).iter());
    let rows = input.node.rows * LATERAL_ROWS;
    let cost = input.node.cost + cost::LATERAL + rows * cost::LATERAL_ROW;
    let op = PlanOp::Lateral { input: Arc::new(input.node), pattern: Arc::clone(pattern) };
    Planned::new(op, vars, certain, Vec::new(), rows, cost, distinct)
}

/// Solutions that a LATERAL is thought to have for each row.
const LATERAL_ROWS: f64 = 3.0;

/// The condition under which rows of two inputs match.
pub(super) fn condition(left: &Planned, right: &Planned, filter: Option<Expr>) -> JoinCondition {
    let (left_certain, right_certain) = (left.certain(), right.certain());
    let shared = left.vars().intersect(&right.vars());
    let sure = |v: &VarId| left_certain.contains(*v) && right_certain.contains(*v);
    let (on, maybe) = shared.iter().partition(|v| sure(v));
    JoinCondition { on, maybe, filter }
}

/// What becomes of columns and numbers when two inputs are joined.
pub(super) struct Joined {
    pub vars: Vec<VarId>,
    pub certain: VarSet,
    pub rows: f64,
    pub distinct: Distinct,
}

/// Estimates a join.
pub(super) fn joined(left: &Planned, right: &Planned, kind: JoinKind, condition: &JoinCondition) -> Joined {
    let mut distinct = left.distinct.clone();
    let mut matches = right.node.rows;
    for (i, var) in condition.on.iter().chain(&condition.maybe).enumerate() {
        let largest = left.distinct_of(*var).max(right.distinct_of(*var));
        // Further variables say less and less: they depend on each other.
        matches /= largest.max(1.0).powf(1.0 / f64::from(1 << i.min(8)));
    }
    match condition.place_join(&left.node.vars, &right.node.vars) {
        Some((_, rest)) => {
            matches =
                (right.node.rows / left.node.rows.max(1.0)).clamp(right.node.rows.min(1.0), right.node.rows);
            matches *= rest.filter.map_or(1.0, |filter| selectivity(&filter, &left.distinct));
        }
        None => {
            if let Some(filter) = &condition.filter {
                matches *= selectivity(filter, &left.distinct);
            }
        }
    }
    let some = matches.min(1.0);
    let (rows, keeps_right) = match kind {
        JoinKind::Inner => (left.node.rows * matches, true),
        JoinKind::Left => (left.node.rows * matches.max(1.0), true),
        JoinKind::Semi => (left.node.rows * some, false),
        JoinKind::Anti | JoinKind::Minus => (left.node.rows * (1.0 - some * 0.9), false),
    };
    let mut vars = left.node.vars.clone();
    let mut certain = left.certain();
    if keeps_right {
        vars.extend(right.node.vars.iter().filter(|v| !left.node.vars.contains(v)));
        if kind == JoinKind::Inner {
            certain.extend(&right.certain());
        }
        for (var, count) in &right.distinct {
            distinct.entry(*var).and_modify(|d| *d = d.min(*count)).or_insert(*count);
        }
    }
    Joined { vars, certain, rows, distinct }
}

pub(super) fn hash_join(left: Planned, right: Planned, kind: JoinKind, filter: Option<Expr>) -> Planned {
    let condition = condition(&left, &right, filter);
    let joined = joined(&left, &right, kind, &condition);
    let (l, r) = (left.node.rows, right.node.rows);
    let is_spatial = condition.place_join(&left.node.vars, &right.node.vars).is_some();
    let work = match condition.on.is_empty() {
        _ if is_spatial => cost::spatial(l, r),
        true => cost::nested_loop(l, r),
        false => cost::hash(l, r),
    };
    let check = condition.filter.as_ref().map_or(0.0, |f| cost::filter(joined.rows.max(1.0), f));
    let cost = left.node.cost + right.node.cost + work + check + cost::output(joined.rows, joined.vars.len());
    // A column that takes the right's value where the left has none is no longer in order.
    let sorted_by =
        left.node.sorted_by.iter().copied().take_while(|v| !condition.maybe.contains(v)).collect();
    let op = PlanOp::HashJoin { left: Arc::new(left.node), right: Arc::new(right.node), kind, condition };
    Planned::new(op, joined.vars, &joined.certain, sorted_by, joined.rows, cost, joined.distinct)
}

/// The same with another number of rows.
pub(super) fn with_rows(mut planned: Planned, rows: f64) -> Planned {
    let columns = planned.node.vars.len();
    let output = cost::output(rows, columns) - cost::output(planned.node.rows, columns);
    planned.node.cost = bounded((planned.node.cost + output).max(0.0));
    planned.node.rows = bounded(rows);
    planned
}

/// The merge join of two inputs, if both are sorted by all that they share.
pub(super) fn merge_join(
    left: &Planned,
    right: &Planned,
    kind: JoinKind,
    filter: Option<&Expr>,
) -> Option<Planned> {
    let mut condition = condition(left, right, filter.cloned());
    let shared = condition.on.len();
    if shared == 0 || !condition.maybe.is_empty() || kind == JoinKind::Minus {
        return None;
    }
    let (l, r) = (left.node.sorted_by.get(..shared)?, right.node.sorted_by.get(..shared)?);
    if l != r || !l.iter().all(|v| condition.on.contains(v)) {
        return None;
    }
    condition.on = l.to_vec();
    let joined = joined(left, right, kind, &condition);
    let check = condition.filter.as_ref().map_or(0.0, |f| cost::filter(joined.rows.max(1.0), f));
    let cost = left.node.cost
        + right.node.cost
        + cost::merge(left.node.rows, right.node.rows)
        + check
        + cost::output(joined.rows, joined.vars.len());
    let sorted_by = left.node.sorted_by.clone();
    let op = PlanOp::MergeJoin {
        left: Arc::new(left.node.clone()),
        right: Arc::new(right.node.clone()),
        kind,
        condition,
    };
    Some(Planned::new(op, joined.vars, &joined.certain, sorted_by, joined.rows, cost, joined.distinct))
}

/// Looks a pattern up for each row of an input. `scanned`: the pattern's scan, for its numbers.
pub(super) fn lookup_join(
    input: &Planned,
    pattern: ScanPattern,
    scanned: &Planned,
    kind: JoinKind,
    filter: Option<&Expr>,
) -> Option<Planned> {
    let condition = condition(input, scanned, filter.cloned());
    if condition.on.is_empty() || !condition.maybe.is_empty() || kind == JoinKind::Minus {
        return None;
    }
    let joined = joined(input, scanned, kind, &condition);
    let sorted = input
        .node
        .sorted_by
        .get(..condition.on.len())
        .is_some_and(|s| s.iter().all(|v| condition.on.contains(v)));
    let keys = group_count(input, &condition.on);
    let matched = input.node.rows * scanned.node.rows
        / condition.on.iter().map(|v| scanned.distinct_of(*v)).fold(1.0, f64::max);
    let check = condition.filter.as_ref().map_or(0.0, |f| cost::filter(matched, f));
    let cost = input.node.cost
        + cost::lookup(input.node.rows, keys, sorted, scanned.node.cost)
        + check
        + cost::output(joined.rows, joined.vars.len());
    let sorted_by = input.node.sorted_by.clone();
    let op = PlanOp::LookupJoin { input: Arc::new(input.node.clone()), pattern, kind, condition };
    Some(Planned::new(op, joined.vars, &joined.certain, sorted_by, joined.rows, cost, joined.distinct))
}

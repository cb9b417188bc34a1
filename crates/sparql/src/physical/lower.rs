//! [`Logical`] to plans by cost. Each operator keeps several plans where their orders differ in a way that an operator above
//! may use.

use super::join_input::{lookup_pattern, scans};
use super::lowering::{Lowering, keep_best, useful_order};
use super::node::{self, Planned};
use super::{distinct_arguments, early_groups, join_order, leaves, sideways, spools};
use crate::expr::{Aggregate, Expr};
use crate::logical::{Logical, LogicalOp, QuadPattern, term_slot_var};
use crate::plan::{JoinKind, VarId};
use crate::var_set::VarSet;

/// Groups that cost less are not planned in other ways: a millisecond.
const EARLY_GROUPS_COST_MIN: f64 = 1e6;
/// Other ways of grouping that are planned for one query.
const EARLY_GROUPS_MAX: u32 = 24;
/// Unions of more branches are not merged: each has a batch in memory, and is asked for plans in several orders.
const MERGED_BRANCHES_MAX: usize = 16;
/// Right sides that are planned in other ways for one query: where one is in the right side of another, each is planned as often as three to the power of
/// those around it.
const OTHER_RIGHTS_MAX: u32 = 256;

/// The right side of an operator that joins: with a pattern that can be looked up, if it is one.
struct Right {
    plans: Vec<Planned>,
    lookup: Option<(QuadPattern, Option<Expr>)>,
}

/// The plans of `logical`, by its operator: see [`Lowering::lower`].
pub(super) fn lower(lowering: &Lowering<'_>, logical: &Logical, interest: &VarSet) -> Vec<Planned> {
    lowering.plans(logical, interest)
}

impl Lowering<'_> {
    fn plans(&self, logical: &Logical, interest: &VarSet) -> Vec<Planned> {
        if self.stats.is_cancelled() {
            return vec![node::empty(&logical.vars)];
        }
        match &logical.op {
            LogicalOp::Scan(pattern) => scans(pattern, interest, self),
            LogicalOp::Join { members, filters } => join_order::order(members, filters, interest, self),
            LogicalOp::LeftJoin { left, right, filter } => {
                self.joined(left, right, JoinKind::Left, filter.as_ref(), interest)
            }
            LogicalOp::Exists { left, right, filter, negated } => {
                let kind = if *negated { JoinKind::Anti } else { JoinKind::Semi };
                self.joined(left, right, kind, filter.as_ref(), interest)
            }
            LogicalOp::Minus { left, right } => self.joined(left, right, JoinKind::Minus, None, interest),
            LogicalOp::Filter { input, exprs } if matches!(input.op, LogicalOp::Scan(_)) => {
                join_order::order(std::slice::from_ref(input), exprs, interest, self)
            }
            LogicalOp::Filter { input, exprs } => {
                self.unary(input, interest, |p| node::filter(p, exprs.clone()))
            }
            LogicalOp::Extend { input, var, expr } => {
                let bound = logical.certain.contains(*var);
                self.unary(input, interest, |p| node::extend(p, *var, expr.clone(), bound))
            }
            LogicalOp::TripleTerm { input: Some(input), term, subject, predicate, object } => {
                let slots = [subject.clone(), predicate.clone(), object.clone()];
                self.unary(input, interest, |p| node::triple_term(p, *term, slots.clone()))
            }
            LogicalOp::TripleTerm { input: None, .. } => vec![node::empty(&logical.vars)],
            LogicalOp::Union(branches) => self.union(branches, logical, interest),
            LogicalOp::Project { input, columns } => {
                self.unary(input, interest, |p| node::project(p, columns.clone()))
            }
            LogicalOp::Distinct(input) => {
                let wanted = interest.union(&input.vars);
                self.unary(input, &wanted, node::distinct)
            }
            LogicalOp::Reduced(input) => self.unary(input, interest, node::reduced),
            LogicalOp::Sort { input, keys, limit } => {
                let none = VarSet::new();
                vec![node::sort(self.best(input, &none), keys.clone(), *limit)]
            }
            LogicalOp::Slice { input, start, length } => {
                self.unary(input, interest, |p| node::slice(p, *start, *length))
            }
            LogicalOp::LimitBy { input, keys, start, length } => {
                self.unary(input, interest, |p| node::limit_by(p, keys.clone(), *start, *length))
            }
            LogicalOp::Group { input, keys, aggregates } => self.group(input, keys, aggregates, interest),
            LogicalOp::Service { input: None, call } => vec![node::service(call)],
            LogicalOp::Service { input: Some(input), call } => {
                let rows = self.best(input, &VarSet::new());
                vec![node::service_join(rows, call, JoinKind::Inner, None)]
            }
            LogicalOp::Lateral { input, pattern, .. } => {
                vec![node::lateral(self.best(input, &VarSet::new()), pattern, &logical.certain)]
            }
            LogicalOp::Spool { number, columns } => {
                let spools = self.spools.borrow();
                match spools.get(*number as usize) {
                    Some(Some(rows)) => vec![spools::reader(*number, columns, rows)],
                    // Not planned yet: nothing comes here before.
                    _ => vec![node::empty(&logical.vars)],
                }
            }
            LogicalOp::Unit
            | LogicalOp::Empty
            | LogicalOp::Values { .. }
            | LogicalOp::Ids { .. }
            | LogicalOp::Domain { .. }
            | LogicalOp::GraphNames { .. }
            | LogicalOp::Path { .. }
            | LogicalOp::ForEachGraph { .. } => vec![leaves::lower(logical, self.stats)],
        }
    }

    /// The branches one after the other, and merged where all come in an order that may be of use.
    fn union(&self, branches: &[Logical], all: &Logical, interest: &VarSet) -> Vec<Planned> {
        let is_whole = |b: &Logical| b.vars == all.vars;
        let merges = branches.len() <= MERGED_BRANCHES_MAX && branches.iter().all(is_whole);
        let none = VarSet::new();
        let wanted = if merges { interest } else { &none };
        let ways: Vec<Vec<Planned>> = branches.iter().map(|branch| self.lower(branch, wanted)).collect();
        let cheapest = ways.iter().filter_map(|plans| plans.first().cloned()).collect();
        let mut plans = vec![node::union(cheapest, &all.vars, &all.certain)];
        if merges {
            for plan in ways.first().into_iter().flatten() {
                let by = useful_order(&plan.node.sorted_by, &interest.intersect(&all.certain));
                let sorted = |plans: &Vec<Planned>| {
                    plans.iter().find(|plan| plan.node.sorted_by.starts_with(&by)).cloned()
                };
                if let Some(sorted) = ways.iter().map(sorted).collect::<Option<Vec<_>>>()
                    && !by.is_empty()
                    && sorted.len() > 1
                {
                    plans.push(node::merge_union(sorted, &all.vars, &all.certain, by));
                }
            }
        }
        keep_best(plans, interest)
    }

    fn group(
        &self,
        input: &Logical,
        keys: &[VarId],
        aggregates: &[Aggregate],
        interest: &VarSet,
    ) -> Vec<Planned> {
        let mut wanted = interest.union(&keys.iter().copied().collect());
        let over_distinct_rows = distinct_arguments::over_distinct_rows(keys, aggregates);
        if let Some(group) = &over_distinct_rows {
            wanted.extend(&group.columns.iter().copied().collect());
        }
        let inputs = self.lower(input, &wanted);
        let mut plans: Vec<Planned> =
            inputs.iter().map(|plan| node::group(plan.clone(), keys.to_vec(), aggregates.to_vec())).collect();
        if let Some(group) = &over_distinct_rows {
            plans.extend(inputs.iter().map(|plan| {
                let rows = node::distinct(node::project(plan.clone(), group.columns.clone()));
                node::group(rows, keys.to_vec(), group.aggregates.clone())
            }));
        }
        let mut plans = keep_best(plans, interest);
        let cost = plans.first().map_or(0.0, |plan| plan.node.cost);
        if cost < EARLY_GROUPS_COST_MIN && !self.groups_early {
            return plans;
        }
        let input_rows = inputs.first().map_or(0.0, |plan| plan.node.rows);
        for other in early_groups::alternatives(input, input_rows, keys, aggregates, self) {
            if self.tried.get() == EARLY_GROUPS_MAX {
                break;
            }
            self.tried.set(self.tried.get() + 1);
            if self.groups_early {
                plans.clear();
            }
            plans.extend(self.lower(&other, interest));
        }
        keep_best(plans, interest)
    }

    fn unary(
        &self,
        input: &Logical,
        interest: &VarSet,
        mut build: impl FnMut(Planned) -> Planned,
    ) -> Vec<Planned> {
        let plans = self.lower(input, interest).into_iter().map(&mut build).collect();
        keep_best(plans, interest)
    }

    /// OPTIONAL, EXISTS, MINUS: the left is fixed, the method is not.
    fn joined(
        &self,
        left: &Logical,
        right: &Logical,
        kind: JoinKind,
        filter: Option<&Expr>,
        interest: &VarSet,
    ) -> Vec<Planned> {
        let shared = left.vars.intersect(&right.vars);
        let lefts = self.lower(left, &interest.union(&shared));
        let mut rights = self.right(right, &shared);
        if self.rights.get() < OTHER_RIGHTS_MAX {
            self.rights.set(self.rights.get() + 1);
            let reduced = lefts.first().and_then(|l| sideways::reduced(left, l, right, &rights.plans, self));
            let confined = sideways::confined(left, right, &rights.plans, self);
            for other in reduced.into_iter().chain(confined) {
                rights.plans.extend(self.lower(&other, &shared));
            }
        }
        let mut plans = Vec::new();
        for l in &lefts {
            let mut rows = None;
            for r in &rights.plans {
                let hashed = node::hash_join(l.clone(), r.clone(), kind, filter.cloned());
                // Whatever is left out of the right, as many rows come out as with all of it.
                let rows = *rows.get_or_insert(hashed.node.rows);
                plans.push(node::with_rows(hashed, rows));
                plans
                    .extend(node::merge_join(l, r, kind, filter).map(|merged| node::with_rows(merged, rows)));
            }
            plans.extend(self.looked_up(l, &rights, kind, filter));
            plans.extend(asked(l, right, kind, filter));
        }
        keep_best(plans, interest)
    }

    fn right(&self, right: &Logical, interest: &VarSet) -> Right {
        let lookup = match &right.op {
            LogicalOp::Scan(pattern) => Some((pattern.clone(), None)),
            LogicalOp::Filter { input, exprs } => match &input.op {
                LogicalOp::Scan(pattern) => Some((pattern.clone(), Expr::and(exprs.clone()))),
                _ => None,
            },
            LogicalOp::Join { members, filters } => match members.as_slice() {
                [Logical { op: LogicalOp::Scan(pattern), .. }] => {
                    Some((pattern.clone(), Expr::and(filters.clone())))
                }
                _ => None,
            },
            _ => None,
        };
        Right { plans: self.lower(right, interest), lookup }
    }

    fn looked_up(
        &self,
        left: &Planned,
        right: &Right,
        kind: JoinKind,
        filter: Option<&Expr>,
    ) -> Option<Planned> {
        let (pattern, own) = right.lookup.as_ref()?;
        let shared = left.vars().intersect(&pattern.vars());
        if shared.is_empty() || !shared.is_subset(&left.certain()) {
            return None;
        }
        // The pattern's own filter only mentions its own variables, which are the joined row's.
        let conditions: Vec<Expr> = own.iter().chain(filter).cloned().flat_map(Expr::conjuncts).collect();
        let scanned = scans(pattern, &VarSet::new(), self).into_iter().next()?;
        let scan = lookup_pattern(pattern, &shared, &left.node.sorted_by)?;
        node::lookup_join(left, scan, &scanned, kind, Expr::and(conditions).as_ref())
    }
}

/// The right side asked for with the bindings of the left, if it is a service and they have variables in common.
fn asked(left: &Planned, right: &Logical, kind: JoinKind, filter: Option<&Expr>) -> Option<Planned> {
    let (service, own) = match &right.op {
        LogicalOp::Filter { input, exprs } => (&input.op, exprs.as_slice()),
        op => (op, &[] as &[Expr]),
    };
    let LogicalOp::Service { input: None, call } = service else { return None };
    let is_left = |var: VarId| left.node.vars.contains(&var);
    // A condition of the right side sees the joined row: the same, if what the left binds is bound there, too.
    let is_same = |expr: &Expr| {
        !expr.is_volatile() && expr.vars().iter().all(|var| call.certain.contains(&var) || !is_left(var))
    };
    let shares = call.columns.iter().any(|var| is_left(*var));
    let has_endpoint = term_slot_var(&call.endpoint).is_none();
    if !shares || !has_endpoint || kind == JoinKind::Minus || !own.iter().all(is_same) {
        return None;
    }
    let conditions = own.iter().chain(filter).cloned().flat_map(Expr::conjuncts).collect();
    Some(node::service_join(left.clone(), call, kind, Expr::and(conditions)))
}

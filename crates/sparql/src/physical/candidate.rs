//! Ways to join two sets of members, weighed before any plan node is made.

use super::cost;
use super::join_input::{Access, lookup_pattern};
use super::lower::useful_order;
use super::subset::{Bits, Group, Subset};
use crate::plan::{ScanPattern, VarId};
use crate::var_set::VarSet;
use std::sync::Arc;

/// At most so many ways with different orders are kept for a set.
const CANDIDATES_MAX: usize = 6;

/// A way to have the join of a set of members.
#[derive(Clone)]
pub(super) struct Candidate {
    pub method: Method,
    pub cost: f64,
    pub rows: f64,
    pub sorted_by: Arc<[VarId]>,
    /// Filters applied on top.
    pub filters: Bits,
}

/// How.
#[derive(Clone)]
pub(super) enum Method {
    /// A member's own plan.
    Plan {
        member: usize,
        plan: usize,
    },
    Hash {
        left: Arc<Candidate>,
        right: Arc<Candidate>,
    },
    Merge {
        left: Arc<Candidate>,
        right: Arc<Candidate>,
    },
    Lookup {
        left: Arc<Candidate>,
        member: usize,
        pattern: ScanPattern,
    },
    /// A path searched from rows, or a triple term taken apart.
    Step {
        left: Arc<Candidate>,
        member: usize,
    },
}

/// A member alone.
pub(super) fn single(group: &Group, member: usize) -> Subset {
    let input = &group.inputs[member];
    let members: Bits = std::iter::once(member).collect();
    let is_step = input.plans.is_empty();
    let filters = if is_step { Bits::default() } else { group.applicable(&members) };
    let (kept, filtering) = group.filtering(&filters, input.rows, &input.distinct);
    let rows = input.rows * kept;
    let interest = group.interest_of(&members, &input.vars);
    let mut candidates = Vec::new();
    for (plan, planned) in input.plans.iter().enumerate() {
        let candidate = Candidate {
            method: Method::Plan { member, plan },
            cost: planned.node.cost + filtering,
            rows,
            sorted_by: planned.node.sorted_by.as_slice().into(),
            filters: filters.clone(),
        };
        keep(&mut candidates, candidate, &interest);
    }
    let (vars, certain, distinct) = (input.vars.clone(), input.certain.clone(), input.distinct.clone());
    Subset { members, vars, certain, rows, distinct, filters, candidates, interest }
}

/// Adds the ways to join `a` and `b` to the set that they make together.
pub(super) fn combine(group: &Group, a: &Subset, b: &Subset, best: &mut Option<Subset>) {
    if !a.can_join(group, b) {
        return;
    }
    let joined = best.get_or_insert_with(|| union(group, a, b));
    let shared = a.vars.intersect(&b.vars);
    let sure = shared.is_subset(&a.certain) && shared.is_subset(&b.certain);
    for (l, r) in [(a, b), (b, a)] {
        let pair = Pair { group, left: l, right: r, shared: &shared, sure };
        pair.hash(joined);
        if sure {
            pair.merge(joined);
        }
        pair.from_rows(joined);
    }
}

/// What is known of the join of two sets, however it is done.
fn union(group: &Group, a: &Subset, b: &Subset) -> Subset {
    let members = a.members.union(&b.members);
    let (vars, certain) = (a.vars.union(&b.vars), a.certain.union(&b.certain));
    let mut distinct = a.distinct.clone();
    for (var, count) in &b.distinct {
        distinct.entry(*var).and_modify(|d| *d = d.min(*count)).or_insert(*count);
    }
    let filters = group.applicable(&members);
    let before = a.joined_rows(b);
    let new = filters.minus(&a.filters.union(&b.filters));
    let (kept, _) = group.filtering(&new, before, &distinct);
    let rows = before * kept;
    distinct.values_mut().for_each(|d| *d = d.min(rows).max(1.0));
    let interest = group.interest_of(&members, &vars);
    Subset { members, vars, certain, rows, distinct, filters, candidates: Vec::new(), interest }
}

/// Two sets to be joined, this way round.
struct Pair<'a> {
    group: &'a Group,
    left: &'a Subset,
    right: &'a Subset,
    shared: &'a VarSet,
    /// All shared variables are certainly bound on both sides.
    sure: bool,
}

impl Pair<'_> {
    /// Cost and filters of what follows the join itself.
    fn finish(&self, joined: &Subset, applied: &Bits) -> (f64, Bits) {
        let new = joined.filters.minus(applied);
        let before = self.left.joined_rows(self.right);
        let (_, filtering) = self.group.filtering(&new, before, &joined.distinct);
        (filtering + cost::output(before, joined.vars.len()), new)
    }

    fn hash(&self, joined: &mut Subset) {
        let Some(right) = self.right.candidates.first() else { return };
        let (after, filters) = self.finish(joined, &self.left.filters.union(&self.right.filters));
        let certain = |v: &VarId| self.left.certain.contains(*v) && self.right.certain.contains(*v);
        let (l, r) = (self.left.rows, self.right.rows);
        let keyed = self.shared.iter().any(|v| certain(&v));
        let work = if keyed { cost::hash(l, r) } else { cost::nested_loop(l, r) };
        for left in &self.left.candidates {
            // A column that takes the right's value where the left has none is no longer in order.
            let sure = |v: &&VarId| !self.shared.contains(**v) || certain(v);
            let sorted_by: Vec<VarId> = left.sorted_by.iter().take_while(sure).copied().collect();
            let candidate = Candidate {
                cost: left.cost + right.cost + work + after,
                rows: joined.rows,
                sorted_by: sorted_by.into(),
                filters: filters.clone(),
                method: Method::Hash { left: Arc::clone(left), right: Arc::clone(right) },
            };
            keep(&mut joined.candidates, candidate, &joined.interest);
        }
    }

    fn merge(&self, joined: &mut Subset) {
        let n = self.shared.len();
        let is_key = |order: &[VarId]| order.len() == n && order.iter().all(|v| self.shared.contains(*v));
        let (after, filters) = self.finish(joined, &self.left.filters.union(&self.right.filters));
        for left in &self.left.candidates {
            let Some(order) = left.sorted_by.get(..n).filter(|o| is_key(o)) else { continue };
            for right in self.right.candidates.iter().filter(|r| r.sorted_by.starts_with(order)) {
                let work = cost::merge(self.left.rows, self.right.rows);
                let (l, r) = (Arc::clone(left), Arc::clone(right));
                let candidate = Candidate {
                    cost: left.cost + right.cost + work + after,
                    rows: joined.rows,
                    sorted_by: Arc::clone(&left.sorted_by),
                    filters: filters.clone(),
                    method: Method::Merge { left: l, right: r },
                };
                keep(&mut joined.candidates, candidate, &joined.interest);
            }
        }
    }

    /// The right as something to be done with the rows of the left, if it is one member.
    fn from_rows(&self, joined: &mut Subset) {
        let Some(member) = self.right.only_member() else { return };
        let input = &self.group.inputs[member];
        let (after, filters) = self.finish(joined, &self.left.filters);
        for left in &self.left.candidates {
            let found = match &input.access {
                Access::Plan => None,
                Access::Lookup(pattern) if self.sure => {
                    let scan = lookup_pattern(pattern, self.shared, &left.sorted_by);
                    scan.map(|pattern| {
                        let work = self.lookup_cost(left, member);
                        (work, Method::Lookup { left: Arc::clone(left), member, pattern })
                    })
                }
                Access::Path { size, .. } if self.shared.is_subset(&self.left.certain) => {
                    let work = size.from_rows(self.left.rows);
                    Some((work, Method::Step { left: Arc::clone(left), member }))
                }
                Access::TripleTerm { term, .. } if self.left.certain.contains(*term) => {
                    let work = self.left.rows * 200.0;
                    Some((work, Method::Step { left: Arc::clone(left), member }))
                }
                Access::Lookup(_) | Access::Path { .. } | Access::TripleTerm { .. } => None,
            };
            let Some((work, method)) = found else { continue };
            let candidate = Candidate {
                cost: left.cost + work + after,
                rows: joined.rows,
                sorted_by: Arc::clone(&left.sorted_by),
                filters: filters.clone(),
                method,
            };
            keep(&mut joined.candidates, candidate, &joined.interest);
        }
    }

    fn lookup_cost(&self, left: &Candidate, member: usize) -> f64 {
        let n = self.shared.len();
        let sorted = left.sorted_by.get(..n).is_some_and(|o| o.iter().all(|v| self.shared.contains(*v)));
        let combinations: f64 = self.shared.iter().map(|v| self.left.distinct_of(v)).product();
        let keys = combinations.min(self.left.rows);
        let scan = self.group.inputs[member].plans.first().map_or(0.0, |p| p.node.cost);
        cost::lookup(self.left.rows, keys, sorted, scan)
    }
}

/// Keeps a way if none is as cheap with an order as useful.
fn keep(candidates: &mut Vec<Arc<Candidate>>, new: Candidate, interest: &VarSet) {
    let order = useful_order(&new.sorted_by, interest);
    let beaten = |old: &Arc<Candidate>| {
        old.cost <= new.cost && useful_order(&old.sorted_by, interest).starts_with(&order)
    };
    if candidates.iter().any(beaten) {
        return;
    }
    candidates
        .retain(|old| !(new.cost <= old.cost && order.starts_with(&useful_order(&old.sorted_by, interest))));
    let at = candidates.partition_point(|c| c.cost <= new.cost);
    candidates.insert(at, Arc::new(new));
    candidates.truncate(CANDIDATES_MAX);
}

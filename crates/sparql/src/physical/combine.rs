//! Ways to join two sets of members, weighed before any plan node is made.

use super::bits::Bits;
use super::candidate::{Candidate, Method, Multiway};
use super::cost;
use super::join_input::{Access, lookup_pattern};
use super::subset::{Group, Subset};
use crate::logical::{graph_var, term_slot_var};
use crate::pattern::{GraphScope, TermSlot};
use std::sync::Arc;

/// At most so many ways with different orders are kept for a set.
const CANDIDATES_MAX: usize = 6;

/// A member alone.
pub(super) fn single(group: &Group, member: usize) -> Subset {
    let input = &group.inputs[member];
    let members: Bits = std::iter::once(member).collect();
    let (vars, certain) = group.bits_of(member);
    let distinct = group.numbered(&input.distinct);
    let filters = if input.plans.is_empty() { Bits::default() } else { group.applicable(members) };
    let (kept, _) = group.filtering(filters, input.rows, &distinct);
    let rows = input.rows * kept;
    let interest = group.interest_of(members, vars);
    let candidates = Vec::new();
    let mut subset = Subset { members, vars, certain, rows, distinct, filters, candidates, interest };
    for (plan, planned) in input.plans.iter().enumerate() {
        let sorted_by = planned.node.sorted_by.iter().map_while(|v| group.number(*v)).collect();
        let method = Method::Plan { member, plan };
        let (_, filtering) = group.filtering(filters, planned.node.rows, &subset.distinct);
        keep(&mut subset, planned.node.cost + filtering, &sorted_by, filters, || method);
    }
    subset
}

/// Adds the ways to join `a` and `b`, if none costs over `bound`, to the set that they make together.
pub(super) fn combine(group: &Group, a: &Subset, b: &Subset, bound: f64, best: &mut Option<Subset>) {
    if !a.can_join(group, b) {
        return;
    }
    let joined = best.get_or_insert_with(|| union(group, a, b));
    let shared = a.vars.intersect(b.vars);
    let sure = shared.is_subset(a.certain) && shared.is_subset(b.certain);
    let before = a.joined_rows(group, b);
    for (left, right) in [(a, b), (b, a)] {
        let pair = Pair { group, left, right, shared, sure, before, bound };
        pair.hash(joined);
        if shared.is_empty() {
            continue;
        }
        if sure {
            pair.merge(joined);
        }
        pair.onto_rows(joined);
    }
}

/// Adds ways to join all members of a set at once, unless they cost over `bound`; `rows_max`: what another way to come to it says.
pub(super) fn at_once(group: &Group, joined: &mut Subset, ways: &[Arc<Multiway>], bound: f64, rows_max: f64) {
    joined.rows = joined.rows.min(rows_max);
    let (kept, _) = group.filtering(joined.filters, joined.rows, &joined.distinct);
    let rows = joined.rows / kept;
    let (_, filtering) = group.filtering(joined.filters, rows, &joined.distinct);
    for way in ways {
        let cost = way.cost + cost::output(rows, joined.vars.len()) + filtering;
        let filters = joined.filters;
        if cost <= bound {
            keep(joined, cost, &Arc::clone(&way.vars), filters, || Method::Multiway(Arc::clone(way)));
        }
    }
}

/// What is known of the join of two sets, however it is done.
pub(super) fn union(group: &Group, a: &Subset, b: &Subset) -> Subset {
    let members = a.members.union(b.members);
    let (vars, certain) = (a.vars.union(b.vars), a.certain.union(b.certain));
    let mut distinct: Vec<f64> = (0..group.var_count()).map(|v| a.distinct[v].min(b.distinct[v])).collect();
    for subject in group.stars.variables() {
        let known = group.stars.subjects(subject, members);
        distinct.get_mut(subject).zip(known).into_iter().for_each(|(d, known)| *d = d.min(known));
    }
    let filters = group.applicable(members);
    let before = a.joined_rows(group, b);
    let (kept, _) = group.filtering(filters.minus(a.filters.union(b.filters)), before, &distinct);
    let rows = before * kept;
    distinct.iter_mut().filter(|d| d.is_finite()).for_each(|d| *d = d.min(rows).max(1.0));
    let interest = group.interest_of(members, vars);
    Subset { members, vars, certain, rows, distinct, filters, candidates: Vec::new(), interest }
}

/// Two sets to be joined, this way round.
struct Pair<'a> {
    group: &'a Group,
    left: &'a Subset,
    right: &'a Subset,
    shared: Bits,
    /// All shared variables are certainly bound on both sides.
    sure: bool,
    /// Rows before filters over both.
    before: f64,
    bound: f64,
}

impl Pair<'_> {
    /// Cost and filters of what follows the join itself.
    fn finish(&self, joined: &Subset, applied: Bits) -> (f64, Bits) {
        let new = joined.filters.minus(applied);
        let output = cost::output(self.before, joined.vars.len());
        if new.is_empty() {
            return (output, new);
        }
        let (_, filtering) = self.group.filtering(new, self.before, &joined.distinct);
        (filtering + output, new)
    }

    fn keep(
        &self,
        joined: &mut Subset,
        cost: f64,
        sorted_by: &Arc<[usize]>,
        filters: Bits,
        method: impl FnOnce() -> Method,
    ) {
        if cost <= self.bound {
            keep(joined, cost, sorted_by, filters, method);
        }
    }

    fn hash(&self, joined: &mut Subset) {
        let Some(right) = self.right.candidates.first() else { return };
        let (after, filters) = self.finish(joined, self.left.filters.union(self.right.filters));
        let certain = self.left.certain.intersect(self.right.certain);
        let unsure = self.shared.minus(certain);
        let (l, r) = (self.left.rows, self.right.rows);
        let keyed = !self.shared.intersect(certain).is_empty();
        let work = if keyed { cost::hash(l, r) } else { cost::nested_loop(l, r) };
        for left in &self.left.candidates {
            // A column that takes the right's value where the left has none is no longer in order.
            let kept = left.sorted_by.iter().take_while(|v| !unsure.contains(**v)).count();
            let sorted_by = match left.sorted_by.get(..kept) {
                Some(order) if kept < left.sorted_by.len() => order.into(),
                _ => Arc::clone(&left.sorted_by),
            };
            let cost = left.cost + right.cost + work + after;
            let method = || Method::Hash { left: Arc::clone(left), right: Arc::clone(right) };
            self.keep(joined, cost, &sorted_by, filters, method);
        }
    }

    fn merge(&self, joined: &mut Subset) {
        let n = self.shared.len();
        let (after, filters) = self.finish(joined, self.left.filters.union(self.right.filters));
        let work = cost::merge(self.left.rows, self.right.rows);
        for left in &self.left.candidates {
            let Some(order) = left.sorted_by.get(..n) else { continue };
            if !order.iter().all(|v| self.shared.contains(*v)) {
                continue;
            }
            for right in self.right.candidates.iter().filter(|r| r.sorted_by.starts_with(order)) {
                let cost = left.cost + right.cost + work + after;
                let method = || Method::Merge { left: Arc::clone(left), right: Arc::clone(right) };
                self.keep(joined, cost, &left.sorted_by, filters, method);
            }
        }
    }

    /// The right as something to be done with the rows of the left, if it is one member.
    fn onto_rows(&self, joined: &mut Subset) {
        let Some(member) = self.right.only_member() else { return };
        let access = &self.group.inputs[member].access;
        let (after, filters) = self.finish(joined, self.left.filters);
        match access {
            Access::Lookup(pattern) if self.sure => {
                // Any set of subject, predicate and object begins some order; with a variable graph that needs a look.
                let possible = graph_var(&pattern.graph).is_none()
                    || lookup_pattern(pattern, &self.group.var_set(self.shared), &[]).is_some();
                if !possible {
                    return;
                }
                for left in &self.left.candidates {
                    let cost = left.cost + self.lookup_cost(left, member) + after;
                    let method = || Method::Lookup { left: Arc::clone(left), member };
                    self.keep(joined, cost, &left.sorted_by, filters, method);
                }
            }
            Access::Path { subject, object, graph, size, .. }
                if self.shared.is_subset(self.left.certain)
                    && self.knows_graph_and_end(graph, [subject, object]) =>
            {
                self.step(joined, member, size.search_cost(self.left.rows) + after, filters);
            }
            Access::TripleTerm { term, .. }
                if self.group.number(*term).is_some_and(|t| self.left.certain.contains(t)) =>
            {
                self.step(joined, member, cost::triple_term(self.left.rows) + after, filters);
            }
            Access::Service(call) => {
                let combinations: f64 = self.shared.iter().map(|v| self.left.distinct_of(v)).product();
                let bindings = combinations.min(self.left.rows);
                let work = cost::service_join(bindings, self.before, call.rows) + after;
                self.step_in_any_order(joined, member, work, filters);
            }
            Access::Plan | Access::Lookup(_) | Access::Path { .. } | Access::TripleTerm { .. } => {}
        }
    }

    /// Whether the left rows have the graph of a path where that is a variable, and then also an end of it.
    fn knows_graph_and_end(&self, graph: &GraphScope, ends: [&TermSlot; 2]) -> bool {
        let has = |var| self.group.number(var).is_some_and(|number| self.shared.contains(number));
        let knows = |end: &TermSlot| term_slot_var(end).is_none_or(has);
        graph_var(graph).is_none_or(|graph| has(graph) && ends.into_iter().any(knows))
    }

    fn step(&self, joined: &mut Subset, member: usize, work: f64, filters: Bits) {
        for left in &self.left.candidates {
            let method = || Method::Step { left: Arc::clone(left), member };
            self.keep(joined, left.cost + work, &left.sorted_by, filters, method);
        }
    }

    fn step_in_any_order(&self, joined: &mut Subset, member: usize, work: f64, filters: Bits) {
        if let Some(left) = self.left.candidates.first() {
            let method = || Method::Step { left: Arc::clone(left), member };
            self.keep(joined, left.cost + work, &Arc::from([]), filters, method);
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
fn keep(
    subset: &mut Subset,
    cost: f64,
    sorted_by: &Arc<[usize]>,
    filters: Bits,
    method: impl FnOnce() -> Method,
) {
    let useful = sorted_by.iter().take_while(|v| subset.interest.contains(**v)).count();
    let order = sorted_by.get(..useful).unwrap_or(&[]);
    let candidates = &mut subset.candidates;
    if candidates.iter().any(|old| old.cost <= cost && old.useful_order().starts_with(order)) {
        return;
    }
    candidates.retain(|old| !(cost <= old.cost && order.starts_with(old.useful_order())));
    let at = candidates.partition_point(|c| c.cost <= cost);
    if at >= CANDIDATES_MAX {
        return;
    }
    let sorted_by = Arc::clone(sorted_by);
    candidates.insert(
        at,
        Arc::new(Candidate { method: method(), cost, rows: subset.rows, sorted_by, useful, filters }),
    );
    candidates.truncate(CANDIDATES_MAX);
}

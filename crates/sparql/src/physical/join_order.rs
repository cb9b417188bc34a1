//! The order of a join group: dynamic programming over its connected subsets, with the orders of rows kept apart where a merge
//! join may use them.
//!
//! Up to [`BUSHY_MAX`] members all bushy trees are tried, up to [`LINEAR_MAX`] all trees that add one member at a time; more members
//! are joined greedily, smallest result first. Parts without common variables are ordered one by one and then multiplied.

use super::bits::Bits;
use super::candidate::{Candidate, Method, Multiway};
use super::combine::{at_once, combine, single, union};
use super::join_input::{Access, Input, lookup_pattern};
use super::lowering::{Lowering, keep_best};
use super::multiway;
use super::node::{self, Planned};
use super::ranges;
use super::spatial;
use super::subset::{Group, Subset};
use crate::expr::Expr;
use crate::logical::Logical;
use crate::plan::{JoinKind, TermSlot};
use crate::statistics::Statistics;
use crate::var_set::VarSet;
use std::collections::HashMap;
use std::sync::Arc;

/// The most members for which bushy trees are tried (3^8 pairs of subsets).
const BUSHY_MAX: usize = 8;
/// The most members for which subsets are tried at all (12 * 2^12 pairs).
const LINEAR_MAX: usize = 12;

/// The plans of a join group, cheapest first.
pub(super) fn order(
    members: &[Logical],
    filters: &[Expr],
    interest: &VarSet,
    lowering: &Lowering<'_>,
) -> Vec<Planned> {
    let shared = shared_vars(members);
    let wanted = interest.union(&shared);
    let (members, counted) = ranges::narrowed(members, filters, lowering.stats);
    let inputs: Vec<Input> = members.iter().map(|m| Input::new(m, &wanted, lowering)).collect();
    let group = match Group::new(inputs, filters, &counted, interest, lowering.stats) {
        Ok(group) => group,
        Err(inputs) => return vec![in_sequence(inputs, filters, lowering.stats)],
    };
    let parts: Vec<Vec<Planned>> = group
        .components()
        .into_iter()
        .map(|component| {
            best_of(&group, &component, lowering).map(|s| plans_of(&group, &s)).unwrap_or_default()
        })
        .collect();
    if parts.is_empty() || parts.iter().any(Vec::is_empty) {
        return vec![in_sequence(group.inputs, filters, lowering.stats)];
    }
    multiply(&group, parts, interest)
}

/// The best ways to have all of a component; none where nobody waits for them any more.
fn best_of(group: &Group, component: &[usize], lowering: &Lowering<'_>) -> Option<Subset> {
    let (at_once, stats) = (lowering.joins_multiway, lowering.stats);
    let quick = greedy(group, component, stats);
    if component.len() < if at_once { 2 } else { 3 } || component.len() > LINEAR_MAX {
        return quick;
    }
    let ways = multiway::ways(group, component, at_once);
    if at_once {
        return only_at_once(group, component, &ways, stats).or(quick);
    }
    // No part of the best plan costs more than some whole plan.
    let bound = quick.as_ref().and_then(|s| s.candidates.first()).map_or(f64::INFINITY, |c| c.cost);
    // Estimates of rows depend on the way: it must not count against one that another expects more of them.
    let rows_max = quick.as_ref().map_or(f64::INFINITY, |s| s.rows);
    dynamic(group, component, &ways, (bound, rows_max), stats).filter(|s| !s.candidates.is_empty()).or(quick)
}

/// Members that the search cannot number or finds no plan for, one after the other, each time one that is connected if there is any.
fn in_sequence(inputs: Vec<Input>, filters: &[Expr], stats: &dyn Statistics) -> Planned {
    let all = inputs.iter().fold(VarSet::new(), |vars, input| vars.union(&input.vars));
    let mut open: Vec<Input> = inputs;
    open.sort_by(|a, b| a.rows.total_cmp(&b.rows));
    let mut joined = node::unit();
    while !open.is_empty() {
        if stats.is_cancelled() {
            return node::empty(&all);
        }
        let vars = joined.vars();
        let ready = |i: &Input| match &i.access {
            Access::TripleTerm { term, .. } => joined.certain().contains(*term),
            _ => true,
        };
        let connected = open.iter().position(|i| ready(i) && !i.vars.is_disjoint(&vars));
        // A step without rows to take terms from cannot come from a query: it matches nothing.
        let Some(at) = connected.or_else(|| open.iter().position(ready)) else { return node::empty(&all) };
        let input = open.remove(at);
        joined = match (&input.access, input.plans.into_iter().next()) {
            (Access::TripleTerm { term, slots }, _) => node::triple_term(joined, *term, slots.clone()),
            (_, Some(plan)) => node::hash_join(joined, plan, JoinKind::Inner, None),
            (_, None) => joined,
        };
    }
    node::filter(joined, filters.to_vec())
}

fn shared_vars(members: &[Logical]) -> VarSet {
    let (mut seen, mut shared) = (VarSet::new(), VarSet::new());
    for member in members {
        shared.extend(&seen.intersect(&member.vars));
        seen.extend(&member.vars);
    }
    shared
}

/// Patterns that can be joined at once, and then the other members.
fn only_at_once(
    group: &Group,
    component: &[usize],
    ways: &[Vec<Arc<Multiway>>],
    stats: &dyn Statistics,
) -> Option<Subset> {
    let ways = ways.first()?;
    let members = ways.first()?.members;
    let first = joined_at_once(group, members, ways, (f64::INFINITY, f64::INFINITY))?;
    let others = component.iter().filter(|member| !members.contains(**member));
    let mut open: Vec<Subset> = others.map(|member| single(group, *member)).collect();
    open.push(first);
    join_smallest(group, open, stats)
}

/// Members joined at once, where no other way is known.
fn joined_at_once(
    group: &Group,
    members: Bits,
    ways: &[Arc<Multiway>],
    (bound, rows_max): (f64, f64),
) -> Option<Subset> {
    let mut joined =
        members.iter().map(|member| single(group, member)).reduce(|a, b| union(group, &a, &b))?;
    at_once(group, &mut joined, ways, bound, rows_max);
    Some(joined)
}

/// The best plans for all of a component. `ways`: those to join some members at once; cost and rows of the whole by a quick plan.
fn dynamic(
    group: &Group,
    component: &[usize],
    ways: &[Vec<Arc<Multiway>>],
    (bound, quick_rows): (f64, f64),
    stats: &dyn Statistics,
) -> Option<Subset> {
    let n = component.len();
    let all: u32 = (1_u32 << n) - 1;
    let mut subsets: HashMap<u32, Subset> = HashMap::new();
    for (i, member) in component.iter().enumerate() {
        subsets.insert(1 << i, single(group, *member));
    }
    for mask in 1..=all {
        if mask.count_ones() < 2 {
            continue;
        }
        if stats.is_cancelled() {
            return None;
        }
        let mut best: Option<Subset> = None;
        let mut part = (mask - 1) & mask;
        while part > 0 {
            let rest = mask ^ part;
            // Each pair once; `combine` tries both ways round.
            let linear = part.count_ones() == 1 || rest.count_ones() == 1;
            if part > rest
                && (n <= BUSHY_MAX || linear)
                && let (Some(a), Some(b)) = (subsets.get(&part), subsets.get(&rest))
            {
                combine(group, a, b, bound, &mut best);
            }
            part = (part - 1) & mask;
        }
        let rows_max = if mask == all { quick_rows } else { f64::INFINITY };
        let members: Bits = (0..n).filter(|i| mask & (1 << i) != 0).map(|i| component[i]).collect();
        for ways in ways.iter().filter(|ways| ways.first().is_some_and(|way| way.members == members)) {
            match &mut best {
                Some(best) => at_once(group, best, ways, bound, rows_max),
                None => best = joined_at_once(group, members, ways, (bound, rows_max)),
            }
        }
        if let Some(best) = best.filter(|b| !b.candidates.is_empty()) {
            subsets.insert(mask, best);
        }
    }
    subsets.remove(&all)
}

/// Joins the pair with the smallest result, again and again.
fn greedy(group: &Group, component: &[usize], stats: &dyn Statistics) -> Option<Subset> {
    join_smallest(group, component.iter().map(|m| single(group, *m)).collect(), stats)
}

fn join_smallest(group: &Group, sets: Vec<Subset>, stats: &dyn Statistics) -> Option<Subset> {
    let mut open = Open::default();
    for set in sets {
        open.push(group, set, stats)?;
    }
    while open.sets.len() > 1 {
        let (a, b) = open.take_smallest()?;
        let mut joined = None;
        combine(group, &a, &b, f64::INFINITY, &mut joined);
        open.push(group, joined?, stats)?;
    }
    open.sets.pop()
}

/// Sets still to be joined, each pair weighed once: there may be a hundred sets, and thousands of pairs.
#[derive(Default)]
struct Open {
    sets: Vec<Subset>,
    /// For each set the rows of its join with each, itself among them; none where the two cannot be joined.
    rows: Vec<Vec<Option<f64>>>,
}

impl Open {
    /// Adds a set; nothing where nobody waits for the plan any more.
    fn push(&mut self, group: &Group, set: Subset, stats: &dyn Statistics) -> Option<()> {
        if stats.is_cancelled() {
            return None;
        }
        let weigh = |other: &Subset| other.can_join(group, &set).then(|| other.joined_rows(group, &set));
        let mut own: Vec<Option<f64>> = self.sets.iter().map(weigh).collect();
        self.rows.iter_mut().zip(&own).for_each(|(rows, with_set)| rows.push(*with_set));
        own.push(None);
        self.rows.push(own);
        self.sets.push(set);
        Some(())
    }

    /// Takes the pair with the smallest join out; of equal ones the first.
    fn take_smallest(&mut self) -> Option<(Subset, Subset)> {
        let mut chosen: Option<(f64, usize, usize)> = None;
        for (i, rows) in self.rows.iter().enumerate() {
            for (j, rows) in rows.iter().enumerate().skip(i + 1) {
                if let Some(rows) = rows.filter(|rows| chosen.is_none_or(|(least, _, _)| *rows < least)) {
                    chosen = Some((rows, i, j));
                }
            }
        }
        let (_, i, j) = chosen?;
        let (b, a) = (self.take(j), self.take(i));
        Some((a, b))
    }

    /// Takes a set out; the last one gets its place.
    fn take(&mut self, at: usize) -> Subset {
        self.rows.swap_remove(at);
        for rows in &mut self.rows {
            rows.swap_remove(at);
        }
        self.sets.swap_remove(at)
    }
}

/// Plans of a finished subset.
fn plans_of(group: &Group, subset: &Subset) -> Vec<Planned> {
    subset.candidates.iter().map(|c| build(group, c)).collect()
}

fn build(group: &Group, candidate: &Candidate) -> Planned {
    let mut filters = group.filters_of(candidate.filters);
    let joined = match &candidate.method {
        Method::Plan { member, plan } => match group.inputs[*member].plans.get(*plan) {
            Some(plan) => plan.clone(),
            None => node::empty(&group.inputs[*member].vars),
        },
        Method::Hash { left, right } => {
            let (left, right) = (build(group, left), build(group, right));
            let filter = spatial::taken(&left, &right, &mut filters);
            node::hash_join(left, right, JoinKind::Inner, filter)
        }
        Method::Merge { left, right } => {
            let (l, r) = (build(group, left), build(group, right));
            match node::merge_join(&l, &r, JoinKind::Inner, None) {
                Some(joined) => joined,
                None => node::hash_join(l, r, JoinKind::Inner, None),
            }
        }
        Method::Lookup { left, member } => lookup(group, build(group, left), *member),
        Method::Multiway(way) => multiway::build(group, way, candidate.rows),
        Method::Step { left, member } => step(group, build(group, left), *member),
    };
    node::filter_to(joined, filters, candidate.rows.max(0.0))
}

fn lookup(group: &Group, left: Planned, member: usize) -> Planned {
    let input = &group.inputs[member];
    let scanned = input.plans.first().cloned().unwrap_or_else(|| node::empty(&input.vars));
    let joined = match &input.access {
        Access::Lookup(pattern) => {
            let shared = left.vars().intersect(&input.vars);
            lookup_pattern(pattern, &shared, &left.node.sorted_by)
                .and_then(|p| node::lookup_join(&left, p, &scanned, JoinKind::Inner, None))
        }
        _ => None,
    };
    joined.unwrap_or_else(|| node::hash_join(left, scanned, JoinKind::Inner, None))
}

fn step(group: &Group, left: Planned, member: usize) -> Planned {
    match &group.inputs[member].access {
        Access::TripleTerm { term, slots } => {
            let slots: [TermSlot; 3] = slots.clone();
            node::triple_term(left, *term, slots)
        }
        Access::Path { subject, path, object, graph, size } => {
            node::path(Some(left), subject.clone(), path.clone(), object.clone(), graph.clone(), *size)
        }
        Access::Service(call) => node::service_join(left, call, JoinKind::Inner, None),
        Access::Plan | Access::Lookup(_) => left,
    }
}

/// The product of the components, smallest on the right, then the filters that need several of them. Those whose geometries a condition relates are joined by it first.
fn multiply(group: &Group, mut parts: Vec<Vec<Planned>>, interest: &VarSet) -> Vec<Planned> {
    let mut applied = Bits::default();
    for component in group.components() {
        applied = applied.union(group.applicable(component.iter().copied().collect()));
    }
    let mut left_over = group.filters_of(group.all_filters().minus(applied));
    while let Some((i, j, filter)) = spatial::related(&parts, &left_over) {
        let filter = left_over.remove(filter);
        let (right, left) = (parts.swap_remove(j), parts.swap_remove(i));
        parts.push(spatial::joined(left, right, &filter));
    }
    let rows = |plans: &[Planned]| plans.first().map_or(0.0, |p| p.node.rows);
    parts.sort_by(|a, b| rows(b).total_cmp(&rows(a)));
    let mut parts = parts.into_iter();
    let mut joined = parts.next().unwrap_or_default();
    for part in parts {
        let Some(right) = part.into_iter().next() else { continue };
        joined = joined
            .into_iter()
            .map(|left| node::hash_join(left, right.clone(), JoinKind::Inner, None))
            .collect();
    }
    let joined = joined.into_iter().map(|p| node::filter(p, left_over.clone())).collect();
    keep_best(joined, interest)
}

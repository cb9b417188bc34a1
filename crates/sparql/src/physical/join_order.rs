//! The order of a join group: dynamic programming over its connected subsets, with the orders of rows kept apart where a merge
//! join may use them.
//!
//! Up to [`BUSHY_MAX`] members all bushy trees are tried, up to [`LINEAR_MAX`] all trees that add one member at a time; more members
//! are joined greedily, smallest result first. Parts without common variables are ordered one by one and then multiplied.

use super::candidate::{Candidate, Method, combine, single};
use super::join_input::Input;
use super::lower::{Lowering, keep_best};
use super::node::{self, Planned};
use super::subset::{Bits, Group, Subset};
use crate::expr::Expr;
use crate::logical::Logical;
use crate::plan::{JoinKind, TermSlot};
use crate::var_set::VarSet;
use std::collections::HashMap;

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
    let inputs: Vec<Input> = members.iter().map(|m| Input::new(m, &wanted, lowering)).collect();
    let group = Group::new(inputs, filters.to_vec(), interest.clone());
    let mut parts: Vec<Vec<Planned>> = Vec::new();
    for component in group.components() {
        let best = if component.len() <= LINEAR_MAX {
            dynamic(&group, &component)
        } else {
            greedy(&group, &component)
        };
        parts.push(best.map(|subset| plans_of(&group, &subset)).unwrap_or_default());
    }
    multiply(&group, parts, members, interest)
}

fn shared_vars(members: &[Logical]) -> VarSet {
    let (mut seen, mut shared) = (VarSet::new(), VarSet::new());
    for member in members {
        shared.extend(&seen.intersect(&member.vars));
        seen.extend(&member.vars);
    }
    shared
}

/// The best plans for all of a component.
fn dynamic(group: &Group, component: &[usize]) -> Option<Subset> {
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
        let mut best: Option<Subset> = None;
        let mut part = (mask - 1) & mask;
        while part > 0 {
            let rest = mask ^ part;
            // Each pair once; `combine` tries both ways round.
            let linear = part.count_ones() == 1 || rest.count_ones() == 1;
            if part > rest && (n <= BUSHY_MAX || linear) {
                if let (Some(a), Some(b)) = (subsets.get(&part), subsets.get(&rest)) {
                    combine(group, a, b, &mut best);
                }
            }
            part = (part - 1) & mask;
        }
        if let Some(best) = best {
            subsets.insert(mask, best);
        }
    }
    subsets.remove(&all)
}

/// Joins the pair with the smallest result, again and again.
fn greedy(group: &Group, component: &[usize]) -> Option<Subset> {
    let mut open: Vec<Subset> = component.iter().map(|m| single(group, *m)).collect();
    while open.len() > 1 {
        let mut chosen: Option<(f64, usize, usize)> = None;
        for i in 0..open.len() {
            for j in i + 1..open.len() {
                if !open[i].can_join(group, &open[j]) {
                    continue;
                }
                let rows = open[i].joined_rows(&open[j]);
                if chosen.is_none_or(|(r, _, _)| rows < r) {
                    chosen = Some((rows, i, j));
                }
            }
        }
        let (_, i, j) = chosen?;
        let (b, a) = (open.swap_remove(j), open.swap_remove(i));
        let mut joined = None;
        combine(group, &a, &b, &mut joined);
        open.push(joined?);
    }
    open.pop()
}

/// Plans of a finished subset.
fn plans_of(group: &Group, subset: &Subset) -> Vec<Planned> {
    subset.candidates.iter().map(|c| build(group, c)).collect()
}

fn build(group: &Group, candidate: &Candidate) -> Planned {
    let joined = match &candidate.method {
        Method::Plan { member, plan } => match group.inputs[*member].plans.get(*plan) {
            Some(plan) => plan.clone(),
            None => node::empty(&group.inputs[*member].vars),
        },
        Method::Hash { left, right } => {
            node::hash_join(build(group, left), build(group, right), JoinKind::Inner, None)
        }
        Method::Merge { left, right } => {
            let (l, r) = (build(group, left), build(group, right));
            match node::merge_join(&l, &r, JoinKind::Inner, None) {
                Some(joined) => joined,
                None => node::hash_join(l, r, JoinKind::Inner, None),
            }
        }
        Method::Lookup { left, member, pattern } => {
            let l = build(group, left);
            let scanned = group.inputs[*member].plans.first().cloned();
            let scanned = scanned.unwrap_or_else(|| node::empty(&group.inputs[*member].vars));
            match node::lookup_join(&l, pattern.clone(), &scanned, JoinKind::Inner, None) {
                Some(joined) => joined,
                None => node::hash_join(l, scanned, JoinKind::Inner, None),
            }
        }
        Method::Step { left, member } => step(group, build(group, left), *member),
    };
    let mut planned = node::filter(joined, group.filters_of(&candidate.filters));
    planned.node.rows = candidate.rows.max(0.0);
    planned
}

fn step(group: &Group, left: Planned, member: usize) -> Planned {
    use super::join_input::Access;
    match &group.inputs[member].access {
        Access::TripleTerm { term, slots } => {
            let slots: [TermSlot; 3] = slots.clone();
            node::triple_term(left, *term, slots)
        }
        Access::Path { subject, path, object, graph, size } => {
            node::path(Some(left), subject.clone(), path.clone(), object.clone(), graph.clone(), *size)
        }
        Access::Plan | Access::Lookup(_) => left,
    }
}

/// The product of the components, smallest on the right, then the filters that need several of them.
fn multiply(
    group: &Group,
    mut parts: Vec<Vec<Planned>>,
    members: &[Logical],
    interest: &VarSet,
) -> Vec<Planned> {
    if parts.iter().any(Vec::is_empty) || parts.is_empty() {
        // A step without rows to take terms from: this cannot come from a query, and matches nothing.
        let all = members.iter().fold(VarSet::new(), |vars, m| vars.union(&m.vars));
        return vec![node::empty(&all)];
    }
    let mut applied = Bits::default();
    for component in group.components() {
        applied.extend(&group.applicable(&component.iter().copied().collect()));
    }
    let left_over = group.filters_of(&group.all_filters().minus(&applied));
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

//! Members of a join group joined at once, one variable after the other: which, in which sequence of variables, and what that costs.
//!
//! It pays where patterns make a cycle: joins of two make all paths before any of them is closed. What is no part of a cycle is joined as ever,
//! with the result.

use super::bits::Bits;
use super::candidate::Multiway;
use super::cost;
use super::join_input::Access;
use super::node::Planned;
use super::subset::Group;
use crate::cardinality::{Distinct, FULL_ORDERS, with_order};
use crate::logical::{QuadPattern, slot_var};
use crate::plan::{GraphScope, PlanOp, ScanPattern, Slot, TriePattern, VarId};
use crate::var_set::VarSet;
use lode_packed::Order;
use lode_packed::order::Position;
use std::sync::Arc;

/// All sequences of up to so many variables are tried; of more, one for each first variable.
const PERMUTED_MAX: usize = 5;
/// Single cycles are looked for among so many members.
const SUBSETS_MAX: usize = 8;

/// The ways to join members of a component at once that may pay, by their members. `always`: all that can be joined so, whether there is a cycle or not.
pub(super) fn ways(group: &Group, component: &[usize], always: bool) -> Vec<Vec<Arc<Multiway>>> {
    let simple: Bits = component.iter().copied().filter(|member| is_simple(group, *member)).collect();
    let sets = if always { vec![simple] } else { cycles(group, simple) };
    sets.into_iter().filter(|set| set.len() > 1).map(|set| sequences(group, set)).collect()
}

/// Whether a member is a pattern each match of which is a row.
fn is_simple(group: &Group, member: usize) -> bool {
    let Access::Lookup(pattern) = &group.inputs[member].access else { return false };
    let slots = [pattern.subject, pattern.predicate, pattern.object];
    let variables = slots.iter().filter(|slot| matches!(slot, Slot::Var(_))).count();
    let is_clear = !matches!(pattern.graph, GraphScope::Named { slot: Slot::Var(_) | Slot::Any, .. });
    is_clear && !slots.contains(&Slot::Any) && variables > 0 && group.bits_of(member).0.len() == variables
}

/// What is cyclic among members: single cycles, all that is in any, and that with all that is over the same variables.
fn cycles(group: &Group, members: Bits) -> Vec<Bits> {
    let core = core(group, members);
    let vars = vars_of(group, core);
    let over_them = members.iter().filter(|member| group.bits_of(*member).0.is_subset(vars)).collect();
    let mut found: Vec<Bits> = Vec::new();
    let edges: Vec<usize> = core.iter().collect();
    if edges.len() <= SUBSETS_MAX {
        for mask in 1_u32..1 << edges.len() {
            let part: Bits = (0..edges.len()).filter(|i| mask & (1 << i) != 0).map(|i| edges[i]).collect();
            // Smaller sets of the same members come before larger ones.
            let is_new = part.len() > 2 && !found.iter().any(|cycle| cycle.is_subset(part));
            if is_new && self::core(group, part) == part {
                found.push(part);
            }
        }
    }
    found.extend([core, over_them]);
    found.dedup();
    found
}

/// What is left of members when those at the ends are taken away again and again (Graham's reduction): nothing where there is no cycle.
fn core(group: &Group, members: Bits) -> Bits {
    let mut edges: Vec<(usize, Bits)> =
        members.iter().map(|member| (member, group.bits_of(member).0)).collect();
    loop {
        let before = edges.clone();
        for at in 0..edges.len() {
            let elsewhere =
                |v: &usize| edges.iter().enumerate().any(|(i, (_, vars))| i != at && vars.contains(*v));
            edges[at].1 = edges[at].1.iter().filter(elsewhere).collect();
        }
        let covered = edges.iter().position(|(member, vars)| {
            edges.iter().any(|(other, others)| other != member && vars.is_subset(*others)) || vars.is_empty()
        });
        if let Some(at) = covered {
            edges.remove(at);
        } else if edges == before {
            return edges.into_iter().map(|(member, _)| member).collect();
        }
    }
}

fn vars_of(group: &Group, members: Bits) -> Bits {
    members.iter().fold(Bits::default(), |vars, member| vars.union(group.bits_of(member).0))
}

/// The cheapest way for each first variable.
fn sequences(group: &Group, members: Bits) -> Vec<Arc<Multiway>> {
    let tries: Vec<Trie<'_>> = members.iter().filter_map(|member| Trie::new(group, member)).collect();
    let vars = vars_of(group, members);
    let way = |(cost, vars, whole): (f64, Vec<usize>, Vec<bool>)| {
        Arc::new(Multiway { members, vars: vars.into(), whole, cost })
    };
    let from = |first: usize| {
        let rest: Vec<usize> = vars.iter().filter(|v| *v != first).collect();
        let mut best: Option<(f64, Vec<usize>, Vec<bool>)> = None;
        let mut weigh = |sequence: &[usize]| {
            let (cost, whole) = weigh(&tries, sequence);
            if best.as_ref().is_none_or(|(least, ..)| cost < *least) {
                best = Some((cost, sequence.to_vec(), whole));
            }
        };
        if vars.len() <= PERMUTED_MAX {
            permutations(&mut vec![first], &rest, &mut weigh);
        } else {
            weigh(&smallest_first(&tries, first, rest));
        }
        best.map(way)
    };
    vars.iter().filter_map(from).collect()
}

/// All sequences of `rest` after `chosen`.
fn permutations(chosen: &mut Vec<usize>, rest: &[usize], visit: &mut dyn FnMut(&[usize])) {
    if rest.is_empty() {
        return visit(chosen);
    }
    for var in rest {
        chosen.push(*var);
        let others: Vec<usize> = rest.iter().copied().filter(|other| other != var).collect();
        permutations(chosen, &others, visit);
        chosen.pop();
    }
}

/// A sequence in which each variable is the one that leaves the fewest bindings.
fn smallest_first(tries: &[Trie<'_>], first: usize, mut rest: Vec<usize>) -> Vec<usize> {
    let mut sequence = vec![first];
    while !rest.is_empty() {
        let bound: Bits = sequence.iter().copied().collect();
        let growth = |var: &usize| Level::new(tries, *var, bound).growth;
        let least = rest.iter().enumerate().min_by(|(_, a), (_, b)| growth(a).total_cmp(&growth(b)));
        let Some((at, _)) = least else { break };
        sequence.push(rest.remove(at));
    }
    sequence
}

/// What is known of a member as a trie.
struct Trie<'a> {
    pattern: &'a QuadPattern,
    /// The variables of subject, predicate and object.
    slots: [Option<usize>; 3],
    vars: Bits,
    rows: f64,
    /// Distinct values by variable number.
    distinct: Vec<f64>,
    /// What reading all of it costs.
    read: f64,
}

impl<'a> Trie<'a> {
    fn new(group: &'a Group, member: usize) -> Option<Self> {
        let input = &group.inputs[member];
        let Access::Lookup(pattern) = &input.access else { return None };
        let scan = input.plans.iter().map(|plan| plan.node.cost).reduce(f64::max)?;
        let (vars, distinct) = (group.bits_of(member).0, group.numbered(&input.distinct));
        let number = |slot: Slot| slot_var(&slot).and_then(|var| group.number(var));
        let slots = [pattern.subject, pattern.predicate, pattern.object].map(number);
        Some(Self { pattern, slots, vars, rows: input.rows, distinct, read: scan + cost::trie(input.rows) })
    }

    /// How many combinations of values these of its variables have.
    fn combinations(&self, vars: Bits) -> f64 {
        if self.vars.is_subset(vars) {
            return self.rows.max(1.0);
        }
        let product: f64 = self.vars.intersect(vars).iter().map(|v| self.distinct[v].max(1.0)).product();
        product.min(self.rows).max(1.0)
    }

    /// How many values a variable has under one combination of values of `bound`.
    fn fan_out(&self, var: usize, bound: Bits) -> f64 {
        let with: Bits = bound.iter().chain([var]).collect();
        (self.combinations(with) / self.combinations(bound)).max(1.0)
    }

    /// The pattern in the order that has the constants first, and then the variables in this sequence.
    fn scan(&self, sequence: &[usize]) -> ScanPattern {
        let rank = |position: &Position| {
            let variable = self.slots.get(*position as usize).copied().flatten();
            variable.map_or(0, |v| 1 + sequence.iter().position(|other| *other == v).unwrap_or(0))
        };
        let fits = |order: &Order| order.positions()[..3].is_sorted_by_key(rank);
        with_order(self.pattern, FULL_ORDERS.into_iter().find(fits).unwrap_or(Order::Spog))
    }
}

/// What looking for the values of one variable under one combination of values of those before it takes.
struct Level {
    /// Cost for each trie: of the steps in memory, and of the look-ups in the permutation. Zeroes where it lacks the variable.
    each: Vec<(f64, f64)>,
    /// How many values are found.
    growth: f64,
}

impl Level {
    fn new(tries: &[Trie<'_>], var: usize, bound: Bits) -> Self {
        let numbered = tries.iter().enumerate().filter(|(_, trie)| trie.vars.contains(var));
        let mut having: Vec<(usize, f64)> = numbered.map(|(n, trie)| (n, trie.fan_out(var, bound))).collect();
        having.sort_by(|(_, a), (_, b)| a.total_cmp(b));
        let values = having.iter().map(|(number, _)| tries[*number].distinct[var]).fold(1.0, f64::max);
        let mut each = vec![(0.0, 0.0); tries.len()];
        let mut growth = having.first().map_or(1.0, |(_, own)| *own);
        for (place, (number, own)) in having.into_iter().enumerate() {
            // The tries with the fewest values come first; others are asked for what these agree on.
            each[number] = (cost::leap(own, growth), cost::leap_sought(own, growth));
            if place > 0 {
                // What one trie has the others have by chance, but more often than that: variables depend on each other.
                growth *= (own / values).min(1.0).sqrt();
            }
        }
        Self { each, growth }
    }
}

/// What joining by a sequence of variables costs, and which tries are best read whole.
fn weigh(tries: &[Trie<'_>], sequence: &[usize]) -> (f64, Vec<bool>) {
    let mut bound = Bits::default();
    let mut bindings = 1.0;
    let mut steps = vec![(0.0, 0.0); tries.len()];
    for var in sequence {
        let level = Level::new(tries, *var, bound);
        for ((whole, sought), each) in steps.iter_mut().zip(&level.each) {
            *whole += bindings * each.0;
            *sought += bindings * each.1;
        }
        bindings *= level.growth;
        bound.insert(*var);
    }
    let scans: Vec<ScanPattern> = tries.iter().map(|trie| trie.scan(sequence)).collect();
    let mut whole = vec![false; tries.len()];
    let mut cost = 0.0;
    for number in 0..tries.len() {
        let same = |other: &usize| scans[*other].has_rows_of(&scans[number]);
        if (0..number).any(|other| same(&other)) {
            continue;
        }
        // Those with the same rows are read once for all.
        let alike: Vec<usize> = (number..tries.len()).filter(same).collect();
        let read = tries[number].read + alike.iter().map(|other| steps[*other].0).sum::<f64>();
        let sought = alike.iter().map(|other| steps[*other].1).sum::<f64>();
        alike.iter().for_each(|other| whole[*other] = read <= sought);
        cost += read.min(sought);
    }
    (cost, whole)
}

/// The plan of a way to join members at once, with so many rows.
pub(super) fn build(group: &Group, way: &Multiway, rows: f64) -> Planned {
    let members = way.members.iter().filter_map(|member| Some((member, Trie::new(group, member)?)));
    let mut patterns = Vec::new();
    let mut distinct = Distinct::new();
    for ((member, trie), whole) in members.zip(&way.whole) {
        patterns.push(TriePattern { pattern: trie.scan(&way.vars), whole: *whole });
        for (var, count) in &group.inputs[member].distinct {
            distinct.entry(*var).and_modify(|d| *d = d.min(*count)).or_insert(*count);
        }
    }
    let vars: Vec<VarId> = way.vars.iter().filter_map(|number| group.var(*number)).collect();
    let certain: VarSet = vars.iter().copied().collect();
    let cost = way.cost + cost::output(rows, vars.len());
    let op = PlanOp::MultiwayJoin(patterns);
    Planned::new(op, vars.clone(), &certain, vars, rows, cost, distinct)
}

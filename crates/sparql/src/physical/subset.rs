//! A join group and its subsets: what is known of a set of members whatever the way they are joined.
//!
//! Within a group, members, variables and filters are small numbers, so that all sets are words and the search allocates little.

use super::bits::Bits;
use super::candidate::Candidate;
use super::join_input::{Access, Input};
use super::stars::{Divisor, Stars};
use crate::cardinality::{Distinct, selectivity};
use crate::expr::Expr;
use crate::plan::VarId;
use crate::statistics::Statistics;
use crate::var_set::VarSet;
use std::sync::Arc;

/// A filter, and when it may be applied.
struct Condition {
    expr: Expr,
    vars: Bits,
    /// It needs all members: it has no variables, or its outcome is not the same each time.
    last: bool,
    /// What it keeps is known to the members' numbers of rows already.
    counted: bool,
}

/// The members and filters of a join.
pub(super) struct Group {
    pub inputs: Vec<Input>,
    /// Variables of each input, and those certain.
    bits: Vec<(Bits, Bits)>,
    /// The variable of each number, sorted.
    vars: Vec<VarId>,
    conditions: Vec<Condition>,
    /// Variables by which it may pay above to have rows sorted.
    interest: Bits,
    /// Members with the same subject.
    pub stars: Stars,
}

/// A set of members joined.
#[derive(Clone)]
pub(super) struct Subset {
    pub members: Bits,
    pub vars: Bits,
    pub certain: Bits,
    pub rows: f64,
    /// Distinct values by variable number.
    pub distinct: Vec<f64>,
    /// Filters that have been applied.
    pub filters: Bits,
    /// Ways to have it, cheapest first; none for a step alone.
    pub candidates: Vec<Arc<Candidate>>,
    /// The variables whose order is still of use.
    pub interest: Bits,
}

impl Group {
    /// A group; the members where these, variables or filters are more than numbers. `counted`: filters whose effect the members'
    /// numbers of rows show.
    pub fn new(
        inputs: Vec<Input>,
        filters: &[Expr],
        counted: &[bool],
        interest: &VarSet,
        stats: &dyn Statistics,
    ) -> Result<Self, Vec<Input>> {
        let mut all = VarSet::new();
        inputs.iter().for_each(|i| all.extend(&i.vars));
        filters.iter().for_each(|f| f.collect_vars(&mut all));
        if inputs.len().max(all.len()).max(filters.len()) > Bits::LIMIT {
            return Err(inputs);
        }
        let vars = all.as_slice().to_vec();
        let number = |set: &VarSet| set.iter().filter_map(|v| vars.binary_search(&v).ok()).collect::<Bits>();
        let bits = inputs.iter().map(|i| (number(&i.vars), number(&i.certain))).collect();
        let conditions = filters
            .iter()
            .zip(counted)
            .map(|(expr, counted)| {
                let vars = number(&expr.vars());
                let last = vars.is_empty() || expr.is_volatile();
                Condition { vars, last, counted: *counted, expr: expr.clone() }
            })
            .collect();
        let interest = number(interest);
        let stars = Stars::find(&inputs, &|var| vars.binary_search(&var).ok(), stats);
        Ok(Self { inputs, bits, vars, conditions, interest, stars })
    }

    /// The variables of an input, and those certain.
    pub fn bits_of(&self, member: usize) -> (Bits, Bits) {
        self.bits.get(member).copied().unwrap_or_default()
    }

    /// The number of a variable.
    pub fn number(&self, var: VarId) -> Option<usize> {
        self.vars.binary_search(&var).ok()
    }

    /// The variable of a number.
    pub fn var(&self, number: usize) -> Option<VarId> {
        self.vars.get(number).copied()
    }

    /// The variables of these numbers.
    pub fn var_set(&self, numbers: Bits) -> VarSet {
        numbers.iter().filter_map(|n| self.vars.get(n)).copied().collect()
    }

    /// How many variables there are.
    pub fn var_count(&self) -> usize {
        self.vars.len()
    }

    /// Distinct values by variable number, from those by variable.
    pub fn numbered(&self, distinct: &Distinct) -> Vec<f64> {
        self.vars.iter().map(|v| distinct.get(v).copied().unwrap_or(f64::INFINITY)).collect()
    }

    /// Members that variables connect, directly or through others.
    pub fn components(&self) -> Vec<Vec<usize>> {
        let mut components: Vec<(Bits, Vec<usize>)> = Vec::new();
        for (n, (own, _)) in self.bits.iter().enumerate() {
            let (mut vars, mut members) = (*own, vec![n]);
            let (touching, others): (Vec<_>, Vec<_>) =
                components.into_iter().partition(|(v, _)| !v.intersect(*own).is_empty());
            for (v, m) in touching {
                vars = vars.union(v);
                members.extend(m);
            }
            components = others;
            members.sort_unstable();
            components.push((vars, members));
        }
        self.linked_components(components.into_iter().map(|(_, members)| members).collect())
    }

    /// Components of one row join others that a condition compares them with: the condition can then be applied early.
    fn linked_components(&self, mut components: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
        let bits = |members: &[usize]| members.iter().copied().collect::<Bits>();
        while let Some((i, j)) = pairs(components.len()).find(|(i, j)| {
            let (a, b) = (bits(&components[*i]), bits(&components[*j]));
            (self.is_one_row(a) || self.is_one_row(b)) && self.are_compared(a, b)
        }) {
            let other = components.swap_remove(j);
            components[i].extend(other);
            components[i].sort_unstable();
        }
        components
    }

    /// Whether all of these members have one row, and so their join: if it were not for several of them, those that a condition compares
    /// with each other and with a third member of more rows could be joined first, and then not with that one.
    fn is_one_row(&self, members: Bits) -> bool {
        let one = |input: &Input| !input.plans.is_empty() && input.rows <= 1.0;
        members.iter().all(|n| self.inputs.get(n).is_some_and(one))
    }

    /// Whether a condition is about variables of both.
    fn are_compared(&self, a: Bits, b: Bits) -> bool {
        let vars =
            |members: Bits| members.iter().fold(Bits::default(), |all, n| all.union(self.bits_of(n).0));
        let (a, b) = (vars(a), vars(b));
        let meets = |c: &Condition, vars: Bits| !c.vars.intersect(vars).is_empty();
        self.conditions.iter().any(|c| !c.last && meets(c, a) && meets(c, b))
    }

    pub fn all_filters(&self) -> Bits {
        (0..self.conditions.len()).collect()
    }

    /// The filters that mean the same over these members as over all: each variable is bound by them for certain, or no other member
    /// has it.
    pub fn applicable(&self, members: Bits) -> Bits {
        if self.conditions.is_empty() {
            return Bits::default();
        }
        let (mut certain, mut elsewhere) = (Bits::default(), Bits::default());
        for (n, (vars, sure)) in self.bits.iter().enumerate() {
            if members.contains(n) {
                certain = certain.union(*sure);
            } else {
                elsewhere = elsewhere.union(*vars);
            }
        }
        let all = members.len() == self.inputs.len();
        let holds = |c: &Condition| all || (!c.last && c.vars.minus(certain).intersect(elsewhere).is_empty());
        self.conditions.iter().enumerate().filter(|(_, c)| holds(c)).map(|(i, _)| i).collect()
    }

    pub fn filters_of(&self, bits: Bits) -> Vec<Expr> {
        bits.iter().filter_map(|i| self.conditions.get(i)).map(|c| c.expr.clone()).collect()
    }

    /// The part of rows that these filters keep, and what they cost for so many rows.
    pub fn filtering(&self, bits: Bits, rows: f64, distinct: &[f64]) -> (f64, f64) {
        let (mut kept, mut cost) = (1.0, 0.0);
        for condition in bits.iter().filter_map(|i| self.conditions.get(i)) {
            let known: Distinct = condition
                .vars
                .iter()
                .filter_map(|n| Some((*self.vars.get(n)?, distinct.get(n)?.min(rows))))
                .collect();
            if !condition.counted {
                kept *= selectivity(&condition.expr, &known);
            }
            cost += super::cost::filter(rows, &condition.expr);
        }
        (kept, cost)
    }

    /// Variables of a set's members by which rows may usefully be sorted: those that others have, and those asked for.
    pub fn interest_of(&self, members: Bits, vars: Bits) -> Bits {
        let mut others = self.interest;
        for (n, (own, _)) in self.bits.iter().enumerate() {
            if !members.contains(n) {
                others = others.union(*own);
            }
        }
        others.intersect(vars)
    }
}

/// All pairs of different numbers below `n`, the smaller first.
fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |i| (i + 1..n).map(move |j| (i, j)))
}

impl Subset {
    /// Distinct values of a column.
    pub fn distinct_of(&self, number: usize) -> f64 {
        self.distinct.get(number).copied().unwrap_or(f64::INFINITY).min(self.rows).max(1.0)
    }

    /// Whether a variable connects the two, or (a step) one can go on from the other.
    pub fn can_join(&self, group: &Group, other: &Self) -> bool {
        if self.vars.intersect(other.vars).is_empty() {
            let one_row = group.is_one_row(self.members) || group.is_one_row(other.members);
            return one_row && group.are_compared(self.members, other.members);
        }
        let fits = |a: &Self, b: &Self| {
            !a.candidates.is_empty()
                && (!b.candidates.is_empty() || b.step_term(group).is_some_and(|t| a.certain.contains(t)))
        };
        fits(self, other) || fits(other, self)
    }

    /// The term that a step alone takes apart.
    fn step_term(&self, group: &Group) -> Option<usize> {
        match &group.inputs.get(self.only_member()?)?.access {
            Access::TripleTerm { term, .. } => group.number(*term),
            _ => None,
        }
    }

    /// The only member, if there is one.
    pub fn only_member(&self) -> Option<usize> {
        let mut members = self.members.iter();
        let first = members.next()?;
        members.next().is_none().then_some(first)
    }

    /// Estimated rows of the join of two sets, before filters over both.
    pub fn joined_rows(&self, group: &Group, other: &Self) -> f64 {
        if self.candidates.is_empty() && self.only_member().is_some() {
            return other.rows;
        }
        if other.candidates.is_empty() && other.only_member().is_some() {
            return self.rows;
        }
        let mut rows = self.rows * other.rows;
        // What one row stands for is there; who asks for something most often knows that it is.
        let least = self.rows.min(other.rows).min(1.0);
        let mut largest: Vec<f64> = Vec::new();
        let mut stars = 0;
        for variable in self.vars.intersect(other.vars).iter() {
            let distinct = [self, other].map(|set| set.distinct_of(variable));
            match group.stars.divisor(variable, [self.members, other.members], distinct) {
                Some(Divisor::Star(divisor)) => {
                    rows = (rows / divisor).max(least);
                    stars += 1;
                }
                Some(Divisor::Link(divisor)) => largest.push(divisor),
                None => largest.push(distinct[0].max(distinct[1])),
            }
        }
        // Further variables say less and less: they depend on each other.
        largest.sort_by(|a, b| b.total_cmp(a));
        for (i, distinct) in (stars..).zip(largest) {
            rows /= distinct.max(1.0).powf(1.0 / f64::from(1_u32 << i.min(8)));
        }
        rows
    }
}

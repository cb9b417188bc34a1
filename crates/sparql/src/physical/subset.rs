//! A join group and its subsets: what is known of a set of members whatever the way they are joined.

use super::candidate::Candidate;
use super::cardinality::{Distinct, selectivity};
use super::join_input::{Access, Input};
use crate::expr::Expr;
use crate::plan::VarId;
use crate::var_set::VarSet;
use std::sync::Arc;

/// A set of small numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    pub fn insert(&mut self, bit: usize) {
        let word = bit / 64;
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (bit % 64);
    }

    pub fn contains(&self, bit: usize) -> bool {
        self.0.get(bit / 64).is_some_and(|w| w & (1 << (bit % 64)) != 0)
    }

    pub fn extend(&mut self, other: &Self) {
        if other.0.len() > self.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
    }

    pub fn union(&self, other: &Self) -> Self {
        let mut all = self.clone();
        all.extend(other);
        all
    }

    pub fn minus(&self, other: &Self) -> Self {
        self.iter().filter(|b| !other.contains(*b)).collect()
    }

    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0
            .iter()
            .enumerate()
            .flat_map(|(i, word)| (0..64).filter(move |b| word & (1 << b) != 0).map(move |b| i * 64 + b))
    }
}

impl FromIterator<usize> for Bits {
    fn from_iter<I: IntoIterator<Item = usize>>(bits: I) -> Self {
        let mut set = Self::default();
        bits.into_iter().for_each(|b| set.insert(b));
        set
    }
}

/// A filter, and when it may be applied.
struct Condition {
    expr: Expr,
    vars: VarSet,
    /// The members that have one of its variables.
    members: Bits,
}

/// The members and filters of a join.
pub(super) struct Group {
    pub inputs: Vec<Input>,
    conditions: Vec<Condition>,
    /// Variables by which it may pay above to have rows sorted.
    pub interest: VarSet,
}

/// A set of members joined.
#[derive(Clone)]
pub(super) struct Subset {
    pub members: Bits,
    pub vars: VarSet,
    pub certain: VarSet,
    pub rows: f64,
    pub distinct: Distinct,
    /// Filters that have been applied.
    pub filters: Bits,
    /// Ways to have it; none for a step alone.
    pub candidates: Vec<Arc<Candidate>>,
    /// The variables whose order is still of use.
    pub interest: VarSet,
}

impl Group {
    pub fn new(inputs: Vec<Input>, filters: Vec<Expr>, interest: VarSet) -> Self {
        let conditions = filters
            .into_iter()
            .map(|expr| {
                let vars = expr.vars();
                let has = |i: &Input| !i.vars.is_disjoint(&vars);
                let members = inputs.iter().enumerate().filter(|(_, i)| has(i)).map(|(n, _)| n).collect();
                Condition { expr, vars, members }
            })
            .collect();
        Self { inputs, conditions, interest }
    }

    /// Members that variables connect, directly or through others.
    pub fn components(&self) -> Vec<Vec<usize>> {
        let mut components: Vec<(VarSet, Vec<usize>)> = Vec::new();
        for (n, input) in self.inputs.iter().enumerate() {
            let (mut vars, mut members) = (input.vars.clone(), vec![n]);
            let (touching, others): (Vec<_>, Vec<_>) =
                components.into_iter().partition(|(v, _)| !v.is_disjoint(&input.vars));
            for (v, m) in touching {
                vars.extend(&v);
                members.extend(m);
            }
            components = others;
            members.sort_unstable();
            components.push((vars, members));
        }
        components.into_iter().map(|(_, members)| members).collect()
    }

    pub fn all_filters(&self) -> Bits {
        (0..self.conditions.len()).collect()
    }

    /// The filters that mean the same over these members as over all: each variable is bound by them for certain, or no other member
    /// has it.
    pub fn applicable(&self, members: &Bits) -> Bits {
        let holds = |c: &Condition| {
            if c.vars.is_empty() || c.expr.is_volatile() {
                return self.inputs.len() == members.iter().count();
            }
            c.vars.iter().all(|v| self.is_settled(v, c, members))
        };
        self.conditions.iter().enumerate().filter(|(_, c)| holds(c)).map(|(i, _)| i).collect()
    }

    fn is_settled(&self, var: VarId, condition: &Condition, members: &Bits) -> bool {
        let bound = members.iter().any(|m| self.inputs[m].certain.contains(var));
        let elsewhere =
            || condition.members.iter().any(|m| !members.contains(m) && self.inputs[m].vars.contains(var));
        bound || !elsewhere()
    }

    pub fn filters_of(&self, bits: &Bits) -> Vec<Expr> {
        bits.iter().filter_map(|i| self.conditions.get(i)).map(|c| c.expr.clone()).collect()
    }

    /// The part of rows that these filters keep, and what they cost for so many rows.
    pub fn filtering(&self, bits: &Bits, rows: f64, distinct: &Distinct) -> (f64, f64) {
        let mut kept = 1.0;
        let mut cost = 0.0;
        for condition in bits.iter().filter_map(|i| self.conditions.get(i)) {
            kept *= selectivity(&condition.expr, distinct);
            cost += super::cost::filter(rows, &condition.expr);
        }
        (kept, cost)
    }

    /// Variables of a set's members by which rows may usefully be sorted: those that others have, and those asked for.
    pub fn interest_of(&self, members: &Bits, vars: &VarSet) -> VarSet {
        let mut interest = self.interest.intersect(vars);
        for (n, input) in self.inputs.iter().enumerate() {
            if !members.contains(n) {
                interest.extend(&input.vars.intersect(vars));
            }
        }
        interest
    }
}

impl Subset {
    /// Distinct values of a column.
    pub fn distinct_of(&self, var: VarId) -> f64 {
        self.distinct.get(&var).copied().unwrap_or(self.rows).min(self.rows).max(1.0)
    }

    /// Whether a variable connects the two, or (a step) one can go on from the other.
    pub fn can_join(&self, group: &Group, other: &Self) -> bool {
        if self.vars.is_disjoint(&other.vars) {
            return false;
        }
        let fits = |a: &Self, b: &Self| {
            !b.candidates.is_empty() || b.step_term(group).is_some_and(|t| a.certain.contains(t))
        };
        (!self.candidates.is_empty() && fits(self, other))
            || (!other.candidates.is_empty() && fits(other, self))
    }

    /// The term that a step alone takes apart.
    fn step_term(&self, group: &Group) -> Option<VarId> {
        let mut members = self.members.iter();
        let (only, more) = (members.next()?, members.next());
        match &group.inputs.get(only)?.access {
            Access::TripleTerm { term, .. } if more.is_none() => Some(*term),
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
    pub fn joined_rows(&self, other: &Self) -> f64 {
        if self.candidates.is_empty() {
            return other.rows;
        }
        if other.candidates.is_empty() {
            return self.rows;
        }
        let mut largest: Vec<f64> = self
            .vars
            .intersect(&other.vars)
            .iter()
            .map(|v| self.distinct_of(v).max(other.distinct_of(v)))
            .collect();
        // Further variables say less and less: they depend on each other.
        largest.sort_by(|a, b| b.total_cmp(a));
        let mut rows = self.rows * other.rows;
        for (i, distinct) in largest.into_iter().enumerate() {
            rows /= distinct.max(1.0).powf(1.0 / f64::from(1_u32 << i.min(8)));
        }
        rows
    }
}

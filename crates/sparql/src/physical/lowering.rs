//! What planning a query by cost needs throughout: the statistics, the options, and what has been tried.

use super::node::{self, Planned};
use crate::logical::Logical;
use crate::options::PlanOptions;
use crate::plan::{VarId, VarTable};
use crate::statistics::Statistics;
use crate::var_set::VarSet;
use std::cell::{Cell, RefCell};

/// At most so many plans are kept per operator.
const PLANS_MAX: usize = 6;
/// Gives the plans of an operator. Handed in, since operators come back for the plans of their inputs.
pub(super) type Lower = fn(&Lowering<'_>, &Logical, &VarSet) -> Vec<Planned>;

/// What lowering needs throughout.
pub(super) struct Lowering<'a> {
    pub stats: &'a dyn Statistics,
    /// Aggregates before joins wherever that is right, whatever it costs.
    pub groups_early: bool,
    /// Joins patterns at once wherever that is right, whatever it costs.
    pub joins_multiway: bool,
    /// The query's variables, and those that plans add.
    vars: RefCell<VarTable>,
    /// Groups that were tried in other ways.
    pub tried: Cell<u32>,
    /// Right sides that were tried in other ways.
    pub rights: Cell<u32>,
    /// The common sub-plans that readers know by their numbers.
    pub spools: RefCell<Vec<Option<Planned>>>,
    /// Makes common sub-plans once wherever that is right, whatever it costs.
    pub spools_always: bool,
    /// Gives the plans of an operator, and comes back here for those of its inputs.
    lower: Lower,
}

impl<'a> Lowering<'a> {
    pub fn new(stats: &'a dyn Statistics, options: &PlanOptions, vars: VarTable, lower: Lower) -> Self {
        let (vars, tried, rights) = (RefCell::new(vars), Cell::new(0), Cell::new(0));
        let PlanOptions { groups_early, joins_multiway, spools_always, .. } = *options;
        let spools = RefCell::default();
        Self { stats, groups_early, joins_multiway, vars, tried, rights, spools, spools_always, lower }
    }

    /// Begins a query anew: what one way to plan it has tried does not count for another.
    pub fn restart(&self) {
        self.tried.set(0);
        self.rights.set(0);
        self.spools.borrow_mut().clear();
    }

    pub fn into_vars(self) -> VarTable {
        self.vars.into_inner()
    }

    /// A variable that no other part of the plan has.
    pub fn fresh(&self) -> VarId {
        let mut vars = self.vars.borrow_mut();
        // No name that a query can have.
        let name = format!(".{}", vars.len());
        vars.add(name)
    }

    /// The plans of `logical`, cheapest first; at least one, which is of no use where nobody waits for it any more. `interest`: variables by which it
    /// may pay to have rows sorted.
    pub fn lower(&self, logical: &Logical, interest: &VarSet) -> Vec<Planned> {
        (self.lower)(self, logical, interest)
    }

    /// The cheapest plan.
    pub fn best(&self, logical: &Logical, interest: &VarSet) -> Planned {
        let mut plans = self.lower(logical, interest);
        if plans.is_empty() { node::empty(&logical.vars) } else { plans.swap_remove(0) }
    }
}

/// The cheapest plan for each order that may be of use, cheapest first.
pub(super) fn keep_best(mut plans: Vec<Planned>, interest: &VarSet) -> Vec<Planned> {
    plans.sort_by(|a, b| a.node.cost.total_cmp(&b.node.cost));
    let mut kept: Vec<(Vec<VarId>, Planned)> = Vec::new();
    for plan in plans {
        let order = useful_order(&plan.node.sorted_by, interest);
        if kept.len() < PLANS_MAX && !kept.iter().any(|(o, _)| o.starts_with(&order)) {
            kept.push((order, plan));
        }
    }
    kept.into_iter().map(|(_, plan)| plan).collect()
}

/// The part of an order that may be of use: up to the first column that is of no interest.
pub(super) fn useful_order(sorted_by: &[VarId], interest: &VarSet) -> Vec<VarId> {
    sorted_by.iter().copied().take_while(|v| interest.contains(*v)).collect()
}

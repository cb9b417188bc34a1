//! [`Logical`] to plan nodes: access paths, join orders and methods.

mod bits;
mod candidate;
mod combine;
mod cost;
mod distinct_arguments;
mod early_groups;
mod join_input;
mod join_order;
mod leaves;
mod lower;
mod lowering;
mod multiway;
mod node;
mod objects;
mod path_size;
mod prefixes;
mod ranges;
mod sideways;
mod simple;
mod spatial;
mod spools;
mod stars;
mod subset;
mod sums;

pub(crate) use node::scan_columns;
pub use sums::SUMMED_DIGITS_MAX;

use crate::logical::Logical;
use crate::options::PlanOptions;
use crate::plan::{PlanNode, VarId, VarTable};
use crate::statistics::Statistics;
use crate::var_set::VarSet;

/// The plan for `logical`, with exactly the columns asked for, and the query's variables with those that the plan adds.
pub(crate) fn plan(
    logical: &Logical,
    columns: Vec<VarId>,
    vars: VarTable,
    options: &PlanOptions,
    stats: &dyn Statistics,
) -> (PlanNode, VarTable) {
    let lower = if options.optimize { lower::lower } else { simple::lower };
    let lowering = lowering::Lowering::new(stats, options, vars, lower);
    let root = match options.optimize {
        true => spools::plan(logical, columns, &lowering),
        false => node::project(lowering.best(logical, &VarSet::new()), columns).node,
    };
    (root, lowering.into_vars())
}

/// Numbers the nodes of a plan, parents first; how many there are.
pub(crate) fn number(root: &mut PlanNode) -> u32 {
    fn visit(node: &mut PlanNode, next: &mut u32) {
        node.id = *next;
        *next = next.saturating_add(1);
        for child in node.children_mut() {
            visit(child, next);
        }
    }
    let mut next = 0;
    visit(root, &mut next);
    next
}

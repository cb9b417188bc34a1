//! A plan taken apart: the largest sub-plans that can be run by ranges elsewhere, and the plan of the head, which has their rows handed in.

use crate::carried;
use crate::error::FragmentError;
use crate::fragment::Fragment;
use crate::graphs;
use crate::known::is_known;
use crate::limits::LEVELS_MAX;
use crate::wire::write;
use lode_exec::{has_groups_in_parts, may_be_confined};
use lode_sparql::aggregate::InParts;
use lode_sparql::plan::VisibleGraphs;
use lode_sparql::{Aggregate, Expr, Plan, PlanNode, PlanOp, VarId, stack};
use lode_store::Snapshot;
use oxsdatatypes::DateTime;
use std::sync::Arc;

/// What fragments are looked for, and what they get from their query.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Sub-plans that cost less by the planner's estimate, in nanoseconds, stay at the head.
    pub cost_min: f64,
    /// `NOW()` of the query.
    pub now: DateTime,
    /// The graphs that there are for who asks; none: all.
    pub visible: Option<VisibleGraphs>,
}

/// A plan taken apart.
#[derive(Debug)]
pub struct Apart {
    /// What the head runs: [`PlanOp::Fragment`] stands where a fragment's rows are needed, by its place in the list.
    pub head: Plan,
    /// The fragments, and what to send of each.
    pub fragments: Vec<(Fragment, Vec<u8>)>,
}

/// Takes a plan over `snapshot` apart. Where nothing can be run elsewhere there are no fragments, and the head has all of it.
///
/// # Errors
///
/// Where the store cannot be read, or the plan reads a graph that is not visible.
pub fn take_apart(plan: &Plan, snapshot: &Snapshot, wanted: &Wanted) -> Result<Apart, FragmentError> {
    let mut finder = Finder {
        plan,
        snapshot,
        wanted,
        single_graph: !snapshot.has_named_graphs(),
        levels: vec![None; plan.node_count as usize],
        found: Vec::new(),
    };
    stack::deep(plan.depth, || {
        finder.measure(&plan.root);
        let mut root = plan.root.clone();
        finder.replace(&mut root)?;
        Ok(Apart { head: plan.with_root(root), fragments: finder.found })
    })
}

/// Groups above the groups of parts, in their place.
fn put_together(node: &mut PlanNode, aggregates: Vec<Aggregate>) {
    let outputs: Vec<VarId> = aggregates.iter().map(|aggregate| aggregate.output).collect();
    let keys = node.vars.iter().copied().filter(|var| !outputs.contains(var)).collect();
    let input = Arc::new(node.clone());
    node.op = PlanOp::Group { input, keys, aggregates, sorted: false };
}

struct Finder<'a> {
    plan: &'a Plan,
    snapshot: &'a Snapshot,
    wanted: &'a Wanted,
    single_graph: bool,
    /// Levels of the sub-plan of each node, by its number; none where something of it stays.
    levels: Vec<Option<usize>>,
    found: Vec<(Fragment, Vec<u8>)>,
}

impl Finder<'_> {
    /// Notes for each node whether all of its sub-plan may travel.
    fn measure(&mut self, node: &PlanNode) -> Option<usize> {
        let mut below = Some(0);
        for child in node.children() {
            let levels = stack::room(|| self.measure(child));
            below = below.zip(levels).map(|(most, levels)| most.max(levels));
        }
        let own = carried::node(node).ok();
        let levels = below.zip(own).map(|(below, own)| (below + 1).max(own + 1));
        if let Some(slot) = self.levels.get_mut(node.id as usize) {
            *slot = levels;
        }
        levels
    }

    /// Puts fragments in the place of what can be run elsewhere, as high up as can be.
    fn replace(&mut self, node: &mut PlanNode) -> Result<(), FragmentError> {
        if let Some(fragment) = self.fragment(node)? {
            let number = u32::try_from(self.found.len()).unwrap_or(u32::MAX);
            self.found.push(fragment);
            let of_parts = self.groups_of_parts(node);
            node.op = PlanOp::Fragment { number };
            if let Some(aggregates) = of_parts {
                put_together(node, aggregates);
            }
            return Ok(());
        }
        node.children_mut().into_iter().try_for_each(|child| stack::room(|| self.replace(child)))
    }

    /// The aggregates that put the groups of parts together, where a sub-plan has such groups.
    fn groups_of_parts(&self, node: &PlanNode) -> Option<Vec<Aggregate>> {
        let PlanOp::Group { aggregates, .. } = &node.op else { return None };
        if !node.sorted_by.is_empty() || !has_groups_in_parts(node, self.single_graph) {
            return None;
        }
        let of_parts = |aggregate: &Aggregate| match aggregate.function.in_parts {
            InParts::As(function) if !aggregate.distinct => {
                Some(Aggregate::new(aggregate.output, function, Some(Expr::Var(aggregate.output))))
            }
            _ => None,
        };
        aggregates.iter().map(of_parts).collect()
    }

    fn fragment(&self, node: &PlanNode) -> Result<Option<(Fragment, Vec<u8>)>, FragmentError> {
        let levels = self.levels.get(node.id as usize).copied().flatten();
        let may = levels.is_some_and(|levels| levels <= LEVELS_MAX)
            && node.cost >= self.wanted.cost_min
            && (may_be_confined(node, self.single_graph) || self.groups_of_parts(node).is_some());
        if !may {
            return Ok(None);
        }
        for var in &node.vars {
            if !is_known(node, *var, self.snapshot)? {
                return Ok(None);
            }
        }
        let (vars, dataset) = (self.plan.vars.clone(), Arc::clone(&self.plan.dataset));
        let fragment = Fragment {
            database: self.snapshot.database_number(),
            version: self.snapshot.version_number(),
            now: self.wanted.now,
            visible: self.wanted.visible.clone(),
            plan: Arc::new(Plan::of_rows(node.clone(), vars, dataset)),
        };
        graphs::check(node, self.wanted.visible.as_ref())?;
        match write(&fragment, self.snapshot) {
            Ok(bytes) => Ok(Some((fragment, bytes))),
            Err(FragmentError::Stays(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

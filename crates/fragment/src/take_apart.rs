//! A plan taken apart: the largest sub-plans that can be run by ranges elsewhere, what others do with their rows, and the plan of the head, which has the rest handed in.

use crate::carried;
use crate::error::FragmentError;
use crate::fragment::{Fragment, Input};
use crate::graphs;
use crate::known::{Known, is_known, may_go_as_terms};
use crate::limits::LEVELS_MAX;
use crate::two_steps::{self, TwoSteps};
use crate::wire::write;
use lode_exec::{has_groups_in_parts, may_be_confined};
use lode_sparql::plan::VisibleGraphs;
use lode_sparql::{Plan, PlanNode, PlanOp, VarId, VarTable, stack};
use lode_store::Snapshot;
use oxsdatatypes::DateTime;
use std::sync::Arc;

/// Groups of parts pay where there are fewer than this part of the rows.
const REDUCED: f64 = 0.6;

/// What fragments are looked for, and what they get from their query.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Sub-plans that cost less by the planner's estimate, in nanoseconds, stay at the head.
    pub cost_min: f64,
    /// `NOW()` of the query.
    pub now: DateTime,
    /// The graphs that there are for who asks; none: all.
    pub visible: Option<VisibleGraphs>,
    /// Whether others exchange rows; none: they do not.
    pub exchange: Option<Exchange>,
}

/// When rows are worth being exchanged.
#[derive(Debug, Clone, Copy)]
pub struct Exchange {
    /// Fewer rows go to the head: those that are joined, groups, rows that are told apart.
    pub rows_min: f64,
    /// What a row costs on its way, in nanoseconds.
    pub row_cost: f64,
    /// Ranges that a fragment is run over: the sides of its joins that are not cut by them are read so often.
    pub parts: usize,
    /// What it costs that there is an exchange at all, in nanoseconds.
    pub begin_cost: f64,
}

/// A plan taken apart.
#[derive(Debug)]
pub struct Apart {
    /// What the head runs: [`PlanOp::Fragment`] stands where a fragment's rows are needed, by its place in the list.
    pub head: Plan,
    /// The fragments, and what to send of each. Those whose rows another needs are before it.
    pub fragments: Vec<(Fragment, Vec<u8>)>,
    /// The operators that keep a part of the plan at the head, by name, with the reason, where all that is below them could be run elsewhere.
    pub stays: Vec<(&'static str, &'static str)>,
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
        vars: plan.vars.clone(),
        found: Vec::new(),
        exchanged: Vec::new(),
        stays: Vec::new(),
    };
    stack::deep(plan.depth, || {
        finder.measure(&plan.root);
        let mut root = plan.root.clone();
        finder.replace(&mut root, false, false)?;
        if let Some(exchange) = &wanted.exchange {
            finder.exchange(&mut root, exchange)?;
        }
        let mut head = plan.with_root(root);
        head.vars = finder.vars;
        Ok(Apart { head, fragments: finder.found, stays: finder.stays })
    })
}

pub(crate) struct Finder<'a> {
    plan: &'a Plan,
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) wanted: &'a Wanted,
    single_graph: bool,
    /// Levels of the sub-plan of each node, by its number; none where something of it stays.
    levels: Vec<Option<usize>>,
    /// Variables, with those of groups in two steps.
    pub(crate) vars: VarTable,
    pub(crate) found: Vec<(Fragment, Vec<u8>)>,
    /// The joins that are made of exchanged rows, by their numbers.
    pub(crate) exchanged: Vec<u32>,
    stays: Vec<(&'static str, &'static str)>,
}

impl Finder<'_> {
    /// Notes for each node whether all of its sub-plan may travel.
    fn measure(&mut self, node: &PlanNode) -> Option<usize> {
        let mut below = Some(0);
        for child in node.children() {
            let levels = stack::room(|| self.measure(child));
            below = below.zip(levels).map(|(most, levels)| most.max(levels));
        }
        let levels = levels(node, below);
        if let (Some(_), Err(reason)) = (below, carried::node(node)) {
            let stays = (node.op.name(), reason);
            if !self.stays.contains(&stays) {
                self.stays.push(stays);
            }
        }
        if let Some(slot) = self.levels.get_mut(node.id as usize) {
            *slot = levels;
        }
        levels
    }

    /// Puts fragments in the place of what can be run elsewhere, as high up as can be. `is_free`: nobody needs the order of the rows. `is_side`: they are
    /// one of a join's that is worth it as a whole.
    fn replace(&mut self, node: &mut PlanNode, is_free: bool, is_side: bool) -> Result<(), FragmentError> {
        if let Some((fragment, steps)) = self.fragment(node, is_free, is_side)? {
            let parts = self.add(fragment);
            match steps {
                Some(steps) => steps.put_together(node, parts),
                None => *node = parts,
            }
            return Ok(());
        }
        let (free, is_exchanged) = (frees_order(node, is_free), self.is_exchanged(node, is_free));
        if is_exchanged {
            self.exchanged.push(node.id);
        }
        let is_join = matches!(node.op, PlanOp::HashJoin { .. });
        for (side, child) in node.children_mut().into_iter().enumerate() {
            let free = free || is_exchanged || (is_join && side == 1);
            stack::room(|| self.replace(child, free, is_side || is_exchanged))?;
        }
        Ok(())
    }

    /// What stands in the place of a fragment.
    pub(crate) fn add(&mut self, fragment: (Fragment, Vec<u8>)) -> PlanNode {
        let number = u32::try_from(self.found.len()).unwrap_or(u32::MAX);
        let node = PlanNode { op: PlanOp::Fragment { number }, ..fragment.0.plan.root.clone() };
        self.found.push(fragment);
        node
    }

    /// A sub-plan as a fragment: all of it, or in each part its own groups, and what puts those together.
    fn fragment(
        &mut self,
        node: &PlanNode,
        is_free: bool,
        is_side: bool,
    ) -> Result<Option<((Fragment, Vec<u8>), Option<TwoSteps>)>, FragmentError> {
        let is_worth_it = is_side || node.cost >= self.wanted.cost_min;
        if !is_worth_it || !self.may_travel(node) || self.has_exchange(node, is_free) {
            return Ok(None);
        }
        if may_be_confined(node, self.single_graph) {
            let shipped = self.ship(node.clone(), Vec::new())?;
            return Ok(shipped.map(|fragment| (fragment, None)));
        }
        if self.hardly_reduces(node) {
            return Ok(None);
        }
        let Some(steps) = TwoSteps::of(node, &mut self.vars) else { return Ok(None) };
        if !has_groups_in_parts(&steps.inner, self.single_graph) {
            return Ok(None);
        }
        let shipped = self.ship(steps.inner.clone(), Vec::new())?;
        Ok(shipped.map(|fragment| (fragment, Some(steps))))
    }

    /// Whether a group or a DISTINCT that is worth an exchange is expected to have nearly as many rows as its input: those of parts would be as many, and
    /// made for nothing, so that the rows of the input are exchanged.
    fn hardly_reduces(&self, node: &PlanNode) -> bool {
        let Some(exchange) = &self.wanted.exchange else { return false };
        let (PlanOp::Group { input, .. } | PlanOp::Distinct(input)) = &node.op else { return false };
        node.rows >= exchange.rows_min && node.rows > REDUCED * input.rows && node.sorted_by.is_empty()
    }

    /// Whether all of a sub-plan can be run by ranges.
    pub(crate) fn is_confined(&self, node: &PlanNode) -> bool {
        may_be_confined(node, self.single_graph)
    }

    /// Whether a sub-plan travels.
    fn may_travel(&self, node: &PlanNode) -> bool {
        let levels = self.levels.get(node.id as usize).copied().flatten();
        levels.is_some_and(|levels| levels < LEVELS_MAX)
    }

    /// Whether a join of two fragments is made of rows that are exchanged: else each part would read its right side as a whole.
    fn is_exchanged(&self, node: &PlanNode, is_free: bool) -> bool {
        let Some(exchange) = &self.wanted.exchange else { return false };
        let PlanOp::HashJoin { left, right, condition, .. } = &node.op else { return false };
        let again = exchange.parts.saturating_sub(1);
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let saved = right.cost * again as f64;
        !condition.on.is_empty()
            && (is_free || node.sorted_by.is_empty())
            && saved > (left.rows + right.rows) * exchange.row_cost + exchange.begin_cost
            && self.may_travel(node)
            && self.may_be_input(left, &condition.on)
            && self.may_be_input(right, &condition.on)
    }

    /// Whether the rows of a side of a join come from a fragment, or are groups that can be put together where they are joined.
    fn may_be_input(&self, side: &PlanNode, on: &[VarId]) -> bool {
        if !self.may_travel(side) {
            return false;
        }
        match &side.op {
            _ if may_be_confined(side, self.single_graph) => true,
            PlanOp::Group { input, keys: columns, .. } => {
                may_be_confined(input, self.single_graph)
                    && two_steps::are_there(side)
                    && columns.iter().any(|column| on.contains(column))
            }
            PlanOp::Distinct(input) => {
                may_be_confined(input, self.single_graph) && two_steps::are_there(side)
            }
            PlanOp::Filter { input, .. }
            | PlanOp::Extend { input, .. }
            | PlanOp::Project(input)
            | PlanOp::Reduced(input) => stack::room(|| self.may_be_input(input, on)),
            _ => false,
        }
    }

    /// Whether there is such a join among those that rows of a sub-plan go through.
    fn has_exchange(&self, node: &PlanNode, is_free: bool) -> bool {
        if self.wanted.exchange.is_none() {
            return false;
        }
        let free = frees_order(node, is_free);
        self.is_exchanged(node, is_free)
            || match &node.op {
                PlanOp::HashJoin { left, .. } => stack::room(|| self.has_exchange(left, free)),
                PlanOp::Filter { input, .. }
                | PlanOp::Extend { input, .. }
                | PlanOp::LookupJoin { input, .. }
                | PlanOp::Group { input, .. }
                | PlanOp::Project(input)
                | PlanOp::Distinct(input)
                | PlanOp::Reduced(input) => stack::room(|| self.has_exchange(input, free)),
                _ => false,
            }
    }

    /// The bytes of a sub-plan, where all its columns may leave a process.
    pub(crate) fn ship(
        &self,
        node: PlanNode,
        inputs: Vec<Input>,
    ) -> Result<Option<(Fragment, Vec<u8>)>, FragmentError> {
        let known = Known { snapshot: self.snapshot, fragments: &self.found };
        let mut terms = Vec::new();
        for var in &node.vars {
            if is_known(&node, *var, &known)? {
                continue;
            }
            if !may_go_as_terms(&node, *var, &known)? {
                return Ok(None);
            }
            terms.push(*var);
        }
        graphs::check(&node, self.wanted.visible.as_ref())?;
        let node = if inputs.is_empty() { node } else { with_numbered_inputs(node) };
        let dataset = Arc::clone(&self.plan.dataset);
        let fragment = Fragment {
            database: self.snapshot.database_number(),
            version: self.snapshot.version_number(),
            now: self.wanted.now,
            visible: self.wanted.visible.clone(),
            plan: Arc::new(Plan::of_rows(node, self.vars.clone(), dataset)),
            inputs,
            terms,
        };
        match write(&fragment, self.snapshot) {
            Ok(bytes) => Ok(Some((fragment, bytes))),
            Err(FragmentError::Stays(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Levels of a node with those of what is below it; none where it stays.
pub(crate) fn levels(node: &PlanNode, below: Option<usize>) -> Option<usize> {
    below.zip(carried::node(node).ok()).map(|(below, own)| (below + 1).max(own + 1))
}

/// Whether nobody needs the order of what is below an operator.
fn frees_order(node: &PlanNode, is_free: bool) -> bool {
    match &node.op {
        PlanOp::Group { sorted, .. } => !sorted && node.sorted_by.is_empty(),
        PlanOp::Filter { .. }
        | PlanOp::Extend { .. }
        | PlanOp::LookupJoin { .. }
        | PlanOp::HashJoin { .. }
        | PlanOp::Project(_)
        | PlanOp::Distinct(_)
        | PlanOp::Reduced(_) => is_free || node.sorted_by.is_empty(),
        _ => false,
    }
}

/// The inputs by their places in the fragment.
fn with_numbered_inputs(mut node: PlanNode) -> PlanNode {
    fn number_inputs(node: &mut PlanNode, next: &mut u32) {
        if let PlanOp::Fragment { number } = &mut node.op {
            *number = *next;
            *next += 1;
        }
        node.children_mut().into_iter().for_each(|child| stack::room(|| number_inputs(child, next)));
    }
    number_inputs(&mut node, &mut 0);
    node
}

//! What others do with rows of fragments: joins of two of them, groups and DISTINCT, where all rows with the same values in some columns meet.
//!
//! The operators are ours on this side as well, with our memory and our spilling; between is only the exchange, which sends each row by the hash of those
//! columns. They are columns of ids that every process knows. Two rows that an operator has to see together have the same values in them, and unbound is
//! a value like others for groups and DISTINCT, while joins are spread by columns that both sides always bind.

use crate::error::FragmentError;
use crate::fragment::{Fragment, Input};
use crate::limits::{INPUTS_MAX, LEVELS_MAX};
use crate::narrow::{narrow, with_columns};
use crate::take_apart::{Exchange, Finder, levels};
use crate::two_steps::TwoSteps;
use lode_sparql::{PlanNode, PlanOp, VarId, stack};

/// Columns that rows are spread by, at most: more tell no more apart that matters.
const COLUMNS_MAX: usize = 4;

impl Finder<'_> {
    /// Puts fragments over rows of fragments in the place of what is worth it, from the top down.
    pub(crate) fn exchange(&mut self, node: &mut PlanNode, exchange: &Exchange) -> Result<(), FragmentError> {
        if self.lift(node, exchange)? || self.lift_parts(node, exchange)? {
            return Ok(());
        }
        let before = self.found.len();
        for child in node.children_mut() {
            stack::room(|| self.exchange(child, exchange))?;
        }
        if self.found.len() > before {
            self.lift(node, exchange)?;
        }
        Ok(())
    }

    /// The same for all of a sub-plan.
    fn lift(&mut self, node: &mut PlanNode, exchange: &Exchange) -> Result<bool, FragmentError> {
        if !node.sorted_by.is_empty() || !self.is_worth_it(node, exchange) {
            return Ok(false);
        }
        let by = self.spread_by(node);
        let Some(shipped) = self.over_inputs(node, by)? else { return Ok(false) };
        *node = shipped;
        Ok(true)
    }

    /// The same for what is below groups, which are made where the rows are. Who has few of them puts them together.
    fn lift_parts(&mut self, node: &mut PlanNode, exchange: &Exchange) -> Result<bool, FragmentError> {
        let (PlanOp::Group { input, .. } | PlanOp::Distinct(input)) = &node.op else { return Ok(false) };
        if !self.is_worth_it(input, exchange) {
            return Ok(false);
        }
        let by = self.spread_by(input);
        let Some(steps) = TwoSteps::of(node, &mut self.vars) else { return Ok(false) };
        let Some(parts) = self.over_inputs(&steps.inner, by)? else { return Ok(false) };
        steps.put_together(node, parts);
        self.lift_groups(node, exchange)?;
        Ok(true)
    }

    /// Many groups of parts are put together elsewhere as well.
    fn lift_groups(&mut self, node: &mut PlanNode, exchange: &Exchange) -> Result<(), FragmentError> {
        if matches!(node.op, PlanOp::Fragment { .. }) || self.lift(node, exchange)? {
            return Ok(());
        }
        node.children_mut().into_iter().try_for_each(|child| self.lift_groups(child, exchange))
    }

    /// Whether enough rows go through one of the operators above fragments.
    fn is_worth_it(&self, node: &PlanNode, exchange: &Exchange) -> bool {
        let is_worth_it = match &node.op {
            PlanOp::Fragment { .. } => return false,
            PlanOp::Group { .. } | PlanOp::Distinct(_) => node.rows >= exchange.rows_min,
            PlanOp::HashJoin { left, right, .. } => {
                self.exchanged.contains(&node.id) || left.rows + right.rows >= exchange.rows_min
            }
            _ => false,
        };
        is_worth_it
            || node.children().into_iter().any(|child| stack::room(|| self.is_worth_it(child, exchange)))
    }

    /// A fragment in the place of a sub-plan over fragments, whose rows are spread by these columns.
    fn over_inputs(
        &mut self,
        node: &PlanNode,
        by: Option<Vec<VarId>>,
    ) -> Result<Option<PlanNode>, FragmentError> {
        let Some(mut by) = by else { return Ok(None) };
        by.truncate(COLUMNS_MAX);
        let mut node = without_order(node.clone());
        let narrowed = self.narrowed(&mut node, &by)?;
        let mut inputs = Vec::new();
        collect_inputs(&node, &by, &mut inputs);
        let spread = inputs.iter().all(|input| input.by.len() == by.len());
        let travels = travels(&node).is_some_and(|levels| levels < LEVELS_MAX);
        if !spread || !travels || inputs.len() > INPUTS_MAX as usize {
            return Ok(None);
        }
        let Some(shipped) = self.ship(node, inputs)? else { return Ok(None) };
        for (number, fragment) in narrowed {
            if let Some(wider) = self.found.get_mut(number as usize) {
                *wider = fragment;
            }
        }
        Ok(Some(self.add(shipped)))
    }

    /// The fragments below a node that have columns which it does not need, without these; and the node without them.
    fn narrowed(
        &self,
        node: &mut PlanNode,
        by: &[VarId],
    ) -> Result<Vec<(u32, (Fragment, Vec<u8>))>, FragmentError> {
        let mut narrower = node.clone();
        let mut all = Vec::new();
        for (number, columns) in narrow(&mut narrower, by) {
            let Some((wider, _)) = self.found.get(number as usize) else { return Ok(Vec::new()) };
            let root = with_columns(&wider.plan.root, &columns);
            // What is cut by ranges has to be so still.
            if wider.inputs.is_empty() && !self.is_confined(&root) {
                return Ok(Vec::new());
            }
            let Some(fragment) = self.ship(root, wider.inputs.clone())? else { return Ok(Vec::new()) };
            all.push((number, fragment));
        }
        *node = narrower;
        Ok(all)
    }

    /// Columns by whose values the rows of all fragments below a node can be spread, so that each operator sees those together that it has to; none:
    /// there are no such columns.
    fn spread_by(&self, node: &PlanNode) -> Option<Vec<VarId>> {
        let below = |node| stack::room(|| self.spread_by(node));
        let within = |mut columns: Vec<VarId>, among: &[VarId]| {
            columns.retain(|var| among.contains(var));
            columns
        };
        let columns = match &node.op {
            PlanOp::Fragment { number } => {
                let (fragment, _) = self.found.get(*number as usize)?;
                node.vars.iter().copied().filter(|var| !fragment.terms.contains(var)).collect()
            }
            PlanOp::Filter { input, .. }
            | PlanOp::Extend { input, .. }
            | PlanOp::LookupJoin { input, .. }
            | PlanOp::Project(input)
            | PlanOp::Reduced(input) => below(input)?,
            PlanOp::Distinct(input) => within(below(input)?, &node.vars),
            PlanOp::Group { input, keys, .. } => within(below(input)?, keys),
            PlanOp::HashJoin { left, right, condition, .. } => {
                let both = within(below(left)?, &below(right)?);
                within(both, &condition.on)
            }
            _ => return None,
        };
        (!columns.is_empty()).then_some(columns)
    }
}

/// Levels of a sub-plan over fragments; none where something of it stays, or where it reads anything but them and what it looks up by their rows.
fn travels(node: &PlanNode) -> Option<usize> {
    let children = node.children();
    if children.is_empty() && !matches!(node.op, PlanOp::Fragment { .. }) {
        return None;
    }
    let mut below = Some(0);
    for child in children {
        let levels = stack::room(|| travels(child));
        below = below.zip(levels).map(|(most, levels)| most.max(levels));
    }
    levels(node, below)
}

/// The fragments whose rows a sub-plan needs, from the left to the right, with the places of these columns in them.
fn collect_inputs(node: &PlanNode, by: &[VarId], inputs: &mut Vec<Input>) {
    if let PlanOp::Fragment { number } = node.op {
        let places = by.iter().filter_map(|var| node.vars.iter().position(|own| own == var));
        inputs.push(Input { fragment: number, by: places.collect() });
    }
    node.children().into_iter().for_each(|child| stack::room(|| collect_inputs(child, by, inputs)));
}

/// The same sub-plan, which promises no order: rows that were exchanged come in none.
fn without_order(mut node: PlanNode) -> PlanNode {
    node.sorted_by.clear();
    if let PlanOp::Group { sorted, .. } = &mut node.op {
        *sorted = false;
    }
    for child in node.children_mut() {
        *child = stack::room(|| without_order(child.clone()));
    }
    node
}

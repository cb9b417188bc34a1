//! Common sub-plans: what a query has several times, up to the names of variables, is made once and read in each place (note 018).
//!
//! Places are found in [`Logical`], where they are still alike: plans of the same pattern differ by what surrounds them. A query is planned
//! with and without a common sub-plan, and the cheaper plan is taken; so a place whose surroundings leave little of its rows keeps a plan of its own.

mod matching;
mod pieces;

use super::cost;
use super::lowering::Lowering;
use super::node::{Planned, project};
use crate::logical::{Logical, LogicalOp};
use crate::plan::{PlanNode, PlanOp, VarId};
use crate::var_set::VarSet;
use pieces::Piece;
use std::sync::Arc;

/// Queries that cost less are not searched for common parts: a millisecond.
const QUERY_COST_MIN: f64 = 1e6;
/// What a common sub-plan must save of the query's cost.
const SAVED_PART: f64 = 0.1;
/// Common sub-plans of a query, at most.
const SPOOLS_MAX: usize = 4;
/// Ways to plan the whole query that are weighed for each.
const WAYS_MAX: usize = 3;
/// Rows of a common sub-plan, at most, as far as is known: more are likely to go to disk.
const ROWS_MAX: f64 = 16e6;

/// A query with the patterns of its common sub-plans.
#[derive(Clone)]
struct Query {
    root: Logical,
    columns: VarSet,
    spools: Vec<Logical>,
}

/// A plan for it.
struct Way {
    query: Query,
    root: Planned,
    spools: Vec<Option<Planned>>,
    cost: f64,
}

/// The plan for `logical` with these columns.
pub(super) fn plan(logical: &Logical, columns: Vec<VarId>, lowering: &Lowering<'_>) -> PlanNode {
    let wanted = columns.iter().copied().collect();
    let query = Query { root: logical.clone(), columns: wanted, spools: Vec::new() };
    let mut best = query.plan(lowering);
    while best.query.spools.len() < SPOOLS_MAX
        && (best.cost >= QUERY_COST_MIN || lowering.spools_always)
        && let Some(better) = best.improved(lowering)
    {
        best = better;
    }
    let mut root = project(best.root, columns).node;
    place_inputs(&mut root, &mut best.spools);
    root
}

/// Reads a common sub-plan; `columns`: pairs of a column here, and what it is there.
pub(super) fn reader(number: u32, columns: &[(VarId, VarId)], rows: &Planned) -> Planned {
    let here = |there: VarId| columns.iter().find(|(_, t)| *t == there).map(|(here, _)| *here);
    let sorted_by = rows.node.sorted_by.iter().map_while(|there| here(*there)).collect();
    let certain = rows.node.certain.iter().filter_map(|there| here(*there)).collect();
    let distinct = columns.iter().map(|(here, there)| (*here, rows.distinct_of(*there))).collect();
    let (vars, there): (Vec<VarId>, Vec<VarId>) = columns.iter().copied().unzip();
    let cost = cost::spool_read(rows.node.rows, columns.len());
    let op = PlanOp::Spool { number, columns: there, input: None };
    Planned::new(op, vars, &certain, sorted_by, rows.node.rows, cost, distinct)
}

impl Way {
    /// A cheaper way, with one more common sub-plan.
    fn improved(&self, lowering: &Lowering<'_>) -> Option<Self> {
        let roots: Vec<&Logical> = std::iter::once(&self.query.root).chain(&self.query.spools).collect();
        let mut promising: Vec<(f64, Query)> = Vec::new();
        for piece in pieces::pieces(&roots, &|| lowering.fresh()) {
            let Some((query, places)) = self.query.with(&piece) else { continue };
            let saved = self.saved_at_most(&query, places, lowering);
            if saved >= self.cost * SAVED_PART || lowering.spools_always {
                promising.push((saved, query));
            }
        }
        promising.sort_by(|a, b| b.0.total_cmp(&a.0));
        promising.truncate(if lowering.spools_always { 1 } else { WAYS_MAX });
        let ways = promising.into_iter().map(|(_, query)| query.plan(lowering));
        let best = ways.min_by(|a, b| a.cost.total_cmp(&b.cost))?;
        (best.cost <= self.cost * (1.0 - SAVED_PART) || lowering.spools_always).then_some(best)
    }

    /// What the last common sub-plan of a query saves if each of its places would have cost as much as it does.
    fn saved_at_most(&self, query: &Query, places: usize, lowering: &Lowering<'_>) -> f64 {
        let (Some(pattern), Some(number)) = (query.spools.last(), query.spools.len().checked_sub(1)) else {
            return 0.0;
        };
        lowering.restart();
        lowering.spools.borrow_mut().extend(self.spools.iter().cloned());
        // Patterns that read it are not needed for its own plan, unless they are part of it.
        if let Some(unplanned) = reads(pattern).into_iter().find(|n| *n as usize >= number) {
            debug_assert!(false, "common sub-plan {unplanned} reads itself");
            return 0.0;
        }
        let planned = lowering.best(pattern, &VarSet::new());
        if planned.node.rows > ROWS_MAX {
            return 0.0;
        }
        let (rows, columns) = (planned.node.rows, planned.node.vars.len());
        let others = places.saturating_sub(1) as f64;
        let reading = cost::spool_write(rows, columns) + cost::spool_read(rows, columns) * (others + 1.0);
        planned.node.cost * others - reading
    }
}

impl Query {
    /// The query with one more common sub-plan, if there are several places for it; and how many.
    fn with(&self, piece: &Piece) -> Option<(Self, usize)> {
        let number = u32::try_from(self.spools.len()).ok()?;
        let (root, mut places) = piece.replace(self.root.clone(), number);
        let mut spools = Vec::with_capacity(self.spools.len() + 1);
        for spool in &self.spools {
            let (spool, more) = piece.replace(spool.clone(), number);
            places += more;
            spools.push(spool);
        }
        spools.push(piece.pattern());
        let query = Self { root, columns: self.columns.clone(), spools }.pruned();
        (places > 1).then_some((query, places))
    }

    /// The query without columns that nobody reads.
    fn pruned(self) -> Self {
        let Self { root, columns, mut spools } = self;
        let root = crate::rewrite::pruned(root, &columns);
        let whole = spools.clone();
        // What one reads of another is settled when its own readers are.
        for _ in 0..spools.len() {
            let mut needed = vec![VarSet::new(); spools.len()];
            std::iter::once(&root).chain(&spools).for_each(|pattern| add_needed(pattern, &mut needed));
            for ((spool, whole), needed) in spools.iter_mut().zip(&whole).zip(&needed) {
                let kept = needed.intersect(&whole.vars);
                let pruned = crate::rewrite::pruned(whole.clone(), &kept);
                *spool = Logical::project(pruned, kept.as_slice().to_vec());
            }
        }
        Self { root, columns, spools }
    }

    fn plan(self, lowering: &Lowering<'_>) -> Way {
        lowering.restart();
        let mut spools: Vec<Option<Planned>> = vec![None; self.spools.len()];
        let mut cost = 0.0;
        for number in self.sequence() {
            lowering.spools.borrow_mut().clone_from(&spools);
            let Some(pattern) = self.spools.get(number) else { continue };
            let planned = lowering.best(pattern, &VarSet::new());
            cost += planned.node.cost + cost::spool_write(planned.node.rows, planned.node.vars.len());
            if let Some(spool) = spools.get_mut(number) {
                *spool = Some(planned);
            }
        }
        lowering.spools.borrow_mut().clone_from(&spools);
        let root = lowering.best(&self.root, &VarSet::new());
        cost += root.node.cost;
        Way { query: self, root, spools, cost }
    }

    /// The numbers of the common sub-plans, those that others read before these.
    fn sequence(&self) -> Vec<usize> {
        let mut sequence = Vec::new();
        while sequence.len() < self.spools.len() {
            let done = |number: &u32| sequence.contains(&(*number as usize));
            let ready = |(number, pattern): &(usize, &Logical)| {
                !sequence.contains(number) && reads(pattern).iter().all(done)
            };
            let Some((next, _)) = self.spools.iter().enumerate().find(ready) else { break };
            sequence.push(next);
        }
        sequence
    }
}

/// The common sub-plans that a pattern reads.
fn reads(pattern: &Logical) -> Vec<u32> {
    let mut found: Vec<u32> = pattern.inputs().into_iter().flat_map(reads).collect();
    if let LogicalOp::Spool { number, .. } = &pattern.op {
        found.push(*number);
    }
    found
}

fn add_needed(pattern: &Logical, needed: &mut [VarSet]) {
    if let LogicalOp::Spool { number, columns } = &pattern.op
        && let Some(needed) = needed.get_mut(*number as usize)
    {
        needed.extend(&columns.iter().map(|(_, there)| *there).collect());
    }
    pattern.inputs().into_iter().for_each(|input| add_needed(input, needed));
}

/// Gives the first reader of each common sub-plan its rows; what that adds to the cost.
fn place_inputs(node: &mut PlanNode, spools: &mut [Option<Planned>]) -> f64 {
    let mut added = 0.0;
    if let PlanOp::Spool { number, input, .. } = &mut node.op
        && let Some(rows) = spools.get_mut(*number as usize).and_then(Option::take)
    {
        added += rows.node.cost + cost::spool_write(rows.node.rows, rows.node.vars.len());
        *input = Some(Arc::new(rows.node));
    }
    added += node.children_mut().into_iter().map(|child| place_inputs(child, spools)).sum::<f64>();
    node.cost += added;
    added
}

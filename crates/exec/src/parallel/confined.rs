//! Sub-plans that others run, each confined to a range of values: what is a morsel for the threads of a process is a task for processes that have the
//! same version of a database.

use super::split::{Driver, between, chain_inputs, driver};
use crate::context::QueryContext;
use crate::morsel::Morsel;
use crate::pattern::Pattern;
use crate::range_scan::{rows_of, split_together};
use lode_eval::error::ExecError;
use lode_rdf::ValueId;
use lode_sparql::{JoinKind, PlanNode, PlanOp, VarId, stack};
use std::ops::Range;

const ALL: Range<ValueId> = ValueId::UNDEF..ValueId::MAX;

/// Whether the rows of a sub-plan are those of its parts, each of which is confined to some of the values that one column of its scans has. Then in
/// each part the rows come as the plan promises, and parts one after the other keep that order. `single_graph`: no quad is in a named graph.
pub fn may_be_confined(node: &PlanNode, single_graph: bool) -> bool {
    let Some(driver) = driver(single_graph, node) else { return false };
    let keeps_order = node.sorted_by.first().is_none_or(|first| driver.key == Some(*first));
    let mut patterns = driver.patterns(single_graph);
    keeps_order && !driver.reads_spools() && patterns.all(|(_, pattern)| pattern.is_divisible())
}

/// Whether each part of a sub-plan has groups of its own, of which others have parts as well: it groups, by no column that its input is confined by. Who has
/// the parts puts them together.
pub fn has_groups_in_parts(node: &PlanNode, single_graph: bool) -> bool {
    match &node.op {
        PlanOp::Group { input, sorted: false, .. } => {
            !may_be_confined(node, single_graph) && may_be_confined(input, single_graph)
        }
        _ => false,
    }
}

/// What drives a sub-plan that is run in parts.
fn driver_of_parts(node: &PlanNode, single_graph: bool) -> Result<Driver<'_>, ExecError> {
    let node = match &node.op {
        PlanOp::Group { input, .. } if has_groups_in_parts(node, single_graph) => input,
        _ => node,
    };
    let driver = driver(single_graph, node).filter(|_| may_be_confined(node, single_graph));
    driver.ok_or_else(|| ExecError::Internal("a sub-plan that has no parts by ranges of values".into()))
}

/// The variable whose values confine the parts of a sub-plan, and at most `parts` ranges of them with about equally much to read, of all scans together:
/// in their order, and together all values.
///
/// # Errors
///
/// Where the sub-plan has no such parts, or an index cannot be read.
pub fn key_ranges(
    cx: &QueryContext,
    node: &PlanNode,
    parts: usize,
) -> Result<(Option<VarId>, Vec<Range<ValueId>>), ExecError> {
    let single_graph = !cx.snapshot.has_named_graphs();
    let driver = driver_of_parts(node, single_graph)?;
    let mut patterns = Vec::new();
    for (_, pattern) in driver.patterns(single_graph).filter(|(_, pattern)| !pattern.impossible) {
        patterns.push((rows_of(&cx.snapshot, &pattern)?, pattern));
    }
    patterns.retain(|(rows, _)| *rows > 0);
    let starts = match patterns.len() {
        0 => Vec::new(),
        _ if parts < 2 => Vec::new(),
        1 => split_together(cx, &patterns, ALL, parts)?,
        _ => split_together(cx, &patterns, extent(cx, node, single_graph)?, parts)?,
    };
    Ok((driver.key, between(&starts)))
}

/// Values of the variable by which a sub-plan is confined between which it may have rows: of the others a scan that is joined reads nothing, and those beside
/// it pass over theirs. Subjects of one class often lie together, while properties that others have as well are elsewhere, too.
fn extent(cx: &QueryContext, node: &PlanNode, single_graph: bool) -> Result<Range<ValueId>, ExecError> {
    let of = |node: &PlanNode| stack::room(|| extent(cx, node, single_graph));
    Ok(match &node.op {
        PlanOp::IndexScan(pattern) => {
            let pattern = Pattern::new(pattern, |_| false, |_| false, single_graph);
            let found = match pattern.impossible {
                true => None,
                false => cx.snapshot.extent(pattern.order, &pattern.prefix())?,
            };
            let found = found.unwrap_or(ValueId::UNDEF..ValueId::UNDEF);
            pattern.range(Some(&found)).unwrap_or(found)
        }
        PlanOp::MergeJoin { left, right, kind: JoinKind::Inner | JoinKind::Semi, .. } => {
            let (left, right) = (of(left)?, of(right)?);
            let start = left.start.max(right.start);
            start..left.end.min(right.end).max(start)
        }
        PlanOp::MergeJoin { left, .. } => of(left)?,
        PlanOp::MergeUnion(inputs) => {
            let mut all = ValueId::MAX..ValueId::UNDEF;
            for input in inputs {
                let own = of(input)?;
                all = all.start.min(own.start)..all.end.max(own.end);
            }
            all.start.min(all.end)..all.end
        }
        PlanOp::MultiwayJoin(_) | PlanOp::Spool { .. } | PlanOp::Union(_) => ALL,
        _ => match chain_inputs(node).first() {
            Some(input) => of(input)?,
            None => ALL,
        },
    })
}

/// The part of a sub-plan whose values lie in `range`.
pub(crate) fn confined_to(
    node: &PlanNode,
    single_graph: bool,
    range: &Range<ValueId>,
) -> Result<Morsel, ExecError> {
    Ok(driver_of_parts(node, single_graph)?.confined_to(range))
}

//! Sub-plans that others run, each confined to a range of values: what is a morsel for the threads of a process is a task for processes that have the
//! same version of a database.

use super::split::{Driver, driver, value_ranges};
use crate::context::QueryContext;
use crate::morsel::Morsel;
use crate::range_scan::rows_of;
use lode_eval::error::ExecError;
use lode_rdf::ValueId;
use lode_sparql::{PlanNode, PlanOp, VarId};
use std::ops::Range;

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

/// The variable whose values confine the parts of a sub-plan, and at most `parts` ranges of them with about equally much to read: in their order,
/// and together all values.
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
    let whole = ValueId::UNDEF..ValueId::MAX;
    let ranges = match driver.largest(single_graph, |_, pattern| rows_of(&cx.snapshot, pattern))? {
        Some((rows, _, pattern)) if !pattern.impossible && rows > 0 && parts > 1 => {
            value_ranges(cx, &pattern, rows, parts)?
        }
        _ => vec![whole],
    };
    Ok((driver.key, ranges))
}

/// The part of a sub-plan whose values lie in `range`.
pub(crate) fn confined_to(
    node: &PlanNode,
    single_graph: bool,
    range: &Range<ValueId>,
) -> Result<Morsel, ExecError> {
    Ok(driver_of_parts(node, single_graph)?.confined_to(range))
}

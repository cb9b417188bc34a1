//! Plans as text.

use crate::plan::PlanOp;

/// The name of an operator.
pub fn op_name(op: &PlanOp) -> &'static str {
    match op {
        PlanOp::Unit => "Unit",
        PlanOp::Empty => "Empty",
        PlanOp::Values(_) => "Values",
        PlanOp::IndexScan(_) => "IndexScan",
        PlanOp::GraphNames { .. } => "GraphNames",
        PlanOp::MergeJoin { .. } => "MergeJoin",
        PlanOp::HashJoin { .. } => "HashJoin",
        PlanOp::LookupJoin { .. } => "LookupJoin",
        PlanOp::Filter { .. } => "Filter",
        PlanOp::Extend { .. } => "Extend",
        PlanOp::TripleTerm { .. } => "TripleTerm",
        PlanOp::Union(_) => "Union",
        PlanOp::Project(_) => "Project",
        PlanOp::Distinct(_) => "Distinct",
        PlanOp::Reduced(_) => "Reduced",
        PlanOp::Sort { .. } => "Sort",
        PlanOp::Slice { .. } => "Slice",
        PlanOp::Group { .. } => "Group",
        PlanOp::Path { .. } => "Path",
        PlanOp::ForEachGraph { .. } => "ForEachGraph",
        PlanOp::Service { .. } => "Service",
    }
}

//! Rewriting all join groups of a query.

use crate::expr::Expr;
use crate::logical::{Logical, LogicalOp};

/// Rewrites all join groups and filtered patterns, which are groups of one, from the leaves up.
pub(super) fn each_group(
    logical: Logical,
    rewrite: &mut dyn FnMut(Vec<Logical>, Vec<Expr>) -> Logical,
) -> Logical {
    let logical = logical.map_inputs(&mut |input| each_group(input, rewrite));
    match logical.op {
        LogicalOp::Filter { input, exprs } if matches!(input.op, LogicalOp::Scan(_)) => {
            rewrite(vec![*input], exprs)
        }
        LogicalOp::Join { members, filters } => rewrite(members, filters),
        op => Logical { op, ..logical },
    }
}

//! LIMIT goes below OPTIONAL. A left join gives each row of its left side at least once, so the first n of its rows come from n rows of the left,
//! whichever those are: of a LIMIT without an ORDER BY any n solutions are right, and what is kept is a part of the join's bag. Assignments and
//! projections between them give each row once. OFFSET rows are wanted, too.
//!
//! The planner sees then that little is looked for on the right, and looks it up.

use crate::logical::{Logical, LogicalOp as Op};

/// Puts limits on the left sides of left joins of which only some rows are wanted.
pub(super) fn push(logical: Logical) -> Logical {
    let logical = logical.map_inputs(&mut push);
    match logical.op {
        Op::Slice { input, start, length: Some(length) } => {
            Logical::slice(some_of(*input, start.saturating_add(length)), start, Some(length))
        }
        op => Logical { op, ..logical },
    }
}

/// The same rows, or at least `rows` of them.
fn some_of(logical: Logical, rows: usize) -> Logical {
    match logical.op {
        Op::Project { input, columns } => Logical::project(some_of(*input, rows), columns),
        Op::Extend { input, var, expr } => Logical::extend(some_of(*input, rows), var, expr),
        Op::LeftJoin { left, right, filter } => {
            let left = some_of(*left, rows);
            let few = matches!(left.op, Op::Slice { .. } | Op::Unit | Op::Values { .. } | Op::Empty);
            let left = if few { left } else { Logical::slice(left, 0, Some(rows)) };
            Logical::left_join(left, *right, filter)
        }
        op => Logical { op, ..logical },
    }
}

//! How much may be joined with each other: each row of a join has the columns of all its members, and so has each step on the way.

use crate::error::PlanError;
use crate::logical::{Logical, LogicalOp};

/// The most members of a join: patterns, and steps of property paths.
pub(crate) const MEMBERS_MAX: usize = 1_000;

/// Refuses joins of too many members.
pub(crate) fn check(logical: &Logical) -> Result<(), PlanError> {
    let mut open = vec![logical];
    while let Some(node) = open.pop() {
        if let LogicalOp::Join { members, .. } = &node.op
            && members.len() > MEMBERS_MAX
        {
            let found = members.len();
            let why = format!(
                "{found} patterns and steps of paths are joined with each other, of which {MEMBERS_MAX} are allowed"
            );
            return Err(PlanError::TooComplex(why));
        }
        open.extend(node.inputs());
    }
    Ok(())
}

//! Rewrites of [`Logical`] that hold whatever the data, or that the index proves right: what is empty vanishes, filters go down to where their variables are,
//! joins become flat, columns that nobody needs are not read.
//!
//! None changes the bag of solutions.

mod constants;
mod filters;
mod groups;
mod hoist;
mod optional;
mod prune;
mod simplify;
#[cfg(test)]
mod tests;
mod unify;

use crate::logical::Logical;
use crate::plan::VarId;
use crate::statistics::Statistics;

/// Rewrites a query of which these columns are wanted. One whose plan nobody waits for any more comes to nothing.
pub(crate) fn rewrite(logical: Logical, columns: &[VarId], stats: &dyn Statistics) -> Logical {
    let simplify = |logical| simplify::simplify(logical, stats);
    let push = |logical| filters::push(logical, Vec::new());
    let passes: [&dyn Fn(Logical) -> Logical; 9] = [
        &simplify,
        &push,
        &|logical| hoist::hoist(logical, stats),
        &simplify,
        &push,
        &|logical| unify::unify(logical, stats),
        &|logical| constants::replace(logical, stats),
        &simplify,
        &|logical| prune::prune(logical, &columns.iter().copied().collect()),
    ];
    passes.into_iter().fold(logical, |logical, pass| {
        if stats.is_cancelled() { Logical::empty(logical.vars) } else { pass(logical) }
    })
}

/// Drops what makes columns beyond those needed.
pub(crate) fn pruned(logical: Logical, needed: &crate::var_set::VarSet) -> Logical {
    prune::prune(logical, needed)
}

//! Limits that a query must keep before algebra is made of it.

use lode_syntax::Extent;

/// More operators than this in one query are refused: where they stand in a row, each makes the algebra one deeper.
const OPERATORS_MAX: usize = 20_000;
/// The same for brackets outside of data, which stand around groups, expressions, lists and blank nodes.
const BRACKETS_MAX: usize = 50_000;
/// The stack that is taken for a bracket in a bracket, as levels of a tree: a few rules, and a few nodes of the algebra.
const LEVELS_PER_BRACKET: usize = 4;
/// So many operators in a row take as much stack as a level: nothing is done with such a tree but to measure and to drop it.
const OPERATORS_PER_LEVEL: usize = 8;

/// What is too much, if something is.
pub(super) fn too_much(extent: Extent) -> Option<String> {
    match extent {
        Extent { operators, .. } if operators > OPERATORS_MAX => {
            Some(format!("more than {OPERATORS_MAX} operators in one query"))
        }
        Extent { brackets, .. } if brackets > BRACKETS_MAX => {
            Some(format!("more than {BRACKETS_MAX} brackets in one query"))
        }
        _ => None,
    }
}

/// As levels of a tree, as [`crate::stack::deep`] counts them.
pub(super) fn levels(extent: Extent) -> usize {
    extent.depth * LEVELS_PER_BRACKET + extent.operators / OPERATORS_PER_LEVEL
}

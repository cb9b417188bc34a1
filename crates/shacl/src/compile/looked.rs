//! What an expression is about.

use crate::model::Shape;

/// A node that is looked at: the variable of the focus node, and that of the value, which are the same in a node shape.
#[derive(Debug, Clone, Copy)]
pub struct Looked<'v> {
    pub shape: &'v Shape,
    pub focus: &'v str,
    pub value: &'v str,
}

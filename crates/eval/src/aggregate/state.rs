//! What computes an aggregate: its state for groups numbered from 0.

use crate::context::EvalContext;
use crate::error::ExecError;
use lode_rdf::ValueId;
use std::any::Any;
use std::fmt;

/// States of one aggregate, one per group.
pub(super) trait State: Any + fmt::Debug + Send {
    /// Makes room for groups `0..groups`.
    fn resize(&mut self, groups: usize);

    /// Adds `values[i]` (unbound: the argument was an error) to group `groups[i]`.
    fn update(&mut self, cx: &EvalContext, groups: &[u32], values: &[ValueId]) -> Result<(), ExecError>;

    /// Adds the states of `other`, which is of the same type, and whose group `i` is group `groups[i]` here.
    fn merge(&mut self, cx: &EvalContext, other: Box<dyn State>, groups: &[u32]) -> Result<(), ExecError>;

    /// The result of a group; unbound for an error.
    fn finish(&self, cx: &EvalContext, group: usize) -> Result<ValueId, ExecError>;

    /// Bytes held, about.
    fn bytes(&self) -> usize;
}

/// Makes empty states; with what GROUP_CONCAT puts between values.
pub(super) struct Kernel(pub fn(Option<&str>) -> Box<dyn State>);

/// The states of `other`, if they are of this type.
pub(super) fn same<S: State>(other: Box<dyn State>) -> Option<Box<S>> {
    let other: Box<dyn Any> = other;
    let same = other.downcast().ok();
    debug_assert!(same.is_some(), "states of different aggregates");
    same
}

/// The states of what no entry of the list is: each use is an error.
#[derive(Debug)]
pub(super) struct Missing(pub &'static str);

impl Missing {
    fn error<T>(&self) -> Result<T, ExecError> {
        Err(ExecError::Internal(format!("nothing computes the aggregate {}", self.0)))
    }
}

impl State for Missing {
    fn resize(&mut self, _: usize) {}

    fn update(&mut self, _: &EvalContext, _: &[u32], _: &[ValueId]) -> Result<(), ExecError> {
        self.error()
    }

    fn merge(&mut self, _: &EvalContext, _: Box<dyn State>, _: &[u32]) -> Result<(), ExecError> {
        self.error()
    }

    fn finish(&self, _: &EvalContext, _: usize) -> Result<ValueId, ExecError> {
        self.error()
    }

    fn bytes(&self) -> usize {
        0
    }
}

//! What one thread does: one morsel after the other, until there are no more.

use crate::morsel::{Assignment, Queue, Running};
use crate::operator::{BoxOp, Operator};
use crate::shared::Shared;
use lode_eval::batch::Batch;
use lode_eval::error::ExecError;
use std::sync::Arc;

/// Runs one morsel after the other.
pub(super) struct Pipeline {
    shared: Arc<Shared>,
    node: u32,
    queue: Arc<Queue>,
    shares: bool,
    current: Option<(BoxOp, Option<Running>)>,
}

impl Pipeline {
    /// Of the sub-plan of `node`. `shares`: waits for what others give away, and gives away.
    pub(super) fn new(shared: &Arc<Shared>, node: u32, queue: &Arc<Queue>, shares: bool) -> Self {
        Self { shared: Arc::clone(shared), node, queue: Arc::clone(queue), shares, current: None }
    }

    fn take(&self) -> Result<Option<(BoxOp, Option<Running>)>, ExecError> {
        let (morsel, running) = match self.shares {
            true => self.queue.take().map(|(morsel, running)| (morsel, Some(running))),
            false => self.queue.next().map(|(_, morsel)| (morsel.clone(), None)),
        }
        .unzip();
        let Some(morsel) = morsel else { return Ok(None) };
        let assignment = Assignment::morsel(&morsel, self.shares.then_some(&self.queue));
        let operator = self.shared.build(assignment, self.shared.node(self.node)?, false)?;
        Ok(Some((operator, running.flatten())))
    }
}

impl Operator for Pipeline {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        loop {
            if self.queue.is_closed() {
                out.clear();
                return Ok(false);
            }
            if let Some((current, _)) = &mut self.current {
                if current.next(out)? {
                    return Ok(true);
                }
                self.current = None;
            }
            self.current = self.take()?;
            if self.current.is_none() {
                out.clear();
                return Ok(false);
            }
        }
    }
}

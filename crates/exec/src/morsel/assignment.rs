//! What a thread has to do of a plan.

use super::part::{Morsel, Part};
use super::queue::Queue;
use lode_rdf::ValueId;
use std::ops::Range;
use std::sync::Arc;

/// One morsel of a sub-plan, or (the default) all of it.
#[derive(Clone, Copy, Default)]
pub(crate) struct Assignment<'a> {
    morsel: Option<&'a Morsel>,
    /// Where scans give rows away that other threads wait for.
    queue: Option<&'a Arc<Queue>>,
}

impl<'a> Assignment<'a> {
    /// One morsel, of which the thread gives some to those who wait at `queue`.
    pub(crate) fn morsel(morsel: &'a Morsel, queue: Option<&'a Arc<Queue>>) -> Self {
        Self { morsel: Some(morsel), queue }
    }

    /// Whether it is all of the sub-plan, of which parts may be handed to other threads.
    pub(crate) fn is_whole(&self) -> bool {
        self.morsel.is_none()
    }

    /// The range that a scan is confined to.
    pub(crate) fn range(&self, scan: u32) -> Option<&'a Range<ValueId>> {
        self.morsel?.range(scan)
    }

    /// The part that is read of the rows of a common sub-plan.
    pub(crate) fn part(&self, spool: u32) -> Option<&'a Part> {
        self.morsel?.part(spool)
    }

    /// The branch of a UNION that alone is run.
    pub(crate) fn branch(&self, union: u32) -> Option<usize> {
        self.morsel?.branch(union)
    }

    /// The queue at which threads wait for rows of this scan.
    pub(crate) fn queue(&self, scan: u32) -> Option<&'a Arc<Queue>> {
        self.queue.filter(|queue| queue.divides(scan))
    }
}

//! Giving back what many allocations hold, without anybody waiting for it.

use crate::scheduler::Scheduler;

/// Values with memory of their own each: many of them are given back by another thread, since that takes as long as it took to make them, and
/// a query that was cancelled should end at once.
pub(crate) struct Later<T: Send + 'static>(Vec<T>);

/// Fewer are given back at once.
const LATER_MIN: usize = 1 << 16;

impl<T: Send + 'static> Later<T> {
    pub(crate) fn new(values: Vec<T>) -> Self {
        Self(values)
    }
}

impl<T: Send + 'static> std::ops::Deref for Later<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T: Send + 'static> std::ops::DerefMut for Later<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

impl<T: Send + 'static> Drop for Later<T> {
    fn drop(&mut self) {
        if self.0.len() >= LATER_MIN {
            let values = std::mem::take(&mut self.0);
            Scheduler::shared().submit(Box::new(move || drop(values)));
        }
    }
}

//! A block that is being loaded, for the threads that want it at the same moment.

use std::any::Any;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

type AnyBlock = Arc<dyn Any + Send + Sync>;

/// A block that a thread loads, for others that wait for it.
#[derive(Debug, Default)]
pub(super) struct Loading {
    state: Mutex<LoadState>,
    done: Condvar,
}

#[derive(Debug, Default)]
pub(super) enum LoadState {
    #[default]
    Running,
    Done(AnyBlock),
    /// It failed: who wants the block tries by itself.
    Failed,
}

impl Loading {
    fn lock(&self) -> MutexGuard<'_, LoadState> {
        // A panic of another holder leaves a state that is whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The block, once it is there; none where it could not be loaded.
    pub fn wait(&self) -> Option<AnyBlock> {
        let mut state = self.lock();
        loop {
            match &*state {
                LoadState::Running => {
                    state = self.done.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                LoadState::Done(block) => return Some(Arc::clone(block)),
                LoadState::Failed => return None,
            }
        }
    }

    /// Tells those who wait how it ended.
    pub fn end(&self, found: LoadState) {
        *self.lock() = found;
        self.done.notify_all();
    }
}

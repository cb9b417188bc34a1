//! Long statements, one at a time: whoever reads a piece that must grow beyond the usual, because a statement does not end in it, waits until
//! the long piece before has been worked on. So what a load holds of them does not grow with the number of files that are read at once.

use lode_base::cancel::{CancelToken, Cancelled};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Between two looks at whether to go on.
const CHECK_EVERY: Duration = Duration::from_millis(20);

/// Lets one long piece be at a time.
#[derive(Debug, Clone, Default)]
pub(crate) struct LongPieces(Arc<Turn>);

#[derive(Debug, Default)]
struct Turn {
    taken: Mutex<bool>,
    free: Condvar,
}

/// The right to be a long piece, until it is dropped.
#[derive(Debug)]
pub(crate) struct LongPiece(Arc<Turn>);

impl LongPieces {
    /// Waits until there is no other.
    pub fn wait(&self, cancel: &CancelToken) -> Result<LongPiece, Cancelled> {
        let mut taken = self.0.lock();
        while *taken {
            cancel.check()?;
            let wait = self.0.free.wait_timeout(taken, CHECK_EVERY);
            (taken, _) = wait.unwrap_or_else(PoisonError::into_inner);
        }
        *taken = true;
        Ok(LongPiece(Arc::clone(&self.0)))
    }
}

impl Turn {
    fn lock(&self) -> MutexGuard<'_, bool> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for LongPiece {
    fn drop(&mut self) {
        *self.0.lock() = false;
        self.0.free.notify_one();
    }
}

#[cfg(test)]
mod tests {
    //! One at a time, and an end to waiting.
    use super::LongPieces;
    use lode_base::cancel::CancelToken;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn there_is_one_at_a_time() {
        let (pieces, now, cancel) = (LongPieces::default(), AtomicUsize::new(0), CancelToken::default());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let piece = pieces.wait(&cancel).unwrap();
                        assert_eq!(now.fetch_add(1, Ordering::SeqCst), 0);
                        std::thread::yield_now();
                        now.fetch_sub(1, Ordering::SeqCst);
                        drop(piece);
                    }
                });
            }
        });
        let held = pieces.wait(&cancel).unwrap();
        cancel.cancel();
        assert!(pieces.wait(&cancel).is_err());
        drop(held);
        assert!(pieces.wait(&CancelToken::default()).is_ok());
    }
}

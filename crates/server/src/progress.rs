//! How far the answers of a connection are: with HTTP/2 a client can take nothing of one answer while its connection does all that it
//! should, and so hold a query, its memory and its version.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The answers of a connection that wait for its client.
#[derive(Debug, Default)]
pub(crate) struct Answers(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    next: u64,
    /// Since when a piece of an answer waits to be taken.
    since: BTreeMap<u64, Instant>,
}

impl Answers {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // What is guarded here is whole at any time.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new answer.
    pub(crate) fn enter(self: &Arc<Self>) -> Progress {
        let mut waiting = self.lock();
        waiting.next += 1;
        Progress { answers: Arc::clone(self), number: waiting.next }
    }

    /// Whether a client has let one of its answers wait for so long.
    pub(crate) fn is_stalled(&self, patience: Duration) -> bool {
        self.lock().since.values().any(|since| since.elapsed() >= patience)
    }
}

/// One answer, forgotten when dropped.
#[derive(Debug)]
pub(crate) struct Progress {
    answers: Arc<Answers>,
    number: u64,
}

impl Progress {
    /// A piece was handed to the connection: the next is asked for once there is room for it.
    pub(crate) fn handed(&self) {
        self.answers.lock().since.insert(self.number, Instant::now());
    }

    /// There is room, but nothing to send yet.
    pub(crate) fn is_awaited(&self) {
        self.answers.lock().since.remove(&self.number);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.is_awaited();
    }
}

#[cfg(test)]
mod tests {
    //! Who keeps whom waiting.
    use super::Answers;
    use std::sync::Arc;
    use std::time::Duration;

    #[test]
    fn only_a_client_that_does_not_take_what_is_there_stalls() {
        let answers = Arc::new(Answers::default());
        let (one, other) = (answers.enter(), answers.enter());
        assert!(!answers.is_stalled(Duration::ZERO));
        one.handed();
        other.handed();
        assert!(answers.is_stalled(Duration::ZERO) && !answers.is_stalled(Duration::from_secs(3600)));
        one.is_awaited();
        assert!(answers.is_stalled(Duration::ZERO));
        drop(other);
        assert!(!answers.is_stalled(Duration::ZERO));
    }
}

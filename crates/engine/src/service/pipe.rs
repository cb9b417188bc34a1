//! Bytes from the thread that talks to an endpoint to the one that reads the answer: a queue with a limit. Either side may leave.

use lode_base::cancel::CancelToken;
use lode_exec::service::ServiceError;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Bytes of a piece.
pub(super) const PIECE_BYTES: usize = 32 << 10;
/// Pieces that wait to be read.
const PIECES_MAX: usize = 4;
/// What the pieces of a pipe take, with those in the hands of both sides.
pub(super) const HELD_BYTES: usize = (PIECES_MAX + 2) * PIECE_BYTES;
/// Who waits for an answer looks so often whether anybody still wants it.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What came before the rows.
#[derive(Debug, Clone)]
pub(super) struct Head {
    /// `Content-Type`.
    pub(super) media_type: Option<String>,
}

/// The queue.
#[derive(Debug, Default)]
pub(super) struct Pipe {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    head: Option<Head>,
    pieces: VecDeque<Vec<u8>>,
    /// Nothing more comes; why, where that is an error.
    end: Option<Result<(), String>>,
    /// Nobody reads any more.
    is_closed: bool,
}

impl Pipe {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer begins.
    pub(super) fn begin(&self, head: Head) {
        self.lock().head = Some(head);
        self.changed.notify_all();
    }

    /// Hands a piece over when there is room; `false`: nobody wants it.
    pub(super) fn push(&self, piece: Vec<u8>) -> bool {
        let full = |state: &mut State| !state.is_closed && state.pieces.len() >= PIECES_MAX;
        let mut state = self.changed.wait_while(self.lock(), full).unwrap_or_else(PoisonError::into_inner);
        state.pieces.push_back(piece);
        self.changed.notify_all();
        !state.is_closed
    }

    /// Nothing more comes.
    pub(super) fn end(&self, result: Result<(), String>) {
        self.lock().end.get_or_insert(result);
        self.changed.notify_all();
    }

    /// Nobody reads any more.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        state.pieces.clear();
        self.changed.notify_all();
    }

    /// Whether nobody reads any more.
    pub(super) fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    /// What came before the rows; waits for it.
    pub(super) fn head(&self, cancel: &CancelToken) -> Result<Head, ServiceError> {
        self.wait(cancel, |state| match (&state.head, &state.end) {
            (Some(head), _) => Some(Ok(head.clone())),
            (None, Some(Err(message))) => Some(Err(ServiceError::Failed(message.clone()))),
            (None, Some(Ok(()))) => Some(Err(ServiceError::Failed("did not answer".to_owned()))),
            (None, None) => None,
        })
    }

    /// The next piece, none at the end; waits for it.
    pub(super) fn pop(&self, cancel: &CancelToken) -> Result<Option<Vec<u8>>, ServiceError> {
        let piece = self.wait(cancel, |state| match (state.pieces.pop_front(), &state.end) {
            (Some(piece), _) => Some(Ok(Some(piece))),
            (None, Some(Ok(()))) => Some(Ok(None)),
            (None, Some(Err(message))) => Some(Err(ServiceError::Failed(message.clone()))),
            (None, None) => None,
        })?;
        self.changed.notify_all();
        Ok(piece)
    }

    /// Waits until there is something; other threads work meanwhile.
    fn wait<T>(
        &self,
        cancel: &CancelToken,
        mut ready: impl FnMut(&mut State) -> Option<Result<T, ServiceError>>,
    ) -> Result<T, ServiceError> {
        cancel.check()?;
        if let Some(result) = ready(&mut self.lock()) {
            return result;
        }
        lode_exec::waiting(|| {
            let mut state = self.lock();
            loop {
                if let Some(result) = ready(&mut state) {
                    return result;
                }
                cancel.check()?;
                let waited = self.changed.wait_timeout(state, LOOK_EVERY);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        })
    }
}

//! Ctrl-C while a query runs: it is cancelled, and the program goes on.

use lode_engine::CancelToken;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, OnceLock, PoisonError};

/// What Ctrl-C cancels.
static CANCELLED: Mutex<Option<CancelToken>> = Mutex::new(None);

/// While it lives, Ctrl-C cancels what it was made for. From the first on, Ctrl-C ends the process no more.
pub struct Interruptible(());

impl Interruptible {
    /// For all who look at this token.
    pub fn new(token: &CancelToken) -> Self {
        static LISTENS: OnceLock<()> = OnceLock::new();
        set(Some(token.clone()));
        LISTENS.get_or_init(|| {
            let (ready, is_ready) = channel();
            std::thread::spawn(move || listen(&ready));
            // A thread that ended at once listens to nothing: then Ctrl-C ends the process, as ever.
            let _ = is_ready.recv();
        });
        Self(())
    }
}

impl Drop for Interruptible {
    fn drop(&mut self) {
        set(None);
    }
}

fn set(token: Option<CancelToken>) {
    *CANCELLED.lock().unwrap_or_else(PoisonError::into_inner) = token;
}

fn listen(ready: &Sender<()>) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    runtime.block_on(async {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let Ok(mut interrupts) = signal(SignalKind::interrupt()) else { return };
            let _ = ready.send(());
            while interrupts.recv().await.is_some() {
                cancel();
            }
        }
        #[cfg(not(unix))]
        {
            let _ = ready.send(());
            while tokio::signal::ctrl_c().await.is_ok() {
                cancel();
            }
        }
    });
}

fn cancel() {
    if let Some(token) = &*CANCELLED.lock().unwrap_or_else(PoisonError::into_inner) {
        token.cancel();
    }
}

//! Removing large temporary files without anybody waiting for it: the file system takes a second for some gigabytes, and a query that was
//! cancelled should end at once.

use std::sync::OnceLock;
use std::sync::mpsc::{SyncSender, channel, sync_channel};
use std::thread;

/// Smaller files are removed at once.
const BYTES_LARGE: u64 = 8 << 20;
/// Where more wait, who wants to remove one does it.
const WAITING_MAX: usize = 1024;

type Job = Box<dyn FnOnce() + Send>;

/// The thread that removes files; none where it could not be started.
static REMOVER: OnceLock<Option<SyncSender<Job>>> = OnceLock::new();

fn start() -> Option<SyncSender<Job>> {
    let (sender, jobs) = sync_channel::<Job>(WAITING_MAX);
    let remove = move || jobs.into_iter().for_each(|job| job());
    thread::Builder::new().name("remove-files".to_owned()).spawn(remove).ok()?;
    Some(sender)
}

/// Calls `remove`, which removes a file of so many bytes, now or soon.
pub fn remove_soon(bytes: u64, remove: impl FnOnce() + Send + 'static) {
    let remover = if bytes < BYTES_LARGE { &None } else { REMOVER.get_or_init(start) };
    match remover {
        None => remove(),
        Some(sender) => {
            if let Err(refused) = sender.try_send(Box::new(remove)) {
                let (std::sync::mpsc::TrySendError::Full(job)
                | std::sync::mpsc::TrySendError::Disconnected(job)) = refused;
                job();
            }
        }
    }
}

/// Waits until all temporary files are removed that queries which have ended have left: for who ends the process.
pub fn wait_for_removals() {
    let Some(Some(sender)) = REMOVER.get() else { return };
    let (done, all_done) = channel();
    // The jobs before this one are done first.
    let tell = move || done.send(()).unwrap_or(());
    if sender.send(Box::new(tell)).is_ok() {
        let _ = all_done.recv();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn small_files_are_removed_at_once_and_large_ones_before_the_wait_ends() {
        let removed = Arc::new(AtomicU64::new(0));
        let remove = |bytes| {
            let removed = Arc::clone(&removed);
            remove_soon(bytes, move || {
                removed.fetch_add(1, Ordering::Relaxed);
            });
        };
        remove(1);
        assert_eq!(removed.load(Ordering::Relaxed), 1);
        for _ in 0..3 * WAITING_MAX {
            remove(BYTES_LARGE);
        }
        wait_for_removals();
        assert_eq!(removed.load(Ordering::Relaxed), 3 * WAITING_MAX as u64 + 1);
    }
}

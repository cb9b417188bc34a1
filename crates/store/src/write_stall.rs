//! Slows down who adds segments faster than they are merged, as leveldb does where its level 0 grows.

use crate::store::Store;
use lode_base::cancel::{CancelToken, Cancelled};
use std::time::{Duration, Instant};

/// From so many segments on whoever adds one waits,
const SLOW_FROM: usize = 32;
/// for each segment above that so long,
const WAIT_PER_SEGMENT: Duration = Duration::from_millis(100);
/// but not longer than this: a merge that takes very long, or fails, keeps nobody from writing.
const WAIT_MAX: Duration = Duration::from_secs(5);
/// How often it looks whether there are fewer.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Stalls a writer of segments for a while where there are very many and somebody merges them.
pub fn stall_while_crowded(store: &Store, cancel: &CancelToken) -> Result<(), Cancelled> {
    let start = Instant::now();
    while store.compaction_lock().is_locked() && start.elapsed() < wait(store.version().segments.len()) {
        cancel.check()?;
        std::thread::sleep(LOOK_EVERY);
    }
    Ok(())
}

fn wait(segments: usize) -> Duration {
    let above = u32::try_from(segments.saturating_sub(SLOW_FROM)).unwrap_or(u32::MAX);
    WAIT_PER_SEGMENT.saturating_mul(above).min(WAIT_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_data::open;
    use lode_base::mem_vfs::MemVfs;

    #[test]
    fn it_waits_the_longer_the_more_segments_there_are_and_never_for_ever() {
        let waits = [0, 32, 33, 42, 82, usize::MAX].map(|segments| wait(segments).as_millis());
        assert_eq!(waits, [0, 0, 100, 1000, 5000, 5000]);
    }

    #[test]
    fn nobody_waits_where_nobody_merges_or_there_are_few_segments() {
        let store = open(&MemVfs::new());
        let cancel = CancelToken::default();
        stall_while_crowded(&store, &cancel).unwrap();
        assert!(store.compaction_lock().try_lock());
        stall_while_crowded(&store, &cancel).unwrap();
        store.compaction_lock().unlock();
        assert!(!store.compaction_lock().is_locked());
    }
}

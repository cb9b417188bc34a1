//! What a store knows of the room on its disk.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What a store knows of the room on its disk.
#[derive(Debug, Default)]
pub(crate) struct Room {
    pub is_full: AtomicBool,
    pub releases: AtomicU64,
    pub reopenings: AtomicU64,
    /// Bytes of the reserve, or of the last one; none where there was none yet. Held by whoever gives it up or makes it.
    pub bytes: Mutex<Option<u64>>,
}

impl Room {
    /// Whether only what makes room is done.
    pub fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }

    /// How often there was room again: whoever rests since the disk was full need not rest on.
    pub fn reopenings(&self) -> u64 {
        self.reopenings.load(Ordering::Relaxed)
    }
}

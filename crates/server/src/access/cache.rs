//! Passwords that were right a short time ago, by a keyed hash: to check one takes as long as a hundred queries.

use super::rights::Rights;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// So long a password need not be checked again.
const TIME_MAX: Duration = Duration::from_secs(60);
/// So many are known at most.
const ENTRIES_MAX: usize = 1024;

/// What is known of them.
#[derive(Debug)]
pub(super) struct Cache {
    key: [u8; 32],
    known: Mutex<HashMap<[u8; 32], (Arc<Rights>, Instant)>>,
}

impl Cache {
    /// Of nobody yet, with a key of its own; none without randomness.
    pub(super) fn new() -> Option<Self> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).ok()?;
        Some(Self { key, known: Mutex::default() })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<[u8; 32], (Arc<Rights>, Instant)>> {
        // What is guarded here is whole at any time.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A name and a password. The name has no end of its own, so its length goes before it.
    fn hash(&self, name: &str, password: &str) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(self.key);
        hash.update((name.len() as u64).to_le_bytes());
        hash.update(name);
        hash.update(password);
        hash.finalize().into()
    }

    pub(super) fn get(&self, name: &str, password: &str) -> Option<Arc<Rights>> {
        let hash = self.hash(name, password);
        let known = self.lock();
        let (rights, since) = known.get(&hash)?;
        (since.elapsed() < TIME_MAX).then(|| Arc::clone(rights))
    }

    pub(super) fn put(&self, name: &str, password: &str, rights: &Arc<Rights>) {
        let hash = self.hash(name, password);
        let mut known = self.lock();
        if known.len() >= ENTRIES_MAX {
            known.retain(|_, (_, since)| since.elapsed() < TIME_MAX);
        }
        if known.len() < ENTRIES_MAX {
            known.insert(hash, (Arc::clone(rights), Instant::now()));
        }
    }
}

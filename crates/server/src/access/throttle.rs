//! Failed logins make the next ones wait: each of a name from one address, and many names from one address.

use crate::listener::Peer;
use crate::network::network_of;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The first failures cost nothing: people mistype.
const FREE: u32 = 3;
/// Of all names from one address together so many.
const FREE_OF_ADDRESS: u32 = 20;
/// The next attempt waits so long, then twice as long, and so on,
const FIRST: Duration = Duration::from_millis(500);
/// up to this.
const LONGEST: Duration = Duration::from_secs(30);
/// After so long failures are forgotten.
const FORGET: Duration = Duration::from_secs(600);
/// So many are remembered.
const ENTRIES_MAX: usize = 10_000;

/// Whose failures: those of a name from an address, or of the address.
type Key = (Option<IpAddr>, Option<String>);

/// The failures of late.
#[derive(Debug, Default)]
pub(super) struct Throttle(Mutex<HashMap<Key, Failures>>);

#[derive(Debug, Clone, Copy)]
struct Failures {
    count: u32,
    last: Instant,
}

impl Failures {
    fn wait(&self, free: u32) -> Duration {
        let beyond = self.count.saturating_sub(free);
        if beyond == 0 {
            return Duration::ZERO;
        }
        let wait = FIRST.saturating_mul(1_u32.checked_shl(beyond - 1).unwrap_or(u32::MAX)).min(LONGEST);
        wait.saturating_sub(self.last.elapsed())
    }
}

impl Throttle {
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Failures>> {
        // What is guarded here is whole at any time.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long the next attempt must wait.
    pub(super) fn wait(&self, peer: Peer, name: &str) -> Duration {
        let failures = self.lock();
        let wait =
            |(key, free): (Key, u32)| failures.get(&key).map_or(Duration::ZERO, |found| found.wait(free));
        keys(peer, name).map(wait).into_iter().max().unwrap_or_default()
    }

    /// Notes a failure.
    pub(super) fn failed(&self, peer: Peer, name: &str) {
        let mut failures = self.lock();
        if failures.len() >= ENTRIES_MAX {
            failures.retain(|_, found| found.last.elapsed() < FORGET);
        }
        if failures.len() >= ENTRIES_MAX {
            // Who tries so many names is slowed down by the address.
            failures.retain(|key, _| key.1.is_none());
        }
        if failures.len() >= ENTRIES_MAX {
            failures.clear();
        }
        for (key, _) in keys(peer, name) {
            let found = failures.entry(key).or_insert(Failures { count: 0, last: Instant::now() });
            found.count = if found.last.elapsed() < FORGET { found.count.saturating_add(1) } else { 1 };
            found.last = Instant::now();
        }
    }

    /// Forgets the failures of a name.
    pub(super) fn succeeded(&self, peer: Peer, name: &str) {
        let [(key, _), _] = keys(peer, name);
        self.lock().remove(&key);
    }
}

fn keys(peer: Peer, name: &str) -> [(Key, u32); 2] {
    let address = match peer {
        Peer::Tcp(address) => Some(network_of(address.ip())),
        Peer::Unix => None,
    };
    [((address, Some(name.to_owned())), FREE), ((address, None), FREE_OF_ADDRESS)]
}

#[cfg(test)]
mod tests {
    //! Who waits for whose failures.
    use super::{FREE, FREE_OF_ADDRESS, LONGEST, Throttle};
    use crate::listener::Peer;
    use std::time::Duration;

    fn peer(address: &str) -> Peer {
        Peer::Tcp(format!("{address}:1").parse().unwrap())
    }

    #[test]
    fn failures_of_a_name_slow_down_that_name_from_there() {
        let (throttle, here, there) = (Throttle::default(), peer("10.0.0.1"), peer("10.0.0.2"));
        (0..FREE).for_each(|_| throttle.failed(here, "ann"));
        assert_eq!(throttle.wait(here, "ann"), Duration::ZERO);
        throttle.failed(here, "ann");
        let first = throttle.wait(here, "ann");
        assert!(!first.is_zero());
        (0..12).for_each(|_| throttle.failed(here, "ann"));
        let long = throttle.wait(here, "ann");
        assert!(long > first && long <= LONGEST, "{long:?}");
        assert!(throttle.wait(here, "bob").is_zero() && throttle.wait(there, "ann").is_zero());
        throttle.succeeded(here, "ann");
        assert!(throttle.wait(here, "ann").is_zero());
    }

    #[test]
    fn many_names_slow_down_the_address_and_its_network() {
        let throttle = Throttle::default();
        for number in 0..=FREE_OF_ADDRESS {
            throttle.failed(peer(&format!("[2001:db8::{number:x}]")), &format!("name{number}"));
        }
        assert!(!throttle.wait(peer("[2001:db8::ffff]"), "new").is_zero());
        assert!(throttle.wait(peer("[2001:db8:0:1::1]"), "new").is_zero());
        (0..30_000).for_each(|number| throttle.failed(Peer::Unix, &number.to_string()));
        assert!(throttle.0.lock().unwrap().len() <= super::ENTRIES_MAX + 1);
    }
}

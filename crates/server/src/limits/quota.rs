//! How many requests each user, or each client without a name, has sent of late, and has on their way.
//!
//! A bucket of tokens for each: it holds as many as may be sent in a minute, each request takes one, and they come back evenly. Who has all of
//! them and nothing on the way is forgotten when room is needed; where so many are active that there is none, newcomers share one bucket.

use super::Granted;
use crate::access::Identity;
use crate::error::HttpError;
use crate::listener::Peer;
use crate::network::network_of;
use axum::http::StatusCode;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// So many are remembered.
const ENTRIES_MAX: usize = 10_000;
/// To look for some that can be forgotten takes time: not more often than this.
const SWEEP_EVERY: Duration = Duration::from_secs(1);
/// Who has too many on their way may come back then.
const BUSY: Duration = Duration::from_secs(1);

/// Whose requests are counted together.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Who {
    User(Arc<str>),
    /// The address of a client without a name; none of the socket of the file system.
    Client(Option<IpAddr>),
    /// All that there was no room for.
    Others,
}

impl Who {
    pub(crate) fn new(identity: &Identity, peer: Peer) -> Self {
        match (&identity.name, peer) {
            (Some(name), _) => Self::User(Arc::clone(name)),
            (None, Peer::Tcp(address)) => Self::Client(Some(network_of(address.ip()))),
            (None, Peer::Unix) => Self::Client(None),
        }
    }
}

/// The counts.
#[derive(Debug, Default)]
pub(crate) struct Quotas(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    of: HashMap<Who, Count>,
    swept: Option<Instant>,
}

#[derive(Debug)]
struct Count {
    running: u32,
    /// When all tokens are there again.
    full_at: Instant,
}

/// A request's place among those that are on their way; given back when dropped.
#[derive(Debug)]
pub(crate) struct Place {
    quotas: Arc<Quotas>,
    who: Who,
}

impl Quotas {
    fn lock(&self) -> MutexGuard<'_, Counts> {
        // What is guarded here is whole at any time.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a request, or refuses it with 429; none where there is no limit.
    pub(crate) fn enter(self: &Arc<Self>, who: Who, granted: &Granted) -> Result<Option<Place>, HttpError> {
        self.enter_at(who, granted, Instant::now())
    }

    fn enter_at(
        self: &Arc<Self>,
        who: Who,
        granted: &Granted,
        now: Instant,
    ) -> Result<Option<Place>, HttpError> {
        let limits = &granted.limits;
        if limits.requests.is_none() && limits.requests_a_minute.is_none() {
            return Ok(None);
        }
        let mut counts = self.lock();
        let who = counts.room_for(who, now);
        let count = counts.of.entry(who.clone()).or_insert(Count { running: 0, full_at: now });
        if let Some(each_minute) = limits.requests_a_minute {
            let each = Duration::from_secs(60) / each_minute;
            let missing = count.full_at.max(now) + each;
            let wait = missing.saturating_duration_since(now + Duration::from_secs(60));
            // What divides a minute badly is no reason to wait.
            if wait > Duration::from_millis(1) {
                return Err(too_many(granted, wait, &format!("{each_minute} a minute"), "requests-a-minute"));
            }
            count.full_at = missing;
        }
        if let Some(max) = limits.requests.filter(|max| count.running >= *max) {
            return Err(too_many(granted, BUSY, &format!("{max} at once"), "requests"));
        }
        count.running = count.running.saturating_add(1);
        Ok(Some(Place { quotas: Arc::clone(self), who }))
    }
}

impl Counts {
    /// Who is counted, once there is room for it.
    fn room_for(&mut self, who: Who, now: Instant) -> Who {
        if self.of.len() < ENTRIES_MAX || self.of.contains_key(&who) {
            return who;
        }
        if self.swept.is_none_or(|swept| now.saturating_duration_since(swept) >= SWEEP_EVERY) {
            self.swept = Some(now);
            self.of.retain(|_, count| count.running > 0 || count.full_at > now);
        }
        if self.of.len() < ENTRIES_MAX { who } else { Who::Others }
    }
}

fn too_many(granted: &Granted, wait: Duration, value: &str, key: &str) -> HttpError {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    let advice = format!("try again in {seconds} s");
    let message = format!("too many requests: {}", granted.limit(value, key, &advice));
    HttpError { status: StatusCode::TOO_MANY_REQUESTS, ..HttpError::busy_for(message, wait) }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(count) = self.quotas.lock().of.get_mut(&self.who) {
            count.running = count.running.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    //! Who is counted, and who is forgotten.
    use super::{ENTRIES_MAX, Quotas, Who};
    use crate::limits::Granted;
    use std::net::Ipv4Addr;
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    fn granted(limits: &str) -> Granted {
        Granted { limits: limits.parse().unwrap(), ..Granted::default() }
    }

    fn client(number: u32) -> Who {
        Who::Client(Some(Ipv4Addr::from(number).into()))
    }

    #[test]
    fn tokens_are_spent_and_come_back() {
        let (quotas, limits, begin) =
            (Arc::new(Quotas::default()), granted("requests-a-minute=6"), Instant::now());
        let enter = |who: u32, seconds: u64| {
            quotas.enter_at(client(who), &limits, begin + Duration::from_secs(seconds))
        };
        (0..6).for_each(|_| assert!(enter(1, 0).is_ok()));
        let refused = enter(1, 0).unwrap_err();
        assert_eq!((refused.status.as_u16(), refused.retry_after), (429, Some(10)));
        assert!(
            refused.message.contains("6 a minute (requests-a-minute of limits.anonymous): try again in 10 s")
        );
        assert!(enter(2, 0).is_ok(), "another one");
        // What was refused costs nothing.
        assert_eq!(enter(1, 9).unwrap_err().retry_after, Some(1));
        assert!(enter(1, 10).is_ok() && enter(1, 10).is_err());
        // Those of an hour are not kept: a minute's are all.
        (0..6).for_each(|_| assert!(enter(1, 3600).is_ok()));
        assert!(enter(1, 3600).is_err());
    }

    #[test]
    fn places_are_given_back() {
        let (quotas, limits) = (Arc::new(Quotas::default()), granted("requests=2"));
        let enter = || quotas.enter(client(1), &limits);
        let (first, second) = (enter().unwrap(), enter().unwrap());
        let refused = enter().unwrap_err();
        assert_eq!((refused.status.as_u16(), refused.retry_after), (429, Some(1)));
        assert!(refused.message.contains("2 at once (requests of limits.anonymous)"), "{}", refused.message);
        drop(first);
        assert!(enter().is_ok());
        drop(second);
        assert!(quotas.enter(client(1), &Granted::default()).unwrap().is_none());
    }

    #[test]
    fn memory_is_bounded_and_the_active_are_not_forgotten() {
        let (quotas, limits, begin) =
            (Arc::new(Quotas::default()), granted("requests-a-minute=60,requests=9"), Instant::now());
        let held: Vec<_> = (0..5).map(|who| quotas.enter_at(client(who), &limits, begin).unwrap()).collect();
        for who in 0..20_000 {
            let _ = quotas.enter_at(client(who), &limits, begin);
        }
        // Newcomers share one bucket, which is empty.
        assert!(quotas.lock().of.len() <= ENTRIES_MAX + 1);
        assert!(quotas.enter_at(client(30_000), &limits, begin).is_err());
        let later = begin + Duration::from_secs(60);
        assert!(quotas.enter_at(client(30_000), &limits, later).is_ok());
        assert!(quotas.lock().of.len() < 20, "those at rest are forgotten, those on their way are not");
        drop(held);
    }
}

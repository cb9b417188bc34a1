//! Which workers there are: those that answered, and are of our version; and what each has done for this head.

use crate::VERSION;
use crate::channels::{Channels, Unheard};
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use url::Url;

/// Who did not answer is asked again after so long.
const AGAIN: Duration = Duration::from_secs(3);
/// A worker that has much to do may be late once.
const LATE_MAX: u32 = 2;

/// What is known of a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Nobody has asked.
    Unknown,
    /// It answered, and nothing has failed since.
    There,
    /// It does not answer, or is of another version: why, and when that was found.
    Away(String, Instant),
}

/// What a worker has done.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Done {
    /// Tasks that came to their end.
    pub tasks: u64,
    /// Rows that fragments made there.
    pub rows: u64,
    /// Bytes of these as columns.
    pub bytes: u64,
    /// Bytes that it took from other workers.
    pub bytes_received: u64,
    /// Time of processors for the fragments, in nanoseconds.
    pub processor_ns: u64,
    /// Time of operators above them, in nanoseconds.
    pub above_ns: u64,
}

impl Done {
    pub fn add(&mut self, other: &Self) {
        self.tasks += other.tasks;
        self.rows += other.rows;
        self.bytes += other.bytes;
        self.bytes_received += other.bytes_received;
        self.processor_ns += other.processor_ns;
        self.above_ns += other.above_ns;
    }

    pub fn json(&self) -> Value {
        json!({
            "tasks": self.tasks,
            "rows": self.rows,
            "bytes": self.bytes,
            "bytes_received": self.bytes_received,
            "processor_seconds": Duration::from_nanos(self.processor_ns).as_secs_f64(),
            "operator_seconds": Duration::from_nanos(self.above_ns).as_secs_f64(),
        })
    }
}

#[derive(Debug, Clone)]
struct Known {
    url: Url,
    state: State,
    /// How often in a row it was late.
    late: u32,
    done: Done,
}

impl Known {
    const fn new(url: Url) -> Self {
        let done = Done { tasks: 0, rows: 0, bytes: 0, bytes_received: 0, processor_ns: 0, above_ns: 0 };
        Self { url, state: State::Unknown, late: 0, done }
    }

    fn heard(&mut self, answer: Result<String, Unheard>, late_max: u32) {
        let away = |why: String| State::Away(why, Instant::now());
        let is_late = matches!(answer, Err(Unheard::Late));
        self.late = if is_late { self.late.saturating_add(1) } else { 0 };
        self.state = match answer {
            Ok(version) if version == VERSION => State::There,
            Ok(version) => away(format!("it is of version {version:?}, and this is {VERSION:?}")),
            Err(Unheard::Late) if self.late < late_max && self.state == State::There => State::There,
            Err(Unheard::Late) => away("it does not answer".to_owned()),
            Err(Unheard::Refused(why)) => away(first_line(&why)),
        };
    }
}

/// All workers.
#[derive(Debug, Default)]
pub struct Health {
    known: Mutex<Vec<Known>>,
    /// What is wrong with the list of workers.
    trouble: Mutex<Option<String>>,
}

impl Health {
    pub fn new(urls: Vec<Url>) -> Self {
        let known = Mutex::new(urls.into_iter().map(Known::new).collect());
        Self { known, trouble: Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, Vec<Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on these are the workers; of those that were before, what is known stays so.
    pub fn set(&self, urls: Vec<Url>) {
        let mut known = self.known();
        let before = std::mem::take(&mut *known);
        let kept = |url: Url| before.iter().find(|one| one.url == url).cloned().unwrap_or(Known::new(url));
        *known = urls.into_iter().map(kept).collect();
    }

    /// Says what is wrong with the list; whether that is news.
    pub fn set_trouble(&self, trouble: Option<&str>) -> bool {
        let mut told = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        let is_news = trouble.is_some() && told.as_deref() != trouble;
        *told = trouble.map(str::to_owned);
        is_news
    }

    /// What is known of each.
    #[cfg(test)]
    pub fn all(&self) -> Vec<(Url, State)> {
        self.known().iter().map(|one| (one.url.clone(), one.state.clone())).collect()
    }

    /// How many there are, whether they answer or not.
    pub fn count(&self) -> usize {
        self.known().len()
    }

    /// Those that answered when they were last asked.
    pub fn there(&self) -> Vec<Url> {
        let known = self.known();
        known.iter().filter(|one| one.state == State::There).map(|one| one.url.clone()).collect()
    }

    /// Whether somebody has to be asked before it is known who is there.
    pub fn is_stale(&self) -> bool {
        self.known().iter().any(|one| may_ask(&one.state))
    }

    /// A worker has done more.
    pub fn did(&self, url: &Url, more: &Done) {
        if let Some(own) = self.known().iter_mut().find(|one| one.url == *url) {
            own.done.add(more);
        }
    }

    /// What is known of each, for programs.
    pub fn json(&self) -> Value {
        let worker = |one: &Known| {
            let (state, why) = match &one.state {
                State::Unknown => ("unknown", None),
                State::There => ("there", None),
                State::Away(why, _) => ("away", Some(why.as_str())),
            };
            let mut told = one.done.json();
            told["url"] = one.url.as_str().into();
            told["state"] = state.into();
            told["why"] = why.into();
            told
        };
        let workers: Vec<Value> = self.known().iter().map(worker).collect();
        let trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone();
        json!({ "workers": workers, "trouble": trouble })
    }

    /// Asks those of whom nothing is known, and those that were away a while ago.
    pub async fn ask(&self, channels: &Channels) {
        self.ask_those(channels, may_ask, 1).await;
    }

    /// Asks those as well that were there, who may be gone, or about to go. One that has much to do may be late.
    pub async fn keep(&self, channels: &Channels) {
        self.ask_those(channels, |state| *state == State::There || may_ask(state), LATE_MAX).await;
    }

    /// Asks all, since something has failed; how many were there and are away now.
    pub async fn ask_all(&self, channels: &Channels) -> usize {
        let before = self.there();
        self.ask_those(channels, |_| true, 1).await;
        let there = self.there();
        before.iter().filter(|url| !there.contains(url)).count()
    }

    async fn ask_those(&self, channels: &Channels, which: impl Fn(&State) -> bool, late_max: u32) {
        let urls: Vec<Url> = {
            let known = self.known();
            known.iter().filter(|one| which(&one.state)).map(|one| one.url.clone()).collect()
        };
        let asked = urls.into_iter().map(|url| async {
            let answer = channels.version_of(&url).await;
            (url, answer)
        });
        for (url, answer) in join_all(asked).await {
            if let Some(own) = self.known().iter_mut().find(|own| own.url == url) {
                own.heard(answer, late_max);
            }
        }
    }
}

fn may_ask(state: &State) -> bool {
    match state {
        State::Unknown => true,
        State::There => false,
        State::Away(_, since) => since.elapsed() >= AGAIN,
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    //! Who is there, by what is heard.
    use super::*;

    fn url(port: u16) -> Url {
        Url::parse(&format!("http://127.0.0.1:{port}")).unwrap()
    }

    #[test]
    fn who_stays_is_known_still() {
        let health = Health::new(vec![url(1), url(2)]);
        health.known()[0].heard(Ok(VERSION.to_owned()), 1);
        health.did(&url(1), &Done { rows: 7, ..Done::default() });
        health.set(vec![url(3), url(1)]);
        assert_eq!(health.there(), [url(1)]);
        assert_eq!(health.all(), [(url(3), State::Unknown), (url(1), State::There)]);
        assert_eq!(health.json()["workers"][1]["rows"], 7);
        assert!(health.is_stale());
        health.set(Vec::new());
        assert!(!health.is_stale());
    }

    #[test]
    fn one_answer_that_is_late_is_forgiven() {
        let mut known = Known::new(url(1));
        known.heard(Err(Unheard::Late), LATE_MAX);
        assert!(matches!(known.state, State::Away(..)), "it was not there before");
        known.heard(Ok(VERSION.to_owned()), LATE_MAX);
        known.heard(Err(Unheard::Late), LATE_MAX);
        assert_eq!(known.state, State::There);
        known.heard(Err(Unheard::Late), LATE_MAX);
        assert!(matches!(known.state, State::Away(..)));
        known.heard(Ok(VERSION.to_owned()), LATE_MAX);
        known.heard(Err(Unheard::Refused("no\nmore".into())), LATE_MAX);
        assert!(matches!(&known.state, State::Away(why, _) if why == "no"));
        known.heard(Ok("another".to_owned()), LATE_MAX);
        assert!(matches!(known.state, State::Away(..)));
    }

    #[test]
    fn trouble_is_news_once() {
        let health = Health::default();
        assert!(health.set_trouble(Some("a")) && !health.set_trouble(Some("a")));
        assert!(health.set_trouble(Some("b")) && !health.set_trouble(None));
        assert!(health.set_trouble(Some("b")));
    }
}

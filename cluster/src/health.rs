//! Which workers there are: those that answered, and are of our version.

use crate::VERSION;
use crate::channels::Channels;
use futures_util::future::join_all;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use url::Url;

/// Who did not answer is asked again after so long.
const AGAIN: Duration = Duration::from_secs(3);

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

/// All workers.
#[derive(Debug)]
pub struct Health(Mutex<Vec<(Url, State)>>);

impl Health {
    pub fn new(urls: Vec<Url>) -> Self {
        Self(Mutex::new(urls.into_iter().map(|url| (url, State::Unknown)).collect()))
    }

    /// What is known of each.
    pub fn all(&self) -> Vec<(Url, State)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Those that answered when they were last asked.
    pub fn there(&self) -> Vec<Url> {
        let all = self.all().into_iter().filter(|(_, state)| *state == State::There);
        all.map(|(url, _)| url).collect()
    }

    /// Whether somebody has to be asked before it is known who is there.
    pub fn is_stale(&self) -> bool {
        self.all().iter().any(|(_, state)| may_ask(state))
    }

    /// Whether nobody has asked for some of them yet.
    pub fn has_unknown(&self) -> bool {
        self.all().iter().any(|(_, state)| *state == State::Unknown)
    }

    /// Asks those of whom nothing is known, and those that were away a while ago.
    pub async fn ask(&self, channels: &Channels) {
        self.ask_those(channels, may_ask).await;
    }

    /// Asks all, since something has failed; how many were there and are away now.
    pub async fn ask_all(&self, channels: &Channels) -> usize {
        let before = self.there().len();
        self.ask_those(channels, |_| true).await;
        before.saturating_sub(self.there().len())
    }

    async fn ask_those(&self, channels: &Channels, which: impl Fn(&State) -> bool) {
        let asked = self.all().into_iter().filter(|(_, state)| which(state)).map(|(url, _)| async {
            let state = match channels.version_of(&url).await {
                Ok(version) if version == VERSION => State::There,
                Ok(version) => {
                    let other = format!("it is of version {version:?}, and this is {VERSION:?}");
                    State::Away(other, Instant::now())
                }
                Err(error) => State::Away(first_line(&error.to_string()), Instant::now()),
            };
            (url, state)
        });
        for (url, state) in join_all(asked).await {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(own) = all.iter_mut().find(|(own, _)| *own == url) {
                own.1 = state;
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

//! The thread of a server that follows what is published, or publishes what its database becomes.

use lode_engine::{CancelToken, Database};
use lode_remote::{Address, Follower, PublishReport, Published, PublishedVersion, Publishing, RemoteError};
use lode_server::{Link, LinkRole, LinkVersion};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

/// When the server stops, the last publication may take so long.
const LAST_MAX: Duration = Duration::from_secs(10);

/// The thread; it ends when this is dropped, after what was confirmed is published.
pub struct LinkThread {
    /// Says by its end that the server stops.
    stop: Option<Sender<()>>,
    cancel: CancelToken,
    thread: Option<JoinHandle<()>>,
}

impl LinkThread {
    /// Follows what is published, with a pause between looks.
    ///
    /// # Errors
    /// Where no thread can be started.
    pub fn follow(
        published: &Published,
        database: &Arc<Database>,
        address: &Address,
        pause: Duration,
    ) -> anyhow::Result<(Arc<Link>, Self)> {
        let follower = published.follower();
        let link = Arc::new(Link::new(LinkRole::Follows, address.to_string()));
        link.reached(at(follower.version()));
        let (told, weak) = (Arc::clone(&link), Arc::downgrade(database));
        let thread =
            Self::start("follow", move |stop, cancel| follow(follower, &weak, &told, stop, cancel, pause))?;
        Ok((link, thread))
    }

    /// Publishes what there is, and what it becomes, with a pause between publications.
    ///
    /// # Errors
    /// Where another copy of the database is the one that publishes there, or no thread can be started. That the store cannot be reached is told only.
    pub fn publish(
        database: &Arc<Database>,
        address: &Address,
        pause: Duration,
    ) -> anyhow::Result<(Arc<Link>, Self)> {
        let mut publishing = Publishing::new(address.store(Default::default())?);
        let link = Arc::new(Link::new(LinkRole::Publishes, address.to_string()));
        match publishing.step(database.store(), &CancelToken::default()) {
            Err(error @ (RemoteError::Conflict { .. } | RemoteError::Address { .. })) => {
                return Err(error.into());
            }
            done => tell_of_publication(&link, done),
        }
        let (told, weak) = (Arc::clone(&link), Arc::downgrade(database));
        let thread = Self::start("publish", move |stop, cancel| {
            publish(publishing, &weak, &told, stop, cancel, pause)
        })?;
        Ok((link, thread))
    }

    fn start(
        name: &str,
        work: impl FnOnce(&Receiver<()>, &CancelToken) + Send + 'static,
    ) -> anyhow::Result<Self> {
        let (stop, stopped) = channel();
        let cancel = CancelToken::default();
        let at = cancel.clone();
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || work(&stopped, &at))?;
        Ok(Self { stop: Some(stop), cancel, thread: Some(thread) })
    }
}

impl Drop for LinkThread {
    fn drop(&mut self) {
        self.stop.take();
        self.cancel.cancel();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Pauses; whether the server goes on.
fn goes_on(stop: &Receiver<()>, pause: Duration) -> bool {
    stop.recv_timeout(pause) == Err(RecvTimeoutError::Timeout)
}

fn at(version: &PublishedVersion) -> LinkVersion {
    LinkVersion { number: version.number, epoch: version.epoch, version: version.version }
}

fn follow(
    mut follower: Follower,
    database: &Weak<Database>,
    link: &Link,
    stop: &Receiver<()>,
    cancel: &CancelToken,
    pause: Duration,
) {
    while goes_on(stop, pause) {
        let Some(database) = database.upgrade() else { return };
        let epoch = follower.version().epoch;
        match follower.look(database.store(), cancel) {
            Ok(is_new) => {
                let now = at(follower.version());
                let was_failing = link.reached(now);
                if now.epoch != epoch {
                    tracing::warn!(
                        "another writer has taken over: serving version {} (epoch {})",
                        now.number,
                        now.epoch
                    );
                } else if is_new || was_failing {
                    tracing::info!("serving version {} (of the database: {})", now.number, now.version);
                }
            }
            Err(RemoteError::Cancelled(_)) => {}
            Err(error) => {
                let (problem, number) = (error.to_string(), follower.version().number);
                if link.failed(problem.clone()) {
                    tracing::warn!("still serving version {number}: no newer one can be read: {problem}");
                }
            }
        }
    }
}

fn publish(
    mut publishing: Publishing,
    database: &Weak<Database>,
    link: &Link,
    stop: &Receiver<()>,
    cancel: &CancelToken,
    pause: Duration,
) {
    loop {
        let is_last = !goes_on(stop, pause);
        let Some(database) = database.upgrade() else { return };
        let last = CancelToken::new(Some(LAST_MAX));
        match publishing.step(database.store(), if is_last { &last } else { cancel }) {
            // The last one begins anew.
            Err(RemoteError::Cancelled(_)) if !is_last => {}
            Err(RemoteError::Conflict { address, what }) => {
                link.fenced(format!("{address}: {what}"));
                tracing::error!(
                    "publishing has ended, and nothing may be written here any more: {address}: {what}"
                );
                return;
            }
            done => tell_of_publication(link, done),
        }
        if is_last {
            return;
        }
    }
}

fn tell_of_publication(link: &Link, done: Result<Option<PublishReport>, RemoteError>) {
    match done {
        Ok(None) => link.reached_again(),
        Ok(Some(report)) => {
            let PublishReport { number, epoch, version, .. } = report;
            link.reached(LinkVersion { number, epoch, version });
            tracing::debug!("published version {number} (of the database: {version})");
        }
        Err(error) => {
            let problem = error.to_string();
            if link.failed(problem.clone()) {
                tracing::warn!("cannot publish, which is tried again: {problem}");
            }
        }
    }
}

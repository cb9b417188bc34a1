//! Inferences are brought up to date in the background: of a version that stays as it is, while others go on committing, who wait only until the result is published.
//!
//! From what the segments have, and what follows from that, it goes on by what the log adds; where that is too much, or the inferences are of no version that is known, all is inferred anew. What is
//! published are segments of all that the log had, and of what follows: so the next time goes on from them, also after a crash, before which nothing of it is there.

use super::kept::KeptRules;
use super::report::{MaterialiseOptions, MaterialiseReport};
use super::upkeep::{Remembered, go_on_from_segments};
use super::{fill, graph_of};
use crate::EngineError;
use crate::options::QueryOptions;
use lode_base::cancel::CancelToken;
use lode_store::{Snapshot, Store, StoreError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What came of bringing inferences up to date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaughtUp {
    /// There was nothing to do: no rules, or nothing has changed.
    Nothing,
    /// They are of a newer version than before.
    Published {
        /// Its number.
        version: u64,
        /// Whether all was inferred anew, and not gone on from.
        anew: bool,
        /// Whether others have committed meanwhile, so that there is more to do.
        is_behind: bool,
    },
    /// Something else has become of the segments meanwhile, or of the rules: it is to be begun again.
    Overtaken,
}

/// Changes since the segments that are gone on from with the write lock held, where commits keep inferences up to date by themselves from then on.
const LOCKED_CHANGES_MAX: usize = 2000;

/// Brings inferences up to date that are stale.
pub(crate) fn catch_up(
    store: &Store,
    evaluation: &QueryOptions,
    known: &Remembered,
) -> Result<CaughtUp, EngineError> {
    if !is_stale(&store.snapshot()) {
        return Ok(CaughtUp::Nothing);
    }
    if let Some(done) = with_the_lock(store, evaluation, known)? {
        return Ok(done);
    }
    let budget = evaluation.budget();
    let mut transaction = store.begin_aside(&evaluation.cancel)?.within(&budget);
    let Some(inferences) = transaction.before().inferences().filter(|known| !known.is_current()) else {
        return Ok(CaughtUp::Nothing);
    };
    let kept = KeptRules::decode(&inferences.rules)?;
    let anew = !go_on_from_segments(&mut transaction, &inferences.rules, known)?;
    if anew {
        let options = MaterialiseOptions { evaluation: evaluation.clone(), ..MaterialiseOptions::default() };
        fill(&mut transaction, &kept, &options, &budget, &mut MaterialiseReport::empty())?;
    }
    let graph = graph_of(&mut transaction)?;
    let published = transaction.publish_aside(graph, &kept.applied(inferences.rules))?;
    Ok(published.map_or(CaughtUp::Overtaken, |published| CaughtUp::Published {
        version: published.version,
        anew,
        is_behind: published.is_behind,
    }))
}

/// The same as the last step of what commits are to go on with by themselves: they would be behind for ever while others commit.
fn with_the_lock(
    store: &Store,
    evaluation: &QueryOptions,
    known: &Remembered,
) -> Result<Option<CaughtUp>, EngineError> {
    let is_small = |snapshot: &Snapshot| {
        snapshot.inferred_version().is_some() && snapshot.delta_changes() <= LOCKED_CHANGES_MAX
    };
    let snapshot = store.snapshot();
    let is_maintained = |rules: &str| KeptRules::decode(rules).is_ok_and(|kept| kept.maintained);
    if !is_small(&snapshot) || !snapshot.inferences().is_some_and(|known| is_maintained(&known.rules)) {
        return Ok(None);
    }
    let mut transaction = store.begin(&evaluation.cancel)?.within(&evaluation.budget());
    let before = transaction.before();
    let Some(inferences) = before.inferences().filter(|known| !known.is_current()) else {
        return Ok(Some(CaughtUp::Nothing));
    };
    if !is_small(&before) || !go_on_from_segments(&mut transaction, &inferences.rules, known)? {
        return Ok(None);
    }
    let kept = KeptRules::decode(&inferences.rules)?;
    transaction.set_inferences(Some(kept.applied(inferences.rules)))?;
    let version = transaction.commit()?.version;
    Ok(Some(CaughtUp::Published { version, anew: false, is_behind: false }))
}

/// Whether what was inferred is not what follows from a version.
fn is_stale(snapshot: &Snapshot) -> bool {
    snapshot.has_inferences() && snapshot.inferred_version() != Some(snapshot.version_number())
}

/// How inferences are brought up to date in the background.
#[derive(Clone)]
pub struct UpkeeperOptions {
    /// Memory, threads, and the folder for temporary files.
    pub evaluation: QueryOptions,
    /// How often it looks whether there is something to do.
    pub look_every: Duration,
    /// So long it rests after it was at work; or as long as that took, where that is longer.
    pub rest: Duration,
}

impl Default for UpkeeperOptions {
    fn default() -> Self {
        let evaluation = QueryOptions { threads: 1, memory_bytes: 1 << 30, ..QueryOptions::default() };
        Self { evaluation, look_every: Duration::from_millis(100), rest: Duration::from_secs(1) }
    }
}

/// What is done in the background, and was.
#[derive(Debug, Clone, Default)]
pub struct UpkeeperStatus {
    /// Whether it is at work.
    pub is_running: bool,
    /// For how long there have been changes that the inferences know nothing of; none where they are up to date.
    pub behind: Option<Duration>,
    /// How often inferences were gone on from.
    pub gone_on: u64,
    /// How often all was inferred anew.
    pub anew: u64,
    /// How often something else became of the segments meanwhile.
    pub overtaken: u64,
    /// How long it took the last time.
    pub last: Option<Duration>,
    /// How often it failed.
    pub failures: u64,
    /// Why it failed the last time, where it has not succeeded since.
    pub last_error: Option<String>,
}

/// A thread that brings the inferences of a store up to date. It ends when this is dropped; until then the store stays open.
#[derive(Debug)]
pub struct Upkeeper {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    orders: Mutex<Orders>,
    changed: Condvar,
    /// Stops what is being done.
    cancel: CancelToken,
}

#[derive(Debug, Default)]
struct Orders {
    is_ended: bool,
    /// Since when there have been changes that are not known.
    since: Option<Instant>,
    status: UpkeeperStatus,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Orders> {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Upkeeper {
    /// Starts to keep the inferences of a store up to date that was opened for writing.
    ///
    /// # Errors
    /// Where the store was opened for reading, or no thread can be started.
    pub fn start(store: &Store, options: UpkeeperOptions) -> Result<Self, EngineError> {
        if !store.is_writable() {
            return Err(StoreError::ReadOnly { path: store.folder().to_owned() }.into());
        }
        let shared = Arc::<Shared>::default();
        let work = Work { store: store.clone(), options, shared: Arc::clone(&shared) };
        let thread = std::thread::Builder::new().name("upkeeper".to_owned());
        let io = |source| StoreError::Io { path: store.folder().to_owned(), source };
        let thread = thread.spawn(move || work.run()).map_err(io)?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// What it is doing and has done.
    pub fn status(&self) -> UpkeeperStatus {
        let orders = self.shared.lock();
        UpkeeperStatus { behind: orders.since.map(|since| since.elapsed()), ..orders.status.clone() }
    }
}

impl Drop for Upkeeper {
    fn drop(&mut self) {
        self.shared.lock().is_ended = true;
        self.shared.cancel.cancel();
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic there has been told already.
            let _ = thread.join();
        }
    }
}

/// After the first failure it waits so long, then twice as long, and so on,
const RETRY_FIRST: Duration = Duration::from_secs(1);
/// up to so long.
const RETRY_LAST: Duration = Duration::from_secs(600);

struct Work {
    store: Store,
    options: UpkeeperOptions,
    shared: Arc<Shared>,
}

impl Work {
    fn run(&self) {
        let known = Remembered::default();
        let evaluation =
            QueryOptions { cancel: self.shared.cancel.clone(), ..self.options.evaluation.clone() };
        let (mut not_before, mut delay) = (Instant::now(), RETRY_FIRST);
        while self.wait() {
            let start = Instant::now();
            if !is_stale(&self.store.snapshot()) {
                self.shared.lock().since = None;
                continue;
            }
            {
                let mut orders = self.shared.lock();
                orders.since.get_or_insert(start);
                if start < not_before {
                    continue;
                }
                orders.status.is_running = true;
            }
            let result = catch_up(&self.store, &evaluation, &known);
            let took = start.elapsed();
            not_before = Instant::now()
                + match result {
                    Ok(CaughtUp::Nothing | CaughtUp::Overtaken) => Duration::ZERO,
                    Ok(CaughtUp::Published { .. }) => self.options.rest.max(took),
                    Err(_) => delay,
                };
            delay = if result.is_err() { (2 * delay).min(RETRY_LAST) } else { RETRY_FIRST };
            self.note(&result, start);
        }
    }

    /// Waits for a while; false at the end.
    fn wait(&self) -> bool {
        let orders = self.shared.lock();
        if orders.is_ended {
            return false;
        }
        let waited = self.shared.changed.wait_timeout(orders, self.options.look_every);
        !waited.unwrap_or_else(PoisonError::into_inner).0.is_ended
    }

    fn note(&self, result: &Result<CaughtUp, EngineError>, start: Instant) {
        let mut orders = self.shared.lock();
        orders.status.is_running = false;
        match result {
            Ok(CaughtUp::Nothing) => {}
            Ok(CaughtUp::Overtaken) => orders.status.overtaken += 1,
            Ok(CaughtUp::Published { anew, is_behind, .. }) => {
                orders.status.gone_on += u64::from(!anew);
                orders.status.anew += u64::from(*anew);
                orders.status.last = Some(start.elapsed());
                orders.status.last_error = None;
                // What was committed since then is not known.
                orders.since = is_behind.then_some(start);
            }
            Err(EngineError::Cancelled(_)) => {}
            Err(error) => {
                orders.status.failures += 1;
                orders.status.last_error = Some(error.to_string());
            }
        }
    }
}

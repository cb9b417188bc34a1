//! The threads of the first stage: some read sources and split them into pieces, others take the pieces.

use crate::error::IngestError;
use crate::feed::Feed;
use crate::job::Job;
use crate::source::Source;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::sync::{Mutex, PoisonError};

/// The pieces of all sources, for those who take them.
pub(crate) struct Jobs<'a> {
    /// Taken away once nobody shall send any more.
    receiver: Mutex<Option<Receiver<Job>>>,
    spare: Sender<Vec<u8>>,
    stop: &'a AtomicBool,
}

impl Jobs<'_> {
    /// The next piece; none when all have been taken, or when it is time to stop.
    pub fn next(&self) -> Option<Job> {
        let mut receiver = self.receiver.lock().unwrap_or_else(PoisonError::into_inner);
        if self.stop.load(Ordering::Relaxed) {
            // Without a receiver those who send end.
            *receiver = None;
        }
        receiver.as_ref()?.recv().ok()
    }

    /// Gives back the buffer of a piece.
    pub fn give_back(&self, buffer: Vec<u8>) {
        // Those who read may have ended; then nobody wants it.
        let _ = self.spare.send(buffer);
    }
}

/// How many threads there are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Threads {
    /// That take pieces.
    pub workers: usize,
    /// That read sources: several are read at once, because compressed ones keep a thread each busy.
    pub feeders: usize,
}

impl Threads {
    /// The threads for so many sources.
    pub fn new(threads: usize, sources: usize) -> Self {
        let workers = threads.max(1);
        Self { workers, feeders: workers.min(sources).max(1) }
    }

    /// Threads that may decompress one source.
    pub fn per_source(self) -> usize {
        self.workers.div_ceil(self.feeders)
    }
}

/// Reads all sources while `work` is done by as many threads as there shall be, this one included, each with its number. `fail` is
/// told what is wrong with a source, and whether to go on.
pub(crate) fn run<T: Send>(
    feed: Feed<'_>,
    sources: Vec<(usize, Source)>,
    threads: Threads,
    stop: &AtomicBool,
    fail: &(dyn Fn(usize, IngestError) -> ControlFlow<()> + Sync),
    work: &(dyn Fn(usize, &Jobs<'_>) -> T + Sync),
) -> Vec<T> {
    let (sender, receiver) = sync_channel(1);
    let (spare, spares) = channel();
    let jobs = &Jobs { receiver: Mutex::new(Some(receiver)), spare, stop };
    let (feed, spares) = (&feed, &Mutex::new(spares));
    let waiting = &Mutex::new(sources.into_iter());
    std::thread::scope(|scope| {
        let feeders: Vec<_> = (0..threads.feeders)
            .map(|_| {
                let sender = sender.clone();
                scope.spawn(move || feed.run(waiting, spares, &sender, fail))
            })
            .collect();
        // The workers end when all feeders have.
        drop(sender);
        let workers: Vec<_> =
            (1..threads.workers).map(|number| scope.spawn(move || work(number, jobs))).collect();
        let mut results = vec![work(0, jobs)];
        for worker in workers {
            results.push(worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        for feeder in feeders {
            feeder.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
        results
    })
}

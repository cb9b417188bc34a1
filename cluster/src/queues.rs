//! Rows that are spread, on their way from who makes them to those who take them: a queue for each of these, in one place, so that who makes rows waits for
//! nobody while somebody has none. A taker may have to wait for rows of its other inputs, and those for other takers of these rows: whoever waited for a queue
//! to become shorter while another is empty could wait for ever.

use crate::failure::{self, Fault};
use datafusion::arrow::array::RecordBatch;
use datafusion::common::Result;
use datafusion::error::DataFusionError;
use lode_base::cancel::CancelToken;
use lode_base::memory_budget::{MemoryBudget, Reservation};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::task::JoinSet;

/// Batches that wait for each taker, on average.
const BATCHES_AHEAD: usize = 2;
/// Who waits for room looks so often whether the time is up.
const LOOK: Duration = Duration::from_millis(50);

/// The queues of a task.
#[derive(Debug)]
pub struct Queues {
    state: Mutex<State>,
    /// Whoever makes rows waits for this.
    moved: Condvar,
    /// Called off when nobody takes rows any more.
    cancel: CancelToken,
}

#[derive(Debug)]
struct State {
    queues: Vec<Queue>,
    /// Batches in all of them.
    batches: usize,
    /// Bytes of these.
    held: Reservation,
    /// Threads that make rows still.
    makers: usize,
    failed: Option<Arc<DataFusionError>>,
    /// What gets the rows that these are made of.
    pumps: JoinSet<()>,
}

#[derive(Debug, Default)]
struct Queue {
    batches: VecDeque<RecordBatch>,
    /// Somebody takes them, or has not come yet.
    is_open: bool,
    is_taken: bool,
    waker: Option<Waker>,
}

impl State {
    fn clear(&mut self, number: usize) {
        let Some(queue) = self.queues.get_mut(number) else { return };
        queue.is_open = false;
        let dropped = std::mem::take(&mut queue.batches);
        self.batches -= dropped.len();
        let bytes: usize = dropped.iter().map(RecordBatch::get_array_memory_size).sum();
        let left = self.held.bytes().saturating_sub(bytes);
        self.held.shrink(left);
    }

    /// Whether who makes rows waits: there are many, and each who takes some has some.
    fn is_full(&self) -> bool {
        let mut open = self.queues.iter().filter(|queue| queue.is_open);
        self.batches >= BATCHES_AHEAD * self.queues.len() && open.all(|queue| !queue.batches.is_empty())
    }

    fn is_abandoned(&self) -> bool {
        self.queues.iter().all(|queue| !queue.is_open)
    }

    fn wake(&mut self) {
        self.queues.iter_mut().filter_map(|queue| queue.waker.take()).for_each(Waker::wake);
    }
}

impl Queues {
    /// For so many takers, of rows that so many threads make.
    pub fn new(
        (takers, makers): (usize, usize),
        memory: &MemoryBudget,
        cancel: CancelToken,
        pumps: JoinSet<()>,
    ) -> Arc<Self> {
        let queue = || Queue { is_open: true, ..Queue::default() };
        let queues = (0..takers).map(|_| queue()).collect();
        let held = memory.reserve_empty();
        let state = State { queues, batches: 0, held, makers, failed: None, pumps };
        Arc::new(Self { state: Mutex::new(state), moved: Condvar::new(), cancel })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands a batch to a taker, once there is room. `false`: nobody takes any more.
    fn push(&self, taker: usize, batch: RecordBatch) -> Result<bool> {
        let mut state = self.state();
        while state.is_full() && !state.is_abandoned() {
            let (woken, _) = self.moved.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner);
            state = woken;
            if let Err(cancelled) = self.cancel.check() {
                return Err(failure::error(Fault::Cancelled, &cancelled.to_string()));
            }
        }
        if state.is_abandoned() {
            return Ok(false);
        }
        let State { queues, held, batches, .. } = &mut *state;
        let Some(queue) = queues.get_mut(taker).filter(|queue| queue.is_open) else { return Ok(true) };
        held.grow(batch.get_array_memory_size()).map_err(|refused| {
            failure::error(
                Fault::Worker,
                &format!("no memory for rows that are exchanged: {refused} (--memory)"),
            )
        })?;
        queue.batches.push_back(batch);
        *batches += 1;
        if let Some(waker) = queue.waker.take() {
            waker.wake();
        }
        Ok(true)
    }

    /// Somebody who makes rows.
    pub fn maker(self: &Arc<Self>) -> Maker {
        Maker { queues: Arc::clone(self), has_ended: false }
    }

    fn end(&self, made: Result<()>) {
        let mut state = self.state();
        state.makers = state.makers.saturating_sub(1);
        if let Err(error) = made {
            state.failed.get_or_insert(Arc::new(error));
        }
        if state.makers == 0 || state.failed.is_some() {
            state.wake();
        }
    }

    /// The rows of a taker, who is there once.
    ///
    /// # Errors
    /// Where somebody has taken them before.
    pub fn take(self: &Arc<Self>, number: usize) -> Result<Taken> {
        match self.state().queues.get_mut(number).filter(|queue| !queue.is_taken) {
            Some(queue) => queue.is_taken = true,
            None => return Err(failure::error(Fault::Query, "rows that are spread are taken twice")),
        }
        Ok(Taken { queues: Arc::clone(self), number, has_ended: false })
    }

    /// Nobody takes rows any more.
    pub fn close(&self) {
        self.cancel.cancel();
        let mut state = self.state();
        (0..state.queues.len()).for_each(|number| state.clear(number));
        state.pumps.abort_all();
        let broken = || Arc::new(failure::error(Fault::Cancelled, "the query was called off"));
        state.failed.get_or_insert_with(broken);
        state.wake();
        drop(state);
        self.moved.notify_all();
    }

    fn poll(&self, number: usize, cx: &mut Context<'_>) -> Poll<Option<Result<RecordBatch>>> {
        let mut state = self.state();
        if let Some(error) = &state.failed {
            return Poll::Ready(Some(Err(DataFusionError::Shared(Arc::clone(error)))));
        }
        let has_makers = state.makers > 0;
        let Some(queue) = state.queues.get_mut(number) else { return Poll::Ready(None) };
        let Some(batch) = queue.batches.pop_front() else {
            if !has_makers {
                return Poll::Ready(None);
            }
            queue.waker = Some(cx.waker().clone());
            return Poll::Pending;
        };
        state.batches -= 1;
        let left = state.held.bytes().saturating_sub(batch.get_array_memory_size());
        state.held.shrink(left);
        drop(state);
        self.moved.notify_all();
        Poll::Ready(Some(Ok(batch)))
    }

    fn leave(&self, number: usize) {
        let mut state = self.state();
        state.clear(number);
        let is_abandoned = state.is_abandoned();
        if is_abandoned {
            state.pumps.abort_all();
        }
        drop(state);
        if is_abandoned {
            self.cancel.cancel();
        }
        self.moved.notify_all();
    }
}

/// A thread that makes rows. Who drops it before the end has broken off.
#[derive(Debug)]
pub struct Maker {
    queues: Arc<Queues>,
    has_ended: bool,
}

impl Maker {
    /// Hands a batch to a taker, once there is room. `false`: nobody takes any more.
    ///
    /// # Errors
    /// Where there is no memory for what others have not taken, or the time is up.
    pub fn push(&self, taker: usize, batch: RecordBatch) -> Result<bool> {
        self.queues.push(taker, batch)
    }

    /// All rows are made, or it failed.
    pub fn end(mut self, made: Result<()>) {
        self.has_ended = true;
        self.queues.end(made);
    }
}

impl Drop for Maker {
    fn drop(&mut self) {
        if !self.has_ended {
            self.queues.end(Err(failure::error(Fault::Query, BROKE_OFF)));
        }
    }
}

/// What is said where a thread that makes rows has gone without a word.
pub const BROKE_OFF: &str = "a fragment broke off: see what the worker says";

/// The rows of a taker.
#[derive(Debug)]
pub struct Taken {
    queues: Arc<Queues>,
    number: usize,
    has_ended: bool,
}

impl futures_util::Stream for Taken {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: std::pin::Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.has_ended {
            return Poll::Ready(None);
        }
        let came = self.queues.poll(self.number, cx);
        self.has_ended = matches!(came, Poll::Ready(None | Some(Err(_))));
        came
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.queues.leave(self.number);
    }
}

#[cfg(test)]
mod tests {
    //! Who waits for whom, and what is left behind.
    use super::*;
    use crate::columns::{Column, schema};
    use datafusion::arrow::array::UInt64Array;
    use futures_util::{FutureExt, StreamExt};
    use std::time::Instant;

    fn batch(number: u64) -> RecordBatch {
        RecordBatch::try_new(schema(&[Column::Id]), vec![Arc::new(UInt64Array::from(vec![number]))]).unwrap()
    }

    fn queues(takers: usize, makers: usize, memory: &MemoryBudget) -> Arc<Queues> {
        Queues::new((takers, makers), memory, CancelToken::new(None), JoinSet::new())
    }

    fn number(batch: &RecordBatch) -> u64 {
        batch.column(0).as_any().downcast_ref::<UInt64Array>().unwrap().value(0)
    }

    #[test]
    fn each_gets_its_own_and_the_end() {
        let memory = MemoryBudget::new(1 << 20);
        let queues = queues(2, 2, &memory);
        let (one, two) = (queues.maker(), queues.maker());
        let (mut first, mut second) = (queues.take(0).unwrap(), queues.take(1).unwrap());
        assert!(queues.take(1).is_err() && queues.take(2).is_err());
        assert!(first.next().now_or_never().is_none());
        assert!(
            one.push(0, batch(1)).unwrap()
                && two.push(1, batch(2)).unwrap()
                && one.push(0, batch(3)).unwrap()
        );
        assert!(memory.used() > 0);
        assert_eq!(number(&first.next().now_or_never().unwrap().unwrap().unwrap()), 1);
        one.end(Ok(()));
        assert_eq!(number(&first.next().now_or_never().unwrap().unwrap().unwrap()), 3);
        assert!(first.next().now_or_never().is_none(), "another makes rows still");
        two.end(Ok(()));
        assert!(first.next().now_or_never().unwrap().is_none());
        assert_eq!(number(&second.next().now_or_never().unwrap().unwrap().unwrap()), 2);
        assert!(second.next().now_or_never().unwrap().is_none());
        assert_eq!(memory.used(), 0);
    }

    /// One that has none may be what all others wait for.
    #[test]
    fn nobody_waits_while_a_taker_has_no_rows() {
        let memory = MemoryBudget::new(1 << 20);
        let queues = queues(2, 1, &memory);
        let maker = queues.maker();
        let mut second = queues.take(1).unwrap();
        for n in 0..100 {
            assert!(maker.push(0, batch(n)).unwrap());
        }
        assert!(maker.push(1, batch(7)).unwrap());
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| maker.push(0, batch(100)));
            std::thread::sleep(Duration::from_millis(20));
            assert!(!waits.is_finished(), "all have rows, and these are many");
            assert_eq!(number(&second.next().now_or_never().unwrap().unwrap().unwrap()), 7);
            assert!(waits.join().unwrap().unwrap());
        });
    }

    #[test]
    fn without_memory_for_what_nobody_takes_it_fails() {
        let memory = MemoryBudget::new(batch(1).get_array_memory_size() * 3);
        let queues = queues(2, 1, &memory);
        let maker = queues.maker();
        let failed = (0..4).find_map(|n| maker.push(0, batch(n)).err()).unwrap();
        assert_eq!(failure::said(&failed).unwrap().0, Fault::Worker);
        maker.end(Err(failed));
        let mut first = queues.take(0).unwrap();
        assert!(first.next().now_or_never().unwrap().unwrap().is_err());
        assert!(first.next().now_or_never().unwrap().is_none());
        drop((first, queues));
        assert_eq!(memory.used(), 0);
    }

    #[test]
    fn who_leaves_is_sent_nothing_and_after_the_last_it_is_called_off() {
        let memory = MemoryBudget::new(1 << 20);
        let cancel = CancelToken::new(None);
        let queues = Queues::new((2, 1), &memory, cancel.clone(), JoinSet::new());
        let maker = queues.maker();
        let (first, second) = (queues.take(0).unwrap(), queues.take(1).unwrap());
        (0..3).for_each(|n| assert!(maker.push(0, batch(n)).unwrap()));
        drop(first);
        assert_eq!(memory.used(), 0);
        assert!(maker.push(0, batch(1)).unwrap() && memory.used() == 0 && cancel.check().is_ok());
        (0..4).for_each(|n| assert!(maker.push(1, batch(n)).unwrap()));
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| maker.push(1, batch(9)));
            drop(second);
            assert!(!waits.join().unwrap().unwrap());
        });
        assert!(cancel.check().is_err() && memory.used() == 0);
    }

    #[test]
    fn who_waits_is_woken_by_the_end_of_the_call_and_of_the_time() {
        let memory = MemoryBudget::new(1 << 20);
        let called = queues(1, 1, &memory);
        let late = Queues::new((1, 1), &memory, CancelToken::new(Some(Duration::ZERO)), JoinSet::new());
        for queues in [&called, &late] {
            let maker = queues.maker();
            (0..2).for_each(|n| assert!(maker.push(0, batch(n)).unwrap()));
            let started = Instant::now();
            std::thread::scope(|scope| {
                let waits = scope.spawn(|| maker.push(0, batch(9)));
                if Arc::ptr_eq(queues, &called) {
                    queues.close();
                }
                assert!(!waits.join().unwrap().is_ok_and(|is_taken| is_taken));
            });
            assert!(started.elapsed() < Duration::from_secs(60));
        }
        // Who comes later is not told that these were all.
        let mut rows = called.take(0).unwrap();
        assert!(rows.next().now_or_never().unwrap().unwrap().is_err());
    }

    #[test]
    fn who_breaks_off_is_no_end() {
        let memory = MemoryBudget::new(1 << 20);
        let queues = queues(1, 1, &memory);
        let mut rows = queues.take(0).unwrap();
        drop(queues.maker());
        assert!(rows.next().now_or_never().unwrap().unwrap().unwrap_err().to_string().contains("broke off"));
    }
}

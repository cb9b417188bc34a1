//! The line of the queries that take long: so many run at once, the others wait in the order in which they came. Who would wait longer
//! than it may is told so at once, and while it waits as soon as that shows.

use crate::error::HttpError;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// Who waits looks so often whether it still has a chance.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// What the run that ended last counts for among those before it.
const LATEST_WEIGHT: f64 = 0.2;
/// Nobody is told to come again later than this.
const RETRY_MAX: Duration = Duration::from_secs(600);

/// A line.
#[derive(Debug)]
pub(crate) struct Lane {
    state: Mutex<State>,
    running_max: usize,
    waiting_max: usize,
}

#[derive(Debug, Default)]
struct State {
    last_number: u64,
    /// Since when those run that do.
    running: BTreeMap<u64, Instant>,
    waiting: VecDeque<(u64, oneshot::Sender<Place>)>,
    /// How many seconds a run takes, by those that have ended.
    run_seconds: f64,
}

/// A place among those that run, given back when dropped.
#[derive(Debug)]
pub(crate) struct Place {
    lane: Arc<Lane>,
    number: u64,
}

impl State {
    fn number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    /// How long one waits behind so many others, by what runs have taken and those of now have taken already.
    fn expected_wait(&self, ahead: usize, running_max: usize, now: Instant) -> Duration {
        let ages = self.running.values().map(|since| now.saturating_duration_since(*since).as_secs_f64());
        #[expect(clippy::cast_precision_loss, reason = "small counts")]
        let (count, place, places) =
            (self.running.len().max(1) as f64, (ahead + 1) as f64, running_max as f64);
        let run_seconds = self.run_seconds.max(ages.sum::<f64>() / count);
        Duration::try_from_secs_f64(run_seconds * place / places).unwrap_or(Duration::MAX)
    }

    fn ended(&mut self, number: u64, now: Instant) {
        let Some(since) = self.running.remove(&number) else { return };
        let took = now.saturating_duration_since(since).as_secs_f64();
        self.run_seconds += (took - self.run_seconds) * LATEST_WEIGHT;
    }
}

impl Lane {
    pub(crate) fn new(running_max: usize, waiting_max: usize) -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), running_max: running_max.max(1), waiting_max })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // What is guarded here is whole at any time.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place, if one is free and nobody waits for it.
    pub(crate) fn try_enter(self: &Arc<Self>) -> Option<Place> {
        self.enter_now(&mut self.lock())
    }

    fn enter_now(self: &Arc<Self>, state: &mut State) -> Option<Place> {
        if state.running.len() >= self.running_max || !state.waiting.is_empty() {
            return None;
        }
        let number = state.number();
        state.running.insert(number, Instant::now());
        Some(Place { lane: Arc::clone(self), number })
    }

    /// A place, after waiting for it until `deadline` at most; 503 where that is hopeless, or too many wait already.
    pub(crate) async fn enter(self: &Arc<Self>, deadline: Instant) -> Result<Place, HttpError> {
        let (waiting, mut called) = match self.line_up(deadline)? {
            Lined::Place(place) => return Ok(place),
            Lined::Waits(waiting, called) => (waiting, called),
        };
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            tokio::select! {
                place = &mut called => {
                    return place.map_err(|_| HttpError::busy("the server is stopping"));
                }
                () = tokio::time::sleep(left.min(LOOK_EVERY)) => self.check_hope(waiting.number, deadline)?,
            }
        }
    }

    fn line_up(self: &Arc<Self>, deadline: Instant) -> Result<Lined<'_>, HttpError> {
        let mut state = self.lock();
        if let Some(place) = self.enter_now(&mut state) {
            return Ok(Lined::Place(place));
        }
        let (now, ahead) = (Instant::now(), state.waiting.len());
        let expected = state.expected_wait(ahead, self.running_max, now);
        if ahead >= self.waiting_max {
            return Err(too_many(expected));
        }
        if expected > deadline.saturating_duration_since(now) {
            return Err(hopeless(expected));
        }
        let (sender, called) = oneshot::channel();
        let number = state.number();
        state.waiting.push_back((number, sender));
        Ok(Lined::Waits(Waiting { lane: self, number }, called))
    }

    /// Whether a place can still be expected in time.
    fn check_hope(&self, number: u64, deadline: Instant) -> Result<(), HttpError> {
        let (state, now) = (self.lock(), Instant::now());
        // Who is not in line any more has a place.
        let Some(ahead) = state.waiting.iter().position(|(other, _)| *other == number) else { return Ok(()) };
        let (expected, left) =
            (state.expected_wait(ahead, self.running_max, now), deadline.saturating_duration_since(now));
        if left.is_zero() || expected > left { Err(hopeless(expected)) } else { Ok(()) }
    }

    /// A run has ended: the next one begins.
    fn leave(self: &Arc<Self>, number: u64) {
        self.lock().ended(number, Instant::now());
        loop {
            let mut state = self.lock();
            if state.running.len() >= self.running_max {
                return;
            }
            let Some((number, sender)) = state.waiting.pop_front() else { return };
            state.running.insert(number, Instant::now());
            drop(state);
            // Where its client has just left, the next one is called.
            match sender.send(Place { lane: Arc::clone(self), number }) {
                Ok(()) => return,
                Err(mut place) => {
                    self.lock().running.remove(&place.disarm());
                }
            }
        }
    }

    /// Those that wait.
    #[cfg(test)]
    fn waiting(&self) -> usize {
        self.lock().waiting.len()
    }
}

/// What became of one who came.
enum Lined<'a> {
    Place(Place),
    Waits(Waiting<'a>, oneshot::Receiver<Place>),
}

impl Place {
    /// The number of a place that is given back by hand.
    fn disarm(&mut self) -> u64 {
        std::mem::take(&mut self.number)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.number > 0 {
            self.lane.leave(self.number);
        }
    }
}

/// One in line; out of it when dropped.
struct Waiting<'a> {
    lane: &'a Lane,
    number: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.lane.lock().waiting.retain(|(number, _)| *number != self.number);
    }
}

fn too_many(expected: Duration) -> HttpError {
    let message = "too many long queries are waiting already: try again later";
    HttpError::busy_for(message, expected.min(RETRY_MAX))
}

fn hopeless(expected: Duration) -> HttpError {
    let message = format!(
        "other long queries are running: a place would be free in about {:.0} seconds, which is more than this one has; try again later, \
         or give it more time (timeout=SECONDS, within the server's limit)",
        expected.as_secs_f64().max(1.0)
    );
    HttpError::busy_for(message, expected.min(RETRY_MAX))
}

#[cfg(test)]
mod tests {
    //! Places in order, and who is told to go.
    use super::{Lane, State};
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};
    use std::time::{Duration, Instant};

    #[test]
    fn in_the_order_of_coming_and_no_more_than_may_wait() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let _inside = runtime.enter();
        let mut cx = Context::from_waker(Waker::noop());
        let late = Instant::now() + Duration::from_secs(3600);
        let lane = Lane::new(1, 2);
        let first = lane.try_enter().unwrap();
        assert!(lane.try_enter().is_none());
        let mut second = pin!(lane.enter(late));
        let mut third = Box::pin(lane.enter(late));
        let mut refused = pin!(lane.enter(late));
        assert!(second.as_mut().poll(&mut cx).is_pending() && third.as_mut().poll(&mut cx).is_pending());
        let Poll::Ready(Err(error)) = refused.as_mut().poll(&mut cx) else { panic!("not refused") };
        assert_eq!(error.status.as_u16(), 503);
        drop(first);
        assert!(lane.try_enter().is_none(), "nobody overtakes those that wait");
        let Poll::Ready(Ok(second)) = second.as_mut().poll(&mut cx) else { panic!("not called") };
        // Who leaves is not called.
        let mut fourth = pin!(lane.enter(late));
        assert!(fourth.as_mut().poll(&mut cx).is_pending());
        drop(third);
        assert_eq!(lane.waiting(), 1);
        drop(second);
        assert!(matches!(fourth.as_mut().poll(&mut cx), Poll::Ready(Ok(_))));
    }

    #[test]
    fn a_place_that_came_too_late_for_its_client_goes_on() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let _inside = runtime.enter();
        let mut cx = Context::from_waker(Waker::noop());
        let late = Instant::now() + Duration::from_secs(3600);
        let lane = Lane::new(1, 9);
        let first = lane.try_enter();
        let (mut gone, mut next) = (Box::pin(lane.enter(late)), pin!(lane.enter(late)));
        assert!(gone.as_mut().poll(&mut cx).is_pending() && next.as_mut().poll(&mut cx).is_pending());
        drop(first);
        // It was called, and never heard of it.
        drop(gone);
        assert!(matches!(next.as_mut().poll(&mut cx), Poll::Ready(Ok(_))));
        assert!(lane.try_enter().is_some(), "all places are free again");
    }

    #[test]
    fn the_wait_is_told_from_what_runs_have_taken() {
        let (mut state, now) = (State::default(), Instant::now());
        let second = Duration::from_secs(1);
        assert_eq!(state.expected_wait(100, 4, now), Duration::ZERO, "nothing is known yet");
        // Those that run tell something before they end.
        for number in 1..=4 {
            state.running.insert(number, now);
        }
        assert_eq!(state.expected_wait(7, 4, now + 10 * second), 20 * second);
        (1..=4).for_each(|number| state.ended(number, now + 10 * second));
        let expected = state.expected_wait(0, 4, now + 10 * second);
        assert!(expected > second && expected < 3 * second, "{expected:?}");
    }

    #[test]
    fn who_cannot_come_in_time_is_refused() {
        let lane = Lane::new(1, 9);
        let _place = lane.try_enter().unwrap();
        lane.lock().run_seconds = 30.0;
        let deadline = |seconds| Instant::now() + Duration::from_secs(seconds);
        let Err(error) = lane.line_up(deadline(20)) else { panic!("not refused") };
        assert_eq!((error.status.as_u16(), error.retry_after), (503, Some(30)));
        let lined = lane.line_up(deadline(40)).unwrap();
        assert!(lane.line_up(deadline(40)).is_err(), "two have to end before");
        drop(lined);
    }
}

//! Who is next, and that nobody waits for ever.

use super::line::{LEAD_NS, Line, Next, PATIENCE_NS, QueryTime, SLICE_NS};
use super::{Share, Turns, breathe, is_wanted, paused};
use crate::lock;
use lode_base::cancel::CancelToken;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

/// Turns that nobody takes without being called.
fn turns_of(most: usize) -> Arc<Turns> {
    Turns::new(most, most, Duration::from_secs(3600))
}

/// That of a query that nobody stops.
fn share(turns: &Arc<Turns>) -> Share {
    Share::among(turns, &CancelToken::default())
}

fn query(turns: &Arc<Turns>) -> Arc<QueryTime> {
    Arc::clone(&share(turns).0.unwrap().time)
}

/// A query computes for so long.
fn compute(query: &QueryTime, ns: u64) {
    query.add(ns);
}

fn seat<T>(next: Option<Next<T>>) -> Option<T> {
    next.map(|next| next.seat)
}

#[test]
fn a_new_query_is_ahead_of_two_hundred_that_have_run() {
    let turns = turns_of(2);
    let mut line = Line::new(2, 2);
    let heavy: Vec<_> = (0..200).map(|_| query(&turns)).collect();
    assert!(line.take(&heavy[0]) && line.take(&heavy[1]));
    for (i, query) in heavy.iter().enumerate().skip(2) {
        assert!(!line.take(query));
        line.wait(query, 0, i);
    }
    // All have been served for a second each, in turns.
    let mut running = [0, 1];
    for turn in 0..200 * 50 {
        compute(&heavy[running[turn % 2]], SLICE_NS);
        let next = seat(line.give(0)).unwrap();
        let left = std::mem::replace(&mut running[turn % 2], next);
        assert!(!line.take(&heavy[left]));
        line.wait(&heavy[left], 0, left);
    }
    let times: Vec<u64> = heavy.iter().map(|query| query.get()).collect();
    let (least, most) = (times.iter().min().unwrap(), times.iter().max().unwrap());
    assert!(most - least <= 2 * SLICE_NS, "all get the same: {least} to {most}");
    let light = query(&turns);
    assert!(!line.take(&light));
    line.wait(&light, 0, 1000);
    assert!(line.must_give(&heavy[running[0]]), "who runs makes place at once");
    assert_eq!(seat(line.give(0)), Some(1000));
    assert!(!line.must_give(&light), "nor is it stopped soon");
    compute(&light, LEAD_NS / 2);
    assert!(!line.must_give(&light));
    compute(&light, LEAD_NS);
    assert!(line.must_give(&light), "a long one has no more than others");
}

#[test]
fn a_stream_of_new_queries_stops_nobody_for_good() {
    let turns = turns_of(1);
    let mut line = Line::new(1, 1);
    let (heavy, first) = (query(&turns), query(&turns));
    assert!(line.take(&heavy));
    compute(&heavy, 50 * SLICE_NS);
    line.take(&first);
    line.wait(&first, 0, 1);
    assert_eq!(seat(line.give(0)), Some(1));
    line.take(&heavy);
    line.wait(&heavy, 0, 0);
    for step in 1..=10 {
        let light = query(&turns);
        line.take(&light);
        let now = step * PATIENCE_NS / 10;
        line.wait(&light, now, 2);
        let next = line.give(now).unwrap();
        assert_eq!((next.seat, next.has_waited_long), if step < 10 { (2, false) } else { (0, true) });
    }
}

#[test]
fn who_was_away_has_saved_nothing_up() {
    let turns = turns_of(1);
    let mut line = Line::<u32>::new(1, 1);
    let (away, busy) = (query(&turns), query(&turns));
    assert!(line.take(&away));
    assert!(line.give(0).is_none());
    for _ in 0..100 {
        assert!(line.take(&busy));
        compute(&busy, SLICE_NS);
        assert!(line.give(0).is_none());
    }
    assert!(line.take(&busy) && !line.take(&away));
    let times = [&away, &busy].map(|query| query.get());
    assert!(times[1] - times[0] <= SLICE_NS, "{times:?}");
}

#[test]
fn threads_take_turns_and_never_more_at_once() {
    let turns = turns_of(2);
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let threads: Vec<_> = (0..16)
        .map(|_| {
            let (share, running, most) = (share(&turns), Arc::clone(&running), Arc::clone(&most));
            thread::spawn(move || {
                for _ in 0..200 {
                    let _turn = share.take_turn();
                    most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    let _inner = share.take_turn();
                    running.fetch_sub(1, Ordering::SeqCst);
                    breathe();
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert!(most.load(Ordering::SeqCst) <= 2, "{most:?}");
    assert!(turns.has_room() && lock(&turns.line).pressure() == 0);
}

#[test]
fn who_waits_for_others_has_no_turn() {
    let turns = turns_of(1);
    let (one, other) = (share(&turns), share(&turns));
    let turn = one.take_turn();
    paused(|| {
        // Another thread gets the turn, and ends with it.
        thread::scope(|scope| scope.spawn(|| drop(other.take_turn())).join().unwrap());
    });
    assert!(!is_wanted());
    drop(turn);
    assert!(turns.has_room());
}

#[test]
fn those_who_stand_still_with_a_turn_stop_nobody() {
    let turns = Turns::new(1, 1, Duration::from_millis(20));
    let resource = Arc::new(Mutex::new(()));
    let (share, other) = (share(&turns), share(&turns));
    let held = lock(&resource);
    let (ready, is_ready) = mpsc::channel();
    let blocked = Arc::clone(&resource);
    let thread = thread::spawn(move || {
        let _turn = share.take_turn();
        ready.send(()).unwrap();
        drop(lock(&blocked));
    });
    is_ready.recv().unwrap();
    // The other thread has the only turn, and waits for what this one has.
    let turn = other.take_turn();
    drop(held);
    thread.join().unwrap();
    drop(turn);
    assert!(turns.has_room());
}

#[test]
fn a_query_that_was_stopped_needs_no_turn() {
    let turns = turns_of(1);
    let (stopped, late) = (CancelToken::default(), CancelToken::new(Some(Duration::from_millis(50))));
    let busy = share(&turns);
    // Held to the end of the test by one who gives no sign: nobody else is called.
    let _turn = busy.take_turn();
    let waiting: Vec<_> = [&stopped, &late]
        .map(|cancel| Share::among(&turns, cancel))
        .map(|share| thread::spawn(move || drop(share.take_turn())))
        .into();
    stopped.cancel();
    waiting.into_iter().for_each(|thread| thread.join().unwrap());
}

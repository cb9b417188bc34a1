//! Lives of a process that end in a crash, one after the other, and what is found after each.

use super::book::states;
use super::faults::Faults;
use super::workload::{Actor, assert_no_damage, read};
use crate::compact::{BackgroundOptions, Compactor};
use crate::crash_tests::{assert_sound, contents};
use crate::dice::Dice;
use crate::test_data::FOLDER;
use crate::write_options::WriteOptions;
use crate::{Store, StoreError};
use lode_base::fault_vfs::FaultVfs;
use lode_base::mem_vfs::MemVfs;
use std::panic::catch_unwind;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Crashes of one simulation, one after the other.
const ROUNDS: u64 = 2;
/// What each actor does in a round.
const STEPS: u64 = 6;
/// Attempts until something must work that nothing hinders any more.
const ATTEMPTS: usize = 4;

/// So many simulations fail before all give up.
const FAILURES_MAX: usize = 20;

/// How the actors work in a simulation.
#[derive(Debug, Clone, Copy)]
struct Schedule {
    /// Each in a thread of its own, else one step of somebody after the other.
    has_threads: bool,
    has_compactor: bool,
}

fn open(vfs: &FaultVfs) -> Result<Store, StoreError> {
    let options = WriteOptions {
        delta_bytes_max: 3 << 10,
        logged_changes_max: 8,
        memory_bytes: 1 << 20,
        threads: 1,
        ..WriteOptions::default()
    };
    Store::open_for_writing(Arc::new(vfs.clone()), Path::new(FOLDER), 1 << 16, options)
}

/// Opens the database, which may fail until the faults are over.
fn open_again(vfs: &FaultVfs) -> Option<Store> {
    let open = |_| open(vfs).inspect_err(assert_no_damage).ok();
    (0..ATTEMPTS).find_map(open)
}

fn compactor(store: &Store, schedule: Schedule) -> Option<Compactor> {
    let options = BackgroundOptions {
        segments_max: 3,
        rest: Duration::ZERO,
        look_every: Duration::from_micros(200),
        ..BackgroundOptions::default()
    };
    schedule.has_compactor.then(|| Compactor::start(store, options).unwrap())
}

/// Lets the actors work until they are done or the power goes.
fn work(
    store: &Store,
    actors: &mut [Actor],
    schedule: Schedule,
    is_over: &(dyn Fn() -> bool + Sync),
    dice: &mut Dice,
) {
    let compactor = compactor(store, schedule);
    if schedule.has_threads {
        std::thread::scope(|scope| {
            for actor in &mut *actors {
                scope.spawn(move || {
                    (0..STEPS).take_while(|_| !is_over()).for_each(|_| drop(actor.step(store)))
                });
            }
        });
    } else {
        for _ in (0..STEPS * actors.len() as u64).take_while(|_| !is_over()) {
            let next = dice.below(actors.len() as u64);
            let _ = actors[next as usize].step(store);
        }
    }
    drop(compactor);
}

/// Panics where a database is not as the book has it.
fn check(vfs: &MemVfs, actors: &mut [Actor], is_power_cut: bool, context: &str) {
    let found = match contents(vfs) {
        Err(StoreError::Missing { .. }) => None,
        found => Some(found.unwrap_or_else(|error| panic!("{context}: {error}"))),
    };
    if found.is_some() {
        assert_sound(vfs);
    }
    let found = states(&found.unwrap_or_default());
    for actor in actors {
        actor.book.check(&found, context);
        if let Some(keeper) = actor.keeper() {
            keeper.check(vfs, is_power_cut);
        }
    }
}

/// Nothing fails any more: everybody can go on with the same store.
fn go_on(store: &Store, actors: &mut [Actor]) {
    for actor in &mut *actors {
        let mut failures = Vec::new();
        while let Err(failure) = actor.step(store) {
            failures.push(failure);
            assert!(failures.len() < ATTEMPTS, "the store does not go on: {actor:?}: {failures:?}");
        }
    }
    let found = read(store).unwrap();
    actors.iter_mut().for_each(|actor| actor.book.settle(&states(&found), "in the process that goes on"));
}

/// One life of the process: from its start to a crash. What it leaves behind.
fn live(
    before: &MemVfs,
    actors: &mut [Actor],
    schedule: Schedule,
    faults: &Faults,
    dice: &mut Dice,
) -> (MemVfs, u64) {
    let vfs = faults.plan(before);
    let is_over = || faults.power_is_cut(vfs.operations());
    let store = open_again(&vfs);
    if let Some(store) = &store {
        if let Some(found) = read(store) {
            actors.iter_mut().for_each(|actor| actor.book.settle(&states(&found), "opened"));
        }
        work(store, actors, schedule, &is_over, dice);
        if !is_over() {
            vfs.mend();
            go_on(store, actors);
        }
    }
    let operations = vfs.operations();
    let Some(crash) = faults.crash else {
        drop(store);
        return (vfs.inner().clone(), operations);
    };
    if faults.closes {
        drop(store);
        return (vfs.after_crash(crash), operations);
    }
    let left = vfs.after_crash(crash);
    drop(store);
    (left, operations)
}

/// Tells how to repeat a simulation that panics.
struct Told(u64, String);

impl Drop for Told {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Self(seed, what) = self;
            eprintln!(
                "{what}\nto repeat it: LODE_CRASH_SEED={seed} LODE_CRASH_POINTS=1 cargo test -p lode-store simulation"
            );
        }
    }
}

/// A simulation: the crashes that depend on a seed.
fn simulate(seed: u64, operations: [u64; 2]) {
    let mut dice = Dice::new(seed);
    let schedule = Schedule { has_threads: seed % 2 == 1, has_compactor: seed % 4 == 1 };
    let mut actors = Actor::all(&mut dice);
    let mut vfs = MemVfs::new();
    for round in 0..ROUNDS {
        let faults = Faults::choose(&mut dice, operations);
        let told = Told(seed, format!("round {round}, {schedule:?}, {faults:?}"));
        vfs = live(&vfs, &mut actors, schedule, &faults, &mut dice).0;
        check(&vfs, &mut actors, faults.crash.is_some(), "after the crash");
        drop(told);
    }
    let _told = Told(seed, "after the last round".to_owned());
    let vfs = FaultVfs::counting(vfs, false);
    let store = open(&vfs).unwrap();
    let found = read(&store).unwrap();
    actors.iter_mut().for_each(|actor| actor.book.settle(&states(&found), "at the end"));
    go_on(&store, &mut actors);
    drop(store);
    check(vfs.inner(), &mut actors, false, "at the end");
}

/// About how many operations a life has that nothing disturbs, without reads and with them.
fn operations() -> [u64; 2] {
    [false, true].map(|reads_count| {
        let mut dice = Dice::new(1);
        let mut actors = Actor::all(&mut dice);
        let faults = Faults::none(reads_count);
        let schedule = Schedule { has_threads: false, has_compactor: false };
        live(&MemVfs::new(), &mut actors, schedule, &faults, &mut dice).1
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|value| value.parse().unwrap_or_else(|_| panic!("{name}={value} is no number")))
}

#[test]
fn crashes() {
    let points = number("LODE_CRASH_POINTS").unwrap_or(1000);
    let first = number("LODE_CRASH_SEED").unwrap_or(1);
    let (operations, next) = (operations(), AtomicU64::new(0));
    let simulations = points.div_ceil(ROUNDS);
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..lode_base::cores::cores() {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= simulations || lock(&failures).len() >= FAILURES_MAX {
                        break;
                    }
                    if catch_unwind(|| simulate(first + number, operations)).is_err() {
                        lock(&failures).push(first + number);
                    }
                    if number % 5000 == 4999 {
                        println!("{} crashes", (number + 1) * ROUNDS);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "the simulations of these seeds failed: {failures:?}");
}

#[test]
fn everything_happens_in_a_simulation() {
    let mut dice = Dice::new(7);
    let mut actors = Actor::all(&mut dice);
    let schedule = Schedule { has_threads: false, has_compactor: false };
    let vfs = live(&MemVfs::new(), &mut actors, schedule, &Faults::none(true), &mut dice).0;
    check(&vfs, &mut actors, true, "without a fault");
    assert!(contents(&vfs).unwrap().len() > 10);
}

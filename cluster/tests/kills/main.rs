//! Workers that are killed, stopped, ended and started again at random while queries run: no wrong answer, and nothing is left behind. A process of its
//! own, since files and threads are those of all tests of a process.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[expect(dead_code, reason = "other tests need more of it")]
#[path = "../it/support.rs"]
mod support;

use crate::support::{Process, eager, options, people, prepared, sorted, until};
use lode_cluster::Head;
use lode_engine::store::{CompactOptions, compact};
use lode_engine::{
    Database, Elsewhere, EngineError, MemoryBudget, PreparedQuery, QueryOptions, QueryResults, UpdateOptions,
};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Workers that lose their lives, or as many as the environment's `LODE_KILLS` says.
const KILLS: u64 = 12;
const WORKERS: usize = 4;
const ASKERS: usize = 3;

const TEXTS: [&str; 10] = [
    "SELECT (COUNT(*) AS ?c) (COUNT(DISTINCT ?d) AS ?x) { ?a <http://e/knows> ?b . ?b <http://e/knows> ?d . ?d <http://e/knows> ?e }",
    "SELECT ?a ?b (COUNT(*) AS ?c) { ?a <http://e/knows> ?b . ?b <http://e/knows> ?d } GROUP BY ?a ?b",
    "SELECT ?k (COUNT(*) AS ?c) { ?s <http://e/kind> ?k ; <http://e/n> ?n FILTER (?n > 100) } GROUP BY ?k",
    "SELECT ?s ?n { ?s <http://e/kind> <http://e/k3> ; <http://e/n> ?n } ORDER BY ?n LIMIT 50",
    "SELECT ?a ?d { ?a <http://e/knows> ?b . ?b <http://e/knows> ?d FILTER (?a != ?d) }",
    // Exchanges of all kinds: groups in parts with values that are no ids, distinct values of groups, DISTINCT, joins of two sides with groups above
    // them, and joins that keep rows without a partner.
    "SELECT ?a (SUM(?n * 100000000000000000.5) AS ?x) (AVG(?n / 7) AS ?y) (MIN(STR(?b)) AS ?z) { ?b <http://e/knows> ?a ; <http://e/n> ?n } GROUP BY ?a",
    "SELECT ?k (COUNT(DISTINCT ?a) AS ?x) { ?s <http://e/kind> ?k ; <http://e/knows> ?a } GROUP BY ?k",
    "SELECT DISTINCT ?a ?k { ?s <http://e/knows> ?a ; <http://e/kind> ?k }",
    "SELECT ?k ?j (COUNT(*) AS ?x) (SUM(?n) AS ?y) { ?a <http://e/knows> ?b ; <http://e/n> ?n ; <http://e/kind> ?k . ?b <http://e/kind> ?j ; <http://e/m> ?m } GROUP BY ?k ?j",
    "SELECT DISTINCT ?k ?m { ?a <http://e/knows> ?b ; <http://e/kind> ?k OPTIONAL { ?b <http://e/kind> <http://e/k3> ; <http://e/m> ?m FILTER (?m > 100) } }",
];
/// Of those, so many have rows that workers exchange.
const EXCHANGES: usize = 6;

/// A sequence that looks like one of chance.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (x ^ (x >> 31)) % most
    }
}

/// Workers, and the file that says who they are.
struct Crew<'a> {
    place: &'a Path,
    folder: &'a Path,
    file: PathBuf,
    workers: Vec<Process>,
    /// Those that end by themselves.
    ending: Vec<Process>,
}

impl<'a> Crew<'a> {
    fn new(place: &'a Path, folder: &'a Path) -> Self {
        let workers = (0..WORKERS).map(|_| Process::start(place, folder)).collect();
        let crew = Self { place, folder, file: folder.join("workers"), workers, ending: Vec::new() };
        crew.tell();
        crew
    }

    fn tell(&self) {
        let lines: String = self.workers.iter().map(|worker| format!("{}\n", worker.url)).collect();
        // In one step, as people should: who reads meanwhile sees one list or the other.
        let new = self.folder.join("workers.new");
        std::fs::write(&new, lines).unwrap();
        std::fs::rename(&new, &self.file).unwrap();
    }

    fn begin_again(&mut self, at: usize) -> Process {
        std::mem::replace(&mut self.workers[at], Process::start(self.place, self.folder))
    }

    fn kill_one(&mut self, chance: &mut Chance) -> &'static str {
        let at = chance.below(WORKERS as u64) as usize;
        let pause = Duration::from_millis(chance.below(5_000));
        match chance.below(5) {
            0 => {
                self.workers[at].kill();
                self.begin_again(at);
                self.tell();
                "killed"
            }
            1 => {
                self.workers[at].kill();
                std::thread::sleep(pause);
                self.begin_again(at);
                self.tell();
                "killed, and away for a while"
            }
            2 => {
                self.workers[at].signal("STOP");
                std::thread::sleep(pause);
                self.workers[at].signal("CONT");
                "stood still"
            }
            3 => {
                self.workers[at].signal("STOP");
                std::thread::sleep(pause);
                self.workers[at].kill();
                self.begin_again(at);
                self.tell();
                "stood still, then killed"
            }
            _ => {
                let old = self.begin_again(at);
                self.tell();
                old.signal("TERM");
                self.ending.push(old);
                "was asked to end"
            }
        }
    }
}

/// What came of queries.
#[derive(Debug, Default)]
struct Outcome {
    right: AtomicU64,
    /// Clear errors: rows had gone out, or workers were lost before.
    given_up: AtomicU64,
    spread: AtomicU64,
    /// Queries whose rows workers exchange that were answered, that ended with such an error, and that run now.
    exchanged: AtomicU64,
    exchanged_given_up: AtomicU64,
    no_room: AtomicU64,
    exchanging: AtomicU64,
    /// Right answers that a worker was lost for, once or more.
    begun_again: AtomicU64,
}

/// Whether workers exchange rows of a query, and how often one of them was lost.
fn told(query: &PreparedQuery) -> (bool, u64) {
    let report = query.report().elsewhere.unwrap_or_default();
    let fragments = report["fragments"].as_array().map_or(&[] as &[_], Vec::as_slice);
    let exchanges = fragments.iter().any(|fragment| fragment["exchange"] == "by hash between workers");
    (exchanges, report["workers_lost"].as_u64().unwrap_or(0))
}

fn rows(results: QueryResults) -> Result<Vec<String>, EngineError> {
    let QueryResults::Solutions(mut solutions) = results else { panic!("rows") };
    let mut rows: Vec<String> = solutions.collect_rows()?.iter().map(|row| format!("{row:?}")).collect();
    rows.sort_unstable();
    Ok(rows)
}

fn ask(database: &Database, options: &QueryOptions, (text, native): (&str, &[String]), outcome: &Outcome) {
    let add = |counter: &AtomicU64, more: bool| counter.fetch_add(u64::from(more), Ordering::Relaxed);
    let query = database.prepare(text, options).unwrap();
    add(&outcome.spread, query.report().elsewhere.is_some());
    let (exchanges, _) = told(&query);
    add(&outcome.exchanging, exchanges);
    let answer = query.run().and_then(rows);
    outcome.exchanging.fetch_sub(u64::from(exchanges), Ordering::Relaxed);
    match answer {
        Ok(found) => {
            assert!(found == native, "a wrong answer: {} rows for {}: {text}", found.len(), native.len());
            add(&outcome.right, true);
            add(&outcome.exchanged, exchanges);
            add(&outcome.begun_again, told(&query).1 > 0);
        }
        Err(error) => {
            let text = error.to_string();
            // Workers are gone, or have no memory for rows that others send, and rows have gone out already.
            assert!(text.contains("it could not be begun again"), "{text}");
            assert!(text.contains("workers of the query are gone") || text.contains("--memory"), "{text}");
            add(&outcome.given_up, true);
            add(&outcome.no_room, text.contains("--memory"));
            add(&outcome.exchanged_given_up, exchanges);
        }
    }
}

fn files_and_threads() -> (usize, usize) {
    let count = |folder: &str| std::fs::read_dir(folder).map_or(0, Iterator::count);
    (count("/proc/self/fd"), count("/proc/self/task"))
}

#[test]
fn kills_at_random_under_load() {
    let kills = std::env::var("LODE_KILLS").ok().and_then(|count| count.parse().ok()).unwrap_or(KILLS);
    let folder = tempfile::tempdir().unwrap();
    let (database, place) = people(folder.path(), 6_000);
    let native = TEXTS.map(|text| sorted(prepared(&database, text, None).run().unwrap()));
    let mut crew = Crew::new(&place, folder.path());
    let mut head_options = eager(Vec::new());
    head_options.workers_file = Some(crew.file.clone());
    let head: Arc<dyn Elsewhere> = Arc::new(Head::new(head_options).unwrap());
    let pool = MemoryBudget::new(512 << 20);
    let asked = QueryOptions { memory: Some(pool.clone()), ..options(Some(&head)) };
    let outcome = Outcome::default();
    for (text, native) in TEXTS.iter().zip(&native) {
        ask(&database, &asked, (text, native), &outcome);
    }
    assert_eq!(outcome.spread.load(Ordering::Relaxed), TEXTS.len() as u64);
    assert!(outcome.exchanged.load(Ordering::Relaxed) >= EXCHANGES as u64, "{outcome:?}");
    let before = files_and_threads();
    let resident = lode_base::host::resident_bytes();
    let is_over = AtomicBool::new(false);
    let failed = Mutex::new(None);
    let mut amid = 0;
    std::thread::scope(|scope| {
        for asker in 0..ASKERS {
            let (database, asked, native, outcome, is_over) =
                (&database, &asked, &native, &outcome, &is_over);
            scope.spawn(move || {
                let mut chance = Chance(asker as u64);
                while !is_over.load(Ordering::Relaxed) {
                    let which = chance.below(TEXTS.len() as u64) as usize;
                    ask(database, asked, (TEXTS[which], &native[which]), outcome);
                }
            });
        }
        let killing = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut chance = Chance(kills);
            for kill in 0..kills {
                std::thread::sleep(Duration::from_millis(50 + chance.below(500)));
                let exchanging = outcome.exchanging.load(Ordering::Relaxed);
                amid += u64::from(exchanging > 0);
                let what = crew.kill_one(&mut chance);
                println!("{kill}: {what}, while {exchanging} queries exchanged rows");
            }
        }));
        is_over.store(true, Ordering::Relaxed);
        *failed.lock().unwrap() = killing.err();
    });
    assert!(failed.into_inner().unwrap().is_none(), "a worker did not begin");
    println!("{kills} kills, {amid} of them while rows were exchanged: {outcome:?}");
    let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    assert!(of(&outcome.right) > of(&outcome.given_up) && of(&outcome.exchanged) > TEXTS.len() as u64);
    assert_eq!(of(&outcome.exchanging), 0);
    for ending in &mut crew.ending {
        assert!(ending.ended_well(), "a worker that was asked to end has failed");
    }
    // Queries go on as before, and nothing is left of those that were.
    let after = Outcome::default();
    until("all workers are there", || {
        let status = head.status().unwrap();
        let there = |worker: &serde_json::Value| worker["state"] == "there";
        status["workers"].as_array().unwrap().iter().filter(|worker| there(worker)).count() == WORKERS
    });
    for (text, native) in TEXTS.iter().zip(&native) {
        ask(&database, &asked, (text, native), &after);
    }
    assert_eq!(after.right.into_inner(), TEXTS.len() as u64);
    until("memory is given back", || pool.used() == 0);
    until("files and threads are closed", || {
        let now = files_and_threads();
        now.0 <= before.0 + WORKERS && now.1 <= before.1 + 64
    });
    for worker in &crew.workers {
        until("nothing runs at a worker", || worker.told("parts_running") == Some(0.0));
        until("its memory is free", || worker.told("memory_bytes").is_some_and(|bytes| bytes < 64e6));
        let told =
            ["open_files", "versions_open", "memory_bytes", "resident_bytes"].map(|name| worker.told(name));
        println!("{}: {told:?} files, versions, memory, resident", worker.url);
        assert!(told[0].unwrap() < 100.0 && told[1].unwrap() <= 1.0, "{told:?}");
    }
    let grown =
        resident.zip(lode_base::host::resident_bytes()).map(|(before, now)| now.saturating_sub(before));
    println!("files and threads {before:?} and {:?}, {grown:?} bytes more resident", files_and_threads());
    nothing_is_pinned(&database, &place);
}

/// What the head has read is removed once it is one segment: nobody holds an earlier version.
fn nothing_is_pinned(database: &Database, place: &Path) {
    database.update("INSERT DATA { <http://e/s1> <http://e/new> 1 }", &UpdateOptions::default()).unwrap();
    compact(database.store(), &CompactOptions::default(), &Arc::default()).unwrap();
    let segments = || {
        let names = std::fs::read_dir(place).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().starts_with("segment")).count()
    };
    until("segments of earlier versions are removed", || segments() == 1);
}

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
    Database, Elsewhere, EngineError, MemoryBudget, QueryOptions, QueryResults, UpdateOptions,
};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Workers that lose their lives, or as many as the environment's `LODE_KILLS` says.
const KILLS: u64 = 12;
const WORKERS: usize = 4;
const ASKERS: usize = 3;

const TEXTS: [&str; 5] = [
    "SELECT (COUNT(*) AS ?c) (COUNT(DISTINCT ?d) AS ?x) { ?a <http://e/knows> ?b . ?b <http://e/knows> ?d . ?d <http://e/knows> ?e }",
    "SELECT ?a ?b (COUNT(*) AS ?c) { ?a <http://e/knows> ?b . ?b <http://e/knows> ?d } GROUP BY ?a ?b",
    "SELECT ?k (COUNT(*) AS ?c) { ?s <http://e/kind> ?k ; <http://e/n> ?n FILTER (?n > 100) } GROUP BY ?k",
    "SELECT ?s ?n { ?s <http://e/kind> <http://e/k3> ; <http://e/n> ?n } ORDER BY ?n LIMIT 50",
    "SELECT ?a ?d { ?a <http://e/knows> ?b . ?b <http://e/knows> ?d FILTER (?a != ?d) }",
];

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
#[derive(Default)]
struct Outcome {
    right: AtomicU64,
    /// Clear errors: rows had gone out, or workers were lost before.
    given_up: AtomicU64,
    spread: AtomicU64,
}

fn rows(results: QueryResults) -> Result<Vec<String>, EngineError> {
    let QueryResults::Solutions(mut solutions) = results else { panic!("rows") };
    let mut rows: Vec<String> = solutions.collect_rows()?.iter().map(|row| format!("{row:?}")).collect();
    rows.sort_unstable();
    Ok(rows)
}

fn ask(database: &Database, options: &QueryOptions, (text, native): (&str, &[String]), outcome: &Outcome) {
    let query = database.prepare(text, options).unwrap();
    outcome.spread.fetch_add(u64::from(query.report().elsewhere.is_some()), Ordering::Relaxed);
    match query.run().and_then(rows) {
        Ok(found) => {
            assert!(found == native, "a wrong answer: {} rows for {}: {text}", found.len(), native.len());
            outcome.right.fetch_add(1, Ordering::Relaxed);
        }
        Err(error) => {
            let text = error.to_string();
            assert!(text.contains("workers of the query are gone"), "{text}");
            outcome.given_up.fetch_add(1, Ordering::Relaxed);
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
    let before = files_and_threads();
    let resident = lode_base::host::resident_bytes();
    let is_over = AtomicBool::new(false);
    let failed = Mutex::new(None);
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
                let what = crew.kill_one(&mut chance);
                println!("{kill}: {what}");
            }
        }));
        is_over.store(true, Ordering::Relaxed);
        *failed.lock().unwrap() = killing.err();
    });
    assert!(failed.into_inner().unwrap().is_none(), "a worker did not begin");
    let Outcome { right, given_up, spread } = outcome;
    let (right, given_up, spread) = (right.into_inner(), given_up.into_inner(), spread.into_inner());
    println!("{kills} kills: {right} right answers, {given_up} clear errors, {spread} with parts elsewhere");
    assert!(right > given_up && spread > TEXTS.len() as u64, "{right} {given_up} {spread}");
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

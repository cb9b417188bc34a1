//! Loads that are shared out to processes (`lode load --workers`): the same database as by one process, whoever is killed.
//!
//! `LODE_KILLS` says how many moments are tried, `LODE_SEED` which.

use crate::kill::{number, random};
use crate::lode::{Lode, note};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Moments unless told otherwise.
const KILLS: u64 = 4;
/// Nothing here takes as long.
const PATIENCE: Duration = Duration::from_secs(300);

const TURTLE: &str = "@prefix e: <http://e/> . e:a e:p 1, 01, \"x\"@en, 2.5, [ e:p \"y\", _:named ] . _:named e:q <<( e:a e:p 1 )>>, <<( _:named e:p <<( e:a e:q _:other )>> )>> .";

/// Files in several syntaxes.
fn prepared() -> Lode {
    let lode = Lode::new();
    let generate = ["bench", "bsbm", "generate", "--products", "300", "--quiet", "--output", "big.nt"];
    lode.run(&generate).ok();
    lode.write("small.ttl", TURTLE);
    lode.write("other.nq", "<http://e/a> <http://e/p> _:b <http://e/g> .\n_:b <http://e/p> \"z\" .\n");
    lode
}

/// All quads in their order, which is that of their numbers. Blank nodes have the same numbers.
fn quads(lode: &Lode, database: &str) -> String {
    lode.run(&["dump", database]).ok()
}

#[test]
fn the_same_database_as_by_one_process() {
    let lode = prepared();
    let files = ["big.nt", "small.ttl", "other.nq"];
    lode.run(&[&["load", "one", "--quiet"][..], &files].concat()).ok();
    let shared = ["load", "many", "--workers", "3", "--parts", "4", "--quiet", "--json"];
    let report = lode.run(&[&shared[..], &files].concat()).ok();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    // One for triple terms with blank nodes in them.
    assert_eq!(report["segments"], 5, "{report}");
    let stats = |database| {
        let stats = lode.run(&["stats", database, "--json"]).ok();
        serde_json::from_str::<serde_json::Value>(&stats).unwrap()
    };
    let (one, many) = (stats("one"), stats("many"));
    for what in ["quads", "terms", "blank_nodes"] {
        assert_eq!(one[what], many[what], "{what}: {one} {many}");
    }
    assert_eq!(report["added"], one["quads"], "{report}");
    assert!(quads(&lode, "one") == quads(&lode, "many"));
    lode.run(&["check", "many", "--quiet"]).ok();
    assert!(!lode.path("many.load").exists());
    // It is a database like others, and one segment of it is that of one process.
    lode.run(&["compact", "many", "--quiet"]).ok();
    assert!(quads(&lode, "one") == quads(&lode, "many"));
    lode.run(&["update", "many", "INSERT DATA { <http://e/a> <http://e/new> 7 }"]).ok();
    lode.run(&["check", "many", "--quiet"]).ok();
    // More goes into it as by one process, the same quads and blank nodes of its own among them.
    lode.run(&["update", "one", "INSERT DATA { <http://e/a> <http://e/new> 7 }"]).ok();
    let more = concat!(
        "<http://e/a> <http://e/new> \"7\"^^<http://www.w3.org/2001/XMLSchema#integer> .\n",
        "_:b <http://e/p> <http://e/never> .\n",
        "<http://e/a> <http://e/p> \"x\"@en <http://e/h> .\n",
    );
    lode.write("more.nq", more);
    let more = ["big.nt", "more.nq", "--json", "--quiet"];
    let read = |told: String| serde_json::from_str::<serde_json::Value>(&told).unwrap();
    let by_one = read(lode.run(&[&["load", "one"][..], &more].concat()).ok());
    let by_many = read(lode.run(&[&["load", "many", "--workers", "2"][..], &more].concat()).ok());
    for what in ["quads", "added", "existing", "duplicates", "new_terms", "blank_nodes"] {
        assert_eq!(by_one[what], by_many[what], "{what}: {by_one} {by_many}");
    }
    assert!(quads(&lode, "one") == quads(&lode, "many") && !lode.path("many.load").exists());
    lode.run(&["check", "many", "--quiet"]).ok();
}

#[test]
fn into_a_database_that_has_changed_it_does_not_go_on() {
    let lode = prepared();
    lode.run(&["load", "victim", "small.ttl", "--quiet"]).ok();
    let command = ["load", "victim", "big.nt", "--workers", "1", "--memory", "96MiB"];
    let mut child = lode.command(&command).stderr(Stdio::piped()).spawn().unwrap();
    let caught = until_phase(&lode.path("victim.load"), "read", &mut child);
    child.kill().unwrap();
    child.wait().unwrap();
    if caught.is_none() {
        return;
    }
    for (command, is_told) in [
        (&["stats", "victim"][..], true),
        (&["check", "victim"], true),
        (&["query", "victim", "ASK {}"], false),
    ] {
        let outcome = lode.run(command);
        assert_eq!(
            outcome.err.contains("victim.load is the work of a load with --workers"),
            is_told,
            "{outcome:?}"
        );
        outcome.ok();
    }
    lode.run(&["update", "victim", "INSERT DATA { <http://e/a> <http://e/new> 7 }", "--quiet"]).ok();
    let before = quads(&lode, "victim");
    let told = lode.run(&command).fails(1);
    assert!(told.contains("holds other data than when the load began"), "{told}");
    assert!(quads(&lode, "victim") == before);
    std::fs::remove_dir_all(lode.path("victim.load")).unwrap();
    lode.run(&command).ok();
    assert!(quads(&lode, "victim").len() > before.len());
    let check = lode.run(&["check", "victim", "--quiet"]);
    assert!(!check.err.contains("victim.load"), "{check:?}");
    check.ok();
}

#[test]
fn what_cannot_be_loaded_so_is_refused() {
    let lode = Lode::new();
    lode.write("a.nt", "<http://e/a> <http://e/p> \"x\" .\n");
    let told = lode.run(&["load-worker", "nothing"]).fails(1);
    assert!(told.contains("there is no load in nothing"), "{told}");
    let told = lode.run(&["load", "db", "-", "--workers", "2"]).fails(2);
    assert!(told.contains("more than once"), "{told}");
    let told = lode.run(&["load", "a.nt", "db", "--workers", "2"]);
    assert!(told.code != 0 && told.err.contains("database comes first"), "{told:?}");
    lode.run(&["load", "db", "a.nt", "--work", "x"]).fails(2);
    lode.run(&["load", "db", "a.nt", "--workers", "0"]).fails(2);
    for option in [&["--text"][..], &["--materialise", "rdfs"], &["--quarantine", "q"], &["--dry-run"]] {
        let told = lode.run(&[&["load", "db", "a.nt", "--workers", "2"], option].concat()).fails(2);
        assert!(told.contains("cannot be used with"), "{told}");
    }
    // Somebody's photos are not a work folder.
    std::fs::create_dir(lode.path("photos")).unwrap();
    lode.write("photos/cat", "miaow");
    let told = lode.run(&["load", "db", "a.nt", "--workers", "2", "--work", "photos"]).fails(1);
    assert!(told.contains("holds other files") && lode.path("photos/cat").exists(), "{told}");
    assert!(!lode.path("db").exists());
}

#[test]
fn what_is_wrong_is_told_once_and_can_be_mended() {
    let lode = Lode::new();
    lode.write("bad.nt", "<http://e/a> <http://e/p> \"x\" .\n<http://e/a> nonsense .\n");
    let load = ["load", "db", "bad.nt", "--workers", "2"];
    let told = lode.run(&load).fails(4);
    assert!(told.contains("bad.nt:2:14:") && told.contains("begins at byte 32)"), "{told}");
    assert!(told.matches("error").count() == 1 && told.contains("nothing was loaded"), "{told}");
    assert!(!lode.path("db").exists() && lode.path("db.load").exists());
    // Mended to the same length, and to another.
    lode.write("bad.nt", "<http://e/a> <http://e/p> \"x\" .\n<http://e/a> <e:x> 'y'.\n");
    let told = lode.run(&load).fails(4);
    assert!(told.contains("bad.nt:2:"), "{told}");
    lode.write("bad.nt", "<http://e/a> <http://e/p> \"x\" .\n<http://e/a> <e:x> <e:y> .\n");
    let told = lode.run(&load).fails(1);
    assert!(told.contains("other files, or with other options") && told.contains("db.load"), "{told}");
    std::fs::remove_dir_all(lode.path("db.load")).unwrap();
    lode.run(&load).ok();
    assert_eq!(quads(&lode, "db").lines().count(), 2);
    // Far behind, in another piece.
    let line = format!("<http://e/a> <http://e/p> \"{}\" .\n", "x".repeat(4000));
    let count = (40 << 20) / line.len();
    let mut text = line.repeat(count);
    let begin = text.len();
    text += "<http://e/a> nonsense .\n";
    text += &line;
    lode.write("long.nt", &text);
    let told = lode.run(&["load", "far", "long.nt", "--workers", "2"]).fails(4);
    assert!(told.contains(&format!("long.nt:{}:14:", count + 1)), "{told}");
    assert!(told.contains(&format!("begins at byte {begin})")), "{told}");
    text.replace_range(begin..begin + 23, "<http://e/a> <e:p> 'y'.");
    let good = text.replace("'y'", "\"y\"");
    lode.write("long.nt", &good);
    lode.run(&["load", "far", "long.nt", "--workers", "2"]).ok();
    assert_eq!(quads(&lode, "far").lines().count(), 2);
    assert!(!lode.path("far.load").exists());
}

/// Processes that a process has started.
fn children(process: &Child) -> Vec<u32> {
    let path = format!("/proc/{0}/task/{0}/children", process.id());
    let found = std::fs::read_to_string(path).unwrap_or_default();
    found.split_whitespace().filter_map(|id| id.parse().ok()).collect()
}

fn signal(process: u32, name: &str) {
    let _ = Command::new("kill").args([name, &process.to_string()]).status();
}

/// The worker among these that says it is at this claim.
fn worker_at(work: &Path, claim: &str, workers: &[u32]) -> Option<u32> {
    let beat = std::fs::read_to_string(work.join("beats").join(claim)).ok()?;
    let name = beat.split(' ').nth(1)?.split('.').next()?.to_owned();
    workers.iter().copied().find(|worker| {
        let line = std::fs::read(format!("/proc/{worker}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|word| word == name.as_bytes())
    })
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// Waits until somebody is at a task of a phase, or the load has ended: the claim, and who.
fn until_phase(work: &Path, phase: &str, child: &mut Child) -> Option<(String, u32)> {
    let start = Instant::now();
    let mut seen = false;
    loop {
        let done = names(&work.join("done"));
        for claim in names(&work.join("claims")) {
            let task = claim.split('.').next().unwrap().to_owned();
            if !claim.starts_with(phase) || done.contains(&task) {
                continue;
            }
            if let Some(worker) = worker_at(work, &claim, &children(child)) {
                return Some((claim, worker));
            }
        }
        seen |= work.join("plan").exists();
        if (seen && !work.join("plan").exists()) || child.try_wait().unwrap().is_some() {
            return None;
        }
        assert!(start.elapsed() < PATIENCE, "{phase}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn killed_in_each_phase_it_goes_on() {
    let lode = prepared();
    killed_in_each_phase(&lode, "victim", &lode.path("victim.load"), &["--memory", "96MiB"]);
}

#[test]
fn killed_in_each_phase_a_load_to_an_address_goes_on() {
    let lode = prepared();
    std::fs::create_dir(lode.path("tmp")).unwrap();
    let url = format!("file://{}", lode.path("victim").display());
    killed_in_each_phase(&lode, &url, &lode.path("victim/load"), &["--memory", "96MiB", "--work", "tmp"]);
    // What those who were killed had left there is gone with the next.
    assert!(names(&lode.path("tmp")).is_empty());
}

/// Kills a worker, and whoever looks after them, in each phase of loads of which this is the work.
fn killed_in_each_phase(lode: &Lode, target: &str, work: &Path, options: &[&str]) {
    lode.run(&["load", "one", "big.nt", "small.ttl", "--quiet"]).ok();
    let expected = quads(lode, "one");
    let command = [&["load", target, "big.nt", "small.ttl", "--workers", "2"], options].concat();
    for phase in ["read", "cut", "terms", "triples", "rows", "orders"] {
        for kills_worker in [true, false] {
            let what = format!("{phase}, {}", if kills_worker { "worker" } else { "coordinator" });
            let mut child = lode.command(&command).stderr(Stdio::piped()).spawn().unwrap();
            let caught = until_phase(work, phase, &mut child);
            let done_before = names(&work.join("done"));
            let workers = children(&child);
            match &caught {
                Some((_, worker)) if kills_worker => signal(*worker, "-KILL"),
                Some(_) => child.kill().unwrap(),
                None => {}
            }
            let output = child.wait_with_output().unwrap();
            let told = String::from_utf8(output.stderr).unwrap();
            note(format_args!("{what}: {caught:?}, {} done before", done_before.len()));
            if kills_worker || caught.is_none() {
                assert!(output.status.success(), "{what}: {told}");
            } else if work.join("plan").exists() {
                assert!(!told.contains("error"), "workers of a killed one end without a word: {told}");
                let again = lode.run(&command);
                assert!(again.err.contains("goes on with the load in"), "{what}: {again:?}");
                again.ok();
            }
            // Nobody is left.
            for worker in workers {
                let line = std::fs::read(format!("/proc/{worker}/cmdline")).unwrap_or_default();
                assert!(
                    !String::from_utf8_lossy(&line).contains(&*lode.path("victim").to_string_lossy()),
                    "{what}"
                );
            }
            assert!(quads(lode, target) == expected, "{what}");
            lode.run(&["check", target, "--quiet"]).ok();
            assert!(!work.exists(), "{what}");
            std::fs::remove_dir_all(lode.path("victim")).unwrap();
        }
    }
}

/// The largest file in folders below one whose names begin so.
fn largest(folder: &Path, prefix: &str) -> PathBuf {
    let folders = names(folder).into_iter().filter(|name| name.starts_with(prefix));
    let files = folders.flat_map(|name| {
        let folder = folder.join(name);
        names(&folder).into_iter().map(move |file| folder.join(file))
    });
    files.max_by_key(|path| std::fs::metadata(path).map_or(0, |found| found.len())).unwrap()
}

#[test]
fn segments_that_the_disk_damages_are_made_again() {
    let lode = prepared();
    lode.run(&["load", "one", "big.nt", "small.ttl", "--quiet"]).ok();
    std::fs::create_dir(lode.path("tmp")).unwrap();
    let url = format!("file://{}", lode.path("published").display());
    damaged_segment(
        &lode,
        "victim",
        &lode.path("victim.load"),
        (&lode.path("victim.load/out"), "orders-000000"),
    );
    let published = lode.path("published");
    damaged_segment(&lode, &url, &published.join("load"), (&published, "segment-"));
}

/// Kills a load that has made some of its segments, and changes a byte of one.
fn damaged_segment(lode: &Lode, target: &str, work: &Path, (folder, prefix): (&Path, &str)) {
    let command =
        ["load", target, "big.nt", "small.ttl", "--workers", "1", "--parts", "4", "--memory", "96MiB"];
    let mut child = lode.command(&command).stderr(Stdio::piped()).spawn().unwrap();
    let caught = until_phase(work, "orders-000002", &mut child);
    if let Some((_, worker)) = &caught {
        // Before it has written any of the third.
        signal(*worker, "-KILL");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    note(format_args!("{target}: {caught:?}"));
    if caught.is_none() {
        return;
    }
    let path = largest(folder, prefix);
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    std::fs::write(&path, bytes).unwrap();
    let again = lode.run(&command);
    assert!(again.code == 0 && again.err.contains("goes on with the load in"), "{again:?}");
    assert!(again.err.contains("warning: orders-00000") && again.err.contains("made again"), "{again:?}");
    lode.run(&["check", target, "--quiet"]).ok();
    assert!(quads(lode, target) == quads(lode, "one") && !work.exists());
}

#[test]
fn an_address_has_the_database_that_one_process_makes() {
    let lode = prepared();
    let files = ["big.nt", "small.ttl", "other.nq"];
    lode.run(&[&["load", "one", "--quiet"][..], &files].concat()).ok();
    let url = format!("file://{}", lode.path("published").display());
    let told = lode.run(&[&["load", &url, "--workers", "2", "--parts", "3"][..], &files].concat());
    assert!(told.code == 0 && told.err.contains("published version 1 at file:///"), "{told:?}");
    assert!(quads(&lode, &url) == quads(&lode, "one"));
    lode.run(&["check", &url, "--quiet"]).ok();
    // Prefixes come along, and a folder can be made of it, which goes on.
    let named = lode.run(&["query", &url, "CONSTRUCT { ?s <http://e/p> 1 } { ?s <http://e/p> 1 }"]).ok();
    assert!(named.contains("e:a") || named.contains("e:p"), "{named}");
    lode.run(&["restore", &url, "again", "--quiet"]).ok();
    lode.run(&["update", "again", "INSERT DATA { <http://e/a> <http://e/new> 7 }", "--quiet"]).ok();
    let told = lode.run(&["publish", "again", &url, "--quiet"]).fails(1);
    assert!(told.contains("--take-over"), "{told}");
    lode.run(&["publish", "again", &url, "--quiet", "--take-over"]).ok();
    assert!(quads(&lode, &url) == quads(&lode, "again"));
    // What may not be.
    let told = lode.run(&["load", &url, "other.nq", "--workers", "2"]).fails(1);
    assert!(told.contains("published there already"), "{told}");
    let told = lode.run(&["load", &url, "other.nq"]).fails(2);
    assert!(told.contains("--workers N loads into a new one there"), "{told}");
    let told = lode.run(&["load", "lode+http://127.0.0.1:1/x", "other.nq", "--workers", "2"]).fails(2);
    assert!(told.contains("can only be read"), "{told}");
    let told = lode.run(&["load-worker", &format!("{url}2")]).fails(1);
    assert!(told.contains("there is no load in file:///"), "{told}");
}

#[test]
fn workers_elsewhere_take_part_in_a_load_to_an_address() {
    let lode = prepared();
    lode.run(&["load", "one", "big.nt", "--quiet"]).ok();
    let (url, work) = (format!("file://{}", lode.path("many").display()), lode.path("many/load"));
    let command = ["load", &url, "big.nt", "--workers", "1", "--parts", "2", "--memory", "96MiB"];
    let mut child = lode.command(&command).stderr(Stdio::piped()).spawn().unwrap();
    let caught = until_phase(&work, "read", &mut child);
    // The only worker of the load is stopped: another does its tasks, and has its files elsewhere.
    if let Some((_, worker)) = &caught {
        signal(*worker, "-STOP");
    }
    let helper = lode.run(&["load-worker", &url, "--tasks", "2"]);
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{caught:?} {told} {helper:?}");
    if caught.is_some() {
        helper.ok();
    }
    assert!(quads(&lode, &url) == quads(&lode, "one"));
    lode.run(&["check", &url, "--quiet"]).ok();
    assert!(!work.exists());
}

#[test]
fn killed_at_any_time_it_goes_on() {
    let lode = prepared();
    lode.run(&["load", "one", "big.nt", "small.ttl", "--quiet"]).ok();
    let expected = quads(&lode, "one");
    let command = ["load", "victim", "big.nt", "small.ttl", "--workers", "2", "--quiet", "--memory", "96MiB"];
    let start = Instant::now();
    lode.run(&command).ok();
    let time = start.elapsed();
    let seed = number("LODE_SEED", 1);
    let mut state = seed;
    let mut ended = 0;
    for round in 0..number("LODE_KILLS", KILLS) {
        std::fs::remove_dir_all(lode.path("victim")).unwrap();
        let mut child = lode.command(&command).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_nanos(random(&mut state) % (time.as_nanos() as u64 + 1)));
        // Whoever looks after the others, or one of these.
        let victim = children(&child).first().copied().filter(|_| round % 2 == 1);
        match victim {
            Some(worker) => signal(worker, "-KILL"),
            None => child.kill().unwrap(),
        }
        let success = child.wait().unwrap().success();
        let what = format!("seed {seed}, round {round}");
        assert!(success || victim.is_none(), "{what}");
        // It may have been killed once all was done, while it removed the work folder.
        let is_there =
            lode.run(&["check", "victim", "--quiet"]).code == 0 && quads(&lode, "victim") == expected;
        if is_there && !lode.path("victim.load/plan").exists() {
            ended += 1;
            let _ = std::fs::remove_dir_all(lode.path("victim.load"));
        } else {
            lode.run(&["load", "victim", "big.nt", "small.ttl", "--workers", "2", "--memory", "96MiB"]).ok();
        }
        assert!(quads(&lode, "victim") == expected, "{what}");
        lode.run(&["check", "victim", "--quiet"]).ok();
        assert!(!lode.path("victim.load").exists(), "{what}");
    }
    note(format_args!("{ended} loads ended by themselves"));
}

#[test]
fn a_worker_that_stands_still_and_one_that_comes() {
    let lode = prepared();
    lode.run(&["load", "one", "big.nt", "--quiet"]).ok();
    let work = lode.path("many.load");
    let command = ["load", "many", "big.nt", "--workers", "1", "--parts", "2", "--memory", "96MiB"];
    let mut child = lode.command(&command).stderr(Stdio::piped()).spawn().unwrap();
    let caught = until_phase(&work, "read", &mut child);
    // The only worker of the load is stopped, and does not end with it: another does its tasks once it has been silent.
    if let Some((_, worker)) = &caught {
        signal(*worker, "-STOP");
    }
    let helper = lode.run(&["load-worker", "many.load", "--tasks", "2"]);
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{caught:?} {told} {helper:?}");
    if caught.is_some() {
        helper.ok();
    }
    if let Some((_, worker)) = &caught {
        let line = std::fs::read(format!("/proc/{worker}/cmdline")).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&line).contains("many.load"), "it was killed");
    }
    assert!(quads(&lode, "many") == quads(&lode, "one"));
    lode.run(&["check", "many", "--quiet"]).ok();
    assert!(!work.exists());
}

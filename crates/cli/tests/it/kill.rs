//! A load or a compaction that is killed leaves the database as it was, or as it had to become, and nothing else once it is next
//! opened for writing.
//!
//! `LODE_KILLS` says how many moments are tried of each (a hundred take some minutes), `LODE_SEED` which.

use crate::lode::{Lode, copy_folder, note};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Moments unless told otherwise.
const KILLS: u64 = 8;

pub fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

/// SplitMix64.
pub fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A database `db` of three segments, and a file `big.nt` that is not in it.
fn prepared() -> Lode {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1, 01, \"x\"@en, [ <http://e/p> \"y\" ] .");
    for (products, seed, name) in [("60", "1", "a.nt"), ("90", "2", "b.nt"), ("200", "3", "big.nt")] {
        let generate =
            ["bench", "bsbm", "generate", "--products", products, "--seed", seed, "--quiet", "--output"];
        lode.run(&[&generate[..], &[name]].concat()).ok();
    }
    for name in ["a.nt", "b.nt"] {
        lode.run(&["load", "db", name, "--quiet"]).ok();
    }
    lode.write("empty.nt", "");
    lode
}

fn quads(lode: &Lode, database: &str) -> BTreeSet<String> {
    lode.run(&["dump", database]).ok().lines().map(str::to_owned).collect()
}

fn names(database: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(database).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Kills `command`, which works on the database `victim`, at random moments.
fn kill_at_random(lode: &Lode, command: &[&str]) {
    let old = quads(lode, "db");
    let old_names = names(&lode.path("db"));
    copy_folder(&lode.path("db"), &lode.path("victim"));
    let start = Instant::now();
    lode.run(command).ok();
    let time = start.elapsed();
    let new = quads(lode, "victim");
    let seed = number("LODE_SEED", 1);
    let mut state = seed;
    let mut done = 0;
    for kill in 0..number("LODE_KILLS", KILLS) {
        std::fs::remove_dir_all(lode.path("victim")).unwrap();
        copy_folder(&lode.path("db"), &lode.path("victim"));
        let mut child = lode.command(command).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_nanos(random(&mut state) % (time.as_nanos() as u64 + 1)));
        child.kill().unwrap();
        let ended = child.wait().unwrap().success();
        let what = format!("{} (seed {seed}, kill {kill})", command[0]);
        let found = quads(lode, "victim");
        assert!(found == new || (!ended && found == old), "{what}");
        lode.run(&["check", "victim", "--quiet"]).ok();
        lode.run(&["load", "victim", "empty.nt", "--quiet"]).ok();
        let stats = lode.run(&["stats", "victim", "--json"]).ok();
        let names = names(&lode.path("victim"));
        let segments = names.iter().filter(|name| name.starts_with("segment-")).count();
        assert!(stats.contains(&format!("\"segments\": {segments},")), "{what}: {names:?}\n{stats}");
        // With the lock, the manifest and its copy.
        assert_eq!(names.len(), segments + 3, "{what}: {names:?}");
        assert!(quads(lode, "victim") == found, "{what}");
        done += u64::from(names != old_names);
    }
    note(format_args!("{}: {done} of the processes had done their work before they were killed", command[0]));
}

#[test]
fn killed_loads_change_nothing() {
    let lode = prepared();
    // So little memory that there are temporary files, too.
    kill_at_random(&lode, &["load", "victim", "big.nt", "--quiet", "--memory", "49MiB"]);
}

#[test]
fn killed_compactions_change_nothing() {
    let lode = prepared();
    lode.run(&["load", "db", "big.nt", "--quiet"]).ok();
    kill_at_random(&lode, &["compact", "victim", "--quiet"]);
}

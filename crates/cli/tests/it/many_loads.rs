//! Many small loads and updates, each by a process of its own, with few descriptors: the database stays one of few segments, and what has many
//! of them can be opened, queried, checked, copied and compacted.
//!
//! `LODE_LOADS` says how many loads (a thousand take some minutes).

use crate::kill::number;
use crate::lode::{Lode, Outcome};
use std::process::{Command, Stdio};

/// Loads unless told otherwise.
const LOADS: u64 = 48;
/// Descriptors that each process may have.
const DESCRIPTORS: u32 = 128;
/// Segments that loads may leave.
const SEGMENTS_MAX: usize = 8;

/// Runs the binary with few descriptors.
fn run(lode: &Lode, args: &[&str]) -> Outcome {
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(format!("ulimit -n {DESCRIPTORS}; exec \"$0\" \"$@\""))
        .arg(lode.command(&[]).get_program());
    command.args(args).current_dir(lode.path("")).stdin(Stdio::null());
    Outcome::of(command.output().unwrap())
}

fn segments(lode: &Lode) -> usize {
    let names = std::fs::read_dir(lode.path("db")).unwrap();
    names.filter(|name| name.as_ref().unwrap().file_name().to_string_lossy().starts_with("segment-")).count()
}

fn load_one(lode: &Lode, number: u64, options: &[&str]) {
    lode.write("one.nt", format!("<http://e/s{number}> <http://e/p{}> \"value {number}\" .\n", number % 3));
    run(lode, &[&["load", "db", "one.nt", "--quiet"], options].concat()).ok();
}

fn count(lode: &Lode, pattern: &str) -> u64 {
    let query = format!("SELECT (COUNT(*) AS ?n) {{ {pattern} }}");
    run(lode, &["query", "db", &query, "--format", "csv"]).ok().lines().nth(1).unwrap().parse().unwrap()
}

/// What there is to be seen is all there.
fn assert_holds(lode: &Lode, loads: u64) {
    assert_eq!(count(lode, "?s ?p ?o"), loads);
    assert_eq!(
        count(lode, "?s <http://e/p1> ?o"),
        (0..loads).filter(|number| number % 3 == 1).count() as u64
    );
    for number in [0, loads / 2, loads - 1] {
        assert_eq!(count(lode, &format!("<http://e/s{number}> ?p \"value {number}\"")), 1);
    }
    run(lode, &["check", "db", "--quiet"]).ok();
    run(lode, &["stats", "db"]).ok();
    assert_eq!(run(lode, &["dump", "db"]).ok().lines().count() as u64, loads);
}

#[test]
fn many_loads_leave_few_segments() {
    let (lode, loads) = (Lode::new(), number("LODE_LOADS", LOADS));
    for number in 0..loads {
        load_one(&lode, number, &[]);
        assert!(segments(&lode) <= SEGMENTS_MAX, "{} after load {number}", segments(&lode));
    }
    assert_holds(&lode, loads);
    run(&lode, &["compact", "db", "--quiet"]).ok();
    assert_eq!(segments(&lode), 1);
    assert_holds(&lode, loads);
}

#[test]
fn many_segments_are_read_copied_and_compacted_with_few_descriptors() {
    let (lode, loads) = (Lode::new(), number("LODE_LOADS", LOADS));
    (0..loads).for_each(|number| load_one(&lode, number, &["--no-merge"]));
    assert_eq!(segments(&lode) as u64, loads);
    assert_holds(&lode, loads);
    run(&lode, &["backup", "db", "copy"]).ok();
    run(&lode, &["restore", "copy", "again"]).ok();
    run(&lode, &["snapshot", "create", "db", "before"]).ok();
    let insert =
        "INSERT { ?s <http://e/q> ?o } WHERE { ?s <http://e/p2> ?o } ; DELETE WHERE { ?s <http://e/q> ?o }";
    run(&lode, &["update", "db", insert, "--quiet"]).ok();
    assert!(segments(&lode) as u64 >= loads, "the snapshot has them");
    assert_holds(&lode, loads);
    run(&lode, &["snapshot", "drop", "db", "before"]).ok();
    run(&lode, &["compact", "db", "--memory", "16MiB", "--quiet"]).ok();
    assert_eq!(segments(&lode), 1);
    assert_holds(&lode, loads);
    // One load into a database of many segments puts it right.
    std::fs::remove_dir_all(lode.path("db")).unwrap();
    std::fs::rename(lode.path("again"), lode.path("db")).unwrap();
    load_one(&lode, loads, &[]);
    assert!(segments(&lode) <= SEGMENTS_MAX);
    assert_holds(&lode, loads + 1);
}

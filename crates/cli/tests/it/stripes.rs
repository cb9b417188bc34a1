//! Databases whose files are spread over folders: loaded, asked, compacted, backed up, moved and removed as others.

use crate::lode::Lode;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const QUERY: &str = "SELECT ?s ?o { ?s <http://e/p3> ?o } ORDER BY ?s ?o";

fn lines(range: std::ops::Range<usize>) -> String {
    let mut text = String::new();
    for i in range {
        // Long enough for several chunks.
        let noise = i.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        writeln!(text, "<http://e/s{}> <http://e/p{}> \"{noise:016x} {i} {:016x}\" .", i / 5, i % 5, !noise)
            .unwrap();
    }
    text
}

/// Files of parts in a stripe folder.
fn parts(folder: &Path) -> Vec<PathBuf> {
    let entries =
        |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let below: Vec<PathBuf> = entries(folder).flat_map(|own| entries(&own).collect::<Vec<_>>()).collect();
    below.into_iter().filter(|path| path.extension().is_some_and(|end| end == "part")).collect()
}

fn lode_with_data() -> Lode {
    let lode = Lode::new();
    std::fs::write(lode.path("a.nt"), lines(0..40_000)).unwrap();
    std::fs::write(lode.path("b.nt"), lines(40_000..60_000)).unwrap();
    lode
}

#[test]
fn answers_are_those_of_a_database_in_one_folder() {
    let lode = lode_with_data();
    let disks = ["d0", "d1"].map(|name| lode.path(name));
    lode.run(&["load", "plain", "a.nt", "b.nt", "--quiet"]).ok();
    lode.run(&["load", "db", "a.nt", "--quiet", "--stripe", "d0", "--stripe", "d1"]).ok();
    // It remembers.
    lode.run(&["load", "db", "b.nt", "--quiet", "--no-merge", "--memory", "48MiB"]).ok();
    let ask = |database: &str| lode.run(&["query", database, QUERY, "--format", "csv"]).ok();
    let wanted = ask("plain");
    assert_eq!(ask("db"), wanted);
    assert!(disks.iter().all(|disk| !parts(disk).is_empty()));
    lode.run(&["update", "db", "INSERT DATA { <http://e/x> <http://e/y> 1 }"]).ok();
    lode.run(&["compact", "db", "--quiet"]).ok();
    lode.run(&["check", "db", "--quiet"]).ok();
    lode.run(&["text", "db", "--quiet"]).ok();
    assert_eq!(ask("db"), wanted);
    let stats = lode.run(&["stats", "db"]).ok();
    assert!(stats.contains("spread over the folders") && stats.contains("/d1\n"), "{stats}");
    let shown = lode.run(&["stripe", "db"]).ok();
    assert_eq!(shown.lines().count(), 2);
    // Whole elsewhere.
    lode.run(&["backup", "db", "backup", "--quiet"]).ok();
    assert_eq!(ask("db"), wanted);
    lode.run(&["restore", "backup", "whole", "--quiet"]).ok();
    lode.run(&["restore", "backup", "other", "--quiet", "--stripe", "d0"]).ok();
    let published = format!("file://{}", lode.path("published").display());
    lode.run(&["publish", "db", &published, "--quiet"]).ok();
    let check = lode.run(&["check", &published]);
    assert!(check.err.contains("version 1 is whole"), "{check:?}");
    check.ok();
    assert_eq!((ask("whole"), ask("other"), ask(&published)), (wanted.clone(), wanted.clone(), wanted));
    assert!(!lode.path("whole/stripes").exists() && lode.path("other/stripes").exists());
}

#[test]
fn folders_that_move_or_are_missing_are_told() {
    let lode = lode_with_data();
    lode.run(&["stripe", "db", "d0", "d1"]).ok();
    lode.run(&["load", "db", "a.nt", "--quiet"]).ok();
    let other = lode.run(&["load", "db", "b.nt", "--quiet", "--stripe", "d2"]);
    assert!(other.code == 1 && other.err.contains("other stripe folders"), "{other:?}");
    std::fs::create_dir(lode.path("d2")).unwrap();
    let own = std::fs::read_dir(lode.path("d1")).unwrap().next().unwrap().unwrap().file_name();
    std::fs::rename(lode.path("d1").join(&own), lode.path("d2").join(&own)).unwrap();
    for command in
        [&["query", "db", "ASK {}"][..], &["check", "db"], &["load", "db", "b.nt"], &["stripe", "db"]]
    {
        let run = lode.run(command);
        let is_told = run.err.contains("d1") || run.out.contains("d1");
        assert!(run.code == 1 && is_told, "{command:?}: {run:?}");
    }
    lode.run(&["stripe", "db", "--move", "d1", "d2"]).ok();
    lode.run(&["check", "db", "--quiet"]).ok();
    // A part that is gone.
    let part = parts(&lode.path("d2")).pop().unwrap();
    std::fs::remove_file(&part).unwrap();
    let check = lode.run(&["check", "db"]);
    let told = format!("{}{}", check.out, check.err);
    assert!(check.code != 0 && told.contains(part.to_str().unwrap()), "{check:?}");
}

#[test]
fn what_fails_leaves_nothing_behind() {
    let lode = lode_with_data();
    std::fs::write(lode.path("bad.nt"), "this is no triple\n").unwrap();
    let bad = lode.run(&["load", "db", "bad.nt", "--quiet", "--stripe", "d0"]);
    assert_eq!(bad.code, 4, "{bad:?}");
    assert!(!lode.path("db").exists());
    assert_eq!(std::fs::read_dir(lode.path("d0")).unwrap().count(), 0);
    let bad = lode.run(&["restore", "none", "db", "--quiet", "--stripe", "d0"]);
    assert_eq!(bad.code, 1, "{bad:?}");
    assert_eq!(std::fs::read_dir(lode.path("d0")).unwrap().count(), 0);
    for stripes in [&["db/x"][..], &["d0", "d0"]] {
        let refused = lode.run(&[&["stripe", "db"], stripes].concat());
        assert_eq!(refused.code, 1, "{refused:?}");
    }
}

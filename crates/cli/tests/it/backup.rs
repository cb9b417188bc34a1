//! `lode backup` and `lode restore`.

use crate::lode::Lode;
use std::os::unix::fs::MetadataExt;

fn dump(lode: &Lode, database: &str) -> Vec<String> {
    let mut lines: Vec<String> = lode.run(&["dump", database]).ok().lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

fn report(lode: &Lode, args: &[&str]) -> serde_json::Value {
    serde_json::from_str(&lode.run(&[args, &["--json", "--quiet"]].concat()).ok()).unwrap()
}

fn insert(lode: &Lode, number: u32) {
    let request = format!("INSERT DATA {{ <http://e/s{number}> <http://e/p> {number} }}");
    lode.run(&["update", "db", &request]).ok();
}

#[test]
fn a_backup_and_a_restore() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1, 2, _:x .");
    insert(&lode, 1);
    let outcome = lode.run(&["backup", "db", "backup"]);
    assert!(
        outcome.err.contains("backed up version ") && outcome.err.contains("4 quads in 1 segment,"),
        "{}",
        outcome.err
    );
    outcome.ok();
    // Files that never change have two names now.
    let file = lode.path("backup/segment-000001/spog.perm");
    assert_eq!(std::fs::metadata(file).unwrap().nlink(), 2);
    let then = dump(&lode, "db");
    assert_eq!(dump(&lode, "backup"), then);
    lode.run(&["check", "backup", "--quiet"]).ok();
    insert(&lode, 2);
    assert!(lode.run(&["update", "backup", "CLEAR ALL"]).fails(1).contains("is a backup"));
    let restored = report(&lode, &["restore", "backup", "new/db"]);
    assert_eq!((&restored["quads"], &restored["files_linked"]), (&4.into(), &0.into()));
    lode.run(&["check", "new/db", "--quiet"]).ok();
    assert_eq!(dump(&lode, "new/db"), then);
    lode.run(&["update", "new/db", "CLEAR ALL"]).ok();
    assert_eq!(dump(&lode, "backup"), then);
    // The same again brings what is new.
    let again = report(&lode, &["backup", "db", "backup", "--check"]);
    assert_eq!(
        (&again["segments_kept"], &again["files_copied"], &again["quads"]),
        (&1.into(), &1.into(), &5.into())
    );
    assert_eq!(dump(&lode, "backup"), dump(&lode, "db"));
    let copied = report(&lode, &["backup", "db", "copy", "--copy"]);
    assert_eq!(copied["files_linked"], 0);
    assert_eq!(copied["bytes_copied"], copied["bytes"]);
}

#[test]
fn a_database_that_is_served_is_backed_up_from_outside() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1, 2 .");
    let mut server = lode.command(&["serve", "db", "--bind", "127.0.0.1:0"]);
    let mut server = server.stderr(std::process::Stdio::piped()).spawn().unwrap();
    // It has the lock once it says where it is.
    let mut said = std::io::BufReader::new(server.stderr.take().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut said, &mut line).unwrap();
    let outcome = lode.run(&["backup", "db", "backup"]);
    server.kill().unwrap();
    server.wait().unwrap();
    outcome.ok();
    assert_eq!(dump(&lode, "backup"), dump(&lode, "db"));
}

#[test]
fn mistakes_are_told_and_nothing_is_touched() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1 .");
    let error = lode.run(&["backup", "none", "backup"]).fails(1);
    assert!(error.contains("there is no database at none"), "{error}");
    assert!(!lode.path("backup").exists());
    std::fs::create_dir(lode.path("photos")).unwrap();
    lode.write("photos/cat.jpg", "meow");
    assert!(lode.run(&["backup", "db", "photos"]).fails(1).contains("something else than a backup"));
    lode.run(&["backup", "db", "backup", "--copy"]).ok();
    assert!(lode.run(&["restore", "backup", "photos"]).fails(1).contains("photos is not empty"));
    assert!(lode.run(&["restore", "photos", "new"]).fails(1).contains("no whole backup at photos"));
    lode.run(&["load", "other", "data.ttl"]).ok();
    assert!(lode.run(&["backup", "other", "backup"]).fails(1).contains("of another database"));
    let file = lode.path("backup/segment-000001/posg.perm");
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let error = lode.run(&["restore", "backup", "new"]).fails(1);
    assert!(error.contains("backup/segment-000001/posg.perm: damaged at byte"), "{error}");
    assert!(!lode.path("new").exists());
    assert_eq!(std::fs::read_dir(lode.path("photos")).unwrap().count(), 1);
}

/// Files of a backup that have another name somewhere.
fn links(lode: &Lode, folder: &str) -> usize {
    let walk = |path: &std::path::Path| std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    let inner = walk(&lode.path(folder))
        .filter(|path| path.is_dir())
        .flat_map(|path| walk(&path).collect::<Vec<_>>());
    inner.filter(|path| std::fs::metadata(path).unwrap().nlink() > 1).count()
}

#[test]
fn a_copy_takes_the_place_of_links() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1, 2, _:x .");
    lode.run(&["backup", "db", "backup"]).ok();
    assert!(links(&lode, "backup") > 5);
    let copied = report(&lode, &["backup", "db", "backup", "--copy"]);
    assert_eq!((links(&lode, "backup"), &copied["files_linked"]), (0, &0.into()));
    lode.run(&["check", "backup", "--quiet"]).ok();
    let again = report(&lode, &["backup", "db", "backup", "--copy"]);
    assert_eq!((&again["files_copied"], &again["segments_kept"]), (&0.into(), &1.into()));
}

#[test]
fn a_check_reads_the_whole_backup() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1, 2, _:x .");
    lode.run(&["backup", "db", "backup", "--copy"]).ok();
    let file = lode.path("backup/segment-000001/posg.perm");
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    insert(&lode, 1);
    let error = lode.run(&["backup", "db", "backup", "--check"]).fails(1);
    assert!(error.contains("posg.perm: damaged at byte") && error.contains("in a new folder"), "{error}");
    let checked = lode.run(&["check", "backup", "--quiet"]);
    assert!(checked.err.contains("make another backup"), "{checked:?}");
    checked.fails(6);
}

#[test]
fn a_backup_without_its_manifest_says_what_to_do() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1, 2, _:x .");
    insert(&lode, 1);
    lode.run(&["backup", "db", "backup"]).ok();
    let then = dump(&lode, "backup");
    std::fs::remove_file(lode.path("backup/MANIFEST")).unwrap();
    for args in [&["query", "backup", "ASK {}"][..], &["check", "backup"], &["restore", "backup", "new"]] {
        let error = lode.run(args).fails(1);
        assert!(
            error.contains("found: 1 segment, 1 log") && error.contains("remove the file BACKUP"),
            "{error}"
        );
    }
    // What it says: without the database, from a copy.
    std::fs::create_dir_all(lode.path("copy/segment-000001")).unwrap();
    for folder in ["", "segment-000001"] {
        for entry in std::fs::read_dir(lode.path("backup").join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                std::fs::copy(&path, lode.path("copy").join(folder).join(path.file_name().unwrap())).unwrap();
            }
        }
    }
    assert!(lode.run(&["check", "copy", "--salvage"]).fails(1).contains("is a backup"));
    std::fs::remove_file(lode.path("copy/BACKUP")).unwrap();
    lode.run(&["check", "copy", "--salvage"]).ok();
    assert_eq!(dump(&lode, "copy"), then);
    // With it.
    lode.run(&["backup", "db", "backup"]).ok();
    assert_eq!(dump(&lode, "backup"), then);
}

#[test]
fn the_help_is_complete() {
    let lode = Lode::new();
    let help = lode.run(&["backup", "--help"]).ok() + &lode.run(&["restore", "--help"]).ok();
    for word in
        ["--copy", "--check", "--link", "--no-check", "--json", "--quiet", "empty folder", "older backup"]
    {
        assert!(help.contains(word), "{word}");
    }
}

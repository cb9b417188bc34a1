//! Full disks: a load or a compaction that finds no room says so, removes what it wrote, and leaves the database as it was.
//!
//! The disks are small file systems in memory, which only root may mount, so these tests run when asked for:
//! `cargo test -p lode --test it full -- --ignored --nocapture`.

use crate::endpoint::Endpoint;
use crate::lode::{Lode, Outcome, copy_folder, note};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Sizes of disks that are tried.
const SIZES: u64 = 20;

/// A small file system, unmounted at the end.
pub struct Disk(PathBuf);

impl Disk {
    /// None where this user may not mount.
    fn mount(path: PathBuf, bytes: u64) -> Option<Self> {
        std::fs::create_dir_all(&path).unwrap();
        let size = format!("size={bytes}");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(&path).output();
        mounted.is_ok_and(|output| output.status.success()).then_some(Self(path))
    }

    /// The same with a file system as on disks, in a file.
    pub fn mount_real(image: &Path, path: PathBuf, bytes: u64) -> Option<Self> {
        std::fs::create_dir_all(&path).unwrap();
        std::fs::File::create(image).unwrap().set_len(bytes).unwrap();
        let is_done = |command: &mut Command| command.output().is_ok_and(|output| output.status.success());
        let made = is_done(Command::new("mkfs.ext4").args(["-q", "-F", "-m", "0"]).arg(image))
            && is_done(Command::new("mount").args(["-o", "loop"]).arg(image).arg(&path));
        made.then_some(Self(path))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

pub fn folder_bytes(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    // Whole pages, as the file system counts.
    entries
        .map(|entry| match entry.metadata().unwrap() {
            meta if meta.is_dir() => folder_bytes(&entry.path()),
            meta => meta.len().next_multiple_of(4096),
        })
        .sum()
}

fn sorted(outcome: Outcome) -> Vec<String> {
    let mut lines: Vec<String> = outcome.ok().lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

/// Runs a command on a copy of `db` on disks with ever more room, up to a bit more than `room` bytes beside the database.
fn fill_disks(lode: &Lode, command: &[&str], room: u64) {
    let before = sorted(lode.run(&["dump", "db"]));
    let used = folder_bytes(&lode.path("db"));
    let (mut failed, mut done) = (0, 0);
    for step in 0..SIZES {
        let bytes = used + (64 << 10) + room * step / (SIZES - 2);
        let Some(_disk) = Disk::mount(lode.path("disk"), bytes) else {
            note(format_args!("skipped: only root may mount file systems"));
            return;
        };
        copy_folder(&lode.path("db"), &lode.path("disk/db"));
        let outcome = lode.run(command);
        lode.run(&["check", "disk/db", "--quiet"]).ok();
        if outcome.code == 0 {
            done += 1;
            continue;
        }
        failed += 1;
        let error = outcome.fails(1);
        assert!(
            error.contains("full") && error.contains("disk/db") && error.contains("make room"),
            "{error}"
        );
        assert_eq!(names(&lode.path("disk/db")), names(&lode.path("db")), "{error}");
        assert!(sorted(lode.run(&["dump", "disk/db"])) == before, "{error}");
    }
    note(format_args!("{}: {failed} disks were too small, {done} large enough", command[0]));
    assert!(failed >= SIZES / 2 && done > 0, "{failed} failed, {done} done");
}

fn prepared() -> Lode {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1, 01, \"x\"@en, [ <http://e/p> \"y\" ] .");
    for (products, seed, name) in [("90", "2", "a.nt"), ("400", "3", "big.nt")] {
        let generate =
            ["bench", "bsbm", "generate", "--products", products, "--seed", seed, "--quiet", "--output"];
        lode.run(&[&generate[..], &[name]].concat()).ok();
    }
    lode.run(&["load", "db", "a.nt", "--quiet"]).ok();
    lode
}

#[test]
#[ignore = "mounts file systems, which needs root"]
fn full_disks_during_loads() {
    let lode = prepared();
    // So little memory that there are temporary files, which need the most room.
    let load = ["load", "disk/db", "big.nt", "--quiet", "--memory", "49MiB"];
    fill_disks(&lode, &load, 16 << 20);
}

#[test]
#[ignore = "mounts file systems, which needs root"]
fn full_disks_during_compactions() {
    let lode = prepared();
    lode.run(&["load", "db", "big.nt", "--quiet"]).ok();
    let room = folder_bytes(&lode.path("db"));
    fill_disks(&lode, &["compact", "disk/db", "--quiet"], room);
}

#[test]
#[ignore = "mounts file systems, which needs root"]
fn a_full_disk_under_a_server() {
    let lode = prepared();
    let used = folder_bytes(&lode.path("db"));
    let Some(_disk) = Disk::mount(lode.path("disk"), used + (600 << 10)) else {
        note(format_args!("skipped: only root may mount file systems"));
        return;
    };
    copy_folder(&lode.path("db"), &lode.path("disk/db"));
    let endpoint = Endpoint::serve(&lode, "disk/db", &["--transaction-quads-max", "500", "--no-compaction"]);
    let (mut confirmed, mut refused) = (0, 0);
    for number in 0..400 {
        // Transactions, and loads.
        let quads = if number % 10 == 0 { 1000 } else { 10 };
        let text: String = (0..quads)
            .map(|i| format!("<n:{number}> <n:has> <http://example.org/{number}/{i}> .\n"))
            .collect();
        let headers = [("Content-Type", "application/n-triples")];
        let answer = endpoint.send("POST", "/data?graph=g:g", &headers, text.as_bytes());
        if answer.status == 507 {
            assert!(answer.body.contains("make room"), "{answer:?}");
            refused += 1;
        } else {
            assert!([200, 201].contains(&answer.status), "{answer:?}");
            confirmed += quads;
        }
    }
    let rows = endpoint.rows("SELECT (COUNT(*) AS ?n) { GRAPH <g:g> { ?s ?p ?o } }");
    assert_eq!(rows, [confirmed.to_string()]);
    note(format_args!("serve: {confirmed} quads were confirmed, {refused} requests had no room"));
    assert!(confirmed > 0 && refused > 0);
    endpoint.stop();
    lode.run(&["check", "disk/db", "--quiet"]).ok();
    let dump = lode.run(&["dump", "disk/db", "--graph", "g:g", "--format", "nt"]).ok();
    assert_eq!(dump.lines().count(), confirmed);
}

#[test]
#[ignore = "mounts file systems, which needs root"]
fn a_compaction_without_room_tells_how_much_it_needs() {
    let lode = prepared();
    lode.run(&["load", "db", "big.nt", "--quiet", "--no-merge"]).ok();
    let used = folder_bytes(&lode.path("db"));
    let Some(_disk) = Disk::mount(lode.path("disk"), used + used / 2) else {
        note(format_args!("skipped: only root may mount file systems"));
        return;
    };
    copy_folder(&lode.path("db"), &lode.path("disk/db"));
    let endpoint = Endpoint::serve(&lode, "disk/db", &["--no-compaction"]);
    let refused = endpoint.send("POST", "/admin/compact", &[], b"").is(507).body;
    let (_, told) = refused.split_once("a compaction writes some ").unwrap();
    let numbers: Vec<u64> = told.split(' ').filter_map(|word| word.parse().ok()).collect();
    assert!(numbers.len() == 2 && numbers[0] > numbers[1] && numbers[0] <= used, "{refused}");
    endpoint.send("GET", "/health/ready", &[], b"").is(200);
}

/// On a full disk a server refuses what adds, and does what makes room, until there is some: without being stopped.
#[test]
#[ignore = "mounts file systems, which needs root"]
fn a_full_disk_keeps_nobody_from_making_room() {
    let lode = Lode::new();
    let Some(_disk) = Disk::mount_real(&lode.path("disk.image"), lode.path("disk"), 24 << 20) else {
        note(format_args!("skipped: only root may mount file systems"));
        return;
    };
    lode.write("empty.nt", "");
    lode.run(&["load", "disk/db", "empty.nt", "--quiet"]).ok();
    let endpoint = Endpoint::serve(&lode, "disk/db", &["--no-compaction"]);
    let insert = |number: usize| {
        let quads: String = (0..2000)
            .map(|i| {
                format!("<http://e/{number}/{i}> <http://e/p> \"{number} of {i}\" <http://g/{number}> .\n")
            })
            .collect();
        endpoint.send("POST", "/data", &[("Content-Type", "application/n-quads")], quads.as_bytes())
    };
    assert!((0..4).all(|number| insert(number).status < 300));
    endpoint.send("POST", "/admin/snapshots?name=s", &[], b"").is(201);
    assert!(lode.path("disk/db/reserve").exists());
    let ballast = lode.path("disk/ballast");
    let mut file = std::fs::File::create(&ballast).unwrap();
    // Until nothing is left but the reserve.
    while std::io::Write::write_all(&mut file, &[0; 4096]).is_ok() {}
    let mut number = 4;
    while insert(number).status != 507 {
        number += 1;
    }
    let added = number;
    endpoint.update("INSERT DATA { <http://e/a> <http://e/p> 1 }").is(507);
    assert!(endpoint.send("GET", "/admin/stats", &[], b"").is(200).body.contains("\"disk_full\":true"));
    let hindered = endpoint.send("GET", "/health/ready", &[], b"").is(503);
    assert!(hindered.body.contains("disk of the database is full"), "{hindered:?}");
    endpoint.send("GET", "/health/live", &[], b"").is(200);
    assert!(lode.run(&["status", &endpoint.base]).fails(1).contains("not ready"));
    assert_eq!(
        endpoint.update("DELETE WHERE { GRAPH <http://g/0> { ?s ?p ?o } }").is(200).number("deleted"),
        2000
    );
    assert_eq!(endpoint.update("DROP GRAPH <http://g/1>").is(200).number("deleted"), 2000);
    endpoint.send("DELETE", "/admin/snapshots?name=s", &[], b"").is(200);
    endpoint.send("POST", "/admin/compact", &[], b"").is(200);
    let quads = |endpoint: &Endpoint| endpoint.rows("SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }");
    assert_eq!(quads(&endpoint), [((added - 2) * 2000).to_string()]);
    drop(file);
    std::fs::remove_file(&ballast).unwrap();
    endpoint.update("INSERT DATA { GRAPH <http://g> { <http://e/a> <http://e/p> 1 } }").is(200);
    assert!(endpoint.send("GET", "/admin/stats", &[], b"").is(200).body.contains("\"disk_full\":false"));
    endpoint.send("GET", "/health/ready", &[], b"").is(200);
    assert_eq!(quads(&endpoint), [((added - 2) * 2000 + 1).to_string()]);
    endpoint.stop();
    lode.run(&["check", "disk/db", "--quiet"]).ok();
}

/// Queries and updates that find no room for temporary files are told so, and those that need none go on.
#[test]
#[ignore = "mounts file systems, which needs root"]
fn a_full_temporary_folder_is_told_as_that() {
    let lode = Lode::new();
    let data: String = (0..400_000)
        .map(|i| {
            format!(
                "<http://e/s{}> <http://e/p{}> \"{i} is a text that takes its room\" .\n",
                i % 200_000,
                i % 7
            )
        })
        .collect();
    lode.write("data.nt", data);
    lode.run(&["load", "db", "data.nt", "--quiet"]).ok();
    let Some(_disk) = Disk::mount(lode.path("tmp"), 1 << 20) else {
        note(format_args!("skipped: only root may mount file systems"));
        return;
    };
    let folder = lode.path("tmp");
    let options = ["db", "--bind", "127.0.0.1:0", "--memory", "64MiB"];
    let endpoint = Endpoint::in_environment(&lode, &options, &[("TMPDIR", folder.to_str().unwrap())]);
    let mut told = 0;
    for query in [
        "SELECT * { ?s ?p ?o } ORDER BY DESC(STRLEN(?o)) ?o OFFSET 399990",
        "SELECT (COUNT(*) AS ?m) { SELECT ?t (COUNT(*) AS ?n) { ?s ?p ?o BIND(CONCAT(STR(?o), STR(?s), \"!\") AS ?t) } GROUP BY ?t }",
        "SELECT DISTINCT ?t { ?s ?p ?o BIND(CONCAT(STR(?o), STR(?s), STR(?p), \"!\") AS ?t) } ORDER BY ?t OFFSET 399990",
        "SELECT * { ?s ?p ?o . ?t ?q ?o2 FILTER(CONCAT(STR(?o), \"x\") = CONCAT(STR(?o2), \"x\")) } ORDER BY ?o OFFSET 399990",
        "SELECT (GROUP_CONCAT(?o) AS ?all) { ?s ?p ?o } GROUP BY ?s ORDER BY ?all OFFSET 199990",
    ] {
        let answer = endpoint.query(query, "text/csv");
        assert!([200, 413, 503, 504, 507].contains(&answer.status), "{query}: {answer:?}");
        told += usize::from(answer.status == 507);
    }
    let update = endpoint
        .update("INSERT { ?s <http://e/new> ?t } WHERE { ?s ?p ?o BIND(CONCAT(STR(?o), \"!\") AS ?t) }");
    assert!([413, 503, 504, 507].contains(&update.status), "{update:?}");
    note(format_args!("{told} of 5 queries found no room; the update: {}", update.status));
    assert!(told > 0);
    endpoint.query("ASK {}", "text/csv").is(200);
}

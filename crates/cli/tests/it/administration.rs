//! `/admin` and `at=NAME`: named snapshots and backups of a database that is served.

use crate::endpoint::{Answer, Endpoint};
use crate::lode::Lode;
use crate::update::slow_update;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

const TURTLE: &str = "<http://e/a> <http://e/p> 1, 2 .";
const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");
const CSV: (&str, &str) = ("Accept", "text/csv");
const COUNT: &str = "query=SELECT+(COUNT(*)+AS+?n)+%7B?s+?p+?o%7D";

fn insert(endpoint: &Endpoint, number: u32) {
    endpoint.update(&format!("INSERT DATA {{ <http://e/s{number}> <http://e/p> {number} }}")).is(200);
}

fn post(endpoint: &Endpoint, path: &str) -> Answer {
    endpoint.send("POST", path, &[], b"")
}

/// The count that a snapshot gives, in every way of asking.
#[track_caller]
fn quads_at(endpoint: &Endpoint, name: &str) -> u64 {
    let count = |answer: Answer| answer.is(200).body.lines().nth(1).unwrap().parse::<u64>().unwrap();
    let get = count(endpoint.send("GET", &format!("/sparql?{COUNT}&at={name}"), &[CSV], b""));
    let form = format!("{COUNT}&at={name}");
    assert_eq!(count(endpoint.send("POST", "/query", &[FORM, CSV], form.as_bytes())), get);
    let direct = ("Content-Type", "application/sparql-query");
    let text = b"SELECT (COUNT(*) AS ?n) { ?s ?p ?o }";
    assert_eq!(count(endpoint.send("POST", &format!("/sparql?at={name}"), &[direct, CSV], text)), get);
    let headers = [("Accept", "application/n-triples")];
    let graph = endpoint.send("GET", &format!("/data?default&at={name}"), &headers, b"").is(200);
    assert_eq!(graph.body.lines().count() as u64, get);
    get
}

#[test]
fn snapshots_are_made_queried_and_dropped() {
    let lode = Lode::with_turtle(TURTLE);
    let endpoint = Endpoint::start(&lode, &[]);
    insert(&endpoint, 1);
    let made = post(&endpoint, "/admin/snapshots?name=first").is(201);
    assert_eq!((made.media_type.as_str(), made.number("quads")), ("application/json", 3));
    insert(&endpoint, 2);
    post(&endpoint, "/admin/snapshots?name=second").is(201);
    endpoint.update("CLEAR ALL").is(200);
    post(&endpoint, "/admin/compact").is(200);
    assert_eq!(endpoint.quads(), 0);
    for _ in 0..2 {
        assert_eq!((quads_at(&endpoint, "first"), quads_at(&endpoint, "second")), (3, 4));
    }
    endpoint.send("HEAD", "/data?default&at=first", &[], b"").is(200);
    let listed = endpoint.send("GET", "/admin/snapshots", &[], b"").is(200);
    let listed: serde_json::Value = serde_json::from_str(&listed.body).unwrap();
    assert_eq!((&listed[0]["name"], &listed[0]["quads"]), (&"first".into(), &3.into()));
    assert_eq!((&listed[1]["name"], listed.as_array().unwrap().len()), (&"second".into(), 2));
    assert_eq!(post(&endpoint, "/admin/snapshots?name=first").is(409).body.lines().count(), 1);
    endpoint.send("DELETE", "/admin/snapshots?name=first", &[], b"").is(200);
    let gone = endpoint.send("GET", &format!("/sparql?{COUNT}&at=first"), &[], b"").is(404);
    assert!(gone.body.contains("snapshot \"first\": there is no such snapshot"), "{gone:?}");
    endpoint.send("GET", "/data?default&at=first", &[], b"").is(404);
    endpoint.send("DELETE", "/admin/snapshots?name=first", &[], b"").is(404);
    assert_eq!(quads_at(&endpoint, "second"), 4);
    // The name may be given again, to another version.
    insert(&endpoint, 3);
    post(&endpoint, "/admin/snapshots?name=first").is(201);
    assert_eq!(quads_at(&endpoint, "first"), 1);
    endpoint.stop();
    lode.run(&["check", "db", "--quiet"]).ok();
    let stats: serde_json::Value =
        serde_json::from_str(&lode.run(&["stats", "db", "--at", "second", "--json"]).ok()).unwrap();
    assert_eq!((&stats["quads"], &stats["snapshots"]), (&4.into(), &2.into()));
    assert!(lode.run(&["stats", "db", "--at", "third"]).fails(1).contains("no such snapshot"));
}

#[test]
fn damaged_snapshots_are_told() {
    let lode = Lode::with_turtle(TURTLE);
    lode.run(&["snapshot", "create", "db", "s", "--quiet"]).ok();
    let endpoint = Endpoint::start(&lode, &["--read-only"]);
    let told = |path: &str| -> serde_json::Value {
        serde_json::from_str(&endpoint.send("GET", path, &[], b"").is(200).body).unwrap()
    };
    assert_eq!(told("/admin/stats")["snapshots"]["damaged"], serde_json::json!([]));
    std::fs::remove_file(lode.path("db/snapshots/s/MANIFEST")).unwrap();
    assert_eq!(told("/admin/stats")["snapshots"]["damaged"], serde_json::json!(["s"]));
    assert_eq!(told("/admin/snapshots"), serde_json::json!([{ "name": "s", "damaged": true }]));
    lode.run(&["snapshot", "drop", "db", "s", "--quiet"]).ok();
    assert_eq!(told("/admin/stats")["snapshots"]["damaged"], serde_json::json!([]));
}

#[test]
fn snapshots_stay_as_they_are_and_have_names() {
    let lode = Lode::with_turtle(TURTLE);
    lode.run(&["snapshot", "create", "db", "s", "--quiet"]).ok();
    let endpoint = Endpoint::start(&lode, &[]);
    for name in ["..%2Fx", "a%2Fb", "", "a%20b"] {
        post(&endpoint, &format!("/admin/snapshots?name={name}")).is(400);
        endpoint.send("GET", &format!("/sparql?{COUNT}&at={name}"), &[], b"").is(400);
        endpoint.send("DELETE", &format!("/admin/snapshots?name={name}"), &[], b"").is(400);
    }
    assert!(post(&endpoint, "/admin/snapshots").is(400).body.contains("'name' is missing"));
    let turtle = ("Content-Type", "text/turtle");
    for answer in [
        endpoint.send("POST", "/update", &[FORM], b"update=CLEAR+ALL&at=s"),
        endpoint.send("PUT", "/data?default&at=s", &[turtle], b""),
        endpoint.send("POST", "/data?default&at=s", &[turtle], b""),
        endpoint.send("DELETE", "/data?default&at=s", &[], b""),
        endpoint.send("GET", &format!("/query?{COUNT}&at=s&at=s"), &[], b""),
    ] {
        answer.is(400);
    }
    assert_eq!(endpoint.quads(), 2);
    drop(endpoint);
    let reader = Endpoint::start(&lode, &["--read-only"]);
    lode.run(&["update", "db", "CLEAR ALL"]).ok();
    lode.run(&["compact", "db", "--quiet"]).ok();
    assert_eq!(quads_at(&reader, "s"), 2);
    assert!(reader.send("GET", "/admin/snapshots", &[], b"").is(200).body.contains("\"s\""));
    post(&reader, "/admin/snapshots?name=t").is(403);
    reader.send("DELETE", "/admin/snapshots?name=s", &[], b"").is(403);
    // Another process drops it.
    lode.run(&["snapshot", "drop", "db", "s", "--quiet"]).ok();
    reader.send("GET", &format!("/sparql?{COUNT}&at=s"), &[], b"").is(404);
}

fn dump(lode: &Lode, database: &str) -> Vec<String> {
    let mut lines: Vec<String> = lode.run(&["dump", database]).ok().lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

#[test]
fn backups_are_made_where_it_is_allowed() {
    let lode = Lode::with_turtle(TURTLE);
    std::fs::create_dir(lode.path("backups")).unwrap();
    let endpoint = Endpoint::start(&lode, &[]);
    assert!(post(&endpoint, "/admin/backup?to=a").is(403).body.contains("--backup-dir"));
    drop(endpoint);
    let token = ("Authorization", "Bearer secret");
    let endpoint = Endpoint::start(&lode, &["--backup-dir", "backups", "--admin-token", "secret"]);
    for path in ["/admin/backup?to=a", "/admin/snapshots?name=a"] {
        post(&endpoint, path).is(401);
        endpoint.send("POST", path, &[token, ("Origin", "http://page")], b"").is(403);
    }
    endpoint.send("GET", "/admin/snapshots", &[], b"").is(401);
    endpoint.send("DELETE", "/admin/snapshots?name=a", &[], b"").is(401);
    let backup = |to: &str| endpoint.send("POST", &format!("/admin/backup?to={to}"), &[token], b"");
    for name in ["", "..", "..%2Fa", "a%2Fb", "%2Fa", "a%0Ab", "a%00", ".a", "a%5Cb"] {
        backup(name).is(400);
    }
    endpoint.send("POST", "/admin/backup", &[token], b"").is(400);
    insert(&endpoint, 1);
    let first = backup("a&copy").is(200);
    assert_eq!((first.number("quads"), first.number("segments"), first.number("files_linked")), (3, 1, 0));
    assert_eq!(first.number("bytes_copied"), first.number("bytes"));
    assert_eq!(dump(&lode, "backups/a"), dump(&lode, "db"));
    insert(&endpoint, 2);
    // Only what is new: the log.
    let second = backup("a&check").is(200);
    assert_eq!((second.number("segments_kept"), second.number("files_copied")), (1, 1));
    let linked = backup("b").is(200);
    assert!(linked.number("files_linked") > 0 && linked.number("bytes_copied") < linked.number("bytes"));
    let copied = backup("b&copy").is(200);
    assert_eq!((copied.number("segments_kept"), copied.number("files_linked")), (0, 0));
    let file = |folder: &str| std::fs::metadata(lode.path(folder).join("segment-000001/spog.perm")).unwrap();
    assert_eq!((file("db").nlink(), file("backups/b").nlink()), (1, 1));
    for name in ["backups/a", "backups/b"] {
        assert_eq!(dump(&lode, name), dump(&lode, "db"));
        lode.run(&["check", name, "--quiet"]).ok();
    }
    lode.run(&["restore", "backups/a", "restored", "--quiet"]).ok();
    assert_eq!(dump(&lode, "restored"), dump(&lode, "db"));
    // What is something else stays as it is.
    lode.write("backups/photo", "");
    std::fs::create_dir(lode.path("backups/photos")).unwrap();
    lode.write("backups/photos/cat.jpg", "meow");
    for name in ["photo", "photos"] {
        assert!(backup(name).is(409).body.contains("new or empty folder"));
    }
    assert_eq!(std::fs::read_dir(lode.path("backups/photos")).unwrap().count(), 1);
    assert_eq!(std::fs::read_dir(lode.path("backups")).unwrap().count(), 4);
}

#[test]
fn one_backup_at_a_time_and_nobody_waits_for_it() {
    let lode = Lode::with_turtle(TURTLE);
    std::fs::create_dir_all(lode.path("backups/taken")).unwrap();
    let endpoint = Endpoint::start(&lode, &["--backup-dir", "backups", "--update-timeout", "3"]);
    // Another process is at it.
    let mark = File::create(lode.path("backups/taken/BACKUP")).unwrap();
    mark.lock().unwrap();
    assert!(post(&endpoint, "/admin/backup?to=taken").is(409).body.contains("another process"));
    drop(mark);
    thread::scope(|scope| {
        // A backup begins between two updates: as long as this one lasts, it is at its beginning.
        let slow = scope.spawn(|| endpoint.update(&slow_update()).is(504));
        let begun = lode.path("backups/taken/MANIFEST");
        let mut first = None;
        while !slow.is_finished() && !Path::new(&lode.path("backups/a/BACKUP")).exists() {
            first.get_or_insert_with(|| {
                thread::sleep(Duration::from_millis(300));
                scope.spawn(|| post(&endpoint, "/admin/backup?to=a").is(200))
            });
            thread::sleep(Duration::from_millis(10));
        }
        let second = post(&endpoint, "/admin/backup?to=taken").is(409);
        assert!(second.body.contains("already"), "{second:?}");
        assert_eq!(endpoint.quads(), 2);
        assert!(!begun.exists());
        slow.join().unwrap();
        assert_eq!(first.unwrap().join().unwrap().number("quads"), 2);
    });
    post(&endpoint, "/admin/backup?to=taken").is(200);
}

#[test]
fn the_folder_of_backups_is_looked_at_first() {
    let lode = Lode::with_turtle(TURTLE);
    let serve = ["serve", "db", "--bind", "127.0.0.1:0", "--backup-dir"];
    let refused = |folder: &str| lode.run(&[&serve[..], &[folder]].concat()).fails(1);
    assert!(refused("none").contains("there is no folder none"));
    assert!(refused("data.ttl").contains("there is no folder"));
    for folder in ["db", "db/segment-000001"] {
        assert!(refused(folder).contains("is in the folder of the database"));
    }
}

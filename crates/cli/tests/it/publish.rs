//! `lode publish`, and what reads published databases in place.

use crate::lode::Lode;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const COUNT: &str = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }";

/// The address of a folder of the scratch folder.
fn url(lode: &Lode, name: &str) -> String {
    format!("file://{}", lode.path(name).display())
}

fn count(lode: &Lode, place: &str) -> String {
    let cache = lode.path("cache").display().to_string();
    lode.run(&["query", place, COUNT, "--format", "csv", "--cache-dir", &cache])
        .ok()
        .lines()
        .last()
        .unwrap()
        .to_owned()
}

fn report(lode: &Lode, args: &[&str]) -> serde_json::Value {
    serde_json::from_str(&lode.run(&[args, &["--json", "--quiet"]].concat()).ok()).unwrap()
}

fn insert(lode: &Lode, database: &str, number: u32) {
    let request = format!("INSERT DATA {{ <http://e/s{number}> <http://e/p> {number} }}");
    lode.run(&["update", database, &request]).ok();
}

/// Serves a folder with ranges, each answer a while after its request; runs until the process ends.
pub fn web_server(folder: &Path, delay: Duration) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let folder = folder.to_owned();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let folder = folder.clone();
            std::thread::spawn(move || answer_all(&stream.unwrap(), &folder, delay));
        }
    });
    address
}

fn answer_all(mut stream: &TcpStream, folder: &Path, delay: Duration) {
    stream.set_nodelay(true).unwrap();
    let mut reader = BufReader::new(stream);
    loop {
        let (mut path, mut range) = (String::new(), None);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            let line = line.trim_end().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(rest) = line.strip_prefix("get ") {
                path = rest.split(' ').next().unwrap().trim_start_matches('/').to_owned();
            }
            if let Some((first, last)) =
                line.strip_prefix("range: bytes=").and_then(|range| range.split_once('-'))
            {
                range = Some((first.parse::<usize>().unwrap(), last.parse::<usize>().unwrap()));
            }
        }
        std::thread::sleep(delay);
        let (status, body, more) = match (std::fs::read(folder.join(&path)), range) {
            (Err(_), _) => ("404 Not Found", Vec::new(), String::new()),
            (Ok(bytes), None) => ("200 OK", bytes, String::new()),
            (Ok(bytes), Some((first, last))) => {
                let told = format!("Content-Range: bytes {first}-{last}/{}\r\n", bytes.len());
                ("206 Partial Content", bytes[first..=last].to_vec(), told)
            }
        };
        let head = format!("HTTP/1.1 {status}\r\n{more}Content-Length: {}\r\n\r\n", body.len());
        if stream.write_all(&[head.as_bytes(), &body].concat()).is_err() {
            return;
        }
    }
}

#[test]
fn a_database_is_published_and_queried_in_place() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1, 2, _:x .");
    let url = url(&lode, "store/my db");
    let outcome = lode.run(&["publish", "db", &url]);
    assert!(
        outcome.err.contains("published version 1 at file:///")
            && outcome.err.contains("3 quads in 1 segment"),
        "{outcome:?}"
    );
    outcome.ok();
    assert_eq!(count(&lode, &url), "3");
    insert(&lode, "db", 1);
    let second = report(&lode, &["publish", "db", &url, "--name", "v2"]);
    assert_eq!(
        (&second["number"], &second["segments_kept"], &second["log_bytes"]),
        (&2.into(), &1.into(), &0.into())
    );
    assert_eq!(count(&lode, &url), "4");
    let again = lode.run(&["publish", "db", &url]);
    assert!(again.err.contains("as version 2 already"), "{again:?}");
    for (at, rows) in [("1", "3"), ("2", "4"), ("v2", "4")] {
        let found = lode.run(&["query", &url, COUNT, "--format", "csv", "--at", at]).ok();
        assert_eq!(found.lines().last().unwrap(), rows, "{at}");
    }
    assert!(
        lode.run(&["query", &url, "ASK {}", "--at", "9"])
            .fails(1)
            .contains("has no version 9; it has 1 to 2")
    );
    // Versions and names that are kept, and what goes.
    insert(&lode, "db", 2);
    let third = report(&lode, &["publish", "db", &url, "--keep", "1", "--grace", "0"]);
    assert_eq!((&third["kept"]["versions"], &third["kept"]["versions_removed"]), (&2.into(), &1.into()));
    assert_eq!(count(&lode, &url), "5");
    // Back to a database of its own, which may not publish there unless it takes over.
    lode.run(&["restore", &url, "new/db"]).ok();
    lode.run(&["check", "new/db", "--quiet"]).ok();
    assert_eq!(count(&lode, "new/db"), "5");
    insert(&lode, "new/db", 3);
    assert!(lode.run(&["publish", "new/db", &url]).fails(1).contains("--take-over"));
    lode.run(&["publish", "new/db", &url, "--take-over"]).ok();
    assert!(lode.run(&["publish", "db", &url]).fails(1).contains("another copy"));
    assert_eq!(count(&lode, &url), "6");
}

/// The exit code that the help tells, and object and byte, for each kind of object.
#[test]
fn a_check_tells_damaged_objects() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1, 2, 3 .");
    lode.run(&["publish", "db", &url(&lode, "there")]).ok();
    let objects = |folder: &Path| -> Vec<std::path::PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries.flat_map(|path| if path.is_dir() { objects_in(&path) } else { vec![path] }).collect()
    };
    let all = objects(&lode.path("there"));
    assert!(all.len() > 9, "{all:?}");
    for object in all {
        let name = object.file_name().unwrap().to_str().unwrap();
        let bytes = std::fs::read(&object).unwrap();
        let mut other = bytes.clone();
        other[bytes.len() / 3] ^= 1;
        let kinds = [Some(other), Some(bytes[..bytes.len() - 1].to_vec()), None];
        for (kind, content) in kinds.into_iter().enumerate() {
            match &content {
                Some(content) => std::fs::write(&object, content).unwrap(),
                None => std::fs::remove_file(&object).unwrap(),
            }
            let check = lode.run(&["check", &url(&lode, "there"), "--quiet"]);
            // Who publishes may have been stopped before the copy was written.
            let wanted = if name == "latest" && content.is_none() { 0 } else { 6 };
            assert_eq!(check.code, wanted, "{kind} {name}: {check:?}");
            if wanted == 6 {
                let line = check.out.lines().next().unwrap_or_default();
                assert!(line.contains(&format!("/{name}: byte ")), "{kind} {name}: {check:?}");
                assert!(check.err.contains("damaged: 1 problem"), "{kind} {name}: {check:?}");
            }
            std::fs::write(&object, &bytes).unwrap();
        }
    }
    lode.run(&["check", &url(&lode, "there"), "--quiet"]).ok();
    // What is not published is not damaged.
    assert!(lode.run(&["check", &url(&lode, "nowhere")]).fails(1).contains("no published database"));
    assert!(lode.run(&["check", &url(&lode, "there"), "--at", "7"]).fails(1).contains("has no version 7"));
}

fn objects_in(folder: &Path) -> Vec<std::path::PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn nothing_is_published_into_a_database() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1 .");
    let told = lode.run(&["publish", "db", &url(&lode, "db"), "--keep", "1", "--grace", "0"]).fails(1);
    assert!(told.contains("the folder of a database itself"), "{told}");
    lode.run(&["check", "db"]).ok();
    let reading: &[&str] =
        if cfg!(feature = "object-store") { &[] } else { &["stats", "dump", "why", "validate"] };
    for command in ["update", "materialise"].iter().chain(reading).copied() {
        let more: &[&str] = match command {
            "update" => &["INSERT DATA { <a:s> <a:p> 1 }", "--create"],
            "why" => &["<a:s> <a:p> 1"],
            "validate" => &["shapes.ttl"],
            _ => &[],
        };
        let told = lode.run(&[&[command, "s3://bucket/db"], more].concat()).fails(2);
        // Who reads may: in a build with object storage.
        let expected = match command {
            "update" | "materialise" => "the address of a published one",
            _ => "built without object storage",
        };
        assert!(told.contains(expected), "{command}: {told}");
    }
    assert!(!lode.path("s3:").exists());
}

#[test]
fn mistakes_are_told() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1 .");
    let url = url(&lode, "store");
    assert!(
        lode.run(&["query", &url, "ASK {}"]).fails(1).contains("there is no published database at file:///")
    );
    assert!(lode.run(&["query", &self::url(&lode, "db"), "ASK {}"]).fails(1).contains("without file://"));
    assert!(lode.run(&["publish", "db", "store"]).fails(2).contains("file:///whole/path"));
    assert!(lode.run(&["publish", "db", "file://store"]).fails(2).contains("three slashes"));
    if !cfg!(feature = "object-store") {
        let told = lode.run(&["publish", "db", "s3://bucket/db"]).fails(2);
        assert!(told.contains("--features object-store"), "{told}");
    }
    assert!(
        lode.run(&["publish", "db", "https://127.0.0.1:1/db"]).fails(2).contains("the folder that it serves")
    );
    assert!(lode.run(&["publish", "none", &url]).fails(1).contains("there is no database at none"));
    assert!(lode.run(&["backup", "db", &url]).fails(2).contains("lode publish db file:///"));
    assert!(!lode.path("store").exists() && !lode.path("none").exists() && !lode.path("s3:").exists());
    lode.run(&["publish", "db", &url]).ok();
    assert!(lode.run(&["publish", "db", &url, "--name", "7"]).fails(1).contains("cannot be the name"));
    let server = format!("lode+{}", web_server(&lode.path("store"), Duration::ZERO));
    for command in [&["check"][..], &["query"]] {
        let nothing = format!("{server}/nothing");
        let words = [command, &[&nothing], if command == ["query"] { &["ASK {}"] } else { &[] }].concat();
        let told = lode.run(&words).fails(1);
        assert!(
            told.contains("lode publish DB file:///FOLDER` makes one in the folder that the web"),
            "{told}"
        );
    }
    lode.write("store/manifest/00000000000000000001", "nonsense");
    let told = lode.run(&["publish", "db", &url]).fails(1);
    assert!(told.contains(&format!("`lode check {url}` says what to do")), "{told}");
    assert!(
        lode.run(&["query", "lode+http://127.0.0.1:1/db", "ASK {}"]).fails(1).contains("manifest/latest")
    );
}

#[test]
fn a_web_server_is_read_in_place_and_what_comes_is_kept() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1, 2, _:x .");
    lode.run(&["publish", "db", &url(&lode, "store")]).ok();
    let address = web_server(&lode.path("store"), Duration::ZERO);
    let place = format!("lode+{address}");
    assert_eq!(count(&lode, &place), "3");
    let cache = lode.path("cache").display().to_string();
    let told = lode.run(&["query", &place, COUNT, "--cache-dir", &cache, "--profile"]);
    // Which version is the newest; the rest is here.
    assert!(told.err.contains("object storage: 2 requests for"), "{told:?}");
    let told = lode.run(&["query", &place, COUNT, "--cache-dir", &cache, "--profile=json"]).err;
    let profile: serde_json::Value = serde_json::from_str(told.lines().last().unwrap()).unwrap();
    assert_eq!(profile["object_storage"]["requests"], 2);
    // A plain address is that of an endpoint.
    assert!(lode.run(&["query", &address, "ASK {}"]).fails(1).contains("404"));
    let mut own = lode.command(&["query", &place, COUNT, "--format", "csv"]);
    own.env("XDG_CACHE_HOME", lode.path("own"));
    assert!(own.output().unwrap().status.success() && lode.path("own/lode/lode-objects-1").is_dir());
}

struct Server(Child, String);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn serve(lode: &Lode, args: &[&str]) -> Server {
    let mut command = lode.command(&[&["serve", "--bind", "127.0.0.1:0"], args].concat());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let address = loop {
        let mut line = String::new();
        assert!(said.read_line(&mut line).unwrap() > 0, "no server");
        if let Some(at) = line.find("http://127.0.0.1:").filter(|_| line.contains("SPARQL endpoint")) {
            break line[at..].trim().trim_end_matches("/sparql").to_owned();
        }
    };
    // Whatever it says later has somewhere to go.
    std::thread::spawn(move || drop(said.read_to_end(&mut Vec::new())));
    Server(child, address)
}

#[test]
fn a_published_database_is_served_for_reading() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1, 2, _:x .");
    lode.run(&["publish", "db", &url(&lode, "store")]).ok();
    let web = web_server(&lode.path("store"), Duration::ZERO);
    let cache = lode.path("cache").display().to_string();
    for place in [url(&lode, "store"), format!("lode+{web}")] {
        let server = serve(&lode, &[&place, "--cache-dir", &cache]);
        assert_eq!(count(&lode, &server.1), "3");
        let refused =
            lode.run(&["update", &server.1, "INSERT DATA { <http://e/x> <http://e/p> 1 }"]).fails(1);
        assert!(refused.contains("read-only"), "{refused}");
        assert_eq!(count(&lode, &server.1), "3");
        let status = lode.run(&["status", &server.1]);
        assert_eq!(status.code, 0, "{status:?}");
    }
    assert!(!lode.path("file:").exists() && !lode.path("http:").exists());
}

/// Of a process that is killed whenever it may be, readers see the version before or the new one.
#[test]
fn publishing_may_be_killed_at_any_time() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1, 2, 3 .");
    let url = url(&lode, "store");
    lode.run(&["publish", "db", &url]).ok();
    let mut published = 3;
    for round in 0..12_u32 {
        insert(&lode, "db", round);
        let mut child =
            lode.command(&["publish", "db", &url, "--quiet"]).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(u64::from(round * 7)));
        let _ = child.kill();
        let is_done = child.wait().unwrap().success();
        let found: u32 = count(&lode, &url).parse().unwrap();
        let all = 3 + round + 1;
        assert!(
            found == all || (!is_done && found == published),
            "round {round}: {found}, {published} before"
        );
        published = found;
    }
    lode.run(&["publish", "db", &url]).ok();
    assert_eq!(count(&lode, &url), "15");
}

/// What the first query costs where each request takes 20 ms: by requests, since other tests run beside.
#[test]
fn a_cold_query_needs_few_requests() {
    let lode = Lode::new();
    let triple =
        |i: u32| format!("<http://e/s{}> <http://e/p{}> \"{} of {i}\" .\n", i / 3, i % 7, i * 7919 % 100_003);
    lode.write("data.nt", (0..100_000).map(triple).collect::<String>());
    lode.run(&["load", "db", "data.nt"]).ok();
    lode.run(&["publish", "db", &url(&lode, "store")]).ok();
    let place = format!("lode+{}", web_server(&lode.path("store"), Duration::from_millis(20)));
    let cache = lode.path("cache").display().to_string();
    let start = Instant::now();
    let query = "SELECT * { <http://e/s20000> ?p ?o }";
    let told = lode.run(&["query", &place, query, "--cache-dir", &cache, "--profile=json"]);
    let cold = start.elapsed();
    let profile: serde_json::Value = serde_json::from_str(told.err.lines().last().unwrap()).unwrap();
    let requests = profile["object_storage"]["requests"].as_u64().unwrap();
    assert!(requests <= 8, "{requests} requests in {cold:?}: {profile}");
    assert_eq!(told.ok(), lode.run(&["query", "db", query]).ok());
}

/// All that only reads takes the address of a published database, from a folder and from a web server, and says what it says of the database.
#[test]
fn whatever_reads_takes_published_databases() {
    let lode = Lode::new();
    let data = "INSERT DATA { <http://e/a> a <http://e/C> ; <http://e/p> 1, \"two\"@en . <http://e/b> a <http://e/C> . GRAPH <http://e/g> { <http://e/a> <http://e/q> <http://e/b> } }";
    lode.run(&["update", "db", "--create", data]).ok();
    let shapes = "@prefix sh: <http://www.w3.org/ns/shacl#> . [] a sh:NodeShape ; sh:targetClass <http://e/C> ; sh:property [ sh:path <http://e/p> ; sh:minCount 1 ] .";
    std::fs::write(lode.path("shapes.ttl"), shapes).unwrap();
    lode.run(&["publish", "db", &url(&lode, "pub")]).ok();
    lode.run(&["update", "db", "DELETE DATA { <http://e/a> <http://e/p> 1 }"]).ok();
    lode.run(&["publish", "db", &url(&lode, "pub")]).ok();
    let web = format!("lode+{}", web_server(&lode.path("pub"), Duration::ZERO));
    let cache = lode.path("cache").display().to_string();
    let places = [("db", [].as_slice()), (&url(&lode, "pub"), &[]), (&web, &["--cache-dir", cache.as_str()])];
    let said = places.map(|(place, more)| {
        let run = |args: &[&str]| lode.run(&[&[args[0], place], &args[1..], more].concat());
        let mut quads: Vec<String> = run(&["dump"]).ok().lines().map(str::to_owned).collect();
        quads.sort_unstable();
        let stats: serde_json::Value = serde_json::from_str(&run(&["stats", "--json"]).ok()).unwrap();
        let why = run(&["why", "<http://e/a> a <http://e/C>"]).ok();
        let report = run(&["validate", "shapes.ttl", "--format", "json"]);
        assert_eq!(report.code, 7, "{report:#?}");
        (quads, stats["quads"].clone(), why, report.out.contains("http://e/b"))
    });
    assert!(said[0].0.len() == 4 && said[0].3, "{said:?}");
    assert!(said[1] == said[0] && said[2] == said[0], "{said:?}");
    // A version that was.
    let old = lode.run(&["dump", &url(&lode, "pub"), "--at", "1"]).ok();
    assert_eq!(old.lines().count(), 5);
    let missing = lode.run(&["dump", &url(&lode, "pub"), "--at", "7"]).fails(1);
    assert!(missing.contains('7'), "{missing}");
    // What writes does not.
    let refused = lode.run(&["update", &url(&lode, "pub"), data]).fails(2);
    assert!(refused.contains("lode dump") || refused.contains("dump"), "{refused}");
}

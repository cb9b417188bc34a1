//! What people do wrong when they load: each mistake is told with its place and what to do about it.

use crate::lode::Lode;

/// Loads one file that is wrong: the message, after checking that nothing was made.
#[track_caller]
fn message(name: &str, text: impl AsRef<[u8]>, code: i32) -> String {
    let lode = Lode::new();
    lode.write(name, text);
    let error = lode.run(&["load", "db", name]).fails(code);
    assert!(!lode.path("db").exists(), "a failed first load leaves no database");
    // A dry run says the same.
    let dry = lode.run(&["load", "--dry-run", name]).fails(code);
    assert!(error.lines().any(|line| line == "nothing was loaded"), "{error}");
    let line = error.lines().find(|line| line.starts_with("error: ")).unwrap();
    assert!(dry.contains(line), "{dry}\n{line}");
    line.to_owned()
}

#[track_caller]
fn assert_says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "{part:?} is not in {message:?}");
    }
}

#[test]
fn turtle_with_the_extension_of_ntriples() {
    let error = message("data.nt", "@prefix : <http://e/> .\n:a :b :c .\n", 4);
    assert_says(&error, &["data.nt:1:1", "looks like Turtle", "--format ttl"]);
}

#[test]
fn a_table_and_names_that_are_not_in_angle_brackets() {
    let error = message("table.csv", "a,b\n1,2\n", 4);
    assert_says(&error, &["table.csv:1:1", "was read as Turtle", "--format"]);
    let error = message("data.nt", "http://e/a http://e/b http://e/c .\n", 4);
    assert_says(&error, &["data.nt:1:1", "`http:`", "IRIs stand in <>"]);
    let error = message("data.jsonld", "{\"a\":", 4);
    assert_says(&error, &["data.jsonld:1:", "Unexpected end of file"]);
}

#[test]
fn quads_with_the_extension_of_triples() {
    let error = message("data.nt", "<http://e/a> <http://e/b> <http://e/c> <http://e/g> .\n", 4);
    assert_says(&error, &["data.nt:1:", "looks like N-Quads", "--format nq"]);
}

#[test]
fn a_page_in_place_of_the_data() {
    for name in ["data.ttl", "data.rdf", "data.nt", "data"] {
        let error = message(name, "<!DOCTYPE html>\n<html><body>404</body></html>", 1);
        assert_says(&error, &[name, "HTML page"]);
    }
}

#[test]
fn latin_1() {
    let error = message("data.nt", b"<http://e/a> <http://e/b> \"caf\xE9\" .\n", 4);
    assert_says(&error, &["data.nt:1:", "UTF-8", "iconv"]);
    let error =
        message("data.ttl", b"<http://e/a> <http://e/b> 1 .\n<http://e/a> <http://e/b> \"caf\xE9\" .\n", 4);
    assert_says(&error, &["data.ttl:2:", "UTF-8", "iconv"]);
    let error = message("data.ttl", b"\xFF\xFE\0\0<\0\0\0", 1);
    assert_says(&error, &["data.ttl", "UTF-32", "iconv"]);
}

#[test]
fn a_relative_iri_where_there_are_none() {
    let error = message("data.nt", "<a> <http://e/b> <http://e/c> .\n", 4);
    assert_says(&error, &["data.nt:1:1", "<a>", "must be absolute"]);
}

#[test]
fn a_missing_dot() {
    let error =
        message("data.nt", "<http://e/a> <http://e/b> <http://e/c>\n<http://e/a> <http://e/b> 1 .\n", 4);
    assert_says(&error, &["data.nt:1:", "'.' missing"]);
    let error = message("data.ttl", "@prefix : <http://e/> .\n:a :b :c\n:d :e :f .\n", 4);
    assert_says(&error, &["data.ttl:3:", "'.' missing"]);
}

#[test]
fn a_missing_file_and_one_that_may_not_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let lode = Lode::new();
    assert_says(&lode.run(&["load", "db", "none.nt"]).fails(1), &["none.nt: there is no such file"]);
    assert_says(&lode.run(&["load", "--dry-run", "none.nt"]).fails(1), &["none.nt: there is no such file"]);
    lode.write("secret.nt", "");
    let path = lode.path("secret.nt");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o000)).unwrap();
    // The administrator may read it all the same.
    if std::fs::File::open(&path).is_err() {
        assert_says(&lode.run(&["load", "db", "secret.nt"]).fails(1), &["secret.nt: permission denied"]);
    }
}

#[test]
fn truncated_archives() {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    for i in 0..10_000 {
        writeln!(encoder, "<http://e/{i}> <http://e/p> \"{}\" .", i * i).unwrap();
    }
    let bytes = encoder.finish().unwrap();
    let error = message("data.nt.gz", &bytes[..bytes.len() / 2], 1);
    assert_says(&error, &["data.nt.gz: the gzip data ends too early", "has been cut"]);
    let error = message("data.nt.gz", b"", 1);
    assert_says(&error, &["data.nt.gz", "is empty", "has been cut"]);
    let mut damaged = bytes;
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    // What the damage makes of the text may be noticed before the checksum is.
    let lode = Lode::new();
    lode.write("data.nt.gz", damaged);
    let outcome = lode.run(&["load", "db", "data.nt.gz"]);
    assert!([1, 4].contains(&outcome.code), "{outcome:#?}");
}

#[test]
fn archives_of_other_kinds() {
    assert_says(&message("data.nt.zip", b"PK\x03\x04rest", 1), &["zip archive: unpack it first"]);
}

#[test]
fn an_empty_file_holds_nothing_and_that_is_said() {
    let lode = Lode::new();
    lode.write("empty.ttl", "");
    let outcome = lode.run(&["load", "db", "empty.ttl"]);
    assert_says(&outcome.err, &["empty.ttl holds no statements"]);
    outcome.ok();
}

#[test]
fn folders_are_loaded_by_the_names_of_their_files() {
    let lode = Lode::new();
    std::fs::create_dir_all(lode.path("data/deeper")).unwrap();
    lode.write("data/b.nt", "<http://e/b> <http://e/p> 1 .\n".replace('1', "\"1\""));
    lode.write("data/a.ttl", "<http://e/a> <http://e/p> 1 .");
    lode.write("data/deeper/c.nt", "<http://e/c> <http://e/p> \"c\" .\n");
    lode.write("data/README", "not RDF");
    lode.write("data/.hidden.nt", "not RDF");
    let outcome = lode.run(&["load", "db", "data", "--json"]);
    assert_says(&outcome.err, &["skipped 2 files", "data/.hidden.nt, data/README"]);
    let report: serde_json::Value = serde_json::from_str(&outcome.ok()).unwrap();
    assert_eq!(report["skipped_files"], 2);
    let names: Vec<_> =
        report["sources"].as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["data/a.ttl", "data/b.nt", "data/deeper/c.nt"]);
    std::fs::create_dir(lode.path("nothing")).unwrap();
    assert_says(&lode.run(&["load", "db", "nothing"]).fails(1), &["nothing: no regular file in this folder"]);
}

#[test]
fn what_is_no_regular_file_is_left_out_of_folders_and_told() {
    let lode = Lode::new();
    std::fs::create_dir_all(lode.path("data/deeper")).unwrap();
    lode.write("data/a.nt", "<http://e/a> <http://e/p> <http://e/o> .\n");
    let fifo = lode.path("data/deeper/fifo.nt");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, lode.path(name)).unwrap();
    link("deeper/fifo.nt", "data/fifo-link.nt");
    link("/dev/zero", "data/zero.nt");
    link("nowhere.nt", "data/dangling.nt");
    link("deeper", "data/folder.nt");
    link("a.nt", "data/link.nt");
    let _socket = std::os::unix::net::UnixListener::bind(lode.path("data/socket.nt")).unwrap();
    for args in [&["load", "db", "data", "--json"][..], &["load", "--dry-run", "data", "--json"]] {
        let outcome = lode.run(args);
        let lines = [
            "skipped 1 link to a folder: data/folder.nt",
            "skipped 1 link that leads to no file: data/dangling.nt",
            "skipped 2 FIFOs: data/deeper/fifo.nt, data/fifo-link.nt",
            "skipped 1 socket: data/socket.nt",
            "skipped 1 device: data/zero.nt",
        ];
        assert_says(&outcome.err, &lines);
        let report: serde_json::Value = serde_json::from_str(&outcome.ok()).unwrap();
        assert_eq!((report["quads"].as_u64(), report["skipped_files"].as_u64()), (Some(2), Some(6)));
        let skipped = report["skipped"].as_array().unwrap();
        let found: Vec<_> = skipped
            .iter()
            .map(|file| [&file["name"], &file["reason"]].map(|v| v.as_str().unwrap()))
            .collect();
        let expected = [
            ["data/folder.nt", "link to folder"],
            ["data/dangling.nt", "dangling link"],
            ["data/deeper/fifo.nt", "fifo"],
            ["data/fifo-link.nt", "fifo"],
            ["data/socket.nt", "socket"],
            ["data/zero.nt", "device"],
        ];
        assert_eq!(found, expected);
    }
}

#[test]
fn a_fifo_that_is_named_is_read() {
    let lode = Lode::new();
    let fifo = lode.path("fifo.nt");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let writer = std::thread::spawn(move || {
        std::fs::write(fifo, "<http://e/a> <http://e/p> <http://e/o> .\n").unwrap();
    });
    assert_says(&lode.run(&["load", "db", "fifo.nt"]).err, &["loaded 1 quad in"]);
    writer.join().unwrap();
}

#[test]
fn a_load_that_fails_says_what_is_there_and_what_helps() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1, 2 .");
    lode.write("bad.nt", "<a b> <http://e/b> <http://e/c> .\n");
    let error = lode.run(&["load", "db", "bad.nt"]).fails(4);
    let is_as_it_was = "nothing was loaded; the database is as it was, with 2 quads";
    assert_says(&error, &["bad.nt:1:", is_as_it_was, "--quarantine FILE", "--lenient", "--dry-run"]);
    let error = lode.run(&["load", "db", "bad.nt", "data.ttl", "--lenient"]);
    error.ok();
    lode.write("worse.nt", "<http://e/b> .\n");
    let error = lode.run(&["load", "db", "worse.nt", "--lenient"]).fails(4);
    assert_says(&error, &["--quarantine FILE", "--dry-run"]);
    assert!(!error.contains("--lenient"), "it was given: {error}");
    // Of what no option helps against, none is named.
    lode.write("page.ttl", "<!DOCTYPE html>\n<html><body>404</body></html>");
    let error = lode.run(&["load", "db", "page.ttl"]).fails(1);
    assert_says(&error, &["page.ttl", "nothing was loaded; the database is as it was"]);
    assert!(!error.contains("--quarantine"), "{error}");
    let error = lode.run(&["load", "db", "page.ttl", "data.ttl"]).fails(1);
    assert_says(&error, &["--quarantine FILE leaves out files"]);
}

#[test]
fn a_database_that_is_locked_says_who_may_hold_it() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1 .");
    let lock = std::fs::File::create(lode.path("db/LOCK")).unwrap();
    lock.lock().unwrap();
    let error = lode.run(&["load", "db", "data.ttl"]).fails(1);
    assert_says(&error, &["db is locked", "`lode serve`", "/data", "/update"]);
}

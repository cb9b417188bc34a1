//! `lode load --allow-url`, from a server of our own on the loopback address.

use crate::lode::Lode;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;

const TURTLE: &str = "@base <http://e/> . <a> <p> 1, 2, 3 .";

/// A server that answers every path in its own way, until the test ends.
fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let own = address.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let request = lines.next().and_then(Result::ok).unwrap_or_default();
            while lines.next().and_then(Result::ok).is_some_and(|line| !line.is_empty()) {}
            let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
            let _ = stream.write_all(&answer(&path, &own));
        }
    });
    address
}

fn answer(path: &str, own: &str) -> Vec<u8> {
    let reply = |status: &str, headers: &str, length: usize, body: &[u8]| {
        let head =
            format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n");
        [head.as_bytes(), body].concat()
    };
    let text = TURTLE.as_bytes();
    match path.split('?').next().unwrap_or_default() {
        "/data.ttl" => reply("200 OK", "", text.len(), text),
        "/typed" => reply("200 OK", "Content-Type: text/turtle; charset=utf-8\r\n", text.len(), text),
        "/data.nt.gz" => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(b"<http://e/a> <http://e/p> \"zipped\" .\n").unwrap();
            let body = encoder.finish().unwrap();
            reply("200 OK", "Content-Type: application/gzip\r\n", body.len(), &body)
        }
        "/short.nt" => {
            let body = b"<http://e/a> <http://e/p> \"x\" .\n";
            reply("200 OK", "", 1000, body)
        }
        "/moved" => reply("302 Found", &format!("Location: {own}/data.ttl\r\n"), 0, b""),
        "/around" => reply("302 Found", &format!("Location: {own}/around\r\n"), 0, b""),
        "/page.ttl" => reply("200 OK", "Content-Type: text/html\r\n", 15, b"<!doctype html>"),
        _ => reply("404 Not Found", "", 4, b"none"),
    }
}

#[test]
fn addresses_are_read_like_files() {
    let (lode, server) = (Lode::new(), server());
    let urls = ["data.ttl?version=2", "typed", "data.nt.gz", "moved"].map(|path| format!("{server}/{path}"));
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    let outcome = lode.run(&[&["load", "db", "--allow-url", "--json"][..], &urls].concat());
    let report: serde_json::Value = serde_json::from_str(&outcome.ok()).unwrap();
    assert_eq!((report["quads"].as_u64(), report["distinct"].as_u64()), (Some(10), Some(4)));
    assert_eq!(report["sources"][1]["format"], "ttl");
    assert_eq!(lode.run(&["dump", "db"]).ok().lines().count(), 4);
}

#[test]
fn what_goes_wrong_on_the_web_is_said() {
    let (lode, server) = (Lode::new(), server());
    for (path, parts) in [
        ("none.ttl", &["none.ttl", "404"][..]),
        ("short.nt", &["short.nt", "of 1000"]),
        ("around", &["around", "redirect"]),
        ("page.ttl", &["page.ttl", "HTML page"]),
    ] {
        let url = format!("{server}/{path}");
        let error = lode.run(&["load", "db", "--allow-url", &url]).fails(1);
        for part in parts {
            assert!(error.contains(part), "{part}: {error}");
        }
        assert!(!lode.path("db").exists());
        lode.run(&["load", "--dry-run", "--allow-url", &url]).fails(1);
    }
    let url = format!("{server}/data.ttl");
    assert!(lode.run(&["load", "db", &url]).fails(1).contains("--allow-url"));
    // Nobody listens there.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = format!("http://{}/data.ttl", listener.local_addr().unwrap());
    drop(listener);
    assert!(lode.run(&["load", "db", "--allow-url", &closed]).fails(1).contains("not to be had"));
    if cfg!(not(feature = "tls")) {
        let error = lode.run(&["load", "db", "--allow-url", "https://127.0.0.1:1/data.ttl"]).fails(1);
        assert!(error.contains("without TLS"), "{error}");
    }
}

#[test]
fn load_in_an_update_reads_allowed_addresses() {
    let (lode, server) = (Lode::new(), server());
    let load = |path: &str, allowed: &str| {
        let (text, prefix) = (format!("LOAD <{server}/{path}>"), format!("{server}{allowed}"));
        lode.run(&["update", "db", &text, "--create", "--allow-load", &prefix])
    };
    load("typed", "").ok();
    load("data.nt.gz", "/data.nt.gz").ok();
    assert_eq!(lode.run(&["dump", "db"]).ok().lines().count(), 4);
    for (path, allowed, part) in [
        ("data.ttl", "/other", "not on the list"),
        ("moved", "/moved", "sends us to"),
        ("none.ttl", "/", "404"),
        ("short.nt", "/", "of 1000"),
        ("page.ttl", "/", "HTML page"),
    ] {
        let error = load(path, allowed).fails(1);
        assert!(error.contains(part), "{path}: {error}");
    }
    assert_eq!(lode.run(&["dump", "db"]).ok().lines().count(), 4);
}

//! Content codings of answers and of requests.

use crate::client::{Answer, ask, serve_data};
use lode_engine::{MemoryBudget, QueryOptions};
use lode_server::ServerOptions;
use std::io::Write;
use std::net::SocketAddr;

const CODINGS: [&str; 3] = ["gzip", "br", "zstd"];
const UPDATE: (&str, &str) = ("Content-Type", "application/sparql-update");

fn data(quads: usize) -> String {
    let triples: String = (0..quads).map(|i| format!("<http://e/s{i}> <http://e/p> {i} . ")).collect();
    format!("INSERT DATA {{ {triples} }}")
}

fn encoded(coding: &str, bytes: &[u8]) -> Vec<u8> {
    match coding {
        "gzip" => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        "zstd" => zstd::encode_all(bytes, 3).unwrap(),
        _ => {
            let mut made = Vec::new();
            brotli::CompressorWriter::new(&mut made, 4096, 5, 20).write_all(bytes).unwrap();
            made
        }
    }
}

fn get(address: SocketAddr, path: &str, accepted: &str) -> Answer {
    ask(
        address,
        "GET",
        path,
        &[("Accept-Encoding", accepted), ("Accept", "text/csv, application/n-quads")],
        b"",
    )
}

#[test]
fn answers_are_compressed_for_those_who_take_them_so() {
    let address = serve_data(&data(20_000), ServerOptions::default());
    // Whole, streamed, and a download.
    for path in ["/sparql?query=SELECT*{?s?p?o}LIMIT+100", "/sparql?query=SELECT*{?s?p?o}ORDER+BY?s", "/data"]
    {
        let plain = get(address, path, "identity").is(200);
        assert_eq!(plain.field("content-encoding"), None);
        for coding in CODINGS {
            let answer = get(address, path, coding).is(200);
            assert_eq!(answer.field("content-encoding"), Some(coding), "{path}");
            assert!(answer.body.len() * 3 < plain.body.len(), "{path} {coding} {}", answer.body.len());
            assert!(answer.head.to_ascii_lowercase().contains("vary: accept-encoding"), "{}", answer.head);
            assert_eq!(answer.plain(), plain.body, "{path} {coding}");
        }
    }
    // What is short is not worth it, nor what has no body.
    assert_eq!(get(address, "/sparql?query=ASK{}", "gzip").is(200).field("content-encoding"), None);
    let head = ask(address, "HEAD", "/data", &[("Accept-Encoding", "zstd")], b"").is(200);
    assert_eq!((head.field("content-encoding"), head.body.len()), (Some("zstd"), 0));
    let off = serve_data(&data(2000), ServerOptions { compression: false, ..ServerOptions::default() });
    assert_eq!(get(off, "/data", "gzip").is(200).field("content-encoding"), None);
}

#[test]
fn without_memory_for_an_encoder_answers_are_plain() {
    let pool = MemoryBudget::new(64 << 20);
    let query = QueryOptions { memory: Some(pool.clone()), ..QueryOptions::default() };
    let address = serve_data(&data(2000), ServerOptions { query, ..ServerOptions::default() });
    assert_eq!(get(address, "/data", "gzip").is(200).field("content-encoding"), Some("gzip"));
    let _held = pool.reserve(pool.limit() * 7 / 8).unwrap();
    assert_eq!(get(address, "/data", "gzip").is(200).field("content-encoding"), None);
}

#[test]
fn an_answer_that_breaks_off_is_not_a_whole_one() {
    let address = serve_data(&data(20_000), ServerOptions::default());
    let path = "/sparql?timeout=0.5&query=SELECT*{?a?b?c.?d?e?f.?g?h?i}";
    let answer = std::panic::catch_unwind(|| get(address, path, "gzip"));
    // Either nothing was sent by then, or the last chunk is missing, which the client of these tests fails at.
    assert!(answer.is_err() || answer.is_ok_and(|answer| answer.status == 504));
}

#[test]
fn requests_may_be_compressed() {
    let address = serve_data("CLEAR ALL", ServerOptions::default());
    let count = || get(address, "/sparql?query=SELECT(COUNT(*)AS?n){?s?p?o}", "identity").is(200).text();
    for (number, coding) in CODINGS.into_iter().enumerate() {
        let field = ("Content-Encoding", coding);
        let update = format!("INSERT DATA {{ <http://e/{coding}> <http://e/p> 1 }}");
        ask(address, "POST", "/update", &[UPDATE, field], &encoded(coding, update.as_bytes())).is(200);
        let turtle = format!("<http://e/{coding}> <http://e/q> 2 .");
        let kind = ("Content-Type", "text/turtle");
        ask(address, "POST", "/data?default", &[kind, field], &encoded(coding, turtle.as_bytes())).is(200);
        let form = format!(
            "--x\r\nContent-Disposition: form-data; filename=\"a.ttl\"\r\n\r\n<http://e/{coding}> <http://e/r> 3 .\r\n--x--\r\n"
        );
        let kind = ("Content-Type", "multipart/form-data; boundary=x");
        ask(address, "POST", "/data?default", &[kind, field], &encoded(coding, form.as_bytes())).is(200);
        assert_eq!(count(), format!("n\r\n{}\r\n", 3 * (number + 1)), "{coding}");
        let cut = encoded(coding, update.as_bytes());
        let answer = ask(address, "POST", "/update", &[UPDATE, field], &cut[..cut.len() - 2]).is(400);
        assert!(answer.text().contains("Content-Encoding"), "{}", answer.text());
    }
    let unknown = ask(address, "POST", "/update", &[UPDATE, ("Content-Encoding", "compress")], b"x").is(415);
    assert_eq!(unknown.field("accept-encoding"), Some("zstd, br, gzip"));
    assert!(unknown.text().contains("compress"), "{}", unknown.text());
}

/// The decoder's window counts among bodies: a body that has no room beside it is told so at once, and keeps no others waiting.
#[test]
fn what_has_no_room_beside_its_decoder_is_refused_at_once() {
    let options = ServerOptions { bodies_bytes_max: 20 << 20, ..ServerOptions::default() };
    let address = serve_data("CLEAR ALL", options);
    let mut long = b"CLEAR ALL".to_vec();
    long.resize(12 << 20, b' ');
    let bomb = encoded("br", &long);
    let fields = [UPDATE, ("Content-Encoding", "br")];
    ask(address, "POST", "/update", &fields, &bomb).is(413);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                let answer = ask(address, "POST", "/update", &fields, &bomb);
                assert!([413, 503].contains(&answer.status), "{}", answer.status);
            });
        }
    });
    ask(address, "POST", "/update", &[UPDATE, ("Content-Encoding", "gzip")], &encoded("gzip", b"CLEAR ALL"))
        .is(200);
}

#[test]
fn bombs_are_refused() {
    let options = ServerOptions { update_bytes_max: 1 << 20, ..ServerOptions::default() };
    let address = serve_data("CLEAR ALL", options);
    let spaces = vec![b' '; 256 << 20];
    for coding in CODINGS {
        let bomb = encoded(coding, &spaces);
        assert!(bomb.len() < 1 << 20);
        let field = ("Content-Encoding", coding);
        let answer = ask(address, "POST", "/update", &[UPDATE, field], &bomb).is(413);
        assert!(answer.text().contains("1048576"), "{}", answer.text());
        let kind = ("Content-Type", "multipart/form-data; boundary=x");
        ask(address, "POST", "/data?default", &[kind, field], &bomb).is(413);
    }
}

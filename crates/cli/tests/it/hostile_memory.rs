//! Loads of data that try to break the promise of `--memory`: in which everything is different, and in which statements have no end.

use crate::endpoint::{Endpoint, peak_bytes};
use crate::lode::{Lode, Outcome};
use std::fmt::Write;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write as _};
use std::process::Stdio;

const XSD: &str = "http://www.w3.org/2001/XMLSchema#";
/// Memory that a load gets, not much more than a program takes that does nothing; and how much of it may be taken.
const MEMORY: &str = "64MiB";
const PEAK_BYTES_MAX: u64 = (64 << 20) / 100 * 115;
const QUADS: u32 = 500_000;
/// The same where terms are long.
const LONG_MEMORY: &str = "128MiB";
const LONG_PEAK_BYTES_MAX: u64 = (128 << 20) / 100 * 115;

fn load(lode: &Lode, files: &[&str], more: &[&str]) -> Outcome {
    let args = [&["load", "db"], files, &["--memory", MEMORY, "--threads", "2", "--json"], more].concat();
    let outcome = lode.run(&args);
    // The next one begins anew.
    let _ = std::fs::remove_dir_all(lode.path("db"));
    outcome
}

/// The most memory that was resident, and how many quads were added.
fn report(outcome: Outcome) -> (Option<u64>, u64) {
    let report: serde_json::Value = serde_json::from_str(&outcome.ok()).unwrap();
    (report["peak_resident_bytes"].as_u64(), report["added"].as_u64().unwrap())
}

/// A line in which as much is different from all other lines as can be.
fn different(number: u32, out: &mut String) {
    let (first, mixed) = (1 + number % 9, number.wrapping_mul(0x9E37_79B9));
    let object = match number % 4 {
        0 => format!("\"{mixed}\"^^<{XSD}integer>"),
        1 => format!("\"{first}.{number:06}1E{}\"^^<{XSD}double>", number % 200),
        2 => format!(
            "\"2{:03}-0{first}-1{}T12:00:{:02}Z\"^^<{XSD}dateTime>",
            mixed % 1000,
            mixed % 9,
            mixed % 60
        ),
        _ => format!("\"x\"@x-{number:x}"),
    };
    writeln!(out, "_:b{number} <http://e/p/{mixed}> {object} <http://e/g/{number}> .").unwrap();
}

#[test]
fn what_is_all_different_stays_within_the_memory() {
    let lode = Lode::new();
    let mut text = String::new();
    (0..QUADS).for_each(|number| different(number, &mut text));
    lode.write("different.nq", &text);
    let (peak, added) = report(load(&lode, &["different.nq"], &[]));
    assert_eq!(added, u64::from(QUADS));
    assert!(peak.is_none_or(|peak| peak < PEAK_BYTES_MAX), "{peak:?} of {PEAK_BYTES_MAX} bytes");
}

/// A small file of a statement that never ends.
fn endless(head: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(head.as_bytes()).unwrap();
    let part = [b'x'; 1 << 20];
    (0..300).for_each(|_| encoder.write_all(&part).unwrap());
    encoder.finish().unwrap()
}

#[test]
fn statements_without_an_end_are_refused_within_the_memory() {
    let rdf_xml = "<r:RDF xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:e='http://e/'>\n\
                   <r:Description><e:p>";
    let heads = [
        ("nt", "<http://a> <http://b> <http://c> .\n<http://a> <http://b> \""),
        ("ttl", "<http://a> <http://b> <http://c> .\n<http://a> <http://b> \"\"\""),
        ("rdf", rdf_xml),
        ("jsonld", "[{\"@id\": \"http://a\"},\n{\"http://b\": \""),
    ];
    for (format, head) in heads {
        let lode = Lode::new();
        let names = ["a", "b", "c"].map(|name| format!("{name}.{format}.gz"));
        names.iter().for_each(|name| lode.write(name, endless(head)));
        let error = load(&lode, &names.each_ref().map(String::as_str), &[]).fails(4);
        for part in [":2:", "has more than 4194304 bytes", "--statement-bytes-max"] {
            assert!(error.contains(part), "{format}: {error}");
        }
    }
}

#[test]
fn long_statements_are_taken_if_they_may_be() {
    let lode = Lode::new();
    let text = |tail: &str| format!("<http://a> <http://b> \"{}{tail}\" .\n", "long ".repeat(3 << 20));
    let names = ["a.nt", "b.nt", "c.ttl"];
    names.iter().for_each(|name| lode.write(name, text(name)));
    load(&lode, &names, &[]).fails(4);
    let (_, added) = report(load(&lode, &names, &["--statement-bytes-max", "16MiB"]));
    assert_eq!(added, 3);
}

/// Long objects, all different.
#[derive(Clone, Copy)]
struct Long {
    count: usize,
    bytes: usize,
    /// Bytes in front that all have in common.
    shared: usize,
    is_iri: bool,
}

const FEW: Long = Long { count: 100, bytes: 1_200_000, shared: 0, is_iri: false };
const MANY: Long = Long { count: 5000, bytes: 30_000, shared: 0, is_iri: false };

impl Long {
    /// Writes a triple each, with the syntax of lines or, after a prefix, of Turtle.
    fn write(self, lode: &Lode, name: &str) {
        let file = BufWriter::new(File::create(lode.path(name)).unwrap());
        let mut out: Box<dyn std::io::Write> = match name.ends_with(".gz") {
            true => Box::new(flate2::write::GzEncoder::new(file, flate2::Compression::fast())),
            false => Box::new(file),
        };
        let is_turtle = name.contains(".ttl");
        if is_turtle {
            writeln!(out, "@prefix e: <http://e/> .").unwrap();
        }
        let words: String = (0..self.bytes / 6 + 1).map(|i| format!("{:06x}", i * i % 0xFF_FFFF)).collect();
        for number in 0..self.count {
            let (head, start) = (&words[..self.shared], 6 * (number % 1000));
            let (tail, start_over) = (&words[start..], &words[..start]);
            let tail = [tail, start_over].concat();
            let text = format!("{head}{number:06}{}", &tail[..self.bytes - self.shared - 6]);
            let object = if self.is_iri { format!("<http://e/{text}>") } else { format!("\"{text}\"") };
            match is_turtle {
                true => writeln!(out, "e:s{number} e:p {object} ."),
                false => writeln!(out, "<http://e/s{number}> <http://e/p> {object} ."),
            }
            .unwrap();
        }
        out.flush().unwrap();
    }
}

#[test]
fn long_terms_stay_within_the_memory() {
    let cases = [
        ("few.nt", FEW),
        ("few.ttl.gz", FEW),
        ("many.nt.gz", MANY),
        ("many.ttl", MANY),
        ("shared.nt", Long { shared: 29_000, ..MANY }),
        ("iris.nt", Long { is_iri: true, ..MANY }),
        ("iris.ttl.gz", Long { is_iri: true, ..FEW }),
        ("at-the-limit.nt", Long { count: 20, bytes: 8_000_000, ..FEW }),
    ];
    for (name, long) in cases {
        let lode = Lode::new();
        long.write(&lode, name);
        let args = ["load", "db", name, "--memory", LONG_MEMORY, "--threads", "2", "--json"];
        let (peak, added) = report(lode.run(&args));
        assert_eq!(added, long.count as u64, "{name}");
        assert!(peak.is_none_or(|peak| peak < LONG_PEAK_BYTES_MAX), "{name}: {peak:?}");
    }
}

#[test]
fn uploads_and_dumps_of_long_terms_stay_within_the_memory() {
    for long in [FEW, MANY] {
        let lode = Lode::new();
        long.write(&lode, "long.nt");
        let endpoint = Endpoint::start(&lode, &["--memory", LONG_MEMORY]);
        let text = std::fs::read(lode.path("long.nt")).unwrap();
        endpoint.send("POST", "/data?default", &[("Content-Type", "application/n-triples")], &text).is(200);
        let peak = endpoint.peak_bytes();
        assert!(peak.is_none_or(|peak| peak < LONG_PEAK_BYTES_MAX), "an upload: {peak:?}");
        endpoint.stop();
        let args = ["dump", "db", "--memory", LONG_MEMORY];
        let mut dump = lode.command(&args).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(dump.stdout.take().unwrap());
        let (mut part, mut bytes, mut peak) = (vec![0; 1 << 20], 0, None);
        loop {
            let read = lines.read(&mut part).unwrap();
            if read == 0 {
                break;
            }
            (bytes, peak) = (bytes + read, peak_bytes(dump.id()).or(peak));
        }
        assert!(dump.wait().unwrap().success());
        assert_eq!(bytes, text.len());
        assert!(peak.is_none_or(|peak| peak < LONG_PEAK_BYTES_MAX), "a dump: {peak:?}");
    }
}

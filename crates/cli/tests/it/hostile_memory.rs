//! Loads of data that try to break the promise of `--memory`: in which everything is different, and in which statements have no end.

use crate::lode::{Lode, Outcome};
use std::fmt::Write;
use std::io::Write as _;

const XSD: &str = "http://www.w3.org/2001/XMLSchema#";
/// Memory that a load gets, not much more than a program takes that does nothing; and how much of it may be taken.
const MEMORY: &str = "64MiB";
const PEAK_BYTES_MAX: u64 = (64 << 20) / 100 * 115;
const QUADS: u32 = 500_000;

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

//! tar archives, plain and compressed, whole and damaged.

use crate::lode::Lode;
use std::io::Write;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// An archive of files with these names and contents.
fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, *bytes).unwrap();
    }
    builder.into_inner().unwrap()
}

fn lines(count: u32) -> Vec<u8> {
    (0..count)
        .flat_map(|i| format!("<http://e/{i}> <http://e/p> \"{}\" .\n", i.wrapping_mul(48_271)).into_bytes())
        .collect()
}

fn sample() -> Vec<u8> {
    let long_name = format!("dump/{}/c.nq", "deep".repeat(40));
    tar(&[
        ("dump/README.md", b"not RDF"),
        ("dump/a.ttl", b"@base <http://e/> . <a> <p> _:x . _:x <p> 1 ."),
        ("dump/b.nt.gz", &gzip(&lines(5000))),
        (&long_name, b"<http://e/a> <http://e/p> _:x <http://e/g> .\n"),
        ("dump/._b.nt", b"\0\0notes"),
        ("dump/LICENSE", b""),
    ])
}

#[test]
fn members_are_sources_of_their_own() {
    let plain = sample();
    let lode = Lode::new();
    lode.write("all.tar", &plain);
    lode.write("all.tgz", gzip(&plain));
    // The content tells, whatever the name.
    lode.write("all.bin", &plain);
    for (number, name) in ["all.tar", "all.tgz", "all.bin"].iter().enumerate() {
        let db = format!("db{number}");
        let outcome = lode.run(&["load", &db, name, "--json"]);
        assert!(outcome.err.contains("skipped 3 files"), "{outcome:#?}");
        let report: serde_json::Value = serde_json::from_str(&outcome.ok()).unwrap();
        assert_eq!((report["quads"].as_u64(), report["skipped_files"].as_u64()), (Some(5003), Some(3)));
        // Blank nodes are scoped by file: two labels are the same, two nodes are not.
        assert_eq!(report["blank_nodes"], 2);
        assert_eq!(report["sources"][1]["name"], format!("{name}/dump/b.nt.gz"));
        assert_eq!(report["sources"][1]["quads"], 5000);
        let length = std::fs::metadata(lode.path(name)).unwrap().len();
        assert_eq!(report["source_bytes"], length);
    }
    let dry = lode.run(&["load", "--dry-run", "all.tgz", "all.tar"]);
    assert!(dry.err.contains("all.tgz/dump/b.nt.gz: 5,000 quads"), "{dry:#?}");
    dry.ok();
}

#[test]
fn mistakes_in_members_have_their_place() {
    let lode = Lode::new();
    let bad = [&lines(10)[..], b"oops\n"].concat();
    lode.write("a.tar", tar(&[("x/bad.nt", &bad), ("x/bad.ttl", b"<a> <b"), ("x/good.nt", &lines(3))]));
    assert!(lode.run(&["load", "db", "a.tar"]).fails(4).contains("a.tar/x/bad"));
    assert!(!lode.path("db").exists());
    let dry = lode.run(&["load", "--dry-run", "a.tar"]).fails(4);
    for part in ["a.tar/x/bad.nt:11:1", "a.tar/x/bad.ttl:1:", "a.tar/x/good.nt: 3 quads"] {
        assert!(dry.contains(part), "{part}: {dry}");
    }
}

#[test]
fn a_told_format_is_that_of_all_members() {
    let lode = Lode::new();
    lode.write("parts.tar", tar(&[("part-0", &lines(2)), ("part-1", &lines(4))]));
    assert!(lode.run(&["load", "db", "parts.tar"]).err.contains("skipped 2 files"));
    let report = lode.run(&["load", "db", "parts.tar", "--format", "nt", "--json"]).ok();
    assert!(report.contains("\"quads\": 6"), "{report}");
}

/// Numbers that look random, the same in every run.
fn places(count: usize, below: usize) -> impl Iterator<Item = usize> {
    (1..=count).map(move |i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29) % below)
}

#[test]
fn archives_that_were_cut_are_never_loaded_in_part() {
    let plain = tar(&[
        ("a.nt", &lines(400)),
        ("b.ttl", b"<http://e/a> <http://e/p> 1 ."),
        ("c.nt.gz", &gzip(&lines(900))),
    ]);
    // Where the mark of the end begins, the archive may end: one block of zeros is enough.
    let end = plain.len() - 1024;
    let lode = Lode::new();
    for (name, bytes, limit) in
        [("cut.tar", plain.clone(), end + 1), ("cut.tgz", gzip(&plain), gzip(&plain).len())]
    {
        let boundaries = [512, 1024, end - 512, end].into_iter().filter(|at| *at < limit);
        for keep in places(12, limit - 300).map(|at| at + 300).chain(boundaries) {
            lode.write(name, &bytes[..keep]);
            let outcome = lode.run(&["load", "db", name]);
            assert!([1, 4].contains(&outcome.code), "{name} {keep}: {outcome:#?}");
            assert!(!outcome.err.contains("panicked") && outcome.err.contains("error: cut."), "{outcome:#?}");
            assert!(!lode.path("db").exists());
        }
    }
}

#[test]
fn archives_with_flipped_bits_are_errors_or_unharmed() {
    let plain = tar(&[("a.nt", &lines(300)), ("c.nt.gz", &gzip(&lines(900)))]);
    let lode = Lode::new();
    lode.write("whole.tar", &plain);
    lode.run(&["load", "whole", "whole.tar"]).ok();
    let expected = lode.run(&["dump", "whole"]).ok();
    let packed = gzip(&plain);
    for place in places(25, packed.len()) {
        let mut bytes = packed.clone();
        bytes[place] ^= 1 << (place % 8);
        lode.write("flipped.tgz", &bytes);
        let outcome = lode.run(&["load", "db", "flipped.tgz"]);
        assert!(!outcome.err.contains("panicked"), "{outcome:#?}");
        if outcome.code == 0 {
            assert_eq!(lode.run(&["dump", "db"]).ok(), expected, "bit {} of byte {place}", place % 8);
            std::fs::remove_dir_all(lode.path("db")).unwrap();
        }
    }
    // Headers have checksums of their own.
    for place in places(8, 500) {
        let mut bytes = plain.clone();
        bytes[place] ^= 4;
        lode.write("flipped.tar", &bytes);
        let outcome = lode.run(&["load", "db", "flipped.tar", "--quiet"]);
        assert!([1, 4].contains(&outcome.code), "byte {place}: {outcome:#?}");
    }
}

#[test]
fn many_compressed_files_at_once() {
    let lode = Lode::new();
    let names: Vec<String> = (0..9).map(|number| format!("{number}.nt.gz")).collect();
    for (number, name) in (0..).zip(&names) {
        lode.write(name, gzip(&[&lines(100 * (number + 1))[..], b"_:x <http://e/p> _:x .\n"].concat()));
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for threads in ["1", "2", "4"] {
        let database = format!("db{threads}");
        let report =
            lode.run(&[&["load", &database, "--threads", threads, "--json"][..], &names].concat()).ok();
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        assert_eq!((report["quads"].as_u64(), report["distinct"].as_u64()), (Some(4509), Some(909)));
        assert_eq!(report["blank_nodes"], 9);
        let quads: Vec<_> =
            (0..9).map(|number| report["sources"][number]["quads"].as_u64().unwrap()).collect();
        assert_eq!(quads, [101, 201, 301, 401, 501, 601, 701, 801, 901]);
    }
}

#[test]
fn archives_in_archives() {
    let lode = Lode::new();
    let mut bytes = tar(&[("a.nt", &lines(7))]);
    for depth in 1..=4 {
        lode.write(&format!("{depth}.tar"), &bytes);
        bytes = tar(&[("in.tgz", &gzip(&bytes)), ("README", b"")]);
    }
    let outcome = lode.run(&["load", "db", "3.tar", "--json"]);
    assert!(outcome.err.contains("skipped 2 files"), "{outcome:#?}");
    let report = outcome.ok();
    assert!(report.contains("\"quads\": 7") && report.contains("3.tar/in.tgz/in.tgz/a.nt"), "{report}");
    lode.run(&["load", "db", "4.tar"]).ok();
    lode.write("5.tar", bytes);
    assert!(lode.run(&["load", "db", "5.tar"]).fails(1).contains("too deep"));
}

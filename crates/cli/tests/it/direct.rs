//! `--direct`: the same answers past the memory of the system, or as usual where the file system refuses.

use crate::lode::Lode;
use std::fmt::Write;

const QUERY: &str = "SELECT ?s ?o { ?s <http://e/p3> ?o } ORDER BY ?s ?o";

#[test]
fn what_is_loaded_compacted_and_read_directly_is_the_same() {
    let lode = Lode::new();
    let lines = |range: std::ops::Range<usize>| {
        let mut text = String::new();
        for i in range {
            // Long enough for files of more than what is written at once.
            let noise = i.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            writeln!(
                text,
                "<http://e/s{}> <http://e/p{}> \"{noise:016x} {i} {:016x}\" .",
                i / 5,
                i % 5,
                !noise
            )
            .unwrap();
        }
        text
    };
    std::fs::write(lode.path("a.nt"), lines(0..60_000)).unwrap();
    std::fs::write(lode.path("b.nt"), lines(60_000..90_000)).unwrap();
    let answers = [&[][..], &["--direct"]].map(|direct| {
        let name = format!("db{}", direct.len());
        let run = |args: &[&str]| lode.run(&[args, direct].concat()).ok();
        run(&["load", &name, "a.nt", "--quiet", "--no-merge"]);
        run(&["load", &name, "b.nt", "--quiet", "--no-merge"]);
        let before = run(&["query", &name, QUERY, "--format", "csv"]);
        run(&["compact", &name, "--quiet"]);
        lode.run(&["check", &name, "--quiet"]).ok();
        let after = run(&["query", &name, QUERY, "--format", "csv"]);
        assert_eq!(before, after);
        after
    });
    assert!(answers[0].lines().count() == 18_001 && answers[0] == answers[1]);
}

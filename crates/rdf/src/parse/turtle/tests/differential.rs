//! Random documents, damaged documents and the damaged files of the suites, read by our parser and by the general one alone.
//!
//! `LODE_TURTLE_CASES` sets the number of cases, `LODE_TURTLE_SEED` the first seed.

use super::generate::{Generator, Random, damage};
use super::{Cuts, agree};
use std::path::{Path, PathBuf};

pub(super) fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn check(seed: u64, text: &[u8], random: &mut Random) {
    let (with_graphs, with_base) = (random.one_in(2), random.one_in(3));
    let cuts = Cuts { wanted: 1 + random.below(80), step: 1 + random.below(200) };
    if let Err(problem) = agree(text, with_graphs, with_base, cuts) {
        panic!("seed {seed}: {problem}");
    }
}

#[test]
fn random_documents() {
    let (first, cases) = (number("LODE_TURTLE_SEED", 0), number("LODE_TURTLE_CASES", 4000));
    let mut valid = 0;
    for seed in first..first + cases {
        let mut random = Random::new(seed);
        let with_graphs = random.one_in(2);
        let text = Generator::new(seed, with_graphs).document();
        valid += u64::from(super::oxttl(text.as_bytes(), with_graphs, true).is_ok());
        check(seed, text.as_bytes(), &mut random);
        let mut damaged = text.into_bytes();
        damage(&mut damaged, &mut random);
        check(seed, &damaged, &mut random);
    }
    assert!(valid * 4 > cases, "only {valid} of {cases} documents are valid");
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "ttl" || extension == "trig") {
            found.push(path);
        }
    }
}

#[test]
fn damaged_suites() {
    let folder = match std::env::var_os("LODE_SUITES") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/suites"),
    };
    let folder = folder.join("w3c-rdf-tests/rdf");
    if !folder.is_dir() {
        println!("skipped: no test suites (set LODE_SUITES)");
        return;
    }
    let mut paths = Vec::new();
    files(&folder, &mut paths);
    let rounds = number("LODE_TURTLE_CASES", 2000) / 2000;
    let first = number("LODE_TURTLE_SEED", 0);
    for seed in first..first + rounds {
        let mut random = Random::new(seed);
        for path in &paths {
            let mut text = std::fs::read(path).unwrap();
            // Manifests are long and alike.
            if text.len() > 20_000 {
                continue;
            }
            check(seed, &text, &mut random);
            damage(&mut text, &mut random);
            check(seed, &text, &mut random);
        }
    }
}

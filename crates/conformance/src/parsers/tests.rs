//! A small run; the binary `parsers` makes large ones.

use super::{Corpus, Outcome};
use crate::generate::Random;
use std::path::{Path, PathBuf};

/// Folders with texts: the suites, where there are any, and the queries of this repository.
fn folders() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let suites = std::env::var_os("LODE_SUITES").map_or_else(|| root.join("../shared/suites"), PathBuf::from);
    vec![suites, root.join("crates"), root.join("bench")]
}

#[test]
fn both_parsers_agree() {
    let run = || {
        let corpus = Corpus::new(&folders(), 300);
        let mut outcome = Outcome::default();
        corpus.texts().iter().for_each(|(text, form)| outcome.add(text, *form));
        let whole = outcome.texts();
        let mut random = Random::new(1);
        for _ in 0..2_000 {
            let (text, form) = corpus.damaged(&mut random);
            outcome.add(&text, form);
        }
        (outcome, whole)
    };
    // The judge recurses over all that it reads.
    let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(run).expect("a thread");
    let (outcome, whole) = thread.join().expect("no panic");
    println!("{whole} whole, {} taken, {} refused, {:#?}", outcome.taken, outcome.refused, outcome.meant);
    assert!(
        outcome.failures.is_empty(),
        "{} differ:\n{}",
        outcome.failures.len(),
        outcome.failures.join("\n\n")
    );
    assert!(outcome.taken > 500 && outcome.refused > 500, "{} {}", outcome.taken, outcome.refused);
}

//! A small run; the binary `parsers` makes large ones.

use super::{Corpus, Outcome};
use crate::generate::Random;
use lode_sparql::syntax::Form;
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

/// The judge tells of the furthest place where something else might stand, not of what it refuses.
#[test]
fn reasons_are_found_without_the_words_of_the_judge() {
    let describes = "PREFIX : <http://e/> DESCRIBE ?a ?c ?c WHERE { ?a :s ?b . VALUES (?e ?g) { } OPTIONAL { ?c ((:s/:p)*) ?b . OPTIONAL { ?d (:p+) \"a\" . } } \
                     FILTER((?b = ?a)) } VALUES (?b ?d) { (:d 1.0) }\n";
    let selects = "PREFIX : <http://e/>\nPREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\nWITH :g1 DELETE { ?d ?a ?c . } WHERE { ?a :s :g2 . ?d ?e ?d . LATERAL { { \
                   SELECT ?d (FLOOR(?c) AS ?n3) WHERE { ?a :s ?d . { SELECT ?c ?a (COUNT(*) AS ?n1) ((xsd:decimal(?n1)) AS ?n2) WHERE { ?b :s ?2 . ?b :s ?c . \
                   ?c :s ?a . } GROUP BY ?c ?a } } } } } ;\nDELETE DATA { :g2 :r 1 . :g2 :s 1 . :b :s 1 . } ;\nCLEAR DEFAULT\n";
    let mut outcome = Outcome::default();
    outcome.add(describes, Form::Query);
    outcome.add(selects, Form::Update);
    assert!(outcome.failures.is_empty(), "{}", outcome.failures.join("\n\n"));
    assert_eq!(outcome.texts(), 2);
}

//! Runs the W3C suites.

use lode_conformance::golden;
use lode_conformance::subject::NaiveSubject;
use lode_conformance::suites;

/// The oracle passes the suites: that makes it an oracle, and shows that the runner can be passed.
#[test]
fn suites_with_the_naive_evaluator() {
    let report = suites::run(&mut NaiveSubject::default(), &suites::suites_folder()).unwrap();
    println!("{report}");
    let complaints = report.complaints();
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

/// The golden queries say the same as the oracle.
#[test]
fn golden_queries_with_the_naive_evaluator() {
    let goldens = golden::load_all().unwrap();
    assert!(goldens.len() >= 30, "only {} golden queries", goldens.len());
    let mut failures = Vec::new();
    for golden in &goldens {
        if let Err(error) = golden.check(&mut NaiveSubject::default()) {
            failures.push(format!("{}: {error:#}", golden.name));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

//! Runs the W3C suites.

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

//! The engine against the suite of the W3C for SHACL. None of its tests is expected to fail.

use lode_conformance::suites;

#[test]
fn suite_of_shacl() {
    let report = suites::run_shacl(&suites::suites_folder()).unwrap();
    println!("{report}");
    let complaints = report.complaints();
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

//! `lode text`: which texts it has indexed from then on.

use crate::lode::Lode;

/// What the report of a command says of a setting.
fn setting(lode: &Lode, args: &[&str], name: &str) -> String {
    let report = lode.run(&[&["text", "db", "--json", "--quiet"], args].concat()).ok();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let all = report[name].as_array().unwrap().iter().map(|iri| iri.as_str().unwrap().to_owned());
    all.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_setting_that_is_not_given_stays_as_it_was() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> \"cat\" ; <http://e/q> \"dog\" .");
    let of = |args: &[&str]| (setting(&lode, args, "predicates"), setting(&lode, args, "graphs"));
    let both = |predicates: &str, graphs: &str| (predicates.to_owned(), graphs.to_owned());
    assert_eq!(of(&["--predicates", "http://e/p"]), both("http://e/p", ""));
    assert_eq!(of(&["--graphs", "default"]), both("http://e/p", "default"));
    assert_eq!(of(&[]), both("http://e/p", "default"));
    assert_eq!(of(&["--predicates", "http://e/q,http://e/r"]), both("http://e/q http://e/r", "default"));
    let told = lode.run(&["text", "db", "--graphs", "http://e/g,default"]);
    let said =
        "as before: --predicates http://e/q,http://e/r (lode text DB --all-literals indexes all texts again)";
    assert!(told.err.contains(said), "{told:?}");
    told.ok();
    assert_eq!(of(&["--all-literals"]), both("", ""));
    assert_eq!(of(&["--graphs", "default"]), both("", "default"));
    let told = lode.run(&["text", "db", "--graphs", "default"]);
    assert!(!told.err.contains("as before"), "{told:?}");
}

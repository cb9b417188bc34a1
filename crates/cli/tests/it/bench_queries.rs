//! Runs of query sets, and answers of two stores side by side.

use crate::endpoint::Endpoint;
use crate::lode::{Lode, copy_folder};
use serde_json::Value;

const PRODUCTS: &str = "120";

/// A scratch folder with BSBM data in `db`, and in `other` with one offer more.
fn bsbm() -> Lode {
    let lode = Lode::new();
    let generate = ["bench", "bsbm", "generate", "--products", PRODUCTS, "--output", "data.nt", "--quiet"];
    lode.run(&generate).ok();
    lode.run(&["load", "db", "data.nt"]).ok();
    copy_folder(&lode.path("db"), &lode.path("other"));
    let vocabulary = "http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/vocabulary/";
    let update =
        format!("INSERT DATA {{ <http://e/offer> a <{vocabulary}Offer> ; <{vocabulary}deliveryDays> 1 }}");
    lode.run(&["update", "other", &update]).ok();
    lode
}

fn report(out: &str) -> Vec<Value> {
    let report: Value = serde_json::from_str(out).unwrap();
    report["queries"].as_array().unwrap().clone()
}

#[test]
fn an_endpoint_answers_as_this_process_does() {
    let lode = bsbm();
    let endpoint = Endpoint::start(&lode, &["--read-only"]);
    let url = format!("{}/sparql", endpoint.base);
    let run = ["bench", "analytic", "--runs", "2", "--warmup", "1", "--json"];
    let here = report(&lode.run(&[&run[..], &["db", "--compare", &url]].concat()).ok());
    let there = report(&lode.run(&[&run[..], &["--endpoint", &url, "--post"]].concat()).ok());
    assert!(here.len() > 40 && here.len() == there.len());
    for (here, there) in here.iter().zip(&there) {
        for key in ["name", "about", "rows", "checksum"] {
            assert_eq!(here[key], there[key], "{here:#}");
            assert!(!here[key].is_null(), "{here:#}");
        }
        assert_eq!((&here["same"], &there["same"]), (&true.into(), &Value::Null), "{here:#}");
        let seconds = |key: &str| here[key].as_f64().unwrap_or_else(|| panic!("{here:#}"));
        assert!(
            seconds("min_seconds") > 0.0 && seconds("min_seconds") <= seconds("mean_seconds"),
            "{here:#}"
        );
        assert!(seconds("median_seconds") >= seconds("min_seconds") && seconds("processor_seconds") >= 0.0);
    }
    let rows: u64 = here.iter().filter_map(|query| query["rows"].as_u64()).sum();
    assert!(rows > 5_000, "{rows}");
}

#[test]
fn answers_that_differ_are_told() {
    let lode = bsbm();
    let endpoint = Endpoint::serve(&lode, "other", &["--read-only"]);
    let url = format!("{}/sparql", endpoint.base);
    let run =
        ["bench", "analytic", "db", "--runs", "0", "--only", "predicates,count-join", "--compare", &url];
    let outcome = lode.run(&run);
    assert_eq!(outcome.code, 1, "{outcome:#?}");
    assert!(outcome.err.contains("predicates is answered in another way"), "{outcome:#?}");
    assert!(outcome.err.contains("2 only of the first, 2 only of the second"), "{outcome:#?}");
    assert!(
        outcome.err.contains("GROUP BY ?p") && outcome.err.contains("vocabulary/deliveryDays>\ttriples=")
    );
    assert!(outcome.err.contains("0 queries failed, 1 answers differ"), "{outcome:#?}");
    let line = |name| outcome.out.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    assert!(line("predicates ").ends_with("differs") && !line("count-join ").ends_with("differs"));
}

#[test]
fn queries_that_fail_do_not_hide_the_rest() {
    let lode = bsbm();
    let run =
        ["bench", "analytic", "db", "--timeout", "0.000001", "--only", "star-offers,predicates", "--json"];
    let outcome = lode.run(&run);
    assert_eq!(outcome.code, 1, "{outcome:#?}");
    let queries = report(&outcome.out);
    assert_eq!(queries.len(), 2);
    assert!(
        queries.iter().all(|query| query["failure"].is_string() && query["rows"].is_null()),
        "{queries:#?}"
    );
    assert!(outcome.err.contains("2 queries failed"), "{outcome:#?}");
    let error = lode.run(&["bench", "analytic", "db", "--only", "nonsense"]).fails(1);
    assert!(error.contains("no query nonsense") && error.contains("star-offers"), "{error}");
    lode.run(&["bench", "analytic"]).fails(2);
    // A port that was free a moment ago.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = lode.run(&["bench", "analytic", "--endpoint", &format!("http://{free}/sparql")]).fails(1);
    assert!(error.contains("exists-small-large: no answer"), "{error}");
}

#[test]
fn mixes_of_two_stores_are_compared() {
    let lode = bsbm();
    let (same, other) = (Endpoint::start(&lode, &[]), Endpoint::serve(&lode, "other", &[]));
    let run = ["bench", "bsbm", "run", "db", "--products", PRODUCTS, "--runs", "2", "--compare"];
    for mix in ["explore", "bi"] {
        let url = format!("{}/sparql", same.base);
        let out = lode.run(&[&run[..], &[&url, "--mix", mix, "--json"]].concat()).ok();
        let report: Value = serde_json::from_str(&out).unwrap();
        for (name, query) in report["queries"].as_object().unwrap() {
            assert!(query["same"].as_u64() > Some(0) && query["different"] == 0, "{name}: {query:#}");
        }
    }
    let vocabulary = "http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/vocabulary/";
    let update = format!("DELETE WHERE {{ ?product <{vocabulary}productPropertyTextual1> ?text }}");
    other.update(&update).is(200);
    let url = format!("{}/sparql", other.base);
    let outcome = lode.run(&[&run[..], &[&url]].concat());
    assert_eq!(outcome.code, 1, "{outcome:#?}");
    assert!(outcome.err.contains("explore-2 is not answered alike") && outcome.err.contains("SELECT"));
    assert!(outcome.err.contains("answers differ"), "{outcome:#?}");
    let line = outcome.out.lines().find(|line| line.starts_with("explore-2 ")).unwrap();
    assert_eq!(line.split_whitespace().collect::<Vec<_>>(), ["explore-2", "0", "12", "0"], "{outcome:#?}");
}

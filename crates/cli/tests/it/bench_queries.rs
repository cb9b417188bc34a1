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

/// What an evaluator of a few lines finds in `crates/bench/src/lubm/tests.rs`.
const LUBM_ROWS: [u64; 14] = [5, 1, 10, 28, 423, 9399, 26, 9399, 242, 5, 249, 18, 2, 7084];

#[test]
fn universities_are_generated_and_asked() {
    let lode = Lode::new();
    let generate = ["bench", "lubm", "generate", "--universities", "1", "--output", "data.nt"];
    let said = lode.run(&generate);
    assert!(said.code == 0 && said.err.contains("triples"), "{said:#?}");
    lode.run(&["load", "db", "data.nt"]).ok();
    let queries = report(&lode.run(&["bench", "lubm", "run", "db", "--runs", "1", "--json"]).ok());
    let rows: Vec<u64> = queries.iter().filter_map(|query| query["rows"].as_u64()).collect();
    assert_eq!(rows, LUBM_ROWS);
    let asserted =
        lode.run(&["bench", "lubm", "generate", "--universities", "1", "--asserted", "--quiet"]).ok();
    assert!(!asserted.contains("#Chair>") && asserted.lines().count() > 80_000);
    lode.run(&["bench", "lubm", "generate", "--universities", "0"]).fails(1);
    lode.run(&["bench", "lubm", "generate", "--universities", "1", "--format", "ttl"]).fails(2);
}

#[test]
fn paths_of_an_endpoint_are_those_of_this_process() {
    let lode = bsbm();
    let endpoint = Endpoint::start(&lode, &["--read-only"]);
    let url = format!("{}/sparql", endpoint.base);
    let queries =
        report(&lode.run(&["bench", "paths", "db", "--runs", "0", "--json", "--compare", &url]).ok());
    assert_eq!(queries.len(), 22);
    assert!(queries.iter().all(|query| query["same"] == true), "{queries:#?}");
}

#[test]
fn results_of_stores_become_tables_and_plots() {
    let lode = bsbm();
    std::fs::create_dir(lode.path("results")).unwrap();
    let run = ["bench", "analytic", "db", "--runs", "1", "--json", "--only", "predicates,count-join"];
    let out = lode.run(&run).ok();
    lode.write("results/lodestore.analytic.json", &out);
    lode.write("results/other.analytic.json", out.replace("\"failure\": null", "\"failure\": \"time-out\""));
    let begin = "<!-- tables of lode bench report: begin -->";
    let end = "<!-- tables of lode bench report: end -->";
    lode.write("page.md", format!("before\n{begin}\n{end}\nafter\n"));
    let report = ["bench", "report", "results", "--markdown", "page.md", "--plots", "plots"];
    let table = lode.run(&report).ok();
    assert!(
        table.starts_with("| Query classes, ms | lodestore | other |\n") && table.contains(" | – |\n"),
        "{table}"
    );
    let page = std::fs::read_to_string(lode.path("page.md")).unwrap();
    assert_eq!(page, format!("before\n{begin}\n{table}{end}\nafter\n"));
    let plot = std::fs::read_to_string(lode.path("plots/analytic.svg")).unwrap();
    assert!(plot.starts_with("<svg") && plot.contains(">predicates</text>"), "{plot}");
    lode.write("no-place.md", "nothing");
    let error = lode.run(&["bench", "report", "results", "--markdown", "no-place.md"]).fails(1);
    assert!(error.contains("no lines") && error.contains("tables of lode bench report"), "{error}");
    assert!(lode.run(&["bench", "report", "results", "--first", "nobody"]).fails(1).contains("--first"));
    std::fs::create_dir(lode.path("empty")).unwrap();
    assert!(lode.run(&["bench", "report", "empty"]).fails(1).contains("no results"));
}

#[test]
fn universities_are_answered_by_reasoning_as_with_what_follows_written_out() {
    let lode = Lode::new();
    let generate = ["bench", "lubm", "generate", "--universities", "1", "--quiet"];
    lode.run(&[&generate[..], &["--output", "all.nt"]].concat()).ok();
    lode.run(&[&generate[..], &["--asserted", "--output", "asserted.nt"]].concat()).ok();
    lode.run(&["bench", "lubm", "ontology", "--output", "ontology.ttl"]).ok();
    lode.run(&["load", "all", "all.nt"]).ok();
    lode.run(&["load", "asserted", "asserted.nt", "ontology.ttl"]).ok();
    copy_folder(&lode.path("asserted"), &lode.path("materialised"));
    lode.run(&["materialise", "materialised", "--rules", "owl2-rl", "--quiet"]).ok();
    for (database, options) in
        [("asserted", &["--read-only", "--reason", "rdfs-plus"][..]), ("materialised", &["--read-only"])]
    {
        let endpoint = Endpoint::serve(&lode, database, options);
        let url = format!("{}/sparql", endpoint.base);
        let run = ["bench", "lubm", "run", "all", "--runs", "0", "--json", "--compare", &url];
        let queries = report(&lode.run(&run).ok());
        assert_eq!(queries.len(), 14);
        for query in queries {
            assert_eq!(query["same"], true, "{database}: {query:#}");
            assert!(query["rows"].as_u64().is_some_and(|rows| rows > 0), "{query:#}");
        }
    }
}

#[test]
fn data_without_reviews_are_refused() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 'jewelness' .");
    let told = lode.run(&["bench", "text", "db"]).fails(1);
    assert!(told.contains("no reviews of BSBM") && told.contains("bsbm generate"), "{told}");
}

#[test]
fn words_and_strings_are_found_with_an_index_as_without() {
    let lode = bsbm();
    let ask = || report(&lode.run(&["bench", "text", "db", "--runs", "1", "--json"]).ok());
    let without = ask();
    lode.run(&["text", "db", "--quiet"]).ok();
    let with = ask();
    assert_eq!((with.len(), without.len()), (15, 15));
    for (with, without) in with.iter().zip(&without) {
        // Of reviews that are equally good others may be chosen.
        let is_cut = with["name"].as_str().unwrap().ends_with("-best") || with["name"] == "word-join";
        for key in if is_cut { &["name", "rows"][..] } else { &["name", "rows", "checksum"] } {
            assert_eq!(with[key], without[key], "{with:#} {without:#}");
        }
    }
    assert!(with.iter().filter(|query| query["rows"].as_u64() > Some(0)).count() > 8, "{with:#?}");
}

#[test]
fn rivals_are_asked_the_same_in_their_own_ways() {
    let lode = bsbm();
    lode.run(&["text", "db", "--quiet"]).ok();
    let endpoint = Endpoint::serve(&lode, "other", &["--read-only"]);
    let url = format!("{}/sparql", endpoint.base);
    let rivals = ["lodestore", "plain", "virtuoso"].map(|name| format!("--rival={name}={url}"));
    let rivals: Vec<&str> = rivals.iter().map(String::as_str).collect();
    let run = ["bench", "text", "db", "--runs", "1", "--json"];
    let queries = report(&lode.run(&[&run[..], &rivals].concat()).ok());
    assert_eq!(queries.len(), 15);
    for query in &queries {
        let name = query["name"].as_str().unwrap();
        let (is_best, is_cut) = (name.ends_with("-best"), name == "word-join");
        let rivals = query["rivals"].as_array().unwrap();
        let of = |store: &str| rivals.iter().find(|rival| rival["store"] == store).unwrap();
        let one_answer = if is_best || is_cut { Value::Null } else { true.into() };
        // The index of words is that of the same rules.
        assert_eq!(of("lodestore")["same"], one_answer, "{query:#}");
        assert_eq!(of("lodestore")["rows"], query["rows"], "{query:#}");
        assert!(of("lodestore")["min_seconds"].as_f64().is_some_and(|seconds| seconds > 0.0), "{query:#}");
        // Plain SPARQL has no scores, and knows no stems.
        assert_eq!(of("plain")["failure"].is_string(), is_best, "{query:#}");
        if name.starts_with("contains") || name == "phrase-count" {
            assert_eq!(of("plain")["same"], true, "{query:#}");
        }
        // Here scores have no name in what Virtuoso writes.
        assert_eq!(of("virtuoso")["failure"].is_string(), is_best, "{query:#}");
    }
    let told = lode.run(&[&run[..5], &["--only", "contains-any", rivals[0]]].concat()).ok();
    assert!(told.lines().any(|line| line.starts_with("  lodestore") && line.ends_with("  same")), "{told}");
    assert!(lode.run(&["bench", "text", "db", "--rival", "jena"]).fails(2).contains("jena=http://"));
    assert!(
        lode.run(&["bench", "text", "db", "--rival", "jena=http://127.0.0.1:9/"])
            .fails(1)
            .contains("asking jena")
    );
}

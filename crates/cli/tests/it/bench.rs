//! `lode bench load`, and runs of the BSBM mixes.

use crate::endpoint::Endpoint;
use crate::lode::Lode;
use serde_json::Value;

#[test]
fn a_case_is_loaded_and_goes_into_the_table() {
    let lode = Lode::new();
    let (begin, end) = ("<!-- table of lode bench load: begin -->", "<!-- table of lode bench load: end -->");
    lode.write("page.md", format!("before\n{begin}\n{end}\nafter\n"));
    let args =
        ["bench", "load", "--cases", "bsbm-50k", "--runs", "1", "--folder", "data", "--markdown", "page.md"];
    let table = lode.run(&args).ok();
    let row = table
        .lines()
        .find(|line| line.starts_with("| bsbm-50k (nt) | "))
        .unwrap_or_else(|| panic!("{table}"));
    assert_eq!(row.matches('|').count(), 9, "{row}");
    let page = std::fs::read_to_string(lode.path("page.md")).unwrap();
    assert!(page.starts_with("before\n") && page.ends_with("after\n") && page.contains(row), "{page}");
    assert!(lode.path("data/bsbm-127.nt").exists() && !lode.path("data/bench.db").exists());
}

#[test]
fn cases_are_listed_and_unknown_ones_refused() {
    let lode = Lode::new();
    let list = lode.run(&["bench", "load", "--list", "--up-to", "1000000000"]).ok();
    assert!(list.contains("bsbm-100m") && list.contains("--memory 8GiB"), "{list}");
    let error = lode.run(&["bench", "load", "--cases", "nonsense"]).fails(1);
    assert!(error.contains("--list"), "{error}");
}

const PRODUCTS: &str = "50";

/// A scratch folder with BSBM data in a database `db`.
fn bsbm() -> Lode {
    let lode = Lode::new();
    let generate = ["bench", "bsbm", "generate", "--products", PRODUCTS, "--output", "data.nt", "--quiet"];
    lode.run(&generate).ok();
    lode.run(&["load", "db", "data.nt"]).ok();
    lode
}

fn run_bsbm(lode: &Lode, extra: &[&str]) -> Value {
    let two = ["bench", "bsbm", "run", "--products", PRODUCTS, "--warmup", "1", "--runs", "2", "--json"];
    serde_json::from_str(&lode.run(&[&two[..], extra].concat()).ok()).unwrap()
}

/// Each query's number of runs in two mixes, and figures that fit one another.
#[track_caller]
fn check_report(report: &Value, counts: &[(&str, u64)]) {
    assert_eq!((&report["mixes"], &report["failures"]), (&2.into(), &0.into()), "{report:#}");
    let queries = report["queries"].as_object().unwrap();
    assert_eq!(queries.len(), counts.len(), "{report:#}");
    for (name, count) in counts {
        let query = &queries[*name];
        let number = |key: &str| query[key].as_f64().unwrap_or_else(|| panic!("{name}: {key}: {report:#}"));
        assert_eq!(query["count"], 2 * count, "{name}: {report:#}");
        assert!(number("min_seconds") > 0.0 && number("qps") > 0.0, "{report:#}");
        for mean in ["aqet_seconds", "geometric_mean_seconds"] {
            let range = number("min_seconds") * 0.999..=number("max_seconds") * 1.001;
            assert!(range.contains(&number(mean)), "{name}: {report:#}");
        }
        assert!((number("results_min")..=number("results_max")).contains(&number("results_mean")));
    }
    let (wall, qmph) = (report["wall_seconds"].as_f64().unwrap(), report["qmph"].as_f64().unwrap());
    assert!((qmph * wall / 7200.0 - 1.0).abs() < 1e-6, "{report:#}");
    let (total, cqet) = (report["total_seconds"].as_f64().unwrap(), report["cqet_seconds"].as_f64().unwrap());
    assert!((cqet * 2.0 / total - 1.0).abs() < 1e-6, "{report:#}");
}

const EXPLORE: [(&str, u64); 11] = [
    ("explore-1", 1),
    ("explore-2", 6),
    ("explore-3", 1),
    ("explore-4", 1),
    ("explore-5", 2),
    ("explore-7", 4),
    ("explore-8", 2),
    ("explore-9", 4),
    ("explore-10", 2),
    ("explore-11", 1),
    ("explore-12", 1),
];

const BI: [(&str, u64); 8] =
    [("bi-1", 1), ("bi-2", 2), ("bi-3", 1), ("bi-4", 1), ("bi-5", 3), ("bi-6", 4), ("bi-7", 2), ("bi-8", 1)];

#[test]
fn whole_mixes_are_run_on_an_endpoint_as_in_this_process() {
    let lode = bsbm();
    let endpoint = Endpoint::start(&lode, &["--read-only"]);
    let url = format!("{}/sparql", endpoint.base);
    for (mix, counts) in [("explore", &EXPLORE[..]), ("bi", &BI[..])] {
        let by_get = run_bsbm(&lode, &["--endpoint", &url, "--clients", "2", "--mix", mix]);
        check_report(&by_get, counts);
        // One client asks the same on every way, and gets as many results.
        let by_post = run_bsbm(&lode, &["--endpoint", &url, "--post", "--mix", mix]);
        let here = run_bsbm(&lode, &["db", "--mix", mix]);
        for (name, _) in counts {
            for key in ["count", "results_min", "results_max", "results_mean"] {
                assert_eq!(by_post["queries"][name][key], here["queries"][name][key], "{name} {key}");
            }
        }
        check_report(&by_post, counts);
        check_report(&here, counts);
    }
    // A review has a reviewer, who is described; an offer is exported by eight triples.
    let report = run_bsbm(&lode, &["--db", "db", "--clients", "2"]);
    check_report(&report, &EXPLORE);
    assert!(report["queries"]["explore-9"]["results_min"].as_u64() > Some(0), "{report:#}");
    assert_eq!(report["queries"]["explore-12"]["results_min"], 8, "{report:#}");
    let text = lode.run(&["bench", "bsbm", "run", "db", "--products", PRODUCTS, "--runs", "1"]).ok();
    assert!(text.contains("QMpH") && text.contains("explore-12"), "{text}");
}

#[test]
fn the_update_mix_changes_an_endpoint_as_a_database_of_its_own() {
    let count = |lode: &Lode| -> u64 {
        let query = "PREFIX b: <http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/vocabulary/> \
            SELECT (COUNT(*) AS ?n) { ?product a b:Product }";
        let csv = lode.run(&["query", "db", query, "--format", "csv"]).ok();
        csv.lines().nth(1).unwrap().parse().unwrap()
    };
    let lode = bsbm();
    let before = count(&lode);
    let counts = [&[("update-1", 1), ("update-2", 1)], &EXPLORE[..]].concat();
    let here = run_bsbm(&lode, &["db", "--mix", "update"]);
    check_report(&here, &counts);
    assert_eq!(count(&lode), before + 3, "one in the warm-up, two after it");
    let endpoint = Endpoint::start(&lode, &[]);
    let (url, updates) = (format!("{}/sparql", endpoint.base), format!("{}/update", endpoint.base));
    let there = ["--endpoint", &url, "--mix", "update", "--clients", "2", "--seed", "2"];
    let error = lode.run(&[&["bench", "bsbm", "run", "--products", PRODUCTS], &there[..]].concat()).fails(1);
    assert!(error.contains("--update-endpoint"), "{error}");
    let report = run_bsbm(&lode, &[&there[..], &["--update-endpoint", &updates]].concat());
    check_report(&report, &counts);
    drop(endpoint);
    assert_eq!(count(&lode), before + 6);
}

#[test]
fn an_endpoint_that_is_not_there_or_refuses_is_told() {
    let lode = bsbm();
    let run = ["bench", "bsbm", "run", "--products", PRODUCTS, "--runs", "1", "--warmup", "0"];
    // A port that was free a moment ago.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let gone = format!("http://{free}/sparql");
    let error = lode.run(&[&run[..], &["--endpoint", &gone]].concat()).fails(1);
    assert!(error.contains("explore-1") && error.contains(&gone), "{error}");
    let endpoint = Endpoint::start(&lode, &["--read-only"]);
    let wrong = format!("{}/nothing", endpoint.base);
    let error = lode.run(&[&run[..], &["--endpoint", &wrong]].concat()).fails(1);
    assert!(error.contains("explore-1 failed: HTTP status 404"), "{error}");
    assert!(error.contains("25 queries failed"), "{error}");
    lode.run(&[&run[..], &["db", "--endpoint", &wrong]].concat()).fails(2);
    lode.run(&run).fails(2);
}

#[test]
#[cfg(target_os = "linux")]
fn processors_of_other_processes_are_told() {
    let lode = bsbm();
    let own = std::process::id().to_string();
    let report = run_bsbm(&lode, &["db", "--server-pid", &own]);
    assert!(report["processor_seconds_per_mix"].as_f64() >= Some(0.0), "{report:#}");
    let run = ["bench", "bsbm", "run", "db", "--products", PRODUCTS, "--server-pid", "4294967295"];
    let error = lode.run(&run).fails(1);
    assert!(error.contains("/proc/4294967295/stat"), "{error}");
}

#[test]
fn a_crowd_is_told_in_figures() {
    let lode = Lode::with_turtle("@prefix : <http://e/> . :a :p 1, 2 . :b :p 3 .");
    let endpoint = Endpoint::start(&lode, &[]);
    let url = format!("{}/sparql", endpoint.base);
    let light = ["--light", "SELECT (%n% AS ?n) { :a :p 1 }", "--light", "ASK { <http://e/a> ?p 1 }"];
    let wrong = [&["bench", "crowd", &url, "--seconds", "0.2", "--clients", "2"][..], &light[..2]].concat();
    assert!(lode.run(&wrong).fails(1).contains("status 400"));
    let right = [&["bench", "crowd", &url, "--seconds", "0.5", "--clients", "3"][..], &light[2..]].concat();
    let told = lode.run(&right).ok();
    assert!(told.contains("light queries") && told.contains("99 %") && told.contains("  200 "), "{told}");
}

#[test]
fn hostile_queries_are_told_in_figures() {
    let lode = Lode::with_turtle("@prefix : <http://e/> . :a :p 1, 2 . :b :p 3 .");
    let endpoint = Endpoint::start(&lode, &[]);
    let url = format!("{}/sparql", endpoint.base);
    let only = ["--only", "text-replace-growing", "--only", "product-rows", "--only", "sums", "--each"];
    let told = lode.run(&[&["bench", "hostile", &url, "--at-once", "3"][..], &only].concat()).ok();
    for expected in
        ["hostile queries, 1 at once", "hostile queries, 3 at once", "product-rows", "99 %", "latest after"]
    {
        assert!(told.contains(expected), "{expected}: {told}");
    }
    lode.run(&["bench", "hostile", &url, "--only", "nothing-like-that"]).fails(1);
    lode.run(&["bench", "hostile", "--write", "hostile"]).ok();
    let files = std::fs::read_dir(lode.path("hostile")).unwrap().count();
    assert!(files >= 100, "{files}");
}

#[test]
fn a_cold_database_has_the_same_answers_and_its_reads_are_counted() {
    let lode = bsbm();
    let cold = [
        "bench",
        "cold",
        "db",
        "--products",
        PRODUCTS,
        "--mixes",
        "10",
        "--seconds",
        "20",
        "--device",
        "ssd",
    ];
    let args = [&cold[..], &["--policy", "none,both", "--json"]].concat();
    let report: Value = serde_json::from_str(&lode.run(&args).ok()).unwrap();
    let runs = report["runs"].as_array().unwrap();
    let number = |run: &Value, key: &str| run[key].as_u64().unwrap_or_else(|| panic!("{key}: {report:#}"));
    assert_eq!((&runs[0]["policy"], &runs[1]["policy"]), (&"none".into(), &"both".into()), "{report:#}");
    for run in runs {
        assert!(number(run, "requests") > 0 && number(run, "bytes") > 0, "{report:#}");
        assert!(number(run, "ahead_hits") <= number(run, "ahead_blocks"), "{report:#}");
        assert!(number(run, "wasted_bytes") <= number(run, "ahead_bytes"), "{report:#}");
    }
    assert_eq!(number(&runs[0], "ahead_blocks"), 0, "{report:#}");
    let table = lode.run(&[&cold[..], &["--policy", "both"]].concat()).ok();
    assert!(table.contains("| ssd | both | "), "{table}");
    let error = lode.run(&["bench", "cold", "db", "--products", PRODUCTS, "--mixes", "3"]).fails(1);
    assert!(error.contains("--mixes must be at least 10"), "{error}");
}

#[test]
fn what_rules_infer_is_measured_and_nothing_is_left() {
    let lode = Lode::new();
    let sizes = ["--chain", "20", "--wide", "30", "--deep", "0", "--equal", "3", "--joins", "12"];
    let args =
        [&["bench", "reason", "--alone", "--json", "--runs", "2", "--threads", "2"][..], &sizes].concat();
    let report: Value = serde_json::from_str(&lode.run(&args).ok()).unwrap();
    let runs = report["runs"].as_array().unwrap();
    let names: Vec<&str> = runs.iter().map(|run| run["data"].as_str().unwrap()).collect();
    assert_eq!(names, ["chain", "wide", "equal", "joins"], "a size of 0 leaves the data out");
    for run in runs {
        let number = |key: &str| run[key].as_f64().unwrap_or_else(|| panic!("{key}: {run:#}"));
        assert!(
            number("infer_seconds") > 0.0 && number("whole_seconds") >= number("infer_seconds"),
            "{run:#}"
        );
        assert!(
            (number("inferred") / number("infer_seconds") / number("inferred_per_second") - 1.0).abs() < 1e-6
        );
    }
    // Of 20 links 210 pairs, of which 20 are stated; what the rules say of the vocabulary comes to it.
    let inferred = |at: usize| runs[at]["inferred"].as_u64().unwrap();
    assert!((190..210).contains(&inferred(0)), "{report:#}");
    // Each of eight names the same as each (7 of 56 pairs are stated), and has what all have: 7 more values and, of the owner, nothing new.
    assert!(inferred(2) >= 3 * (49 + 8 * 7), "{report:#}");
    assert_eq!(std::fs::read_dir(lode.path(".")).unwrap().count(), 0);
    assert!(
        lode.run(&[
            "bench", "reason", "--alone", "--chain", "0", "--wide", "0", "--deep", "0", "--equal", "0",
            "--joins", "0"
        ])
        .fails(2)
        .contains("nothing")
    );
}

#[test]
fn places_are_asked_with_and_without_an_index() {
    let lode = Lode::new();
    let sizes = ["--points", "4000", "--lines", "50", "--polygons", "1000", "--runs", "2"];
    let report: Value =
        serde_json::from_str(&lode.run(&[&["bench", "geo", "--json"][..], &sizes].concat()).ok()).unwrap();
    assert_eq!(report["triples"], 5050);
    let runs = report["runs"].as_array().unwrap();
    let rows = |at: usize| runs[at]["rows"].as_u64().unwrap();
    // Windows, the nearest, and the join, with the index and without it: the same answers.
    assert_eq!(runs.len(), 6, "{report:#}");
    assert!(rows(0) > 900 && rows(1) == 10 && rows(4) == 10, "{report:#}");
    assert!(rows(2) > 0 && rows(2) == rows(5), "{report:#}");
    assert_eq!(std::fs::read_dir(lode.path(".")).unwrap().count(), 0);
    let table = lode.run(&[&["bench", "geo", "--folder", "kept"][..], &sizes].concat()).ok();
    assert!(table.contains("| join | lode, no index | ") && lode.path("kept/places.nt").exists(), "{table}");
}

#[test]
fn who_cannot_be_asked_beside_it_is_named() {
    let lode = Lode::new();
    let args =
        ["bench", "reason", "--chain", "5", "--wide", "0", "--deep", "0", "--equal", "0", "--joins", "0"];
    let none = [
        "--python",
        "/nowhere/python",
        "--java",
        "/nowhere/java",
        "--jena",
        "/nowhere/*",
        "--folder",
        "kept",
    ];
    let outcome = lode.run(&[&args[..], &none].concat());
    for who in ["reasonable", "owlrl", "jena"] {
        assert!(outcome.err.contains(&format!("without {who}: /nowhere/")), "{outcome:#?}");
    }
    let table = outcome.ok();
    assert!(table.contains("| chain 5 | 6 | lode | ") && table.lines().count() == 3, "{table}");
    assert!(lode.path("kept/chain-5-1.ttl").exists());
    let error = lode.run(&[&args[..], &["--alone", "--folder", "kept"]].concat()).fails(1);
    assert!(error.contains("kept"), "{error}");
    let wrong = lode.run(&[&args[..], &["--alone", "--rules", "nonsense"]].concat());
    assert!(wrong.err.contains("nonsense"), "{wrong:#?}");
    wrong.fails(1);
}

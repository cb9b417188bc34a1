//! Plans, profiles, and the list of what runs, of a database that is served; and that whatever a query does, it can be stopped.

use crate::endpoint::Endpoint;
use crate::lode::Lode;
use std::thread;
use std::time::{Duration, Instant};

const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");
/// More than any machine needs for what a test waits for.
const LONG: Duration = Duration::from_secs(60);
/// No query of a test may end by itself before.
const AGES: &str = "3600";

/// A thousand nodes in a ring, each with a number and a long text.
fn ring() -> Lode {
    let lode = Lode::new();
    let node = |i: usize| format!("<http://e/n{}>", i % 1000);
    let text = "ab".repeat(200);
    let line = |i: usize| {
        let (this, next, other) = (node(i), node(i + 1), node(i * 7 + 3));
        format!("{this} <http://e/next> {next}, {other} ; <http://e/n> {i} ; <http://e/t> \"{text}{i}\" .\n")
    };
    lode.write("ring.ttl", (0..1000).map(line).collect::<String>());
    lode.run(&["load", "db", "ring.ttl"]).ok();
    lode
}

fn list(endpoint: &Endpoint) -> Vec<serde_json::Value> {
    let body = endpoint.send("GET", "/admin/queries", &[], b"").is(200).body;
    serde_json::from_str(&body).unwrap()
}

#[track_caller]
fn wait_for<T>(what: &str, found: impl Fn() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(started.elapsed() < LONG, "{what}");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn plans_and_profiles_over_http() {
    let lode = ring();
    let endpoint = Endpoint::start(&lode, &["--timeout", "0.5"]);
    let query = "query=SELECT+*+%7B?s+%3Chttp://e/n%3E+?n+;+%3Chttp://e/next%3E+?o%7D";
    let json = |path: &str, status: u16| -> serde_json::Value {
        let answer = endpoint.send("GET", path, &[], b"").is(status);
        assert_eq!(answer.media_type, "application/json");
        serde_json::from_str(&answer.body).unwrap()
    };
    let plan = json(&format!("/query?{query}&explain=1"), 200);
    assert_eq!(
        (plan["form"].as_str(), plan.get("run"), plan.get("answer_bytes")),
        (Some("select"), None, None)
    );
    let operator = &plan["plan"];
    assert!(operator["detail"].is_string() && operator["estimated_rows"].as_f64() > Some(1000.0));
    let profile = json(&format!("/sparql?{query}&profile"), 200);
    assert_eq!(profile["run"]["rows"], 1998);
    assert_eq!(profile["plan"]["measured"]["rows"], 1998);
    assert!(profile["answer_bytes"].as_u64() > Some(20_000) && profile.get("error").is_none());
    // Parameters of the address go with a query in the body, too.
    let text = ("Content-Type", "application/sparql-query");
    let body = endpoint.send("POST", "/query?explain", &[text], b"ASK {}").is(200).body;
    assert!(body.contains("\"form\":\"ask\""), "{body}");
    let off = endpoint.send("GET", &format!("/query?{query}&explain=0&profile=false"), &[], b"").is(200);
    assert_eq!(off.media_type, "application/sparql-results+json");
    for wrong in ["explain=1&profile=1", "explain=yes"] {
        endpoint.send("GET", &format!("/query?{query}&{wrong}"), &[], b"").is(400);
    }
    endpoint.send("POST", "/query?profile", &[text], b"SELECT nonsense").is(400);
    // A profile of what took too long tells how far it came.
    let slow = endpoint.send("POST", "/query?profile", &[text], slow_join().as_bytes()).is(504);
    let slow: serde_json::Value = serde_json::from_str(&slow.body).unwrap();
    assert!(slow["error"].as_str().unwrap().contains("time-out"), "{slow}");
    assert!(slow["run"]["total"]["seconds"].as_f64() > Some(0.1), "{slow}");
}

fn slow_join() -> String {
    "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?o ?p FILTER(?c != ?p || ?f != ?i) }".into()
}

#[test]
fn what_runs_is_seen_and_stopped() {
    let lode = ring();
    let endpoint = Endpoint::start(&lode, &["--timeout", AGES, "--update-timeout", AGES]);
    assert!(list(&endpoint).is_empty());
    let quads = endpoint.quads();
    let top = |extra: &[&str]| lode.run(&[&["top", "--endpoint", &endpoint.base][..], extra].concat());
    assert!(top(&["--once"]).ok().contains("0 running, 0 waiting"));
    thread::scope(|scope| {
        let query = scope.spawn(|| endpoint.query(&slow_join(), "*/*"));
        let update = "INSERT { ?a <http://e/x> ?l } WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?o ?p FILTER(?c != ?p) }";
        let update = scope.spawn(|| endpoint.update(update));
        let both = wait_for("both run", || {
            let both = list(&endpoint);
            (both.len() == 2 && both.iter().all(|request| request["state"] == "running")).then_some(both)
        });
        let id = |kind: &str| both.iter().find(|r| r["kind"] == kind).unwrap()["id"].as_u64().unwrap();
        let work = || {
            let all = list(&endpoint);
            let query = all.iter().find(|request| request["kind"] == "query").unwrap().clone();
            (query["run"]["total"]["sequential_rows"].as_u64() > Some(1000)).then_some(query)
        };
        let seen = wait_for("it is told what it has done", work);
        assert_eq!(seen["text"], slow_join());
        assert!(seen["client"].as_str().unwrap().starts_with("127.0.0.1:"), "{seen}");
        assert!(
            seen["run"]["threads"].as_u64() >= Some(1) && seen["seconds_left"].as_f64() > Some(3000.0),
            "{seen}"
        );
        let shown = top(&["--once"]).ok();
        assert!(shown.contains("2 running") && shown.contains("SELECT (COUNT(*) AS ?n)"), "{shown}");
        let json: serde_json::Value = serde_json::from_str(&top(&["--once", "--json"]).ok()).unwrap();
        assert_eq!(json.as_array().map(Vec::len), Some(2));
        let (one, other) = (id("query").to_string(), id("update").to_string());
        lode.run(&["cancel", &one, &other, "--endpoint", &endpoint.base]).ok();
        for answer in [query.join().unwrap(), update.join().unwrap()] {
            assert!(answer.is(503).body.starts_with("cancelled by the administration"));
        }
        assert!(lode.run(&["cancel", &one, "--endpoint", &endpoint.base]).fails(1).contains("no request"));
    });
    assert!(list(&endpoint).is_empty());
    assert_eq!(endpoint.quads(), quads);
}

#[test]
fn who_may_look_and_stop() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1 .");
    let endpoint = Endpoint::start(&lode, &["--admin-token", "secret"]);
    endpoint.send("GET", "/admin/queries", &[], b"").is(401);
    endpoint.send("DELETE", "/admin/queries/1", &[], b"").is(401);
    let token = ("Authorization", "Bearer secret");
    endpoint.send("DELETE", "/admin/queries/1", &[token, ("Origin", "http://page")], b"").is(403);
    let own = ("Origin", endpoint.base.as_str());
    endpoint.send("DELETE", "/admin/queries/1", &[token, own], b"").is(404);
    let top =
        |extra: &[&str]| lode.run(&[&["top", "--once", "--endpoint", &endpoint.base][..], extra].concat());
    assert!(top(&[]).fails(1).contains("--token"));
    top(&["--token", "secret"]).ok();
    let help = lode.run(&["top", "--help"]).ok() + &lode.run(&["cancel", "--help"]).ok();
    for word in ["--endpoint", "--interval", "--once", "--json", "--token"] {
        assert!(help.contains(word), "{help}");
    }
    assert!(lode.run(&["serve", "--help"]).ok().contains("/admin/queries"));
}

/// Each spends ages in another operator, or in making its answer.
const QUERIES: [(&str, &str); 14] = [
    (
        "nested loop join",
        "SELECT * { ?a <http://e/n> ?x . ?b <http://e/n> ?y . ?c <http://e/n> ?z . ?d <http://e/n> ?u FILTER(?x + ?y + ?z + ?u < 0) }",
    ),
    (
        "hash join",
        "SELECT * { ?a <http://e/n> ?x . ?b <http://e/n> ?y . ?c <http://e/n> ?z . BIND(?x + ?y AS ?k) { SELECT (?u + ?v AS ?k) { ?d <http://e/n> ?u . ?e <http://e/n> ?v } } FILTER(?z < 0 || ?k < 0) }",
    ),
    (
        "look-ups",
        "SELECT (COUNT(*) AS ?n) { ?a <http://e/next> ?b . ?b <http://e/next> ?c . ?c <http://e/next> ?d . ?d <http://e/next> ?e . ?e <http://e/next> ?f . ?f <http://e/next> ?g . ?g <http://e/next> ?h . ?h <http://e/next> ?i . ?i <http://e/next> ?j . ?j <http://e/next> ?k . ?k <http://e/next> ?l . ?l <http://e/next> ?m . ?m <http://e/next> ?n1 . ?n1 <http://e/next> ?n2 . ?n2 <http://e/next> ?n3 . ?n3 <http://e/next> ?n4 . ?n4 <http://e/next> ?n5 . ?n5 <http://e/next> ?n6 . ?n6 <http://e/next> ?n7 . ?n7 <http://e/next> ?o FILTER(?a != ?o) }",
    ),
    ("sort", "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i } ORDER BY DESC(?c) ?f ?i"),
    (
        "group",
        "SELECT ?x ?y ?z (COUNT(*) AS ?n) { ?a <http://e/n> ?x . ?b <http://e/n> ?y . ?c <http://e/n> ?z . ?d ?e ?f } GROUP BY ?x ?y ?z",
    ),
    (
        "distinct",
        "SELECT (COUNT(*) AS ?n) { SELECT DISTINCT ?x ?y ?z { ?a <http://e/n> ?x . ?b <http://e/n> ?y . ?c <http://e/n> ?z . ?d ?e ?f } }",
    ),
    (
        "path",
        "SELECT (COUNT(*) AS ?n) { ?a <http://e/next>* ?b . ?c <http://e/next>+ ?d . ?e <http://e/next>+ ?f FILTER(?a != ?f || ?b != ?c) }",
    ),
    (
        "long texts",
        "SELECT * { ?a <http://e/t> ?x . ?b <http://e/t> ?y FILTER(REGEX(CONCAT(?x, ?y, ?x, ?y), '(a|b|ab)*c(a|b)*d$')) }",
    ),
    (
        "text functions",
        "SELECT (MAX(STRLEN(REPLACE(CONCAT(?x, ?y), 'a', 'bb'))) AS ?longest) { ?a <http://e/t> ?x . ?b <http://e/t> ?y . ?c ?d ?e }",
    ),
    (
        "exists",
        "SELECT * { ?a <http://e/n> ?x . ?b <http://e/n> ?y . ?c <http://e/n> ?z FILTER EXISTS { ?d <http://e/n> ?u FILTER(?u = ?x + ?y + ?z + 5000) } }",
    ),
    (
        "optional and minus",
        "SELECT * { ?a <http://e/n> ?x . ?b <http://e/n> ?y . ?c <http://e/n> ?z OPTIONAL { ?d <http://e/n> ?w FILTER(?w > ?x + 5000) } MINUS { ?a <http://e/n> ?x . ?b <http://e/n> ?y } }",
    ),
    ("output", "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"),
    (
        "construct",
        "CONSTRUCT { ?a <http://e/x> ?y . ?d <http://e/y> ?c } { ?a ?b ?c . ?d ?e ?f . ?g <http://e/n> ?y }",
    ),
    ("describe", "DESCRIBE ?a ?d ?g { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i FILTER(?c != ?f) }"),
];

#[test]
fn whatever_a_query_does_it_stops() {
    let lode = ring();
    let endpoint = Endpoint::start(&lode, &["--timeout", AGES, "--memory", "64MiB"]);
    for (what, query) in QUERIES {
        thread::scope(|scope| {
            // Answers that have begun break off: then there is none.
            let ask = || {
                let text = ("Content-Type", "application/sparql-query");
                endpoint.try_to_send("POST", "/query", &[text], query.as_bytes())
            };
            let client = scope.spawn(ask);
            // The client of an endless answer leaves after some megabytes: this ends a query, too.
            let id = wait_for(what, || {
                let running = list(&endpoint).into_iter().find(|request| request["state"] == "running");
                let deep = running.filter(|request| request["seconds"].as_f64() > Some(0.3));
                deep.map(|request| Some(request["id"].to_string())).or(client.is_finished().then_some(None))
            });
            if let Some(id) = id {
                endpoint.send("DELETE", &format!("/admin/queries/{id}"), &[], b"");
            }
            wait_for(what, || list(&endpoint).is_empty().then_some(()));
            match client.join().unwrap() {
                Ok(answer) => {
                    let body = answer.is(503).body;
                    assert!(body.starts_with("cancelled by the administration"), "{what}: {body}");
                }
                Err(_) => assert!(["output", "construct", "describe"].contains(&what), "{what}"),
            }
        });
    }
}

#[test]
fn huge_queries_are_planned_in_time() {
    let lode = ring();
    let next = |i: usize| format!("?v{i} <http://e/next> ?v{} . ", i + 1);
    let chain: String = (0..60).map(next).collect();
    let star: String = (0..60).map(|i| format!("?s <http://e/next> ?o{i} . ")).collect();
    let branch = |i: usize| format!("{{ ?s <http://e/n> {i} . ?s <http://e/next> ?o . ?o <http://e/n> ?x }}");
    let union = (0..200).map(branch).collect::<Vec<_>>().join(" UNION ");
    let apart: String = (0..40).map(|i| format!("?a{i} <http://e/n> ?b{i} . ")).collect();
    let optional: String = (0..40).map(|i| format!("OPTIONAL {{ ?s <http://e/next> ?o{i} }} ")).collect();
    let nested = (0..40).fold("?s <http://e/n> ?x".to_owned(), |inner, i| {
        format!("?s <http://e/next> ?o{i} FILTER EXISTS {{ {inner} }}")
    });
    for pattern in [chain, star, union, apart, optional, nested] {
        let query = format!("SELECT * {{ {pattern} }}");
        let plan = lode.run(&["query", "db", &query, "--explain=json", "--timeout", "60"]).ok();
        assert!(plan.contains("IndexScan"), "{query}");
    }
}

#[test]
fn updates_say_nothing_of_plans() {
    let lode = Lode::new();
    lode.write("a.nt", "<http://e/a> <http://e/p> \"1\" .\n");
    lode.run(&["load", "db", "a.nt"]).ok();
    let endpoint = Endpoint::start(&lode, &[]);
    endpoint.send("POST", "/update?explain=1", &[FORM], b"update=CLEAR+ALL").is(400);
    assert_eq!(endpoint.quads(), 1);
}

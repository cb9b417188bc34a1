//! `lode materialise`, and who sees what it has added: the command line, a server.

use crate::endpoint::Endpoint;
use crate::lode::Lode;
use std::time::{Duration, Instant};

const TURTLE: &str = "@prefix : <http://e/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    :Cat rdfs:subClassOf :Animal . :tom a :Cat . :ann :owns :tom . :owns rdfs:domain :Person .";
const ANIMALS: &str = "SELECT ?x { ?x a <http://e/Animal> }";

fn ask(lode: &Lode, more: &[&str]) -> String {
    lode.run(&[&["query", "db", ANIMALS, "--format", "csv"], more].concat()).ok()
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

fn stats(lode: &Lode) -> serde_json::Value {
    json(&lode.run(&["stats", "db", "--json"]).ok())["inferences"].clone()
}

/// What a server tells by queries is what the folder says of itself: with what was inferred, without, and where its graph's name is one like others.
#[test]
fn figures_of_a_server_are_those_of_the_folder() {
    const GRAPHS: &str = "@prefix : <http://e/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        :Cat rdfs:subClassOf :Animal . :tom a :Cat . GRAPH :g { :rex a :Cat . :rex :near :tom } GRAPH :h { :a :b :c }";
    let ordinary = "GRAPH <urn:lodestore:inferred> { <http://e/x> <http://e/y> <http://e/z> }";
    for (text, rules) in
        [(GRAPHS.to_owned(), true), (GRAPHS.to_owned(), false), (format!("{GRAPHS} {ordinary}"), false)]
    {
        let lode = Lode::new();
        lode.write("data.trig", text);
        lode.run(&["load", "db", "data.trig", "--quiet"]).ok();
        if rules {
            lode.run(&["materialise", "db", "--rules", "rdfs", "--quiet"]).ok();
        }
        let folder = json(&lode.run(&["stats", "db", "--json"]).ok());
        let endpoint = Endpoint::start(&lode, &[]);
        let server = json(&lode.run(&["stats", endpoint.base(), "--json"]).ok());
        for key in ["quads", "default_graph_quads", "named_graphs", "distinct"] {
            assert_eq!(server[key], folder[key], "{key}: {server:#} {folder:#}");
        }
        // Of equally large ones any may come first.
        let graphs = |stats: &serde_json::Value| {
            let list = stats["largest_graphs"].as_array().unwrap();
            list.iter().map(ToString::to_string).collect::<std::collections::BTreeSet<_>>()
        };
        assert_eq!(graphs(&server), graphs(&folder));
        assert_eq!(server["inferences"]["triples"], folder["inferences"]["triples"], "{server:#}");
        assert_eq!(server["inferences"]["triples"].is_null(), !rules);
        let told = lode.run(&["stats", endpoint.base()]).ok();
        assert_eq!(told.contains("inferred triples"), rules, "{told}");
    }
}

#[test]
fn rules_are_applied_kept_and_dropped() {
    let lode = Lode::with_turtle(TURTLE);
    let plain = lode.run(&["dump", "db"]).ok();
    assert!(stats(&lode).is_null());
    let report = json(&lode.run(&["materialise", "db", "--rules", "rdfs", "--json"]).ok());
    assert_eq!((&report["was_up_to_date"], &report["inferred"]), (&false.into(), &2.into()));
    assert_eq!(report["rules"].as_array().unwrap().len(), 6);
    assert_eq!(ask(&lode, &[]), "x\r\nhttp://e/tom\r\n");
    assert_eq!(ask(&lode, &["--asserted"]), "x\r\n");
    // What was stated is dumped, in all formats; and all where that is asked for.
    assert_eq!(lode.run(&["dump", "db"]).ok(), plain);
    assert_eq!(lode.run(&["dump", "db", "--format", "nt"]).ok(), plain);
    let all = lode.run(&["dump", "db", "--inferred"]).ok();
    assert_eq!((all.lines().count(), all.matches("<urn:lodestore:inferred>").count()), (6, 2));
    assert!(lode.run(&["dump", "db", "--inferred", "--format", "ttl"]).fails(1).contains("named graphs"));
    assert_eq!(lode.run(&["dump", "db", "--graph", "urn:lodestore:inferred"]).ok().lines().count(), 2);

    let known = stats(&lode);
    assert_eq!(
        (&known["up_to_date"], &known["triples"], &known["rules"][0]),
        (&true.into(), &2.into(), &"rdfs".into())
    );
    assert!(lode.run(&["stats", "db"]).ok().contains("by rdfs: up to date"));
    let update = |text: &str| lode.run(&["update", "db", text, "--quiet"]).ok();
    update("INSERT DATA { <http://e/rex> a <http://e/Cat> }");
    assert_eq!((&stats(&lode)["up_to_date"], &stats(&lode)["triples"]), (&true.into(), &3.into()));
    assert!(lode.run(&["stats", "db"]).ok().contains("each commit keeps them so"));
    update("DELETE DATA { <http://e/rex> a <http://e/Cat> }");
    assert_eq!((&stats(&lode)["up_to_date"], &stats(&lode)["triples"]), (&true.into(), &2.into()));
    let report = lode.run(&["materialise", "db", "--maintain", "async", "--json", "--quiet"]).ok();
    assert_eq!(json(&report)["inferred"], 2);
    update("INSERT DATA { <http://e/rex> a <http://e/Cat> }");
    assert_eq!(stats(&lode)["up_to_date"], false);
    assert!(lode.run(&["stats", "db"]).ok().contains("by rdfs: stale"));
    lode.write("more.ttl", "<http://e/max> <http://e/near> <http://e/moritz> .");
    let told = lode.run(&["load", "db", "more.ttl", "--quiet"]).err;
    assert!(told.contains("nothing was inferred from what is new"), "{told}");
    let report = json(&lode.run(&["materialise", "db", "--json", "--quiet"]).ok());
    assert_eq!((&report["before"], &report["inferred"]), (&2.into(), &3.into()));
    assert_eq!(json(&lode.run(&["materialise", "db", "--json"]).ok())["was_up_to_date"], true);
    assert_eq!(ask(&lode, &[]).lines().count(), 3);
    lode.run(&["check", "db"]).ok();
    lode.run(&["compact", "db", "--quiet"]).ok();
    assert_eq!(stats(&lode)["up_to_date"], true);

    let dropped = json(&lode.run(&["materialise", "db", "--drop", "--json"]).ok());
    assert_eq!(dropped["dropped"], 3);
    assert!(stats(&lode).is_null());
    assert_eq!(ask(&lode, &[]), "x\r\n");
    assert!(lode.run(&["materialise", "db"]).fails(4).contains("keeps no rules"));
}

#[test]
fn files_have_rules_and_mistakes() {
    let lode = Lode::with_turtle(TURTLE);
    lode.write(
        "own.rq",
        "PREFIX : <http://e/>\n# rule owner\nCONSTRUCT { ?x a :Owner } WHERE { ?x :owns ?y }\n# rule free\nCONSTRUCT { ?y a :Free } WHERE { ?y a :Cat MINUS { ?x :owns ?y } }\n",
    );
    let report = json(&lode.run(&["materialise", "db", "--rules", "own.rq", "--json"]).ok());
    assert_eq!((&report["inferred"], &report["rules"][0]["rule"]), (&1.into(), &"owner".into()));
    lode.write("wrong.rq", "PREFIX : <http://e/>\nCONSTRUCT { ?x a :Owner }\nWHERE { ?x :owns ?y ");
    let told = lode.run(&["materialise", "db", "--rules", "rdfs", "--rules", "wrong.rq"]).fails(4);
    assert!(told.contains("wrong.rq") && told.contains("line 3"), "{told}");
    assert_eq!(stats(&lode)["rules"][0], "own.rq", "nothing was changed");
    let told = lode.run(&["materialise", "db", "--rules", "none.rq"]).fails(1);
    assert!(told.contains("none of the sets (rdfs, rdfs-plus, owl2-rl, skos)"), "{told}");
    lode.run(&["materialise", "db", "--drop", "--rules", "rdfs"]).fails(2);
    lode.run(&["materialise", "none"]).fails(1);
    let told = lode.run(&["materialise", "db", "--rules", "rdfs", "--timeout", "0.000001"]).fails(5);
    assert!(told.contains("stopped"), "{told}");
}

#[test]
fn servers_show_it_and_leave_it_out() {
    let lode = Lode::with_turtle(TURTLE);
    lode.run(&["materialise", "db", "--rules", "rdfs", "--quiet"]).ok();
    let endpoint = Endpoint::start(&lode, &[]);
    let path =
        |more: &str| format!("/sparql?format=csv&query=SELECT+*%7B?x+a+%3Chttp://e/Animal%3E%7D{more}");
    for _ in 0..3 {
        assert_eq!(endpoint.send("GET", &path(""), &[], b"").is(200).body, "x\r\nhttp://e/tom\r\n");
        assert_eq!(endpoint.send("GET", &path("&infer=false"), &[], b"").is(200).body, "x\r\n");
    }
    let nquads = [("Accept", "application/n-quads")];
    let whole = endpoint.send("GET", "/data", &nquads, b"").is(200).body;
    assert_eq!(whole.lines().count(), 4, "{whole}");
    let url = endpoint.base().to_owned();
    let by_url = lode.run(&["query", &url, ANIMALS, "--format", "csv", "--asserted"]).ok();
    assert_eq!(by_url, "x\r\n");
    drop(endpoint);
    let asserted = Endpoint::start(&lode, &["--asserted"]);
    assert_eq!(asserted.send("GET", &path(""), &[], b"").is(200).body, "x\r\n");
}

#[test]
fn a_server_materialises_keeps_up_and_drops() {
    let lode = Lode::with_turtle(TURTLE);
    let endpoint = Endpoint::start(&lode, &[]);
    let get = || endpoint.send("GET", "/admin/materialise", &[], b"").is(200).body;
    assert_eq!(get(), "null\n");
    let report = endpoint.send("POST", "/admin/materialise?rules=rdfs", &[], b"").is(200);
    assert_eq!(report.number("inferred"), 2);
    let known = json(&get());
    assert_eq!((&known["up_to_date"], &known["maintained"]), (&true.into(), &true.into()));
    endpoint.update("INSERT DATA { <http://e/rex> a <http://e/Cat> }").is(200);
    assert_eq!((&json(&get())["triples"], &json(&get())["up_to_date"]), (&3.into(), &true.into()));
    let own = b"CONSTRUCT { ?y <http://e/ownedBy> ?x } WHERE { ?x <http://e/owns> ?y }";
    let text = [("Content-Type", "application/sparql-update")];
    let both = "/admin/materialise?rules=rdfs&name=own.rq&maintain=async";
    assert_eq!(endpoint.send("POST", both, &text, own).is(200).number("inferred"), 4);
    assert_eq!(json(&get())["rules"], serde_json::json!(["rdfs", "own.rq"]));
    endpoint.update("INSERT DATA { <http://e/kim> a <http://e/Cat> }").is(200);
    assert_eq!(at_rest(&endpoint)["triples"], 5);
    for wrong in ["rules=none", "maintain=yes", "default-graph=x", "other=1"] {
        endpoint.send("POST", &format!("/admin/materialise?{wrong}"), &[], b"").is(400);
    }
    endpoint.send("POST", "/admin/materialise", &text, b"CONSTRUCT {").is(400);
    endpoint.send("POST", "/admin/materialise", &text, &[0xff]).is(400);

    let url = endpoint.base().to_owned();
    let report = json(&lode.run(&["materialise", &url, "--maintain", "sync", "--json"]).ok());
    assert_eq!((&report["inferred"], &json(&get())["maintained"]), (&5.into(), &true.into()));
    lode.write("own.rq", "CONSTRUCT { ?x a <http://e/Any> } WHERE { ?x ?p ?y }");
    let report = json(&lode.run(&["materialise", &url, "--rules", "own.rq", "--json", "--quiet"]).ok());
    assert!(report["inferred"].as_u64().unwrap() > 3 && json(&get())["rules"][0] == "own.rq");
    let dropped = json(&lode.run(&["materialise", &url, "--drop", "--json"]).ok());
    assert_eq!((&dropped["dropped"], get().as_str()), (&report["inferred"], "null\n"));
    lode.run(&["materialise", &url, "--memory", "100MiB"]).fails(2);
}

/// What is known of inferences once they have been brought up to date.
fn at_rest(endpoint: &Endpoint) -> serde_json::Value {
    let start = Instant::now();
    loop {
        let known = json(&endpoint.send("GET", "/admin/materialise", &[], b"").is(200).body);
        if known["up_to_date"] == true {
            return known;
        }
        assert!(start.elapsed() < Duration::from_secs(120), "{known}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_server_catches_up_in_the_background_also_after_a_kill() {
    let lode = Lode::with_turtle(TURTLE);
    lode.run(&["materialise", "db", "--rules", "rdfs", "--maintain", "async", "--quiet"]).ok();
    // Stale from the command line; said once for each query that sees it.
    let update = "INSERT DATA { <http://e/rex> a <http://e/Cat> }";
    lode.run(&["update", "db", update, "--quiet"]).ok();
    let outcome = lode.run(&["query", "db", ANIMALS, "--format", "csv"]);
    assert!(outcome.err.contains("warning: what was inferred is of version"), "{outcome:#?}");
    assert_eq!(outcome.ok(), "x\r\nhttp://e/tom\r\n");
    assert!(lode.run(&["query", "db", ANIMALS, "--asserted"]).err.is_empty());
    let told = lode.run(&["stats", "db"]).ok();
    assert!(told.contains("stale, the data has changed after version"), "{told}");
    for round in 0..3 {
        let endpoint = Endpoint::start(&lode, &[]);
        at_rest(&endpoint);
        endpoint.update(&format!("INSERT DATA {{ <http://e/n{round}> a <http://e/Cat> }}")).is(200);
        std::thread::sleep(Duration::from_millis(round * 60));
        endpoint.kill();
    }
    let endpoint = Endpoint::start(&lode, &[]);
    at_rest(&endpoint);
    let path = "/sparql?format=csv&query=SELECT+*%7B?x+a+%3Chttp://e/Animal%3E%7D";
    let answer = endpoint.send("GET", path, &[], b"").is(200);
    assert_eq!(answer.body.lines().count(), 1 + 2 + 3, "{}", answer.body);
    let figures = json(&endpoint.send("GET", "/admin/stats", &[], b"").is(200).body)["inferences"].clone();
    assert_eq!((&figures["up_to_date"], &figures["behind_versions"]), (&true.into(), &0.into()), "{figures}");
    let metrics = endpoint.send("GET", "/metrics", &[], b"").is(200).body;
    assert!(metrics.contains("lode_inferences_up_to_date 1"), "{metrics}");
    endpoint.update("DELETE DATA { <http://e/tom> a <http://e/Cat> }").is(200);
    at_rest(&endpoint);
    assert_eq!(endpoint.send("GET", path, &[], b"").is(200).body.lines().count(), 1 + 1 + 3);
    drop(endpoint);
    lode.run(&["check", "db"]).ok();
    assert_eq!(stats(&lode)["up_to_date"], true);
}

#[test]
fn a_load_adds_what_follows() {
    let lode = Lode::new();
    lode.write("zoo.ttl", TURTLE);
    lode.run(&["load", "db", "zoo.ttl", "--materialise", "rdfs", "--quiet"]).ok();
    assert_eq!(ask(&lode, &[]), "x\r\nhttp://e/tom\r\n");
    let known = stats(&lode);
    assert_eq!((&known["up_to_date"], &known["maintained"]), (&true.into(), &true.into()));
    // Nothing is loaded where rules cannot be read.
    lode.run(&["load", "other", "zoo.ttl", "--materialise", "none.rq"]).fails(1);
    lode.run(&["stats", "other"]).fails(1);
}

#[test]
fn contradictions_are_told_also_by_loads_and_servers() {
    let lode = Lode::new();
    let data = "@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .\n\
                :Cat owl:disjointWith :Dog . :tom a :Cat, :Dog .";
    lode.write("odd.ttl", data);
    let loaded = lode.run(&["load", "db", "odd.ttl", "--materialise", "owl2-rl"]);
    assert!(
        loaded.err.contains("the data are contradictory: 1 contradiction (lode why DB false tells why)"),
        "{loaded:#?}"
    );
    loaded.ok();
    lode.run(&["materialise", "db", "--drop"]).ok();
    let endpoint = Endpoint::start(&lode, &[]);
    let outcome = lode.run(&["materialise", endpoint.base(), "--rules", "owl2-rl", "--json"]);
    let told =
        format!("the data are contradictory: 1 contradiction (lode why {} false tells why)", endpoint.base());
    assert!(outcome.err.contains(&told), "{outcome:#?}");
    assert_eq!(json(&outcome.ok())["consistency"]["contradictions"][0]["rule"]["name"], "cax-dw");
    let answer = endpoint.send("POST", "/admin/materialise", &[], b"").is(200);
    let contradictions =
        |answer: &str| json(answer)["consistency"]["contradictions"].as_array().map(Vec::len);
    assert_eq!(contradictions(&answer.body), Some(1));
    endpoint.update("DELETE DATA { <http://e/tom> a <http://e/Dog> }").is(200);
    let answer = endpoint.send("POST", "/admin/materialise", &[], b"").is(200);
    assert_eq!(contradictions(&answer.body), Some(0));
}

//! `lode why`: of a folder and of a server, with rules that were applied and with reasoning at run time; and what is contradictory.

use crate::endpoint::Endpoint;
use crate::lode::Lode;

const TURTLE: &str = "@prefix : <http://e/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    @prefix owl: <http://www.w3.org/2002/07/owl#> . :Cat rdfs:subClassOf :Animal ; owl:disjointWith :Dog . :tom a :Cat . :rex a :Dog .";
const PROOF: &str = "\
:tom a :Animal   by rdfs9 of rdfs
├─ :Cat rdfs:subClassOf :Animal   asserted
└─ :tom a :Cat   asserted
";

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn folders_and_servers_tell_the_same() {
    let lode = Lode::with_turtle(TURTLE);
    let none = lode.run(&["why", "db", ":tom a :Animal"]).ok();
    assert!(none.contains("does not follow: there are no rules"), "{none}");
    let run_time = lode.run(&["why", "db", ":tom a :Animal", "--reason", "rdfs"]).ok();
    assert_eq!(run_time, PROOF.replace("rdfs9 of rdfs", "subclass of --reason rdfs"));
    lode.run(&["materialise", "db", "--rules", "rdfs", "--quiet"]).ok();
    assert_eq!(lode.run(&["why", "db", ":tom a :Animal"]).ok(), PROOF);
    let told = json(&lode.run(&["why", "db", "<http://e/tom> a <http://e/Animal>", "--format", "json"]).ok());
    assert_eq!((&told["holds"], &told["proofs"][0]["height"]), (&true.into(), &1.into()));
    assert_eq!(told["proofs"][0]["steps"][1]["asserted"][0], "default");
    assert_eq!(told["proofs"][0]["steps"][1]["triple"]["subject"], "<http://e/Cat>");
    let endpoint = Endpoint::start(&lode, &[]);
    let url = endpoint.base().to_owned();
    assert_eq!(lode.run(&["why", &url, ":tom a :Animal"]).ok(), PROOF);
    assert_eq!(json(&lode.run(&["why", &url, ":tom a :Animal", "--format", "json"]).ok()), told);
    let asserted = lode.run(&["why", &url, ":tom a :Animal", "--asserted", "--reason", "rdfs"]).ok();
    assert!(asserted.contains("subclass of --reason rdfs"), "{asserted}");
    lode.run(&["why", &url, ":tom a :Animal", "--at", "x"]).fails(2);
    let address = "/why?triple=%3Chttp://e/tom%3E+a+%3Chttp://e/Animal%3E";
    let answer = endpoint.send("GET", address, &[], b"").is(200);
    assert_eq!(json(&answer.body), told);
    let text = [("Accept", "text/plain")];
    assert_eq!(endpoint.send("GET", address, &text, b"").is(200).body, PROOF);
    for wrong in [
        "/why",
        "/why?triple=x",
        "/why?triple=false&proofs=0",
        "/why?triple=false&graf=x",
        "/why?triple=false&format=x",
    ] {
        endpoint.send("GET", wrong, &[], b"").is(400);
    }
    endpoint.send("POST", "/why?triple=false", &[], b"").is(405);
}

#[test]
fn what_is_wrong_is_told() {
    let lode = Lode::with_turtle(TURTLE);
    assert!(lode.run(&["why", "db", ":tom a"]).fails(4).contains("line"));
    assert!(lode.run(&["why", "db", ":tom a ?x"]).fails(4).contains("a variable"));
    lode.run(&["why", "none", ":tom a :Cat"]).fails(1);
    lode.run(&["why", "db", ":tom a :Cat", "--proofs", "0"]).fails(2);
    lode.run(&["why", "db", ":tom a :Cat", "--graph", "no iri"]).fails(4);
}

#[test]
fn contradictions_are_told_with_their_proof() {
    let lode = Lode::with_turtle(TURTLE);
    let told = lode.run(&["materialise", "db", "--check"]);
    assert!(told.ok().is_empty());
    let report = json(&lode.run(&["materialise", "db", "--rules", "owl2-rl", "--json"]).ok());
    assert_eq!(report["consistency"]["contradictions"].as_array().unwrap().len(), 0);
    lode.run(&["materialise", "db", "--check"]).ok();
    lode.run(&["update", "db", "INSERT DATA { <http://e/tom> a <http://e/Dog> }", "--quiet"]).ok();
    let report = json(&lode.run(&["materialise", "db", "--json", "--quiet"]).ok());
    assert_eq!(report["consistency"]["contradictions"][0]["rule"]["name"], "cax-dw");
    let told = lode.run(&["materialise", "db", "--check"]).fails(7);
    assert!(told.contains("lode why DB false"), "{told}");
    let proof = lode.run(&["why", "db", "false"]).ok();
    assert!(
        proof.starts_with("contradiction   by cax-dw of owl2-rl\n")
            && proof.contains(":tom a :Dog   asserted"),
        "{proof}"
    );
    lode.run(&["materialise", "db", "--check", "--rules", "rdfs"]).fails(2);
}

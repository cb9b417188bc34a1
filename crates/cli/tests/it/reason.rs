//! `--reason`, and `reason=` over HTTP.

use crate::endpoint::Endpoint;
use crate::lode::Lode;

const TURTLE: &str = "@prefix : <http://e/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    :Cat rdfs:subClassOf :Animal . :tom a :Cat . :ann :owns :tom . :owns rdfs:domain :Person .";
const ANIMALS: &str = "SELECT ?x { ?x a <http://e/Animal> }";
const PERSONS: &str = "SELECT ?x { ?x a <http://e/Person> }";

#[test]
fn queries_of_a_folder() {
    let lode = Lode::with_turtle(TURTLE);
    let ask = |query: &str, rules: &[&str]| {
        lode.run(&[&["query", "db", query, "--format", "csv"], rules].concat()).ok()
    };
    assert_eq!(ask(ANIMALS, &[]), "x\r\n");
    assert_eq!(ask(ANIMALS, &["--reason", "rdfs"]), "x\r\nhttp://e/tom\r\n");
    assert_eq!(ask(PERSONS, &["--reason", "hierarchies"]), "x\r\n");
    assert_eq!(ask(PERSONS, &["--reason", "subclass,domain"]), "x\r\nhttp://e/ann\r\n");
    assert_eq!(ask(ANIMALS, &["--reason", "rdfs", "--schema-graph", "http://e/none"]), "x\r\n");
    let wrong = lode.run(&["query", "db", ANIMALS, "--reason", "nothing"]).fails(2);
    let lines = [
        "no rules are called `nothing`; there are",
        "\n  none ",
        "\n  hierarchies ",
        "\n  rdfs-plus ",
        "single rules, ",
    ];
    assert!(lines.iter().all(|line| wrong.contains(line)), "{wrong}");
    let applied_once = lode.run(&["query", "db", ANIMALS, "--reason", "owl2-rl"]).fails(2);
    assert!(applied_once.contains("lode materialise DB --rules owl2-rl"), "{applied_once}");
    let missing = lode.run(&["query", "db", ANIMALS, "--reason"]).fails(2);
    assert!(missing.contains("--reason: the name of rules is missing; there are\n  none "), "{missing}");
    // Who does not reason is told what would be found.
    let told = lode.run(&["query", "db", ANIMALS, "--format", "csv"]).err;
    assert!(told.contains("<http://e/Cat>, below it, has 1: --reason hierarchies "), "{told}");
    let misspelt = "SELECT ?x { ?x a <http://e/Anmial> }";
    let told = lode.run(&["query", "db", misspelt, "--reason", "rdfs"]).err;
    assert!(
        told.contains("nothing is of the class <http://e/Anmial>; did you mean <http://e/Animal>?"),
        "{told}"
    );
}

#[test]
fn queries_of_a_server() {
    let lode = Lode::with_turtle(TURTLE);
    let plain = Endpoint::start(&lode, &[]);
    let path =
        |more: &str| format!("/sparql?format=csv&query=SELECT+*%7B?x+a+%3Chttp://e/Animal%3E%7D{more}");
    assert_eq!(plain.send("GET", &path(""), &[], b"").is(200).body, "x\r\n");
    let reasoned = plain.send("GET", &path("&reason=rdfs"), &[], b"").is(200);
    assert_eq!(reasoned.body, "x\r\nhttp://e/tom\r\n");
    let url = plain.base().to_owned();
    let by_url = lode.run(&["query", &url, ANIMALS, "--format", "csv", "--reason", "rdfs"]).ok();
    assert_eq!(by_url, reasoned.body);
    drop(plain);

    let reasoning = Endpoint::start(&lode, &["--reason", "rdfs"]);
    let url = reasoning.base().to_owned();
    let by_url =
        |rules: &[&str]| lode.run(&[&["query", &url, ANIMALS, "--format", "csv"], rules].concat()).ok();
    assert_eq!((by_url(&[]), by_url(&["--reason", "none"])), (reasoned.body.clone(), "x\r\n".to_owned()));
    let check = |more: &str| {
        let body = format!("{{\"text\":\"{ANIMALS}\"{more}}}");
        reasoning
            .send("POST", "/api/check", &[("Content-Type", "application/json")], body.as_bytes())
            .is(200)
            .body
    };
    assert!(check(", \"reason\": \"none\"").contains("\"only-below\"") && !check("").contains("only-below"));
    assert_eq!(reasoning.send("GET", &path(""), &[], b"").is(200).body, reasoned.body);
    assert_eq!(reasoning.send("GET", &path("&infer=false"), &[], b"").is(200).body, "x\r\n");
    let update =
        "DELETE { ?x a <http://e/Cat> } INSERT { ?x a <http://e/Gone> } WHERE { ?x a <http://e/Animal> }";
    reasoning
        .send("POST", "/update", &[("Content-Type", "application/sparql-update")], update.as_bytes())
        .is(200);
    assert_eq!(
        reasoning.send("GET", &path(""), &[], b"").is(200).body,
        reasoned.body,
        "updates do not reason"
    );
}

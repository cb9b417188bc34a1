//! Messages that lead on: prefixes that loaded documents declare, rules in the wrong file, byte order marks, words in the wrong order.

use crate::endpoint::Endpoint;
use crate::lode::{Lode, Outcome};

const TURTLE: &str = "@prefix ex: <http://e/> . ex:tom a ex:Cat ; ex:name \"Tom\" .\n\
                      ex:Cat <http://www.w3.org/2000/01/rdf-schema#subClassOf> ex:Animal .";

#[test]
fn queries_and_updates_know_the_prefixes_of_the_data() {
    let lode = Lode::with_turtle(TURTLE);
    let query = "SELECT ?n { ?x a ex:Cat ; ex:name ?n }";
    assert_eq!(lode.run(&["query", "db", query, "--format", "csv"]).ok(), "n\r\nTom\r\n");
    // Not usual ones that the data do not declare; and its own count most.
    let error = lode.run(&["query", "db", "SELECT ?c { ?c rdfs:subClassOf ex:Animal }"]).fails(4);
    assert!(error.contains("the prefix `rdfs:` is not declared") && !error.contains("`ex:`"), "{error}");
    let own = "PREFIX ex: <http://other/> SELECT ?n { ?x a ex:Cat }";
    assert_eq!(lode.run(&["query", "db", own, "--format", "csv"]).ok(), "n\r\n");
    lode.run(&["update", "db", "INSERT DATA { ex:max a ex:Cat }"]).ok();
    assert_eq!(
        lode.run(&["query", "db", "SELECT ?x { ?x a ex:Cat } ORDER BY ?x", "--format", "csv"])
            .ok()
            .lines()
            .count(),
        3
    );
    // What nobody declares is told as before, at its place in the text as it was written.
    for text in
        ["SELECT ?n {\n ?x a ex:Cat ; no:name ?n }", "PREFIX ex: <http://e/>\n SELECT ?n { ?x no:name ?n }"]
    {
        let error = lode.run(&["query", "db", text]).fails(4);
        assert!(error.starts_with("error: line 2, column "), "{error}");
        assert!(error.contains("the prefix `no:` is not declared") && !error.contains("`ex:`"), "{error}");
        assert!(error.contains("put before the query: PREFIX no: <...>"), "{error}");
    }
    let error = lode.run(&["update", "db", "INSERT DATA {\n ex:a no:b 1 }"]).fails(4);
    assert!(error.contains("line 2, column 7: the prefix `no:` is not declared"), "{error}");
    let error = lode.run(&["query", "db", "SELECT ?n {\n ?x a ex:Cat ; ; ?y }"]).fails(4);
    assert!(error.starts_with("error: line 2, "), "{error}");
}

#[test]
fn a_server_tells_the_prefixes_of_its_data() {
    let lode = Lode::with_turtle(TURTLE);
    let endpoint = Endpoint::start(&lode, &[]);
    let url = endpoint.base().to_owned();
    let query = "SELECT ?n { ?x a ex:Cat ; ex:name ?n }";
    assert_eq!(lode.run(&["query", &url, query, "--format", "csv"]).ok(), "n\r\nTom\r\n");
    lode.run(&["update", &url, "INSERT DATA { ex:max a ex:Cat }"]).ok();
    let error = lode.run(&["query", &url, "SELECT ?n {\n ?x a ex:Cat ; no:name ?n }"]).fails(4);
    assert!(
        error.contains("line 2, column ") && error.contains("the prefix `no:` is not declared"),
        "{error}"
    );
}

#[test]
fn rules_in_the_wrong_file_are_told_where_they_belong() {
    let lode = Lode::with_turtle(TURTLE);
    let n3 = "@prefix ex: <http://e/> .\n{ ?x a ex:Cat } => { ?x a ex:Pet } .\n";
    lode.write("rules.txt", n3);
    lode.write("bare.txt", "{ ?x a <http://e/Cat> } => { ?x a <http://e/Pet> } .\n");
    for file in ["rules.txt", "bare.txt"] {
        let error = lode.run(&["materialise", "db", "--rules", file]).fails(4);
        assert!(error.contains("N3") && error.contains(".n3") && !error.contains("DELETE"), "{error}");
    }
    lode.write("query.rq", "PREFIX ex: <http://e/>\nSELECT ?x { ?x a ex:Cat }\n");
    let error = lode.run(&["materialise", "db", "--rules", "query.rq"]).fails(4);
    assert!(
        error.contains("line 2") && error.contains("CONSTRUCT") && !error.contains("lode query"),
        "{error}"
    );
    lode.write("words.rq", "these are no rules");
    let error = lode.run(&["materialise", "db", "--rules", "words.rq"]).fails(4);
    assert!(error.contains("CONSTRUCT") && !error.contains("an update begins"), "{error}");
    let error = lode.run(&["materialise", "db"]).fails(4);
    assert!(error.contains("--rules owl2-rl"), "{error}");
    let error = lode.run(&["query", "db", "ASK {}", "--reason", "owl2-rl"]).fails(2);
    assert!(error.contains("lode materialise DB --rules owl2-rl"), "{error}");
}

#[test]
fn byte_order_marks_say_nothing() {
    let lode = Lode::with_turtle(TURTLE);
    let marked = |name: &str, text: &str| lode.write(name, format!("\u{feff}{text}"));
    marked("rules.n3", "@prefix ex: <http://e/> .\n{ ?x a ex:Cat } => { ?x a ex:Pet } .\n");
    marked("rules.rq", "PREFIX ex: <http://e/> CONSTRUCT { ?x a ex:Kept } WHERE { ?x a ex:Cat }");
    marked("query.rq", "PREFIX ex: <http://e/> SELECT ?c { ex:tom a ?c } ORDER BY ?c");
    marked("update.ru", "PREFIX ex: <http://e/> INSERT DATA { ex:max a ex:Cat }");
    marked(
        "shapes.ttl",
        "@prefix ex: <http://e/> . @prefix sh: <http://www.w3.org/ns/shacl#> .\nex:S a sh:NodeShape ; sh:targetClass ex:Cat ; sh:property [ sh:path ex:name ; sh:minCount 1 ] .",
    );
    lode.run(&["materialise", "db", "--rules", "rules.n3", "--rules", "rules.rq"]).ok();
    let classes = lode.run(&["query", "db", "--file", "query.rq", "--format", "csv"]).ok();
    assert_eq!(classes, "c\r\nhttp://e/Cat\r\nhttp://e/Kept\r\nhttp://e/Pet\r\n");
    lode.run(&["validate", "db", "shapes.ttl"]).ok();
    lode.run(&["update", "db", "--file", "update.ru"]).ok();
    lode.run(&["validate", "db", "shapes.ttl"]).fails(7);
    // One elsewhere is a mistake as before.
    lode.write("twice.rq", "\u{feff}\u{feff}ASK {}");
    assert!(lode.run(&["query", "db", "--file", "twice.rq"]).fails(4).contains("U+FEFF"));
}

#[test]
fn why_advises_where_words_are_wrong() {
    let lode = Lode::with_turtle(TURTLE);
    lode.run(&["materialise", "db", "--rules", "rdfs"]).ok();
    assert!(lode.run(&["why", "db", "ex:tom a ex:Animal"]).ok().contains("rdfs9"));
    let error = lode.run(&["why", "db", "unknown:tom a ex:Cat"]).fails(4);
    assert!(error.contains("`unknown:` is not declared") && error.contains("<http://...>"), "{error}");
    assert!(!error.contains("before the query") && !error.contains(" }"), "{error}");
    let told = lode.run(&["why", "db", "ex:tom a ex:Animall"]).ok();
    assert!(told.contains("ex:Animall is nowhere in the data"), "{told}");
    assert!(!lode.run(&["why", "db", "ex:Animal a ex:Cat"]).ok().contains("nowhere"));
    let error = lode.run(&["why", "ex:tom a ex:Cat", "db"]).fails(2);
    assert!(error.contains("the database comes first"), "{error}");
}

#[test]
fn places_that_are_mistaken_are_told() {
    let lode = Lode::with_turtle(TURTLE);
    lode.write("shapes.ttl", "@prefix sh: <http://www.w3.org/ns/shacl#> . <http://e/S> a sh:NodeShape .");
    for (args, told) in [
        (&["validate", "db"][..], "lode validate db shapes.ttl"),
        (&["validate", "db", "http://e/shapes"], "--shapes-graph http://e/shapes"),
        (&["validate", "shapes.ttl", "db"], "lode validate db shapes.ttl"),
        (&["validate", "shapes.ttl"], "the database comes first"),
        (&["serve", "db", "--port", "80"], "--bind"),
    ] {
        let error = lode.run(args).fails(2);
        assert!(error.contains(told), "{args:?}: {error}");
    }
    // Tests are built without workers, as the program is that most people have.
    for args in [
        &["worker", "db", "--token-file", "t"][..],
        &["query", "db", "--workers", "127.0.0.1:7979", "ASK {}"],
        &["serve", "db", "--workers-file", "workers.txt"],
    ] {
        let error = lode.run(args).fails(2);
        assert!(
            error.contains("built without workers") && error.contains("cluster/Cargo.toml"),
            "{args:?}: {error}"
        );
    }
    lode.write("lode.toml", "workers-file = \"workers.txt\"\n");
    let error = lode.run(&["serve", "db", "--check-config", "--config", "lode.toml"]).fails(2);
    assert!(error.contains("lode.toml:1:1: workers-file: this program was built without workers"), "{error}");
    let mut command = lode.command(&["serve", "db", "--check-config"]);
    let error = Outcome::of(command.env("LODE_WORKERS", "127.0.0.1:7979").output().unwrap()).fails(2);
    assert!(error.contains("LODE_WORKERS in the environment: this program was built without"), "{error}");
    let address = format!("file://{}", lode.path("published").display());
    lode.run(&["publish", "db", &address]).ok();
    let error = lode.run(&["query", "published", "ASK {}"]).fails(1);
    assert!(error.contains(&address), "{error}");
    let calls = "PREFIX math: <http://www.w3.org/2005/xpath-functions/math#> SELECT (math:pow(1) AS ?x) {}";
    let warned = lode.run(&["query", "db", calls]);
    assert!(warned.err.contains("takes 2 arguments, not 1"), "{warned:#?}");
}

#[test]
fn shapes_are_told_by_file_and_line_and_those_about_nobody() {
    let lode = Lode::with_turtle(TURTLE);
    let head = "@prefix ex: <http://e/> . @prefix sh: <http://www.w3.org/ns/shacl#> .\n";
    lode.write(
        "bad.ttl",
        format!(
            "{head}\nex:S sh:targetClass ex:Cat ;\n sh:property [ sh:path ex:name ; sh:minCount \"x\" ] .\n"
        ),
    );
    let error = lode.run(&["validate", "db", "bad.ttl"]).fails(4);
    assert!(error.contains("bad.ttl, line 3: the shape [...]: sh:minCount"), "{error}");
    lode.write(
        "nobody.ttl",
        format!("{head}ex:S sh:targetClass ex:Cats ; sh:property [ sh:path ex:name ; sh:minCount 1 ] ."),
    );
    let warned = "the shape <http://e/S> is about no node of the data";
    assert!(lode.run(&["validate", "db", "nobody.ttl"]).err.contains(warned));
    let endpoint = Endpoint::start(&lode, &["--shapes", "nobody.ttl"]);
    assert!(lode.run(&["validate", endpoint.base(), "nobody.ttl"]).err.contains(warned));
    assert!(endpoint.greeting.contains(warned), "{}", endpoint.greeting);
}

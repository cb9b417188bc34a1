//! `lode query`.

use crate::lode::Lode;

const TURTLE: &str = "@prefix : <http://e/> . :a :p 1, 2 . :b :p 3 ; :q :a .";

#[test]
fn formats_for_rows() {
    let lode = Lode::with_turtle(TURTLE);
    let query = "SELECT ?s ?o { ?s <http://e/p> ?o } ORDER BY ?o";
    assert_eq!(
        lode.run(&["query", "db", query, "--format", "csv"]).ok(),
        "s,o\r\nhttp://e/a,1\r\nhttp://e/a,2\r\nhttp://e/b,3\r\n"
    );
    let table = lode.run(&["query", "db", query]).ok();
    assert_eq!(table.lines().count(), 5);
    assert!(table.contains("<http://e/b>  3"), "{table}");
    assert!(lode.run(&["query", "db", query, "--format", "json"]).ok().contains("\"bindings\""));
    assert!(lode.run(&["query", "db", query, "--format", "xml"]).ok().contains("<sparql"));
    assert!(lode.run(&["query", "db", query, "--format", "tsv"]).ok().starts_with("?s\t?o\n"));
    lode.run(&["query", "db", query, "--format", "nt"]).fails(1);
    lode.run(&["query", "db", query, "--format", "nonsense"]).fails(2);
}

#[test]
fn ask_construct_describe() {
    let lode = Lode::with_turtle(TURTLE);
    assert_eq!(lode.run(&["query", "db", "ASK { ?s <http://e/q> ?o }"]).ok(), "yes\n");
    let construct = "CONSTRUCT { ?o <http://e/r> ?s } WHERE { ?s <http://e/q> ?o }";
    let triples = lode.run(&["query", "db", construct, "--format", "nt"]).ok();
    assert_eq!(triples, "<http://e/a> <http://e/r> <http://e/b> .\n");
    let described = lode.run(&["query", "db", "DESCRIBE <http://e/b>", "--format", "nt"]).ok();
    assert_eq!(described.lines().count(), 2);
}

#[test]
fn query_from_a_file_and_standard_input() {
    let lode = Lode::with_turtle(TURTLE);
    lode.write("q.rq", "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }");
    assert_eq!(lode.run(&["query", "db", "-f", "q.rq", "--format", "csv"]).ok(), "n\r\n4\r\n");
    let file = std::fs::File::open(lode.path("q.rq")).unwrap();
    let output = lode.command(&["query", "db", "--format", "csv"]).stdin(file).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "n\r\n4\r\n");
}

#[test]
fn errors_have_their_codes() {
    let lode = Lode::with_turtle(TURTLE);
    let error = lode.run(&["query", "db", "SELECT ?s {\n ?s ?p }"]).fails(4);
    assert!(error.contains("line 2") || error.contains("2:"), "{error}");
    let slow = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n1 ?o . ?p ?q ?r . ?s ?t ?u . ?v ?w ?x . \
                ?a1 ?b1 ?c1 . ?a2 ?b2 ?c2 . ?a3 ?b3 ?c3 . ?a4 ?b4 ?c4 . ?a5 ?b5 ?c5 . FILTER(?c != ?x || ?c5 != ?c4 || ?b3 != ?b4) }";
    lode.run(&["query", "db", slow, "--timeout", "0.2"]).fails(5);
    let profile = lode.run(&["query", "db", slow, "--timeout", "0.2", "--profile"]).fails(5);
    assert!(profile.contains("LoopJoin") && profile.contains("not all rows"), "{profile}");
    let service = "SELECT * { SERVICE <http://127.0.0.1:9/> { ?s ?p ?o } }";
    let error = lode.run(&["query", "db", service]).fails(1);
    assert!(error.contains("SERVICE"), "{error}");
}

#[test]
fn warnings_tell_their_lines() {
    let lode = Lode::with_turtle("@prefix e: <http://e/> . e:a e:p 1 . e:b e:q e:a .");
    let query = "SELECT ?s {\n  ?s <http://e/q> ?o .\n  FILTER(REGEX(?o, \"é\") || REGEX(STR(?o), \"(a\"))\n  OPTIONAL { ?s <http://e/q> ?p . FILTER(?nobody) } }";
    let told = |outcome: crate::lode::Outcome, places: [&str; 2]| {
        let lines: Vec<&str> = outcome.err.lines().collect();
        assert!(
            lines.len() == 2 && lines.iter().zip(places).all(|(line, place)| line.ends_with(place)),
            "{outcome:?}"
        );
    };
    told(lode.run(&["query", "db", query]), ["(line 3, column 43)", "(line 4, column 42)"]);
    // Prefixes that are put before it are not counted.
    let query = query.replace("<http://e/q> ?o", "e:q ?o");
    told(lode.run(&["query", "db", &query]), ["(line 3, column 43)", "(line 4, column 42)"]);
    let update = "DELETE { ?s ?p ?o }\nWHERE { ?s ?p ?o FILTER(<http://e/f>(?o)) }";
    let outcome = lode.run(&["update", "db", update, "--quiet"]);
    assert!(outcome.err.ends_with("unbound (line 2, column 25)\n"), "{outcome:?}");
}

#[test]
fn unknown_functions_are_warned_of() {
    let lode = Lode::with_turtle(TURTLE);
    let warning = "warning: no function <http://e/f> is known; each call is an error: ";
    let query = "SELECT ?s { ?s <http://e/q> ?o FILTER(<http://e/f>(?o) || isIRI(?o)) }";
    let outcome = lode.run(&["query", "db", query, "--format", "csv"]);
    assert!(outcome.err.starts_with(warning), "{outcome:#?}");
    assert_eq!((outcome.err.lines().count(), outcome.ok().as_str()), (1, "s\r\nhttp://e/b\r\n"));
    let plan = lode.run(&["query", "db", query, "--explain"]).ok();
    assert!(plan.starts_with(warning), "{plan}");
    let plan = lode.run(&["query", "db", query, "--explain=json"]).ok();
    let plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
    let [text] = plan["warnings"].as_array().unwrap().as_slice() else { panic!("{plan}") };
    assert!(text.as_str().unwrap().starts_with("no function <http://e/f>"), "{plan}");
    let update = "INSERT { ?s <http://e/r> ?y } WHERE { ?s <http://e/q> ?o BIND(<http://e/f>(?o) AS ?y) }";
    let outcome = lode.run(&["update", "db", update]);
    assert!(outcome.err.starts_with(warning) && outcome.err.contains("inserted 0"), "{outcome:#?}");
    let report = lode.run(&["update", "db", update, "--json", "--quiet"]).ok();
    assert!(report.contains("\"no function <http://e/f> is known"), "{report}");
    let known = "SELECT (<http://www.w3.org/2001/XMLSchema#integer>(?o) AS ?n) { ?s ?p ?o }";
    assert_eq!(lode.run(&["query", "db", known]).err, "");
}

#[test]
fn explain_and_profile() {
    let lode = Lode::with_turtle(TURTLE);
    let query = "SELECT * { ?s <http://e/p> ?o ; <http://e/q> ?x }";
    let plan = lode.run(&["query", "db", query, "--explain"]).ok();
    assert!(plan.contains("http://e/q") && plan.contains("rows"), "{plan}");
    assert!(plan.contains("\ntranslate ") && plan.contains("\npush_filters "), "{plan}");
    let profile = lode.run(&["query", "db", query, "--profile"]);
    assert!(profile.err.contains("planned in"), "{profile:#?}");
    let head = profile.err.lines().next().unwrap();
    for column in ["rows", "expected", "time", "%", "look-ups", "rows read", "blocks", "operator"] {
        assert!(head.contains(column), "{profile:#?}");
    }
    for form in ["--explain=text", "--profile=text"] {
        lode.run(&["query", "db", query, form]).ok();
    }
    lode.run(&["query", "db", query, "--explain=yaml"]).fails(2);
    lode.run(&["query", "db", query, "--explain", "--profile"]).fails(2);
}

/// A node of a plan's JSON and all below.
fn nodes(node: &serde_json::Value) -> Vec<&serde_json::Value> {
    let below = node["inputs"].as_array().unwrap().iter().flat_map(nodes);
    std::iter::once(node).chain(below).collect()
}

#[test]
fn plans_and_profiles_for_programs() {
    let lode = Lode::with_turtle(TURTLE);
    let query = "SELECT ?s (COUNT(*) AS ?n) { ?s <http://e/p> ?o FILTER(STR(?o) != '1') } GROUP BY ?s";
    let parsed = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    let plan = parsed(&lode.run(&["query", "db", query, "--explain=json"]).ok());
    assert_eq!((&plan["form"], &plan["run"]), (&"select".into(), &serde_json::Value::Null));
    assert!(nodes(&plan["plan"]).iter().all(|node| node.get("measured").is_none()));
    let steps = plan["steps"].as_array().unwrap();
    assert!(steps.iter().all(|step| step["seconds"].as_f64().unwrap() >= 0.0), "{plan}");
    let [first, .., last] = steps.as_slice() else { panic!("{plan}") };
    assert_eq!((&first["name"], &last["name"]), (&"translate".into(), &"operators".into()));
    assert_eq!(last["nodes_after"], nodes(&plan["plan"]).len());
    let scan = |plan: &serde_json::Value| {
        let all = nodes(&plan["plan"]).into_iter().cloned();
        all.into_iter().find(|node| node["operator"] == "IndexScan").unwrap()
    };
    assert_eq!(
        (&scan(&plan)["estimated_rows"], &scan(&plan)["columns"]),
        (&3.0.into(), &serde_json::json!(["?s", "?o"]))
    );
    let outcome = lode.run(&["query", "db", query, "--profile=json", "--format", "csv"]);
    assert_eq!(outcome.out.lines().count(), 3);
    let profile = parsed(&outcome.err);
    let done = &scan(&profile)["measured"];
    assert_eq!(
        (&done["rows"], &done["sequential_rows"], &done["rows_per_expected"]),
        (&3.into(), &3.into(), &1.0.into())
    );
    assert!(done["blocks"]["mini_blocks_decoded"].as_u64().unwrap() > 0);
    let filter = nodes(&profile["plan"]).into_iter().find(|node| node["operator"] == "Filter").unwrap();
    assert_eq!((&filter["measured"]["rows_in"], &filter["measured"]["rows"]), (&3.into(), &2.into()));
    let run = &profile["run"];
    assert_eq!((&run["rows"], &run["answer"]["rows"]), (&2.into(), &2.into()));
    // Each part has its own share, and they add up.
    let parts = nodes(&profile["plan"]).into_iter().map(|node| &node["measured"]).chain([&run["answer"]]);
    let parts: Vec<_> = parts.collect();
    for (kind, name) in [("blocks", "touched"), ("blocks", "read"), ("blocks", "bytes_read")] {
        let sum: u64 = parts.iter().map(|part| part[kind][name].as_u64().unwrap()).sum();
        assert_eq!(run["total"][kind][name].as_u64(), Some(sum), "{name}");
    }
    let all = &profile["plan"]["measured"]["seconds_with_inputs"];
    assert!(all.as_f64() >= parts[0]["seconds"].as_f64());
    // Those that have no rows of solutions.
    for (query, rows) in
        [("ASK { ?s ?p ?o }", 1), ("CONSTRUCT WHERE { ?s <http://e/p> ?o }", 3), ("DESCRIBE <http://e/b>", 2)]
    {
        let profile = parsed(&lode.run(&["query", "db", query, "--profile=json"]).err);
        assert_eq!(profile["run"]["rows"], rows, "{query}");
    }
}

#[test]
fn the_union_of_graphs_on_request() {
    let lode = Lode::new();
    lode.write("g.nq", "<http://e/a> <http://e/p> 1 <http://e/g> .\n".replace(" 1 ", " \"1\" "));
    lode.run(&["load", "db", "g.nq"]).ok();
    let count = ["query", "db", "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", "--format", "csv"];
    assert_eq!(lode.run(&count).ok(), "n\r\n0\r\n");
    assert_eq!(lode.run(&[&count[..], &["--default-graph", "union"]].concat()).ok(), "n\r\n1\r\n");
}

/// Tests for the beginning of a text give the same whether they are ranges of ids or looked at one by one.
#[test]
fn beginnings_of_texts() {
    let mut turtle = "@prefix : <http://e/> .\n".to_owned();
    for n in 0..400 {
        let word = format!("{}{}{n}", ["a", "ab", "b", "Ab", "é"][n % 5], ["", "b", "c"][n % 3]);
        turtle += &format!(
            ":s{n} :plain \"{word}\" ; :tagged \"{word}\"@en, \"{word}\"@de ; :iri <http://e/{word}> ; :mixed \"{word}\", {n} .\n"
        );
    }
    let lode = Lode::with_turtle(&turtle);
    let count = |predicate: &str, filter: &str| {
        let query = format!("SELECT (COUNT(*) AS ?n) {{ ?s <http://e/{predicate}> ?o FILTER({filter}) }}");
        lode.run(&["query", "db", &query, "--format", "csv"]).ok()
    };
    let check = || {
        for predicate in ["plain", "tagged", "iri", "mixed"] {
            for (quick, slow) in [
                ("STRSTARTS(?o, 'ab')", "STRSTARTS(CONCAT(?o, ''), 'ab')"),
                ("STRSTARTS(STR(?o), 'é')", "STRSTARTS(CONCAT(STR(?o), ''), 'é')"),
                ("STRSTARTS(STR(?o), 'http://e/ab')", "STRSTARTS(CONCAT(STR(?o), ''), 'http://e/ab')"),
                ("STRSTARTS(?o, 'nothing')", "STRSTARTS(CONCAT(?o, ''), 'nothing')"),
                ("REGEX(?o, '^ab?b1')", "REGEX(CONCAT(?o, ''), '^ab?b1')"),
                ("REGEX(?o, '^ab|^b')", "REGEX(CONCAT(?o, ''), '^ab|^b')"),
                ("REGEX(?o, '^ab', 'i')", "REGEX(CONCAT(?o, ''), '^ab', 'i')"),
                ("REGEX(?o, '^ab.*9$', 's') && STRSTARTS(?o, 'abb')", "REGEX(CONCAT(?o, ''), '^abb.*9$')"),
            ] {
                assert_eq!(count(predicate, quick), count(predicate, slow), "{predicate}: {quick}");
            }
        }
        assert!(count("plain", "STRSTARTS(?o, 'ab')").len() > "n\r\n1\r\n".len());
    };
    check();
    // Terms that are in no dictionary yet have ids out of order.
    lode.run(&[
        "update",
        "db",
        "INSERT DATA { <http://e/new> <http://e/plain> 'abnew' ; <http://e/tagged> 'abnew'@fr }",
    ])
    .ok();
    check();
}

/// A database of two segments in which the files of the orders that begin with the object are damaged.
fn with_damaged_objects() -> Lode {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1, 2, <http://e/b> .");
    lode.write("more.ttl", "<http://e/b> <http://e/p> 1, 3 .");
    lode.run(&["load", "db", "more.ttl", "--no-merge"]).ok();
    for name in ["ospg.perm", "opsg.perm"] {
        lode.write(&format!("db/segment-000001/{name}"), "damaged");
    }
    lode
}

#[test]
fn a_query_opens_only_the_files_that_it_reads() {
    let lode = with_damaged_objects();
    let found = lode.run(&["query", "db", "SELECT ?o { <http://e/b> <http://e/p> ?o }", "--format", "csv"]);
    assert_eq!(found.ok(), "o\r\n1\r\n3\r\n");
    let error = lode.run(&["query", "db", "SELECT ?s { ?s ?p 1 }"]).fails(1);
    assert!(error.contains("segment-000001/o") && error.contains("too short"), "{error}");
    // Whoever opens a database for longer is told at once.
    let error = lode.run(&["dump", "db"]).fails(1);
    assert!(error.contains("too short"), "{error}");
}

#[test]
fn all_files_are_open_before_the_first_of_a_long_answer_is_written() {
    let lode = with_damaged_objects();
    let values: String = (0..20_000).map(|number| format!(" {number}")).collect();
    let query = format!("SELECT * {{ <http://e/b> <http://e/p> ?o VALUES ?x {{{values}}} }}");
    lode.write("long.rq", query);
    let outcome = lode.run(&["query", "db", "--file", "long.rq", "--format", "csv"]);
    assert_eq!(outcome.out, "");
    let error = outcome.fails(1);
    assert!(error.contains("too short"), "{error}");
}

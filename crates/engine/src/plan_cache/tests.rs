//! Plans used again give the answers that new ones give.

use crate::{Database, QueryOptions, UpdateOptions};
use lode_store::CompactOptions;
use std::sync::Arc;
use std::time::Duration;

const DATA: &str = "PREFIX : <http://x/> INSERT DATA {
    :a :p :b , :c . :b :p :c . :c :p :d . :a :n 1 , 2 , 3 . :b :n 20 , 2 . :d :n 'two' .
    :b a :Rare . :a :label 'A' . :b :label 'B'
}";

fn database() -> Database {
    let database = Database::in_memory().unwrap();
    database.update(DATA, &UpdateOptions::default()).unwrap();
    database
}

/// The answers as CSV, sorted, and whether the plan was one of an earlier query.
fn answers(database: &Database, text: &str) -> (Vec<String>, bool) {
    let text = format!("PREFIX : <http://x/> {text}");
    let prepared = database.prepare(&text, &QueryOptions::default()).unwrap();
    let cached = prepared.is_from_cache();
    let mut lines = prepared_lines(&prepared);
    lines.sort();
    (lines, cached)
}

fn prepared_lines(prepared: &crate::PreparedQuery) -> Vec<String> {
    let mut out = Vec::new();
    let rows = prepared.kind() == crate::format::ResultKind::Solutions;
    let default = crate::OutputFormat::default_for(prepared.kind());
    let format = if rows { crate::OutputFormat::from_name("csv").unwrap() } else { default };
    crate::write_results(&mut prepared.run().unwrap(), format, &mut out).unwrap();
    String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
}

/// Asks a query after others, and the same of a database that was asked nothing else.
fn check(before: &[&str], text: &str, expect_cached: bool) {
    let database = database();
    before.iter().for_each(|text| drop(answers(&database, text)));
    let (lines, cached) = answers(&database, text);
    assert_eq!(lines, answers(&self::database(), text).0, "{text}");
    assert_eq!(cached, expect_cached, "{text}");
}

#[test]
fn constants_are_exchanged() {
    check(&["SELECT ?x { :a :p ?x }"], "SELECT ?x { :b :p ?x }", true);
    check(&["SELECT ?x { ?x :p :b }"], "SELECT ?x { ?x :p :d }", true);
    check(&["SELECT ?x ?n { :a :p ?x . ?x :n ?n }"], "SELECT ?x ?n { :b :p ?x . ?x :n ?n }", true);
    check(&["SELECT ?x ?n { :a :p ?x . ?x :p ?n }"], "SELECT ?x ?n { :b :p ?x . ?x :p ?n }", true);
    check(&["ASK { :a :p :b }"], "ASK { :a :p :c }", true);
    check(&["SELECT * { ?x :p ?y FILTER(?x = :a) }"], "SELECT * { ?x :p ?y FILTER(?x = :b) }", true);
    check(&["SELECT * { ?x :p ?y FILTER(?x != :a) }"], "SELECT * { ?x :p ?y FILTER(?x != :b) }", true);
    check(&["SELECT * { ?x :p ?y BIND(:a AS ?z) }"], "SELECT * { ?x :p ?y BIND(:b AS ?z) }", true);
    check(&["SELECT ?x { ?x :label 'A' }"], "SELECT ?x { ?x :label 'B' }", true);
    check(
        &["SELECT * { ?x :p ?y FILTER(?y IN (:b, :c)) }"],
        "SELECT * { ?x :p ?y FILTER(?y IN (:d, :b)) }",
        true,
    );
    check(&["SELECT * { ?x :n ?n FILTER(?n + 1 > 2) }"], "SELECT * { ?x :n ?n FILTER(?n + 2 > 5) }", true);
}

#[test]
fn constants_that_are_part_of_something_else_stay() {
    check(&["SELECT * { ?x :n ?v FILTER(?v = :a) }"], "SELECT * { ?x :n ?v FILTER(?v = 2.0) }", false);
    check(
        &["SELECT * { ?x ?p ?v FILTER(?v IN (:b, :c)) }"],
        "SELECT * { ?x ?p ?v FILTER(?v IN (:b, 2.0)) }",
        false,
    );
    let either = ["SELECT * { ?x ?p ?v FILTER(?v = :b || ?v = :c) }"];
    check(&either, "SELECT * { ?x ?p ?v FILTER(?v = :b || ?v = 2.0) }", false);
    check(&["SELECT * { ?x :p|:n ?v . :p :label ?l }"], "SELECT * { ?x :p|:n ?v . :a :label ?l }", false);
    check(&["SELECT * { ?x !:p ?v . ?p :label ?p }"], "SELECT * { ?x !:p ?v . :a :label ?l }", false);
    let database = database();
    let add = "PREFIX : <http://x/> INSERT DATA { :p :label 'P' .
        GRAPH :g { :g :r :g . :x2 :r :h } GRAPH :h { :x3 :r :h . :x4 :r :g } }";
    database.update(add, &UpdateOptions::default()).unwrap();
    let rows = |text: &str| answers(&database, text).0.len() - 1;
    assert_eq!(rows("SELECT * { ?x :p|:n ?v . :p :label ?l }"), 10);
    assert_eq!(rows("SELECT * { ?x :p|:n ?v . :a :label ?l }"), 10);
    assert_eq!(answers(&database, "SELECT ?x FROM :g { ?x :r :g }").0, ["http://x/g", "x"]);
    assert_eq!(answers(&database, "SELECT ?x FROM :g { ?x :r :h }").0, ["http://x/x2", "x"]);
    let named =
        |graph: &str| format!("SELECT ?x FROM NAMED :g {{ GRAPH ?n {{ ?x :r ?y }} FILTER(?n = {graph}) }}");
    assert_eq!((rows(&named(":g")), rows(&named(":h"))), (2, 0));
}

#[test]
fn what_is_not_there_is_planned_anew() {
    check(&["SELECT ?x { :a :p ?x }"], "SELECT ?x { :nobody :p ?x }", false);
    check(&["SELECT ?x { :nobody :p ?x }"], "SELECT ?x { :a :p ?x }", false);
    // :d is no subject of :p, so nothing is left to plan.
    check(&["SELECT ?x { :d :p ?x }"], "SELECT ?x { :a :p ?x }", false);
    check(&["SELECT ?x { :a :p ?x }"], "SELECT ?x { :d :p ?x }", true);
}

#[test]
fn the_first_named_graph_is_seen() {
    let database = database();
    let texts =
        ["SELECT ?g { GRAPH ?g { ?x ?y ?z } }", "SELECT ?g { VALUES ?x { :a } GRAPH ?g { ?x ?y ?z } }"];
    texts.iter().for_each(|text| assert_eq!(answers(&database, text).0, ["g"]));
    let add = "PREFIX : <http://x/> INSERT DATA { GRAPH :g { :a :p :b } }";
    database.update(add, &UpdateOptions::default()).unwrap();
    for text in texts {
        assert_eq!(answers(&database, text), (vec!["g".into(), "http://x/g".into()], false));
    }
}

#[test]
fn constants_that_stand_for_each_other_keep_apart() {
    check(&["SELECT * { :a :p ?x . :b :p ?y }"], "SELECT * { :b :p ?x . :a :p ?y }", true);
    check(&["SELECT * { :a :p ?x . :a :n ?y }"], "SELECT * { :b :p ?x . :a :n ?y }", false);
    check(&["SELECT * { :a :p ?x . :b :n ?y }"], "SELECT * { :b :p ?x . :b :n ?y }", false);
}

#[test]
fn ranges_belong_to_their_literals() {
    check(&["SELECT * { ?x :rank ?n FILTER(?n > 2) }"], "SELECT * { ?x :n ?n FILTER(?n > 1) }", false);
    let database = database();
    let many: String = (0..3000).map(|i| format!(":m{i} :m {i} . ")).collect();
    let add = format!("PREFIX : <http://x/> INSERT DATA {{ {many} }}");
    database.update(&add, &UpdateOptions::default()).unwrap();
    let over = |n: u32| format!("SELECT ?x {{ ?x :m ?n FILTER(?n > {n}) }}");
    for n in [2990, 2995] {
        assert!(!answers(&database, &over(n)).1);
        let (lines, cached) = answers(&database, &over(n));
        assert_eq!((lines.len(), cached), (3000 - n as usize, true));
    }
    // A literal too long for a key with literals in it: such a plan is of no use to others.
    let long = "x".repeat(20_000);
    for n in [2990, 2980] {
        let text = format!("SELECT ?x {{ ?x :m ?n FILTER(?n > {n}) FILTER(STR(?x) != '{long}') }}");
        assert_eq!(answers(&database, &text).0.len(), 3000 - n);
    }
    // Another kind of object comes: the range is none any more.
    let add = "PREFIX : <http://x/> INSERT DATA { :c :m 2999.5 }";
    database.update(add, &UpdateOptions::default()).unwrap();
    let (lines, cached) = answers(&database, &over(2995));
    assert!(!cached && lines.iter().any(|line| line.contains("http://x/c")), "{lines:?}");
}

#[test]
fn a_range_for_one_subject_is_none_for_another() {
    let database = Database::in_memory().unwrap();
    let data = "PREFIX : <http://x/> INSERT DATA { :a :n 1, 2, 3 . :c :n 1.5, 5.5 . :a :t \"he\", \"ho\" . :c :t <hx:1>, <hx:2> }";
    database.update(data, &UpdateOptions::default()).unwrap();
    // Two rows each, and the names of the columns.
    for (subject, numbers, texts) in [("a", 3, 3), ("c", 3, 3), ("a", 3, 3)] {
        let text = format!("SELECT ?n {{ :{subject} :n ?n FILTER(?n > 1) }}");
        assert_eq!(answers(&database, &text).0.len(), numbers, "{subject}");
        let text = format!("SELECT ?t {{ :{subject} :t ?t FILTER(STRSTARTS(STR(?t), \"h\")) }}");
        assert_eq!(answers(&database, &text).0.len(), texts, "{subject}");
    }
}

#[test]
fn new_data_is_seen_and_other_counts_get_other_plans() {
    let database = database();
    let of = |class: &str| format!("SELECT ?x {{ ?x a {class} }}");
    answers(&database, &of(":Rare"));
    let many: String = (0..500).map(|i| format!(":m{i} a :Common . ")).collect();
    let add = format!("PREFIX : <http://x/> INSERT DATA {{ {many} :n a :Rare }}");
    database.update(&add, &UpdateOptions::default()).unwrap();
    let (rare, cached) = answers(&database, &of(":Rare"));
    assert!(cached && rare.iter().any(|line| line.contains("http://x/n")), "{rare:?}");
    let (common, cached) = answers(&database, &of(":Common"));
    assert!(!cached);
    assert_eq!(common, answers(&database, &of(":Common")).0);
    assert!(answers(&database, &of(":Common")).1);
}

#[test]
fn common_sub_plans_are_those_of_the_constants() {
    let make = || {
        let database = Database::in_memory().unwrap();
        let item = |i: u32| format!(":i{i} a :T{} ; :vendor :v{} ; :price {} . ", i % 2, i % 7, i % 100);
        let items: String = (0..20_000).map(item).collect();
        let add = format!("PREFIX : <http://x/> INSERT DATA {{ {items} }}");
        database.update(&add, &UpdateOptions::default()).unwrap();
        // How many terms there are is known of segments only.
        let (options, progress) = (CompactOptions::default(), Arc::default());
        lode_store::compact(database.store(), &options, &progress).unwrap();
        database
    };
    let query = |a: &str, b: &str| {
        format!(
            "SELECT ?v ?n ?m {{
                {{ SELECT ?v (COUNT(*) AS ?n) {{ ?i a :{a} ; :vendor ?v ; :price ?p }} GROUP BY ?v }}
                {{ SELECT ?v (MAX(?q) AS ?m) {{ ?j a :{b} ; :vendor ?v ; :price ?q }} GROUP BY ?v }} }}"
        )
    };
    let plan = |database: &Database, text: &str| {
        let text = format!("PREFIX : <http://x/> {text}");
        let prepared = database.prepare(&text, &QueryOptions::default()).unwrap();
        prepared.explain()
    };
    let used = make();
    let explained = plan(&used, &query("T0", "T0"));
    assert!(explained.contains("Spool"), "{explained}");
    answers(&used, &query("T0", "T0"));
    for (a, b, expect_cached) in [("T1", "T1", true), ("T0", "T1", false), ("T1", "T0", true)] {
        let (lines, cached) = answers(&used, &query(a, b));
        assert_eq!((lines.len(), cached), (8, expect_cached), "{a} {b}");
        assert_eq!(lines, answers(&make(), &query(a, b)).0, "{a} {b}");
    }
}

/// What the protocol lists is there, too.
#[test]
fn named_graphs_of_the_protocol() {
    let database = Database::in_memory().unwrap();
    let mut options = QueryOptions::default();
    options.set_dataset(&[], &["http://x/g".to_owned(), "http://x/missing".to_owned()]).unwrap();
    let rows = |text: &str| {
        let text = format!("PREFIX : <http://x/> {text}");
        prepared_lines(&database.prepare(&text, &options).unwrap()).len() - 1
    };
    let check = |triples| {
        assert_eq!(rows("SELECT * { GRAPH ?g {} }"), 2);
        assert_eq!(rows("SELECT * { GRAPH :g { BIND(1 AS ?x) } }"), 1);
        assert_eq!(rows("SELECT * { GRAPH :missing { BIND(1 AS ?x) } }"), 1);
        assert_eq!(rows("SELECT * { GRAPH :other { BIND(1 AS ?x) } }"), 0);
        assert_eq!(rows("SELECT * { GRAPH ?g { ?s ?p ?o } }"), triples);
    };
    check(0);
    let update = |text: &str| database.update(text, &UpdateOptions::default()).unwrap();
    update("INSERT DATA { GRAPH <http://x/g> { <x:a> <x:p> 1 } GRAPH <http://x/other> { <x:a> <x:p> 1 } }");
    check(1);
    update("DROP GRAPH <http://x/g>");
    check(0);
}

/// A graph's existence is no row of a pattern: plans that rely on it must not outlive it, nor serve for another graph.
#[test]
fn graphs_vanish_between_the_same_queries() {
    let insert = "INSERT DATA { :a :p :b . GRAPH :g { :a :p :b } GRAPH :h { :a :p :b } }";
    let groups = [
        "{}",
        "{ BIND(1 AS ?x) }",
        "{ VALUES ?x { 1 2 } }",
        "{ SELECT (COUNT(*) AS ?x) { ?s :q ?o } }",
        "{ :a :p* ?x }",
        "{ ?s :p ?x }",
        "{ OPTIONAL { ?s :p ?x } }",
        "{ { ?s :p ?x } UNION { BIND(2 AS ?x) } }",
        "{ GRAPH :h {} }",
    ];
    let queries = |graph: &str| -> Vec<String> {
        let mut all = Vec::new();
        for group in groups {
            let graph = format!("GRAPH :{graph} {group}");
            all.extend([
                format!("ASK {{ {graph} }}"),
                format!("SELECT * {{ {graph} }}"),
                format!("SELECT * {{ :a :p ?y OPTIONAL {{ {graph} }} }}"),
                format!("SELECT * {{ VALUES ?x {{ 1 2 }} MINUS {{ {graph} }} }}"),
                format!("SELECT * {{ :a :p ?y FILTER EXISTS {{ {graph} }} }}"),
            ]);
            // Graphs that are listed are there without quads.
            for listed in
                ["FROM NAMED :g", "FROM NAMED :missing FROM NAMED :h", "FROM :g FROM NAMED :missing"]
            {
                all.push(format!("SELECT * {listed} {{ {graph} }}"));
                all.push(format!("SELECT * {listed} {{ GRAPH ?g {group} }}"));
            }
        }
        all
    };
    let (database, fresh) = (Database::in_memory().unwrap(), Database::in_memory().unwrap());
    let update = |text: &str| {
        for database in [&database, &fresh] {
            database.update(&format!("PREFIX : <http://x/> {text}"), &UpdateOptions::default()).unwrap();
        }
    };
    update(insert);
    let check = || {
        for text in queries("g").into_iter().chain(queries("h")).chain(queries("missing")) {
            let unusual = QueryOptions { groups_early: true, ..QueryOptions::default() };
            let text_with = format!("PREFIX : <http://x/> {text}");
            let prepared = fresh.prepare(&text_with, &unusual).unwrap();
            assert!(!prepared.is_from_cache());
            let mut lines: Vec<String> = prepared_lines(&prepared);
            lines.sort();
            assert_eq!(answers(&database, &text).0, lines, "{text}");
        }
    };
    (0..3).for_each(|_| check());
    update("DROP GRAPH :g");
    (0..2).for_each(|_| check());
    update("INSERT DATA { GRAPH :g { :a :p :b } } ; DROP GRAPH :h");
    (0..2).for_each(|_| check());
    // The name that nobody knew becomes one.
    update("INSERT DATA { GRAPH :missing { :a :p :b } }");
    (0..2).for_each(|_| check());
    update("CLEAR GRAPH :missing");
    (0..2).for_each(|_| check());
}

/// Prepares a query where that is short, after some runs of another that are said to have taken so long.
fn short_after(
    database: &Database,
    before: &str,
    took: Duration,
    text: &str,
) -> Option<crate::PreparedQuery> {
    let options = QueryOptions::default();
    let prefix = "PREFIX : <http://x/> ";
    for _ in 0..3 {
        database.prepare(&format!("{prefix}{before}"), &options).unwrap().ran(took);
    }
    database.prepare_short(&format!("{prefix}{text}"), &options).unwrap()
}

#[test]
fn kinds_whose_plans_are_not_kept_are_known_to_be_short() {
    let missing = "SELECT ?x { :nobody :p ?x }";
    // Planning counts, which takes as long as it takes: the runs begin before it.
    let (database, at_once) = (database(), Duration::ZERO);
    let short =
        (0..100).find_map(|_| short_after(&database, missing, at_once, "SELECT ?x { :nobody2 :p ?x }"));
    let short = short.expect("planned at once");
    assert!(!short.is_from_cache());
    assert_eq!(prepared_lines(&short), ["x"]);
    // One of the same kind whose plan can be kept has it kept.
    let there = (0..100).find_map(|_| short_after(&database, missing, at_once, "SELECT ?x { :a :p ?x }"));
    assert_eq!(prepared_lines(&there.expect("planned at once")).len(), 3);
    assert!(answers(&database, "SELECT ?x { :b :p ?x }").1);
    // Who took longer is not tried.
    assert!(short_after(&database, missing, Duration::from_millis(5), missing).is_none());
    // Of another kind nothing is known.
    assert!(
        database
            .prepare_short("SELECT ?x { <http://x/nobody> ?p ?x }", &QueryOptions::default())
            .unwrap()
            .is_none()
    );
}

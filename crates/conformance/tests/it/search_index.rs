//! Searches with indexes of words answer as searches that read all texts, while loads, transactions, compactions and other opens change what there is.

use crate::indexed::{Prologue, Random, compact, is_sound, open, with_damage};
use lode_engine::store::{
    WordsOf, WordsOptions, WordsReport, drop_words, index_words, keep_words_of, words_of,
};
use lode_engine::{Database, DefaultGraph, QueryOptions};

const PROLOGUE: Prologue = Prologue("PREFIX : <http://e/> PREFIX text: <urn:lodestore:text:> ");
const WORDS: [&str; 16] = [
    "fox", "foxes", "dog", "dogs", "running", "run", "runs", "Café", "cafe", "日本", "日", "häuser", "Haus",
    "don't", "été", "red",
];

fn index(database: &Database, force: bool) -> WordsReport {
    let options = WordsOptions { memory_bytes: 1 << 20, threads: 2, force, cancel: Default::default() };
    index_words(database.store(), &options).unwrap()
}

fn literal(random: &mut Random) -> String {
    let words: Vec<&str> = (0..random.below(7)).map(|_| random.of(&WORDS)).collect();
    format!(
        "\"{}\"{}",
        words.join(" "),
        random.of(&["", "", "@en", "@en-GB", "@de", "@fr", "@zh", "^^<http://e/t>"])
    )
}

fn triples(random: &mut Random, count: usize) -> String {
    let triple = |random: &mut Random| {
        let object = if random.below(9) == 0 { ":x".to_owned() } else { literal(random) };
        format!(":s{} :p{} {object} . ", random.below(40), random.below(3))
    };
    (0..count).map(|_| triple(random)).collect()
}

fn words_query(random: &mut Random) -> String {
    let mut out = String::new();
    for part in 0..=random.below(3) {
        if part > 0 {
            out += random.of(&[" ", " AND ", " OR "]);
        }
        out += random.of(&["", "", "", "+", "-"]);
        out += &match random.below(7) {
            0 => format!("\\\"{} {}\\\"", random.of(&WORDS), random.of(&WORDS)),
            1 => random.of(&["fo*", "*s", "d?g", "r*n*", "caf*", "h*r", "*a*"]).to_owned(),
            2 => format!("{}~{}", random.of(&["fox", "dgo", "runing"]), 1 + random.below(2)),
            _ => random.of(&WORDS).to_owned(),
        };
    }
    out
}

/// The best by score: rows of the last score are told by their score only, since others have it, too.
fn best(random: &mut Random) -> String {
    let (words, predicate) = (words_query(random), random.of(&[":p0", ":p1"]));
    let limit = 1 + random.below(9);
    match random.below(5) {
        0 => format!("SELECT ?sc {{ (?s ?sc) text:query ({predicate} \"{words}\" {limit}) }}"),
        1 => format!("SELECT ?sc {{ (?s ?sc) text:query (\"{words}\" {limit}) }}"),
        2 => format!(
            "SELECT ?sc ?t {{ (?s ?sc ?t) text:query ({predicate} \"{words}\") }} ORDER BY DESC(?sc) STR(?t) LANG(?t) LIMIT {limit}"
        ),
        3 => format!(
            "SELECT (text:score(?o, \"{words}\") AS ?sc) {{ ?s {predicate} ?o FILTER text:matches(?o, \"{words}\") }} ORDER BY DESC(?sc) LIMIT {limit} OFFSET 2"
        ),
        _ => format!(
            "SELECT ?sc {{ ?t <http://www.bigdata.com/rdf/search#search> \"{words}\" ; <http://www.bigdata.com/rdf/search#relevance> ?sc ; <http://www.bigdata.com/rdf/search#maxRank> {limit} }}"
        ),
    }
}

fn query(random: &mut Random) -> String {
    if random.below(4) == 0 {
        return best(random);
    }
    let words = words_query(random);
    let predicate = random.of(&[":p0", ":p1", "?p"]);
    match random.below(6) {
        0 => format!("SELECT ?s {{ ?s text:query \"{words}\" }}"),
        1 => format!("SELECT ?s ?l ?p {{ (?s ?score ?l ?g0 ?p) text:query (:p0 :p2 \"{words}\") }}")
            .replace("?g0", "_:g"),
        2 => format!("SELECT (COUNT(*) AS ?n) {{ ?s {predicate} ?o FILTER text:matches(?o, \"{words}\") }}"),
        3 => format!(
            "SELECT ?s ?t {{ ?s {predicate} ?o ; :p2 ?t FILTER(text:matches(?o, \"{words}\") && !text:matches(?t, \"red\")) }}"
        ),
        4 => format!(
            "SELECT ?s ?n {{ ?s :p0 ?o OPTIONAL {{ ?s :p1 ?n FILTER text:matches(?n, \"{words}\") }} }}"
        ),
        _ => format!(
            "SELECT ?s {{ ?s {predicate} ?o FILTER text:matches(?o, \"{words}\") FILTER EXISTS {{ ?s :p1 ?q FILTER text:matches(?q, \"fox dog*\") }} }}"
        ),
    }
}

/// How many of so many queries are right by the grammar; all of them have the same answer by reading.
fn compare(database: &Database, random: &mut Random, queries: usize) -> usize {
    let mut asked = 0;
    for _ in 0..queries {
        let query = query(random);
        if database.query(&format!("{}{query}", PROLOGUE.0), &QueryOptions::default()).is_err() {
            continue;
        }
        asked += 1;
        PROLOGUE.compared(database, &query);
    }
    asked
}

fn load_more(database: &Database, random: &mut Random, count: usize) {
    PROLOGUE.load(database, &triples(random, count));
}

#[test]
fn indexes_answer_as_reading_does_while_everything_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let mut database = open(&path);
    let mut random = Random(2_424);
    let mut asked = 0;
    // As many queries as one likes.
    let queries =
        std::env::var("LODE_TEXT_QUERIES").ok().and_then(|number| number.parse().ok()).unwrap_or(2400);
    load_more(&database, &mut random, 200);
    for round in 0..60 {
        match random.below(8) {
            0 => load_more(&database, &mut random, 60),
            1 | 2 => PROLOGUE.update(&database, &format!("INSERT DATA {{ {} }}", triples(&mut random, 8))),
            3 => PROLOGUE.update(&database, &format!("DELETE WHERE {{ :s{} ?p ?o }}", random.below(40))),
            // What a request has made is found by what follows in it.
            4 => PROLOGUE.update(
                &database,
                &format!(
                    "INSERT DATA {{ :own :p0 \"a fox of round {round}\" }} ; INSERT {{ :found :p1 ?o }} WHERE {{ :own :p0 ?o FILTER text:matches(?o, \"fox AND {round}\") }}"
                ),
            ),
            5 => compact(&database),
            6 => drop(index(&database, round % 3 == 0)),
            _ => {
                drop(database);
                database = open(&path);
            }
        }
        if round > 8 && round % 2 == 0 {
            index(&database, false);
        }
        asked += compare(&database, &mut random, queries / 60);
    }
    assert!(asked > queries / 2, "{asked}");
    let own = PROLOGUE.sorted_rows(&database, "SELECT ?o { :found :p1 ?o }", &QueryOptions::default());
    assert!(!own.is_empty() && is_sound(&path));
    index(&database, false);
    assert_eq!(index(&database, false).segments, 0);
    drop_words(database.store()).unwrap();
    assert!(index(&database, false).segments > 0);
}

/// Triples in the default graph and in two others.
fn quads(random: &mut Random, count: usize) -> String {
    let mut out = String::new();
    for _ in 0..3 {
        let some = triples(random, count / 3);
        out += &match random.below(3) {
            0 => some,
            graph => format!("GRAPH :g{graph} {{ {some} }} "),
        };
    }
    out
}

/// The best of graphs and of joins, and whatever else.
fn query_of_graphs(random: &mut Random) -> String {
    let (words, predicate) = (words_query(random), random.of(&[":p0", ":p1", ":p0 :p1"]));
    let best = format!("(?s ?sc ?t) text:query ({predicate} \"{words}\")");
    let pattern = match random.below(7) {
        0 => format!("GRAPH :g1 {{ {best} }}"),
        1 => format!("GRAPH ?g {{ {best} }}"),
        2 => format!("{best} . ?s :p2 ?x"),
        3 => format!("GRAPH :g2 {{ {best} . ?s :p2 ?x ; :p1 ?y }}"),
        4 => format!("{best} . ?s :p2 ?x ; :p1 \"fox\""),
        5 => format!("{best} OPTIONAL {{ ?s :p2 ?x }}"),
        _ => return query(random),
    };
    match random.below(3) {
        0 => format!("SELECT ?sc {{ {pattern} }} ORDER BY DESC(?sc) LIMIT {}", 1 + random.below(9)),
        1 => format!(
            "SELECT ?sc ?t {{ {pattern} }} ORDER BY DESC(?sc) STR(?t) LANG(?t) LIMIT {}",
            1 + random.below(9)
        ),
        _ => format!("SELECT * {{ {pattern} }}"),
    }
}

#[test]
fn indexes_of_some_texts_and_the_best_of_graphs_answer_as_reading_does_while_everything_changes() {
    let iris = |names: &[&str]| names.iter().map(|name| format!("http://e/{name}")).collect::<Vec<_>>();
    let queries: usize =
        std::env::var("LODE_TEXT_QUERIES").ok().and_then(|number| number.parse().ok()).unwrap_or(1600);
    let of = [
        WordsOf::default(),
        WordsOf { predicates: iris(&["p0"]), graphs: Vec::new() },
        WordsOf { predicates: iris(&["p1", "nowhere"]), graphs: vec!["default".to_owned()] },
        WordsOf { predicates: Vec::new(), graphs: iris(&["g1"]) },
        WordsOf { predicates: iris(&["p0"]), graphs: iris(&["g1", "none"]) },
    ];
    let mut random = Random(60);
    let mut asked = 0;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let mut database = open(&path);
    PROLOGUE.update(&database, &format!("INSERT DATA {{ {} }}", quads(&mut random, 200)));
    for round in 0..40 {
        match random.below(6) {
            0 => PROLOGUE.update(&database, &format!("INSERT DATA {{ {} }}", quads(&mut random, 60))),
            1 => PROLOGUE.update(&database, &format!("DELETE WHERE {{ :s{} ?p ?o }}", random.below(40))),
            // Texts that are there already come to stand elsewhere.
            2 => PROLOGUE.update(
                &database,
                &format!(
                    "INSERT {{ :moved{round} :p{} ?o GRAPH :g1 {{ :moved{round} :p{} ?o }} }} WHERE {{ ?s :p{} ?o FILTER(STRENDS(STR(?s), \"{}\")) }}",
                    random.below(3),
                    random.below(3),
                    random.below(3),
                    random.below(10)
                ),
            ),
            3 => compact(&database),
            4 => {
                let of = &of[random.below(of.len())];
                keep_words_of(database.store(), of, &Default::default()).unwrap();
                index(&database, false);
                let told = words_of(database.store()).unwrap().unwrap();
                assert_eq!((told.predicates.len(), told.graphs.len()), (of.predicates.len(), of.graphs.len()));
            }
            _ => {
                drop(database);
                database = open(&path);
                index(&database, false);
            }
        }
        for _ in 0..queries / 40 {
            let query = query_of_graphs(&mut random);
            if database.query(&format!("{}{query}", PROLOGUE.0), &QueryOptions::default()).is_ok() {
                let graph = if random.below(3) == 0 { DefaultGraph::Union } else { DefaultGraph::default() };
                PROLOGUE.compared_in(&database, &query, graph);
                asked += 1;
            }
        }
    }
    assert!(asked > queries / 2 && is_sound(&path), "{asked}");
}

#[test]
fn an_index_of_some_texts_is_kept_and_says_where_it_does_not_help() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let mut database = open(&path);
    let many: String = (0..17_000).map(|n| format!(":s{n} :p1 \"cat {n}\" . ")).collect();
    let some: String = (0..600).map(|n| format!(":s{n} :p0 \"red fox {n}\" . ")).collect();
    PROLOGUE.load(&database, &(many + &some));
    let of = WordsOf { predicates: vec!["http://e/p0".to_owned()], graphs: Vec::new() };
    let cancel = Default::default();
    assert!(!keep_words_of(database.store(), &of, &cancel).unwrap());
    let report = index(&database, false);
    assert_eq!((report.segments, report.texts), (1, 600));
    assert!(!keep_words_of(database.store(), &of, &cancel).unwrap());
    assert_eq!(index(&database, false).segments, 0);
    let plan = |database: &Database, predicate: &str, words: &str| {
        let query = format!("SELECT ?s {{ ?s {predicate} ?o FILTER text:matches(?o, '{words}') }}");
        let rows = PROLOGUE.compared(database, &query).len();
        (rows, PROLOGUE.plan(database, &query))
    };
    let is_looked_up = |plan: &str| plan.contains("of the index") || plan.contains("AMONG");
    let warns = |plan: &str| plan.contains("warning: the index of words does not have all texts");
    for round in 0..4 {
        drop(database);
        database = open(&path);
        let (rows, with) = plan(&database, ":p0", "fox AND 7");
        assert!(rows == 1 && is_looked_up(&with) && !warns(&with), "{round}: {with}");
        let (rows, without) = plan(&database, ":p1", "cat AND 7");
        assert!(rows == 1 && !is_looked_up(&without) && warns(&without), "{round}: {without}");
        let (_, anywhere) = plan(&database, "?p", "cat AND 7");
        assert!(!is_looked_up(&anywhere) && warns(&anywhere), "{round}: {anywhere}");
        // Texts that the index does not have come to stand where it helps.
        PROLOGUE
            .update(&database, &format!("INSERT {{ :t{round} :p0 ?o }} WHERE {{ :s{} :p1 ?o }}", round + 90));
        let (rows, with) = plan(&database, ":p0", "cat");
        assert!(rows == round + 1 && is_looked_up(&with) && !warns(&with), "{round}: {with}");
        compact(&database);
        assert_eq!(index(&database, false).segments, 1);
    }
    drop(database);
    let database = open(&path);
    assert_eq!(words_of(database.store()).unwrap(), Some(of));
    assert!(keep_words_of(database.store(), &WordsOf::default(), &cancel).unwrap());
    assert!(!is_looked_up(&plan(&database, ":p0", "fox").1));
    index_words(database.store(), &WordsOptions::default()).unwrap();
    let (_, now) = plan(&database, ":p1", "cat AND 7");
    assert!(is_looked_up(&now) && !warns(&now), "{now}");
}

#[test]
fn plans_tell_what_an_index_found() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(&folder.path().join("db"));
    let many: String = (0..200).map(|n| format!(":s{n} :p0 \"red fox {n}\" . ")).collect();
    PROLOGUE.load(&database, &format!("{many} :t :p0 \"one dog\" ."));
    let plan = |words: &str| {
        PROLOGUE.plan(&database, &format!("SELECT ?s {{ ?s :p0 ?o FILTER text:matches(?o, '{words}') }}"))
    };
    assert!(plan("fox").contains("urn:lodestore:text:matches"), "{}", plan("fox"));
    index(&database, false);
    assert!(plan("fox").contains("AMONG 200") && !plan("fox").contains("matches"), "{}", plan("fox"));
    assert!(
        !plan("dog").contains("matches") && plan("dog").contains("Ids ?o (1 terms of the index)"),
        "{}",
        plan("dog")
    );
    assert!(plan("\"red fox\"").contains("AMONG 200") && plan("\"red fox\"").contains("matches"));
}

#[test]
fn the_best_are_few_texts_of_the_index_and_the_rest_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(&folder.path().join("db"));
    let texts = |n: usize| {
        format!(
            ":s{n} :x :x{} ; :p{} \"fox {}{}\" . ",
            n % 13,
            n % 2,
            "fox ".repeat(n % 7),
            "dog ".repeat(n % 11)
        )
    };
    let many: String = (0..4000).map(texts).collect();
    PROLOGUE.load(&database, &many);
    index(&database, false);
    let plans = |query: &str| {
        PROLOGUE.compared(&database, query);
        PROLOGUE.plan(&database, query)
    };
    let begins = |plan: &str| plan.contains(" terms of the index)") && !plan.contains("AMONG");
    for query in [
        "SELECT ?sc { (?s ?sc) text:query (:p0 \"fox\" 10) }",
        "SELECT ?sc { (?s ?sc) text:query (\"fox -\\\"dog dog\\\"\" 10) }",
        "SELECT ?sc { (?s ?sc) text:query (:p0 \"\\\"fox fox dog\\\"\" 3) }",
        "SELECT (text:score(?t, 'fox') AS ?sc) { ?s :p1 ?t FILTER text:matches(?t, 'fox') } ORDER BY DESC(?sc) LIMIT 3 OFFSET 4",
        "SELECT ?sc { ?s :p1 ?t FILTER text:matches(?t, 'fox') BIND(text:score(?t, 'fox') AS ?sc) } ORDER BY DESC(?sc) LIMIT 3",
    ] {
        let plan = plans(query);
        assert!(begins(&plan), "{query}: {plan}");
    }
    let has_all = |plan: &str| plan.contains("(7") || plan.contains("AMONG 7");
    // What else is asked for decides how many rows a text makes.
    for query in [
        "SELECT ?sc { (?s ?sc) text:query \"fox\" . ?s :p0 ?t FILTER(STRLEN(?t) > 20) } ORDER BY DESC(?sc) LIMIT 3",
        "SELECT ?sc { (?s ?sc) text:query \"fox\" } ORDER BY ?sc LIMIT 3",
        "SELECT (text:score(?t, 'dog') AS ?sc) { ?s :p1 ?t FILTER text:matches(?t, 'fox') } ORDER BY DESC(?sc) LIMIT 3",
    ] {
        let plan = plans(query);
        assert!(has_all(&plan), "{query}: {plan}");
    }
    PROLOGUE.update(&database, "INSERT DATA { GRAPH :g { :s1 :p0 \"fox fox fox fox fox fox fox fox\" } }");
    let plan = plans("SELECT ?sc { (?s ?sc) text:query (:p0 \"fox\" 10) }");
    // What is in a graph that is not asked counts for nothing.
    assert!(begins(&plan) && !plan.contains("(78 "), "{plan}");
    for query in [
        "SELECT ?sc { (?s ?sc) text:query (:p0 \"fox\") . ?s :x ?x } ORDER BY DESC(?sc) LIMIT 5",
        "SELECT ?sc ?x { (?s ?sc) text:query (:p0 \"fox\") . ?s :x :x3 OPTIONAL { ?s :y ?x } } ORDER BY DESC(?sc) LIMIT 5",
        "SELECT ?sc { GRAPH :g { (?s ?sc) text:query (:p0 \"fox\") } } ORDER BY DESC(?sc) LIMIT 1",
        "SELECT ?sc { GRAPH ?g { (?s ?sc) text:query (:p0 \"fox\") } } ORDER BY DESC(?sc) LIMIT 1",
    ] {
        let plan = plans(query);
        assert!(begins(&plan) && !plan.contains("(7"), "{query}: {plan}");
    }
}

#[test]
fn hits_count_in_the_memory_of_the_query() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(&folder.path().join("db"));
    let many: String = (0..20_000).map(|n| format!(":s{n} :p0 \"fox {} {}\" . ", n % 150, n / 150)).collect();
    PROLOGUE.load(&database, &many);
    index(&database, false);
    let query = format!("{}SELECT (COUNT(*) AS ?n) {{ ?s text:query \"fox\" }}", PROLOGUE.0);
    let with = |memory_bytes| {
        let options = QueryOptions { memory_bytes, ..QueryOptions::default() };
        let plan =
            database.prepare(&query, &options).map(|prepared| (prepared.explain(), options.memory_bytes));
        plan.map_err(|error| error.to_string())
    };
    assert!(with(1 << 20).unwrap().0.contains("AMONG 20000"));
    let refused = with(16 << 10).unwrap_err();
    assert!(refused.contains("memory"), "{refused}");
    let answer = PROLOGUE.sorted_rows(
        &database,
        "SELECT (COUNT(*) AS ?n) { ?s text:query \"fox\" }",
        &QueryOptions::default(),
    );
    assert!(answer[0].contains("20000"), "{answer:?}");
}

#[test]
fn a_damaged_index_costs_time_and_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let database = open(&path);
    let mut random = Random(7);
    load_more(&database, &mut random, 200);
    index(&database, false);
    drop(database);
    with_damage(&path, ["words-3.lode", "words-3.perm"], &mut |database| {
        compare(database, &mut random, 60);
    });
}

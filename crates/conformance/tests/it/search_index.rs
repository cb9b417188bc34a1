//! Searches with indexes of words answer as searches that read all texts, while loads, transactions, compactions and other opens change what there is.

use lode_engine::store::load::{LoadOptions, LoadProgress, Source, load};
use lode_engine::store::{CompactOptions, WordsOptions, WordsReport, compact, drop_words, index_words};
use lode_engine::{Database, OpenOptions, QueryOptions, QueryResults, UpdateOptions, check_database};
use lode_rdf::format::RdfFormat;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const PROLOGUE: &str = "PREFIX : <http://e/> PREFIX text: <urn:lodestore:text:> ";
const WORDS: [&str; 16] = [
    "fox", "foxes", "dog", "dogs", "running", "run", "runs", "Café", "cafe", "日本", "日", "häuser", "Haus",
    "don't", "été", "red",
];

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn of(&mut self, things: &[&str]) -> String {
        things[self.below(things.len())].to_owned()
    }
}

fn open(folder: &Path) -> Database {
    Database::create_or_open(folder, &OpenOptions::default()).unwrap()
}

fn sorted_rows(database: &Database, query: &str, options: &QueryOptions) -> Vec<String> {
    let answer = database.query(&format!("{PROLOGUE}{query}"), options);
    let answer = answer.unwrap_or_else(|error| panic!("{query}: {error}"));
    let QueryResults::Solutions(mut solutions) = answer else { panic!("{query}: a SELECT") };
    let rows = solutions.collect_rows().unwrap_or_else(|error| panic!("{query}: {error}"));
    let mut rows: Vec<String> = rows.iter().map(|row| format!("{row:?}")).collect();
    rows.sort();
    rows
}

fn index(database: &Database, force: bool) -> WordsReport {
    let options = WordsOptions { memory_bytes: 1 << 20, threads: 2, force, cancel: Default::default() };
    index_words(database.store(), &options).unwrap()
}

fn is_sound(folder: &Path) -> bool {
    check_database(folder, &Default::default(), &mut |_| {}).unwrap().problems.is_empty()
}

fn literal(random: &mut Random) -> String {
    let words: Vec<String> = (0..random.below(7)).map(|_| random.of(&WORDS)).collect();
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
            out += &random.of(&[" ", " AND ", " OR "]);
        }
        out += &random.of(&["", "", "", "+", "-"]);
        out += &match random.below(7) {
            0 => format!("\\\"{} {}\\\"", random.of(&WORDS), random.of(&WORDS)),
            1 => random.of(&["fo*", "*s", "d?g", "r*n*", "caf*", "h*r", "*a*"]),
            2 => format!("{}~{}", random.of(&["fox", "dgo", "runing"]), 1 + random.below(2)),
            _ => random.of(&WORDS),
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
    let reading = QueryOptions { optimize: false, ..QueryOptions::default() };
    let mut asked = 0;
    for _ in 0..queries {
        let query = query(random);
        if database.query(&format!("{PROLOGUE}{query}"), &QueryOptions::default()).is_err() {
            continue;
        }
        asked += 1;
        let found = sorted_rows(database, &query, &QueryOptions::default());
        assert_eq!(found, sorted_rows(database, &query, &reading), "{query}");
    }
    asked
}

fn load_more(database: &Database, random: &mut Random, count: usize) {
    let text = format!("@prefix : <http://e/> . {}", triples(random, count));
    let source = Source::bytes("more.ttl", text).with_format(RdfFormat::Turtle);
    load(database.store(), vec![source], LoadOptions::default(), &Arc::new(LoadProgress::default())).unwrap();
}

fn update(database: &Database, request: &str) {
    let text = format!("{PROLOGUE}{request}");
    database.update(&text, &UpdateOptions::default()).unwrap_or_else(|error| panic!("{request}: {error}"));
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
            1 | 2 => update(&database, &format!("INSERT DATA {{ {} }}", triples(&mut random, 8))),
            3 => update(&database, &format!("DELETE WHERE {{ :s{} ?p ?o }}", random.below(40))),
            // What a request has made is found by what follows in it.
            4 => update(
                &database,
                &format!(
                    "INSERT DATA {{ :own :p0 \"a fox of round {round}\" }} ; INSERT {{ :found :p1 ?o }} WHERE {{ :own :p0 ?o FILTER text:matches(?o, \"fox AND {round}\") }}"
                ),
            ),
            5 => {
                let options = CompactOptions { force: true, ..CompactOptions::default() };
                compact(database.store(), &options, &Arc::new(LoadProgress::default())).unwrap();
            }
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
    let own = sorted_rows(&database, "SELECT ?o { :found :p1 ?o }", &QueryOptions::default());
    assert!(!own.is_empty() && is_sound(&path));
    index(&database, false);
    assert_eq!(index(&database, false).segments, 0);
    drop_words(database.store()).unwrap();
    assert!(index(&database, false).segments > 0);
}

#[test]
fn plans_tell_what_an_index_found() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(&folder.path().join("db"));
    let many: String = (0..200).map(|n| format!(":s{n} :p0 \"red fox {n}\" . ")).collect();
    let text = format!("@prefix : <http://e/> . {many} :t :p0 \"one dog\" .");
    let source = Source::bytes("all.ttl", text).with_format(RdfFormat::Turtle);
    load(database.store(), vec![source], LoadOptions::default(), &Arc::new(LoadProgress::default())).unwrap();
    let plan = |words: &str| {
        let text = format!("{PROLOGUE} SELECT ?s {{ ?s :p0 ?o FILTER text:matches(?o, '{words}') }}");
        database.prepare(&text, &QueryOptions::default()).unwrap().explain()
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
    let texts =
        |n: usize| format!(":s{n} :p{} \"fox {}{}\" . ", n % 2, "fox ".repeat(n % 7), "dog ".repeat(n % 11));
    let many: String = (0..4000).map(texts).collect();
    let text = format!("@prefix : <http://e/> . {many}");
    let source = Source::bytes("all.ttl", text).with_format(RdfFormat::Turtle);
    load(database.store(), vec![source], LoadOptions::default(), &Arc::new(LoadProgress::default())).unwrap();
    index(&database, false);
    let reading = QueryOptions { optimize: false, ..QueryOptions::default() };
    let plans = |query: &str| {
        let text = format!("{PROLOGUE}{query}");
        let plan = database.prepare(&text, &QueryOptions::default()).unwrap().explain();
        assert_eq!(
            sorted_rows(&database, query, &QueryOptions::default()),
            sorted_rows(&database, query, &reading),
            "{query}"
        );
        plan
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
    update(&database, "INSERT DATA { GRAPH :g { :s1 :p0 \"fox fox fox fox fox fox fox fox\" } }");
    let plan = plans("SELECT ?sc { (?s ?sc) text:query (:p0 \"fox\" 10) }");
    assert!(plan.contains("(78 terms of the index)"), "{plan}");
}

#[test]
fn hits_count_in_the_memory_of_the_query() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(&folder.path().join("db"));
    let many: String = (0..20_000).map(|n| format!(":s{n} :p0 \"fox {} {}\" . ", n % 150, n / 150)).collect();
    let source =
        Source::bytes("all.ttl", format!("@prefix : <http://e/> . {many}")).with_format(RdfFormat::Turtle);
    load(database.store(), vec![source], LoadOptions::default(), &Arc::new(LoadProgress::default())).unwrap();
    index(&database, false);
    let query = format!("{PROLOGUE}SELECT (COUNT(*) AS ?n) {{ ?s text:query \"fox\" }}");
    let with = |memory_bytes| {
        let options = QueryOptions { memory_bytes, ..QueryOptions::default() };
        let plan =
            database.prepare(&query, &options).map(|prepared| (prepared.explain(), options.memory_bytes));
        plan.map_err(|error| error.to_string())
    };
    assert!(with(1 << 20).unwrap().0.contains("AMONG 20000"));
    let refused = with(16 << 10).unwrap_err();
    assert!(refused.contains("memory"), "{refused}");
    let answer =
        sorted_rows(&database, "SELECT (COUNT(*) AS ?n) { ?s text:query \"fox\" }", &QueryOptions::default());
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
    let segment = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with("segment-");
    let segment = std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()).find(segment).unwrap();
    for name in ["words-3.lode", "words-3.perm"] {
        let file = segment.join(name);
        let bytes = std::fs::read(&file).unwrap();
        for step in [5, 3, 2] {
            let mut damaged = bytes.clone();
            let at = damaged.len() / step;
            damaged[at] ^= 0x55;
            std::fs::write(&file, &damaged).unwrap();
            compare(&open(&path), &mut random, 60);
            assert!(!is_sound(&path), "{name} at {at}");
        }
        std::fs::write(&file, &bytes).unwrap();
        assert!(is_sound(&path));
    }
    // Half an index is none.
    std::fs::remove_file(segment.join("words-3.perm")).unwrap();
    compare(&open(&path), &mut random, 20);
}

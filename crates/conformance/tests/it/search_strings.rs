//! Conditions that ask for strings (`CONTAINS`, `REGEX` and so on) answer with indexes of words as without, while what there is changes, and are looked up where that pays.

use crate::indexed::{Prologue, Random, compact, open, with_damage};
use lode_engine::Database;
use lode_engine::store::{WordsOptions, index_words};

const PROLOGUE: Prologue = Prologue("PREFIX : <http://e/> ");
/// What texts are made of, beside letters: words that fold, letters that have several forms, signs within words and between them, scripts without spaces.
const PIECES: [&str; 34] = [
    "fox",
    "Fox",
    "FOX",
    "ox",
    "sea",
    "ſea",
    "SEA",
    "kelvin",
    "\u{212a}elvin",
    "Kelvin",
    "straße",
    "STRASSE",
    "Größe",
    "größe",
    "ΟΔΟΣ",
    "οδος",
    "İstanbul",
    "istanbul",
    "ǅ",
    "東京",
    "京",
    "한국어",
    "слово",
    "СЛОВО",
    "don't",
    "x.y",
    "a:b",
    "3.14",
    "foo_bar",
    "e\u{301}te",
    "été",
    "-",
    "ﬁre",
    "fire",
];

/// A text: a few pieces, and a number that few others have.
fn text(random: &mut Random) -> String {
    let mut out = String::new();
    for _ in 0..random.below(5) {
        out += random.of(&PIECES);
        out += random.of(&[" ", " ", " ", "", "-", ", ", "\\n", "  "]);
    }
    if random.below(400) == 0 {
        // A word that is too long to be one.
        out += &"long".repeat(70 + random.below(3));
    }
    match random.below(3) {
        0 => out,
        1 => format!("{out}{}w{}", random.of(&["", " "]), random.below(700)),
        _ => format!("q{} {out}", random.below(700)),
    }
}

fn triples(random: &mut Random, count: usize) -> String {
    let triple = |random: &mut Random| {
        let tag = random.of(&["", "", "", "@en", "@de", "@zh"]);
        // Objects of :p1 are texts only.
        let predicate = random.below(2);
        match random.below(12) {
            0 if predicate == 0 => format!(":s{} :p0 :fox{} . ", random.below(999), random.below(99)),
            1 if predicate == 0 => format!(":s{} :p0 \"{}\"^^:t . ", random.below(999), text(random)),
            2 if predicate == 0 => format!(":s{} :p0 {} . ", random.below(999), random.below(999)),
            _ => format!(":s{} :p{predicate} \"{}\"{tag} . ", random.below(999), text(random)),
        }
    };
    (0..count).map(|_| triple(random)).collect()
}

/// A string that some text may have.
fn part(random: &mut Random) -> String {
    let whole = match random.below(3) {
        0 => format!("{}w{}", random.of(&["", " ", "fox "]), random.below(700)),
        1 => format!("q{}{}", random.below(700), random.of(&["", " ", " fox", " Größe", " ſ"])),
        _ => text(random).replace("\\n", " "),
    };
    let letters: Vec<char> = whole.chars().collect();
    let start = random.below(letters.len().min(3) + 1);
    let end = letters.len() - random.below(letters.len().min(3) + 1).min(letters.len() - start);
    letters[start..end].iter().take(40).collect()
}

fn condition(random: &mut Random) -> String {
    let part = part(random);
    let of = random.of(&["?o", "?o", "STR(?o)", "LCASE(?o)", "LCASE(STR(?o))", "UCASE(?o)"]);
    let lower = if of.starts_with("LCASE") && random.below(3) > 0 { part.to_lowercase() } else { part };
    let escaped = lower.replace('.', "[.]").replace('-', "\\\\-");
    match random.below(9) {
        0 | 1 => format!("CONTAINS({of}, \"{lower}\")"),
        2 => format!("STRENDS({of}, \"{lower}\")"),
        3 => format!("STRSTARTS({of}, \"{lower}\")"),
        4 => format!("{of} = \"{lower}\""),
        5 => format!("REGEX({of}, \"{escaped}\", \"{}\")", random.of(&["", "i", "s", "m", "x"])),
        6 => format!(
            "REGEX({of}, \"{}{escaped}{}\", \"{}\")",
            random.of(&["^", "", "(a|fo)?", "[a-z]+", "(?:x|q)"]),
            random.of(&["$", "", "+", ".*w[0-9]", "{2}", "?", "|fox w7"]),
            random.of(&["", "i", "im"])
        ),
        7 => format!("(CONTAINS(?o, \"{lower}\") || CONTAINS(STR(?o), \"w{}\"))", random.below(700)),
        _ => format!("REGEX({of}, \"{lower}\", \"{}\")", random.of(&["q", "iq"])),
    }
}

fn index(database: &Database) {
    index_words(database.store(), &WordsOptions { threads: 2, ..WordsOptions::default() }).unwrap();
}

fn is_looked_up(database: &Database, query: &str) -> bool {
    let plan = PROLOGUE.plan(database, query);
    plan.contains("AMONG") || plan.contains("terms of the index")
}

#[test]
fn indexes_of_words_find_strings_as_reading_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let mut database = open(&path);
    let mut random = Random(54);
    let queries: usize =
        std::env::var("LODE_TEXT_QUERIES").ok().and_then(|number| number.parse().ok()).unwrap_or(240);
    let (mut looked_up, mut found) = (0, 0);
    PROLOGUE.load(&database, &triples(&mut random, 14_000));
    index(&database);
    for round in 0..12 {
        match round % 6 {
            1 => PROLOGUE.load(&database, &triples(&mut random, 200)),
            2 => PROLOGUE.update(&database, &format!("INSERT DATA {{ {} }}", triples(&mut random, 40))),
            3 => PROLOGUE.update(&database, &format!("DELETE WHERE {{ :s{} ?p ?o }}", random.below(999))),
            4 => {
                drop(database);
                database = open(&path);
            }
            5 => {
                compact(&database);
                index(&database);
            }
            _ => {}
        }
        for _ in 0..queries / 12 {
            let (was_looked_up, has_rows) = compare(&database, &mut random);
            looked_up += usize::from(was_looked_up);
            found += usize::from(has_rows);
        }
    }
    assert!(looked_up > queries / 6 && found > queries / 3, "{looked_up} {found} of {queries}");
    drop(database);
    // A damaged index costs time and no answer.
    with_damage(&path, ["words-3.lode", "words-3.perm"], &mut |database| {
        for _ in 0..6 {
            compare(database, &mut random);
        }
    });
}

/// Asks a random query with and without the index: whether it was looked up, and whether it has rows.
fn compare(database: &Database, random: &mut Random) -> (bool, bool) {
    let (predicate, condition) = (random.of(&[":p0", ":p1", "?p"]), condition(random));
    let other = match random.below(4) {
        0 => format!(" && CONTAINS(?o, \"{}\")", random.of(&["o", "e", " ", "q", "w", ""])),
        _ => String::new(),
    };
    let query = format!("SELECT ?s ?o {{ ?s {predicate} ?o FILTER(({condition}){other}) }}");
    let was_looked_up = is_looked_up(database, &query);
    let found = PROLOGUE.compared(database, &query);
    (was_looked_up, !found.is_empty())
}

#[test]
fn strings_are_looked_up_where_that_pays() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(&folder.path().join("db"));
    let many: String = (0..9000)
        .map(|n| format!(":s{n} :p \"Text {n} of a reader\"@en ; :few \"{}\" ; :any {n} . ", n % 7))
        .collect();
    PROLOGUE.load(&database, &format!("{many} :s1 :any \"Text 8999 too\" ."));
    let query =
        |predicate: &str, condition: &str| format!("SELECT ?s {{ ?s {predicate} ?o FILTER({condition}) }}");
    let other = "SELECT ?o { ?s :p ?o FILTER(STRLEN(?o) > 2 && CONTAINS(?o, \"t 899\")) }";
    assert!(!is_looked_up(&database, other));
    index(&database);
    for condition in [
        "CONTAINS(?o, \"t 899\")",
        "CONTAINS(LCASE(STR(?o)), \" 8997 of\")",
        "REGEX(STR(?o), \"TEXT 899[0-9] of\", \"i\")",
        "LCASE(?o) = \"text 17 of a reader\"",
        "STRENDS(?o, \"1234 of a reader\")",
        "CONTAINS(?o, \"xylophone\")",
        "CONTAINS(?o, \"8997\") || REGEX(?o, \"8998|8999\")",
        "CONTAINS(?o, \"899\") && STRLEN(?o) > 3",
    ] {
        assert!(is_looked_up(&database, &query(":p", condition)), "{condition}");
    }
    for (predicate, condition) in [
        // All texts have it, nearly all, or nobody knows.
        (":p", "CONTAINS(?o, \"eade\")"),
        (":p", "CONTAINS(?o, \"1\")"),
        (":p", "CONTAINS(?o, \"!\")"),
        (":p", "CONTAINS(?o, \"\")"),
        (":p", "CONTAINS(?o, \"8997\") || STRLEN(?o) < 3"),
        (":p", "CONTAINS(UCASE(?o), \"8997\")"),
        (":p", "!CONTAINS(?o, \"8997\")"),
        // What is no text has a text, too.
        (":any", "CONTAINS(STR(?o), \"8999\")"),
        ("?p", "CONTAINS(STR(?o), \"8999\")"),
    ] {
        assert!(!is_looked_up(&database, &query(predicate, condition)), "{predicate} {condition}");
    }
    // Of many conditions on a text some are enough.
    let readers: String = (0..50).map(|_| " && CONTAINS(?o, \"eade\")").collect();
    let all = query(":p", &format!("CONTAINS(?o, \"8997\"){readers}"));
    assert!(is_looked_up(&database, &all) && PROLOGUE.compared(&database, &all).len() == 1);
    let all = query(":p", &readers[4..]);
    assert!(!is_looked_up(&database, &all) && PROLOGUE.compared(&database, &all).len() == 9000);
    assert!(!is_looked_up(&database, "SELECT ?o { :s1 :p ?o FILTER(CONTAINS(?o, \"8997\")) }"));
    assert!(is_looked_up(&database, &query(":any", "CONTAINS(?o, \"8999\")")));
    let any = PROLOGUE.compared(&database, &query(":any", "CONTAINS(STR(?o), \"8999\")"));
    assert_eq!(any.len(), 2);
}

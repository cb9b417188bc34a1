//! The service as a whole: what it offers over some data, what it tells, and that no text makes it fail.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod texts;

use lode_assist::{Assist, Completion, Form, ItemKind};
use lode_engine::{CancelToken, Database, QueryOptions, QueryResults, UpdateOptions};
use std::sync::Arc;
use std::time::Duration;

const DATA: &str = r#"
    PREFIX foaf: <http://xmlns.com/foaf/0.1/>
    PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
    PREFIX ex: <http://example.org/>
    INSERT DATA {
        ex:ann a foaf:Person ; foaf:name "Ann Arbor" ; foaf:knows ex:bob, ex:cid ; ex:age 41 .
        ex:bob a foaf:Person ; foaf:name "Bob" ; foaf:knows ex:ann ; rdfs:comment "plays *loud*" .
        ex:cid a foaf:Agent ; foaf:name "Cid"@en .
        ex:rome a ex:City ; rdfs:label "Rome"@en, "Roma"@it ; ex:mayor ex:bob .
        foaf:knows rdfs:label "is acquainted with" .
        GRAPH ex:log { ex:ann ex:seen "2026-11-22" } }"#;

fn database() -> Arc<Database> {
    let database = Database::in_memory().unwrap();
    database.update(DATA, &UpdateOptions::default()).unwrap();
    Arc::new(database)
}

/// With more time than any machine needs.
fn over(database: Arc<Database>) -> Assist {
    Assist::new(database).within(Duration::from_secs(20))
}

/// Slow machines are no reason to fail.
fn options() -> QueryOptions {
    QueryOptions { cancel: CancelToken::new(Some(Duration::from_secs(20))), ..QueryOptions::default() }
}

/// What is offered at the mark `|`, as far as there was time; until all of it was.
fn complete(assist: &Assist, marked: &str) -> Completion {
    let position = marked.find('|').unwrap();
    let text = marked.replacen('|', "", 1);
    let mut tries = (0..5).map(|_| assist.complete(&text, position, 50, &options()).unwrap());
    let first = tries.next().unwrap();
    tries.fold(first, |last, next| if last.incomplete { next } else { last })
}

fn labels(completion: &Completion) -> Vec<&str> {
    completion.items.iter().map(|item| item.label.as_str()).collect()
}

fn of_kind(completion: &Completion, kind: ItemKind) -> Vec<&str> {
    completion.items.iter().filter(|item| item.kind == kind).map(|item| item.label.as_str()).collect()
}

const PREFIXES: &str = "PREFIX ex: <http://example.org/> ";

#[test]
fn predicates_are_those_that_the_other_patterns_allow() {
    let assist = over(database());
    let found = complete(&assist, "SELECT * { ?s | }");
    assert_eq!(labels(&found).first(), Some(&"a"), "{found:?}");
    let all = of_kind(&found, ItemKind::Predicate);
    assert!(all.contains(&"foaf:name") && all.contains(&"<http://example.org/mayor>"), "{found:?}");
    // Only in a named graph.
    assert!(!all.contains(&"<http://example.org/seen>"), "{found:?}");
    let cities = complete(&assist, &format!("{PREFIXES}SELECT * {{ ?s a ex:City ; |"));
    assert_eq!(of_kind(&cities, ItemKind::Predicate), ["a", "rdfs:label", "ex:mayor"], "{cities:?}");
    let named = complete(&assist, "SELECT * { ?s foaf:n| }");
    // The second has the letter inside.
    assert_eq!(labels(&named), ["foaf:name", "foaf:knows"]);
    let item = &named.items[0];
    assert_eq!((named.from, named.to, item.count), (14, 20, Some(3)));
    assert_eq!(item.prefix.as_ref().unwrap().iri, "http://xmlns.com/foaf/0.1/");
    // By its label.
    assert_eq!(labels(&complete(&assist, "SELECT * { ?s acq| }")), ["foaf:knows"]);
    // In a graph.
    let seen = complete(&assist, &format!("{PREFIXES}SELECT * {{ GRAPH ?g {{ ?s | }} }}"));
    assert_eq!(of_kind(&seen, ItemKind::Predicate), ["ex:seen"], "{seen:?}");
    // In a path, in an OPTIONAL, in an EXISTS and in a sub-select.
    let path = complete(&assist, &format!("{PREFIXES}SELECT * {{ ex:rome ex:mayor/| ?o }}"));
    assert_eq!(of_kind(&path, ItemKind::Predicate), ["a", "foaf:name", "foaf:knows", "rdfs:comment"]);
    for text in [
        "SELECT * { ?s a ex:City OPTIONAL { ?s ex:m| } }",
        "SELECT * { ?s a ex:City FILTER EXISTS { ?s ex:m| ?o } }",
        // With it no city would be left.
        "SELECT * { ?s a ex:City FILTER NOT EXISTS { ?s ex:m| ?o } }",
        "SELECT * { ?s a ex:City { SELECT ?s { ?s ex:m| ?o } } }",
        "SELECT * { ?s a ex:City { ?s ex:a| ?o } UNION { ?s ex:m ?o } }",
    ] {
        let found = complete(&assist, &format!("{PREFIXES}{text}"));
        let expected: &[&str] = if text.contains("NOT") { &[] } else { &["ex:mayor"] };
        assert_eq!(of_kind(&found, ItemKind::Predicate), expected, "{text}");
    }
}

#[test]
fn classes_objects_subjects_and_graphs() {
    let assist = over(database());
    let classes = complete(&assist, "SELECT * { ?s a | }");
    assert_eq!(
        of_kind(&classes, ItemKind::Class),
        ["foaf:Person", "foaf:Agent", "<http://example.org/City>"],
        "{classes:?}"
    );
    let aged = complete(&assist, &format!("{PREFIXES}SELECT * {{ ?s ex:age ?a ; a | }}"));
    assert_eq!(of_kind(&aged, ItemKind::Class), ["foaf:Person"]);
    let known = complete(&assist, &format!("{PREFIXES}SELECT * {{ ex:ann foaf:knows | }}"));
    assert_eq!(of_kind(&known, ItemKind::Term), ["ex:bob", "ex:cid"], "{known:?}");
    let named = complete(&assist, "SELECT * { ?s foaf:name \"A| }");
    assert_eq!(labels(&named), ["\"Ann Arbor\""]);
    // A subject by its label, and by how its IRI begins.
    let rome = complete(&assist, &format!("{PREFIXES}SELECT * {{ rom| ex:mayor ?m }}"));
    assert_eq!(of_kind(&rome, ItemKind::Term), ["ex:rome"], "{rome:?}");
    assert_eq!(rome.items.last().unwrap().detail.as_deref(), Some("Rome"));
    let subject = complete(&assist, &format!("{PREFIXES}SELECT * {{ ex:a| foaf:knows ?o }}"));
    assert_eq!(of_kind(&subject, ItemKind::Term), ["ex:ann"]);
    let iri = complete(&assist, "SELECT * { <http://example.org/a| ?p ?o }");
    assert_eq!(labels(&iri), ["<http://example.org/ann>"]);
    let graphs = complete(&assist, &format!("{PREFIXES}SELECT * {{ GRAPH | {{ ?s ex:seen ?o }} }}"));
    assert_eq!(of_kind(&graphs, ItemKind::Graph), ["ex:log"]);
    let from = complete(&assist, &format!("{PREFIXES}SELECT * FROM | {{ ?s ?p ?o }}"));
    assert_eq!(of_kind(&from, ItemKind::Graph), ["ex:log"]);
}

#[test]
fn what_is_offered_gives_answers() {
    let database = database();
    let assist = over(Arc::clone(&database));
    for text in [
        "SELECT * { ?s a foaf:Person ; | ?o }",
        "SELECT * { ?s foaf:knows ?o . ?o | ?x }",
        "SELECT * { ?s foaf:knows ?o . ?o a | }",
        "SELECT * { ?s | ?o . ?o foaf:name ?n FILTER(?n = \"Bob\") }",
        "SELECT * { ?s foaf:knows | . ?s foaf:name \"Bob\" }",
    ] {
        let found = complete(&assist, text);
        assert!(!found.items.is_empty(), "{text}");
        for item in &found.items {
            let whole = text.replacen('|', &item.insert, 1);
            let whole = format!(
                "PREFIX foaf: <http://xmlns.com/foaf/0.1/> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> {whole}"
            );
            let QueryResults::Solutions(mut rows) = database.query(&whole, &options()).unwrap() else {
                panic!()
            };
            assert!(!rows.collect_rows().unwrap().is_empty(), "{whole}");
        }
    }
}

#[test]
fn words_variables_and_prefixes() {
    let assist = over(database());
    let all =
        |text: &str| labels(&complete(&assist, text)).iter().map(|l| (*l).to_owned()).collect::<Vec<_>>();
    assert_eq!(all("SEL|")[0], "SELECT");
    assert_eq!(all("SELECT ?s { ?s ?p ?o } ORD|"), ["ORDER BY"]);
    assert_eq!(all("SELECT ?name ?n| { ?s ?p ?name ; ?q ?nil }"), ["?name", "?nil"]);
    assert_eq!(all("SELECT * { ?s ?p ?o FILTER(STRL|) }")[0], "STRLEN");
    assert!(all("SELECT (COU| AS ?n) { ?s ?p ?o }").contains(&"COUNT".to_owned()));
    assert_eq!(all("PREFIX foa|")[0], "foaf:");
    let declared = complete(&assist, "PREFIX foaf: |");
    assert_eq!(declared.items[0].insert, "<http://xmlns.com/foaf/0.1/>");
    assert!(all("SELECT * { foa| }").contains(&"foaf:".to_owned()));
    assert_eq!(all("SELECT * { ?s ?p \"1\"^^xsd:int| }"), ["xsd:integer"]);
    assert!(all("SELECT * { ?s ?p ?o } # com|ment").is_empty());
    // Without data the language is left.
    let none = Assist::without_data();
    assert_eq!(labels(&complete(&none, "SELECT * { ?s ?p ?o . OPT|")), ["OPTIONAL"]);
    assert_eq!(of_kind(&complete(&none, "SELECT * { ?s ?p | }"), ItemKind::Variable), ["?s", "?p"]);
}

#[test]
fn hover_tells_what_is_known() {
    let assist = over(database());
    let text =
        "PREFIX ex: <http://example.org/> SELECT (STRLEN(?n) AS ?l) { ex:rome a ?c . ?s ex:mayor ex:bob }";
    let at = |what: &str| assist.hover(text, text.rfind(what).unwrap() + 1, &options()).unwrap();
    let rome = at("ex:rome").unwrap();
    assert_eq!((rome.iri.as_deref(), rome.label.as_deref()), (Some("http://example.org/rome"), Some("Rome")));
    assert_eq!(rome.types[0].iri, "http://example.org/City");
    let counts = rome.counts.unwrap();
    assert_eq!((counts.subject, counts.predicate, counts.object, counts.graph), (4, 0, 0, 0));
    let bob = at("ex:bob").unwrap();
    assert!(bob.text.contains("plays \\*loud\\*") && bob.text.contains("subject of 4"), "{}", bob.text);
    assert!(at("STRLEN").unwrap().text.contains("STRLEN(string)"));
    assert!(at("SELECT").unwrap().iri.is_none());
    assert_eq!((at("?c"), at("{ ")), (None, None));
    let unknown = assist.hover("ASK { <a:nobody> ?p ?o }", 8, &options()).unwrap().unwrap();
    assert!(unknown.text.contains("in no quad"), "{}", unknown.text);
}

#[test]
fn where_all_takes_too_long_the_nearest_patterns_are_asked() {
    let database = Database::in_memory().unwrap();
    let data: String = (0..3_000)
        .map(|i| {
            format!(
                "<http://e/a{i}> <http://e/p> {i} ; <http://e/q> 'x' . <http://e/b{i}> <http://e/r> {i} . "
            )
        })
        .collect();
    database.update(&format!("INSERT DATA {{ {data} }}"), &UpdateOptions::default()).unwrap();
    let assist = Assist::new(Arc::new(database)).within(Duration::from_secs(3));
    let slow =
        "?a ?b ?c . ?d ?e ?f . ?g ?h ?i FILTER(STRLEN(STR(?c)) + STRLEN(STR(?f)) + STRLEN(STR(?i)) < 0)";
    let found = complete(&assist, &format!("SELECT * {{ ?s | ?o . ?s <http://e/q> ?x . {slow} }}"));
    let offered = of_kind(&found, ItemKind::Predicate);
    assert_eq!(offered.len(), 2, "{found:?}");
    assert!(offered.contains(&"<http://e/p>") && offered.contains(&"<http://e/q>"), "{found:?}");
    let mut predicates = found.items.iter().filter(|item| item.kind == ItemKind::Predicate);
    assert!(found.incomplete && predicates.all(|item| item.unproven), "{found:?}");
    let quick = complete(&assist, "SELECT * { ?s | ?o . ?s <http://e/q> ?x }");
    assert!(quick.items.iter().all(|item| !item.unproven), "{quick:?}");
}

#[test]
fn marks_and_prefixes() {
    let assist = over(database());
    let text = "SELECT * { ?s foaf:name ?n }";
    let checked = assist.check(text, Form::Query, &options());
    let error = &checked.errors[0];
    assert_eq!(&text[error.from..error.to], "foaf:");
    assert!(error.help.as_ref().unwrap().contains("PREFIX foaf:"));
    let text = "SELECT * { ?s ?p ?o FILTER(<http://no.such/f>(?o)) }";
    let warning = &assist.check(text, Form::Query, &options()).warnings[0];
    assert_eq!(&text[warning.from..warning.to], "<http://no.such/f>");
    assert_eq!(assist.check("CLEAR ALL", Form::Update, &options()), lode_assist::Checked::default());
    let text = "PREFIX foaf: <http://xmlns.com/foaf/0.1/> DELETE WHERE { ?s foaf:nmae ?o }";
    let checked = assist.check(text, Form::Update, &options());
    let warning = &checked.warnings[0];
    assert_eq!((&text[warning.from..warning.to], checked.warnings.len()), ("foaf:nmae", 1));
    let names: Vec<String> =
        assist.prefixes(&options()).unwrap().into_iter().map(|prefix| prefix.name).collect();
    assert_eq!(names, ["foaf", "rdf", "rdfs"]);
}

#[test]
fn marks_are_where_the_mistake_stands() {
    let assist = over(database());
    let part = |text: &str, mark: &lode_assist::Mark| {
        let units: Vec<u16> = text.encode_utf16().collect();
        let by_units = String::from_utf16_lossy(&units[mark.from..mark.to]);
        assert_eq!(&text[mark.span.start..mark.span.end], by_units, "{text}");
        let line = text.lines().nth(mark.line - 1).unwrap();
        let rest: String = line.chars().skip(mark.column - 1).collect();
        assert!(rest.starts_with(by_units.lines().next().unwrap_or("")), "{text}");
        (by_units, mark.line, mark.column)
    };
    let smile = "# \u{1F600}\n";
    for (text, marked, line, column, code) in [
        // A misspelt predicate, class, graph; written in full, or by a prefix, which stands in a string and a comment, too.
        ("SELECT * { ?s foaf:nmae '\u{1F600}' , ?n }", "foaf:nmae", 3, 15, "unknown-constant"),
        (
            "SELECT * { ?s ?p '\u{1F600}'. ?s <http://xmlns.com/foaf/0.1/nmae> ?n }",
            "<http://xmlns.com/foaf/0.1/nmae>",
            3,
            26,
            "unknown-constant",
        ),
        ("SELECT * { ?s ?p 'foaf:nmae' . ?s foaf:nmae ?n }", "foaf:nmae", 3, 35, "unknown-constant"),
        ("SELECT * {\n  ?s ?p '\u{1F600}' ; a foaf:Persn }", "foaf:Persn", 4, 17, "unknown-constant"),
        (
            "SELECT * { ?s ?p ?o FILTER('\u{1F600}' != ?o && foaf:age(?o)) }",
            "foaf:age",
            3,
            41,
            "unknown-function",
        ),
        ("SELECT * { ?s ?p ?o FILTER(?o != '(' && REGEX('\u{1F600}', '(')) }", "'('", 3, 52, "no-pattern"),
    ] {
        let text = format!("{smile}PREFIX foaf: <http://xmlns.com/foaf/0.1/> # foaf:nmae \u{1F600}\n{text}");
        let checked = assist.check(&text, Form::Query, &options());
        assert_eq!(checked.errors, []);
        let warning = checked.warnings.first().unwrap_or_else(|| panic!("no warning: {text}"));
        assert_eq!(part(&text, warning), (marked.to_owned(), line, column), "{text}");
        assert_eq!(warning.code.as_deref(), Some(code), "{text}");
    }
    let meant = assist.check("SELECT * { ?s <http://xmlns.com/foaf/0.1/nmae> ?n }", Form::Query, &options());
    assert_eq!(meant.warnings[0].help.as_deref(), Some("<http://xmlns.com/foaf/0.1/name> has 3"));
    let text = format!("{smile}SELECT ?s {{ ?s ?p '\u{1F600}' ; foaf:name ?n FLTER(?n = 1) }}");
    let checked = assist.check(&text, Form::Query, &options());
    let found: Vec<_> = checked.errors.iter().map(|error| part(&text, error)).collect();
    assert_eq!(found, [("foaf:".to_owned(), 2, 25), ("FLTER".to_owned(), 2, 38)]);
    // It is of the text as a whole.
    let deep = format!("SELECT * {{ ?s ?p ?o FILTER({}1) }}", "1+".repeat(3_000));
    let whole = &assist.check(&deep, Form::Query, &options()).errors[0];
    assert_eq!((whole.from, whole.to, whole.line, whole.column), (0, 0, 0, 0), "{whole:?}");
}

#[test]
fn a_call_that_is_cancelled_says_so() {
    let assist = over(database());
    let options = options();
    options.cancel.cancel();
    assert!(assist.complete("SELECT * { ?s ", 14, 50, &options).is_err());
}

#[test]
fn changes_are_seen() {
    let database = database();
    let assist = over(Arc::clone(&database));
    complete(&assist, "SELECT * { ?s | }");
    let update = "INSERT DATA { <http://example.org/new> <http://example.org/fresh> 1 }";
    database.update(update, &UpdateOptions::default()).unwrap();
    let seen = |_| {
        std::thread::sleep(Duration::from_millis(20));
        labels(&complete(&assist, "SELECT * { ?s <http://example.org/f| }")).len() == 1
    };
    assert!((0..500).any(seen));
}

#[test]
fn labels_are_found_by_any_word_where_words_have_an_index() {
    use lode_engine::store::load::LoadProgress;
    use lode_engine::store::{CompactOptions, WordsOptions, compact, index_words};
    let database = Database::in_memory().unwrap();
    let label = "<http://www.w3.org/2000/01/rdf-schema#label>";
    // More texts that begin as was typed than are looked at, none of them a label.
    let mut data: String =
        (0..400).map(|i| format!("<http://e/note{i:03}> <http://e/note> 'Love {i:03}' . ")).collect();
    data += &format!(
        "<http://e/one> {label} 'Love zones' . <http://e/two> {label} 'Ada Lovelace' . \
         <http://e/three> {label} 'Amphibien'@de, 'Un \u{e9}l\u{e9}phant'@fr . <http://e/four> {label} 'glove' . _:b {label} 'Love b' . \
         <http://e/five> a <http://e/Class> ; {label} 'Ada and Bob' . <http://e/Class> {label} 'A class of loved ones' . \
         <http://e/six> <http://e/likes> <http://e/two>, <http://e/three>"
    );
    database.update(&format!("INSERT DATA {{ {data} }}"), &UpdateOptions::default()).unwrap();
    let database = Arc::new(database);
    let offered = |marked: &str| {
        let assist = over(Arc::clone(&database));
        let found = complete(&assist, marked);
        let iris = found.items.iter().filter_map(|item| item.iri.clone());
        iris.filter_map(|iri| Some(iri.strip_prefix("http://e/")?.to_owned())).collect::<Vec<_>>()
    };
    let typed = "SELECT * { lov| ?p ?o }";
    let compacting = CompactOptions { force: true, ..CompactOptions::default() };
    compact(database.store(), &compacting, &Arc::new(LoadProgress::default())).unwrap();
    // Without an index labels are found that begin so, as far as texts that do are looked at.
    assert!(!offered(typed).iter().any(|found| found == "one" || found == "two"));
    let options =
        WordsOptions { memory_bytes: 1 << 20, threads: 1, force: false, cancel: CancelToken::default() };
    assert_eq!(index_words(database.store(), &options).unwrap().segments, 1);
    // Labels that begin so before those with a word that does.
    assert_eq!(offered(typed), ["one", "two", "Class"]);
    assert_eq!(offered("SELECT * { elep| ?p ?o }"), ["three"]);
    assert_eq!(offered("SELECT * { ?s a lov| }"), ["Class"]);
    // Of what the patterns give, too, and nothing else.
    assert_eq!(offered("SELECT * { ?s <http://e/likes> lov| }"), ["two"]);
    assert_eq!(offered("SELECT * { ?s <http://e/likes> elep| }"), ["three"]);
    assert_eq!(offered("SELECT * { ada_bo| ?p ?o }"), ["five"]);
    for nothing in ["and", "or", "zz", "__"] {
        let found = offered(&format!("SELECT * {{ {nothing}| ?p ?o }}"));
        assert!(found.iter().all(|found| found == "five"), "{nothing}: {found:?}");
    }
    let new = format!("INSERT DATA {{ <http://e/six> {label} 'Everything that lovers do' }}");
    database.update(&new, &UpdateOptions::default()).unwrap();
    assert!(offered(typed).contains(&"six".to_owned()));
}

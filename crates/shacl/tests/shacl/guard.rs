//! Shapes as a guard: whatever way a change takes, the data conform after it, or it is refused and nothing was changed.

use crate::support::{PREFIXES, database, shapes};
use lode_engine::store::load::{LoadOptions, LoadProgress, Source, load};
use lode_engine::{
    CancelToken, Database, Document, DocumentBody, EngineError, GraphRules, GraphSet, QueryOptions,
    QueryResults, UpdateOptions, UploadOptions, UploadTarget,
};
use lode_rdf::RdfFormat;
use lode_rdf::parse::StatementLimit;
use lode_shacl::{ValidateOptions, guard};
use std::io::Cursor;
use std::sync::Arc;
use std::time::Duration;

const SHAPES: &str = ":S sh:targetClass :C ; sh:property [ sh:path :p ; sh:minCount 1 ; sh:maxCount 1 ] , \
    [ sh:path :q ; sh:maxCount 1 ; sh:severity sh:Warning ] .";

/// A guarded database; what is committed was validated before, or was not.
fn guarded_by(text: &str, data: &str, is_validated: bool) -> Database {
    let database = database(data);
    let check = guard(shapes(text).unwrap().into(), ValidateOptions::default());
    if is_validated {
        // What that says decides what is looked at later.
        let _ = check.run(&database.snapshot(), &CancelToken::default());
    }
    database.store().check_commits(check).unwrap();
    database
}

fn guarded(data: &str) -> Database {
    guarded_by(SHAPES, data, data.len().is_multiple_of(2))
}

fn update(database: &Database, request: &str) -> Result<(), EngineError> {
    let text = format!("PREFIX : <http://e/> {request}");
    database.update(&text, &UpdateOptions::default()).map(drop)
}

fn rows(database: &Database, pattern: &str) -> usize {
    let text = format!("PREFIX : <http://e/> SELECT * {{ {pattern} }}");
    let QueryResults::Solutions(mut solutions) = database.query(&text, &QueryOptions::default()).unwrap()
    else {
        panic!("a SELECT")
    };
    solutions.collect_rows().unwrap().len()
}

fn refused<T>(outcome: Result<T, EngineError>) -> String {
    match outcome {
        Err(EngineError::Refused(report)) => report,
        Err(error) => panic!("{error:?}"),
        Ok(_) => panic!("it was committed"),
    }
}

#[test]
fn updates_that_violate_are_refused_with_a_report() {
    let database = guarded(":a a :C ; :p 1 .");
    // The first transaction after a load begins a log.
    update(&database, "DELETE DATA { :x :y :z }").unwrap();
    let version = database.snapshot().version_number();
    for request in [
        "INSERT DATA { :b a :C }",
        "INSERT DATA { :a :p 2 }",
        "DELETE DATA { :a :p 1 }",
        "DELETE WHERE { :a :p ?o }",
        "INSERT { ?s :p 2 } WHERE { ?s a :C }",
        "INSERT DATA { :b a :C ; :p 1 } ; INSERT DATA { :c a :C }",
        "INSERT DATA { GRAPH :g { :x a :C } } ; ADD :g TO DEFAULT",
        "INSERT DATA { :x a :C } ; CLEAR GRAPH :g",
    ] {
        let report = refused(update(&database, request));
        assert!(
            report.contains("1 violation; nothing was changed") && report.contains("sh:conforms false"),
            "{report}"
        );
    }
    assert_eq!((database.snapshot().version_number(), rows(&database, "?s ?p ?o")), (version, 2));
    for request in [
        "INSERT DATA { :b a :C ; :p 1 }",
        "DELETE DATA { :a :p 1 } ; INSERT DATA { :a :p 2 }",
        "INSERT DATA { :a :q 1, 2 }",
        "INSERT DATA { GRAPH :g { :x a :C } }",
        "DELETE WHERE { :a ?p ?o }",
        "CLEAR ALL",
        "CLEAR ALL",
    ] {
        update(&database, request).unwrap();
    }
    assert_eq!(rows(&database, "?s ?p ?o"), 0);
}

fn upload(database: &Database, turtle: &str, is_stream: bool, replace: bool) -> Result<(), EngineError> {
    let text = format!("{PREFIXES}{turtle}").into_bytes();
    let body = if is_stream {
        DocumentBody::Stream(Box::new(Cursor::new(text)))
    } else {
        DocumentBody::Bytes(text.into())
    };
    let document = Document { name: "body".into(), format: RdfFormat::Turtle, body, unpacked_max: None };
    let options = UploadOptions {
        target: UploadTarget::Graph(None),
        condition: None,
        graphs: GraphRules::default(),
        replace,
        base_iri: None,
        cancel: CancelToken::default(),
        transaction_quads_max: 10,
        memory_bytes: 1 << 30,
        memory: None,
        threads: 1,
        statement_limit: StatementLimit::default(),
    };
    database.upload(vec![document], &options).map(drop)
}

#[test]
fn no_other_way_leads_past_it() {
    let database = guarded(":a a :C ; :p 1 .");
    let many: String = (0..50).map(|n| format!(":n{n} a :C ; :p {n} .\n")).collect();
    for is_stream in [false, true] {
        for replace in [false, true] {
            refused(upload(&database, ":b a :C .", is_stream, replace));
            refused(upload(&database, &format!("{many}:b a :C ."), is_stream, replace));
        }
        assert_eq!(rows(&database, "?s ?p ?o"), 2);
    }
    upload(&database, &many, true, false).unwrap();
    assert_eq!(rows(&database, "?s a :C"), 51);
    upload(&database, ":a a :C ; :p 1 .", false, true).unwrap();

    let options = UpdateOptions::default();
    let mut open = database.begin(&options.evaluation).unwrap();
    open.update("DELETE WHERE { ?s <http://e/p> ?o }", &options).unwrap();
    refused(open.commit());
    let mut open = database.begin(&options.evaluation).unwrap();
    open.update("DELETE WHERE { ?s <http://e/p> ?o }", &options).unwrap();
    open.update("INSERT DATA { <http://e/a> <http://e/p> 7 }", &options).unwrap();
    open.commit().unwrap();

    let source = Source::bytes("bulk", "<http://e/b> a <http://e/C> .").with_format(RdfFormat::Turtle);
    let loaded =
        load(database.store(), vec![source], LoadOptions::default(), &Arc::new(LoadProgress::default()));
    assert!(loaded.unwrap_err().to_string().contains("bulk load"));
    assert_eq!((rows(&database, "?s ?p ?o"), rows(&database, ":a :p 7")), (2, 1));
}

#[test]
fn a_report_is_for_who_may_read_all() {
    let database = guarded(":secret a :C .");
    let open = GraphSet::of(["http://e/open".parse().unwrap()]);
    let graphs = GraphRules { read: open.clone(), write: open };
    let evaluation = QueryOptions { graphs: graphs.clone(), ..QueryOptions::default() };
    let options = UpdateOptions { evaluation, ..UpdateOptions::default() };
    let request = "INSERT DATA { GRAPH <http://e/open> { <http://e/a> <http://e/b> 1 } }";
    let report = refused(database.update(request, &options).map(drop));
    assert!(!report.contains("secret") && !report.contains("violation"), "{report}");
    let mut transaction = database.begin(&options.evaluation).unwrap();
    transaction.update(request, &options).unwrap();
    assert_eq!(refused(transaction.commit()), report);
    assert!(refused(update(&database, "INSERT DATA { :x :y :z }")).contains("secret"));
}

#[test]
fn changes_at_once_do_not_violate_together() {
    let database = guarded("");
    for round in 0..20 {
        let insert =
            |value: u32| update(&database, &format!("INSERT DATA {{ :n{round} a :C ; :p {value} }}")).is_ok();
        let done: Vec<bool> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..3).map(|value| scope.spawn(move || insert(value))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(done.into_iter().filter(|done| *done).count(), 1);
        assert_eq!(rows(&database, &format!(":n{round} :p ?v")), 1);
    }
}

#[test]
fn data_that_violate_can_be_mended_and_nothing_else() {
    let database = guarded(":a a :C .");
    refused(update(&database, "INSERT DATA { :x :y :z }"));
    // What changes nothing makes nothing worse.
    update(&database, "DELETE DATA { :x :y :z }").unwrap();
    update(&database, "INSERT DATA { :a :p 1 }").unwrap();
    update(&database, "INSERT DATA { :x :y :z }").unwrap();
}

#[test]
fn a_check_that_cannot_end_lets_nothing_pass() {
    let database = guarded("");
    let slow = ":S sh:targetSubjectsOf :p ; sh:path [ sh:oneOrMorePath [ sh:alternativePath ( :p [ sh:inversePath :p ] ) ] ] ; sh:maxCount 100000 .";
    let other = crate::support::database("");
    other.store().check_commits(guard(shapes(slow).unwrap().into(), ValidateOptions::default())).unwrap();
    let data: String = (0..3_000).map(|n| format!(":n{n} :p :n{} , :n{} . ", n / 2, n / 3)).collect();
    let mut options = UpdateOptions::default();
    options.evaluation.cancel = CancelToken::new(Some(Duration::from_millis(400)));
    let request = format!("PREFIX : <http://e/> INSERT DATA {{ {data} }}");
    let outcome = other.update(&request, &options);
    assert!(matches!(outcome, Err(EngineError::Cancelled(_))), "{outcome:?}");
    assert_eq!(rows(&other, "?s ?p ?o"), 0);
    assert!(
        database
            .store()
            .check_commits(guard(shapes(slow).unwrap().into(), ValidateOptions::default()))
            .is_err()
    );
}

/// Shapes of all kinds, local ones and others.
const MANY: [&str; 9] = [
    ":S sh:targetClass :C ; sh:property [ sh:path :p ; sh:minCount 1 ; sh:maxCount 2 ; sh:nodeKind sh:IRI ] .",
    ":S sh:targetClass :C ; sh:property [ sh:path :p ; sh:class :C ] .",
    ":S sh:targetObjectsOf :p ; sh:property [ sh:path [ sh:inversePath :q ] ; sh:maxCount 1 ] .",
    ":S sh:targetSubjectsOf :q ; sh:not [ sh:class :D ] ; sh:closed true ; sh:ignoredProperties ( :q <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> ) .",
    ":S sh:targetClass :C ; sh:path :p ; sh:disjoint :q ; sh:or ( [ sh:nodeKind sh:Literal ] [ sh:in ( :a :b ) ] ) .",
    ":S sh:targetClass :C ; sh:path ( :p :q ) ; sh:maxCount 1 .",
    ":S sh:targetNode :a ; sh:property [ sh:path :p ; sh:node [ sh:property [ sh:path :q ; sh:maxCount 0 ] ] ] .",
    ":S sh:targetClass :D ; sh:property [ sh:path :p ; sh:qualifiedValueShape [ sh:in ( :a ) ] ; sh:qualifiedMaxCount 0 ] .",
    ":S sh:targetClass :C ; sh:sparql [ sh:select \"SELECT $this { $this <http://e/p>/<http://e/q> $this }\" ] .",
];

#[test]
fn what_is_looked_at_only_where_something_changed_is_decided_as_if_all_were() {
    let mut state: u64 = 5;
    let mut below = move |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let (mut passed, mut held) = (0, 0);
    for text in MANY {
        let (some, all) = (guarded_by(text, "", true), guarded_by(text, "", false));
        for _ in 0..60 {
            let mut request = String::new();
            for _ in 0..=below(3) {
                let node = [":a", ":b", ":c", ":d"][below(4)];
                let property = [":p", ":q", "a"][below(3)];
                let value = if property == "a" {
                    [":C", ":D"][below(2)]
                } else {
                    [":a", ":b", ":c", "1", "_:x"][below(5)]
                };
                let (word, value) = match below(3) {
                    0 => ("DELETE DATA", value.replace("_:x", "2")),
                    _ => ("INSERT DATA", value.to_owned()),
                };
                request += &format!("{word} {{ {node} {property} {value} }} ; ");
            }
            if below(15) == 0 {
                request += "INSERT DATA { :D <http://www.w3.org/2000/01/rdf-schema#subClassOf> :C } ; ";
            }
            let request = request.trim_end_matches("; ");
            let (one, other) = (update(&some, request), update(&all, request));
            assert_eq!(one.is_ok(), other.is_ok(), "{text}\n{request}\n{one:?}\n{other:?}");
            passed += usize::from(one.is_ok());
            held += usize::from(one.is_err());
        }
        assert_eq!(rows(&some, "?s ?p ?o"), rows(&all, "?s ?p ?o"));
    }
    assert!(passed > 100 && held > 50, "{passed} and {held} test little");
}

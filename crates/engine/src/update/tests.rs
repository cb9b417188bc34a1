//! Updates through the facade: reports, limits, what is refused.

use crate::{CancelToken, Cancelled, Database, EngineError, QueryOptions, QueryResults, UpdateOptions};
use lode_sparql::plan::DatasetOverride;
use std::time::Duration;

const PREFIX: &str = "PREFIX : <http://e/> ";

fn database(text: &str) -> Database {
    let database = Database::in_memory().expect("a database");
    update(&database, text).expect("data");
    database
}

fn update(database: &Database, text: &str) -> Result<crate::UpdateReport, EngineError> {
    database.update(&format!("{PREFIX}{text}"), &UpdateOptions::default())
}

fn count(database: &Database, pattern: &str) -> usize {
    let text = format!("{PREFIX}SELECT * {{ {pattern} }}");
    match database.query(&text, &QueryOptions::default()).expect("an answer") {
        QueryResults::Solutions(mut solutions) => solutions.collect_rows().expect("rows").len(),
        _ => panic!("no rows"),
    }
}

#[test]
fn reports_tell_what_really_changed() {
    let database = database("INSERT DATA { :a :p 1, 2 }");
    let before = database.snapshot().version_number();
    let report =
        update(&database, "INSERT DATA { :a :p 2, 3, 4 } ; DELETE DATA { :a :p 1, 4, 5 . :x :y :z }")
            .expect("an update");
    assert_eq!((report.operations, report.inserted, report.deleted), (2, 1, 1));
    assert!(report.version > before);
    assert_eq!(database.snapshot().version_number(), report.version);
    assert_eq!(count(&database, ":a :p ?o"), 2);
    let nothing = update(&database, "").expect("nothing to do");
    assert_eq!((nothing.operations, nothing.inserted, nothing.deleted), (0, 0, 0));
}

#[test]
fn deletions_of_data_see_what_the_request_inserted() {
    let database = database("INSERT DATA { :a :p 1 }");
    let text = "INSERT DATA { :new :p :other } ; DELETE DATA { :new :p :other } ; INSERT DATA { :new :q 1 }";
    let report = update(&database, text).expect("an update");
    assert_eq!((report.inserted, report.deleted), (1, 0));
    assert_eq!(count(&database, ":new ?p ?o"), 1);
}

#[test]
fn each_operation_sees_those_before() {
    let database = database("INSERT DATA { :a :p 1 }");
    let text = "INSERT { ?s :q :made } WHERE { ?s :p 1 } ; INSERT { ?x :r ?s } WHERE { ?s :q ?x } ; \
                DELETE WHERE { ?s :q ?x } ; INSERT { :n :is ?n } WHERE { SELECT (COUNT(*) AS ?n) { ?s ?p ?o } }";
    let report = update(&database, text).expect("an update");
    assert_eq!((report.inserted, report.deleted), (2, 0));
    assert_eq!(count(&database, ":made :r :a . :n :is 2"), 1);
}

#[test]
fn what_fails_changes_nothing() {
    let database = database("INSERT DATA { GRAPH :g { :a :p 1 } }");
    let error = update(&database, "CLEAR ALL ; INSERT DATA { GRAPH :g { :b :p 1 } } ; CREATE GRAPH :g");
    assert!(matches!(error, Err(EngineError::Update(_))), "{error:?}");
    let error =
        update(&database, "INSERT DATA { :b :p 1 } ; LOAD <file:///etc/hostname>").expect_err("a refusal");
    assert!(error.to_string().contains("not allowed"), "{error}");
    let error = update(&database, "CLEAR ALL ;\nINSERT DATA { ?s :p 1 }").expect_err("a variable");
    assert!(matches!(&error, EngineError::Syntax(error) if error.line == 2), "{error}");
    assert_eq!((count(&database, "GRAPH :g { :a :p 1 }"), count(&database, ":b ?p ?o")), (1, 0));
    // Whoever comes next finds the write lock free.
    update(&database, "CLEAR ALL").expect("an update");
    assert_eq!(database.snapshot().quad_count(), 0);
}

#[test]
fn memory_is_limited() {
    let values: String = (0..20_000).map(|i| format!(" {i}")).collect();
    let database = database(&format!("INSERT {{ :a :p ?v }} WHERE {{ VALUES ?v {{ {values} }} }}"));
    assert_eq!(count(&database, ":a :p ?v"), 20_000);
    let mut options = UpdateOptions::default();
    options.evaluation.memory_bytes = 1 << 20;
    let text = "INSERT { ?s ?p ?o, ?s . ?s :q ?o . ?s :r ?o } WHERE { ?s ?p ?o }";
    let error = database.update(&format!("{PREFIX}{text}"), &options).expect_err("too much");
    assert!(error.to_string().contains("memory budget"), "{error}");
    assert_eq!(database.snapshot().quad_count(), 20_000);
}

#[test]
fn time_is_limited() {
    let database = database("INSERT DATA { :a :p 1, 2 }");
    let mut options = UpdateOptions::default();
    options.evaluation.cancel = CancelToken::new(Some(Duration::ZERO));
    for text in ["INSERT DATA { :b :p 1 }", "DELETE WHERE { ?s ?p ?o }", "CLEAR ALL"] {
        let error = database.update(&format!("{PREFIX}{text}"), &options).expect_err("too late");
        assert!(matches!(error, EngineError::Cancelled(Cancelled::Timeout)), "{error:?}");
    }
    assert_eq!(database.snapshot().quad_count(), 2);
}

#[test]
fn the_protocol_may_name_what_where_sees() {
    let database = database("INSERT DATA { :a :p 0 . GRAPH :g { :a :p 1 } GRAPH :h { :a :p 2 } }");
    let name = |name: &str| lode_rdf::NamedNode::new_unchecked(format!("http://e/{name}"));
    let mut options = UpdateOptions::default();
    options.evaluation.dataset = Some(DatasetOverride {
        default: vec![name("g")],
        named: vec![name("h")],
        ..DatasetOverride::default()
    });
    let run = |text: &str| database.update(&format!("{PREFIX}{text}"), &options);
    run("INSERT { :seen :default ?o } WHERE { ?s :p ?o } ; INSERT { :seen :named ?o } WHERE { GRAPH ?g { ?s :p ?o } }")
        .expect("an update");
    assert_eq!(count(&database, ":seen :default 1 ; :named 2 . FILTER NOT EXISTS { :seen ?p 0 }"), 1);
    for text in [
        "INSERT { :x :y ?o } USING :g WHERE { ?s :p ?o }",
        "INSERT { :x :y ?o } USING NAMED :g WHERE { ?s :p ?o }",
        "CLEAR ALL ; WITH :g DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }",
    ] {
        let error = run(text).expect_err(text);
        assert!(
            matches!(&error, EngineError::Syntax(error) if error.message.contains("using-graph-uri")),
            "{error:?}"
        );
    }
}

#[test]
fn triple_terms_do_not_nest_without_end() {
    let database = database("INSERT DATA { :a :p 1 }");
    let deeper = "DELETE { :a :p ?t } INSERT { :a :p <<( :a :p ?t )>> } WHERE { :a :p ?t }";
    let mut failed = None;
    for _ in 0..100 {
        if let Err(error) = update(&database, deeper) {
            failed = Some(error);
            break;
        }
    }
    assert!(failed.expect("a limit").to_string().contains("nest more than"));
    assert_eq!(count(&database, ":a :p ?t FILTER(isTriple(?t))"), 1);
}

/// An endpoint whose blank nodes are called as ours are.
struct Namesake;

impl crate::ServiceHandler for Namesake {
    fn ask(&self, _: crate::ServiceRequest) -> Box<dyn crate::ServiceAnswer> {
        let node = lode_rdf::BlankNode::new_unchecked("b0");
        let rows =
            crate::ServiceRows { variables: ["x".to_owned()].into(), rows: vec![vec![Some(node.into())]] };
        Box::new(crate::ReadyAnswer::new(Ok(rows)))
    }
}

#[test]
fn blank_nodes_from_elsewhere_are_none_of_ours() {
    let database = database("INSERT DATA { _:x :p 1 }");
    let mut options = UpdateOptions::default();
    options.evaluation.service = Some(std::sync::Arc::new(Namesake));
    let text = "INSERT { ?x :q 2 } WHERE { SERVICE <http://e/sparql> { ?x :p ?o } }";
    database.update(&format!("{PREFIX}{text}"), &options).expect("an update");
    assert_eq!((count(&database, "?x :p 1"), count(&database, "?x :q 2")), (1, 1));
    assert_eq!(count(&database, "?x :p 1 ; :q 2"), 0);
}

#[test]
fn updates_side_by_side_lose_nothing() {
    const THREADS: usize = 4;
    const TIMES: usize = 25;
    let database = database("INSERT DATA { :counter :is 0 }");
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let database = &database;
            scope.spawn(move || {
                for time in 0..TIMES {
                    // What reads has the write lock, what only inserts takes it at the end: new terms and known ones.
                    let count = "DELETE { :counter :is ?n } INSERT { :counter :is ?m } \
                                 WHERE { :counter :is ?n BIND(?n + 1 AS ?m) }";
                    update(database, count).expect("a count");
                    let data = format!("INSERT DATA {{ :t{thread} :time {time} . :shared :time :x{time} }}");
                    update(database, &data).expect("data");
                    let gone =
                        format!("DELETE DATA {{ :shared :time :x{time} . :shared :time :unknown{thread} }}");
                    update(database, &gone).expect("a deletion");
                }
            });
        }
    });
    assert_eq!(count(&database, &format!(":counter :is {}", THREADS * TIMES)), 1);
    assert_eq!(count(&database, ":counter :is ?n"), 1);
    assert_eq!(count(&database, "?t :time ?n FILTER(isNumeric(?n))"), THREADS * TIMES);
    assert_eq!(count(&database, ":shared :time ?x"), 0);
}

#[test]
fn who_reads_sees_one_version() {
    let database = database("INSERT DATA { :a :p 1, 2 }");
    let text = format!("{PREFIX}SELECT * {{ ?s ?p ?o }}");
    let before = database.prepare(&text, &QueryOptions::default()).expect("a query");
    update(&database, "DELETE WHERE { ?s ?p 1 } ; INSERT DATA { :b :p 1, 2, 3, :new }").expect("an update");
    let QueryResults::Solutions(mut rows) = before.run().expect("an answer") else { panic!("no rows") };
    assert_eq!(rows.collect_rows().expect("rows").len(), 2);
    assert_eq!(count(&database, "?s ?p ?o"), 5);
}

#[test]
fn a_transaction_over_several_requests_is_one_to_others() {
    use crate::{Document, DocumentBody, OpenTransaction, QueryOptions, Statements};
    use lode_rdf::{GraphName, NamedNode, RdfFormat};
    let database = Database::in_memory().unwrap();
    let count = |database: &Database, transaction: Option<&mut OpenTransaction>| {
        let snapshot = transaction.map_or_else(|| database.snapshot(), |open| open.snapshot().unwrap());
        snapshot.quad_count()
    };
    let document = |text: &str| Document {
        name: "it".to_owned(),
        format: RdfFormat::NQuads,
        body: DocumentBody::Bytes(text.as_bytes().into()),
        unpacked_max: None,
    };
    let options = UpdateOptions::default();
    let mut open = database.begin(&QueryOptions::default()).unwrap();
    open.update("INSERT DATA { <a:s> <a:p> 1, 2 }", &options).unwrap();
    open.update("INSERT { <a:t> <a:p> ?o } WHERE { <a:s> <a:p> ?o }", &options).unwrap();
    let graph: GraphName = NamedNode::new_unchecked("a:g").into();
    let text = "<a:s> <a:q> _:b <a:h> .\n<a:s> <a:q> _:b .\n";
    open.statements(Statements::Add, document(text), &[graph.clone(), GraphName::DefaultGraph], &options)
        .unwrap();
    open.statements(Statements::Add, document(text), &[], &options).unwrap();
    assert_eq!((count(&database, None), count(&database, Some(&mut open))), (0, 8));
    let any = "<http://www.openrdf.org/schema/sesame#wildcard>";
    open.statements(Statements::Remove, document(&format!("<a:s> <a:p> {any} .\n")), &[], &options).unwrap();
    open.statements(
        Statements::Remove,
        document(&format!("{any} {any} {any} {any} .\n")),
        &[graph],
        &options,
    )
    .unwrap();
    assert_eq!(count(&database, Some(&mut open)), 5);
    // A text that is no update changes nothing.
    open.update("nonsense", &options).unwrap_err();
    open.commit().unwrap();
    assert_eq!(count(&database, None), 5);

    let mut failed = database.begin(&QueryOptions::default()).unwrap();
    failed.update("CLEAR ALL", &options).unwrap();
    failed.update("LOAD <file:///nowhere>", &options).unwrap_err();
    assert!(failed.snapshot().is_err() && failed.update("CLEAR ALL", &options).is_err());
    // It has let others write already.
    database.update("INSERT DATA { <a:u> <a:p> 1 }", &options).unwrap();
    failed.commit().unwrap_err();
    drop(database.begin(&QueryOptions::default()).unwrap());
    assert_eq!(count(&database, None), 6);
}

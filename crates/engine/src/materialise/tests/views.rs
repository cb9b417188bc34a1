//! Who sees what was inferred.

use super::{apply, ask, database, rows, statements, update};
use crate::{
    CancelToken, Database, DefaultGraph, EngineError, GraphRules, GraphSet, INFERRED_GRAPH, QueryOptions,
    UpdateOptions, UploadOptions, UploadTarget, inferred_graph,
};
use lode_rdf::NamedNode;
use lode_rdf::parse::StatementLimit;
use lode_sparql::plan::DatasetOverride;
use lode_store::{DumpScope, dump_lines};

const DATA: &str = ":Cat rdfs:subClassOf :Animal . :tom a :Cat";
const QUERY: &str = "SELECT ?x ?c { ?x a ?c }";

fn zoo(more: &str) -> Database {
    let all = database(&format!("{DATA} {more}"));
    apply(&all, &["rdfs"]);
    all
}

fn asserted() -> QueryOptions {
    QueryOptions { inferred: false, ..QueryOptions::default() }
}

fn union() -> QueryOptions {
    QueryOptions { default_graph: DefaultGraph::Union, ..QueryOptions::default() }
}

#[test]
fn the_default_graph_has_it_unless_it_is_not_asked_for() {
    for more in ["", "GRAPH :g { :rex a :Dog }"] {
        let all = zoo(more);
        for optimize in [true, false] {
            let with = |options: QueryOptions| rows(&all, QUERY, &QueryOptions { optimize, ..options });
            let others = usize::from(!more.is_empty());
            assert_eq!(with(QueryOptions::default()), ["<:tom> <:Animal>", "<:tom> <:Cat>"]);
            assert_eq!(with(asserted()), ["<:tom> <:Cat>"]);
            assert_eq!(with(union()).len(), 2 + others);
            assert_eq!(with(QueryOptions { inferred: false, ..union() }).len(), 1 + others);
        }
    }
}

#[test]
fn graphs_have_it_by_name_only() {
    for more in ["", "GRAPH :g { :tom a :Dog . :x :p :y }"] {
        let all = zoo(more);
        let found = |query: &str| rows(&all, query, &QueryOptions::default());
        let others = usize::from(!more.is_empty());
        assert_eq!(found("SELECT ?g ?c { GRAPH ?g { ?x a ?c } }").len(), others);
        assert_eq!(found("SELECT DISTINCT ?g { GRAPH ?g { } }").len(), others);
        assert_eq!(found("SELECT ?g { GRAPH ?g { ?x a+ ?y } }").len(), others);
        assert_eq!(
            found("SELECT ?g { ?x a :Cat OPTIONAL { GRAPH ?g { ?x a ?c } } FILTER(BOUND(?g)) }").len(),
            others
        );
        assert_eq!(found("SELECT ?x { ?x a :Cat FILTER EXISTS { GRAPH ?g { ?x a ?c } } }").len(), others);
        assert_eq!(found("SELECT ?c { GRAPH <urn:lodestore:inferred> { ?x a ?c } }"), ["<:Animal>"]);
        assert_eq!(found("SELECT ?c FROM <urn:lodestore:inferred> { ?x a ?c }"), ["<:Animal>"]);
        assert_eq!(
            found("SELECT ?c FROM NAMED <urn:lodestore:inferred> { GRAPH ?g { ?x a ?c } }"),
            ["<:Animal>"]
        );
        assert_eq!(found("SELECT ?c FROM :g { ?x a ?c }").len(), others, "what FROM says is all there is");
    }
}

#[test]
fn every_part_of_a_query_has_it_once() {
    let all = zoo("GRAPH :g { :tom a :Dog }");
    // Stated since: it is there twice.
    update(&all, "INSERT DATA { :tom a :Animal }");
    let found = |query: &str| rows(&all, query, &QueryOptions::default());
    for query in [
        "SELECT ?x { ?x a :Animal }",
        "SELECT ?x { ?x a/rdfs:label? :Animal }",
        "SELECT ?x { ?x a :Animal, :Cat }",
        "SELECT ?x { ?x a :Cat FILTER EXISTS { ?x a :Animal } }",
        "SELECT ?x { { SELECT ?x { ?x a :Animal } } }",
        "SELECT ?x { VALUES ?x { :tom } ?x a :Animal }",
    ] {
        assert_eq!(found(query), ["<:tom>"], "{query}");
    }
    assert!(found("SELECT (COUNT(*) AS ?n) { ?x a ?c }")[0].starts_with("\"2\""));
    assert!(found("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }")[0].starts_with("\"3\""));
}

#[test]
fn plans_that_are_kept_know_of_it() {
    let all = database(DATA);
    for _ in 0..3 {
        assert_eq!(rows(&all, QUERY, &QueryOptions::default()).len(), 1);
    }
    apply(&all, &["rdfs"]);
    for _ in 0..3 {
        assert_eq!(rows(&all, QUERY, &QueryOptions::default()).len(), 2);
        assert_eq!(rows(&all, QUERY, &asserted()).len(), 1);
    }
    update(&all, "INSERT DATA { GRAPH :g { :rex a :Dog } }");
    for _ in 0..3 {
        assert_eq!(rows(&all, QUERY, &QueryOptions::default()).len(), 2, "a named graph is none of it");
    }
    all.drop_inferences(&QueryOptions::default()).unwrap();
    for _ in 0..3 {
        assert_eq!(rows(&all, QUERY, &QueryOptions::default()).len(), 1);
    }
}

#[test]
fn who_may_read_the_default_graph_alone_does_not_have_it() {
    let all = zoo("GRAPH :g { :rex a :Dog }");
    let reads = |patterns: &[&str]| {
        let read = GraphSet::of(patterns.iter().map(|pattern| pattern.parse().unwrap()));
        let graphs = GraphRules { read, ..GraphRules::default() };
        let found = |options: QueryOptions| {
            rows(&all, QUERY, &QueryOptions { graphs: graphs.clone(), ..options }).len()
        };
        let named = "SELECT ?x { GRAPH <urn:lodestore:inferred> { ?x a ?c } }";
        let by_name =
            rows(&all, named, &QueryOptions { graphs: graphs.clone(), ..QueryOptions::default() }).len();
        (found(QueryOptions::default()), found(union()), by_name)
    };
    assert_eq!(reads(&["default"]), (1, 1, 0));
    assert_eq!(reads(&["default", INFERRED_GRAPH]), (2, 2, 0));
    assert_eq!(reads(&["default", "*"]), (2, 3, 0));
    assert_eq!(reads(&["http://e/g"]), (0, 1, 0));
    assert_eq!(reads(&[INFERRED_GRAPH]), (0, 0, 0), "what follows from what may not be read");
    assert_eq!(reads(&["*"]), (0, 1, 0));
    for pattern in ["*", "urn:lodestore:*", INFERRED_GRAPH] {
        let graphs = GraphRules { read: GraphSet::of([pattern.parse().unwrap()]), ..GraphRules::default() };
        let options = QueryOptions { graphs: graphs.clone(), ..QueryOptions::default() };
        for query in [
            "SELECT * FROM <urn:lodestore:inferred> { ?s ?p ?o }",
            "SELECT * FROM NAMED <urn:lodestore:inferred> { GRAPH ?g { ?s ?p ?o } }",
            "SELECT * { GRAPH <urn:lodestore:inferred> { ?s ?p ?o } }",
        ] {
            assert_eq!(rows(&all, query, &options).len(), 0, "{pattern}: {query}");
        }
        let graph = NamedNode::new_unchecked(INFERRED_GRAPH);
        assert!(!graphs.may_read(graph.as_ref().into()), "{pattern}");
    }
}

#[test]
fn without_rules_its_name_is_a_name_like_others() {
    let all = database(":a :p :b");
    let quad = lode_rdf::NamedNode::new_unchecked(INFERRED_GRAPH);
    update(&all, &format!("DELETE DATA {{ GRAPH {quad} {{ :a :p :b }} }} ; CLEAR SILENT GRAPH {quad}"));
    let deleted = all.delete_graph(Some(&quad), None, &GraphRules::default(), &CancelToken::default());
    assert!(deleted.unwrap().is_none());
    apply(&all, &["CONSTRUCT { ?x :q ?y } WHERE { ?x :p ?y }"]);
    let refused = all.delete_graph(Some(&quad), None, &GraphRules::default(), &CancelToken::default());
    assert!(matches!(refused, Err(EngineError::Forbidden(_))), "{refused:?}");
    // With all others it goes, and comes back with what is stated.
    update(&all, "CLEAR ALL");
    assert!(!ask(&all, "?s ?p ?o"));
}

#[test]
fn updates_do_not_see_it_and_state_nothing_there() {
    let all = zoo("");
    update(&all, "INSERT { ?x :was ?c } WHERE { ?x a ?c }");
    assert_eq!(rows(&all, "SELECT ?c { ?x :was ?c }", &QueryOptions::default()), ["<:Cat>"]);
    update(&all, "DELETE { ?x a ?c } INSERT { ?x :gone ?c } WHERE { GRAPH ?g { ?x a ?c } }");
    assert!(!ask(&all, "?x :gone ?c"));
    let graph = "<urn:lodestore:inferred>";
    for request in [
        format!("INSERT DATA {{ GRAPH {graph} {{ <e:a> <e:p> 1 }} }}"),
        format!("INSERT {{ GRAPH {graph} {{ <e:a> <e:p> 1 }} }} WHERE {{}}"),
        format!("COPY DEFAULT TO {graph}"),
        format!("INSERT {{ GRAPH ?g {{ <e:a> <e:p> 1 }} }} WHERE {{ VALUES ?g {{ {graph} }} }}"),
        format!("INSERT {{ GRAPH ?g {{ <e:a> <e:p> 1 }} }} WHERE {{ BIND(IRI('{INFERRED_GRAPH}') AS ?g) }}"),
        format!("LOAD <http://127.0.0.1:9/> INTO GRAPH {graph}"),
        // It would be there again.
        format!("DELETE DATA {{ GRAPH {graph} {{ <e:a> <e:p> 1 }} }}"),
        format!("DELETE WHERE {{ GRAPH {graph} {{ ?s ?p ?o }} }}"),
        format!("CLEAR GRAPH {graph}"),
        format!("DROP SILENT GRAPH {graph}"),
        format!("MOVE {graph} TO <e:g>"),
    ] {
        let refused = all.update(&request, &UpdateOptions::default());
        assert!(matches!(refused, Err(EngineError::Forbidden(_))), "{request}: {refused:?}");
    }
    for replace in [false, true] {
        let target = UploadTarget::Graph(Some(NamedNode::new_unchecked(INFERRED_GRAPH)));
        let options = UploadOptions {
            target,
            condition: None,
            graphs: GraphRules::default(),
            replace,
            base_iri: None,
            cancel: CancelToken::default(),
            transaction_quads_max: 10,
            memory_bytes: 1 << 20,
            memory: None,
            threads: 1,
            statement_limit: StatementLimit::default(),
        };
        assert!(matches!(all.upload(Vec::new(), &options), Err(EngineError::Forbidden(_))), "{replace}");
    }
    assert!(ask(&all, ":tom a :Animal"), "nothing was changed");
    assert!(all.inferences(&all.snapshot()).unwrap().unwrap().up_to_date);
    update(&all, "CLEAR ALL");
    assert!(!ask(&all, "?s ?p ?o"));
}

#[test]
fn statements_and_dumps_are_of_what_was_stated() {
    let all = zoo("GRAPH :g { :rex a :Dog }");
    assert_eq!((statements(&all), all.snapshot().quad_count()), (3, 4));
    let snapshot = all.snapshot();
    let lines = |scope| {
        let mut text = Vec::new();
        dump_lines(&snapshot, scope, &CancelToken::default(), &mut text).unwrap();
        String::from_utf8(text).unwrap()
    };
    let graph = inferred_graph(&snapshot).unwrap().unwrap();
    let stated = lines(DumpScope::AllBut(graph));
    assert_eq!(stated.lines().count(), 3);
    assert!(
        !stated.contains("urn:lodestore")
            && !stated.contains(
                "<http://e/tom> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e/Animal>"
            )
    );
    assert_eq!(lines(DumpScope::All).lines().count(), 4);
}

#[test]
fn datasets_from_outside_say_what_there_is() {
    let all = zoo("GRAPH :g { :rex a :Dog }");
    let name = |text: &str| NamedNode::new_unchecked(text);
    let given = |default: Vec<NamedNode>| QueryOptions {
        dataset: Some(DatasetOverride { default, ..DatasetOverride::default() }),
        ..QueryOptions::default()
    };
    assert_eq!(rows(&all, QUERY, &given(vec![name("http://e/g")])).len(), 1);
    assert_eq!(rows(&all, QUERY, &given(vec![name(INFERRED_GRAPH)])), ["<:tom> <:Animal>"]);
    assert_eq!(rows(&all, QUERY, &given(Vec::new())).len(), 2);
}

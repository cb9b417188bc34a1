//! CONSTRUCT, DESCRIBE, ASK, SERVICE and triple terms, and what happens when a thread panics.

use super::generate::node;
use super::{Setup, context, empty_snapshot, run};
use crate::context::QueryContext;
use crate::results::QueryResult;
use crate::service::{
    Federation, ReadyAnswer, ServiceAnswer, ServiceError, ServiceHandler, ServiceRequest, ServiceRows,
};
use lode_base::mem_vfs::MemVfs;
use lode_eval::error::ExecError;
use lode_rdf::{BlankNode, Literal, NamedNode, Term, ValueId};
use lode_scheduler::run_team;
use lode_sparql::plan::{ConstructTerm, ConstructTriple, TermSlot};
use lode_sparql::{JoinKind, Plan, PlanNode, PlanOp, QueryForm, ServiceCall, VarId};
use lode_store::{LoadOptions, Snapshot, Source, Store, load};
use std::path::Path;
use std::sync::Arc;

const PLAIN: Setup = Setup { batch_rows: 2, threads: 2, budget: usize::MAX };

fn iri(name: &str) -> Term {
    Term::NamedNode(NamedNode::new_unchecked(format!("http://e/{name}")))
}

fn database(text: &str) -> Snapshot {
    let store = Store::create_or_open(Arc::new(MemVfs::new()), Path::new("/db"), 1 << 20).unwrap();
    let options = LoadOptions { threads: 1, memory_bytes: 1 << 28, ..LoadOptions::default() };
    load(&store, vec![Source::bytes("x.ttl", text)], options, &Arc::default()).unwrap();
    store.snapshot()
}

fn values(vars: &[u32], rows: Vec<Vec<Option<Term>>>) -> PlanNode {
    node(PlanOp::Values(rows), vars.iter().map(|v| VarId(*v)).collect(), Vec::new())
}

fn answer(root: PlanNode, form: QueryForm, cx: &Arc<QueryContext>) -> QueryResult {
    let mut plan = Plan::clone(&super::plan(root));
    plan.form = form;
    crate::execute(Arc::new(plan), Arc::clone(cx)).unwrap().into_result().unwrap()
}

/// The triples of a graph as sorted text.
fn triples(result: QueryResult) -> Vec<String> {
    let QueryResult::Graph(mut graph) = result else { panic!("not a graph") };
    let mut lines = Vec::new();
    while let Some(triples) = graph.next().unwrap() {
        lines.extend(triples.triples().map(|triple| triple.to_string().replace("http://e/", "")));
    }
    lines.sort();
    lines
}

#[test]
fn construct_leaves_out_what_is_no_triple() {
    let rows = vec![
        vec![Some(iri("a")), Some(iri("b"))],
        vec![Some(iri("a")), Some(iri("b"))],
        vec![Some(Literal::from(1).into()), Some(iri("b"))],
        vec![None, Some(iri("b"))],
        vec![Some(iri("a")), None],
    ];
    let (x, y) = (ConstructTerm::Var(VarId(0)), ConstructTerm::Var(VarId(1)));
    let p = ConstructTerm::Const(iri("p"));
    let blank = ConstructTerm::Blank(0);
    let inner = ConstructTriple { subject: blank.clone(), predicate: p.clone(), object: y.clone() };
    let template = vec![
        ConstructTriple { subject: x.clone(), predicate: p.clone(), object: y },
        ConstructTriple { subject: blank, predicate: p, object: ConstructTerm::Triple(Box::new(inner)) },
    ];
    let cx = context(&empty_snapshot(), PLAIN);
    let found = triples(answer(values(&[0, 1], rows), QueryForm::Construct(template), &cx));
    // One ground triple, and one with a blank node for each of the four rows that bind the object.
    assert_eq!(found.len(), 5, "{found:?}");
    assert_eq!(found.iter().filter(|line| *line == "<a> <p> <b>").count(), 1);
    for line in found.iter().filter(|line| line.starts_with("_:")) {
        let label = line.split(' ').next().unwrap();
        assert_eq!(line.matches(label).count(), 2, "one node within a row: {line}");
    }
}

#[test]
fn descriptions_follow_blank_nodes() {
    let text = "@prefix : <http://e/> . :a :p [ :q [ :r 1 ] ; :s :b ] ; :p 2 . :b :p 3 . :c :p :a .";
    let cx = context(&database(text), PLAIN);
    let rows = vec![vec![Some(iri("a"))], vec![Some(iri("a"))], vec![Some(iri("nowhere"))], vec![None]];
    let found = triples(answer(values(&[0], rows), QueryForm::Describe(vec![VarId(0)]), &cx));
    assert_eq!(found.len(), 5, "{found:?}");
    assert!(found.iter().all(|line| !line.starts_with("<b>") && !line.starts_with("<c>")), "{found:?}");
}

#[test]
fn ask_wants_one_row() {
    let cx = context(&empty_snapshot(), PLAIN);
    let some = answer(values(&[0], vec![vec![None]]), QueryForm::Ask, &cx);
    assert!(matches!(some, QueryResult::Boolean(true)));
    let none = answer(values(&[0], Vec::new()), QueryForm::Ask, &cx);
    assert!(matches!(none, QueryResult::Boolean(false)));
}

struct Endpoint;

impl ServiceHandler for Endpoint {
    fn ask(&self, request: ServiceRequest) -> Box<dyn ServiceAnswer> {
        if request.endpoint != "http://e/works" {
            return Box::new(ReadyAnswer::new(Err(ServiceError::Failed("no such endpoint".into()))));
        }
        let mut rows = vec![vec![Some(iri("a")), Some(iri("x"))], vec![None, Some(iri("y"))]];
        let values = request.query.split_once("VALUES").map(|(_, values)| values.split_once('}').unwrap().0);
        if let Some(values) = values {
            // What it was asked for, joined with what it has.
            let asked: Vec<Term> =
                ["a", "b"].into_iter().map(iri).filter(|term| values.contains(&term.to_string())).collect();
            let joined = |row: &Vec<Option<Term>>| {
                let matches = asked.iter().filter(|term| row[0].as_ref().is_none_or(|own| own == *term));
                matches.map(|term| vec![Some(term.clone()), row[1].clone()]).collect::<Vec<_>>()
            };
            rows = rows.iter().flat_map(joined).collect();
        }
        Box::new(ReadyAnswer::new(Ok(ServiceRows { variables: ["v0".into(), "v1".into()].into(), rows })))
    }
}

fn service(endpoint: &str, silent: bool, handler: bool) -> Result<usize, ExecError> {
    joined_with_service(endpoint, (silent, JoinKind::Inner), handler)
}

fn joined_with_service(
    endpoint: &str,
    (silent, kind): (bool, JoinKind),
    handler: bool,
) -> Result<usize, ExecError> {
    let rows = vec![
        vec![Some(iri("a"))],
        vec![Some(iri("b"))],
        vec![None],
        vec![Some(BlankNode::new_unchecked("n").into())],
    ];
    let columns = if matches!(kind, JoinKind::Inner | JoinKind::Left) { 2 } else { 1 };
    let call = ServiceCall {
        endpoint: TermSlot::Const(iri(endpoint)),
        body: "?v0 ?p ?v1 ".into(),
        is_join: true,
        columns: vec![VarId(0), VarId(1)],
        certain: Vec::new(),
        silent,
        rows: 10.0,
    };
    let input = Some(Arc::new(values(&[0], rows)));
    let op = PlanOp::Service { input, call: Arc::new(call), kind, filter: None };
    let plan = super::plan(node(op, (0..columns).map(VarId).collect(), Vec::new()));
    let mut cx = (*context(&empty_snapshot(), PLAIN)).clone();
    cx.service = handler.then(|| Federation::new(Arc::new(Endpoint)));
    run(&plan, &Arc::new(cx)).map(|rows| rows.len())
}

#[test]
fn services_are_joined() {
    // a meets both rows, b and the blank node the one that leaves it open, and the unbound one both.
    assert_eq!(service("works", false, true).unwrap(), 6);
    assert!(matches!(service("fails", false, true), Err(ExecError::Service { .. })));
    assert!(matches!(service("works", false, false), Err(ExecError::Service { .. })));
    assert_eq!(service("fails", true, true).unwrap(), 4);
    assert_eq!(service("works", true, true).unwrap(), 6);
    assert_eq!(service("works", true, false).unwrap(), 4);
    for (kind, expected) in [(JoinKind::Left, 6), (JoinKind::Semi, 4), (JoinKind::Anti, 0)] {
        assert_eq!(joined_with_service("works", (false, kind), true).unwrap(), expected, "{kind:?}");
    }
}

#[test]
fn triple_terms_are_taken_apart() {
    let triple = |s: &str, o: &str| {
        let (Term::NamedNode(subject), Term::NamedNode(predicate)) = (iri(s), iri("p")) else { panic!() };
        let object = iri(o);
        Some(Term::Triple(Box::new(lode_rdf::Triple { subject: subject.into(), predicate, object })))
    };
    let rows = vec![
        vec![triple("a", "b"), None],
        vec![triple("a", "a"), Some(iri("a"))],
        vec![triple("b", "b"), Some(iri("a"))],
        vec![Some(iri("a")), None],
        vec![None, None],
    ];
    let op = |object: TermSlot| PlanOp::TripleTerm {
        input: Arc::new(values(&[0, 1], rows.clone())),
        term: VarId(0),
        subject: TermSlot::Var(VarId(1)),
        predicate: TermSlot::Const(iri("p")),
        object,
    };
    let cx = context(&empty_snapshot(), PLAIN);
    let id = |name: &str| cx.intern(&iri(name)).unwrap();
    let ends = |object: TermSlot, vars: &[u32]| {
        let vars = vars.iter().map(|v| VarId(*v)).collect();
        let mut rows: Vec<Vec<ValueId>> = run(&super::plan(node(op(object), vars, Vec::new())), &cx).unwrap();
        rows.sort();
        rows
    };
    let mut both = vec![vec![id("a"), id("b")], vec![id("a"), id("a")]];
    both.sort();
    assert_eq!(ends(TermSlot::Var(VarId(2)), &[1, 2]), both);
    assert_eq!(ends(TermSlot::Var(VarId(1)), &[1]), [[id("a")]]);
    assert_eq!(ends(TermSlot::Const(iri("b")), &[1]), [[id("a")]]);
}

#[test]
fn a_panic_in_a_thread_is_an_error() {
    let result = run_team(2, || -> Result<(), ExecError> { panic!("on purpose") });
    assert!(matches!(result, Err(ExecError::Internal(message)) if message == "on purpose"));
    // The pool lives on.
    assert_eq!(run_team(2, || Ok::<_, ExecError>(1)).unwrap().first(), Some(&1));
}

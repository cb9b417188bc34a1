//! Expressions as text, evaluated over inline data in an empty database.

use crate::batch::Batch;
use crate::context::{Binding, EvalContext, SubQueries};
use crate::error::ExecError;
use crate::expr;
use lode_base::cancel::CancelToken;
use lode_base::mem_vfs::MemVfs;
use lode_base::memory_budget::MemoryBudget;
use lode_packed::Order;
use lode_rdf::{Kind, Term, ValueId};
use lode_sparql::plan::{Dataset, DatasetOverride, SubPattern};
use lode_sparql::{
    AggregateFunction, Expr, Function, GraphScope, PlanNode, PlanOp, PlanOptions, Statistics, VarId,
    parse_query, plan_query,
};
use lode_store::Store;
use lode_store::load::{LoadOptions, Source, load};
use std::path::Path;
use std::sync::Arc;

/// A query over an empty database.
pub(crate) fn context() -> EvalContext {
    context_with(&[])
}

/// A query over a database into which each of these lists of terms was loaded, one after the other.
pub(crate) fn context_with(loads: &[Vec<Term>]) -> EvalContext {
    let store = Store::create_or_open(Arc::new(MemVfs::default()), Path::new("db"), 1 << 20).unwrap();
    for terms in loads {
        let lines: String = terms.iter().map(|term| format!("<http://s> <http://p> {term} .\n")).collect();
        let options = LoadOptions { threads: 1, ..LoadOptions::default() };
        load(&store, vec![Source::bytes("terms.nt", lines)], options, &Arc::default()).unwrap();
    }
    let base_iri = Some("http://example.org/".to_owned());
    EvalContext {
        snapshot: store.snapshot(),
        local: Arc::default(),
        budget: MemoryBudget::unlimited(),
        cancel: CancelToken::default(),
        now: "2020-01-02T03:04:05Z".parse().unwrap(),
        dataset: Arc::new(Dataset {
            default: GraphScope::Default,
            named: None,
            base_iri,
            schema: None,
            relates_places: false,
            hidden: Arc::default(),
        }),
        batch_rows: 4096,
        spill_dir: std::path::PathBuf::new(),
        memos: Arc::default(),
        vars: Arc::default(),
        sub_queries: Arc::new(NoSubQueries),
    }
}

/// These expressions have no EXISTS.
#[derive(Debug)]
struct NoSubQueries;

impl SubQueries for NoSubQueries {
    fn exist(
        &self,
        _: &EvalContext,
        _: &SubPattern,
        _: &[VarId],
        _: &[Binding],
    ) -> Result<Vec<bool>, ExecError> {
        Err(ExecError::Internal("a test without sub-queries".into()))
    }
}

struct NoData;

impl Statistics for NoData {
    fn function(&self, name: &str) -> Option<&'static Function> {
        crate::functions::find(name)
    }

    fn aggregate(&self, name: &str) -> Option<&'static AggregateFunction> {
        crate::aggregate::find(name)
    }

    fn id_of(&self, _: &Term) -> Option<ValueId> {
        None
    }

    fn count(&self, _: Order, _: &[ValueId]) -> u64 {
        0
    }

    fn count_between(&self, _: Order, _: &[ValueId], _: &std::ops::Range<ValueId>) -> u64 {
        0
    }

    fn ids_with_prefix(&self, _: Kind, _: &str) -> Option<std::ops::Range<ValueId>> {
        None
    }

    fn distinct(&self, _: Order, _: &[ValueId]) -> u64 {
        0
    }

    fn star(&self, _: &[lode_packed::StarMember]) -> Option<Arc<lode_packed::Star>> {
        None
    }

    fn quad_count(&self) -> u64 {
        0
    }

    fn has_named_graphs(&self) -> bool {
        false
    }
}

/// The expression `text`, and `data` (the text of a VALUES block) as a batch, repeated `times` times.
pub(crate) fn parse(cx: &EvalContext, text: &str, data: &str, times: usize) -> (Expr, Batch) {
    let prologue = "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> PREFIX : <http://example/>";
    let query = format!("{prologue} SELECT (({text}) AS ?result) WHERE {{ VALUES {data} }}");
    let query = parse_query(&query, Some("http://example.org/")).unwrap_or_else(|e| panic!("{text}: {e}"));
    let options = PlanOptions { optimize: false, ..PlanOptions::default() };
    let plan = plan_query(&query, &DatasetOverride::default(), &options, &NoData).unwrap();
    let mut expr = None;
    let mut batch = None;
    visit(cx, &plan.root, &mut expr, &mut batch);
    let mut batch: Batch = batch.unwrap_or_else(|| Batch { rows: 1, ..Batch::default() });
    batch.columns.iter_mut().for_each(|column| *column = column.repeat(times));
    batch.rows *= times;
    (expr.unwrap(), batch)
}

fn visit(cx: &EvalContext, node: &PlanNode, expr: &mut Option<Expr>, batch: &mut Option<Batch>) {
    match &node.op {
        PlanOp::Project(input) => visit(cx, input, expr, batch),
        PlanOp::Extend { input, expr: found, .. } => {
            *expr = Some(found.clone());
            visit(cx, input, expr, batch);
        }
        PlanOp::Values(rows) => {
            let mut found = Batch::new(node.vars.clone().into());
            found.rows = rows.len();
            for row in rows {
                for (column, term) in found.columns.iter_mut().zip(row) {
                    column.push(term.as_ref().map_or(ValueId::UNDEF, |term| cx.intern(term).unwrap()));
                }
            }
            *batch = Some(found);
        }
        PlanOp::Unit => *batch = Some(Batch { rows: 1, ..Batch::default() }),
        op => panic!("unexpected operator {op:?}"),
    }
}

/// The term as text; `error` for unbound.
pub(crate) fn text(cx: &EvalContext, id: ValueId) -> String {
    if id.is_undef() {
        return "error".to_owned();
    }
    cx.term(id).unwrap().to_string().replace(super::XSD, "xsd:")
}

/// The value of an expression in every row of `data`.
#[track_caller]
pub(crate) fn rows(cx: &EvalContext, expression: &str, data: &str) -> Vec<String> {
    let (expr, batch) = parse(cx, expression, data, 1);
    let single: Vec<String> =
        expr::evaluate(cx, &expr, &batch).unwrap().iter().map(|id| text(cx, *id)).collect();
    // Many rows go other ways (distinct terms), and must come to the same.
    let (expr, batch) = parse(cx, expression, data, 50);
    let many = expr::evaluate(cx, &expr, &batch).unwrap();
    let selected = expr::select(cx, &expr, &batch).unwrap();
    let truths = expr::select(cx, &Expr::Not(Box::new(Expr::Not(Box::new(expr.clone())))), &batch).unwrap();
    assert_eq!(selected, truths, "select: {expression}");
    if !expression.contains("RAND") && !expression.contains("UUID") && !expression.contains("BNODE") {
        let many: Vec<String> = many.iter().map(|id| text(cx, *id)).collect();
        let repeated: Vec<String> = single.iter().cycle().take(single.len() * 50).cloned().collect();
        assert_eq!(many, repeated, "{expression}");
    }
    single
}

/// The value of an expression without variables.
#[track_caller]
pub(crate) fn one(cx: &EvalContext, expression: &str) -> String {
    rows(cx, expression, "(?unused) { (1) }").pop().unwrap()
}

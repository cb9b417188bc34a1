//! From algebra to a physical plan: the entry points.

use crate::cached::Cached;
pub use crate::error::PlanError;
use crate::expected;
use crate::joins;
use crate::logical::Logical;
pub use crate::options::PlanOptions;
use crate::parse::depth;
use crate::physical;
use crate::plan::{Dataset, DatasetOverride, Plan, QueryForm, SubPattern, VarId, VarTable};
use crate::plan_depth;
use crate::reuse::Reuse;
use crate::rewrite;
use crate::stack;
use crate::statistics::Statistics;
use crate::steps::Steps;
use crate::template;
use crate::translate::{self, Translator};
use lode_rdf::Term;
use spargebra::Query;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Plans a query.
///
/// # Errors
///
/// [`PlanError`] where the query needs what the engine does not have, assigns a variable twice, or is too complex.
pub fn plan_query(
    query: &Query,
    dataset: &DatasetOverride,
    options: &PlanOptions,
    stats: &dyn Statistics,
) -> Result<Plan, PlanError> {
    plan_query_without(&[], query, dataset, options, stats)
}

/// Plans a query without the rewrite rules of these names ([`rule_names`](crate::rule_names)): for tests.
///
/// # Errors
///
/// As [`plan_query`].
pub fn plan_query_without(
    rules_off: &[&str],
    query: &Query,
    dataset: &DatasetOverride,
    options: &PlanOptions,
    stats: &dyn Statistics,
) -> Result<Plan, PlanError> {
    let stats = &Cached::new(stats);
    let union_default = options.default_graph_union;
    let dataset = Arc::new(translate::resolve_dataset(query, dataset, union_default, stats));
    stack::deep(depth::of_query(query).for_plans(), || {
        let (vars, steps) = (VarTable::default(), Steps::begin(stats));
        let mut translator = Translator::new(stats, options.optimize, vars, Arc::clone(&dataset));
        let (Query::Ask { pattern, .. }
        | Query::Select { pattern, .. }
        | Query::Construct { pattern, .. }
        | Query::Describe { pattern, .. }) = query;
        expected::terms(pattern, stats);
        let translated = translator.query(query)?;
        finish(translated, translator.into_vars(), dataset, options, rules_off, stats, steps)
    })
}

/// Calls `f`, which plans and runs a pattern while its query runs, with as much stack as that may need.
pub fn with_stack_for<T>(sub: &SubPattern, f: impl FnOnce() -> T) -> T {
    stack::deep(depth::of_pattern(&sub.algebra).for_plans(), f)
}

/// Plans a pattern while its query runs, its outer variables replaced by `bindings`. Variables keep the ids they have in
/// `vars`, the outer query's table; the plan's own table starts with those. The result's form is `Select` of the pattern's
/// visible variables without the replaced ones.
///
/// # Errors
///
/// As [`plan_query`].
pub fn plan_sub(
    sub: &SubPattern,
    bindings: &[(VarId, Term)],
    vars: &VarTable,
    options: &PlanOptions,
    stats: &dyn Statistics,
) -> Result<Plan, PlanError> {
    let stats = &Cached::new(stats);
    let dataset = Arc::clone(&sub.dataset);
    with_stack_for(sub, || {
        let steps = Steps::begin(stats);
        let mut translator = Translator::new(stats, options.optimize, vars.clone(), Arc::clone(&dataset));
        let (logical, columns) = translator.sub_pattern(sub, bindings)?;
        let form = QueryForm::Select(columns.clone());
        finish((logical, columns, form), translator.into_vars(), dataset, options, &[], stats, steps)
    })
}

/// Plans the pattern of a query over terms in the place of some of its variables, blank nodes of the store among them. The result's form is `Select`
/// of the pattern's other variables.
///
/// # Errors
///
/// As [`plan_query`].
pub fn plan_with_terms(
    query: &Query,
    terms: &BTreeMap<String, Term>,
    dataset: &DatasetOverride,
    options: &PlanOptions,
    stats: &dyn Statistics,
) -> Result<Plan, PlanError> {
    let (Query::Ask { pattern, .. }
    | Query::Select { pattern, .. }
    | Query::Construct { pattern, .. }
    | Query::Describe { pattern, .. }) = query;
    let dataset = Arc::new(translate::resolve_dataset(query, dataset, options.default_graph_union, stats));
    let sub = SubPattern {
        algebra: pattern.clone(),
        scope: BTreeMap::new(),
        constants: terms.clone(),
        graph: dataset.default.clone(),
        dataset,
    };
    plan_sub(&sub, &[], &VarTable::default(), options, stats)
}

/// Plans a pattern while its query runs, for many bindings of its outer variables at once: the plan's [`PlanOp::Domain`](crate::PlanOp::Domain) has those of `params`, at
/// most `rows` or so, and its rows are those of them for which the pattern has a solution. `None` where bindings can only be put in one by
/// one, with [`plan_sub`].
///
/// # Errors
///
/// As [`plan_query`].
pub fn plan_dependent(
    sub: &SubPattern,
    params: &[VarId],
    rows: usize,
    vars: &VarTable,
    options: &PlanOptions,
    stats: &dyn Statistics,
) -> Result<Option<Plan>, PlanError> {
    dependent(sub, vars, options, stats, |translator| translator.dependent(sub, params, rows as f64))
}

/// Plans the pattern of a [`PlanOp::Lateral`](crate::PlanOp::Lateral) for many bindings at once, as [`plan_dependent`]; its rows are the pattern's solutions for each of them, with
/// the columns of `params`.
///
/// # Errors
///
/// As [`plan_query`].
pub fn plan_lateral(
    sub: &SubPattern,
    params: &[VarId],
    rows: usize,
    vars: &VarTable,
    options: &PlanOptions,
    stats: &dyn Statistics,
) -> Result<Option<Plan>, PlanError> {
    dependent(sub, vars, options, stats, |translator| translator.for_each_binding(sub, params, rows as f64))
}

fn dependent(
    sub: &SubPattern,
    vars: &VarTable,
    options: &PlanOptions,
    stats: &dyn Statistics,
    translate: impl FnOnce(&mut Translator<'_>) -> Result<(Logical, Vec<VarId>), PlanError>,
) -> Result<Option<Plan>, PlanError> {
    if !translate::is_dependent(sub) {
        return Ok(None);
    }
    let stats = &Cached::new(stats);
    let dataset = Arc::clone(&sub.dataset);
    with_stack_for(sub, || {
        let steps = Steps::begin(stats);
        let mut translator = Translator::new(stats, options.optimize, vars.clone(), Arc::clone(&dataset));
        let (logical, columns) = translate(&mut translator)?;
        let form = QueryForm::Select(columns.clone());
        finish((logical, columns, form), translator.into_vars(), dataset, options, &[], stats, steps)
            .map(Some)
    })
}

fn finish(
    (logical, columns, form): (Logical, Vec<VarId>, QueryForm),
    vars: VarTable,
    dataset: Arc<Dataset>,
    options: &PlanOptions,
    rules_off: &[&str],
    stats: &Cached<'_>,
    mut steps: Steps<'_>,
) -> Result<Plan, PlanError> {
    steps.done("translate", logical.node_count());
    joins::check(&logical)?;
    expected::rows(&logical, stats);
    let logical = match options.optimize {
        true => rewrite::rewrite(logical, &columns, rules_off, stats, &mut steps),
        false => logical,
    };
    joins::check(&logical)?;
    let (mut root, vars) = physical::plan(&logical, columns, vars, options, stats);
    let node_count = physical::number(&mut root);
    let reuse = if template::has_algebra(&root) { Reuse::Never } else { stats.reuse() };
    let uses_literals = template::uses_literals(&root);
    let depth = plan_depth::of(&root);
    steps.done("operators", node_count as usize);
    let steps = steps.into_done();
    let plan = Plan { root, form, vars, dataset, node_count, reuse, uses_literals, depth, steps };
    #[cfg(debug_assertions)]
    if let Err(problem) = crate::validate::validate(&plan) {
        debug_assert!(false, "invalid plan: {problem}");
    }
    Ok(plan)
}

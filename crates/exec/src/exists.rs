//! EXISTS inside expressions (SPARQL 1.1 section 18.6, `substitute`), for many rows at once: the distinct bindings of a batch are the domain of a
//! dependent plan, which is made once and tells for which of them the pattern has a solution.

use crate::build::FACTORY;
use crate::context::QueryContext;
use crate::domain::Domain;
use crate::execution::Execution;
use crate::reservation::cover;
use crate::service::Federation;
use crate::statistics::SnapshotStatistics;
use lode_base::memory_budget::Reservation;
use lode_eval::context::{Binding, EvalContext, SubQueries};
use lode_eval::error::ExecError;
use lode_eval::hash::IdHash;
use lode_rdf::Term;
use lode_scheduler::lock;
use lode_scheduler::turns::Share;
use lode_scheduler::waiting;
use lode_sparql::plan::SubPattern;
use lode_sparql::{Plan, PlanOptions, VarId, plan_dependent, plan_sub, with_stack_for};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

/// Bindings for which a dependent plan is run at once, at most.
const DOMAIN_ROWS_MAX: usize = 1 << 13;
/// Bytes of an answer that is kept, besides its binding.
const ANSWER_BYTES: usize = 48;

/// Runs the EXISTS patterns of a query, and keeps what is known of them; shared by its threads.
pub struct ExistsRunner {
    service: Option<Federation>,
    share: Share,
    patterns: Mutex<Vec<(usize, Arc<Known>)>>,
}

impl fmt::Debug for ExistsRunner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExistsRunner").finish_non_exhaustive()
    }
}

/// What is known of one pattern.
#[derive(Debug)]
struct Known {
    pattern: Arc<SubPattern>,
    /// By the variables that are bound: the others are variables of the pattern. `None`: bindings are put in one by one.
    plans: Mutex<HashMap<Vec<VarId>, Option<Arc<Plan>>>>,
    answers: Mutex<Answers>,
}

/// Answers found before.
#[derive(Debug, Default)]
struct Answers {
    truths: HashMap<Binding, bool, IdHash>,
    reservation: Option<Reservation>,
}

impl ExistsRunner {
    /// For a query with this federation and this share of the processors.
    pub fn new(service: Option<Federation>, share: Share) -> Self {
        Self { service, share, patterns: Mutex::default() }
    }

    /// What a plan inside an expression runs in: who asks has threads of its own.
    fn context(&self, cx: &EvalContext, domain: Option<Arc<Domain>>) -> QueryContext {
        let (service, share) = (self.service.clone(), self.share.clone());
        QueryContext { eval: cx.clone(), service, threads: 1, share, domain, fragments: None }
    }

    /// Patterns are told apart by what they say, not by where they lie, which is compared first: sub-plans come and go.
    fn of(&self, pattern: &SubPattern) -> Arc<Known> {
        let place = std::ptr::from_ref(pattern).addr();
        let mut patterns = lock(&self.patterns);
        let same = |(at, known): &(usize, Arc<Known>)| *at == place && *known.pattern == *pattern;
        let found = patterns
            .iter()
            .position(same)
            .or_else(|| patterns.iter().position(|(_, known)| *known.pattern == *pattern));
        if let Some((at, known)) = found.and_then(|index| patterns.get_mut(index)) {
            *at = place;
            return Arc::clone(known);
        }
        let pattern = Arc::new(pattern.clone());
        let known = Arc::new(Known { pattern, plans: Mutex::default(), answers: Mutex::default() });
        patterns.push((place, Arc::clone(&known)));
        known
    }
}

impl Known {
    /// The plan for bindings of these variables.
    fn plan(&self, cx: &EvalContext, params: &[VarId], rows: usize) -> Result<Option<Arc<Plan>>, ExecError> {
        let mut plans = held(&self.plans);
        if let Some(plan) = plans.get(params) {
            return Ok(plan.clone());
        }
        let stats = SnapshotStatistics::new(&cx.snapshot, &cx.budget, &cx.cancel);
        let options = PlanOptions::default();
        let plan = plan_dependent(&self.pattern, params, rows, &cx.vars, &options, &stats);
        stats.finish()?;
        let plan = plan.map_err(|error| ExecError::Plan(error.to_string()))?.map(Arc::new);
        plans.insert(params.to_vec(), plan.clone());
        Ok(plan)
    }

    /// Fills in what is known of `bindings`.
    fn recall(&self, bindings: &[Binding], truths: &mut [Option<bool>]) {
        let answers = held(&self.answers);
        for (binding, truth) in bindings.iter().zip(truths) {
            *truth = answers.truths.get(binding).copied();
        }
    }

    /// Keeps answers while there is memory for them; else all are forgotten.
    fn keep<'a>(
        &self,
        cx: &EvalContext,
        found: impl Iterator<Item = (&'a Binding, bool)>,
    ) -> Result<(), ExecError> {
        let mut answers = held(&self.answers);
        let Answers { truths, reservation } = &mut *answers;
        let mut reserved = match reservation.take() {
            Some(reserved) => reserved,
            None => cx.budget.reserve(0)?,
        };
        let mut bytes = 0;
        for (binding, truth) in found {
            bytes = ANSWER_BYTES + size_of_val(binding.as_slice());
            truths.insert(binding.clone(), truth);
        }
        if cover(&mut reserved, bytes * truths.capacity()).is_err() {
            *truths = HashMap::default();
            reserved.resize(0)?;
        }
        *reservation = Some(reserved);
        Ok(())
    }
}

/// Locks what other threads of the query may hold while they plan.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    match mutex.try_lock() {
        Ok(guard) => guard,
        Err(_) => waiting(|| lock(mutex)),
    }
}

impl SubQueries for ExistsRunner {
    fn exist(
        &self,
        cx: &EvalContext,
        pattern: &SubPattern,
        vars: &[VarId],
        bindings: &[Binding],
    ) -> Result<Vec<bool>, ExecError> {
        with_stack_for(pattern, || find(self, cx, pattern, vars, bindings))
    }
}

fn find(
    runner: &ExistsRunner,
    cx: &EvalContext,
    pattern: &SubPattern,
    vars: &[VarId],
    bindings: &[Binding],
) -> Result<Vec<bool>, ExecError> {
    let known = runner.of(pattern);
    let mut truths = vec![None; bindings.len()];
    known.recall(bindings, &mut truths);
    // Unbound variables stay variables of the pattern.
    let mut open: HashMap<Vec<VarId>, Vec<usize>> = HashMap::new();
    for (number, binding) in bindings.iter().enumerate().filter(|(number, _)| truths[*number].is_none()) {
        let bound = vars.iter().zip(binding).filter(|(_, id)| !id.is_undef()).map(|(var, _)| *var);
        open.entry(bound.collect()).or_default().push(number);
    }
    for (params, numbers) in &open {
        for some in numbers.chunks(DOMAIN_ROWS_MAX) {
            cx.cancel.check()?;
            let domain =
                Arc::new(Domain::new(params, vars, some.iter().filter_map(|number| bindings.get(*number))));
            let found = match known.plan(cx, params, some.len())? {
                Some(plan) => run(runner, cx, &plan, &domain)?,
                None => run_each(runner, cx, pattern, &domain)?,
            };
            for (number, row) in some.iter().zip(&domain.bindings()) {
                truths[*number] = Some(found.contains(row));
            }
            known.keep(
                cx,
                some.iter().filter_map(|number| Some((bindings.get(*number)?, truths[*number]?))),
            )?;
        }
    }
    Ok(truths.into_iter().map(|truth| truth.unwrap_or(false)).collect())
}

/// The bindings of the domain that a dependent plan finds.
fn run(
    runner: &ExistsRunner,
    cx: &EvalContext,
    plan: &Arc<Plan>,
    domain: &Arc<Domain>,
) -> Result<HashSet<Binding, IdHash>, ExecError> {
    let sub = runner.context(cx, Some(Arc::clone(domain)));
    let mut execution = Execution::within(Arc::clone(plan), &sub, None, FACTORY)?;
    let mut found = HashSet::default();
    while let Some(batch) = execution.next()? {
        let places: Vec<usize> = domain.vars().iter().filter_map(|var| batch.position(*var)).collect();
        found.extend((0..batch.rows).map(|row| places.iter().map(|at| batch.columns[*at][row]).collect()));
    }
    Ok(found)
}

/// The bindings of the domain with which put in, one by one, the pattern has a solution.
fn run_each(
    runner: &ExistsRunner,
    cx: &EvalContext,
    pattern: &SubPattern,
    domain: &Domain,
) -> Result<HashSet<Binding, IdHash>, ExecError> {
    let mut found = HashSet::default();
    for binding in domain.bindings() {
        cx.cancel.check()?;
        let bound = domain.vars().iter().zip(&binding);
        let terms = bound
            .map(|(var, id)| Ok((*var, cx.term(*id)?)))
            .collect::<Result<Vec<(VarId, Term)>, ExecError>>()?;
        let stats = SnapshotStatistics::new(&cx.snapshot, &cx.budget, &cx.cancel);
        let plan = plan_sub(pattern, &terms, &cx.vars, &PlanOptions::default(), &stats);
        stats.finish()?;
        let plan = plan.map_err(|error| ExecError::Plan(error.to_string()))?;
        let sub = runner.context(cx, None);
        if Execution::within(Arc::new(plan), &sub, None, FACTORY)?.next()?.is_some() {
            found.insert(binding);
        }
    }
    Ok(found)
}

//! EXISTS inside expressions (SPARQL 1.1 section 18.6, `substitute`), for many rows at once: the distinct bindings of a batch are the domain of a
//! dependent plan, which is made once and tells for which of them the pattern has a solution.

use crate::batch::{Batch, position};
use crate::context::QueryContext;
use crate::error::ExecError;
use crate::execution::Execution;
use crate::hash::IdHash;
use crate::held::cover;
use crate::lock::lock;
use crate::profile::waiting;
use crate::statistics::SnapshotStatistics;
use lode_base::memory_budget::Reservation;
use lode_rdf::{Term, ValueId};
use lode_sparql::parse::depth;
use lode_sparql::plan::SubPattern;
use lode_sparql::{Plan, PlanOptions, VarId, plan_dependent, plan_sub, stack};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};

/// Bindings for which a dependent plan is run at once, at most.
const DOMAIN_ROWS_MAX: usize = 1 << 13;
/// Bytes of an answer that is kept, besides its binding.
const ANSWER_BYTES: usize = 48;

/// The values of a pattern's outer variables; some may be unbound.
pub(crate) type Binding = Vec<ValueId>;

/// What is known of the EXISTS patterns of a query, shared by its threads.
#[derive(Debug, Default)]
pub struct ExistsCache {
    patterns: Mutex<Vec<(usize, Arc<Known>)>>,
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

impl ExistsCache {
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
    fn plan(&self, cx: &QueryContext, params: &[VarId], rows: usize) -> Result<Option<Arc<Plan>>, ExecError> {
        let mut plans = held(&self.plans);
        if let Some(plan) = plans.get(params) {
            return Ok(plan.clone());
        }
        let stats = SnapshotStatistics::new(&cx.snapshot, &cx.cancel);
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
        cx: &QueryContext,
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

/// For each of `bindings` of `vars`, which differ, whether `pattern` has a solution with these values put in.
pub(crate) fn exists(
    cx: &QueryContext,
    pattern: &SubPattern,
    vars: &[VarId],
    bindings: &[Binding],
) -> Result<Vec<bool>, ExecError> {
    stack::deep(depth::of_pattern(&pattern.algebra).for_plans(), || find(cx, pattern, vars, bindings))
}

fn find(
    cx: &QueryContext,
    pattern: &SubPattern,
    vars: &[VarId],
    bindings: &[Binding],
) -> Result<Vec<bool>, ExecError> {
    let known = cx.exists.of(pattern);
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
            let domain = Domain::new(params, vars, some.iter().filter_map(|number| bindings.get(*number)));
            let found = match known.plan(cx, params, some.len())? {
                Some(plan) => domain.run(cx, &plan)?,
                None => domain.run_each(cx, pattern)?,
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

/// The bindings for which a dependent plan runs.
#[derive(Debug)]
pub struct Domain {
    rows: Batch,
}

impl Domain {
    /// The values that `bindings` of `vars`, which differ, have for `params`.
    fn new<'a>(params: &[VarId], vars: &[VarId], bindings: impl Iterator<Item = &'a Binding>) -> Self {
        let places: Vec<Option<usize>> = params.iter().map(|param| position(vars, *param)).collect();
        let mut rows = Batch::new(params.into());
        for binding in bindings {
            for (column, place) in rows.columns.iter_mut().zip(&places) {
                column.push(place.and_then(|at| binding.get(at)).copied().unwrap_or_default());
            }
            rows.rows += 1;
        }
        Self { rows }
    }

    /// The bindings of some of the variables, each once.
    pub(crate) fn rows_of(&self, vars: &Arc<[VarId]>) -> Batch {
        let mut rows = Batch::new(Arc::clone(vars));
        let columns: Vec<&[ValueId]> =
            vars.iter().map(|var| self.rows.column(*var).unwrap_or_default()).collect();
        let mut seen: HashSet<Binding, IdHash> = HashSet::default();
        for row in 0..self.rows.rows {
            let binding: Binding = columns.iter().map(|c| c.get(row).copied().unwrap_or_default()).collect();
            if vars.len() == self.rows.vars.len() || seen.insert(binding.clone()) {
                rows.columns.iter_mut().zip(binding).for_each(|(column, id)| column.push(id));
                rows.rows += 1;
            }
        }
        rows
    }

    fn bindings(&self) -> Vec<Binding> {
        rows_in(&self.rows).collect()
    }

    /// The bindings that a dependent plan finds.
    fn run(&self, cx: &QueryContext, plan: &Arc<Plan>) -> Result<HashSet<Binding, IdHash>, ExecError> {
        let mut sub = within(cx);
        sub.domain = Some(Arc::new(Self { rows: self.rows.clone() }));
        let mut execution = Execution::within(Arc::clone(plan), &sub, None)?;
        let mut found = HashSet::default();
        while let Some(batch) = execution.next()? {
            let places: Vec<usize> = self.rows.vars.iter().filter_map(|var| batch.position(*var)).collect();
            found
                .extend((0..batch.rows).map(|row| places.iter().map(|at| batch.columns[*at][row]).collect()));
        }
        Ok(found)
    }

    /// The bindings with which put in, one by one, the pattern has a solution.
    fn run_each(
        &self,
        cx: &QueryContext,
        pattern: &SubPattern,
    ) -> Result<HashSet<Binding, IdHash>, ExecError> {
        let mut found = HashSet::default();
        for binding in self.bindings() {
            cx.cancel.check()?;
            let bound = self.rows.vars.iter().zip(&binding);
            let terms = bound
                .map(|(var, id)| Ok((*var, cx.term(*id)?)))
                .collect::<Result<Vec<(VarId, Term)>, ExecError>>()?;
            let stats = SnapshotStatistics::new(&cx.snapshot, &cx.cancel);
            let plan = plan_sub(pattern, &terms, &cx.vars, &PlanOptions::default(), &stats);
            stats.finish()?;
            let plan = plan.map_err(|error| ExecError::Plan(error.to_string()))?;
            if Execution::within(Arc::new(plan), &within(cx), None)?.next()?.is_some() {
                found.insert(binding);
            }
        }
        Ok(found)
    }
}

/// The rows of a batch.
fn rows_in(batch: &Batch) -> impl Iterator<Item = Binding> + '_ {
    (0..batch.rows).map(|row| batch.columns.iter().map(|column| column[row]).collect())
}

/// What a plan inside an expression runs in: who asks has threads of its own.
fn within(cx: &QueryContext) -> QueryContext {
    let mut sub = cx.clone();
    sub.threads = 1;
    sub
}

//! EXISTS by substitution, for patterns that could not become semi-joins (SPARQL 1.1 section 18.6, `substitute`).

use crate::context::QueryContext;
use crate::error::ExecError;
use crate::execution::Execution;
use crate::hash::IdHash;
use crate::scheduler::lock;
use crate::statistics::SnapshotStatistics;
use lode_rdf::{Term, ValueId};
use lode_sparql::parse::depth;
use lode_sparql::plan::SubPattern;
use lode_sparql::{PlanOptions, VarId, plan_sub, stack};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Answers kept per pattern; beyond it, all are forgotten.
const ANSWERS_MAX: usize = 1 << 17;

type Binding = Box<[(VarId, ValueId)]>;

/// Answers already found, by pattern and binding: one per query, shared by its threads.
#[derive(Debug, Default)]
pub struct ExistsCache {
    patterns: Mutex<Vec<Known>>,
}

/// The answers for one pattern. Patterns are told apart by what they say, not by where they lie: sub-plans come and go.
#[derive(Debug)]
struct Known {
    pattern: Arc<SubPattern>,
    /// Where the pattern was last seen, to be compared first.
    place: usize,
    answers: HashMap<Binding, bool, IdHash>,
}

impl ExistsCache {
    fn find(&self, pattern: &SubPattern, binding: &Binding) -> Option<bool> {
        let mut patterns = lock(&self.patterns);
        let known = entry(&mut patterns, pattern);
        known.answers.get(binding).copied()
    }

    fn keep(&self, pattern: &SubPattern, binding: Binding, answer: bool) {
        let mut patterns = lock(&self.patterns);
        let known = entry(&mut patterns, pattern);
        if known.answers.len() >= ANSWERS_MAX {
            known.answers.clear();
        }
        known.answers.insert(binding, answer);
    }
}

fn entry<'a>(patterns: &'a mut Vec<Known>, pattern: &SubPattern) -> &'a mut Known {
    let place = std::ptr::from_ref(pattern).addr();
    let same = |known: &Known| known.place == place && *known.pattern == *pattern;
    let found = patterns
        .iter()
        .position(same)
        .or_else(|| patterns.iter().position(|known| *known.pattern == *pattern));
    let index = found.unwrap_or_else(|| {
        let pattern = Arc::new(pattern.clone());
        patterns.push(Known { pattern, place, answers: HashMap::default() });
        patterns.len() - 1
    });
    patterns[index].place = place;
    &mut patterns[index]
}

/// Whether `pattern`, with these outer variables replaced by their values, has a solution.
pub fn exists(
    cx: &QueryContext,
    pattern: &SubPattern,
    bindings: &[(VarId, ValueId)],
) -> Result<bool, ExecError> {
    stack::deep(depth::of_pattern(&pattern.algebra).for_plans(), || find(cx, pattern, bindings))
}

fn find(cx: &QueryContext, pattern: &SubPattern, bindings: &[(VarId, ValueId)]) -> Result<bool, ExecError> {
    // Only what the pattern can see matters; unbound variables stay variables.
    let visible =
        |(var, id): &&(VarId, ValueId)| !id.is_undef() && pattern.scope.values().any(|outer| outer == var);
    let mut binding: Vec<_> = bindings.iter().filter(visible).copied().collect();
    binding.sort_unstable();
    binding.dedup();
    let binding: Binding = binding.into();
    if let Some(answer) = cx.exists.find(pattern, &binding) {
        return Ok(answer);
    }
    cx.cancel.check()?;
    let terms = binding
        .iter()
        .map(|(var, id)| Ok((*var, cx.term(*id)?)))
        .collect::<Result<Vec<(VarId, Term)>, ExecError>>()?;
    let stats = SnapshotStatistics::new(&cx.snapshot, &cx.cancel);
    let plan = plan_sub(pattern, &terms, &cx.vars, &PlanOptions::default(), &stats);
    stats.finish()?;
    let plan = plan.map_err(|error| ExecError::Plan(error.to_string()))?;
    // One row decides: no threads, and small batches.
    let mut sub = cx.clone();
    sub.threads = 1;
    let answer = Execution::within(Arc::new(plan), &sub, None)?.next()?.is_some();
    cx.exists.keep(pattern, binding, answer);
    Ok(answer)
}

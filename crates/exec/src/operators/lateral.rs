//! LATERAL: the solutions of a pattern for each row, whose values are put in. The distinct bindings of many rows are the domain of a dependent plan, made
//! once for those that bind the same variables; where there is no such plan, bindings are put in one by one.

use super::{BoxOp, Operator};
use crate::context::QueryContext;
use crate::domain::Domain;
use crate::execution::Execution;
use crate::profile::NodeCounters;
use crate::reservation::cover;
use crate::shared::Shared;
use crate::statistics::SnapshotStatistics;
use lode_base::memory_budget::Reservation;
use lode_eval::batch::{Batch, gather};
use lode_eval::context::Binding;
use lode_eval::error::ExecError;
use lode_eval::hash::IdHash;
use lode_rdf::{Term, ValueId};
use lode_sparql::plan::SubPattern;
use lode_sparql::{Plan, PlanError, PlanOptions, VarId, plan_lateral, plan_sub, with_stack_for};
use std::collections::HashMap;
use std::sync::Arc;

/// Rows whose bindings are a domain, at most, but for one batch.
const ROWS_MAX: usize = 1 << 13;
/// What a row takes besides its values: its number and, where no other has it, its binding.
const ROW_BYTES: usize = size_of::<(Binding, Vec<u32>)>() + size_of::<u32>();

/// The operator.
pub(crate) struct Lateral {
    shared: Arc<Shared>,
    counters: Arc<NodeCounters>,
    input: BoxOp,
    pattern: Arc<SubPattern>,
    /// Variables of the pattern that are columns of the input.
    params: Vec<VarId>,
    vars: Arc<[VarId]>,
    /// By the parameters that are bound: the others are variables of the pattern. `None`: bindings are put in one by one.
    plans: HashMap<Vec<VarId>, Option<Arc<Plan>>>,
    /// Rows of the input, and one batch that there was no room for.
    rows: Batch,
    reservation: Reservation,
    further: Option<Batch>,
    /// What is to be run for them.
    tasks: Vec<Task>,
    running: Option<Running>,
}

/// Rows that bind the same parameters, by their binding of these.
struct Task {
    params: Vec<VarId>,
    rows: HashMap<Binding, Vec<u32>, IdHash>,
}

/// A plan that runs for a task.
struct Running {
    task: Task,
    execution: Execution,
    /// Solutions to be joined with their rows, from this one on, of whose rows so many are done.
    solutions: Batch,
    at: (usize, usize),
}

impl Lateral {
    /// For the rows of `input`, which has these columns.
    pub(crate) fn new(
        shared: &Arc<Shared>,
        counters: &Arc<NodeCounters>,
        (input, input_vars): (BoxOp, &[VarId]),
        pattern: &Arc<SubPattern>,
        vars: &Arc<[VarId]>,
    ) -> Result<Self, ExecError> {
        let mut params: Vec<VarId> = pattern.scope.values().copied().collect();
        params.retain(|var| input_vars.contains(var));
        params.sort_unstable();
        params.dedup();
        Ok(Self {
            shared: Arc::clone(shared),
            counters: Arc::clone(counters),
            input,
            pattern: Arc::clone(pattern),
            params,
            vars: Arc::clone(vars),
            plans: HashMap::new(),
            rows: Batch::new(input_vars.into()),
            reservation: shared.cx.budget.reserve(0)?,
            further: None,
            tasks: Vec::new(),
            running: None,
        })
    }

    /// Takes the next rows of the input; `false` at the end.
    fn refill(&mut self) -> Result<bool, ExecError> {
        self.rows.clear();
        while self.rows.rows < ROWS_MAX {
            let mut batch = self.further.take().unwrap_or_default();
            if batch.rows == 0 && !self.input.next(&mut batch)? {
                break;
            }
            let rows = self.rows.rows + batch.rows;
            let values = self.rows.columns.len() + self.params.len();
            let bytes = rows * (ROW_BYTES + values * size_of::<ValueId>());
            match cover(&mut self.reservation, bytes) {
                Ok(()) => self.counters.hold(bytes),
                Err(refused) if self.rows.rows == 0 => return Err(refused.into()),
                Err(_) => {
                    self.further = Some(batch);
                    break;
                }
            }
            self.rows.append_range(&batch, 0, batch.rows);
        }
        Ok(self.rows.rows > 0)
    }

    /// What is to be run for the rows.
    fn tasks(&self) -> Vec<Task> {
        let rows = &self.rows;
        let columns: Vec<&[ValueId]> = self.params.iter().filter_map(|param| rows.column(*param)).collect();
        let mut tasks: Vec<Task> = Vec::new();
        for (row, number) in (0..rows.rows).zip(0u32..) {
            let values = || self.params.iter().zip(columns.iter().map(|column| column[row]));
            let bound = || values().filter(|(_, id)| !id.is_undef());
            let same = |task: &Task| bound().map(|(param, _)| param).eq(&task.params);
            let place = tasks.iter().position(same).unwrap_or_else(|| {
                let params = bound().map(|(param, _)| *param).collect();
                tasks.push(Task { params, rows: HashMap::default() });
                tasks.len() - 1
            });
            let binding = bound().map(|(_, id)| id).collect();
            tasks[place].rows.entry(binding).or_default().push(number);
        }
        tasks
    }

    fn run(&mut self, task: Task) -> Result<(), ExecError> {
        let pattern = Arc::clone(&self.pattern);
        with_stack_for(&pattern, || self.run_here(task))
    }

    fn run_here(&mut self, mut task: Task) -> Result<(), ExecError> {
        let mut domain = None;
        let plan = match self.plan(&task)? {
            Some(plan) => {
                domain = Some(Arc::new(Domain::new(&task.params, &task.params, task.rows.keys())));
                plan
            }
            None => {
                let Some(binding) = task.rows.keys().next().cloned() else { return Ok(()) };
                let rows = task.rows.remove(&binding).unwrap_or_default();
                let plan = self.plan_one(&task.params, &binding)?;
                let others = std::mem::replace(&mut task.rows, HashMap::from_iter([(Binding::new(), rows)]));
                let params = std::mem::take(&mut task.params);
                if !others.is_empty() {
                    self.tasks.push(Task { params, rows: others });
                }
                plan
            }
        };
        let cx = QueryContext { domain, ..(*self.shared.cx).clone() };
        let execution = Execution::within(plan, &cx, Some(&self.counters), self.shared.factory())?;
        self.running = Some(Running { task, execution, solutions: Batch::default(), at: (0, 0) });
        Ok(())
    }

    /// The plan for many bindings.
    fn plan(&mut self, task: &Task) -> Result<Option<Arc<Plan>>, ExecError> {
        if let Some(plan) = self.plans.get(&task.params) {
            return Ok(plan.clone());
        }
        let cx = &self.shared.cx;
        let rows = task.rows.len();
        let plan = planned(cx, |options, stats| {
            plan_lateral(&self.pattern, &task.params, rows, &cx.vars, options, stats)
        })?
        .map(Arc::new);
        self.plans.insert(task.params.clone(), plan.clone());
        Ok(plan)
    }

    /// The plan for one.
    fn plan_one(&self, params: &[VarId], binding: &[ValueId]) -> Result<Arc<Plan>, ExecError> {
        let cx = &self.shared.cx;
        let bound = params.iter().zip(binding);
        let terms = bound
            .map(|(var, id)| Ok((*var, cx.term(*id)?)))
            .collect::<Result<Vec<(VarId, Term)>, ExecError>>()?;
        let plan = planned(cx, |options, stats| plan_sub(&self.pattern, &terms, &cx.vars, options, stats))?;
        Ok(Arc::new(plan))
    }
}

fn planned<T>(
    cx: &QueryContext,
    plan: impl FnOnce(&PlanOptions, &SnapshotStatistics<'_>) -> Result<T, PlanError>,
) -> Result<T, ExecError> {
    let stats = SnapshotStatistics::new(&cx.snapshot, &cx.budget, &cx.cancel);
    let plan = plan(&PlanOptions::default(), &stats);
    stats.finish()?;
    plan.map_err(|error| ExecError::Plan(error.to_string()))
}

impl Running {
    /// Joins solutions with their rows, so many at most; `false`: there are no more.
    fn deliver(&mut self, rows: &Batch, rows_max: usize, out: &mut Batch) -> Result<bool, ExecError> {
        let (mut left, mut right) = (Vec::new(), Vec::new());
        while left.is_empty() {
            if self.at.0 == self.solutions.rows {
                let Some(solutions) = self.execution.next()? else { return Ok(false) };
                self.solutions = solutions;
                self.at = (0, 0);
            }
            self.pairs(rows_max, &mut left, &mut right);
        }
        for (var, to) in out.vars.iter().zip(&mut out.columns) {
            let solution = self.solutions.column(*var).unwrap_or_default();
            match rows.column(*var) {
                None => gather(solution, &right, to),
                Some(column) => {
                    gather(column, &left, to);
                    let unbound = to.iter_mut().zip(&right).filter(|(id, _)| id.is_undef());
                    unbound
                        .for_each(|(id, row)| *id = solution.get(*row as usize).copied().unwrap_or_default());
                }
            }
        }
        out.rows = left.len();
        Ok(true)
    }

    /// The numbers of rows and their solutions.
    fn pairs(&mut self, rows_max: usize, left: &mut Vec<u32>, right: &mut Vec<u32>) {
        let columns: Vec<&[ValueId]> =
            self.task.params.iter().map(|param| self.solutions.column(*param).unwrap_or_default()).collect();
        let mut binding = Binding::new();
        let (mut solution, mut done) = self.at;
        while solution < self.solutions.rows && left.len() < rows_max {
            binding.clear();
            binding.extend(columns.iter().map(|column| column.get(solution).copied().unwrap_or_default()));
            let rows = self.task.rows.get(&binding).map_or(&[][..], |rows| &rows[done..]);
            let taken = rows.len().min(rows_max - left.len());
            left.extend(&rows[..taken]);
            right.extend(std::iter::repeat_n(u32::try_from(solution).unwrap_or(u32::MAX), taken));
            (solution, done) = if taken == rows.len() { (solution + 1, 0) } else { (solution, done + taken) };
        }
        self.at = (solution, done);
    }
}

impl Operator for Lateral {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        out.reset(&self.vars);
        loop {
            self.shared.cx.cancel.check()?;
            if let Some(running) = &mut self.running {
                if running.deliver(&self.rows, self.shared.cx.batch_rows, out)? {
                    return Ok(true);
                }
                self.running = None;
            } else if let Some(task) = self.tasks.pop() {
                self.run(task)?;
            } else if self.refill()? {
                self.tasks = self.tasks();
            } else {
                return Ok(false);
            }
        }
    }
}

//! Running a plan: batches of ids out, counters aside.

use crate::answer::Unanswered;
use crate::context::QueryContext;
use crate::morsel::Assignment;
use crate::operator::{BoxOp, Operator};
use crate::parallel::{confined_to, operator};
use crate::profile::{Counters, NodeCounters, Probe};
use crate::shared::{Factory, Shared};
use crate::terms::{VisitTerm, answer_terms};
use lode_eval::batch::Batch;
use lode_eval::error::ExecError;
use lode_rdf::ValueId;
use lode_sparql::{Plan, VarId};
use std::ops::Range;
use std::sync::Arc;

/// A running plan.
pub struct Execution {
    shared: Arc<Shared>,
    vars: Arc<[VarId]>,
    root: BoxOp,
    unanswered: Unanswered,
}

impl Execution {
    /// Runs a plan.
    pub(crate) fn new(plan: Arc<Plan>, cx: &QueryContext, factory: Factory) -> Result<Self, ExecError> {
        let counters = Counters::new(&plan, &cx.share);
        Self::start(plan, cx, counters, factory)
    }

    /// Runs a plan as part of a node of another, or of whoever asks (see [`Counters::within`]).
    pub(crate) fn within(
        plan: Arc<Plan>,
        cx: &QueryContext,
        node: Option<&Arc<NodeCounters>>,
        factory: Factory,
    ) -> Result<Self, ExecError> {
        let counters = Counters::within(&plan, node, &cx.share);
        Self::start(plan, cx, counters, factory)
    }

    /// Runs the part of a plan whose values lie in `range`, with one thread but for what it needs once.
    pub(crate) fn between(
        plan: Arc<Plan>,
        cx: &QueryContext,
        range: &Range<ValueId>,
        factory: Factory,
    ) -> Result<Self, ExecError> {
        cx.cancel.check()?;
        let counters = Counters::new(&plan, &cx.share);
        let shared = Shared::new(plan, cx, counters, factory)?;
        let at_work = shared.counters.work();
        let node = &shared.plan.root;
        let part = confined_to(node, shared.single_graph, range)?;
        let root = shared.build(Assignment::morsel(&part, None), node, !node.sorted_by.is_empty())?;
        drop(at_work);
        let vars = node.vars.as_slice().into();
        Ok(Self { shared: Arc::clone(&shared), vars, root, unanswered: Unanswered::default() })
    }

    fn start(
        plan: Arc<Plan>,
        cx: &QueryContext,
        counters: Counters,
        factory: Factory,
    ) -> Result<Self, ExecError> {
        cx.cancel.check()?;
        let shared = Shared::new(plan, cx, counters, factory)?;
        let at_work = shared.counters.work();
        let root = operator(&shared, Assignment::default(), &shared.plan.root, false)?;
        drop(at_work);
        let vars = shared.plan.root.vars.as_slice().into();
        Ok(Self { shared, vars, root, unanswered: Unanswered::default() })
    }

    /// Runs until there are rows, and keeps these for who asks for the first.
    ///
    /// # Errors
    ///
    /// As [`Execution::next`].
    pub fn begin(&mut self) -> Result<(), ExecError> {
        let first = self.next()?;
        let root = std::mem::replace(&mut self.root, Box::new(Begun { first: None, root: None }));
        self.root = Box::new(Begun { first: Some(first), root: Some(root) });
        Ok(())
    }

    /// The next rows; `None` at the end. A batch has at least one row.
    ///
    /// # Errors
    ///
    /// Where an operator fails: the query was cancelled, memory ran out where nothing can be spilled, or the store, a
    /// temporary file or an endpoint fails.
    #[expect(clippy::should_implement_trait, reason = "it can fail, and iterators go on after an error")]
    pub fn next(&mut self) -> Result<Option<Batch>, ExecError> {
        next(&self.shared, &self.vars, &mut self.root)
    }

    /// Calls `make` with the next rows, to make of them what is answered: terms of ids, and their text; `None` at the end. Where `make` has
    /// no memory for all of them, it is called again with fewer.
    ///
    /// # Errors
    ///
    /// Where an operator fails: the query was cancelled, memory ran out where nothing can be spilled, or the store, a
    /// temporary file or an endpoint fails. What `make` returns, where fewer rows do not help.
    pub fn answer<T>(
        &mut self,
        make: impl FnMut(&QueryContext, &Batch) -> Result<T, ExecError>,
    ) -> Result<Option<T>, ExecError> {
        let Self { shared, vars, root, unanswered } = self;
        unanswered.answer(shared, || next(shared, vars, root), make)
    }

    /// Calls `visit` with the term of each id, in no order; what is unbound has none. Each id had better be there once.
    ///
    /// # Errors
    ///
    /// Where the query was cancelled, or the store cannot be read; what `visit` returns.
    pub fn terms(&self, ids: &[ValueId], visit: &mut VisitTerm<'_>) -> Result<(), ExecError> {
        answer_terms(&self.shared, ids, visit)
    }

    /// The columns of the batches.
    pub fn vars(&self) -> &Arc<[VarId]> {
        &self.vars
    }

    /// The plan that runs.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.shared.plan
    }

    /// The context it runs in.
    pub fn context(&self) -> &Arc<QueryContext> {
        &self.shared.cx
    }

    /// Tells what each node has done so far, now and later.
    pub fn probe(&self) -> Probe {
        Probe::new(&self.shared.plan, &self.shared.counters)
    }

    /// The shared state, for what follows the root.
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// The root operator, to be put below others.
    pub(crate) fn into_root(self) -> BoxOp {
        self.root
    }
}

fn next(shared: &Shared, vars: &Arc<[VarId]>, root: &mut BoxOp) -> Result<Option<Batch>, ExecError> {
    let mut batch = Batch::new(Arc::clone(vars));
    shared.cx.cancel.check()?;
    let _at_work = shared.counters.work();
    Ok(root.next(&mut batch)?.then_some(batch))
}

/// An operator that was asked for its first rows before who wants them.
struct Begun {
    /// These, until they are asked for; none at the end.
    first: Option<Option<Batch>>,
    root: Option<BoxOp>,
}

impl Operator for Begun {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        match (self.first.take(), &mut self.root) {
            (Some(Some(batch)), _) => {
                *out = batch;
                Ok(true)
            }
            (None, Some(root)) => root.next(out),
            (Some(None), _) | (None, None) => {
                out.clear();
                self.root = None;
                Ok(false)
            }
        }
    }
}

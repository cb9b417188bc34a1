//! From a query's text to its results.

use crate::EngineError;
use crate::caches::Caches;
use crate::elsewhere::{Planned, REPEATS_MAX, Told};
use crate::format::ResultKind;
use crate::hints::{self, Instance, Patterns};
use crate::inferred;
use crate::options::{DefaultGraph, QueryOptions};
use crate::plan_cache::{self, Common, Found, Keys};
use crate::reasoning;
use crate::report::{PlanReport, PlanReportNode, RunReport, StepReport, WarningReport};
use crate::results::{QueryResults, RowsLeft, Solutions, Triples};
use crate::text_memory::TextMemory;
use lode_base::cancel::with_current;
use lode_base::memory_budget::{MemoryBudget, Reservation};
use lode_exec::context::QueryContext;
use lode_exec::exists::ExistsRunner;
use lode_exec::memo::Memos;
use lode_exec::service::Federation;
use lode_exec::statistics::SnapshotStatistics;
use lode_exec::turns::Share;
use lode_exec::{Again, EvalContext, ExecError, Execution, OpenFragment, Probe, QueryResult};
use lode_rdf::{Term, Variable};
use lode_sparql::explain::{Explained, explain, steps_text};
use lode_sparql::parse::depth;
use lode_sparql::plan::{DatasetOverride, QueryForm, VisibleGraphs};
use lode_sparql::planner::PlanOptions;
use lode_sparql::schema::Schema;
use lode_sparql::stack;
use lode_sparql::syntax::Form;
use lode_sparql::template::Reuse;
use lode_sparql::{Plan, PlanWarning, warnings};
use lode_store::Snapshot;
use oxsdatatypes::DateTime;
use spargebra::Query;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Of plans that cost more the planner is rarely wrong that they take long.
const LONG_COST_NS: f64 = 5e8;
/// Of plans that cost more, of queries whose plans cannot be kept, the planner is believed that they are not short.
const SHORT_COST_NS: f64 = 1e6;

/// A planned query over one snapshot, ready to run.
pub struct PreparedQuery {
    plan: Arc<Plan>,
    /// What of it is most likely not meant, as far as its algebra tells;
    warnings: Arc<[PlanWarning]>,
    /// and with what its text and the data tell.
    hinted: OnceLock<Arc<[PlanWarning]>>,
    asked: Option<Asked>,
    cx: Arc<QueryContext>,
    /// The query among those with its plan, where that is of an earlier one.
    instance: Option<Instance>,
    rows_max: Option<u64>,
    planning: Duration,
    running: Mutex<Option<Running>>,
    /// What is remembered of queries with its plan.
    common: Common,
    /// What its plan takes.
    _memory: Option<TextMemory>,
    /// And the schema by which it reasons.
    _schema_memory: Vec<Reservation>,
    /// What others run of it.
    elsewhere: Option<Arc<dyn Told>>,
}

/// A text, for who asks what of it is most likely not meant.
struct Asked {
    text: Box<str>,
    base: Option<String>,
    patterns: Patterns,
}

impl Asked {
    /// A text that is to be kept, if it is not too long.
    fn new(text: &str, options: &QueryOptions) -> Option<Self> {
        let patterns = Patterns::of(options);
        let kept = (text.len() <= hints::BYTES_MAX).then(|| text.into());
        kept.map(|text| Self { text, base: options.base_iri.clone(), patterns })
    }
}

/// Longer texts are not looked at to tell whether they are short queries.
const SHORT_TEXT_BYTES_MAX: usize = 16 << 10;

/// The run that began last.
#[derive(Debug, Clone)]
struct Running {
    started: Instant,
    probe: Probe,
}

/// What a query shares with others, or has to itself.
pub(crate) struct SessionOptions {
    /// Bytes that its operators may hold.
    pub budget: MemoryBudget,
    /// `NOW()`.
    pub now: DateTime,
    /// What expressions were worth for terms met before.
    pub memos: Arc<Memos>,
    /// Its share of the processors.
    pub share: Share,
}

impl SessionOptions {
    /// Nothing shared.
    fn new(options: &QueryOptions) -> Self {
        let budget = options.budget();
        Self { budget, now: DateTime::now(), memos: Arc::default(), share: share_of(options) }
    }
}

/// The schema by which a query reasons, if it does, and what of its budget that takes.
pub(crate) fn schema(
    snapshot: &Snapshot,
    options: &QueryOptions,
    visible: Option<&VisibleGraphs>,
    caches: Option<&Caches>,
    budget: &MemoryBudget,
) -> Result<(Option<Arc<Schema>>, Vec<Reservation>), EngineError> {
    let Some(reasoning) = &options.reasoning else { return Ok((None, Vec::new())) };
    let (schema, mut memory) = match caches.filter(|_| visible.is_none()) {
        Some(caches) => {
            (caches.schemas.of(snapshot, reasoning, &options.cancel, budget)?, budget.reserve_empty())
        }
        None => reasoning::read(snapshot, reasoning, visible, &options.cancel, budget)?,
    };
    let tables = memory.grow(schema.table_bytes());
    tables.map_err(|error| EngineError::Execution(ExecError::OutOfMemory(error)))?;
    Ok(((!schema.is_empty()).then_some(schema), vec![memory]))
}

/// The share of the processors that a new query has.
pub(crate) fn share_of(options: &QueryOptions) -> Share {
    if options.takes_turns { Share::of(&options.cancel) } else { Share::aside() }
}

impl PreparedQuery {
    /// The number of the version that it asks.
    pub fn version_number(&self) -> u64 {
        self.cx.snapshot.version_number()
    }

    /// Parses and plans `text` over `snapshot`.
    ///
    /// # Errors
    /// Like [`crate::Database::prepare`].
    pub fn new(text: &str, snapshot: Snapshot, options: &QueryOptions) -> Result<Self, EngineError> {
        let (started, session) = (Instant::now(), SessionOptions::new(options));
        let (budget, share) = (session.budget.clone(), session.share.clone());
        let _turn = share.take_turn();
        let (prepared, memory) = parsed(text, options, &budget, |query, _| {
            Self::planned(query, snapshot, options, session, None)
        })?;
        let asked = Asked::new(text, options);
        let prepared = prepared.spread(options)?;
        Ok(Self { planning: started.elapsed(), asked, _memory: Some(memory), ..prepared })
    }

    /// The same over a version that transactions made public, with a plan of an earlier query where one fits.
    pub(crate) fn with_cache(
        text: &str,
        snapshot: Snapshot,
        options: &QueryOptions,
        caches: &Caches,
    ) -> Result<Self, EngineError> {
        let started = Instant::now();
        let session = SessionOptions { memos: caches.memos(&snapshot), ..SessionOptions::new(options) };
        let (budget, share) = (session.budget.clone(), session.share.clone());
        let _turn = share.take_turn();
        let work = |query: &Query, memory: &TextMemory| {
            Self::cached(query, snapshot, options, caches, session, memory.of_plan())
        };
        let (prepared, memory) = parsed(text, options, &budget, work)?;
        let asked = Asked::new(text, options);
        let prepared = prepared.spread(options)?;
        Ok(Self { planning: started.elapsed(), asked, _memory: Some(memory), ..prepared })
    }

    fn cached(
        query: &Query,
        snapshot: Snapshot,
        options: &QueryOptions,
        caches: &Caches,
        session: SessionOptions,
        plan_bytes: usize,
    ) -> Result<Self, EngineError> {
        let inferred = inferred::seen_by(&snapshot, options)?;
        let is_usual = plan_cache::is_usual(options) && !inferred::is_left_out(inferred.as_ref(), options);
        if !is_usual || !caches.plans.keeps(plan_bytes) {
            return Self::planned(query, snapshot, options, session, Some(caches));
        }
        let keys = Keys::new(query, options, inferred::key(inferred.as_ref(), options));
        if let Some(found) = caches.plans.find(&keys, &snapshot)? {
            return Ok(Self::again(query, found, snapshot, options, session));
        }
        Self::planned_anew(query, &keys, snapshot, options, caches, session, plan_bytes)
    }

    /// Plans a query, and keeps the plan, or what is to be remembered of queries like it whose plans cannot be kept.
    fn planned_anew(
        query: &Query,
        keys: &Keys<'_>,
        snapshot: Snapshot,
        options: &QueryOptions,
        caches: &Caches,
        session: SessionOptions,
        plan_bytes: usize,
    ) -> Result<Self, EngineError> {
        let prepared = Self::planned(query, snapshot, options, session, None)?;
        if prepared.plan.reuse == Reuse::Never {
            return Ok(Self { common: caches.plans.begin_unkept(keys), ..prepared });
        }
        caches.plans.keep(keys, &prepared.plan, &prepared.cx.snapshot, &prepared.common, plan_bytes)?;
        Ok(prepared)
    }

    /// Parses `text`; where a plan of an earlier query fits whose last runs were short, that; where plans of queries like it cannot be kept, and
    /// planning and running those was short, a plan that looks short: else `None`, without planning.
    pub(crate) fn short(
        text: &str,
        snapshot: Snapshot,
        options: &QueryOptions,
        caches: &Caches,
    ) -> Result<Option<Self>, EngineError> {
        let started = Instant::now();
        if !plan_cache::is_usual(options) || text.len() > SHORT_TEXT_BYTES_MAX {
            return Ok(None);
        }
        let session = SessionOptions { memos: caches.memos(&snapshot), ..SessionOptions::new(options) };
        let budget = session.budget.clone();
        let find = |query: &Query, memory: &TextMemory| {
            let inferred = inferred::seen_by(&snapshot, options)?;
            if inferred::is_left_out(inferred.as_ref(), options) {
                return Ok(None);
            }
            let keys = Keys::new(query, options, inferred::key(inferred.as_ref(), options));
            if let Some(found) = caches.plans.find(&keys, &snapshot)? {
                let is_short = found.common.shortness.is_short();
                return Ok(is_short.then(|| Self::again(query, found, snapshot, options, session)));
            }
            let Some(common) = caches.plans.unkept(&keys).filter(|common| common.shortness.is_short()) else {
                return Ok(None);
            };
            let bytes = memory.of_plan();
            let planned = Self::planned_anew(query, &keys, snapshot, options, caches, session, bytes);
            // Whatever the error is, the next one is not to wait for it.
            let planned = planned.inspect_err(|_| common.shortness.failed())?;
            Ok((planned.plan.root.cost < SHORT_COST_NS).then_some(planned))
        };
        let (found, memory) = parsed(text, options, &budget, find)?;
        let (planning, _memory) = (started.elapsed(), Some(memory));
        let asked = Asked::new(text, options);
        Ok(found.map(|prepared| Self { planning, asked, _memory, ..prepared }))
    }

    /// Plans a query over `snapshot`; with caches where that is a version that transactions made public.
    pub(crate) fn planned(
        query: &Query,
        snapshot: Snapshot,
        options: &QueryOptions,
        session: SessionOptions,
        caches: Option<&Caches>,
    ) -> Result<Self, EngineError> {
        Self::planned_over(query, None, snapshot, options, session, caches)
    }

    /// Plans the pattern of a query with terms in the place of some of its variables, blank nodes of the store among them; its columns are the others.
    pub(crate) fn with_terms(
        query: &Query,
        terms: &BTreeMap<String, Term>,
        snapshot: Snapshot,
        options: &QueryOptions,
        session: SessionOptions,
    ) -> Result<Self, EngineError> {
        Self::planned_over(query, Some(terms), snapshot, options, session, None)
    }

    fn planned_over(
        query: &Query,
        terms: Option<&BTreeMap<String, Term>>,
        snapshot: Snapshot,
        options: &QueryOptions,
        session: SessionOptions,
        caches: Option<&Caches>,
    ) -> Result<Self, EngineError> {
        let statistics = SnapshotStatistics::new(&snapshot, &session.budget, &options.cancel);
        let plan_options = PlanOptions {
            default_graph_union: options.default_graph == DefaultGraph::Union,
            optimize: options.optimize,
            groups_early: options.groups_early,
            joins_multiway: options.joins_multiway,
            spools_always: options.spools_always,
        };
        let given = options.dataset.clone().unwrap_or_default();
        let mut visible = options.graphs.visible(&snapshot, &options.cancel)?;
        let inferred = match &given.inferred {
            None => inferred::seen_by(&snapshot, options)?,
            given => given.clone(),
        };
        if let Some(of) = inferred.as_ref().filter(|of| inferred::is_left_out(Some(of), options)) {
            visible = Some(inferred::without(of.graph, visible, &snapshot)?);
        }
        let (schema, schema_memory) = schema(&snapshot, options, visible.as_ref(), caches, &session.budget)?;
        let schema = schema.or_else(|| given.schema.clone());
        // What is materialised is kept up by the triples that it follows from, and those of geometries are none of them.
        let relates_places = options.inferred && given.inferred.is_none();
        let dataset = DatasetOverride { visible, schema, inferred, relates_places, ..given };
        // What the planner asks of files that are far away may be called off.
        let plan = with_current(Some(&options.cancel), || {
            let plan = match terms {
                None => lode_sparql::plan_query(query, &dataset, &plan_options, &statistics),
                Some(terms) => {
                    lode_sparql::plan_with_terms(query, terms, &dataset, &plan_options, &statistics)
                }
            };
            plan.map_err(|error| EngineError::Plan(error.to_string()))
        });
        let reads_texts = statistics.reads_texts();
        statistics.finish()?;
        let mut planned = Self::over(query, Arc::new(plan?), snapshot, options, session);
        if reads_texts {
            planned.warnings = PlanWarning::with_texts_read(&planned.warnings);
        }
        Ok(Self { _schema_memory: schema_memory, ..planned })
    }

    /// The plan of an earlier query, for this one.
    fn again(
        query: &Query,
        found: Found,
        snapshot: Snapshot,
        options: &QueryOptions,
        session: SessionOptions,
    ) -> Self {
        let Found { plan, common, instance } = found;
        let prepared = Self::over(query, plan, snapshot, options, session);
        Self { instance: Some(instance), common, ..prepared }
    }

    /// A plan of a query over `snapshot`.
    fn over(
        query: &Query,
        plan: Arc<Plan>,
        snapshot: Snapshot,
        options: &QueryOptions,
        session: SessionOptions,
    ) -> Self {
        let SessionOptions { budget, now, memos, share } = session;
        let service = options.service.clone().map(Federation::new);
        let sub_queries = Arc::new(ExistsRunner::new(service.clone(), share.clone()));
        let eval = EvalContext {
            snapshot: snapshot.for_query(&options.cancel),
            local: Arc::default(),
            budget,
            cancel: options.cancel.clone(),
            now,
            dataset: Arc::clone(&plan.dataset),
            batch_rows: options.batch_rows.max(1),
            spill_dir: options.spill_dir.clone(),
            memos,
            vars: Arc::default(),
            sub_queries,
        };
        let threads = options.threads.max(1);
        let cx = Arc::new(QueryContext { eval, service, threads, share, domain: None, fragments: None });
        let (planning, running, common) = (Duration::ZERO, Mutex::default(), Common::default());
        let warnings = warnings::of_queries([query], hints::KNOWN);
        let warnings = match inferred::behind(&cx.eval.snapshot, options) {
            None => warnings,
            Some((of, version)) => PlanWarning::with_inferences(&warnings, of, version),
        };
        let rows_max = options.rows_max;
        let (hinted, asked, instance) = (OnceLock::new(), None, None);
        Self {
            plan,
            warnings,
            hinted,
            asked,
            cx,
            instance,
            rows_max,
            planning,
            running,
            common,
            _memory: None,
            _schema_memory: Vec::new(),
            elsewhere: None,
        }
    }

    /// Has parts of it run elsewhere, if somebody does that and it is worth it.
    fn spread(self, options: &QueryOptions) -> Result<Self, EngineError> {
        let Some(others) = &options.elsewhere else { return Ok(self) };
        if self.plan.root.cost < others.cost_min() {
            return Ok(self);
        }
        let eval = &self.cx.eval;
        let planned = Planned {
            plan: &self.plan,
            snapshot: &eval.snapshot,
            now: eval.now,
            cancel: &eval.cancel,
            budget: &eval.budget,
            visible: options.graphs.visible(&eval.snapshot, &options.cancel)?,
        };
        let Some(spread) = others.spread(planned)? else { return Ok(self) };
        Ok(Self { elsewhere: Some(spread.told), ..self.with_head(spread.head, spread.rows) })
    }

    /// Whether the plan is that of an earlier query, with other constants.
    pub fn is_from_cache(&self) -> bool {
        self.instance.is_some()
    }

    /// Whether it will likely take longer than some tenths of a second: since the last run of its plan did, or, where there was none, since
    /// the planner thinks so.
    pub fn is_long(&self) -> bool {
        let last = self.plan_is_kept().then(|| self.common.shortness.was_long()).flatten();
        last.unwrap_or(self.plan.root.cost >= LONG_COST_NS)
    }

    /// Whether its plan may be used for other queries, so that theirs tell of its time. Others like it have other plans, by their constants.
    fn plan_is_kept(&self) -> bool {
        self.plan.reuse != Reuse::Never
    }

    /// Rows that it would read from indexes, and make of them in joins, as the planner estimates. What a LIMIT spares counts.
    pub fn estimated_reads(&self) -> f64 {
        lode_sparql::reads(&self.plan)
    }

    /// Tells that a run expected to be short was given up: it takes more short runs than before until the next is expected to be.
    pub fn was_not_short(&self) {
        self.common.shortness.failed();
    }

    /// Tells how long a run took with its answer: see [`crate::Database::prepare_short`].
    pub fn ran(&self, took: Duration) {
        // Where plans cannot be kept, the next one is to be planned as well.
        let planning = if self.plan_is_kept() { Duration::ZERO } else { self.planning };
        self.common.shortness.ran(took + planning);
    }

    /// What it will return.
    pub fn kind(&self) -> ResultKind {
        match self.plan.form {
            QueryForm::Select(_) => ResultKind::Solutions,
            QueryForm::Ask => ResultKind::Boolean,
            QueryForm::Construct(_) | QueryForm::Describe(_) => ResultKind::Graph,
        }
    }

    /// What of it is most likely not meant. What its text and the data tell is looked up by the first call, within some milliseconds, of its
    /// time and memory.
    pub fn warnings(&self) -> &Arc<[PlanWarning]> {
        let Some(Asked { text, base, patterns }) = &self.asked else { return &self.warnings };
        self.hinted.get_or_init(|| {
            let warnings = PlanWarning::placed(&self.warnings, text, Form::Query);
            if self.has_nothing_to_say() {
                return warnings;
            }
            let eval = &self.cx.eval;
            let looked =
                hints::of_query(text, base.as_deref(), &eval.snapshot, *patterns, &eval.cancel, &eval.budget);
            if let Some(query) = &self.instance {
                self.common.hints.looked(query, self.stars(), &looked);
            }
            if looked.hints.is_empty() {
                return warnings;
            }
            PlanWarning::with_hints(&warnings, looked.hints)
        })
    }

    fn stars(&self) -> usize {
        self.asked.as_ref().map_or(0, |asked| asked.text.matches('*').count())
    }

    /// Whether an earlier query of its plan tells that there are no hints.
    pub(crate) fn has_nothing_to_say(&self) -> bool {
        self.instance.as_ref().is_some_and(|query| self.common.hints.is_silent(query, self.stars()))
    }

    /// The plan as a tree below the warnings, and how it was made, for people.
    pub fn explain(&self) -> String {
        let mut text: String =
            self.warnings().iter().map(|warning| format!("warning: {warning}\n")).collect();
        text += &stack::deep(self.plan.depth, || self.explained().to_text(&|_| String::new()));
        if let Some(others) = &self.elsewhere {
            text = text + "\n" + &others.text();
        }
        text + "\n" + &steps_text(&self.plan.steps)
    }

    /// The plan, and what has become of it if it was run: all that there is to tell.
    pub fn report(&self) -> PlanReport {
        let profile = self.running().map(|running| running.probe.profile());
        PlanReport {
            form: match self.plan.form {
                QueryForm::Select(_) => "select",
                QueryForm::Ask => "ask",
                QueryForm::Construct(_) => "construct",
                QueryForm::Describe(_) => "describe",
            },
            from_cache: self.is_from_cache(),
            planning_seconds: self.planning.as_secs_f64(),
            estimated_reads: self.estimated_reads(),
            warnings: self.warnings().iter().map(ToString::to_string).collect(),
            warning_details: self.warnings().iter().map(WarningReport::new).collect(),
            steps: self.plan.steps.iter().map(StepReport::new).collect(),
            plan: stack::deep(self.plan.depth, || PlanReportNode::new(self.explained(), profile.as_ref())),
            run: self.run_report(),
            elsewhere: self.elsewhere.as_ref().map(|others| others.json()),
        }
    }

    /// What its run has done so far, if there is one; from any thread.
    pub fn run_report(&self) -> Option<RunReport> {
        let Running { started, probe } = self.running()?;
        let profile = probe.profile();
        let (total, activity) = (profile.total(), self.cx.snapshot.activity().sample());
        Some(RunReport {
            seconds: started.elapsed().as_secs_f64(),
            rows: total.rows,
            threads: profile.threads,
            memory_bytes: self.cx.budget.used(),
            memory_bytes_max: self.cx.budget.peak(),
            terms_looked_up: activity.term_lookups,
            terms_read: activity.terms_read,
            answer: profile.answer.into(),
            total: total.into(),
        })
    }

    /// For how long its run has computed so far, all threads together: without what it waited for others, and for who takes its answer.
    pub fn computed(&self) -> Duration {
        let total = self.running().map(|running| running.probe.profile().total());
        Duration::from_nanos(total.map_or(0, |total| total.time_ns))
    }

    fn running(&self) -> Option<Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The plan as a tree.
    fn explained(&self) -> Explained {
        let name = |id| self.cx.term(id).map_or_else(|_| format!("{id:?}"), |term| term.to_string());
        explain(&self.plan, &name)
    }

    /// The plan, for tools.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The version that it asks.
    pub fn snapshot(&self) -> &Snapshot {
        &self.cx.snapshot
    }

    /// `NOW()` in it.
    pub fn now(&self) -> DateTime {
        self.cx.now
    }

    /// The same query, of whose plan others run parts (crate `fragment`): `head` is what is left of it, and `fragments` gets the rows of those.
    #[must_use]
    pub fn with_head(mut self, head: Plan, fragments: OpenFragment) -> Self {
        self.plan = Arc::new(head);
        self.cx = Arc::new(QueryContext { fragments: Some(fragments), ..(*self.cx).clone() });
        self
    }

    /// Starts it: rows of ids.
    pub(crate) fn execute(&self) -> Result<Execution, EngineError> {
        Ok(lode_exec::execute(Arc::clone(&self.plan), Arc::clone(&self.cx))?)
    }

    /// Runs it.
    ///
    /// # Errors
    /// Where the query was cancelled or took too long, needs more memory than it may take, or the store cannot be read. All but an ASK may fail so
    /// later, as rows are read.
    pub fn run(&self) -> Result<QueryResults, EngineError> {
        let started = Instant::now();
        let (mut repeats, mut is_here) = (0, false);
        let execution = loop {
            let mut execution = self.execute()?;
            let running = Running { started, probe: execution.probe() };
            *self.running.lock().unwrap_or_else(PoisonError::into_inner) = Some(running);
            if self.elsewhere.is_none() {
                break execution;
            }
            // Nothing of it was handed out: it can be begun again.
            let begun = execution.begin();
            match begun.as_ref().map_err(ExecError::again) {
                Err(Again::Elsewhere) if repeats < REPEATS_MAX => repeats += 1,
                Err(Again::Here) if !is_here => is_here = true,
                _ => break begun.map(|()| execution)?,
            }
        };
        Ok(match execution.into_result()? {
            QueryResult::Solutions(execution) => {
                let name = |var: &lode_sparql::VarId| Variable::new_unchecked(self.plan.vars.name(*var));
                let variables = execution.vars().iter().map(name).collect();
                QueryResults::Solutions(Solutions {
                    variables,
                    execution,
                    rows: RowsLeft::new(self.rows_max),
                })
            }
            QueryResult::Boolean(value) => QueryResults::Boolean(value),
            QueryResult::Graph(inner) => {
                QueryResults::Graph(Triples { inner, rows: RowsLeft::new(self.rows_max) })
            }
        })
    }
}

/// The variables of a query, by name without `?`, wherever they stand.
///
/// # Errors
/// [`EngineError::Syntax`] where it is none, with all that is wrong and its places.
pub fn query_variables(text: &str, base_iri: Option<&str>) -> Result<BTreeSet<String>, EngineError> {
    let query = lode_sparql::parse_query(text, base_iri)?;
    Ok(stack::deep(depth::of_query(&query).for_plans(), || {
        let variables = lode_sparql::variables(&query);
        drop(query);
        variables
    }))
}

/// Parses `text`, and has `work` done with the query: where that is deep, with the stack it takes, to drop it as well. The memory of
/// both is taken from the budget; what is left of it is for as long as the plan is there.
fn parsed<T>(
    text: &str,
    options: &QueryOptions,
    budget: &MemoryBudget,
    work: impl FnOnce(&Query, &TextMemory) -> Result<T, EngineError>,
) -> Result<(T, TextMemory), EngineError> {
    options.cancel.check().map_err(EngineError::Cancelled)?;
    let mut memory = TextMemory::of_query(text, &options.bindings, budget)?;
    let query = lode_sparql::parse_query(text, options.base_iri.as_deref())?;
    options.cancel.check().map_err(EngineError::Cancelled)?;
    let done = stack::deep(depth::of_query(&query).for_plans(), || {
        let query =
            if options.bindings.is_empty() { query } else { lode_sparql::bind(query, &options.bindings) };
        let done = work(&query, &memory);
        drop(query);
        done
    })?;
    memory.keep_plan();
    Ok((done, memory))
}

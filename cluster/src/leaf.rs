//! A fragment of a plan, run by our own engine: over ranges of values as a leaf, or over the rows of other fragments that were exchanged.

use crate::arriving::{Arriving, open};
use crate::call::{Call, Running};
use crate::collected::{LeafMetrics, thread_processor_ns};
use crate::columns::{Column, ColumnError, schema, to_arrow};
use crate::databases::{DatabaseError, Databases};
use crate::failure::{self, Fault};
use crate::part::{Part, Spread};
use crate::queues::{BROKE_OFF, Maker, Queues};
use crate::spreading::{Spreader, waiting_bytes};
use crate::work::Work;
use datafusion::arrow::array::RecordBatch;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, internal_err};
use datafusion::error::DataFusionError;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties,
};
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt};
use lode_base::cancel::CancelToken;
use lode_base::memory_budget::{MemoryBudget, Reservation};
use lode_engine::Database;
use lode_engine::store::Snapshot;
use lode_exec::Execution;
use lode_fragment::{RunOptions, read, run, run_over};
use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// What fragments run in at a worker.
#[derive(Debug)]
pub struct Site {
    /// What there is to read.
    pub databases: Arc<Databases>,
    /// The memory of all fragments.
    pub memory: MemoryBudget,
    /// Where they spill.
    pub spill_dir: PathBuf,
    /// No fragment runs longer.
    pub time_max: Duration,
    /// What is done here.
    pub work: Arc<Work>,
}

/// Batches of a partition that are made before somebody takes them.
const BATCHES_AHEAD: usize = 2;

/// The operator. It promises nothing of which rows are in which partition: a leaf that claims to be partitioned by hash gives wrong answers where it
/// meets an exchange that really is.
#[derive(Debug)]
pub struct FragmentExec {
    part: Arc<Part>,
    /// Exchanges; none: it is a leaf.
    inputs: Vec<Arc<dyn ExecutionPlan>>,
    properties: Arc<PlanProperties>,
    /// None at a head, which only sends it.
    site: Option<Arc<Site>>,
    metrics: ExecutionPlanMetricsSet,
    /// Where its rows are spread: what makes them has begun with the first that is asked for.
    begun: OnceLock<Result<Arc<Queues>, Arc<DataFusionError>>>,
}

impl FragmentExec {
    pub(crate) fn new(part: Part, site: Option<Arc<Site>>) -> Self {
        Self::over(part, Vec::new(), site)
    }

    /// Over the rows of `inputs`, whose partitions are its own.
    pub(crate) fn over(part: Part, inputs: Vec<Arc<dyn ExecutionPlan>>, site: Option<Arc<Site>>) -> Self {
        let of_input = |input: &Arc<dyn ExecutionPlan>| input.output_partitioning().partition_count();
        let partitions = match &part.spread {
            Some(spread) => spread.takers,
            None => inputs.first().map_or(part.ranges.len(), of_input),
        };
        let partitioning = Partitioning::UnknownPartitioning(partitions);
        let equivalences = EquivalenceProperties::new(schema(&part.columns));
        let properties =
            PlanProperties::new(equivalences, partitioning, EmissionType::Incremental, Boundedness::Bounded);
        let metrics = ExecutionPlanMetricsSet::new();
        let begun = OnceLock::new();
        Self { part: Arc::new(part), inputs, properties: Arc::new(properties), site, metrics, begun }
    }

    pub(crate) fn part(&self) -> &Part {
        &self.part
    }
}

impl DisplayAs for FragmentExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (version, columns) = (self.part.version, self.part.columns.len());
        let partitions = self.properties.output_partitioning().partition_count();
        write!(f, "FragmentExec: version={version}, columns={columns}, partitions={partitions}")
    }
}

impl ExecutionPlan for FragmentExec {
    fn name(&self) -> &str {
        "FragmentExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.inputs.iter().collect()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if children.len() != self.inputs.len() {
            return internal_err!("a fragment has {} inputs, and not {}", self.inputs.len(), children.len());
        }
        Ok(match children.is_empty() {
            true => self,
            false => Arc::new(Self::over((*self.part).clone(), children, self.site.clone())),
        })
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let Some(site) = self.site.as_ref() else {
            return internal_err!("a fragment is run by workers only");
        };
        if partition >= self.properties.output_partitioning().partition_count() {
            return internal_err!("a fragment has no partition {partition}");
        }
        let rows: BoxStream<'static, Result<RecordBatch>> = match &self.part.spread {
            Some(spread) => {
                let begun = self.begun.get_or_init(|| self.spread(spread, site, &context).map_err(Arc::new));
                let queues = begun.as_ref().map_err(|error| DataFusionError::Shared(Arc::clone(error)))?;
                queues.take(partition)?.boxed()
            }
            None => self.begin(partition, site, &context)?.boxed(),
        };
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), rows)))
    }
}

impl FragmentExec {
    /// Until when it runs.
    fn token(&self, site: &Site) -> CancelToken {
        CancelToken::new(Some(self.part.time_left.unwrap_or(site.time_max).min(site.time_max)))
    }

    /// What it is made of, for one of its partitions.
    fn arriving(&self, partition: usize, context: &Arc<TaskContext>) -> Result<(Vec<Arriving>, JoinSet<()>)> {
        let mut pumps = JoinSet::new();
        let inputs = self.inputs.iter().map(|input| input.execute(partition, Arc::clone(context)));
        let inputs = inputs.map(|rows| Arriving::new(rows?, &mut pumps)).collect::<Result<Vec<_>>>()?;
        Ok((inputs, pumps))
    }

    /// Begins to make the rows of a partition.
    fn begin(&self, partition: usize, site: &Arc<Site>, context: &Arc<TaskContext>) -> Result<Rows> {
        let cancel = self.token(site);
        let (inputs, pumps) = self.arriving(partition, context)?;
        if let Some(call) = context.session_config().get_extension::<Call>() {
            let ends = inputs.iter().map(|input| input.end.clone()).collect();
            call.ends(Running { token: cancel.clone(), inputs: ends, queues: None });
        }
        let (sender, rows) = mpsc::channel(BATCHES_AHEAD);
        let thread = self.thread(partition, site, &cancel);
        tokio::task::spawn_blocking(move || {
            let sent = thread.run(inputs, &mut To::One(&sender));
            // Nobody waits for it where the receiver is gone.
            let _ = sender.blocking_send(match sent {
                Ok(()) => Ok(Sent::End),
                Err(error) => Err(error),
            });
        });
        Ok(Rows { rows, cancel, has_ended: false, _pumps: pumps })
    }

    /// Begins to make all rows, and to spread them.
    fn spread(&self, spread: &Spread, site: &Arc<Site>, context: &Arc<TaskContext>) -> Result<Arc<Queues>> {
        let cancel = self.token(site);
        // What is made of the rows of others is one: see `stages`.
        let (inputs, pumps) = self.arriving(0, context)?;
        let makers = if inputs.is_empty() { self.part.ranges.len() } else { 1 };
        let ends = inputs.iter().map(|input| input.end.clone()).collect();
        let queues = Queues::new((spread.takers, makers), &site.memory, cancel.clone(), pumps);
        if let Some(call) = context.session_config().get_extension::<Call>() {
            call.ends(Running { token: cancel.clone(), inputs: ends, queues: Some(Arc::clone(&queues)) });
        }
        let mut inputs = Some(inputs);
        for number in 0..makers {
            let (thread, maker) = (self.thread(number, site, &cancel), queues.maker());
            let inputs = inputs.take().unwrap_or_default();
            tokio::task::spawn_blocking(move || {
                let part = Arc::clone(&thread.part);
                let Some(spread) = &part.spread else { return };
                let to = Spreader::new(spread, &part.columns);
                let made = thread.run(inputs, &mut To::Many(Box::new(to), &maker));
                maker.end(made);
            });
        }
        Ok(queues)
    }

    fn thread(&self, number: usize, site: &Arc<Site>, cancel: &CancelToken) -> Thread {
        Thread {
            part: Arc::clone(&self.part),
            site: Arc::clone(site),
            cancel: cancel.clone(),
            metrics: LeafMetrics::new(&self.metrics, number),
            number,
        }
    }
}

/// What comes of a fragment. Without the last of it, whoever runs it has broken off.
enum Sent {
    Rows(RecordBatch),
    End,
}

/// Rows of a partition. Who drops it calls the fragment off.
struct Rows {
    rows: mpsc::Receiver<Result<Sent>>,
    cancel: CancelToken,
    has_ended: bool,
    /// What gets the rows of inputs: who drops this ends them.
    _pumps: JoinSet<()>,
}

impl Stream for Rows {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.has_ended {
            return Poll::Ready(None);
        }
        let Poll::Ready(sent) = self.rows.poll_recv(cx) else { return Poll::Pending };
        Poll::Ready(match sent {
            Some(Ok(Sent::Rows(batch))) => Some(Ok(batch)),
            Some(Ok(Sent::End)) => {
                self.has_ended = true;
                None
            }
            Some(Err(error)) => {
                self.has_ended = true;
                Some(Err(error))
            }
            None => {
                self.has_ended = true;
                Some(Err(failure::error(Fault::Query, BROKE_OFF)))
            }
        })
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

/// Who gets the rows that a thread makes.
enum To<'a> {
    One(&'a mpsc::Sender<Result<Sent>>),
    Many(Box<Spreader<'a>>, &'a Maker),
}

/// A thread that runs a fragment.
struct Thread {
    part: Arc<Part>,
    site: Arc<Site>,
    cancel: CancelToken,
    metrics: LeafMetrics,
    /// Which ranges are its.
    number: usize,
}

impl Thread {
    /// Runs it, over these inputs if there are any, and tells what that took.
    fn run(&self, inputs: Vec<Arriving>, to: &mut To<'_>) -> Result<()> {
        let _running = self.site.work.begin();
        let before = thread_processor_ns();
        let made = match inputs.is_empty() {
            true => self.over_ranges(to),
            false => self.over_inputs(inputs, to),
        };
        if let (Some(before), Some(after)) = (before, thread_processor_ns()) {
            self.metrics.worked(after.saturating_sub(before));
            self.site.work.worked(after.saturating_sub(before));
        }
        if made.is_err() {
            self.site.work.failed();
        }
        made
    }

    fn over_ranges(&self, to: &mut To<'_>) -> Result<()> {
        let (_held, snapshot) = self.snapshot()?;
        let fragment = read(&self.part.fragment, &snapshot).map_err(|error| failure::of_fragment(&error))?;
        let options = self.options();
        let _waiting = self.reserve(&options, self.spreading_bytes())?;
        for range in self.part.ranges.get(self.number).into_iter().flatten() {
            let running = run(&fragment, &snapshot, range, &options);
            let running = running.map_err(|error| failure::of_fragment(&error))?;
            if !self.send(running, to)? {
                return Ok(());
            }
        }
        self.send_rest(to)
    }

    fn over_inputs(&self, inputs: Vec<Arriving>, to: &mut To<'_>) -> Result<()> {
        let (_held, snapshot) = self.snapshot()?;
        let fragment = read(&self.part.fragment, &snapshot).map_err(|error| failure::of_fragment(&error))?;
        let options = self.options();
        let waiting = usize::try_from(self.part.waiting_bytes).unwrap_or(usize::MAX);
        let _waiting = self.reserve(&options, waiting.saturating_add(self.spreading_bytes()))?;
        let failed = Arc::new(Mutex::new(None));
        let opened = open(&fragment, inputs, &failed)?;
        let running = run_over(&fragment, &snapshot, opened, &options);
        let sent = running.map_err(|error| failure::of_fragment(&error)).and_then(|running| {
            match self.send(running, to)? {
                true => self.send_rest(to),
                false => Ok(()),
            }
        });
        // What an input said is passed on as it was said.
        match (failed.lock().unwrap_or_else(PoisonError::into_inner).take(), self.cancel.check()) {
            (Some(error), _) => Err(error),
            // An input that broke off did so since nobody wants its rows any more.
            (None, Err(cancelled)) if sent.is_err() => {
                Err(failure::error(Fault::Cancelled, &cancelled.to_string()))
            }
            (None, _) => sent,
        }
    }

    /// Where there is no room for them here, the head has room or says what to do.
    fn reserve(&self, options: &RunOptions, waiting: usize) -> Result<Reservation> {
        options.budget.reserve(waiting).map_err(|_| {
            let message = format!("no memory for {waiting} bytes of rows on their way (--memory)");
            failure::error(Fault::Worker, &message)
        })
    }

    fn spreading_bytes(&self) -> usize {
        self.part.spread.as_ref().map_or(0, |spread| waiting_bytes(&self.part.columns, spread.takers))
    }

    fn snapshot(&self) -> Result<(Arc<Database>, Snapshot)> {
        let opened = self.site.databases.version(self.part.database, self.part.version, &self.cancel);
        opened.map_err(|error| {
            let fault = match &error {
                _ if self.cancel.check().is_err() => Fault::Cancelled,
                // What cannot be opened here may be opened elsewhere.
                DatabaseError::Missing { .. } | DatabaseError::Engine(_) | DatabaseError::Remote(_) => {
                    Fault::Worker
                }
                DatabaseError::Cancelled(_) => Fault::Cancelled,
            };
            failure::error(fault, &error.to_string())
        })
    }

    fn options(&self) -> RunOptions {
        let memory = &self.site.memory;
        RunOptions {
            budget: memory.part(memory.limit()),
            spill_dir: self.site.spill_dir.clone(),
            ..RunOptions::new(0, self.cancel.clone())
        }
    }

    /// Sends all rows; `false`: nobody takes them any more.
    fn send(&self, mut running: Execution, to: &mut To<'_>) -> Result<bool> {
        let columns: &[Column] = &self.part.columns;
        let schema = schema(columns);
        while let Some(batch) = running.next().map_err(|error| failure::of_fragment(&error.into()))? {
            let is_taken = match to {
                To::One(to) => {
                    let batch = to_arrow(batch, columns, &schema, running.context()).map_err(of_columns)?;
                    self.count(&batch);
                    to.blocking_send(Ok(Sent::Rows(batch))).is_ok()
                }
                To::Many(spreader, maker) => {
                    spreader.push(&batch, running.context()).map_err(of_columns)?;
                    self.hand_over(spreader, maker, false)?
                }
            };
            if !is_taken {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What waits to become a batch.
    fn send_rest(&self, to: &mut To<'_>) -> Result<()> {
        match to {
            To::One(_) => Ok(()),
            To::Many(spreader, maker) => self.hand_over(spreader, maker, true).map(drop),
        }
    }

    /// Hands on what is enough for a taker, or all.
    fn hand_over(&self, spreader: &mut Spreader<'_>, maker: &Maker, is_all: bool) -> Result<bool> {
        while let Some((taker, batch)) = spreader.next(is_all).map_err(of_columns)? {
            self.count(&batch);
            if !maker.push(taker, batch)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn count(&self, batch: &RecordBatch) {
        let (rows, bytes) = (batch.num_rows(), batch.get_array_memory_size());
        self.metrics.sent(rows, bytes);
        self.site.work.sent(rows, bytes);
    }
}

fn of_columns(error: ColumnError) -> DataFusionError {
    match error {
        ColumnError::Arrow(error) => error.into(),
        ColumnError::Value(error) => failure::of_fragment(&error),
    }
}

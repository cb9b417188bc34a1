//! The leaf: a fragment of a plan over ranges of values, run by our own engine.

use crate::call::Call;
use crate::collected::{LeafMetrics, thread_processor_ns};
use crate::columns::{Column, schema, to_arrow};
use crate::databases::{DatabaseError, Databases};
use crate::failure::{self, Fault};
use crate::part::Part;
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
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures_util::Stream;
use lode_base::cancel::CancelToken;
use lode_base::memory_budget::MemoryBudget;
use lode_fragment::{RunOptions, read, run};
use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc;

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

/// The leaf. It promises nothing of which rows are in which partition: a leaf that claims to be partitioned by hash gives wrong answers where it meets
/// an exchange that really is.
#[derive(Debug)]
pub struct FragmentExec {
    part: Arc<Part>,
    properties: Arc<PlanProperties>,
    /// None at a head, which only sends it.
    site: Option<Arc<Site>>,
    metrics: ExecutionPlanMetricsSet,
}

impl FragmentExec {
    pub(crate) fn new(part: Part, site: Option<Arc<Site>>) -> Self {
        let partitioning = Partitioning::UnknownPartitioning(part.ranges.len());
        let equivalences = EquivalenceProperties::new(schema(&part.columns));
        let properties =
            PlanProperties::new(equivalences, partitioning, EmissionType::Incremental, Boundedness::Bounded);
        let metrics = ExecutionPlanMetricsSet::new();
        Self { part: Arc::new(part), properties: Arc::new(properties), site, metrics }
    }

    pub(crate) fn part(&self) -> &Part {
        &self.part
    }
}

impl DisplayAs for FragmentExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Part { version, columns, ranges, .. } = &*self.part;
        write!(f, "FragmentExec: version={version}, columns={}, partitions={}", columns.len(), ranges.len())
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
        Vec::new()
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
        match children.is_empty() {
            true => Ok(self),
            false => internal_err!("a leaf has no children"),
        }
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let Some(site) = self.site.clone() else {
            return internal_err!("a fragment is run by workers only");
        };
        if partition >= self.part.ranges.len() {
            return internal_err!("a fragment has no partition {partition}");
        }
        let part = Arc::clone(&self.part);
        let time = part.time_left.unwrap_or(site.time_max).min(site.time_max);
        let cancel = CancelToken::new(Some(time));
        if let Some(call) = context.session_config().get_extension::<Call>() {
            call.ends(&cancel);
        }
        let (sender, rows) = mpsc::channel(BATCHES_AHEAD);
        let token = cancel.clone();
        let metrics = LeafMetrics::new(&self.metrics, partition);
        tokio::task::spawn_blocking(move || {
            let _running = site.work.begin();
            let before = thread_processor_ns();
            let sent = send_rows(&part, partition, &site, &token, &|batch| {
                let (rows, bytes) = (batch.num_rows(), batch.get_array_memory_size());
                metrics.sent(rows, bytes);
                site.work.sent(rows, bytes);
                sender.blocking_send(Ok(Sent::Rows(batch))).is_ok()
            });
            if let (Some(before), Some(after)) = (before, thread_processor_ns()) {
                metrics.worked(after.saturating_sub(before));
                site.work.worked(after.saturating_sub(before));
            }
            if sent.is_err() {
                site.work.failed();
            }
            // Nobody waits for it where the receiver is gone.
            let _ = sender.blocking_send(match sent {
                Ok(()) => Ok(Sent::End),
                Err(error) => Err(error),
            });
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), Rows { rows, cancel, has_ended: false })))
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
                Some(Err(failure::error(Fault::Query, "a fragment broke off: see what the worker says")))
            }
        })
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

fn send_rows(
    part: &Part,
    partition: usize,
    site: &Site,
    cancel: &CancelToken,
    send: &dyn Fn(RecordBatch) -> bool,
) -> Result<()> {
    let opened = site.databases.version(part.database, part.version, cancel);
    let (_held, snapshot) = opened.map_err(|error| {
        let fault = match &error {
            _ if cancel.check().is_err() => Fault::Cancelled,
            // What cannot be opened here may be opened elsewhere.
            DatabaseError::Missing { .. } | DatabaseError::Engine(_) | DatabaseError::Remote(_) => {
                Fault::Worker
            }
            DatabaseError::Cancelled(_) => Fault::Cancelled,
        };
        failure::error(fault, &error.to_string())
    })?;
    let fragment = read(&part.fragment, &snapshot).map_err(|error| failure::of_fragment(&error))?;
    let options = RunOptions {
        budget: site.memory.part(site.memory.limit()),
        spill_dir: site.spill_dir.clone(),
        ..RunOptions::new(0, cancel.clone())
    };
    let columns: &[Column] = &part.columns;
    let schema = schema(columns);
    for range in part.ranges.get(partition).into_iter().flatten() {
        let running = run(&fragment, &snapshot, range, &options);
        let mut running = running.map_err(|error| failure::of_fragment(&error))?;
        while let Some(batch) = running.next().map_err(|error| failure::of_fragment(&error.into()))? {
            let batch = to_arrow(batch, columns, &schema).map_err(DataFusionError::from)?;
            // Nobody wants more.
            if !send(batch) {
                return Ok(());
            }
        }
    }
    Ok(())
}

//! What workers say of the tasks that they have run, and how they come to know it: metrics of DataFusion under names of ours.

use crate::health::Done;
use datafusion::physical_plan::metrics::{
    Count, ExecutionPlanMetricsSet, MetricBuilder, MetricValue, MetricsSet,
};
use datafusion_distributed::TaskMetrics;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use url::Url;

const ROWS: &str = "lode_rows";
const BYTES: &str = "lode_bytes";
const PROCESSOR: &str = "lode_processor_ns";
/// Of datafusion-distributed: what an exchange took of other tasks.
const RECEIVED: &str = "bytes_transferred";

/// What a partition of a leaf has done so far.
#[derive(Debug, Clone)]
pub struct LeafMetrics {
    rows: Count,
    bytes: Count,
    processor_ns: Count,
}

impl LeafMetrics {
    pub fn new(set: &ExecutionPlanMetricsSet, partition: usize) -> Self {
        let count = |name| MetricBuilder::new(set).counter(name, partition);
        Self { rows: count(ROWS), bytes: count(BYTES), processor_ns: count(PROCESSOR) }
    }

    pub fn sent(&self, rows: usize, bytes: usize) {
        self.rows.add(rows);
        self.bytes.add(bytes);
    }

    pub fn worked(&self, nanoseconds: u64) {
        self.processor_ns.add(usize::try_from(nanoseconds).unwrap_or(usize::MAX));
    }
}

/// Nanoseconds of processors that this thread has used, where the system tells.
pub fn thread_processor_ns() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// What a task did.
pub fn done(metrics: &TaskMetrics) -> Done {
    let mut done = Done { tasks: 1, ..Done::default() };
    metrics.pre_order_plan_metrics.iter().for_each(|set| add(set, &mut done));
    done
}

fn add(set: &MetricsSet, done: &mut Done) {
    // What takes rows from others counts the time until they come as its own.
    let waits = set.iter().any(|metric| metric.value().name() == RECEIVED);
    for metric in set.iter() {
        let value = metric.value().as_usize() as u64;
        match metric.value() {
            MetricValue::ElapsedCompute(_) if waits => {}
            MetricValue::ElapsedCompute(_) => done.above_ns += value,
            named => match named.name() {
                ROWS => done.rows += value,
                BYTES => done.bytes += value,
                PROCESSOR => done.processor_ns += value,
                RECEIVED => done.bytes_received += value,
                _ => {}
            },
        }
    }
}

/// What the tasks of a fragment did, by the number of their stage and by workers.
#[derive(Debug, Default)]
pub struct Collected(Mutex<BTreeMap<(usize, Url), Done>>);

impl Collected {
    pub fn add(&self, stage: usize, worker: &Url, more: &Done) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry((stage, worker.clone())).or_default().add(more);
    }

    /// A run was begun anew.
    pub fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Rows and bytes of all tasks.
    pub fn sent(&self) -> (u64, u64) {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.values().fold((0, 0), |(rows, bytes), done| (rows + done.rows, bytes + done.bytes))
    }

    /// In the order of stages and workers.
    pub fn all(&self) -> Vec<(usize, Url, Done)> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().map(|((stage, worker), done)| (*stage, worker.clone(), *done)).collect()
    }

    pub fn json(&self) -> Value {
        let one = |(stage, worker, done): (usize, Url, Done)| {
            let mut told = done.json();
            told["stage"] = stage.into();
            told["worker"] = worker.as_str().into();
            told
        };
        json!(self.all().into_iter().map(one).collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    //! From what a leaf counts to what is told of it.
    use super::*;

    #[test]
    fn what_leaves_count_is_added_up() {
        let set = ExecutionPlanMetricsSet::new();
        for partition in 0..2 {
            let leaf = LeafMetrics::new(&set, partition);
            leaf.sent(5, 80);
            leaf.sent(1, 16);
            leaf.worked(1_000);
        }
        let metrics =
            TaskMetrics { pre_order_plan_metrics: vec![set.clone_inner()], task_metrics: MetricsSet::new() };
        let found = done(&metrics);
        let wanted = Done { tasks: 1, rows: 12, bytes: 192, processor_ns: 2_000, ..Done::default() };
        assert_eq!(found, wanted);
        let (all, url) = (Collected::default(), Url::parse("http://127.0.0.1:1").unwrap());
        all.add(2, &url, &found);
        all.add(1, &url, &found);
        all.add(1, &url, &found);
        assert_eq!(
            all.all().iter().map(|(stage, _, done)| (*stage, done.tasks)).collect::<Vec<_>>(),
            [(1, 2), (2, 1)]
        );
        assert_eq!(all.json()[0]["rows"], 24);
        assert_eq!(all.sent(), (36, 576));
        all.clear();
        assert!(all.all().is_empty());
    }

    #[test]
    fn work_of_this_thread_is_counted() {
        let Some(before) = thread_processor_ns() else { return };
        let mut sum = 0_u64;
        while thread_processor_ns() == Some(before) {
            sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(1));
        }
        assert!(thread_processor_ns().unwrap() > before);
    }
}

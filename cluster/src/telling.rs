//! What `--explain` and `--profile` tell of stages at workers.

use crate::health::Done;
use crate::running::Running;
use crate::stage::Above;
use lode_engine::Told;
use serde_json::{Value, json};
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use url::Url;

/// Tells it of a query.
pub struct Telling {
    pub running: Arc<Running>,
    /// Operators that stay at the head, with the reasons.
    pub stays: Vec<(&'static str, &'static str)>,
}

const fn exchange(above: Above) -> &'static str {
    match above {
        Above::InOrder => "to the head, ranges in order",
        Above::Nothing => "to the head",
        Above::Exchange => "by hash between workers",
    }
}

/// What the tasks of a stage did at a worker.
fn line(stage: usize, worker: &Url, done: &Done) -> String {
    let seconds = |nanoseconds| Duration::from_nanos(nanoseconds).as_secs_f64();
    let mut text = format!(
        "stage {stage} at {worker}: {} tasks, {} rows, {} bytes, {:.3} s of processors in fragments",
        done.tasks,
        done.rows,
        done.bytes,
        seconds(done.processor_ns)
    );
    if done.bytes_received > 0 {
        let _ = write!(text, ", {} bytes from other tasks", done.bytes_received);
    }
    if done.above_ns > 0 {
        let _ = write!(text, ", {:.3} s in operators above", seconds(done.above_ns));
    }
    text
}

impl Told for Telling {
    fn text(&self) -> String {
        let mut text = String::new();
        for (number, stage) in self.running.stages.iter().enumerate() {
            let by = stage.key.as_ref().map_or_else(String::new, |key| format!(" by ?{key}"));
            let (ranges, tasks) = (stage.ranges.len(), stage.tasks);
            let exchange = exchange(stage.above);
            let _ =
                writeln!(text, "fragment {number}: {tasks} tasks, {ranges} ranges{by}; exchange: {exchange}");
            for (task, url) in self.running.routed(stage).iter().enumerate() {
                let _ = writeln!(text, "  task {task}: {url}");
            }
            let done = self.running.collected.get(number).map(|collected| collected.all());
            for (stage, worker, done) in done.unwrap_or_default() {
                let _ = writeln!(text, "  {}", line(stage, &worker, &done));
            }
        }
        for (operator, why) in &self.stays {
            let _ = writeln!(text, "{operator} stays at the head: {why}");
        }
        text
    }

    fn json(&self) -> Value {
        let stages = self.running.stages.iter().enumerate().map(|(number, stage)| {
            let collected = self.running.collected.get(number);
            let (rows, bytes) = match (stage.above, collected) {
                // They do not come here.
                (Above::Exchange, Some(collected)) => collected.sent(),
                _ => (stage.rows.load(Ordering::Relaxed), stage.bytes.load(Ordering::Relaxed)),
            };
            json!({
                "done": collected.map(|collected| collected.json()),
                "tasks": stage.tasks,
                "ranges": stage.ranges.len(),
                "key": stage.key,
                "exchange": exchange(stage.above),
                "fragment_bytes": stage.part.fragment.len(),
                "workers": self.running.routed(stage).iter().map(ToString::to_string).collect::<Vec<_>>(),
                "rows": rows,
                "bytes": bytes,
            })
        });
        let stays = self.stays.iter().map(|(operator, why)| json!({ "operator": operator, "why": why }));
        json!({
            "fragments": stages.collect::<Vec<_>>(),
            "stays": stays.collect::<Vec<_>>(),
            "workers_lost": self.running.lost.load(Ordering::Relaxed),
        })
    }
}

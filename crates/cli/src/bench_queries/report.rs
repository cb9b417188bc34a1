//! What a run of a query set tells: a line for each query as it is done, or JSON in the end.

use super::rivals::Answered;
use crate::args::QuerySetArgs;
use crate::bench_target::{Digest, Times};
use crate::exit::Done;
use anyhow::bail;
use lode_bench::NamedQuery;
use serde_json::{Value, json};
use std::io::Write as _;
use std::time::Duration;

/// What came of one query.
pub struct Outcome {
    pub query: NamedQuery,
    /// Of the first answer, if there was one.
    pub digest: Option<Digest>,
    pub times: Vec<Duration>,
    /// Of the measured runs, of the processes that were looked at.
    pub processor_seconds: Option<f64>,
    /// Why there is no answer, or not the same one again.
    pub failure: Option<String>,
    /// What the other endpoint answered instead.
    pub difference: Option<Vec<String>>,
    /// What other stores answered, who were asked the same in their own way.
    pub rivals: Vec<Answered>,
}

/// What has been told, and is to be told.
pub struct Report<'a> {
    benchmark: &'a str,
    args: &'a QuerySetArgs,
    outcomes: Vec<Outcome>,
}

impl<'a> Report<'a> {
    pub fn begin(benchmark: &'a str, args: &'a QuerySetArgs) -> anyhow::Result<Self> {
        let report = Self { benchmark, args, outcomes: Vec::new() };
        report.line(&format!(
            "{:<24} {:>9} {:>10} {:>10} {:>10} {:>10}  checksum",
            benchmark, "rows", "min ms", "median ms", "mean ms", "cpu ms"
        ))?;
        Ok(report)
    }

    /// Whether any query has been answered.
    pub fn has_answers(&self) -> bool {
        self.outcomes.iter().any(|outcome| outcome.digest.is_some())
    }

    pub fn add(&self, outcome: &Outcome) -> anyhow::Result<()> {
        self.line(&outcome.as_text())
    }

    pub fn add_rival(&self, answered: &Answered) -> anyhow::Result<()> {
        self.line(&answered.as_text())
    }

    pub fn keep(&mut self, outcome: Outcome) {
        self.outcomes.push(outcome);
    }

    /// Fails where a query has no answer or, of two stores, different ones.
    pub fn end(self) -> anyhow::Result<Done> {
        if self.args.target.json {
            writeln!(std::io::stdout().lock(), "{:#}", self.as_json())?;
        }
        let count = |is: fn(&Outcome) -> bool| self.outcomes.iter().filter(|outcome| is(outcome)).count();
        match (count(|outcome| outcome.failure.is_some()), count(|outcome| outcome.difference.is_some())) {
            (0, 0) => Ok(Done::Ok),
            (failed, different) => bail!("{failed} queries failed, {different} answers differ"),
        }
    }

    /// Lines are for people only.
    fn line(&self, text: &str) -> anyhow::Result<()> {
        if !self.args.target.json {
            let mut out = std::io::stdout().lock();
            writeln!(out, "{text}")?;
            out.flush()?;
        }
        Ok(())
    }

    fn as_json(&self) -> Value {
        let target = &self.args.target;
        let database = target.database.as_ref().or(target.db.as_ref());
        json!({
            "benchmark": self.benchmark, "endpoint": target.endpoint, "database": database, "compare": target.compare,
            "runs": self.args.runs, "warmup": self.args.warmup, "timeout_seconds": target.timeout.as_secs_f64(),
            "queries": self.outcomes.iter().map(|outcome| outcome.as_json(target.compare.is_some())).collect::<Vec<_>>(),
        })
    }
}

impl Outcome {
    fn as_text(&self) -> String {
        let mut text = format!("{:<24}", self.query.name);
        if let Some(digest) = &self.digest {
            text += &format!(" {:>9}", digest.rows);
            let times = Times::of(&self.times);
            let of = |of: fn(&Times) -> f64| times.as_ref().map(of);
            for seconds in [of(|t| t.min), of(|t| t.median), of(|t| t.mean), self.processor_seconds_per_run()]
            {
                text += &seconds.map_or(" ".repeat(11), |seconds| format!(" {:>10.2}", seconds * 1e3));
            }
            text += &format!("  {digest}");
        }
        if self.failure.is_some() {
            text += "  failed";
        }
        if self.difference.is_some() {
            text += "  differs";
        }
        text
    }

    fn as_json(&self, is_compared: bool) -> Value {
        let times = Times::of(&self.times);
        let of = |of: fn(&Times) -> f64| times.as_ref().map(of);
        json!({
            "name": self.query.name, "about": self.query.about(),
            "rows": self.digest.map(|digest| digest.rows), "checksum": self.digest.map(|digest| digest.to_string()),
            "min_seconds": of(|t| t.min), "median_seconds": of(|t| t.median), "mean_seconds": of(|t| t.mean),
            "processor_seconds": self.processor_seconds_per_run(), "failure": self.failure,
            "same": is_compared.then_some(self.difference.is_none() && self.failure.is_none()),
            "difference": self.difference,
            "rivals": self.rivals.iter().map(Answered::as_json).collect::<Vec<_>>(),
        })
    }

    fn processor_seconds_per_run(&self) -> Option<f64> {
        self.processor_seconds
            .filter(|_| !self.times.is_empty())
            .map(|seconds| seconds / self.times.len() as f64)
    }
}

//! What is reported: the figures of the benchmark's own driver, by the same names.
//!
//! As there, the run time of a mix is the sum of the times of its queries, and QMpH counts the mixes of all clients in an hour
//! of the clock. CQET is the mean run time of a mix, all mixes' run time by their number, which the driver prints as "average runtime of
//! query mix", and beside it the geometric mean of these run times.

use crate::args::{BsbmRunArgs, Mix};
use crate::bench_target::Times;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::time::Duration;

/// What the clients have seen.
#[derive(Default)]
pub struct Figures {
    /// Run times of the mixes.
    pub mixes: Vec<Duration>,
    queries: BTreeMap<(usize, &'static str), Answers>,
}

/// The answers to one query.
#[derive(Default)]
struct Answers {
    times: Vec<Duration>,
    results: Vec<u64>,
    failures: u64,
}

/// A run as it is reported.
pub struct Run {
    pub figures: Figures,
    pub wall: Duration,
    /// Of the processes that were looked at.
    pub processor_seconds: Option<f64>,
}

impl Figures {
    pub fn answered(&mut self, name: &'static str, time: Duration, results: u64) {
        let answers = self.of_query(name);
        answers.times.push(time);
        answers.results.push(results);
    }

    pub fn failed(&mut self, name: &'static str) {
        self.of_query(name).failures += 1;
    }

    pub fn failures(&self) -> u64 {
        self.queries.values().map(|answers| answers.failures).sum()
    }

    /// What another client has seen.
    pub fn add(&mut self, other: Self) {
        self.mixes.extend(other.mixes);
        for ((_, name), answers) in other.queries {
            let own = self.of_query(name);
            own.times.extend(answers.times);
            own.results.extend(answers.results);
            own.failures += answers.failures;
        }
    }

    fn of_query(&mut self, name: &'static str) -> &mut Answers {
        // By length first: query 10 comes after query 9.
        self.queries.entry((name.len(), name)).or_default()
    }
}

impl Run {
    /// To standard output as JSON, or as text.
    pub fn report(&self, args: &BsbmRunArgs) -> anyhow::Result<()> {
        let mut out = std::io::stdout().lock();
        if args.target.json {
            writeln!(out, "{:#}", self.as_json(args))?;
        } else {
            out.write_all(self.as_text(args).as_bytes())?;
        }
        Ok(out.flush()?)
    }

    fn mixes_per_hour(&self) -> f64 {
        3600.0 * self.figures.mixes.len() as f64 / self.wall.as_secs_f64().max(1e-9)
    }

    /// Seconds of processors.
    fn processors_per_mix(&self) -> Option<f64> {
        self.processor_seconds.map(|seconds| seconds / self.figures.mixes.len().max(1) as f64)
    }

    /// All mixes' run time.
    fn total_seconds(&self) -> f64 {
        self.figures.mixes.iter().sum::<Duration>().as_secs_f64()
    }

    /// So many of one query's are answered in a second that is spent on it, by all clients.
    fn queries_per_second(&self, mean: f64) -> f64 {
        self.total_seconds() / (self.wall.as_secs_f64() * mean).max(1e-9)
    }

    fn as_json(&self, args: &BsbmRunArgs) -> Value {
        let queries = self.figures.queries.iter().map(|(&(_, name), answers)| {
            let times = Times::of(&answers.times);
            let time = |of: fn(&Times) -> f64| times.as_ref().map(of);
            let value = json!({
                "count": answers.times.len(), "failures": answers.failures,
                "aqet_seconds": time(|t| t.mean), "geometric_mean_seconds": time(|t| t.geometric),
                "median_seconds": time(|t| t.median), "min_seconds": time(|t| t.min), "max_seconds": time(|t| t.max),
                "qps": times.as_ref().map(|times| self.queries_per_second(times.mean)),
                "results_mean": answers.results_mean(), "results_min": answers.results.iter().min(),
                "results_max": answers.results.iter().max(),
            });
            (name.to_owned(), value)
        });
        let queries: serde_json::Map<String, Value> = queries.collect();
        let mix = Times::of(&self.figures.mixes);
        let time = |of: fn(&Times) -> f64| mix.as_ref().map(of);
        json!({
            "mix": name_of(args.mix), "clients": args.clients, "warmup": args.warmup, "seed": args.seed,
            "products": args.products, "mixes": self.figures.mixes.len(), "failures": self.figures.failures(),
            "wall_seconds": self.wall.as_secs_f64(), "total_seconds": self.total_seconds(),
            "qmph": self.mixes_per_hour(), "cqet_seconds": time(|t| t.mean),
            "cqet_geometric_mean_seconds": time(|t| t.geometric), "mix_median_seconds": time(|t| t.median),
            "mix_min_seconds": time(|t| t.min), "mix_max_seconds": time(|t| t.max),
            "processor_seconds_per_mix": self.processors_per_mix(), "queries": queries,
        })
    }

    fn as_text(&self, args: &BsbmRunArgs) -> String {
        let mut text = format!(
            "{:<12} {:>7} {:>10} {:>10} {:>10} {:>10} {:>9} {:>10} {:>7} {:>7} {:>5}\n",
            "ms", "count", "AQET", "geometric", "min", "max", "QPS", "results", "min", "max", "fail"
        );
        for (&(_, name), answers) in &self.figures.queries {
            text += &format!("{name:<12} {:>7}", answers.times.len());
            if let Some(t) = Times::of(&answers.times) {
                for time in [t.mean, t.geometric, t.min, t.max] {
                    text += &format!(" {:>10.3}", time * 1e3);
                }
                text += &format!(" {:>9.1}", self.queries_per_second(t.mean));
                let ends = (answers.results.iter().min(), answers.results.iter().max());
                let (min, max) = (ends.0.copied().unwrap_or(0), ends.1.copied().unwrap_or(0));
                text += &format!(" {:>10.2} {min:>7} {max:>7}", answers.results_mean().unwrap_or(0.0));
            }
            text += &format!(" {:>5}\n", answers.failures);
        }
        let (count, wall) = (self.figures.mixes.len(), self.wall.as_secs_f64());
        let clients = args.clients;
        text += &format!("\n{count} {} mixes, {clients} clients, {wall:.2} s\n", name_of(args.mix));
        text += &format!("QMpH              {:.1} mixes an hour\n", self.mixes_per_hour());
        if let Some(t) = Times::of(&self.figures.mixes) {
            text += &format!("CQET              {:.5} s, mean run time of a mix\n", t.mean);
            text += &format!("CQET (geometric)  {:.5} s; {:.5} to {:.5} s\n", t.geometric, t.min, t.max);
        }
        if let Some(seconds) = self.processors_per_mix() {
            text += &format!("processors        {seconds:.5} s a mix\n");
        }
        text
    }
}

impl Answers {
    fn results_mean(&self) -> Option<f64> {
        let count = self.results.len() as f64;
        (count > 0.0).then(|| self.results.iter().sum::<u64>() as f64 / count)
    }
}

fn name_of(mix: Mix) -> &'static str {
    match mix {
        Mix::Explore => "explore",
        Mix::Bi => "bi",
        Mix::Update => "update",
    }
}

//! Other stores that are asked the same questions in the same run.

use crate::args::{QuerySetArgs, RivalArg};
use crate::bench_target::{Client, Digest, Failure, Times};
use lode_bench::NamedQuery;
use lode_bench::text::{Dialect, has_one_answer};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A store that is asked beside.
pub struct Rival<'a> {
    pub arg: &'a RivalArg,
    pub client: Client<'a>,
}

/// What came of asking a rival.
pub struct Answered {
    store: String,
    digest: Option<Digest>,
    times: Vec<Duration>,
    failure: Option<String>,
    /// Whether its answer is ours, where there is one right answer.
    same: Option<bool>,
}

impl Rival<'_> {
    /// Asks a query of ours, which had this answer.
    pub fn ask(&self, query: &NamedQuery, ours: Option<Digest>, args: &QuerySetArgs) -> Answered {
        let store = self.arg.name.clone();
        let mut answered = Answered { store, digest: None, times: Vec::new(), failure: None, same: None };
        match Dialect::of_store(&self.arg.name).text_of(query) {
            Some(text) => {
                if let Err(failure) = self.measure(text, args, &mut answered) {
                    answered.failure = Some(format!("{:#}", failure.into_error()));
                }
            }
            None => answered.failure = Some("SPARQL alone cannot ask that".into()),
        }
        if let (Some(ours), Some(theirs)) = (ours, answered.digest) {
            answered.same = has_one_answer(query).then_some(ours == theirs);
        }
        answered
    }

    fn measure(&self, text: &str, args: &QuerySetArgs, answered: &mut Answered) -> Result<(), Failure> {
        answered.digest = Some(self.client.digest(text)?);
        for _ in 0..args.warmup {
            self.client.answer(text)?;
        }
        for _ in 0..args.runs {
            let start = Instant::now();
            self.client.answer(text)?;
            answered.times.push(start.elapsed());
        }
        Ok(())
    }
}

impl Answered {
    /// A line for people.
    pub fn as_text(&self) -> String {
        let mut text = format!("{:<24}", format!("  {}", self.store));
        if let Some(digest) = &self.digest {
            text += &format!(" {:>9}", digest.rows);
        }
        match (&self.failure, Times::of(&self.times)) {
            (Some(failure), _) => text += &format!("  {}", failure.lines().next().unwrap_or_default()),
            (None, times) => {
                if let Some(times) = times {
                    for seconds in [times.min, times.median, times.mean] {
                        text += &format!(" {:>10.2}", seconds * 1e3);
                    }
                }
                text += match self.same {
                    Some(true) => "  same",
                    Some(false) => "  differs",
                    None => "  -",
                };
            }
        }
        text
    }

    /// The same for programs.
    pub fn as_json(&self) -> Value {
        let times = Times::of(&self.times);
        let of = |of: fn(&Times) -> f64| times.as_ref().map(of);
        json!({
            "store": self.store, "rows": self.digest.map(|digest| digest.rows),
            "checksum": self.digest.map(|digest| digest.to_string()), "same": self.same, "failure": self.failure,
            "min_seconds": of(|t| t.min), "median_seconds": of(|t| t.median), "mean_seconds": of(|t| t.mean),
        })
    }
}

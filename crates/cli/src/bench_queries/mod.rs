//! Runs of a set of named queries, one after the other, on an endpoint or on a database in this process.

mod report;
mod rivals;

use crate::args::{BenchTextArgs, QuerySetArgs};
use crate::bench_target::{Client, Comparison, Failure, Processors, Target, Use, compare};
use crate::exit::Done;
use crate::talk::say;
use anyhow::{Context, bail};
use lode_bench::NamedQuery;
use lode_bench::text::QUERIES;
use report::{Outcome, Report};
use rivals::Rival;
use std::time::{Duration, Instant};

/// How long a server may take to become idle after a query that was given up.
const SETTLE: Duration = Duration::from_secs(120);

/// Data without which a set of queries measures nothing.
#[derive(Debug, Clone, Copy)]
struct Needed {
    /// A query that has rows where they are.
    query: &'static str,
    /// What is said where they are not.
    message: &'static str,
}

/// Reviews of BSBM, in which the words of the queries are.
const REVIEWS: Needed = Needed {
    query: "SELECT ?text { ?review <http://purl.org/stuff/rev#text> ?text } LIMIT 1",
    message: "there are no reviews of BSBM (<http://purl.org/stuff/rev#text>): these queries ask for words of that generator, and would find nothing; `lode bench \
              bsbm generate` makes such data",
};

/// Asks the queries of a set.
pub fn run(benchmark: &str, queries: &[NamedQuery], args: &QuerySetArgs) -> anyhow::Result<Done> {
    run_beside(benchmark, queries, None, args, &[])
}

/// `lode bench text`: beside other stores, where some are named.
pub fn run_text(args: &BenchTextArgs) -> anyhow::Result<Done> {
    let targets: Vec<_> = args.rivals.iter().map(|arg| Target::at(&arg.url, &args.set.target)).collect();
    let rivals = args.rivals.iter().zip(&targets);
    let rivals: Vec<_> = rivals.map(|(arg, target)| Rival { arg, client: target.client() }).collect();
    for rival in &rivals {
        let found = rival.client.answer(REVIEWS.query).map_err(Failure::into_error);
        if found.with_context(|| format!("asking {}", rival.arg.name))? == 0 {
            bail!("{}: {}", rival.arg.name, REVIEWS.message);
        }
    }
    run_beside("text", &QUERIES, Some(REVIEWS), &args.set, &rivals)
}

/// The same of data that must be there, and then each of others.
fn run_beside(
    benchmark: &str,
    queries: &[NamedQuery],
    needed: Option<Needed>,
    args: &QuerySetArgs,
    rivals: &[Rival<'_>],
) -> anyhow::Result<Done> {
    let queries = chosen(queries, &args.only)?;
    let (target, other) = (Target::open(&args.target, Use::Read)?, Target::other(&args.target));
    if let Some(Needed { query, message }) = needed {
        let found = target.client().answer(query).map_err(Failure::into_error)?;
        if found == 0 {
            bail!("{message}");
        }
    }
    let asker = Asker {
        args,
        client: target.client(),
        other: other.as_ref().map(Target::client),
        processors: Processors::of(&args.target)?,
    };
    let mut report = Report::begin(benchmark, args)?;
    for query in queries {
        let mut outcome = asker.ask(query, report.has_answers())?;
        if let Some(failure) = &outcome.failure {
            say!("{} failed: {failure}", query.name);
        }
        if let Some(lines) = &outcome.difference {
            say!("{} is answered in another way: {}\n{}", query.name, lines.join("\n  "), query.text);
        }
        report.add(&outcome)?;
        for rival in rivals {
            let answered = rival.ask(&outcome.query, outcome.digest, args);
            report.add_rival(&answered)?;
            outcome.rivals.push(answered);
        }
        report.keep(outcome);
    }
    report.end()
}

/// Those that were named, in the order of the set; all if none was.
fn chosen(queries: &[NamedQuery], only: &[String]) -> anyhow::Result<Vec<NamedQuery>> {
    if let Some(unknown) = only.iter().find(|name| queries.iter().all(|query| query.name != name.as_str())) {
        let names: Vec<&str> = queries.iter().map(|query| query.name).collect();
        bail!("there is no query {unknown}; there are {}", names.join(", "));
    }
    let is_chosen = |query: &&NamedQuery| only.is_empty() || only.iter().any(|name| name == query.name);
    Ok(queries.iter().filter(is_chosen).copied().collect())
}

/// Who asks, and whom.
struct Asker<'a> {
    args: &'a QuerySetArgs,
    client: Client<'a>,
    other: Option<Client<'a>>,
    processors: Processors,
}

impl Asker<'_> {
    /// Asks one query. Fails where there is nobody to ask; one who was there may be gone because of the query.
    fn ask(&self, query: NamedQuery, was_there: bool) -> anyhow::Result<Outcome> {
        let mut outcome = Outcome {
            query,
            digest: None,
            times: Vec::new(),
            processor_seconds: None,
            failure: None,
            difference: None,
            rivals: Vec::new(),
        };
        match self.check_and_measure(&mut outcome) {
            Ok(()) => {}
            Err(Failure::Gone(error)) if !was_there => return Err(error).context(query.name),
            Err(failure) => {
                outcome.failure = Some(format!("{:#}", failure.into_error()));
                if self.args.target.endpoint.is_some() {
                    // A server that has gone tells no seconds any more.
                    let _ = self.processors.settle(SETTLE);
                }
            }
        }
        Ok(outcome)
    }

    fn check_and_measure(&self, outcome: &mut Outcome) -> Result<(), Failure> {
        let text = outcome.query.text;
        let digest = self.client.digest(text)?;
        outcome.digest = Some(digest);
        for _ in 0..self.args.warmup {
            self.client.answer(text)?;
        }
        let before = self.seconds()?;
        for _ in 0..self.args.runs {
            let start = Instant::now();
            let rows = self.client.answer(text)?;
            outcome.times.push(start.elapsed());
            if rows < digest.rows {
                let error =
                    anyhow::anyhow!("{rows} rows or triples, where there were {} at first", digest.rows);
                return Err(Failure::Query(error));
            }
        }
        outcome.processor_seconds = before.zip(self.seconds()?).map(|(before, after)| after - before);
        if let Some(other) = &self.other
            && let Comparison::Different(lines) = compare(text, digest, &self.client, other)?
        {
            outcome.difference = Some(lines);
        }
        Ok(())
    }

    fn seconds(&self) -> Result<Option<f64>, Failure> {
        self.processors.seconds().map_err(Failure::Query)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_chosen_by_name() {
        let query = |name| NamedQuery { name, text: "" };
        let set = [query("a"), query("b"), query("c")];
        assert_eq!(chosen(&set, &[]).unwrap(), set);
        assert_eq!(chosen(&set, &["c".into(), "a".into()]).unwrap(), [query("a"), query("c")]);
        let error = chosen(&set, &["d".into()]).unwrap_err().to_string();
        assert!(error.contains("no query d") && error.contains("a, b, c"), "{error}");
    }
}

//! The differential test: random data and queries, answered by the oracle and by a subject, have to give the same.
//!
//! A case that differs is made small and printed with its seed, data, query and both answers. What an answer leaves open is not
//! compared: which rows a LIMIT keeps (they have to be rows of the whole answer, and as many as there should be), the order of
//! rows that ORDER BY does not tell apart, the last digits of sums of floating-point numbers.

mod compare;
mod pairs;
pub mod ruled;
pub mod updates;

pub use pairs::run_pairs;

use crate::answer::Answer;
use crate::dataset::{Dataset, quad_row};
use crate::generate::{Case, shrink};
use crate::knobs::Knobs;
use crate::naive::{self, NaiveError};
use crate::rdf_files::{RdfFormat, parse};
use crate::subject::{QuerySettings, Subject, no_panic};
use anyhow::{Context, Result, anyhow, bail};
use spargebra::{Query, SparqlParser};
use std::collections::BTreeMap;

/// More than this many steps of the oracle are not worth it.
const STEPS_MAX: u64 = 400_000;
/// Answers with more rows are not compared.
const ROWS_MAX: usize = 5_000;
/// How often a failing case is tried again to make it smaller.
const SHRINK_TRIES: usize = 2_000;

/// What came of one case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Same answer.
    Agree,
    /// Too long for the oracle, or too large.
    Skipped,
    /// A difference, explained.
    Differ(String),
}

/// What came of many cases.
#[derive(Debug, Default)]
pub struct Summary {
    /// Cases with the same answer.
    pub agreed: u64,
    /// Of these, cases whose answer was not empty.
    pub with_rows: u64,
    /// Cases that were left out.
    pub skipped: u64,
    /// Full reports of those that differ.
    pub failures: Vec<String>,
}

/// Runs the cases of seeds `first..first + pairs`, until `failures_max` differ.
pub fn run(
    subject: &mut dyn Subject,
    first: u64,
    pairs: u64,
    failures_max: usize,
    progress: &mut dyn FnMut(&Summary),
) -> Summary {
    let mut summary = Summary::default();
    let mut tester = Tester::new(subject);
    for seed in first..first.saturating_add(pairs) {
        let (case, knobs) = (Case::new(seed), Knobs::new(seed));
        let mut not_empty = false;
        match tester.check(&case, &knobs, &mut not_empty) {
            Verdict::Agree => {
                summary.agreed += 1;
                summary.with_rows += u64::from(not_empty);
            }
            Verdict::Skipped => summary.skipped += 1,
            Verdict::Differ(message) => {
                summary.failures.push(report(&mut tester, seed, &case, &knobs, &message));
            }
        }
        progress(&summary);
        if summary.failures.len() >= failures_max {
            break;
        }
    }
    summary
}

/// A subject under test, and what it holds: queries over the same data share one load, and so what a database keeps from one query
/// for the next is tested too.
pub struct Tester<'a> {
    subject: &'a mut dyn Subject,
    stored: Option<Stored>,
}

/// Data, and how they are stored.
struct Stored {
    text: String,
    parts: usize,
    dataset: Dataset,
}

impl<'a> Tester<'a> {
    /// A subject that holds nothing yet.
    pub fn new(subject: &'a mut dyn Subject) -> Self {
        Self { subject, stored: None }
    }

    /// One case.
    pub fn check(&mut self, case: &Case, knobs: &Knobs, not_empty: &mut bool) -> Verdict {
        match self.try_check(case, knobs, not_empty) {
            Ok(verdict) => verdict,
            Err(error) => {
                self.stored = None;
                Verdict::Differ(format!("{error:#}"))
            }
        }
    }

    /// One case, over data loaded for it alone.
    fn check_alone(&mut self, case: &Case, knobs: &Knobs) -> Verdict {
        self.stored = None;
        let verdict = self.check(case, knobs, &mut false);
        self.stored = None;
        verdict
    }

    /// The plan of a case, over data loaded for it alone.
    fn explain(&mut self, case: &Case, knobs: &Knobs) -> Option<String> {
        self.stored = None;
        self.subject.configure(knobs);
        Stored::of(&mut self.stored, self.subject, case, knobs).ok()?;
        let plan = no_panic(|| Ok(self.subject.explain(&case.query_text(), &settings(case))));
        self.stored = None;
        plan.ok().flatten()
    }

    fn try_check(&mut self, case: &Case, knobs: &Knobs, not_empty: &mut bool) -> Result<Verdict> {
        self.subject.configure(knobs);
        let Self { subject, stored } = self;
        let dataset = &Stored::of(stored, *subject, case, knobs)?.dataset;
        check_query(*subject, dataset, case, knobs, not_empty)
    }
}

/// Asks the subject and the oracle the query of a case, over data that the subject holds.
fn check_query(
    subject: &mut dyn Subject,
    dataset: &Dataset,
    case: &Case,
    knobs: &Knobs,
    not_empty: &mut bool,
) -> Result<Verdict> {
    let text = case.query_text();
    let query = SparqlParser::new().parse_query(&text).context("the query")?;
    let services = services(&text, dataset);
    let options = naive::Options {
        union_default_graph: case.union_default_graph,
        steps_max: STEPS_MAX,
        services: services.clone(),
    };
    let whole = match naive::evaluate(&without_slice(&query), dataset, &options) {
        Ok(answer) => answer,
        Err(NaiveError::StepLimit) => return Ok(Verdict::Skipped),
        Err(error) => return Err(anyhow!(error).context("the oracle")),
    };
    let size = match &whole {
        Answer::Solutions { rows, .. } => rows.len(),
        Answer::Graph(triples) => triples.len(),
        Answer::Boolean(_) => 0,
    };
    if size > ROWS_MAX {
        return Ok(Verdict::Skipped);
    }
    let settings = QuerySettings { services, ..settings(case) };
    let answer = match no_panic(|| subject.query(&text, &settings)) {
        Err(error) if knobs.may_refuse(&format!("{error:#}")) => {
            return Ok(Verdict::Skipped);
        }
        answer => answer.context("the query failed")?,
    };
    *not_empty = match &whole {
        Answer::Solutions { rows, .. } => !rows.is_empty(),
        Answer::Graph(triples) => !triples.is_empty(),
        Answer::Boolean(value) => *value,
    };
    let answers = compare::Answers { dataset, whole, answer };
    match answers.compare(case) {
        Ok(()) => Ok(Verdict::Agree),
        Err(difference) => Ok(Verdict::Differ(difference)),
    }
}

fn settings(case: &Case) -> QuerySettings {
    QuerySettings { union_default_graph: case.union_default_graph, ..QuerySettings::default() }
}

impl Stored {
    /// The data of a case, loaded into the subject if they are not what it holds.
    fn of<'s>(
        stored: &'s mut Option<Self>,
        subject: &mut dyn Subject,
        case: &Case,
        knobs: &Knobs,
    ) -> Result<&'s Self> {
        let text = case.data_text();
        if stored.as_ref().is_none_or(|stored| stored.text != text || stored.parts != knobs.parts) {
            *stored = None;
            let dataset = parse(text.as_bytes(), RdfFormat::TriG, "http://e/").context("the data")?;
            no_panic(|| subject.load(&dataset)).context("loading")?;
            *stored = Some(Self { text, parts: knobs.parts, dataset });
        }
        stored.as_ref().context("nothing is loaded")
    }
}

/// The endpoints of a query: one has the same data, but for blank nodes, because those of others are none of ours, which the oracle does
/// not know.
fn services(query: &str, dataset: &Dataset) -> BTreeMap<String, Dataset> {
    let here = || ("http://e/here".to_owned(), without_blank_nodes(dataset));
    query.contains("SERVICE :here").then(here).into_iter().collect()
}

fn without_blank_nodes(dataset: &Dataset) -> Dataset {
    let mut named = Dataset::default();
    for quad in dataset.quads() {
        let has_blank_node = |term: &oxrdf::Term| {
            let mut found = false;
            crate::isomorphism::each_blank_node(term, &mut |_| found = true);
            found
        };
        if !quad_row(quad).iter().flatten().any(has_blank_node) {
            named.insert(quad.clone());
        }
    }
    named
}

/// The query without its outermost LIMIT and OFFSET.
fn without_slice(query: &Query) -> Query {
    let mut query = query.clone();
    if let Query::Select { pattern, .. } = &mut query
        && let spargebra::algebra::GraphPattern::Slice { inner, .. } = pattern
    {
        *pattern = std::mem::take(inner);
    }
    query
}

fn report(tester: &mut Tester<'_>, seed: u64, case: &Case, knobs: &Knobs, message: &str) -> String {
    if !matches!(tester.check_alone(case, knobs), Verdict::Differ(_)) {
        return format!(
            "seed {seed} after those before it that have its data, {knobs:?}; alone it does not differ\n\
             --- query\n{}--- difference\n{message}\n",
            case.query_text()
        );
    }
    // A smaller case has to fail in the same way: an invalid query would be an error too.
    let kind = kind(message);
    let small = shrink::shrink(
        case,
        SHRINK_TRIES,
        &mut |smaller| matches!(tester.check_alone(smaller, knobs), Verdict::Differ(m) if self::kind(&m) == kind),
    );
    let small_message = match tester.check_alone(&small, knobs) {
        Verdict::Differ(message) => message,
        other => format!("{other:?}, after: {message}"),
    };
    let plan = tester.explain(&small, knobs).unwrap_or_else(|| "not known\n".to_owned());
    format!(
        "seed {seed}, {knobs:?}, union default graph: {}\n--- data\n{}--- query\n{}--- plan\n{plan}\
         --- difference\n{small_message}\n",
        small.union_default_graph,
        small.data_text(),
        small.query_text(),
    )
}

/// The first words of a message, without numbers: what went wrong.
fn kind(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    line.split_whitespace()
        .take(4)
        .map(|w| w.trim_matches(|c: char| c.is_ascii_digit()))
        .collect::<Vec<_>>()
        .join(" ")
}

/// The failures, or that there were too few cases to mean anything.
///
/// # Errors
///
/// The reports of all failures; or that too few cases were compared.
pub fn verdict(summary: &Summary) -> Result<()> {
    if let Some(first) = summary.failures.first() {
        bail!("{} cases differ, the first:\n{first}", summary.failures.len());
    }
    let total = summary.agreed + summary.skipped;
    if summary.skipped * 5 > total {
        bail!("{} of {total} cases were skipped", summary.skipped);
    }
    Ok(())
}

#[cfg(test)]
mod tests;

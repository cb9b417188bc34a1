//! Two subjects beside each other, without the oracle: many more cases in the same time, among them such that take too long for the oracle.

use super::{ROWS_MAX, Summary, Verdict, compare, kind, services, settings};
use crate::answer::Answer;
use crate::dataset::Dataset;
use crate::generate::Case;
use crate::generate::ast::Form;
use crate::knobs::Knobs;
use crate::rdf_files::{RdfFormat, parse};
use crate::subject::{QuerySettings, Subject, no_panic};
use anyhow::{Context, Result};

/// Runs the cases of seeds `first..first + pairs`: `other` has to give what `native` gives. Until `failures_max` differ.
pub fn run_pairs(
    (native, other): (&mut dyn Subject, &mut dyn Subject),
    first: u64,
    pairs: u64,
    failures_max: usize,
    progress: &mut dyn FnMut(&Summary),
) -> Summary {
    let mut summary = Summary::default();
    let mut stored: Option<(String, usize, Dataset)> = None;
    for seed in first..first.saturating_add(pairs) {
        let (case, knobs) = (Case::new(seed), Knobs::new(seed));
        let mut has_rows = false;
        let verdict = check((&mut *native, &mut *other), (&case, &knobs), &mut stored, &mut has_rows);
        match verdict {
            Ok(Verdict::Agree) => {
                summary.agreed += 1;
                summary.with_rows += u64::from(has_rows);
            }
            Ok(Verdict::Skipped) => summary.skipped += 1,
            Ok(Verdict::Differ(message)) => summary.failures.push(told(seed, &case, &knobs, &message)),
            Err(error) => {
                stored = None;
                summary.failures.push(told(seed, &case, &knobs, &format!("{error:#}")));
            }
        }
        progress(&summary);
        if summary.failures.len() >= failures_max {
            break;
        }
    }
    summary
}

fn told(seed: u64, case: &Case, knobs: &Knobs, message: &str) -> String {
    let (data, query) = (case.data_text(), case.query_text());
    let kind = kind(message);
    format!("seed {seed} ({kind}), {knobs:?}\n--- data\n{data}--- query\n{query}--- difference\n{message}\n")
}

fn check(
    (native, other): (&mut dyn Subject, &mut dyn Subject),
    (case, knobs): (&Case, &Knobs),
    stored: &mut Option<(String, usize, Dataset)>,
    has_rows: &mut bool,
) -> Result<Verdict> {
    native.configure(knobs);
    other.configure(knobs);
    let data = case.data_text();
    if stored.as_ref().is_none_or(|(text, parts, _)| *text != data || *parts != knobs.parts) {
        *stored = None;
        let dataset = parse(data.as_bytes(), RdfFormat::TriG, "http://e/").context("the data")?;
        no_panic(|| native.load(&dataset)).context("loading")?;
        no_panic(|| other.load(&dataset)).context("loading for the other")?;
        *stored = Some((data, knobs.parts, dataset));
    }
    let (_, _, dataset) = stored.as_ref().context("nothing is loaded")?;
    let text = case.query_text();
    let settings = QuerySettings { services: services(&text, dataset), ..settings(case) };
    let whole = native_answer(native, &whole_of(case), knobs, &settings)?;
    let Some(whole) = whole.filter(|whole| rows_of(whole) <= ROWS_MAX) else { return Ok(Verdict::Skipped) };
    let answer = match no_panic(|| other.query(&text, &settings)) {
        Err(error) if knobs.may_refuse(&format!("{error:#}")) => return Ok(Verdict::Skipped),
        answer => answer.context("the query failed")?,
    };
    *has_rows = rows_of(&whole) > 0;
    Ok(match (compare::Answers { dataset, whole, answer }).compare(case) {
        Ok(()) => Verdict::Agree,
        Err(difference) => Verdict::Differ(difference),
    })
}

/// None: it was refused for want of the memory that the case allows.
fn native_answer(
    native: &mut dyn Subject,
    text: &str,
    knobs: &Knobs,
    settings: &QuerySettings,
) -> Result<Option<Answer>> {
    match no_panic(|| native.query(text, settings)) {
        Err(error) if knobs.may_refuse(&format!("{error:#}")) => Ok(None),
        answer => answer.map(Some).context("the query failed natively"),
    }
}

/// The query with all of its rows, up to one more than are compared: without its slice, and without REDUCED, which may leave out other rows each time.
fn whole_of(case: &Case) -> String {
    let mut whole = case.clone();
    let select = &mut whole.query.select;
    if matches!(whole.query.form, Form::Select) {
        (select.limit, select.offset) = (Some(ROWS_MAX + 1), None);
    }
    if select.modifier == "REDUCED" {
        select.modifier = "";
    }
    whole.query_text()
}

fn rows_of(answer: &Answer) -> usize {
    match answer {
        Answer::Solutions { rows, .. } => rows.len(),
        Answer::Graph(triples) => triples.len(),
        Answer::Boolean(yes) => usize::from(*yes),
    }
}

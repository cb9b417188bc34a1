//! Tests of the differential test: it agrees with the oracle itself, and finds and shrinks planted errors.

use super::{Tester, Verdict, run};
use crate::answer::Answer;
use crate::dataset::Dataset;
use crate::generate::Case;
use crate::knobs::Knobs;
use crate::rdf_files::RdfFormat;
use crate::subject::{NaiveSubject, QuerySettings, Subject};
use anyhow::Result;

#[test]
fn the_oracle_agrees_with_itself() {
    let summary = run(&mut NaiveSubject::default(), 0, 1500, 1, &mut |_| {});
    assert!(summary.failures.is_empty(), "{}", summary.failures.concat());
    assert!(summary.with_rows * 3 > summary.agreed, "too few cases have answers: {summary:?}");
    assert!(summary.skipped < 150, "too many cases are skipped: {summary:?}");
}

/// Forgets the last of several rows.
struct Forgetful(NaiveSubject);

impl Subject for Forgetful {
    fn name(&self) -> &'static str {
        "forgetful"
    }

    fn read_rdf(&mut self, bytes: &[u8], format: RdfFormat, base: &str) -> Result<Dataset> {
        self.0.read_rdf(bytes, format, base)
    }

    fn load(&mut self, dataset: &Dataset) -> Result<()> {
        self.0.load(dataset)
    }

    fn query(&mut self, text: &str, settings: &QuerySettings) -> Result<Answer> {
        let mut answer = self.0.query(text, settings)?;
        if let Answer::Solutions { rows, .. } = &mut answer
            && rows.len() > 1
        {
            rows.pop();
        }
        Ok(answer)
    }

    fn update(&mut self, text: &str, settings: &QuerySettings) -> Result<()> {
        self.0.update(text, settings)
    }

    fn contents(&mut self) -> Result<Dataset> {
        self.0.contents()
    }

    fn has_services(&self) -> bool {
        true
    }

    fn parse_update(&self, text: &str, base: &str) -> Result<()> {
        self.0.parse_update(text, base)
    }

    fn parse_query(&self, text: &str, base: &str) -> Result<()> {
        self.0.parse_query(text, base)
    }
}

#[test]
fn a_planted_error_is_found_and_made_small() {
    let mut subject = Forgetful(NaiveSubject::default());
    let summary = run(&mut subject, 0, 300, 1, &mut |_| {});
    let failure = summary.failures.first().expect("no difference found");
    assert!(failure.len() < 1500, "not made small:\n{failure}");
    assert!(failure.contains("seed "), "{failure}");
}

#[test]
fn a_case_that_does_not_parse_is_a_failure() {
    let mut case = Case::new(1);
    case.data.push("nonsense".into());
    let mut subject = NaiveSubject::default();
    let verdict = Tester::new(&mut subject).check(&case, &Knobs::new(1), &mut false);
    assert!(matches!(verdict, Verdict::Differ(_)));
}

//! What became of the tests: the table, and whether the run is good.

use super::ExpectedFailures;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What became of one test.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// As it should be.
    Passed,
    /// Not as it should be, with an explanation.
    Failed(String),
    /// Not tried, with the reason.
    NotRun(&'static str),
}

#[derive(Debug, Default)]
struct Row {
    passed: usize,
    failed: usize,
    expected: usize,
    not_run: BTreeMap<&'static str, usize>,
}

/// Counts per suite, and the tests that call for attention.
#[derive(Debug)]
pub struct Report {
    expected: ExpectedFailures,
    order: Vec<String>,
    rows: BTreeMap<String, Row>,
    seen: BTreeSet<String>,
    missing: Vec<String>,
    unexpected: Vec<(String, String)>,
    stale: Vec<String>,
}

impl Report {
    /// An empty report.
    pub fn new(expected: ExpectedFailures) -> Self {
        Self {
            expected,
            order: Vec::new(),
            rows: BTreeMap::new(),
            seen: BTreeSet::new(),
            missing: Vec::new(),
            unexpected: Vec::new(),
            stale: Vec::new(),
        }
    }

    /// Notes a suite that is not there.
    pub fn missing(&mut self, suite: &str) {
        self.missing.push(suite.to_owned());
    }

    /// Notes a test.
    pub fn add(&mut self, row: &str, iri: &str, outcome: Outcome) {
        if !self.rows.contains_key(row) {
            self.order.push(row.to_owned());
        }
        let counts = self.rows.entry(row.to_owned()).or_default();
        self.seen.insert(iri.to_owned());
        let expected = self.expected.reason(iri).is_some();
        match outcome {
            Outcome::Passed => {
                counts.passed += 1;
                if expected {
                    self.stale.push(format!("<{iri}> passes"));
                }
            }
            Outcome::Failed(_) if expected => counts.expected += 1,
            Outcome::Failed(message) => {
                counts.failed += 1;
                self.unexpected.push((iri.to_owned(), message));
            }
            Outcome::NotRun(reason) => *counts.not_run.entry(reason).or_default() += 1,
        }
    }

    /// Failures that nobody expects, and entries of the list that do not fail or name no test.
    pub fn complaints(&self) -> Vec<String> {
        let mut complaints: Vec<_> =
            self.unexpected.iter().map(|(iri, message)| format!("<{iri}>\n{message}")).collect();
        complaints.extend(self.stale.iter().map(|s| format!("stale expected failure: {s}")));
        if self.missing.is_empty() {
            let unknown = self.expected.tests().filter(|t| !self.seen.contains(*t));
            complaints.extend(unknown.map(|t| format!("stale expected failure: <{t}> is no test")));
        }
        complaints
    }

    /// Passed, failed (expected or not) and not run tests of the rows whose name starts with `prefix`.
    pub fn counts(&self, prefix: &str) -> (usize, usize, usize) {
        self.rows.iter().filter(|(name, _)| name.starts_with(prefix)).fold(
            (0, 0, 0),
            |(p, f, n), (_, row)| {
                (p + row.passed, f + row.failed + row.expected, n + row.not_run.values().sum::<usize>())
            },
        )
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<42} {:>7} {:>7} {:>9} {:>8}", "suite", "passed", "failed", "expected", "not run")?;
        for name in &self.order {
            let Some(row) = self.rows.get(name) else { continue };
            let not_run: usize = row.not_run.values().sum();
            writeln!(f, "{name:<42} {:>7} {:>7} {:>9} {not_run:>8}", row.passed, row.failed, row.expected)?;
        }
        for name in &self.missing {
            writeln!(f, "{name:<42} skipped: the suite is not there")?;
        }
        for name in &self.order {
            for (reason, count) in self.rows.get(name).map(|r| &r.not_run).into_iter().flatten() {
                writeln!(f, "not run: {name}: {count}: {reason}")?;
            }
        }
        Ok(())
    }
}

/// A test that a subject cannot take.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct NotRun(pub(super) &'static str);

//! The W3C test suites: which there are, how they are run, and the table of what passed.
//!
//! The suites lie in the folder that `LODE_SUITES` names, or in `../shared/suites` beside the workspace. A suite that is not there is
//! reported as skipped, never as passed. Failures that are known and explained are listed in `expected_failures.txt`; an entry there
//! that passes, or names no test, fails the run, so that the list only shrinks.

mod canonical;
mod entailment;
mod expected;
mod json_ld;
mod manifest;
mod queries;
mod report;
mod results;
mod shacl;
mod syntax;
mod updates;

use crate::subject::{Subject, no_panic};
use anyhow::Result;
use manifest::{Kind, TestCase};
use std::path::{Path, PathBuf};

pub use expected::ExpectedFailures;
use report::NotRun;
pub use report::{Outcome, Report};

/// A group of manifests.
struct Suite {
    name: &'static str,
    /// Below the folder of all suites.
    manifests: &'static [&'static str],
}

/// The suites whose manifests are in Turtle.
const SUITES: &[Suite] = &[
    Suite { name: "SPARQL 1.0", manifests: &["w3c-rdf-tests/sparql/sparql10/manifest.ttl"] },
    Suite { name: "SPARQL 1.1", manifests: &["w3c-rdf-tests/sparql/sparql11/manifest-all.ttl"] },
    Suite { name: "SPARQL 1.2", manifests: &["w3c-rdf-tests/sparql/sparql12/manifest.ttl"] },
    Suite { name: "RDF 1.1", manifests: &["w3c-rdf-tests/rdf/rdf11/manifest.ttl"] },
    Suite { name: "RDF 1.2", manifests: &["w3c-rdf-tests/rdf/rdf12/manifest.ttl"] },
    Suite { name: "RDFC-1.0", manifests: &["w3c-rdf-canon/manifest.ttl"] },
];

/// The folder of the suites.
pub fn suites_folder() -> PathBuf {
    match std::env::var_os("LODE_SUITES") {
        Some(folder) => folder.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/suites"),
    }
}

/// Runs every suite on a subject.
///
/// # Errors
///
/// Where a manifest cannot be read.
pub fn run(subject: &mut dyn Subject, folder: &Path) -> Result<Report> {
    let mut report = Report::new(ExpectedFailures::load(subject.name())?);
    for suite in SUITES {
        for manifest in suite.manifests {
            if !folder.join(manifest).is_file() {
                report.missing(suite.name);
                continue;
            }
            for test in manifest::load(folder, manifest)? {
                let row = format!("{} {}", suite.name, test.group);
                let outcome = run_test(subject, &test);
                report.add(&row, &test.iri, outcome);
            }
        }
    }
    json_ld::run(subject, folder, &mut report)?;
    Ok(report)
}

/// Runs the query evaluation tests of SPARQL 1.1 on two subjects: how many there are, and those of which one passes and the other does not.
///
/// # Errors
///
/// Where the manifest is there and cannot be read.
pub fn query_differences(
    one: &mut dyn Subject,
    other: &mut dyn Subject,
    folder: &Path,
) -> Result<(usize, Vec<String>)> {
    let manifest = "w3c-rdf-tests/sparql/sparql11/manifest-all.ttl";
    differences(one, other, folder, manifest, |test| matches!(test.kind, Kind::QueryEvaluation))
}

/// Runs the entailment tests of SPARQL 1.1 that ask for RDF Schema on two subjects: how many there are, and those of which one passes
/// and the other does not.
///
/// # Errors
///
/// Where the manifest is there and cannot be read.
pub fn entailment_differences(
    one: &mut dyn Subject,
    other: &mut dyn Subject,
    folder: &Path,
) -> Result<(usize, Vec<String>)> {
    let manifest = "w3c-rdf-tests/sparql/sparql11/entailment/manifest.ttl";
    differences(one, other, folder, manifest, |test| test.reasoning)
}

fn differences(
    one: &mut dyn Subject,
    other: &mut dyn Subject,
    folder: &Path,
    manifest: &str,
    which: impl Fn(&TestCase) -> bool,
) -> Result<(usize, Vec<String>)> {
    let (mut count, mut different) = (0, Vec::new());
    if !folder.join(manifest).is_file() {
        return Ok((count, different));
    }
    for test in manifest::load(folder, manifest)?.into_iter().filter(which) {
        count += 1;
        match (run_test(one, &test), run_test(other, &test)) {
            (Outcome::Passed, Outcome::Passed) | (Outcome::Failed(_), Outcome::Failed(_)) => {}
            (one, other) => different.push(format!("{}: {one:?}; {other:?}", test.iri)),
        }
    }
    Ok((count, different))
}

/// Runs the entailment tests of SPARQL 1.1 that ask for OWL, and for no less, on a subject that infers as much as it can: those that pass, and the others with
/// what is wrong.
///
/// # Errors
///
/// Where the manifest is there and cannot be read.
pub fn owl_entailment(
    subject: &mut dyn Subject,
    folder: &Path,
) -> Result<(Vec<String>, Vec<(String, String)>)> {
    let manifest = "w3c-rdf-tests/sparql/sparql11/entailment/manifest.ttl";
    let (mut passed, mut failed) = (Vec::new(), Vec::new());
    if !folder.join(manifest).is_file() {
        return Ok((passed, failed));
    }
    for test in manifest::load(folder, manifest)?.into_iter().filter(|test| test.owl) {
        let name = test.iri.rsplit('#').next().unwrap_or_default().to_owned();
        match run_test(subject, &TestCase { kind: Kind::QueryEvaluation, reasoning: true, ..test }) {
            Outcome::Passed => passed.push(name),
            other => failed.push((name, format!("{other:?}"))),
        }
    }
    Ok((passed, failed))
}

/// Graphs of RDF 1.1 Semantics of which is asked whether they are contradictory: each test's name, whether its graph is, and whether the rules say so.
///
/// # Errors
///
/// Where the manifest is there and cannot be read, or the rules cannot be applied.
pub fn contradictions(folder: &Path) -> Result<Vec<(String, bool, bool)>> {
    let manifest = "w3c-rdf-tests/rdf/rdf11/rdf-mt/manifest.ttl";
    let mut found = Vec::new();
    if !folder.join(manifest).is_file() {
        return Ok(found);
    }
    for test in manifest::load(folder, manifest)? {
        let is_so = match test.kind {
            Kind::PositiveEntailment => true,
            Kind::NegativeEntailment => false,
            _ => continue,
        };
        if test.result.is_none() {
            let name = test.iri.rsplit('#').next().unwrap_or_default().to_owned();
            found.push((name, is_so, entailment::is_contradictory(&test)?));
        }
    }
    Ok(found)
}

/// Runs the suite of SHACL on the engine. No failures are expected in it.
///
/// # Errors
///
/// Where a manifest cannot be read.
pub fn run_shacl(folder: &Path) -> Result<Report> {
    let mut report = Report::new(ExpectedFailures::default());
    shacl::run(folder, &mut report)?;
    Ok(report)
}

fn run_test(subject: &mut dyn Subject, test: &TestCase) -> Outcome {
    let result = no_panic(|| match &test.kind {
        Kind::QueryEvaluation => queries::evaluation(subject, test),
        Kind::PositiveQuerySyntax => queries::syntax(subject, test, true),
        Kind::NegativeQuerySyntax => queries::syntax(subject, test, false),
        Kind::PositiveUpdateSyntax => queries::update_syntax(subject, test, true),
        Kind::NegativeUpdateSyntax => queries::update_syntax(subject, test, false),
        Kind::UpdateEvaluation => updates::evaluation(subject, test),
        Kind::PositiveRdfSyntax => syntax::positive(subject, test),
        Kind::NegativeRdfSyntax => syntax::negative(subject, test),
        Kind::RdfEvaluation => syntax::evaluation(subject, test),
        Kind::CanonicalLines => syntax::canonical_lines(subject, test),
        Kind::Canonicalization => canonical::evaluation(test),
        Kind::CanonicalMap => canonical::map(test),
        Kind::PositiveEntailment => entailment::evaluation(subject, test, true),
        Kind::NegativeEntailment => entailment::evaluation(subject, test, false),
        Kind::OutOfScope(reason) => Err(NotRun(reason).into()),
    });
    match result {
        Ok(()) => Outcome::Passed,
        Err(error) => match error.downcast_ref::<NotRun>() {
            Some(NotRun(reason)) => Outcome::NotRun(reason),
            None => Outcome::Failed(format!("{error:#}")),
        },
    }
}

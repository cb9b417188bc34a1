//! Tests of entailment between graphs: that one follows from another, its blank nodes standing for anything.

use super::manifest::TestCase;
use super::report::NotRun;
use crate::answer::Answer;
use crate::engine_subject::EngineSubject;
use crate::rdf_files;
use crate::subject::{QuerySettings, Subject};
use anyhow::{Context, Result, bail, ensure};
use lode_engine::{MaterialiseOptions, RuleSource, WhyOptions};
use oxrdf::{GraphName, Term};
use std::collections::BTreeSet;

/// The second graph follows from the first (`positive`), or does not.
pub(super) fn evaluation(subject: &mut dyn Subject, test: &TestCase, positive: bool) -> Result<()> {
    let action = test.action.as_ref().context("no action")?;
    let Some(result) = &test.result else {
        return Err(NotRun("asks whether a graph is contradictory: a test of its own does").into());
    };
    if test.reasoning && !subject.has_reasoning() {
        return Err(NotRun("this subject does not reason").into());
    }
    subject.load(&rdf_files::read(&action.path, &action.iri)?)?;
    let mut patterns = BTreeSet::new();
    for quad in rdf_files::read(&result.path, &result.iri)?.quads() {
        ensure!(quad.graph_name == GraphName::DefaultGraph, "a graph has no named graphs");
        let subject = Term::from(quad.subject.clone());
        let terms = [&subject, &Term::from(quad.predicate.clone()), &quad.object].map(pattern);
        patterns.insert(terms.join(" "));
    }
    let text = format!("ASK {{ {} }}", patterns.into_iter().collect::<Vec<_>>().join(" . "));
    let settings = QuerySettings { reasoning: test.reasoning, ..QuerySettings::default() };
    match subject.query(&text, &settings)? {
        Answer::Boolean(holds) if holds == positive => Ok(()),
        Answer::Boolean(true) => bail!("it follows, but should not: {text}"),
        Answer::Boolean(false) => bail!("it does not follow: {text}"),
        other => bail!("no answer of an ASK: {}", other.describe()),
    }
}

/// Whether the rules of OWL 2 RL call the graph of a test contradictory.
pub(super) fn is_contradictory(test: &TestCase) -> Result<bool> {
    let action = test.action.as_ref().context("no action")?;
    let mut subject = EngineSubject::default();
    subject.load(&rdf_files::read(&action.path, &action.iri)?)?;
    let database = subject.database().context("nothing is loaded")?;
    let rules = vec![RuleSource::Set("owl2-rl".to_owned())];
    database.materialise(&MaterialiseOptions { rules, ..MaterialiseOptions::default() })?;
    let consistency = database.consistency(database.snapshot(), &WhyOptions::default())?;
    Ok(!consistency.contradictions.is_empty())
}

/// A term of the second graph: blank nodes stand for anything.
fn pattern(term: &Term) -> String {
    match term {
        Term::BlankNode(node) => format!("?{}", node.as_str()),
        other => other.to_string(),
    }
}

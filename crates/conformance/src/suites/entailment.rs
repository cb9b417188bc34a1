//! Tests of entailment between graphs: that one follows from another, its blank nodes standing for anything.

use super::manifest::TestCase;
use super::report::NotRun;
use crate::answer::Answer;
use crate::rdf_files;
use crate::subject::{QuerySettings, Subject};
use anyhow::{Context, Result, bail, ensure};
use oxrdf::{GraphName, Term};
use std::collections::BTreeSet;

/// The second graph follows from the first (`positive`), or does not.
pub(super) fn evaluation(subject: &mut dyn Subject, test: &TestCase, positive: bool) -> Result<()> {
    let action = test.action.as_ref().context("no action")?;
    let Some(result) = &test.result else {
        return Err(NotRun("asks whether a graph is contradictory by its datatypes").into());
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

/// A term of the second graph: blank nodes stand for anything.
fn pattern(term: &Term) -> String {
    match term {
        Term::BlankNode(node) => format!("?{}", node.as_str()),
        other => other.to_string(),
    }
}

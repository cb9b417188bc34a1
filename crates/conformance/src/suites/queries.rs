//! Query evaluation and syntax tests.

use super::manifest::{Document, TestCase, path_of};
use super::report::NotRun;
use super::results::{self, Expected};
use crate::answer::Answer;
use crate::dataset::Dataset;
use crate::rdf_files::{self, read_text, with_blank_prefix};
use crate::subject::{QuerySettings, Subject};
use anyhow::{Context, Result, bail, ensure};
use oxrdf::{GraphName, NamedNode, Quad};
use spargebra::{Query, SparqlParser};
use std::collections::BTreeMap;

/// The query parses (`positive`), or does not.
pub(super) fn syntax(subject: &mut dyn Subject, test: &TestCase, positive: bool) -> Result<()> {
    let action = test.action.as_ref().context("no query")?;
    check(subject.parse_query(&read_text(&action.path)?, &action.iri), positive)
}

/// The same for updates.
pub(super) fn update_syntax(subject: &mut dyn Subject, test: &TestCase, positive: bool) -> Result<()> {
    let action = test.action.as_ref().context("no update")?;
    check(subject.parse_update(&read_text(&action.path)?, &action.iri), positive)
}

fn check(parsed: Result<()>, positive: bool) -> Result<()> {
    match (parsed, positive) {
        (Err(error), true) => Err(error.context("the text should parse")),
        (Ok(()), false) => bail!("the text parses, but should not"),
        _ => Ok(()),
    }
}

/// The query's answer over the data is the one given.
pub(super) fn evaluation(subject: &mut dyn Subject, test: &TestCase) -> Result<()> {
    let action = test.action.as_ref().context("no query")?;
    let text = read_text(&action.path)?;
    if !test.services.is_empty() && !subject.has_services() {
        return Err(NotRun("this subject has no endpoints to query").into());
    }
    if test.reasoning && !subject.has_reasoning() {
        return Err(NotRun("this subject does not reason").into());
    }
    let dataset = dataset(test, &text, action)?;
    let mut services = BTreeMap::new();
    for (endpoint, data) in &test.services {
        let data = match data {
            Some(document) => rdf_files::read(&document.path, &document.iri)?,
            None => Dataset::new(),
        };
        services.insert(endpoint.clone(), data);
    }
    subject.load(&dataset)?;
    let reasoning = test.reasoning;
    let settings =
        QuerySettings { base: Some(action.iri.clone()), services, reasoning, ..QuerySettings::default() };
    let answer = subject.query(&text, &settings)?;
    let result = test.result.as_ref().context("no result")?;
    let expected = results::read(result)?;
    let answer = results::through_format(answer, result)?;
    // The suites write computed numbers in several ways (`3`, `3.0`, `2.0E4`), sometimes in one result. Where the answer is not the
    // one expected term by term, numbers are compared by value. That data keep their lexical forms is for other tests to see.
    let same = same(test, &expected, &answer) || {
        let Expected { answer: wanted, ordered } = &expected;
        let wanted = Expected { answer: wanted.clone().with_canonical_numbers(), ordered: *ordered };
        same(test, &wanted, &answer.clone().with_canonical_numbers())
    };
    ensure!(same, "expected {}\n  got {}", expected.answer.describe(), answer.describe());
    Ok(())
}

fn same(test: &TestCase, expected: &Expected, answer: &Answer) -> bool {
    if test.lax_cardinality {
        results::same_set(&expected.answer, answer)
    } else {
        expected.answer.same(answer, expected.ordered)
    }
}

/// The data of a test: `qt:data` is the default graph, `qt:graphData` are named graphs; without either, what the query's FROM and
/// FROM NAMED name.
fn dataset(test: &TestCase, text: &str, action: &Document) -> Result<Dataset> {
    let mut all = Dataset::new();
    let mut number = 0;
    let mut add = |document: &Document, graph: Option<GraphName>| -> Result<()> {
        number += 1;
        let quads =
            with_blank_prefix(&rdf_files::read(&document.path, &document.iri)?, &format!("f{number}x"));
        for quad in quads.quads() {
            let graph_name = graph.clone().unwrap_or_else(|| quad.graph_name.clone());
            all.insert(Quad { graph_name, ..quad.clone() });
        }
        Ok(())
    };
    for document in &test.data {
        add(document, None)?;
    }
    for document in &test.graph_data {
        add(document, Some(NamedNode::new(&document.iri)?.into()))?;
    }
    if test.data.is_empty() && test.graph_data.is_empty() {
        for name in dataset_clause(text, &action.iri) {
            let path =
                path_of(&test.folder, name.as_str()).with_context(|| format!("{name} is in no suite"))?;
            add(&Document { iri: name.as_str().to_owned(), path }, Some(name.into()))?;
        }
    }
    Ok(all)
}

fn dataset_clause(text: &str, base: &str) -> Vec<NamedNode> {
    let query = SparqlParser::new().with_base_iri(base).ok().and_then(|p| p.parse_query(text).ok());
    let Some(clause) = query.as_ref().and_then(Query::dataset) else { return Vec::new() };
    let mut names: Vec<_> = clause.default.iter().chain(clause.named.iter().flatten()).cloned().collect();
    names.sort();
    names.dedup();
    names
}

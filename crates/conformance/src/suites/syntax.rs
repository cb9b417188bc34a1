//! Tests of RDF syntaxes.

use super::manifest::{Document, TestCase};
use crate::dataset::{Dataset, quad_row};
use crate::isomorphism::{Renaming, isomorphic, rename, renaming};
use crate::rdf_files::{self, RdfFormat, read_bytes, read_text};
use crate::subject::Subject;
use anyhow::{Context, Result, bail, ensure};
use oxrdf::{BlankNode, GraphName, NamedOrBlankNode, Quad};

fn read(subject: &mut dyn Subject, document: &Document) -> Result<Dataset> {
    let format = RdfFormat::of(&document.path).context("an unknown format")?;
    subject.read_rdf(&read_bytes(&document.path)?, format, &document.iri)
}

fn action(test: &TestCase) -> Result<&Document> {
    test.action.as_ref().context("no action")
}

/// The document is valid.
pub(super) fn positive(subject: &mut dyn Subject, test: &TestCase) -> Result<()> {
    read(subject, action(test)?).map(|_| ())
}

/// The document is invalid.
pub(super) fn negative(subject: &mut dyn Subject, test: &TestCase) -> Result<()> {
    if read(subject, action(test)?).is_ok() {
        bail!("the document is read, but should be refused");
    }
    Ok(())
}

/// The document says what the result says.
pub(super) fn evaluation(subject: &mut dyn Subject, test: &TestCase) -> Result<()> {
    let got = read(subject, action(test)?)?;
    let result = test.result.as_ref().context("no result")?;
    let wanted = rdf_files::read(&result.path, &result.iri)?;
    same(&wanted, &got)
}

/// Complains unless both are isomorphic.
pub(super) fn same(wanted: &Dataset, got: &Dataset) -> Result<()> {
    let rows = |d: &Dataset| d.quads().iter().map(quad_row).collect::<Vec<_>>();
    ensure!(isomorphic(&rows(wanted), &rows(got)), "expected\n{}  got\n{}", show(wanted), show(got));
    Ok(())
}

fn show(dataset: &Dataset) -> String {
    let mut lines: Vec<_> = dataset.quads().iter().map(|q| format!("    {q} .\n")).collect();
    lines.sort();
    lines.concat()
}

/// The document, written line by line in canonical form, is the result, byte for byte but for the names of blank nodes.
pub(super) fn canonical_lines(subject: &mut dyn Subject, test: &TestCase) -> Result<()> {
    let got = read(subject, action(test)?)?;
    let result = test.result.as_ref().context("no result")?;
    let wanted = rdf_files::read(&result.path, &result.iri)?;
    let rows = |d: &Dataset| d.quads().iter().map(quad_row).collect::<Vec<_>>();
    let names = renaming(&rows(&got), &rows(&wanted)).context("the quads are other ones")?;
    let mut lines: Vec<String> = got.quads().iter().map(|q| line(&rename_quad(q, &names))).collect();
    lines.sort();
    let mut wanted: Vec<String> = read_text(&result.path)?.lines().map(str::to_owned).collect();
    wanted.sort();
    ensure!(lines == wanted, "expected\n{}\n  got\n{}", wanted.join("\n"), lines.join("\n"));
    Ok(())
}

fn rename_quad(quad: &Quad, names: &Renaming) -> Quad {
    let node = |b: &BlankNode| names.get(b).unwrap_or(b).clone();
    Quad {
        subject: match &quad.subject {
            NamedOrBlankNode::BlankNode(b) => node(b).into(),
            named => named.clone(),
        },
        predicate: quad.predicate.clone(),
        object: rename(&quad.object, names),
        graph_name: match &quad.graph_name {
            GraphName::BlankNode(b) => node(b).into(),
            other => other.clone(),
        },
    }
}

fn line(quad: &Quad) -> String {
    match &quad.graph_name {
        GraphName::DefaultGraph => format!("{} {} {} .", quad.subject, quad.predicate, quad.object),
        graph => format!("{} {} {} {graph} .", quad.subject, quad.predicate, quad.object),
    }
}

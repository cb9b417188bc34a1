//! RDF dataset canonicalisation (RDFC-1.0): the algorithm is oxrdf's; its tests say how far isomorphism through it can be trusted.

use super::manifest::TestCase;
use crate::rdf_files::{self, read_bytes, read_text};
use anyhow::{Context, Result, ensure};
use oxrdf::dataset::{CanonicalizationAlgorithm, CanonicalizationHashAlgorithm};
use oxrdf::{BlankNode, Dataset};
use std::collections::BTreeMap;

fn algorithm(test: &TestCase) -> CanonicalizationAlgorithm {
    let hash_algorithm = match test.hash.as_deref() {
        Some("SHA384") => CanonicalizationHashAlgorithm::Sha384,
        _ => CanonicalizationHashAlgorithm::Sha256,
    };
    CanonicalizationAlgorithm::Rdfc10 { hash_algorithm }
}

fn dataset(test: &TestCase) -> Result<Dataset> {
    let action = test.action.as_ref().context("no action")?;
    Ok(rdf_files::read(&action.path, &action.iri)?.quads().iter().cloned().collect())
}

/// The canonical form is the result.
pub(super) fn evaluation(test: &TestCase) -> Result<()> {
    let mut dataset = dataset(test)?;
    dataset.canonicalize(algorithm(test));
    let mut lines: Vec<_> = dataset.iter().map(|q| format!("{q} .")).collect();
    lines.sort();
    let result = test.result.as_ref().context("no result")?;
    let mut wanted: Vec<_> = read_text(&result.path)?.lines().map(str::to_owned).collect();
    wanted.sort();
    ensure!(lines == wanted, "expected\n{}\n  got\n{}", wanted.join("\n"), lines.join("\n"));
    Ok(())
}

/// The map from the document's blank nodes to the canonical ones is the result.
pub(super) fn map(test: &TestCase) -> Result<()> {
    let dataset = dataset(test)?;
    let got: BTreeMap<String, String> = dataset
        .canonicalize_blank_nodes(algorithm(test))
        .into_iter()
        .map(|(from, to): (_, BlankNode)| (from.as_str().to_owned(), to.as_str().to_owned()))
        .collect();
    let result = test.result.as_ref().context("no result")?;
    let wanted: BTreeMap<String, String> = serde_json::from_slice(&read_bytes(&result.path)?)?;
    ensure!(got == wanted, "expected {wanted:?}\n  got {got:?}");
    Ok(())
}

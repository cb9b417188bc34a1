//! Update evaluation tests: the graphs before, a request, the graphs after it.

use super::manifest::{GraphStore, TestCase};
use super::syntax;
use crate::dataset::Dataset;
use crate::rdf_files::{self, read_text, with_blank_prefix};
use crate::subject::{QuerySettings, Subject};
use anyhow::{Context, Result};
use oxrdf::{GraphName, NamedNode, Quad};

/// The request makes of one what the other says.
pub(super) fn evaluation(subject: &mut dyn Subject, test: &TestCase) -> Result<()> {
    let action = test.action.as_ref().context("no request")?;
    subject.load(&dataset(&test.before)?)?;
    let settings = QuerySettings { base: Some(action.iri.clone()), ..QuerySettings::default() };
    subject.update(&read_text(&action.path)?, &settings)?;
    syntax::same(&dataset(&test.after)?, &subject.contents()?)
}

fn dataset(store: &GraphStore) -> Result<Dataset> {
    let mut all = Dataset::new();
    let documents = store.data.iter().map(|document| (None, document));
    let graphs = store.graphs.iter().map(|(name, document)| (Some(name), document));
    for (number, (name, document)) in documents.chain(graphs).enumerate() {
        let read = rdf_files::read(&document.path, &document.iri)?;
        let graph: Option<GraphName> = match name {
            Some(name) => Some(NamedNode::new(name)?.into()),
            None => None,
        };
        for quad in with_blank_prefix(&read, &format!("f{number}x")).quads() {
            let graph_name = graph.clone().unwrap_or_else(|| quad.graph_name.clone());
            all.insert(Quad { graph_name, ..quad.clone() });
        }
    }
    Ok(all)
}

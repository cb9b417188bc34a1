//! RDF datasets as plain sets of triples: what every subject of the tests is loaded with.

use oxrdf::{GraphName, NamedOrBlankNode, Quad, Term, Triple};
use std::collections::HashSet;

/// One default graph and any number of named graphs, in the order in which they came.
///
/// A named graph exists once something was added to it: the stores under test hold quads only, so they know no empty graphs either.
#[derive(Debug, Clone, Default)]
pub struct Dataset {
    quads: Vec<Quad>,
    known: HashSet<Quad>,
}

impl Dataset {
    /// No quads.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a quad unless it is there already.
    pub fn insert(&mut self, quad: Quad) {
        if self.known.insert(quad.clone()) {
            self.quads.push(quad);
        }
    }

    /// All quads, each once.
    pub fn quads(&self) -> &[Quad] {
        &self.quads
    }

    /// The triples of the default graph.
    pub fn default_graph(&self) -> Vec<Triple> {
        self.graph(&GraphName::DefaultGraph)
    }

    /// The triples of one graph.
    pub fn graph(&self, name: &GraphName) -> Vec<Triple> {
        self.quads.iter().filter(|q| q.graph_name == *name).map(|q| Triple::from(q.clone())).collect()
    }

    /// The names of the named graphs, each once.
    pub fn graph_names(&self) -> Vec<NamedOrBlankNode> {
        let mut seen = HashSet::new();
        let mut names = Vec::new();
        for quad in &self.quads {
            let name = match &quad.graph_name {
                GraphName::DefaultGraph => continue,
                GraphName::NamedNode(n) => NamedOrBlankNode::from(n.clone()),
                GraphName::BlankNode(b) => NamedOrBlankNode::from(b.clone()),
            };
            if seen.insert(name.clone()) {
                names.push(name);
            }
        }
        names
    }

    /// The quads as rows of terms, for comparison up to blank nodes: subject, predicate, object, graph.
    pub fn rows(&self) -> Vec<Vec<Option<Term>>> {
        self.quads.iter().map(quad_row).collect()
    }
}

impl FromIterator<Quad> for Dataset {
    fn from_iter<I: IntoIterator<Item = Quad>>(quads: I) -> Self {
        let mut dataset = Self::new();
        for quad in quads {
            dataset.insert(quad);
        }
        dataset
    }
}

/// A quad as a row of four terms, the last unbound for the default graph.
pub fn quad_row(quad: &Quad) -> Vec<Option<Term>> {
    let graph = match &quad.graph_name {
        GraphName::DefaultGraph => None,
        GraphName::NamedNode(n) => Some(n.clone().into()),
        GraphName::BlankNode(b) => Some(b.clone().into()),
    };
    vec![
        Some(quad.subject.clone().into()),
        Some(quad.predicate.clone().into()),
        Some(quad.object.clone()),
        graph,
    ]
}

/// A triple as a row of three terms.
pub fn triple_row(triple: &Triple) -> Vec<Option<Term>> {
    vec![
        Some(triple.subject.clone().into()),
        Some(triple.predicate.clone().into()),
        Some(triple.object.clone()),
    ]
}

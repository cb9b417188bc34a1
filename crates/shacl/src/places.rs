//! In which document, and in which line of it, something is said of a node: the labels of blank nodes mean nothing to people.

use lode_rdf::NamedOrBlankNode;
use std::collections::HashMap;

/// What stands for a node without a name.
const NAMELESS: &str = "[...]";

/// Where nodes first are subjects.
#[derive(Debug, Default)]
pub(crate) struct Places {
    documents: Vec<String>,
    /// The number of the document, and the line where the statement begins.
    of: HashMap<NamedOrBlankNode, (usize, Option<u64>)>,
}

impl Places {
    /// Another document; its number.
    pub(crate) fn begin(&mut self, document: &str) -> usize {
        self.documents.push(document.to_owned());
        self.documents.len() - 1
    }

    pub(crate) fn note(&mut self, node: &NamedOrBlankNode, document: usize, line: Option<u64>) {
        if !self.of.contains_key(node) {
            self.of.insert(node.clone(), (document, line));
        }
    }

    /// A shape in a message: its place, where that is known, and its name, if it has one.
    pub(crate) fn shape(&self, node: &NamedOrBlankNode) -> String {
        let Some((document, line)) = self.of.get(node) else { return format!("the shape {node}") };
        let document = self.documents.get(*document).map_or("", String::as_str);
        let place = line.map_or_else(|| document.to_owned(), |line| format!("{document}, line {line}"));
        match node {
            NamedOrBlankNode::NamedNode(name) => format!("{place}: the shape {name}"),
            NamedOrBlankNode::BlankNode(_) => format!("{place}: the shape {NAMELESS}"),
        }
    }
}

//! What the focus nodes of a shape are.

use super::parameters::iri;
use crate::error::ShaclError;
use crate::graph::{ShapesGraph, shown};
use crate::model::Target;
use crate::vocabulary::{OWL_CLASS, PARAMETERS, RDFS_CLASS, SH, sh};
use lode_rdf::{NamedOrBlankNode, Term};

const TARGETS: [&str; 4] = ["targetNode", "targetClass", "targetSubjectsOf", "targetObjectsOf"];

/// Whether a node is a shape with a target.
pub fn is_target_of_something(graph: &ShapesGraph, node: &NamedOrBlankNode) -> bool {
    has_one_of(graph, node, &TARGETS) || is_class(graph, node)
}

/// The targets of a shape.
pub fn of(graph: &ShapesGraph, node: &NamedOrBlankNode) -> Result<Vec<Target>, ShaclError> {
    let mut targets = Vec::new();
    for value in graph.of(node, "targetNode") {
        if matches!(value, Term::BlankNode(_) | Term::Triple(_)) {
            let problem =
                format!("{} is neither an IRI nor a literal: nothing else names a node", shown(value));
            return Err(ShaclError::shape(node, "sh:targetNode", problem));
        }
        targets.push(Target::Node(value.clone()));
    }
    let named: [(&str, fn(lode_rdf::NamedNode) -> Target); 3] = [
        ("targetClass", Target::Class),
        ("targetSubjectsOf", Target::SubjectsOf),
        ("targetObjectsOf", Target::ObjectsOf),
    ];
    for (local, made) in named {
        for value in graph.of(node, local) {
            targets.push(made(iri(node, local, value)?));
        }
    }
    if is_class(graph, node)
        && let NamedOrBlankNode::NamedNode(class) = node
    {
        targets.push(Target::Class(class.clone()));
    }
    Ok(targets)
}

/// Whether a node is a class and a shape: its instances are focus nodes.
fn is_class(graph: &ShapesGraph, node: &NamedOrBlankNode) -> bool {
    let is_shape = || {
        has_one_of(graph, node, &PARAMETERS)
            || graph.is_a(node, sh("NodeShape").as_ref())
            || graph.is_a(node, sh("PropertyShape").as_ref())
    };
    matches!(node, NamedOrBlankNode::NamedNode(_))
        && (graph.is_a(node, RDFS_CLASS) || graph.is_a(node, OWL_CLASS))
        && is_shape()
}

fn has_one_of(graph: &ShapesGraph, node: &NamedOrBlankNode, locals: &[&str]) -> bool {
    graph
        .said(node)
        .iter()
        .any(|(property, _)| property.as_str().strip_prefix(SH).is_some_and(|local| locals.contains(&local)))
}

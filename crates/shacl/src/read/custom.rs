//! Constraint components that the shapes graph declares: their parameters, their validators, and prefixes of queries.

use super::parameters::{flag, iri, messages, only, text, wrong};
use crate::error::ShaclError;
use crate::graph::{ShapesGraph, as_node};
use crate::vocabulary::{OWL_IMPORTS, sh};
use lode_rdf::{Literal, NamedNode, NamedOrBlankNode, Term};
use std::collections::HashSet;

/// A component.
#[derive(Debug)]
pub struct Component {
    pub name: NamedNode,
    pub parameters: Vec<Parameter>,
    /// Of node shapes.
    pub of_nodes: Option<Validator>,
    /// Of property shapes.
    pub of_properties: Option<Validator>,
    /// Of either, value by value.
    pub of_values: Option<Validator>,
    pub messages: Vec<Literal>,
}

/// A parameter of a component.
#[derive(Debug)]
pub struct Parameter {
    pub property: NamedNode,
    /// The name of the variable that has its value.
    pub variable: String,
    pub is_optional: bool,
}

/// The query of a component.
#[derive(Debug)]
pub struct Validator {
    pub node: NamedOrBlankNode,
    pub text: String,
    pub is_ask: bool,
    pub prefixes: Vec<(String, String)>,
    pub messages: Vec<Literal>,
}

/// All components of a shapes graph that have parameters.
pub fn components(graph: &ShapesGraph) -> Result<Vec<Component>, ShaclError> {
    let class = sh("ConstraintComponent");
    let declared = graph
        .subjects()
        .iter()
        .filter(|node| !graph.of(node, "parameter").is_empty() && graph.is_a(node, class.as_ref()));
    declared.map(|node| component(graph, node)).collect()
}

fn component(graph: &ShapesGraph, node: &NamedOrBlankNode) -> Result<Component, ShaclError> {
    let NamedOrBlankNode::NamedNode(name) = node else {
        return Err(ShaclError::shape(node, "rdf:type", "a constraint component has an IRI as its name"));
    };
    let parameters = graph.of(node, "parameter").into_iter().map(|value| parameter(graph, node, value));
    let parameters = parameters.collect::<Result<Vec<_>, _>>()?;
    if parameters.iter().all(|parameter| parameter.is_optional) {
        return Err(wrong(node, "parameter", "one parameter at least must not be optional"));
    }
    Ok(Component {
        name: name.clone(),
        parameters,
        of_nodes: validator(graph, node, "nodeValidator")?,
        of_properties: validator(graph, node, "propertyValidator")?,
        of_values: validator(graph, node, "validator")?,
        messages: messages(graph, node)?,
    })
}

fn parameter(graph: &ShapesGraph, node: &NamedOrBlankNode, value: &Term) -> Result<Parameter, ShaclError> {
    let Some(declared) = as_node(value) else {
        return Err(wrong(node, "parameter", format!("{value} is no parameter")));
    };
    let Some(path) = only(graph, &declared, "path")? else {
        return Err(wrong(node, "parameter", format!("{value} has no sh:path with the IRI of its property")));
    };
    let property = iri(&declared, "path", path)?;
    let local = |c: char| !(c.is_alphanumeric() || c == '_');
    let variable = property.as_str().rsplit(local).next().unwrap_or_default().to_owned();
    if variable.is_empty() || variable.starts_with(|c: char| c.is_numeric()) {
        return Err(wrong(node, "parameter", format!("the end of {property} is no name of a variable")));
    }
    let is_optional = flag(graph, &declared, "optional")?;
    Ok(Parameter { property, variable, is_optional })
}

fn validator(
    graph: &ShapesGraph,
    node: &NamedOrBlankNode,
    local: &str,
) -> Result<Option<Validator>, ShaclError> {
    let Some(value) = only(graph, node, local)? else { return Ok(None) };
    let Some(declared) = as_node(value) else {
        return Err(wrong(node, local, format!("{value} is no validator")));
    };
    let ask = only(graph, &declared, "ask")?;
    let select = only(graph, &declared, "select")?;
    let (is_ask, query) = match (ask, select) {
        (Some(query), None) => (true, text(&declared, "ask", query)?),
        (None, Some(query)) if local != "validator" => (false, text(&declared, "select", query)?),
        // Other languages of validators than SPARQL are none of ours.
        (None, None) => return Ok(None),
        _ => {
            let problem = "sh:validator has sh:ask with the text of a query; sh:nodeValidator and sh:propertyValidator \
                           have one of sh:ask and sh:select";
            return Err(wrong(node, local, problem));
        }
    };
    Ok(Some(Validator {
        text: query,
        is_ask,
        prefixes: prefixes(graph, &declared)?,
        messages: messages(graph, &declared)?,
        node: declared,
    }))
}

/// The prefixes that a query may use: those that the values of sh:prefixes declare, and what these import.
pub fn prefixes(graph: &ShapesGraph, node: &NamedOrBlankNode) -> Result<Vec<(String, String)>, ShaclError> {
    let mut open: Vec<NamedOrBlankNode> =
        graph.of(node, "prefixes").into_iter().filter_map(as_node).collect();
    let mut seen: HashSet<NamedOrBlankNode> = open.iter().cloned().collect();
    let mut prefixes: Vec<(String, String)> = Vec::new();
    while let Some(ontology) = open.pop() {
        for declared in graph.of(&ontology, "declare").into_iter().filter_map(as_node) {
            let value = |local: &str| match graph.of(&declared, local).as_slice() {
                [Term::Literal(literal)] => Ok(literal.value().to_owned()),
                [Term::NamedNode(name)] if local == "namespace" => Ok(name.as_str().to_owned()),
                _ => {
                    Err(wrong(&ontology, "declare", format!("expected one text as the value of sh:{local}")))
                }
            };
            let (prefix, namespace) = (value("prefix")?, value("namespace")?);
            match prefixes.iter().find(|(known, _)| *known == prefix) {
                Some((_, known)) if *known != namespace => {
                    let problem = format!("the prefix {prefix}: is <{known}> and <{namespace}>");
                    return Err(wrong(node, "prefixes", problem));
                }
                Some(_) => {}
                None => prefixes.push((prefix, namespace)),
            }
        }
        for imported in graph.values(&ontology, OWL_IMPORTS).filter_map(as_node) {
            if seen.insert(imported.clone()) {
                open.push(imported);
            }
        }
    }
    Ok(prefixes)
}

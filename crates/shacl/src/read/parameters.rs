//! Values of parameters: numbers, texts, limits, with what is wrong with them.

use crate::error::ShaclError;
use crate::graph::{ShapesGraph, shown};
use crate::model::NodeKind;
use crate::vocabulary::{SH, XSD_BOOLEAN};
use lode_rdf::{Literal, NamedNode, NamedOrBlankNode, Term};

/// Parameters that are true or false.
pub const FLAGS: [&str; 5] =
    ["closed", "deactivated", "uniqueLang", "qualifiedValueShapesDisjoint", "optional"];

/// Whether a parameter is said to be `true`; `1`, which only means it, is not (test uniqueLang-002 of the W3C).
/// What is no boolean is refused: a guard that silently is none would be worse.
pub fn flag(graph: &ShapesGraph, node: &NamedOrBlankNode, local: &str) -> Result<bool, ShaclError> {
    let mut is_true = false;
    for value in graph.of(node, local) {
        match boolean(value) {
            Some(text) => is_true |= text == "true",
            None => {
                let problem =
                    format!("{} is no xsd:boolean: write true or false, without quotes", shown(value));
                return Err(wrong(node, local, problem));
            }
        }
    }
    Ok(is_true)
}

/// The text of a boolean.
pub fn boolean(value: &Term) -> Option<&str> {
    match value {
        Term::Literal(literal) if literal.datatype() == XSD_BOOLEAN => {
            Some(literal.value()).filter(|text| ["true", "false", "1", "0"].contains(text))
        }
        _ => None,
    }
}

/// The only value of a parameter, if there is one.
pub fn only<'g>(
    graph: &'g ShapesGraph,
    node: &NamedOrBlankNode,
    local: &str,
) -> Result<Option<&'g Term>, ShaclError> {
    match graph.of(node, local).as_slice() {
        [] => Ok(None),
        [value] => Ok(Some(*value)),
        _ => Err(wrong(node, local, "a shape has one value of it; several belong into several shapes")),
    }
}

/// A number from 0 on.
pub fn number(graph: &ShapesGraph, node: &NamedOrBlankNode, local: &str) -> Result<Option<u64>, ShaclError> {
    let Some(value) = only(graph, node, local)? else { return Ok(None) };
    let number = match value {
        Term::Literal(literal) if is_integer(literal) => literal.value().parse().ok(),
        _ => None,
    };
    let problem = || format!("{} is no integer from 0 on", shown(value));
    number.map(Some).ok_or_else(|| wrong(node, local, problem()))
}

fn is_integer(literal: &Literal) -> bool {
    const INTEGERS: [&str; 13] = [
        "integer",
        "nonNegativeInteger",
        "positiveInteger",
        "nonPositiveInteger",
        "negativeInteger",
        "long",
        "int",
        "short",
        "byte",
        "unsignedLong",
        "unsignedInt",
        "unsignedShort",
        "unsignedByte",
    ];
    let name = literal.datatype().as_str().strip_prefix("http://www.w3.org/2001/XMLSchema#");
    name.is_some_and(|name| INTEGERS.contains(&name))
}

/// A literal.
pub fn literal(
    graph: &ShapesGraph,
    node: &NamedOrBlankNode,
    local: &str,
) -> Result<Option<Literal>, ShaclError> {
    match only(graph, node, local)? {
        None => Ok(None),
        Some(Term::Literal(literal)) => Ok(Some(literal.clone())),
        Some(other) => Err(wrong(node, local, format!("{} is no literal", shown(other)))),
    }
}

/// A text without a language.
pub fn text(node: &NamedOrBlankNode, local: &str, value: &Term) -> Result<String, ShaclError> {
    match value {
        Term::Literal(literal) if lode_rdf::is_string(literal.as_ref()) => Ok(literal.value().to_owned()),
        other => Err(wrong(node, local, format!("{} is no xsd:string", shown(other)))),
    }
}

/// The members of the list that a value is.
pub fn list<'g>(
    graph: &'g ShapesGraph,
    node: &NamedOrBlankNode,
    local: &str,
    value: &Term,
) -> Result<Vec<&'g Term>, ShaclError> {
    graph.list(value).map_err(|problem| wrong(node, local, problem))
}

/// The value of sh:nodeKind.
pub fn node_kind(node: &NamedOrBlankNode, value: &Term) -> Result<NodeKind, ShaclError> {
    let kind = |iris, blank_nodes, literals| NodeKind { iris, blank_nodes, literals };
    let local = match value {
        Term::NamedNode(name) => name.as_str().strip_prefix(SH),
        _ => None,
    };
    Ok(match local {
        Some("IRI") => kind(true, false, false),
        Some("BlankNode") => kind(false, true, false),
        Some("Literal") => kind(false, false, true),
        Some("BlankNodeOrIRI") => kind(true, true, false),
        Some("BlankNodeOrLiteral") => kind(false, true, true),
        Some("IRIOrLiteral") => kind(true, false, true),
        _ => {
            let problem = format!(
                "{} is none of sh:IRI, sh:BlankNode, sh:Literal, sh:BlankNodeOrIRI, sh:BlankNodeOrLiteral and sh:IRIOrLiteral",
                shown(value)
            );
            return Err(wrong(node, "nodeKind", problem));
        }
    })
}

/// What is wrong with a value.
pub fn wrong(node: &NamedOrBlankNode, local: &str, problem: impl Into<String>) -> ShaclError {
    ShaclError::shape(node, format!("sh:{local}"), problem)
}

/// The values of sh:message.
pub fn messages(graph: &ShapesGraph, node: &NamedOrBlankNode) -> Result<Vec<Literal>, ShaclError> {
    let literal = |term: &Term| match term {
        Term::Literal(literal) => Ok(literal.clone()),
        other => Err(ShaclError::shape(node, "sh:message", format!("{} is no text", shown(other)))),
    };
    graph.of(node, "message").into_iter().map(literal).collect()
}

/// The IRI that a value is to be.
pub fn iri(node: &NamedOrBlankNode, local: &str, value: &Term) -> Result<NamedNode, ShaclError> {
    match value {
        Term::NamedNode(name) => Ok(name.clone()),
        other => Err(ShaclError::shape(node, format!("sh:{local}"), format!("{} is no IRI", shown(other)))),
    }
}

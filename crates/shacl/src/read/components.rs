//! Constraints of components that the shapes graph itself declares.

use super::custom::{Component, Validator};
use crate::error::ShaclError;
use crate::graph::ShapesGraph;
use crate::model::{Constraint, Rule, SparqlRule};
use crate::vocabulary::sh;
use lode_rdf::{NamedOrBlankNode, Term};

/// What a shape says, as far as it was read.
pub type Found = Vec<Constraint>;

/// A constraint of SHACL Core.
pub fn named(component: &str, rule: Rule) -> Constraint {
    Constraint { component: sh(&format!("{component}ConstraintComponent")), rule }
}

/// The constraints of a shape by components of the shapes graph.
pub fn of(
    graph: &ShapesGraph,
    components: &[Component],
    node: &NamedOrBlankNode,
    has_path: bool,
    found: &mut Found,
) -> Result<(), ShaclError> {
    for component in components {
        let own = if has_path { &component.of_properties } else { &component.of_nodes };
        let Some(validator) = own.as_ref().or(component.of_values.as_ref()) else { continue };
        for parameters in given(graph, component, node)? {
            found.push(constraint(component, validator, parameters));
        }
    }
    Ok(())
}

fn constraint(component: &Component, validator: &Validator, parameters: Vec<(String, Term)>) -> Constraint {
    let rule = SparqlRule {
        node: validator.node.clone(),
        is_constraint: false,
        text: validator.text.clone(),
        is_ask: validator.is_ask,
        prefixes: validator.prefixes.clone(),
        parameters,
        messages: if validator.messages.is_empty() {
            component.messages.clone()
        } else {
            validator.messages.clone()
        },
    };
    Constraint { component: component.name.clone(), rule: Rule::Sparql(rule) }
}

/// The values of parameters for each constraint of a component that a shape has.
fn given(
    graph: &ShapesGraph,
    component: &Component,
    node: &NamedOrBlankNode,
) -> Result<Vec<Vec<(String, Term)>>, ShaclError> {
    let values =
        |property: &lode_rdf::NamedNode| -> Vec<&Term> { graph.values(node, property.as_ref()).collect() };
    let parameters = &component.parameters;
    if parameters.iter().any(|parameter| !parameter.is_optional && values(&parameter.property).is_empty()) {
        return Ok(Vec::new());
    }
    if let [only] = parameters.as_slice() {
        let each = |value: &Term| vec![(only.variable.clone(), value.clone())];
        return Ok(values(&only.property).into_iter().map(each).collect());
    }
    let mut row = Vec::new();
    for parameter in parameters {
        match values(&parameter.property).as_slice() {
            [] => {}
            [value] => row.push((parameter.variable.clone(), (*value).clone())),
            _ => {
                let problem =
                    format!("it has more than one value, and {} has other parameters", component.name);
                return Err(ShaclError::shape(node, &parameter.property, problem));
            }
        }
    }
    Ok(vec![row])
}

//! Queries of the shapes graph as parts of ours.

use super::compiler::Compiler;
use super::looked::Looked;
use crate::error::ShaclError;
use crate::model::SparqlRule;
use crate::sparql::{Body, body, uses_path, with_path};
use crate::words::constant;
use std::collections::BTreeSet;

/// The rows of a query.
pub struct Rows {
    pub pattern: String,
    /// What it selects of them.
    pub selected: BTreeSet<String>,
}

impl Compiler<'_> {
    /// The rows that a SELECT of the shapes graph has for a focus node.
    pub(super) fn rows_of(&mut self, looked: Looked<'_>, rule: &SparqlRule) -> Result<Rows, ShaclError> {
        let body = self.body(looked, rule)?;
        let given = self.given(looked, rule, &body)?;
        let pattern = format!("BIND({} AS ?this) {given}LATERAL {}", looked.focus, body.text);
        Ok(Rows { pattern, selected: body.selected })
    }

    /// Whether an ASK of the shapes graph says no to a value.
    pub(super) fn is_denied(&mut self, looked: Looked<'_>, rule: &SparqlRule) -> Result<String, ShaclError> {
        let body = self.body(looked, rule)?;
        let given = self.given(looked, rule, &body)?;
        let Looked { focus, value, .. } = looked;
        Ok(format!(
            "(NOT EXISTS {{ BIND({focus} AS ?this) BIND({value} AS ?value) {given}LATERAL {} }})",
            body.text
        ))
    }

    fn body(&mut self, looked: Looked<'_>, rule: &SparqlRule) -> Result<Body, ShaclError> {
        let wrong = |problem: String| {
            let property = if rule.is_ask { "sh:ask" } else { "sh:select" };
            ShaclError::shape(&rule.node, property, problem)
        };
        let text = match &looked.shape.path {
            Some(path) => with_path(&rule.text, path),
            None if uses_path(&rule.text) => {
                let problem = format!("it uses $PATH, and the shape {} has no sh:path", looked.shape.node);
                return Err(wrong(problem));
            }
            None => rule.text.clone(),
        };
        let mut bound = vec!["this", "shapesGraph", "currentShape"];
        if rule.is_ask {
            bound.push("value");
        }
        bound.extend(rule.parameters.iter().map(|(name, _)| name.as_str()));
        let number = self.names.number();
        let body = body(&text, rule.is_ask, &rule.prefixes, &bound, number).map_err(wrong)?;
        self.count(&body.text)?;
        Ok(body)
    }

    /// The values of pre-bound variables that are the same for all focus nodes.
    fn given(&self, looked: Looked<'_>, rule: &SparqlRule, body: &Body) -> Result<String, ShaclError> {
        let wrong = |problem: String| ShaclError::shape(&rule.node, "its query", problem);
        let mut values = Vec::new();
        for (name, term) in rule.parameters.iter().filter(|(name, _)| body.mentioned.contains(name)) {
            let problem = || format!("the parameter ${name} is a blank node, which no query can name");
            values.push((name.as_str(), constant(term).ok_or_else(|| wrong(problem()))?));
        }
        if body.mentioned.contains("currentShape") {
            let shape = constant(&looked.shape.node.clone().into());
            let problem = "it uses $currentShape, and the shape is a blank node, which no query can name: give it an IRI";
            values.push(("currentShape", shape.ok_or_else(|| wrong(problem.into()))?));
        }
        if body.mentioned.contains("shapesGraph") {
            let problem = "it uses $shapesGraph, and the shapes are in no graph of the database: load them into one and name it";
            let graph = self.sources.shapes_graph.ok_or_else(|| wrong(problem.into()))?;
            values.push(("shapesGraph", graph.to_string()));
        }
        if values.is_empty() {
            return Ok(String::new());
        }
        let names: Vec<String> = values.iter().map(|(name, _)| format!("?{name}")).collect();
        let terms: Vec<&str> = values.iter().map(|(_, term)| term.as_str()).collect();
        Ok(format!("VALUES ({}) {{ ({}) }} ", names.join(" "), terms.join(" ")))
    }
}

//! A report as one object: terms as in the JSON results of SPARQL, paths as in SPARQL.

use crate::result::ValidationResult;
use crate::validate::Summary;
use lode_rdf::{BlankNode, Literal, NamedOrBlankNode, Term};
use serde_json::{Value, json};
use std::io::{Result, Write};

pub struct JsonReport<W: Write> {
    out: W,
    results: u64,
}

impl<W: Write> JsonReport<W> {
    pub fn new(out: W) -> Self {
        Self { out, results: 0 }
    }

    pub fn push(&mut self, result: &ValidationResult) -> Result<()> {
        self.out.write_all(if self.results == 0 { b"{\"results\":[\n" } else { b",\n" })?;
        self.results += 1;
        let mut object = json!({
            "severity": result.severity.as_str(),
            "focusNode": term(&result.focus),
            "sourceShape": of_shapes(&result.shape),
            "sourceConstraintComponent": result.component.as_str(),
            "messages": result.messages.iter().map(literal).collect::<Vec<_>>(),
        });
        let optional = [
            ("path", result.path.as_ref().map(|path| Value::from(path.to_string()))),
            ("value", result.value.as_ref().map(term)),
            ("sourceConstraint", result.constraint.as_ref().map(of_shapes)),
        ];
        if let Some(fields) = object.as_object_mut() {
            for (name, value) in optional {
                if let Some(value) = value {
                    fields.insert(name.into(), value);
                }
            }
        }
        self.out.write_all(object.to_string().as_bytes())
    }

    pub fn finish(mut self, summary: &Summary) -> Result<W> {
        if self.results == 0 {
            self.out.write_all(b"{\"results\":[")?;
        }
        write!(
            self.out,
            "],\n\"conforms\":{},\"count\":{},\"violations\":{}}}\n",
            summary.conforms(),
            summary.results,
            summary.violations
        )?;
        Ok(self.out)
    }
}

fn of_shapes(node: &NamedOrBlankNode) -> Value {
    term(&node.clone().into())
}

fn blank(node: &BlankNode) -> Value {
    json!({ "type": "bnode", "value": node.as_str() })
}

fn literal(literal: &Literal) -> Value {
    let mut object = json!({ "type": "literal", "value": literal.value() });
    if let Some(fields) = object.as_object_mut() {
        if let Some(language) = literal.language() {
            fields.insert("xml:lang".into(), language.into());
        } else if !lode_rdf::is_string(literal.as_ref()) {
            fields.insert("datatype".into(), literal.datatype().as_str().into());
        }
    }
    object
}

fn term(term: &Term) -> Value {
    match term {
        Term::NamedNode(name) => json!({ "type": "uri", "value": name.as_str() }),
        Term::BlankNode(node) => blank(node),
        Term::Literal(value) => literal(value),
        Term::Triple(_) => json!({ "type": "triple", "value": term.to_string() }),
    }
}

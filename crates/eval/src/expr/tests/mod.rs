//! Tests of values, kernels and orders against the specification's examples and against oxsdatatypes.

mod evaluator;
mod exact;
mod functions;
mod ids;
mod operators;
mod orders;
mod patterns;
pub(crate) mod support;

use crate::values::value::{LangString, Value};
use lode_rdf::{BaseDirection, Literal, NamedNode, Term};

pub(super) const XSD: &str = crate::values::value::XSD;

/// A string.
pub(super) fn s(text: &str) -> Value {
    Value::string(text)
}

/// A string with a language.
pub(super) fn l(text: &str, language: &str) -> Value {
    Value::LangString(LangString { text: text.into(), language: language.into(), direction: None })
}

/// A string with a language and a direction.
pub(super) fn d(text: &str, language: &str, direction: BaseDirection) -> Value {
    Value::LangString(LangString { text: text.into(), language: language.into(), direction: Some(direction) })
}

/// An integer.
pub(super) fn i(value: i64) -> Value {
    Value::Integer(value)
}

/// A literal of an XML Schema type.
pub(super) fn x(lexical: &str, name: &str) -> Value {
    Value::from_typed(lexical, &format!("{XSD}{name}"))
}

/// A literal of a type of its own.
pub(super) fn unknown(lexical: &str, name: &str) -> Value {
    Value::from_typed(lexical, &format!("http://example/{name}"))
}

pub(super) fn iri(text: &str) -> Value {
    Value::Iri(text.into())
}

/// The term of a literal of an XML Schema type.
pub(super) fn xt(lexical: &str, name: &str) -> Term {
    Literal::new_typed_literal(lexical, NamedNode::new_unchecked(format!("{XSD}{name}"))).into()
}

/// A value as text: its canonical term in N-Triples, or `error`.
#[track_caller]
pub(super) fn show(value: Option<Value>) -> String {
    value.map_or_else(|| "error".to_owned(), |value| value.to_term().to_string().replace(XSD, "xsd:"))
}

//! Comparisons of which the kinds of both sides are known, and that cannot hold.

use super::found::HintKind;
use super::walk::Walk;
use lode_rdf::{Term, is_string};
use lode_syntax::{At, Node};
use oxrdf::vocab::xsd;

/// What kind of value an expression has, whatever its variables are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    Iri,
    Number,
    Boolean,
    /// Without a language.
    Text,
}

impl Value {
    fn name(self) -> &'static str {
        match self {
            Self::Iri => "an IRI",
            Self::Number => "a number",
            Self::Boolean => "a boolean",
            Self::Text => "a text",
        }
    }
}

impl<'t> Walk<'t> {
    /// Tells of a comparison that cannot hold.
    pub(super) fn comparison(&mut self, at: At<'t>) {
        let mut sides = at.children();
        let (Some(left), Some(right)) = (sides.next(), sides.next()) else { return };
        let operator = at.tree().token_text(left.tokens().end);
        let (Some(a), Some(b)) = (self.value(left), self.value(right)) else { return };
        let is_equality = matches!(operator, "=" | "!=");
        if a == b && (is_equality || a != Value::Iri) {
            return;
        }
        let (a_name, b_name) = (a.name(), b.name());
        let message = match (is_equality, a == Value::Iri || b == Value::Iri) {
            // IRIs and literals differ, which is no error.
            (true, true) if operator == "=" => format!("{a_name} never equals {b_name}"),
            (true, true) => format!("{a_name} always differs from {b_name}"),
            _ if a == b => format!("`{operator}` of two IRIs is always an error: they have no order"),
            _ => format!("`{operator}` of {a_name} and {b_name} is always an error"),
        };
        let help = match (a, b) {
            (Value::Iri, Value::Text) => as_iri(right),
            (Value::Text, Value::Iri) => as_iri(left),
            (Value::Text, Value::Number) => format!("compare numbers: xsd:decimal({})", shown(left)),
            (Value::Number, Value::Text) => format!("compare numbers: xsd:decimal({})", shown(right)),
            (Value::Iri, Value::Iri) => "compare their texts: STR(?x) < STR(?y)".to_owned(),
            _ => String::new(),
        };
        self.found.hint(HintKind::ImpossibleComparison, at.span(), message, help);
    }

    fn value(&self, at: At<'t>) -> Option<Value> {
        match at.node() {
            Node::Parentheses => crate::stack::room(|| self.value(at.first()?)),
            Node::Iri | Node::Name => Some(Value::Iri),
            Node::Number => Some(Value::Number),
            Node::Boolean | Node::Exists | Node::In | Node::Comparison => Some(Value::Boolean),
            Node::Literal => match self.term_of(at)? {
                Term::Literal(literal) if is_string(literal.as_ref()) => Some(Value::Text),
                Term::Literal(literal) => match literal.datatype() {
                    xsd::INTEGER | xsd::DECIMAL | xsd::DOUBLE | xsd::FLOAT => Some(Value::Number),
                    xsd::BOOLEAN => Some(Value::Boolean),
                    _ => None,
                },
                _ => None,
            },
            Node::Aggregate if at.has_word(0, "COUNT") => Some(Value::Number),
            Node::Call => match &*at.token(0).to_ascii_uppercase() {
                "STR" | "LANG" | "ENCODE_FOR_URI" | "MD5" | "SHA1" | "SHA256" | "SHA384" | "SHA512"
                | "STRUUID" | "TZ" => Some(Value::Text),
                "DATATYPE" | "IRI" | "URI" | "UUID" => Some(Value::Iri),
                "STRLEN" | "RAND" | "YEAR" | "MONTH" | "DAY" | "HOURS" | "MINUTES" | "SECONDS" | "ABS"
                | "CEIL" | "FLOOR" | "ROUND" => Some(Value::Number),
                "BOUND" | "CONTAINS" | "STRSTARTS" | "STRENDS" | "REGEX" | "LANGMATCHES" | "SAMETERM"
                | "ISIRI" | "ISURI" | "ISBLANK" | "ISLITERAL" | "ISNUMERIC" | "HASLANG" | "HASLANGDIR"
                | "ISTRIPLE" => Some(Value::Boolean),
                _ => None,
            },
            _ => None,
        }
    }
}

/// A text as the IRI that it may be meant for.
fn as_iri(text: At<'_>) -> String {
    if text.node() != Node::Literal {
        return "compare texts: STR(...) of the IRI".to_owned();
    }
    let inside = text.token(0).trim_matches(['"', '\'']);
    let is_absolute = inside.contains("://") || inside.starts_with("urn:");
    let written = if is_absolute { format!("<{inside}>") } else { inside.to_owned() };
    format!("write the IRI: {}", shortened(&written))
}

fn shown(at: At<'_>) -> String {
    shortened(at.text())
}

fn shortened(text: &str) -> String {
    const CHARS_MAX: usize = 60;
    let mut short: String =
        text.chars().take(CHARS_MAX).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    short
}

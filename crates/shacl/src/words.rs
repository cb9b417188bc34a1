//! Terms and names as words of SPARQL.

use lode_rdf::{Literal, Term};

/// A term that can stand in a query: no blank node, which would be a variable there.
pub fn constant(term: &Term) -> Option<String> {
    match term {
        Term::BlankNode(_) => None,
        Term::Triple(triple) => {
            let is_ground = !matches!(triple.subject, lode_rdf::NamedOrBlankNode::BlankNode(_));
            (is_ground && constant(&triple.object).is_some()).then(|| term.to_string())
        }
        Term::NamedNode(_) | Term::Literal(_) => Some(term.to_string()),
    }
}

/// A text.
pub fn text(value: &str) -> String {
    Literal::new_simple_literal(value).to_string()
}

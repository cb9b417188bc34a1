//! Characters that XML 1.0 cannot hold, not even escaped (section 2.2): control characters but for tab and line ends, U+FFFE, U+FFFF.
//!
//! A literal may have them. XML results have U+FFFD, the replacement character, in their places: else one such literal would make the whole
//! document unreadable. JSON, CSV and TSV hold them as they are.

use lode_rdf::{Literal, NamedNode, NamedOrBlankNode, Term, Triple};
use std::borrow::Cow;

/// The term as XML can hold it.
pub fn replaced(term: &Term) -> Cow<'_, Term> {
    match term {
        Term::Literal(literal) if !is_xml(literal.value()) => Cow::Owned(with_text(literal).into()),
        Term::NamedNode(node) if !is_xml(node.as_str()) => Cow::Owned(named(node).into()),
        Term::Triple(triple) => in_triple(triple).map_or(Cow::Borrowed(term), Cow::Owned),
        _ => Cow::Borrowed(term),
    }
}

fn in_triple(triple: &Triple) -> Option<Term> {
    let subject = match &triple.subject {
        NamedOrBlankNode::NamedNode(node) if !is_xml(node.as_str()) => Some(named(node)),
        _ => None,
    };
    let predicate = (!is_xml(triple.predicate.as_str())).then(|| named(&triple.predicate));
    let object = replaced(&triple.object);
    if subject.is_none() && predicate.is_none() && matches!(object, Cow::Borrowed(_)) {
        return None;
    }
    let subject = subject.map_or_else(|| triple.subject.clone(), NamedOrBlankNode::from);
    let predicate = predicate.unwrap_or_else(|| triple.predicate.clone());
    Some(Triple::new(subject, predicate, object.into_owned()).into())
}

fn named(node: &NamedNode) -> NamedNode {
    NamedNode::new_unchecked(text(node.as_str()))
}

fn with_text(literal: &Literal) -> Literal {
    let text = text(literal.value());
    match (literal.language(), literal.direction()) {
        (Some(language), Some(direction)) => {
            Literal::new_directional_language_tagged_literal_unchecked(text, language, direction)
        }
        (Some(language), None) => Literal::new_language_tagged_literal_unchecked(text, language),
        _ => Literal::new_typed_literal(text, literal.datatype().into_owned()),
    }
}

fn text(text: &str) -> String {
    text.chars().map(|character| if is_character(character) { character } else { '\u{FFFD}' }).collect()
}

fn is_xml(text: &str) -> bool {
    text.chars().all(is_character)
}

fn is_character(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r' | '\u{20}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

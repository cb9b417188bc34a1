//! Lenient parsing of RDF/XML and JSON-LD: their parsers take what is wrong without a word, so their quads are looked at.

use super::kept::Kept;
use super::xml_names::put_back;
use crate::mistake::{Mistake, can_be_kept, can_be_language, is_language};
use crate::ntriples::is_valid_iri;
use oxrdf::{GraphName, Literal, NamedNode, NamedOrBlankNode, Quad, Term};

/// Puts a quad right as the parser should have made it, and counts what is wrong with it. `false`: it cannot be kept.
pub(super) fn look(quad: &mut Quad, kept: &mut Kept, place: &dyn Fn() -> (u64, u64)) -> bool {
    let mut look = Look { kept, place };
    let node = |look: &mut Look<'_>, node: &mut NamedOrBlankNode| match node {
        NamedOrBlankNode::NamedNode(node) => look.iri(node),
        NamedOrBlankNode::BlankNode(_) => true,
    };
    node(&mut look, &mut quad.subject)
        && look.iri(&mut quad.predicate)
        && match &mut quad.object {
            Term::NamedNode(node) => look.iri(node),
            Term::Literal(literal) => look.literal(literal),
            Term::BlankNode(_) | Term::Triple(_) => true,
        }
        && match &mut quad.graph_name {
            GraphName::NamedNode(node) => look.iri(node),
            GraphName::BlankNode(_) | GraphName::DefaultGraph => true,
        }
}

struct Look<'k> {
    kept: &'k mut Kept,
    place: &'k dyn Fn() -> (u64, u64),
}

impl Look<'_> {
    fn iri(&mut self, node: &mut NamedNode) -> bool {
        // First, since with what stands in for its characters it is valid.
        let mistake = match put_back(node.as_str()) {
            Some(text) => {
                *node = NamedNode::new_unchecked(text);
                Mistake::Name
            }
            None if is_valid_iri(node.as_str()) => return true,
            None => Mistake::of_iri(node.as_str()),
        };
        self.kept.add(mistake, node.as_str(), self.place);
        can_be_kept(node.as_str())
    }

    fn literal(&mut self, literal: &mut Literal) -> bool {
        let Some(language) = literal.language() else {
            let datatype = literal.datatype();
            if !is_valid_iri(datatype.as_str()) {
                self.kept.add(Mistake::of_iri(datatype.as_str()), datatype.as_str(), self.place);
            }
            return is_valid_iri(datatype.as_str()) || can_be_kept(datatype.as_str());
        };
        if is_language(language) && !language.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return true;
        }
        if !is_language(language) {
            self.kept.add(Mistake::Language, language, self.place);
        }
        let plain = language.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        if !plain || !can_be_language(language) {
            return false;
        }
        let (value, tag) = (literal.value(), language.to_ascii_lowercase());
        *literal = match literal.direction() {
            None => Literal::new_language_tagged_literal_unchecked(value, tag),
            Some(direction) => {
                Literal::new_directional_language_tagged_literal_unchecked(value, tag, direction)
            }
        };
        true
    }
}

//! The memory that terms take.

use crate::TermRef;

/// Bytes of the texts of a term, about.
pub fn term_bytes(term: TermRef<'_>) -> usize {
    match term {
        TermRef::NamedNode(node) => node.as_str().len(),
        TermRef::BlankNode(node) => node.as_str().len(),
        TermRef::Literal(literal) => {
            let typed = if literal.language().is_some() { 0 } else { literal.datatype().as_str().len() };
            literal.value().len() + literal.language().map_or(typed, str::len)
        }
        TermRef::Triple(triple) => {
            let parts =
                [triple.subject.as_ref().into(), triple.predicate.as_ref().into(), triple.object.as_ref()];
            size_of_val(triple) + parts.into_iter().map(term_bytes).sum::<usize>()
        }
    }
}

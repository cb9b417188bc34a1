//! The blank nodes that a CONSTRUCT makes.

use lode_rdf::{BlankNode, Kind, ValueId};

/// Fresh blank nodes of a CONSTRUCT are ids that no table holds: of the special kind, after its two marks.
const FIRST_BLANK: u64 = 2;

/// The id of a fresh blank node.
pub(crate) fn fresh_blank(number: u64) -> ValueId {
    ValueId::new(Kind::Special, (FIRST_BLANK + number).min(lode_rdf::value_id::PAYLOAD_MAX))
}

/// The term of a fresh blank node. Those of the store are called `b` and a number, so these must not be.
pub(crate) fn fresh_blank_term(number: u64) -> BlankNode {
    BlankNode::new_unchecked(format!("c{number}"))
}

/// The term of the id of one.
pub(crate) fn blank_of(id: ValueId) -> BlankNode {
    fresh_blank_term(id.payload().saturating_sub(FIRST_BLANK))
}

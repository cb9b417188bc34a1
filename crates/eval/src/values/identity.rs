//! What the kind of an id tells of `=`, without a look at the term.

use lode_rdf::{Kind, ValueId};

/// Whether the term is certainly equal to itself: NaN is not, and literals of unknown value are looked at elsewhere.
#[inline]
pub(crate) fn equals_itself(id: ValueId) -> bool {
    match id.kind() {
        Some(
            Kind::Double | Kind::Float | Kind::TypedLiteral | Kind::TripleTerm | Kind::Local | Kind::Special,
        ) => false,
        Some(_) => true,
        None => false,
    }
}

/// Whether the term is bound and its kind tells that its value is known (and is no string or IRI made by the query).
#[inline]
pub(crate) fn has_known_value(id: ValueId) -> bool {
    !matches!(id.kind(), None | Some(Kind::TypedLiteral | Kind::TripleTerm | Kind::Local | Kind::Special))
}

//! What a triple of a schema says.

use super::rules::SchemaRule;
use lode_rdf::Term;

/// One statement about classes or properties.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchemaFact {
    /// `rdfs:subClassOf`: the first is below the second. `owl:equivalentClass` is two of these, a member of an `owl:intersectionOf` one.
    SubClass(Term, Term),
    /// `rdfs:subPropertyOf`: the first is below the second. `owl:equivalentProperty` is two of these.
    SubProperty(Term, Term),
    /// `rdfs:domain`: of a property, a class.
    Domain(Term, Term),
    /// `rdfs:range`: of a property, a class.
    Range(Term, Term),
    /// `owl:inverseOf`.
    Inverse(Term, Term),
    /// `owl:SymmetricProperty`.
    Symmetric(Term),
    /// `owl:TransitiveProperty`.
    Transitive(Term),
}

impl SchemaFact {
    /// The rule by which something follows from it.
    pub fn rule(&self) -> SchemaRule {
        match self {
            Self::SubClass(..) => SchemaRule::SubClass,
            Self::SubProperty(..) => SchemaRule::SubProperty,
            Self::Domain(..) => SchemaRule::Domain,
            Self::Range(..) => SchemaRule::Range,
            Self::Inverse(..) => SchemaRule::Inverse,
            Self::Symmetric(_) => SchemaRule::Symmetric,
            Self::Transitive(_) => SchemaRule::Transitive,
        }
    }
}

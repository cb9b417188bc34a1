//! RDF as the store sees it: 64-bit value ids, dictionary keys, and the parsers and serialisers behind our own types.

pub mod inline;
pub mod key;
pub mod value_id;

pub use oxrdf::{
    BaseDirection, BlankNode, GraphName, GraphNameRef, Literal, LiteralRef, NamedNode, NamedNodeRef,
    NamedOrBlankNode, NamedOrBlankNodeRef, Quad, QuadRef, Term, TermRef, Triple, TripleRef, Variable,
};
pub use value_id::{Kind, ValueId};

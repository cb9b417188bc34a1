//! RDF as the store sees it: 64-bit value ids, dictionary keys, and the parsers and serialisers behind our own types.

pub mod format;
pub mod inline;
pub mod input;
pub mod key;
mod mistake;
mod ntriples;
pub mod parse;
pub mod raw;
pub mod serialize;
mod term_bytes;
pub mod value_id;

pub use format::RdfFormat;
pub use oxrdf::{
    BaseDirection, BlankNode, GraphName, GraphNameRef, Literal, LiteralRef, NamedNode, NamedNodeRef,
    NamedOrBlankNode, NamedOrBlankNodeRef, Quad, QuadRef, Term, TermRef, Triple, TripleRef, Variable,
    VariableRef,
};
pub use parse::{ParseError, ParseOptions};
pub use raw::{RawKey, RawQuad, RawTerm};
pub use term_bytes::term_bytes;
pub use value_id::{Kind, ValueId};

/// Whether a literal is an `xsd:string`: one without a language.
pub fn is_string(literal: LiteralRef<'_>) -> bool {
    literal.datatype() == oxrdf::vocab::xsd::STRING
}

//! Quads as slices of the text they were read from, ready to become keys without copies.

use crate::inline;
use crate::key::{self, Encoded};
use crate::value_id::{Section, ValueId};
use oxrdf::{
    BaseDirection, BlankNodeRef, GraphNameRef, LiteralRef, NamedNodeRef, NamedOrBlankNodeRef, Quad, QuadRef,
    Term, TermRef, Triple,
};
use std::borrow::Cow;

/// A term, borrowed from the text where nothing had to be decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RawTerm<'a> {
    /// An IRI.
    Iri(Cow<'a, str>),
    /// A blank node by its label in the document.
    Blank(Cow<'a, str>),
    /// An `xsd:string`.
    String(Cow<'a, str>),
    /// A language string; the tag is in lower case.
    LangString {
        /// The string.
        lexical: Cow<'a, str>,
        /// The language tag.
        language: Cow<'a, str>,
        /// The base direction.
        direction: Option<BaseDirection>,
    },
    /// A literal of another datatype.
    Typed {
        /// The lexical form.
        lexical: Cow<'a, str>,
        /// The datatype's IRI.
        datatype: Cow<'a, str>,
    },
    /// A triple term.
    Triple(Box<Triple>),
}

/// A quad of such terms; no graph means the default graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawQuad<'a> {
    /// An IRI or a blank node.
    pub subject: RawTerm<'a>,
    /// An IRI.
    pub predicate: Cow<'a, str>,
    /// Any term.
    pub object: RawTerm<'a>,
    /// An IRI or a blank node.
    pub graph: Option<RawTerm<'a>>,
}

/// What a term becomes in the store.
#[derive(Debug, Clone, Copy)]
pub enum RawKey<'k> {
    /// The term is this id.
    Inline(ValueId),
    /// A dictionary key.
    Key(Section, &'k [u8]),
    /// A blank node's label in the document.
    Blank(&'k str),
    /// A triple term: encode it with [`key::encode_with`] and the mapping of blank nodes.
    Triple(&'k Triple),
}

impl<'a> RawTerm<'a> {
    /// The inline id or the key, without a copy where the text is the key; `scratch` holds it otherwise.
    #[inline]
    pub fn key<'k>(&'k self, scratch: &'k mut Vec<u8>) -> RawKey<'k> {
        let encoded = match self {
            Self::Iri(iri) => return RawKey::Key(Section::Iri, iri.as_bytes()),
            Self::Blank(label) => return RawKey::Blank(label),
            Self::String(text) => return RawKey::Key(Section::String, text.as_bytes()),
            Self::Triple(triple) => return RawKey::Triple(triple),
            Self::LangString { lexical, language, direction } => {
                key::encode_lang_string(lexical, language, *direction, scratch)
            }
            Self::Typed { lexical, datatype } => {
                if let Some(id) = inline::encode_literal(lexical, datatype) {
                    return RawKey::Inline(id);
                }
                key::encode_typed_literal(lexical, datatype, scratch)
            }
        };
        match encoded {
            Encoded::Inline(id) => RawKey::Inline(id),
            Encoded::Key(section) => RawKey::Key(section, scratch),
            // Literals are never blank nodes.
            Encoded::Blank => RawKey::Blank(""),
        }
    }

    /// The term as the RDF model has it.
    pub fn as_ref(&self) -> TermRef<'_> {
        match self {
            Self::Iri(iri) => NamedNodeRef::new_unchecked(iri).into(),
            Self::Blank(label) => BlankNodeRef::new_unchecked(label).into(),
            Self::String(text) => LiteralRef::new_simple_literal(text).into(),
            Self::LangString { lexical, language, direction: None } => {
                LiteralRef::new_language_tagged_literal_unchecked(lexical, language).into()
            }
            Self::LangString { lexical, language, direction: Some(direction) } => {
                LiteralRef::new_directional_language_tagged_literal_unchecked(lexical, language, *direction)
                    .into()
            }
            Self::Typed { lexical, datatype } => {
                LiteralRef::new_typed_literal(lexical, NamedNodeRef::new_unchecked(datatype)).into()
            }
            Self::Triple(triple) => TermRef::Triple(triple),
        }
    }

    fn node_ref(&self) -> Option<NamedOrBlankNodeRef<'_>> {
        match self {
            Self::Iri(iri) => Some(NamedNodeRef::new_unchecked(iri).into()),
            Self::Blank(label) => Some(BlankNodeRef::new_unchecked(label).into()),
            _ => None,
        }
    }
}

impl RawQuad<'_> {
    /// The quad as the RDF model has it; `None` if subject or graph name is a literal or triple, which no parser makes.
    pub fn as_ref(&self) -> Option<QuadRef<'_>> {
        let graph_name = match &self.graph {
            None => GraphNameRef::DefaultGraph,
            Some(graph) => match graph.node_ref()? {
                NamedOrBlankNodeRef::NamedNode(node) => GraphNameRef::NamedNode(node),
                NamedOrBlankNodeRef::BlankNode(node) => GraphNameRef::BlankNode(node),
            },
        };
        Some(QuadRef {
            subject: self.subject.node_ref()?,
            predicate: NamedNodeRef::new_unchecked(&self.predicate),
            object: self.object.as_ref(),
            graph_name,
        })
    }
}

/// The raw form of a term of the model.
pub fn raw_term(term: Term) -> RawTerm<'static> {
    match term {
        Term::NamedNode(node) => RawTerm::Iri(node.into_string().into()),
        Term::BlankNode(node) => RawTerm::Blank(node.into_string().into()),
        Term::Triple(triple) => RawTerm::Triple(triple),
        Term::Literal(literal) => {
            let (lexical, datatype, language, direction) = literal.destruct();
            let lexical = lexical.into();
            match (language, datatype) {
                (Some(language), _) => RawTerm::LangString { lexical, language: language.into(), direction },
                (None, Some(datatype)) => RawTerm::Typed { lexical, datatype: datatype.into_string().into() },
                (None, None) => RawTerm::String(lexical),
            }
        }
    }
}

/// The raw form of a quad of the model.
pub fn raw_quad(quad: Quad) -> RawQuad<'static> {
    RawQuad {
        subject: raw_term(quad.subject.into()),
        predicate: quad.predicate.into_string().into(),
        object: raw_term(quad.object),
        graph: match quad.graph_name {
            oxrdf::GraphName::DefaultGraph => None,
            oxrdf::GraphName::NamedNode(node) => Some(RawTerm::Iri(node.into_string().into())),
            oxrdf::GraphName::BlankNode(node) => Some(RawTerm::Blank(node.into_string().into())),
        },
    }
}

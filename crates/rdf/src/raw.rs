//! Quads as slices of the text they were read from (or of a term), ready to become keys without copies.

use crate::key::{self, Encoded};
use crate::value_id::{Section, ValueId};
use oxrdf::{
    BaseDirection, BlankNodeRef, GraphNameRef, LiteralRef, NamedNodeRef, NamedOrBlankNodeRef, QuadRef,
    TermRef, Triple,
};

/// A term of borrowed texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RawTerm<'a> {
    /// An IRI.
    Iri(&'a str),
    /// A blank node by its label in the document.
    Blank(&'a str),
    /// An `xsd:string`.
    String(&'a str),
    /// A language string; the tag is in lower case.
    LangString {
        /// The string.
        lexical: &'a str,
        /// The language tag.
        language: &'a str,
        /// The base direction.
        direction: Option<BaseDirection>,
    },
    /// A literal of another datatype.
    Typed {
        /// The lexical form.
        lexical: &'a str,
        /// The datatype's IRI.
        datatype: &'a str,
    },
    /// A triple term.
    Triple(&'a Triple),
}

/// A quad of such terms; no graph means the default graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawQuad<'a> {
    /// An IRI or a blank node.
    pub subject: RawTerm<'a>,
    /// An IRI.
    pub predicate: &'a str,
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
    pub fn key<'k>(self, scratch: &'k mut Vec<u8>) -> RawKey<'k>
    where
        'a: 'k,
    {
        let encoded = match self {
            Self::Iri(iri) => return RawKey::Key(Section::Iri, iri.as_bytes()),
            Self::Blank(label) => return RawKey::Blank(label),
            Self::String(text) => return RawKey::Key(Section::String, text.as_bytes()),
            Self::Triple(triple) => return RawKey::Triple(triple),
            Self::LangString { lexical, language, direction } => {
                key::encode_lang_string(lexical, language, direction, scratch)
            }
            Self::Typed { lexical, datatype } => key::encode_typed_literal(lexical, datatype, scratch),
        };
        match encoded {
            Encoded::Inline(id) => RawKey::Inline(id),
            Encoded::Key(section) => RawKey::Key(section, scratch),
            // Literals are never blank nodes.
            Encoded::Blank => RawKey::Blank(""),
        }
    }

    /// The term as the RDF model has it.
    pub fn as_ref(self) -> TermRef<'a> {
        match self {
            Self::Iri(iri) => NamedNodeRef::new_unchecked(iri).into(),
            Self::Blank(label) => BlankNodeRef::new_unchecked(label).into(),
            Self::String(text) => LiteralRef::new_simple_literal(text).into(),
            Self::LangString { lexical, language, direction: None } => {
                LiteralRef::new_language_tagged_literal_unchecked(lexical, language).into()
            }
            Self::LangString { lexical, language, direction: Some(direction) } => {
                LiteralRef::new_directional_language_tagged_literal_unchecked(lexical, language, direction)
                    .into()
            }
            Self::Typed { lexical, datatype } => {
                LiteralRef::new_typed_literal(lexical, NamedNodeRef::new_unchecked(datatype)).into()
            }
            Self::Triple(triple) => TermRef::Triple(triple),
        }
    }

    fn node_ref(self) -> Option<NamedOrBlankNodeRef<'a>> {
        match self {
            Self::Iri(iri) => Some(NamedNodeRef::new_unchecked(iri).into()),
            Self::Blank(label) => Some(BlankNodeRef::new_unchecked(label).into()),
            _ => None,
        }
    }
}

impl<'a> RawQuad<'a> {
    /// The IRIs of subject, predicate, object and graph.
    pub(crate) fn iris(&self) -> impl Iterator<Item = &'a str> {
        let iri = |term: RawTerm<'a>| if let RawTerm::Iri(iri) = term { Some(iri) } else { None };
        [iri(self.subject), Some(self.predicate), iri(self.object), self.graph.and_then(iri)]
            .into_iter()
            .flatten()
    }

    /// The quad as the RDF model has it; `None` if subject or graph name is a literal or triple, which no parser makes.
    pub fn as_ref(self) -> Option<QuadRef<'a>> {
        let graph_name = match self.graph {
            None => GraphNameRef::DefaultGraph,
            Some(graph) => match graph.node_ref()? {
                NamedOrBlankNodeRef::NamedNode(node) => GraphNameRef::NamedNode(node),
                NamedOrBlankNodeRef::BlankNode(node) => GraphNameRef::BlankNode(node),
            },
        };
        Some(QuadRef {
            subject: self.subject.node_ref()?,
            predicate: NamedNodeRef::new_unchecked(self.predicate),
            object: self.object.as_ref(),
            graph_name,
        })
    }
}

impl<'a> From<TermRef<'a>> for RawTerm<'a> {
    fn from(term: TermRef<'a>) -> Self {
        let literal = match term {
            TermRef::NamedNode(node) => return Self::Iri(node.as_str()),
            TermRef::BlankNode(node) => return Self::Blank(node.as_str()),
            TermRef::Triple(triple) => return Self::Triple(triple),
            TermRef::Literal(literal) => literal,
        };
        let lexical = literal.value();
        match literal.language() {
            Some(language) => Self::LangString { lexical, language, direction: literal.direction() },
            None if literal.datatype() == oxrdf::vocab::xsd::STRING => Self::String(lexical),
            None => Self::Typed { lexical, datatype: literal.datatype().as_str() },
        }
    }
}

impl<'a> From<QuadRef<'a>> for RawQuad<'a> {
    fn from(quad: QuadRef<'a>) -> Self {
        Self {
            subject: TermRef::from(quad.subject).into(),
            predicate: quad.predicate.as_str(),
            object: quad.object.into(),
            graph: match quad.graph_name {
                GraphNameRef::DefaultGraph => None,
                GraphNameRef::NamedNode(node) => Some(RawTerm::Iri(node.as_str())),
                GraphNameRef::BlankNode(node) => Some(RawTerm::Blank(node.as_str())),
            },
        }
    }
}

//! Classes of terms during a load, in the order of their ids, so that a number given by class and key sorts like the final id.

use lode_rdf::ValueId;
use lode_rdf::value_id::{Kind, Section};

/// What a term is while it has no id yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Class {
    /// A blank node; key: number of its source (u32, big endian), label.
    Blank = 0,
    /// An IRI; keys of this and the other dictionary classes are those of `lode_rdf::key`.
    Iri = 1,
    /// An `xsd:string`.
    String = 2,
    /// A language string.
    LangString = 3,
    /// An inline value; key: its id, big endian.
    Inline = 4,
    /// Another typed literal.
    TypedLiteral = 5,
    /// A triple term without blank nodes.
    TripleTerm = 6,
    /// A triple term with blank nodes, which in the key are the numbers of the run that holds it. Once the blank nodes have their
    /// final numbers it becomes a [`Class::TripleTerm`] with another key.
    OpenTriple = 7,
}

impl Class {
    /// How many there are.
    pub const COUNT: usize = 8;
    /// All, in order.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Blank,
        Self::Iri,
        Self::String,
        Self::LangString,
        Self::Inline,
        Self::TypedLiteral,
        Self::TripleTerm,
        Self::OpenTriple,
    ];

    /// The class with this number (of its low three bits).
    pub const fn from_bits(bits: u64) -> Self {
        match bits & 7 {
            0 => Self::Blank,
            1 => Self::Iri,
            2 => Self::String,
            3 => Self::LangString,
            4 => Self::Inline,
            5 => Self::TypedLiteral,
            6 => Self::TripleTerm,
            _ => Self::OpenTriple,
        }
    }

    /// The class of an id.
    pub fn of_id(id: u64) -> Self {
        match ValueId::from_bits(id).kind() {
            Some(Kind::Blank) => Self::Blank,
            Some(kind) => kind.section().map_or(Self::Inline, Self::of),
            None => Self::Inline,
        }
    }

    /// The class of the terms of a dictionary section.
    pub const fn of(section: Section) -> Self {
        match section {
            Section::Iri => Self::Iri,
            Section::String => Self::String,
            Section::LangString => Self::LangString,
            Section::TypedLiteral => Self::TypedLiteral,
            Section::TripleTerm => Self::TripleTerm,
        }
    }

    /// The dictionary section of this class's terms, if they go there.
    pub const fn section(self) -> Option<Section> {
        match self {
            Self::Iri => Some(Section::Iri),
            Self::String => Some(Section::String),
            Self::LangString => Some(Section::LangString),
            Self::TypedLiteral => Some(Section::TypedLiteral),
            Self::TripleTerm | Self::OpenTriple => Some(Section::TripleTerm),
            Self::Blank | Self::Inline => None,
        }
    }

    /// The kind of its ids, where they all have one.
    pub const fn kind(self) -> Option<Kind> {
        match self {
            Self::Blank => Some(Kind::Blank),
            _ => match self.section() {
                Some(section) => Some(section.kind()),
                None => None,
            },
        }
    }
}

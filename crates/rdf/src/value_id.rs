//! The 64-bit id of a term: a kind in the high byte, a payload in the low 56 bits.
//!
//! An id is exact (the term comes back byte for byte) and order-preserving inside a kind. Kinds are numbered in the
//! order that SPARQL's ORDER BY gives them (unbound, blank nodes, IRIs, literals), so that ids sort usefully as numbers.

use std::fmt;

/// Bits of the payload.
pub const PAYLOAD_BITS: u32 = 56;
/// The largest payload.
pub const PAYLOAD_MAX: u64 = (1 << PAYLOAD_BITS) - 1;

/// What an id stands for. The numbers are part of the file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// [`ValueId::UNDEF`] and [`ValueId::DEFAULT_GRAPH`].
    Special = 0x00,
    /// A blank node; the payload is its number in the database.
    Blank = 0x08,
    /// An IRI in the dictionary.
    Iri = 0x10,
    /// An `xsd:string` in the dictionary.
    String = 0x20,
    /// A language string, with or without base direction, in the dictionary.
    LangString = 0x21,
    /// `xsd:boolean`, `true` or `false`.
    Boolean = 0x28,
    /// `xsd:integer` in canonical form, 56 bits offset binary.
    Integer = 0x30,
    /// `xsd:long`, like [`Kind::Integer`]; so are all the derived integer types below.
    Long = 0x31,
    /// `xsd:int`.
    Int = 0x32,
    /// `xsd:short`.
    Short = 0x33,
    /// `xsd:byte`.
    Byte = 0x34,
    /// `xsd:nonNegativeInteger`.
    NonNegativeInteger = 0x35,
    /// `xsd:positiveInteger`.
    PositiveInteger = 0x36,
    /// `xsd:nonPositiveInteger`.
    NonPositiveInteger = 0x37,
    /// `xsd:negativeInteger`.
    NegativeInteger = 0x38,
    /// `xsd:unsignedLong`.
    UnsignedLong = 0x39,
    /// `xsd:unsignedInt`.
    UnsignedInt = 0x3A,
    /// `xsd:unsignedShort`.
    UnsignedShort = 0x3B,
    /// `xsd:unsignedByte`.
    UnsignedByte = 0x3C,
    /// `xsd:decimal` with up to 6 fraction digits; the number of digits written is kept.
    Decimal = 0x40,
    /// `xsd:double` in canonical form with up to 13 significant digits.
    Double = 0x41,
    /// `xsd:float` in canonical form.
    Float = 0x42,
    /// `xsd:dateTime` with up to 3 fraction digits.
    DateTime = 0x48,
    /// `xsd:date`.
    Date = 0x49,
    /// Any other typed literal, or an inline type whose value or lexical form does not fit, in the dictionary.
    TypedLiteral = 0x50,
    /// A triple term (RDF 1.2) in the dictionary.
    TripleTerm = 0x60,
    /// A term made by a query that the store does not hold; the payload indexes the query's own table. Never stored.
    Local = 0x70,
}

impl Kind {
    /// The kind with this number.
    #[inline]
    pub const fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            0x00 => Self::Special,
            0x08 => Self::Blank,
            0x10 => Self::Iri,
            0x20 => Self::String,
            0x21 => Self::LangString,
            0x28 => Self::Boolean,
            0x30 => Self::Integer,
            0x31 => Self::Long,
            0x32 => Self::Int,
            0x33 => Self::Short,
            0x34 => Self::Byte,
            0x35 => Self::NonNegativeInteger,
            0x36 => Self::PositiveInteger,
            0x37 => Self::NonPositiveInteger,
            0x38 => Self::NegativeInteger,
            0x39 => Self::UnsignedLong,
            0x3A => Self::UnsignedInt,
            0x3B => Self::UnsignedShort,
            0x3C => Self::UnsignedByte,
            0x40 => Self::Decimal,
            0x41 => Self::Double,
            0x42 => Self::Float,
            0x48 => Self::DateTime,
            0x49 => Self::Date,
            0x50 => Self::TypedLiteral,
            0x60 => Self::TripleTerm,
            0x70 => Self::Local,
            _ => return None,
        })
    }

    /// `xsd:integer` and the types derived from it.
    pub const fn is_integer(self) -> bool {
        (self as u8) >= 0x30 && (self as u8) <= 0x3C
    }

    /// Any literal kind (of [`Kind::Local`] only the query's table knows).
    pub const fn is_literal(self) -> bool {
        (self as u8) >= 0x20 && (self as u8) <= 0x50
    }

    /// The part of the dictionary that holds this kind, if one does.
    pub const fn section(self) -> Option<Section> {
        Some(match self {
            Self::Iri => Section::Iri,
            Self::String => Section::String,
            Self::LangString => Section::LangString,
            Self::TypedLiteral => Section::TypedLiteral,
            Self::TripleTerm => Section::TripleTerm,
            _ => return None,
        })
    }
}

/// A part of the dictionary: the terms of one kind, numbered from 0 in the order of their keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Section {
    /// Key: the IRI.
    Iri = 0,
    /// Key: the string.
    String = 1,
    /// Key: lexical form, terminator, language tag, and for a direction `--ltr` or `--rtl`.
    LangString = 2,
    /// Key: datatype IRI, terminator, lexical form.
    TypedLiteral = 3,
    /// Key: nesting depth, then the keys of subject, predicate and object.
    TripleTerm = 4,
}

impl Section {
    /// How many there are.
    pub const COUNT: usize = 5;
    /// All, in order.
    pub const ALL: [Self; Self::COUNT] =
        [Self::Iri, Self::String, Self::LangString, Self::TypedLiteral, Self::TripleTerm];

    /// The kind of the ids of this section's terms.
    pub const fn kind(self) -> Kind {
        match self {
            Self::Iri => Kind::Iri,
            Self::String => Kind::String,
            Self::LangString => Kind::LangString,
            Self::TypedLiteral => Kind::TypedLiteral,
            Self::TripleTerm => Kind::TripleTerm,
        }
    }
}

/// The id of a term, or one of two marks: nothing ([`ValueId::UNDEF`]) and the default graph.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct ValueId(u64);

impl ValueId {
    /// No term: an unbound variable, or an expression's error.
    pub const UNDEF: Self = Self(0);
    /// The graph name of quads in the default graph.
    pub const DEFAULT_GRAPH: Self = Self(1);
    /// Larger than every id.
    pub const MAX: Self = Self(u64::MAX);

    /// Puts an id together.
    ///
    /// # Panics
    /// If `payload` has more than 56 bits.
    pub const fn new(kind: Kind, payload: u64) -> Self {
        assert!(payload <= PAYLOAD_MAX, "payload over 56 bits");
        Self(((kind as u64) << PAYLOAD_BITS) | payload)
    }

    /// The id with these bits, which may be of no kind when they come from a damaged file.
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The 64 bits.
    pub const fn to_bits(self) -> u64 {
        self.0
    }

    /// The kind, or `None` for bits that no kind has (only from damaged files).
    pub const fn kind(self) -> Option<Kind> {
        Kind::from_byte((self.0 >> PAYLOAD_BITS) as u8)
    }

    /// The high byte.
    pub const fn kind_byte(self) -> u8 {
        (self.0 >> PAYLOAD_BITS) as u8
    }

    /// The low 56 bits.
    pub const fn payload(self) -> u64 {
        self.0 & PAYLOAD_MAX
    }

    /// Whether this is [`ValueId::UNDEF`].
    pub const fn is_undef(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Debug for ValueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            Some(kind) => write!(f, "{kind:?}:{}", self.payload()),
            None => write!(f, "?{:#018x}", self.0),
        }
    }
}

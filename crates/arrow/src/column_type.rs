//! The types of columns, and which of them terms have.

use crate::number;
use arrow_schema::{DataType, Field, TimeUnit};
use lode_rdf::inline::datatype_iri;
use lode_rdf::{Kind, LiteralRef, TermRef};
use std::collections::HashMap;
use std::sync::Arc;

/// Digits after the point of decimals, as SPARQL implementations compute with,
pub const DECIMAL_SCALE: i8 = 18;
/// and digits of one.
pub const DECIMAL_PRECISION: u8 = 38;

/// What a column holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnType {
    /// IRIs.
    Iri,
    /// Labels of blank nodes.
    Blank,
    /// Values of `xsd:string`.
    String,
    /// Strings of one language.
    Language(Box<str>),
    /// `xsd:boolean`.
    Boolean,
    /// `xsd:integer` or a type derived from it, within 64 bits.
    Integer(Kind),
    /// `xsd:decimal`.
    Decimal,
    /// `xsd:double`.
    Double,
    /// `xsd:float`.
    Float,
    /// `xsd:date` without a time zone.
    Date,
    /// `xsd:dateTime` to the microsecond: all in UTC, or all without a time zone.
    DateTime { utc: bool },
    /// Lexical forms of literals of one datatype.
    Lexical(Box<str>),
    /// Any terms.
    Struct,
    /// Texts of any terms, without what tells their kind.
    Text,
}

impl ColumnType {
    /// The narrowest type that has the term.
    pub fn of_term(term: TermRef<'_>) -> Self {
        match term {
            TermRef::NamedNode(_) => Self::Iri,
            TermRef::BlankNode(_) => Self::Blank,
            TermRef::Triple(_) => Self::Struct,
            TermRef::Literal(literal) => Self::of_literal(literal),
        }
    }

    fn of_literal(literal: LiteralRef<'_>) -> Self {
        if let Some(language) = literal.language() {
            // A column has no place for directions.
            return if literal.direction().is_none() {
                Self::Language(language.into())
            } else {
                Self::Struct
            };
        }
        if lode_rdf::is_string(literal) {
            return Self::String;
        }
        let datatype = literal.datatype().as_str();
        let text = literal.value();
        let typed = match lode_rdf::inline::datatype_kind(datatype) {
            Some(Kind::Boolean) => number::boolean(text).map(|_| Self::Boolean),
            Some(kind) if kind.is_integer() => number::integer(text).map(|_| Self::Integer(kind)),
            Some(Kind::Decimal) => number::decimal(text).map(|_| Self::Decimal),
            Some(Kind::Double) => number::double(text).map(|_| Self::Double),
            Some(Kind::Float) => number::float(text).map(|_| Self::Float),
            Some(Kind::Date) => number::date(text).map(|_| Self::Date),
            Some(Kind::DateTime) => number::date_time(text).map(|(_, utc)| Self::DateTime { utc }),
            _ => None,
        };
        typed.unwrap_or_else(|| Self::Lexical(datatype.into()))
    }

    /// The type that all terms whose ids are of this kind have; `None`: their terms must tell.
    pub fn of_kind(kind: Kind) -> Option<Self> {
        Some(match kind {
            Kind::Iri => Self::Iri,
            Kind::Blank | Kind::Special => Self::Blank,
            Kind::String => Self::String,
            Kind::Boolean => Self::Boolean,
            Kind::Decimal => Self::Decimal,
            Kind::Double => Self::Double,
            Kind::Float => Self::Float,
            Kind::TripleTerm => Self::Struct,
            kind if kind.is_integer() => Self::Integer(kind),
            _ => return None,
        })
    }

    /// The same, or else the type that their lexical forms have.
    pub fn of_kind_or_lexical(kind: Kind) -> Option<Self> {
        let lexical = |kind| Some(Self::Lexical(datatype_iri(kind)?.into()));
        Self::of_kind(kind).or_else(|| lexical(kind))
    }

    /// The narrowest type that has the terms of both.
    pub fn with(self, other: &Self) -> Self {
        if self == *other {
            return self;
        }
        match (self.datatype(), other.datatype()) {
            (Some(a), Some(b)) if a == b => Self::Lexical(a.into()),
            _ => Self::Struct,
        }
    }

    /// The datatype of all of its literals, where texts alone do not have it.
    fn datatype(&self) -> Option<&str> {
        match self {
            Self::Boolean => datatype_iri(Kind::Boolean),
            Self::Integer(kind) => datatype_iri(*kind),
            Self::Decimal => datatype_iri(Kind::Decimal),
            Self::Double => datatype_iri(Kind::Double),
            Self::Float => datatype_iri(Kind::Float),
            Self::Date => datatype_iri(Kind::Date),
            Self::DateTime { .. } => datatype_iri(Kind::DateTime),
            Self::Lexical(datatype) => Some(datatype),
            _ => None,
        }
    }

    /// The type of Arrow.
    pub fn data_type(&self) -> DataType {
        match self {
            Self::Boolean => DataType::Boolean,
            Self::Integer(_) => DataType::Int64,
            Self::Decimal => DataType::Decimal128(DECIMAL_PRECISION, DECIMAL_SCALE),
            Self::Double => DataType::Float64,
            Self::Float => DataType::Float32,
            Self::Date => DataType::Date32,
            Self::DateTime { utc } => {
                DataType::Timestamp(TimeUnit::Microsecond, utc.then(|| Arc::from("UTC")))
            }
            Self::Struct => crate::structs::data_type(),
            Self::Iri | Self::Blank | Self::String | Self::Language(_) | Self::Lexical(_) | Self::Text => {
                crate::dictionary::data_type()
            }
        }
    }

    /// The column of this name. Its metadata tells what its values are in RDF.
    pub fn field(&self, name: &str) -> Field {
        let kind = match self {
            Self::Iri => "iri",
            Self::Blank => "bnode",
            Self::Struct => "term",
            Self::Text => "text",
            _ => "literal",
        };
        let mut metadata = HashMap::from([("rdf.kind".to_owned(), kind.to_owned())]);
        if let Some(datatype) = self.datatype() {
            metadata.insert("rdf.datatype".to_owned(), datatype.to_owned());
        }
        if let Self::Language(language) = self {
            metadata.insert("rdf.language".to_owned(), language.to_string());
        }
        Field::new(name, self.data_type(), true).with_metadata(metadata)
    }
}

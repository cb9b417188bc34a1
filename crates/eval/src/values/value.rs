//! Values: what a term means, as operators and functions see it.
//!
//! A value knows no lexical form: `"01"^^xsd:integer` and `"1"^^xsd:byte` are both the integer 1. Whoever needs the term
//! itself (STR, DATATYPE, sameTerm) keeps its id. A value that an expression computed has one term: its canonical form.

use super::exact::Exact;
use crate::text_bytes::TextBytes;
use lode_rdf::{
    BaseDirection, BlankNode, Literal, LiteralRef, NamedNode, Term, TermRef, Triple, ValueId, inline,
};
use oxsdatatypes::{
    Date, DateTime, DayTimeDuration, Decimal, Duration, GDay, GMonth, GMonthDay, GYear, GYearMonth, Time,
    YearMonthDuration,
};
use std::sync::Arc;

/// The namespace of XML Schema datatypes.
pub const XSD: &str = "http://www.w3.org/2001/XMLSchema#";

/// A string with a language tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LangString {
    /// The text.
    pub text: Arc<str>,
    /// The tag, in lower case.
    pub language: Arc<str>,
    /// RDF 1.2's base direction.
    pub direction: Option<BaseDirection>,
}

impl LangString {
    /// Whether tag (in any case) and direction are those of `other`.
    pub fn same_language(&self, other: &Self) -> bool {
        self.language.eq_ignore_ascii_case(&other.language) && self.direction == other.direction
    }
}

/// A literal whose value is unknown: of a datatype we do not know, or with a lexical form that the datatype lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherLiteral {
    /// The text.
    pub lexical: Arc<str>,
    /// The datatype's IRI.
    pub datatype: Arc<str>,
}

/// What a term means.
#[derive(Debug, Clone)]
pub enum Value {
    Iri(Arc<str>),
    /// A blank node's label.
    Blank(Arc<str>),
    String(Arc<str>),
    LangString(LangString),
    Boolean(bool),
    /// `xsd:integer` and all types derived from it, of 64 bits.
    Integer(i64),
    Decimal(Decimal),
    /// An `xsd:integer` or an `xsd:decimal` that is neither of the two above.
    Exact(Arc<Exact>),
    Float(f32),
    Double(f64),
    DateTime(DateTime),
    Date(Date),
    Time(Time),
    GYear(GYear),
    GYearMonth(GYearMonth),
    GMonth(GMonth),
    GMonthDay(GMonthDay),
    GDay(GDay),
    Duration(Duration),
    YearMonthDuration(YearMonthDuration),
    DayTimeDuration(DayTimeDuration),
    Other(Arc<OtherLiteral>),
    Triple(Arc<Triple>),
}

impl Value {
    /// The exact number that an integer or a decimal is; `None` for all other values.
    pub fn to_exact(&self) -> Option<Exact> {
        match self {
            Self::Integer(value) => Some((*value).into()),
            Self::Decimal(value) => Some((*value).into()),
            Self::Exact(value) => Some(Exact::clone(value)),
            _ => None,
        }
    }

    /// A simple string.
    pub fn string(text: impl Into<Arc<str>>) -> Self {
        Self::String(text.into())
    }

    /// What `term` means.
    pub fn from_term(term: TermRef<'_>) -> Self {
        match term {
            TermRef::NamedNode(node) => Self::Iri(node.as_str().into()),
            TermRef::BlankNode(node) => Self::Blank(node.as_str().into()),
            TermRef::Literal(literal) => Self::from_literal(literal),
            TermRef::Triple(triple) => Self::Triple(Arc::new(triple.clone())),
        }
    }

    fn from_literal(literal: LiteralRef<'_>) -> Self {
        match literal.language() {
            Some(language) => Self::LangString(LangString {
                text: literal.value().into(),
                language: language.into(),
                direction: literal.direction(),
            }),
            None => Self::from_typed(literal.value(), literal.datatype().as_str()),
        }
    }

    /// What a literal with a datatype and without a language means.
    pub fn from_typed(lexical: &str, datatype: &str) -> Self {
        datatype.strip_prefix(XSD).and_then(|name| parse_xsd(lexical, name)).unwrap_or_else(|| {
            Self::Other(Arc::new(OtherLiteral { lexical: lexical.into(), datatype: datatype.into() }))
        })
    }

    /// What an inline id means; `None` for ids of other kinds.
    #[inline]
    pub fn from_inline(id: ValueId) -> Option<Self> {
        use lode_rdf::Kind;
        Some(match id.kind()? {
            kind if kind.is_integer() => Self::Integer(inline::as_i64(id)?),
            Kind::Decimal => Self::Decimal(inline::as_decimal(id)?),
            Kind::Double => Self::Double(inline::as_f64(id)?),
            Kind::Float => Self::Float(inline::as_f32(id)?),
            Kind::Boolean => Self::Boolean(inline::as_bool(id)?),
            Kind::DateTime => Self::DateTime(inline::as_date_time(id)?),
            Kind::Date => Self::Date(inline::as_date(id)?),
            _ => return None,
        })
    }

    /// The id of this value's canonical term, where that is inline.
    #[inline]
    pub fn to_inline(&self) -> Option<ValueId> {
        match *self {
            Self::Boolean(value) => Some(inline::from_bool(value)),
            Self::Integer(value) => inline::from_i64(value),
            Self::Decimal(value) => inline::from_decimal(value),
            Self::Double(value) => inline::from_f64(value),
            Self::Float(value) => inline::from_f32(value),
            Self::DateTime(value) => inline::from_date_time(value),
            Self::Date(value) => inline::from_date(value),
            _ => None,
        }
    }

    /// The canonical term.
    pub fn to_term(&self) -> Term {
        match self {
            Self::Iri(iri) => NamedNode::new_unchecked(&**iri).into(),
            Self::Blank(label) => BlankNode::new_unchecked(&**label).into(),
            Self::String(text) => Literal::new_simple_literal(&**text).into(),
            Self::LangString(string) => string.to_literal().into(),
            Self::Other(literal) => {
                Literal::new_typed_literal(&*literal.lexical, NamedNode::new_unchecked(&*literal.datatype))
                    .into()
            }
            Self::Triple(triple) => Term::Triple(Box::new(Triple::clone(triple))),
            _ => {
                let lexical = self.lexical().unwrap_or_default();
                let datatype = self.datatype().unwrap_or_default();
                Literal::new_typed_literal(lexical, NamedNode::new_unchecked(datatype)).into()
            }
        }
    }

    /// The canonical lexical form of a literal; `None` for other terms.
    pub fn lexical(&self) -> Option<String> {
        Some(match self {
            Self::Iri(_) | Self::Blank(_) | Self::Triple(_) => return None,
            Self::String(text) => text.to_string(),
            Self::LangString(string) => string.text.to_string(),
            Self::Boolean(value) => value.to_string(),
            Self::Integer(value) => value.to_string(),
            Self::Decimal(value) => value.to_string(),
            Self::Exact(value) => value.lexical(),
            Self::Float(value) => inline::float_lexical(*value),
            Self::Double(value) => inline::double_lexical(*value),
            Self::DateTime(value) => value.to_string(),
            Self::Date(value) => value.to_string(),
            Self::Time(value) => value.to_string(),
            Self::GYear(value) => value.to_string(),
            Self::GYearMonth(value) => value.to_string(),
            Self::GMonth(value) => value.to_string(),
            Self::GMonthDay(value) => value.to_string(),
            Self::GDay(value) => value.to_string(),
            Self::Duration(value) => value.to_string(),
            Self::YearMonthDuration(value) => value.to_string(),
            Self::DayTimeDuration(value) => value.to_string(),
            Self::Other(literal) => literal.lexical.to_string(),
        })
    }

    /// The datatype of the canonical term; `None` where there is none.
    pub fn datatype(&self) -> Option<&str> {
        Some(match self {
            Self::Iri(_) | Self::Blank(_) | Self::Triple(_) => return None,
            Self::String(_) => "http://www.w3.org/2001/XMLSchema#string",
            Self::LangString(LangString { direction: None, .. }) => {
                "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"
            }
            Self::LangString(_) => "http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString",
            Self::Boolean(_) => "http://www.w3.org/2001/XMLSchema#boolean",
            Self::Integer(_) => "http://www.w3.org/2001/XMLSchema#integer",
            Self::Exact(value) if value.is_integer() => "http://www.w3.org/2001/XMLSchema#integer",
            Self::Decimal(_) | Self::Exact(_) => "http://www.w3.org/2001/XMLSchema#decimal",
            Self::Float(_) => "http://www.w3.org/2001/XMLSchema#float",
            Self::Double(_) => "http://www.w3.org/2001/XMLSchema#double",
            Self::DateTime(_) => "http://www.w3.org/2001/XMLSchema#dateTime",
            Self::Date(_) => "http://www.w3.org/2001/XMLSchema#date",
            Self::Time(_) => "http://www.w3.org/2001/XMLSchema#time",
            Self::GYear(_) => "http://www.w3.org/2001/XMLSchema#gYear",
            Self::GYearMonth(_) => "http://www.w3.org/2001/XMLSchema#gYearMonth",
            Self::GMonth(_) => "http://www.w3.org/2001/XMLSchema#gMonth",
            Self::GMonthDay(_) => "http://www.w3.org/2001/XMLSchema#gMonthDay",
            Self::GDay(_) => "http://www.w3.org/2001/XMLSchema#gDay",
            Self::Duration(_) => "http://www.w3.org/2001/XMLSchema#duration",
            Self::YearMonthDuration(_) => "http://www.w3.org/2001/XMLSchema#yearMonthDuration",
            Self::DayTimeDuration(_) => "http://www.w3.org/2001/XMLSchema#dayTimeDuration",
            Self::Other(literal) => &literal.datatype,
        })
    }

    /// The text of a string with or without a language.
    pub fn text(&self) -> Option<&Arc<str>> {
        match self {
            Self::String(text) | Self::LangString(LangString { text, .. }) => Some(text),
            _ => None,
        }
    }

    /// The text of a string without a language.
    pub fn simple(&self) -> Option<&Arc<str>> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// `text` with the language of `self`.
    pub fn with_text(&self, text: impl Into<Arc<str>>) -> Self {
        match self {
            Self::LangString(string) => Self::LangString(LangString { text: text.into(), ..string.clone() }),
            _ => Self::String(text.into()),
        }
    }

    /// Whether this is a number, or would be one if it were in our range.
    pub fn is_numeric(&self) -> bool {
        match self {
            Self::Integer(_) | Self::Decimal(_) | Self::Exact(_) | Self::Float(_) | Self::Double(_) => true,
            Self::Other(literal) => literal.is_out_of_range_number(),
            _ => false,
        }
    }

    /// The effective boolean value after SPARQL 1.2 (17.2.2); `None` for an error. There only `xsd:string`, booleans and numbers have one,
    /// where SPARQL 1.1 also took strings with a language for true unless they are empty, and ill-typed literals for false.
    pub fn effective_boolean(&self) -> Option<bool> {
        match self {
            Self::Boolean(value) => Some(*value),
            Self::Integer(value) => Some(*value != 0),
            Self::Decimal(value) => Some(*value != Decimal::from(0)),
            Self::Exact(_) => Some(true),
            Self::Float(value) => Some(*value != 0.0 && !value.is_nan()),
            Self::Double(value) => Some(*value != 0.0 && !value.is_nan()),
            Self::String(text) => Some(!text.is_empty()),
            Self::Other(literal) => literal.is_out_of_range_number().then_some(true),
            _ => None,
        }
    }
}

impl From<Exact> for Value {
    /// Of a machine word, if it fits.
    fn from(exact: Exact) -> Self {
        if exact.is_integer() {
            exact.to_i64().map_or_else(|| Self::Exact(Arc::new(exact)), Self::Integer)
        } else {
            exact.to_short_decimal().map_or_else(|| Self::Exact(Arc::new(exact)), Self::Decimal)
        }
    }
}

impl TextBytes for Value {
    fn text_bytes(&self) -> usize {
        match self {
            Self::Iri(text) | Self::Blank(text) | Self::String(text) => text.len(),
            Self::LangString(string) => string.text.len() + string.language.len(),
            Self::Exact(value) => value.heap_bytes(),
            Self::Other(literal) => literal.lexical.len() + literal.datatype.len(),
            Self::Triple(triple) => lode_rdf::term_bytes(lode_rdf::TermRef::Triple(triple)),
            _ => 0,
        }
    }
}

impl LangString {
    fn to_literal(&self) -> Literal {
        match self.direction {
            None => Literal::new_language_tagged_literal_unchecked(&*self.text, &*self.language),
            Some(direction) => Literal::new_directional_language_tagged_literal_unchecked(
                &*self.text,
                &*self.language,
                direction,
            ),
        }
    }
}

impl OtherLiteral {
    /// A valid number of a numeric type that has too many digits for our arithmetic.
    fn is_out_of_range_number(&self) -> bool {
        let Some(name) = self.datatype.strip_prefix(XSD) else { return false };
        match name {
            "decimal" => is_decimal_lexical(&self.lexical),
            _ => is_big_integer(&self.lexical, name),
        }
    }
}

/// The value of an XML Schema literal; `None` where the type is unknown or the lexical form is not one of its.
pub fn parse_xsd(lexical: &str, name: &str) -> Option<Value> {
    Some(match name {
        "string" => Value::String(lexical.into()),
        "boolean" => Value::Boolean(parse_boolean(lexical)?),
        "decimal" => match lexical.parse() {
            Ok(value) => Value::Decimal(value),
            Err(_) => Exact::parse_decimal(lexical)?.bounded()?.into(),
        },
        "float" => Value::Float(parse_float(lexical)?),
        "double" => Value::Double(parse_double(lexical)?),
        "dateTime" => Value::DateTime(lexical.parse().ok()?),
        "dateTimeStamp" => {
            let value: DateTime = lexical.parse().ok()?;
            value.timezone_offset()?;
            Value::DateTime(value)
        }
        "date" => Value::Date(lexical.parse().ok()?),
        "time" => Value::Time(lexical.parse().ok()?),
        "gYear" => Value::GYear(lexical.parse().ok()?),
        "gYearMonth" => Value::GYearMonth(lexical.parse().ok()?),
        "gMonth" => Value::GMonth(lexical.parse().ok()?),
        "gMonthDay" => Value::GMonthDay(lexical.parse().ok()?),
        "gDay" => Value::GDay(lexical.parse().ok()?),
        "duration" => Value::Duration(lexical.parse().ok()?),
        "yearMonthDuration" => Value::YearMonthDuration(lexical.parse().ok()?),
        "dayTimeDuration" => Value::DayTimeDuration(lexical.parse().ok()?),
        _ => {
            integer_range(name)?;
            let value = match lexical.parse() {
                Ok(value) => Value::Integer(value),
                Err(_) => Exact::parse_integer(lexical)?.bounded()?.into(),
            };
            return integer_in_range(value, name);
        }
    })
}

/// A value of `xsd:integer` as one of the integer type `name`; `None` where that does not have it.
pub fn integer_in_range(value: Value, name: &str) -> Option<Value> {
    let (low, high) = integer_range(name)?;
    let is_in_range = match &value {
        Value::Integer(value) => (low..=high).contains(value),
        Value::Exact(value) if value.is_integer() => {
            is_unbounded(name, value.is_negative()) || (name == "unsignedLong" && value.is_u64())
        }
        _ => false,
    };
    is_in_range.then_some(value)
}

/// The least and the greatest value of an integer type, in 64 bits.
pub fn integer_range(name: &str) -> Option<(i64, i64)> {
    Some(match name {
        "integer" | "long" => (i64::MIN, i64::MAX),
        "int" => (i64::from(i32::MIN), i64::from(i32::MAX)),
        "short" => (i64::from(i16::MIN), i64::from(i16::MAX)),
        "byte" => (i64::from(i8::MIN), i64::from(i8::MAX)),
        "nonNegativeInteger" | "unsignedLong" => (0, i64::MAX),
        "positiveInteger" => (1, i64::MAX),
        "nonPositiveInteger" => (i64::MIN, 0),
        "negativeInteger" => (i64::MIN, -1),
        "unsignedInt" => (0, i64::from(u32::MAX)),
        "unsignedShort" => (0, i64::from(u16::MAX)),
        "unsignedByte" => (0, i64::from(u8::MAX)),
        _ => return None,
    })
}

/// Whether an integer type has no end on the side of a sign.
fn is_unbounded(name: &str, negative: bool) -> bool {
    let reaches = |(low, high)| if negative { low == i64::MIN } else { high == i64::MAX };
    !matches!(name, "long" | "unsignedLong") && integer_range(name).is_some_and(reaches)
}

/// Whether `lexical` is an integer beyond 64 bits of a type without an end there.
fn is_big_integer(lexical: &str, name: &str) -> bool {
    let digits = lexical.strip_prefix(['+', '-']).unwrap_or(lexical);
    let are_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    are_digits && is_unbounded(name, lexical.starts_with('-')) && lexical.parse::<i64>().is_err()
}

fn is_decimal_lexical(lexical: &str) -> bool {
    let digits = lexical.strip_prefix(['+', '-']).unwrap_or(lexical);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all_digits = whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit());
    all_digits && !(whole.is_empty() && fraction.is_empty())
}

pub fn parse_boolean(lexical: &str) -> Option<bool> {
    match lexical {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

pub fn parse_double(lexical: &str) -> Option<f64> {
    match lexical {
        "INF" | "+INF" => Some(f64::INFINITY),
        "-INF" => Some(f64::NEG_INFINITY),
        "NaN" => Some(f64::NAN),
        _ if is_float_lexical(lexical) => lexical.parse().ok(),
        _ => None,
    }
}

pub fn parse_float(lexical: &str) -> Option<f32> {
    match lexical {
        "INF" | "+INF" => Some(f32::INFINITY),
        "-INF" => Some(f32::NEG_INFINITY),
        "NaN" => Some(f32::NAN),
        _ if is_float_lexical(lexical) => lexical.parse().ok(),
        _ => None,
    }
}

/// Rust reads more than XML Schema allows ("inf", "infinity"): digits, signs, points and exponents only.
fn is_float_lexical(lexical: &str) -> bool {
    lexical.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'))
}

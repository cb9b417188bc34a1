//! Inline values: literals whose value and lexical form fit into the 56 payload bits of an id.
//!
//! Why: most numbers and dates of real data never touch the dictionary, and comparing two ids of one kind as numbers
//! compares their values. Every encoder is exact: an id is made only for a text that [`decode`] gives back byte for
//! byte; everything else ("05", "+1", 20-digit integers, years past 4459) goes to the dictionary.
//!
//! Payload layouts (part of the file format):
//!
//! | kind | payload |
//! |---|---|
//! | Boolean | 0 or 1, written `false` and `true` |
//! | Integer and derived types | value + 2^55, canonical digits only |
//! | Decimal | 53 bits: value * 10^6 + 2^52; 3 bits: fraction digits written, 0 (no point) to 6 |
//! | Double, Float | see [`scientific`]: sign, decimal exponent, 13 digits and one of 6 ways of writing |
//! | DateTime | 47 bits: milliseconds since 0001-01-01T00:00:00Z; 2 bits: fraction digits; 7 bits: time zone |
//! | Date | 49 bits: minutes from 0000-12-31T10:00Z to the start of the day; 7 bits: time zone |
//!
//! Inside a kind `a.value < b.value` implies `id(a) < id(b)`. The reverse does not hold: values written in two ways
//! ("1.0" and "1.00") have two ids that stand side by side, -0 stands before 0, and NaN stands after INF.

pub mod bounds;
mod calendar;
mod decimal;
mod integer;
pub mod scientific;

#[cfg(test)]
mod tests;

use crate::value_id::{Kind, ValueId};
use oxrdf::{Literal, NamedNodeRef};
use oxsdatatypes::{Date, DateTime, Decimal};

pub use scientific::{double_lexical, float_lexical, write_double, write_float};

const XSD: &str = "http://www.w3.org/2001/XMLSchema#";

/// The inline kind of literals of this datatype, if it has one.
#[inline]
pub fn datatype_kind(datatype: &str) -> Option<Kind> {
    Some(match datatype.strip_prefix(XSD)? {
        "boolean" => Kind::Boolean,
        "integer" => Kind::Integer,
        "long" => Kind::Long,
        "int" => Kind::Int,
        "short" => Kind::Short,
        "byte" => Kind::Byte,
        "nonNegativeInteger" => Kind::NonNegativeInteger,
        "positiveInteger" => Kind::PositiveInteger,
        "nonPositiveInteger" => Kind::NonPositiveInteger,
        "negativeInteger" => Kind::NegativeInteger,
        "unsignedLong" => Kind::UnsignedLong,
        "unsignedInt" => Kind::UnsignedInt,
        "unsignedShort" => Kind::UnsignedShort,
        "unsignedByte" => Kind::UnsignedByte,
        "decimal" => Kind::Decimal,
        "double" => Kind::Double,
        "float" => Kind::Float,
        "dateTime" => Kind::DateTime,
        "date" => Kind::Date,
        _ => return None,
    })
}

/// The datatype IRI of an inline literal kind.
pub const fn datatype_iri(kind: Kind) -> Option<&'static str> {
    Some(match kind {
        Kind::Boolean => "http://www.w3.org/2001/XMLSchema#boolean",
        Kind::Integer => "http://www.w3.org/2001/XMLSchema#integer",
        Kind::Long => "http://www.w3.org/2001/XMLSchema#long",
        Kind::Int => "http://www.w3.org/2001/XMLSchema#int",
        Kind::Short => "http://www.w3.org/2001/XMLSchema#short",
        Kind::Byte => "http://www.w3.org/2001/XMLSchema#byte",
        Kind::NonNegativeInteger => "http://www.w3.org/2001/XMLSchema#nonNegativeInteger",
        Kind::PositiveInteger => "http://www.w3.org/2001/XMLSchema#positiveInteger",
        Kind::NonPositiveInteger => "http://www.w3.org/2001/XMLSchema#nonPositiveInteger",
        Kind::NegativeInteger => "http://www.w3.org/2001/XMLSchema#negativeInteger",
        Kind::UnsignedLong => "http://www.w3.org/2001/XMLSchema#unsignedLong",
        Kind::UnsignedInt => "http://www.w3.org/2001/XMLSchema#unsignedInt",
        Kind::UnsignedShort => "http://www.w3.org/2001/XMLSchema#unsignedShort",
        Kind::UnsignedByte => "http://www.w3.org/2001/XMLSchema#unsignedByte",
        Kind::Decimal => "http://www.w3.org/2001/XMLSchema#decimal",
        Kind::Double => "http://www.w3.org/2001/XMLSchema#double",
        Kind::Float => "http://www.w3.org/2001/XMLSchema#float",
        Kind::DateTime => "http://www.w3.org/2001/XMLSchema#dateTime",
        Kind::Date => "http://www.w3.org/2001/XMLSchema#date",
        _ => return None,
    })
}

/// The id of a typed literal, if it can be inline.
#[inline]
pub fn encode_literal(lexical: &str, datatype_iri: &str) -> Option<ValueId> {
    encode_kind(lexical.as_bytes(), datatype_kind(datatype_iri)?)
}

/// The id of a literal of an inline kind's datatype, if this lexical form can be inline.
#[inline]
pub fn encode_kind(lexical: &[u8], kind: Kind) -> Option<ValueId> {
    let payload = match kind {
        Kind::Boolean => match lexical {
            b"true" => 1,
            b"false" => 0,
            _ => return None,
        },
        _ if kind.is_integer() => integer::encode(lexical, kind)?,
        Kind::Decimal => decimal::encode(lexical)?,
        Kind::Double => scientific::encode(lexical, scientific::DOUBLE)?,
        Kind::Float => scientific::encode(lexical, scientific::FLOAT)?,
        Kind::DateTime => calendar::encode_date_time(lexical)?,
        Kind::Date => calendar::encode_date(lexical)?,
        _ => return None,
    };
    Some(ValueId::new(kind, payload))
}

/// The literal of an inline id; `None` for other kinds and for payloads that no encoder makes (from damaged files).
pub fn decode(id: ValueId) -> Option<Literal> {
    let datatype = datatype_iri(id.kind()?)?;
    let mut lexical = Vec::with_capacity(24);
    if !write_lexical(id, &mut lexical) {
        return None;
    }
    Some(Literal::new_typed_literal(String::from_utf8(lexical).ok()?, NamedNodeRef::new_unchecked(datatype)))
}

/// Appends the lexical form of an inline literal; `false` (and nothing appended) where [`decode`] gives `None`.
pub fn write_lexical(id: ValueId, out: &mut Vec<u8>) -> bool {
    let Some(kind) = id.kind() else { return false };
    let payload = id.payload();
    match kind {
        Kind::Boolean => match payload {
            0 => out.extend_from_slice(b"false"),
            1 => out.extend_from_slice(b"true"),
            _ => return false,
        },
        _ if kind.is_integer() => integer::write(integer::value(payload), out),
        Kind::Decimal => return decimal::write(payload, out),
        Kind::Double | Kind::Float => return scientific::write(payload, out),
        Kind::DateTime => return calendar::write_date_time(payload, out),
        Kind::Date => return calendar::write_date(payload, out),
        _ => return false,
    }
    true
}

/// The value of an `xsd:boolean` id.
#[inline]
pub fn as_bool(id: ValueId) -> Option<bool> {
    (id.kind_byte() == Kind::Boolean as u8).then_some(id.payload() != 0)
}

/// The value of an id of `xsd:integer` or a type derived from it.
#[inline]
pub fn as_i64(id: ValueId) -> Option<i64> {
    let kind = id.kind_byte();
    (kind >= Kind::Integer as u8 && kind <= Kind::UnsignedByte as u8).then(|| integer::value(id.payload()))
}

/// The value of an `xsd:decimal` id.
#[inline]
pub fn as_decimal(id: ValueId) -> Option<Decimal> {
    Decimal::new(i128::from(as_decimal_scaled(id)?), decimal::SCALE_DIGITS).ok()
}

/// The value of an `xsd:decimal` id times 10^6, always a whole number.
#[inline]
pub fn as_decimal_scaled(id: ValueId) -> Option<i64> {
    (id.kind_byte() == Kind::Decimal as u8).then(|| decimal::scaled(id.payload()))
}

/// The value of an `xsd:double` id.
#[inline]
pub fn as_f64(id: ValueId) -> Option<f64> {
    if id.kind_byte() != Kind::Double as u8 {
        return None;
    }
    scientific::value_f64(id.payload())
}

/// The value of an `xsd:float` id.
#[inline]
pub fn as_f32(id: ValueId) -> Option<f32> {
    if id.kind_byte() != Kind::Float as u8 {
        return None;
    }
    scientific::value_f32(id.payload())
}

/// The value of an `xsd:dateTime` id.
pub fn as_date_time(id: ValueId) -> Option<DateTime> {
    if id.kind_byte() != Kind::DateTime as u8 {
        return None;
    }
    calendar::date_time_value(id.payload())
}

/// The value of an `xsd:date` id.
pub fn as_date(id: ValueId) -> Option<Date> {
    if id.kind_byte() != Kind::Date as u8 {
        return None;
    }
    calendar::date_value(id.payload())
}

/// The id of `true` or `false`.
#[inline]
pub const fn from_bool(value: bool) -> ValueId {
    ValueId::new(Kind::Boolean, value as u64)
}

/// The id of an `xsd:integer`, if the value fits into 56 bits.
#[inline]
pub fn from_i64(value: i64) -> Option<ValueId> {
    from_i64_of(Kind::Integer, value)
}

/// The id of a value of an integer kind, if the value fits into 56 bits and is in the type's range.
#[inline]
pub fn from_i64_of(kind: Kind, value: i64) -> Option<ValueId> {
    Some(ValueId::new(kind, integer::payload(value, kind)?))
}

/// The id of a decimal in the form that [`Decimal`]'s `Display` writes ("5", "2.5"), if it fits.
#[inline]
pub fn from_decimal(value: Decimal) -> Option<ValueId> {
    Some(ValueId::new(Kind::Decimal, decimal::from_value(value)?))
}

/// The id of a double in canonical form ("1.5E0", as [`write_double`] writes it), if it has up to 13 digits.
#[inline]
pub fn from_f64(value: f64) -> Option<ValueId> {
    Some(ValueId::new(Kind::Double, scientific::from_f64(value)?))
}

/// The id of a float in canonical form, as [`write_float`] writes it.
#[inline]
pub fn from_f32(value: f32) -> Option<ValueId> {
    Some(ValueId::new(Kind::Float, scientific::from_f32(value)?))
}

/// The id of a dateTime in the form that [`DateTime`]'s `Display` writes, if it fits.
pub fn from_date_time(value: DateTime) -> Option<ValueId> {
    Some(ValueId::new(Kind::DateTime, calendar::from_date_time(value)?))
}

/// The id of a date in the form that [`Date`]'s `Display` writes, if it fits.
pub fn from_date(value: Date) -> Option<ValueId> {
    Some(ValueId::new(Kind::Date, calendar::from_date(value)?))
}

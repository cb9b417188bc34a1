//! Where the ids of a kind lie whose values are not less, or not greater, than a literal's.
//!
//! The bounds are for skipping: beyond them certainly no id has such a value; within, some may not.

use super::{as_decimal, as_i64, decimal, encode_literal, integer};
use crate::value_id::{Kind, PAYLOAD_MAX, ValueId};
use oxrdf::LiteralRef;
use std::ops::RangeInclusive;

/// Values with and without time zones cannot be told apart by order if they are no further apart than this (XML Schema).
const ZONE_MINUTES: u64 = 14 * 60;
/// Below it, integers are doubles exactly.
const EXACT: f64 = 1_000_000_000_000_000.0;

/// The payloads of `kind` that a value equal to that of `literal` may have: none with a lesser value comes behind the first, none
/// with a greater one before the last. `None` where that cannot be told.
fn payloads(kind: Kind, literal: LiteralRef<'_>) -> Option<RangeInclusive<u64>> {
    let id = encode_literal(literal.value(), literal.datatype().as_str())?;
    match (kind, id.kind()?) {
        (Kind::Date, Kind::Date) => Some(around(id.payload(), ZONE_MINUTES, 7)),
        (Kind::DateTime, Kind::DateTime) => Some(around(id.payload(), ZONE_MINUTES * 60_000, 9)),
        (Kind::Decimal, Kind::Decimal) => {
            let exact = decimal::exact(id.payload());
            Some(exact..=exact | decimal::DIGIT_MASK)
        }
        (Kind::Decimal, _) => decimal::whole(as_i64(id)?),
        (kind, Kind::Decimal) if kind.is_integer() => {
            let value = f64::from(oxsdatatypes::Double::from(as_decimal(id)?));
            let whole = |value: f64| {
                #[expect(clippy::cast_possible_truncation, reason = "its range was checked")]
                (value.abs() < EXACT).then(|| integer::nearest(value as i64, kind))
            };
            Some(whole(value.floor())?..=whole(value.ceil())?)
        }
        (kind, _) if kind.is_integer() => {
            let payload = integer::nearest(as_i64(id)?, kind);
            Some(payload..=payload)
        }
        _ => None,
    }
}

/// The payloads whose upper bits are within `slack` of those of `payload`.
fn around(payload: u64, slack: u64, low_bits: u32) -> RangeInclusive<u64> {
    let value = payload >> low_bits;
    let last = (value + slack).min(PAYLOAD_MAX >> low_bits);
    (value.saturating_sub(slack) << low_bits)..=((last << low_bits) | ((1 << low_bits) - 1))
}

/// The least id of `kind` that may have a value not less than that of `literal`; `None` where that cannot be told.
pub fn least_id(kind: Kind, literal: LiteralRef<'_>) -> Option<ValueId> {
    Some(ValueId::new(kind, *payloads(kind, literal)?.start()))
}

/// The greatest id of `kind` that may have a value not greater than that of `literal`; `None` where that cannot be told.
pub fn greatest_id(kind: Kind, literal: LiteralRef<'_>) -> Option<ValueId> {
    Some(ValueId::new(kind, *payloads(kind, literal)?.end()))
}

#[cfg(test)]
mod tests;

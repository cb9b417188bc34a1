//! Bounds leave out no id whose value fulfils a comparison.

use super::{greatest_id, least_id};
use crate::inline::{as_date, as_date_time, as_decimal, as_i64, datatype_iri, encode_literal};
use crate::value_id::{Kind, ValueId};
use oxrdf::{Literal, NamedNode};
use oxsdatatypes::Decimal;
use std::cmp::Ordering;

fn literals() -> Vec<Literal> {
    let mut all = Vec::new();
    let mut add = |kind: Kind, texts: &[&str]| {
        let datatype = NamedNode::new(datatype_iri(kind).unwrap()).unwrap();
        all.extend(texts.iter().map(|text| Literal::new_typed_literal(*text, datatype.clone())));
    };
    let whole =
        ["0", "1", "-1", "7", "126", "127", "-128", "1000", "-36028797018963968", "36028797018963967"];
    for kind in
        [Kind::Integer, Kind::Byte, Kind::NonNegativeInteger, Kind::NegativeInteger, Kind::UnsignedInt]
    {
        add(kind, &whole);
    }
    add(
        Kind::Decimal,
        &[
            "0",
            "0.0",
            "1",
            "1.0",
            "1.00",
            "-1",
            "0.999999",
            "6.5",
            "7.000001",
            "126.9",
            "-128.1",
            "4503599627",
        ],
    );
    let days = ["2008-05-01", "2008-04-30", "2008-05-02", "0001-01-01", "0001-01-02", "4459-01-01"];
    for zone in ["", "Z", "+14:00", "-14:00", "+00:00", "-05:30"] {
        let dates: Vec<String> = days.iter().map(|day| format!("{day}{zone}")).collect();
        add(Kind::Date, &dates.iter().map(String::as_str).collect::<Vec<_>>());
        for time in ["00:00:00", "13:59:59.9", "14:00:00", "23:59:59.999"] {
            let times: Vec<String> = days.iter().map(|day| format!("{day}T{time}{zone}")).collect();
            add(Kind::DateTime, &times.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }
    all
}

fn id(literal: &Literal) -> Option<ValueId> {
    encode_literal(literal.value(), literal.datatype().as_str())
}

fn number(id: ValueId) -> Option<Decimal> {
    as_decimal(id).or_else(|| as_i64(id).map(Decimal::from))
}

fn compare(a: ValueId, b: ValueId) -> Option<Ordering> {
    match (number(a), number(b)) {
        (Some(a), Some(b)) => a.partial_cmp(&b),
        _ => None,
    }
    .or_else(|| as_date(a)?.partial_cmp(&as_date(b)?))
    .or_else(|| as_date_time(a)?.partial_cmp(&as_date_time(b)?))
}

#[test]
fn nothing_that_fulfils_a_comparison_is_left_out() {
    let literals = literals();
    let mut compared = 0;
    for constant in &literals {
        let Some(constant_id) = id(constant) else { continue };
        for value in literals.iter().filter_map(id) {
            let kind = value.kind().unwrap();
            let Some(order) = compare(value, constant_id) else { continue };
            compared += 1;
            if let Some(least) = least_id(kind, constant.as_ref()) {
                assert!(order.is_lt() || value >= least, "{value:?} >= {constant}, but before {least:?}");
            }
            if let Some(greatest) = greatest_id(kind, constant.as_ref()) {
                assert!(
                    order.is_gt() || value <= greatest,
                    "{value:?} <= {constant}, but behind {greatest:?}"
                );
            }
        }
    }
    assert!(compared > 5_000, "{compared}");
}

#[test]
fn bounds_of_integers_are_exact_and_those_of_dates_close() {
    let literal = |text: &str, kind| {
        Literal::new_typed_literal(text, NamedNode::new(datatype_iri(kind).unwrap()).unwrap())
    };
    let seven = literal("7", Kind::Integer);
    assert_eq!(least_id(Kind::Integer, seven.as_ref()), id(&seven));
    assert_eq!(greatest_id(Kind::Integer, seven.as_ref()), id(&seven));
    let day = literal("2008-05-01", Kind::Date);
    let least = least_id(Kind::Date, day.as_ref()).unwrap();
    assert!(least < id(&day).unwrap());
    assert!(least > id(&literal("2008-04-30", Kind::Date)).unwrap());
    assert!(greatest_id(Kind::Date, day.as_ref()).unwrap() < id(&literal("2008-05-02", Kind::Date)).unwrap());
    // Doubles are written in ways that do not compare so simply, and texts do not compare with numbers.
    assert_eq!(least_id(Kind::Double, seven.as_ref()), None);
    assert_eq!(least_id(Kind::Integer, Literal::from("7").as_ref()), None);
}

//! Comparisons and arithmetic, by examples and against oxsdatatypes.

use super::{d, i, iri, l, s, show, unknown, x, xt};
use crate::expr::column::Tri;
use crate::expr::order::OrderKey;
use crate::functions::cast::cast;
use crate::functions::dates::{day, hours, minutes, month, seconds, timezone, tz, year};
use crate::values::arithmetic::{abs, add, ceil, divide, floor, minus, multiply, plus, round, subtract};
use crate::values::compare::{Comparison, compare, equal};
use crate::values::value::Value;
use lode_rdf::BaseDirection::{Ltr, Rtl};
use lode_rdf::{NamedNode, Triple};
use oxsdatatypes::{Decimal, Double, Integer};
use proptest::prelude::*;
use std::sync::Arc;

fn triple(object: (&str, &str)) -> Value {
    let node = NamedNode::new_unchecked("http://example/s");
    Value::Triple(Arc::new(Triple::new(node.clone(), node, xt(object.0, object.1))))
}

#[test]
fn equality() {
    use Tri::{Error, False, True};
    let cases = [
        (i(1), x("1.0", "decimal"), True),
        (i(1), x("1", "double"), True),
        (x("01", "integer"), x("1", "byte"), True),
        (x("NaN", "double"), x("NaN", "double"), False),
        (x("-0", "double"), x("0", "double"), True),
        (i(1), s("1"), False),
        (i(1), x("true", "boolean"), False),
        (s("xyz"), l("xyz", "en"), False),
        (l("xyz", "en"), l("xyz", "EN"), True),
        (d("a", "en", Ltr), d("a", "en", Rtl), False),
        (s("xyz"), x("xyz", "integer"), Error),
        (s("xyz"), unknown("xyz", "t"), Error),
        (l("xyz", "en"), x("xyz", "integer"), False),
        (l("xyz", "en"), unknown("xyz", "t"), False),
        (x("xyz", "integer"), x("xyz", "integer"), True),
        (x("xyz", "integer"), x("abc", "integer"), Error),
        (unknown("a", "t1"), unknown("a", "t1"), True),
        (unknown("a", "t1"), unknown("b", "t1"), Error),
        (unknown("a", "t1"), unknown("a", "t2"), Error),
        (unknown("a", "t1"), iri("a"), False),
        (iri("http://a/"), iri("http://a/"), True),
        (iri("http://a/"), s("http://a/"), False),
        (x("1", "boolean"), x("true", "boolean"), True),
        (x("2006-08-23", "date"), x("2006-08-23Z", "date"), Error),
        (x("2006-08-23", "date"), x("2001-01-01Z", "date"), False),
        (x("2006-08-23Z", "date"), x("2006-08-23+00:00", "date"), True),
        (x("2006-08-23", "date"), x("2006-08-23T00:00:00", "dateTime"), False),
        (x("2002-04-02T23:00:00-04:00", "dateTime"), x("2002-04-03T02:00:00-01:00", "dateTime"), True),
        (x("1999-12-31T24:00:00", "dateTime"), x("2000-01-01T00:00:00", "dateTime"), True),
        (x("P1Y", "duration"), x("P12M", "yearMonthDuration"), True),
        (x("PT24H", "dayTimeDuration"), x("P1D", "duration"), True),
        (x("P0M", "yearMonthDuration"), x("PT0S", "dayTimeDuration"), True),
        (triple(("123", "integer")), triple(("123.0", "decimal")), True),
        (triple(("123", "integer")), triple(("124", "integer")), False),
        (triple(("x", "integer")), triple(("124", "integer")), Error),
        (triple(("1", "integer")), i(1), False),
    ];
    for (a, b, expected) in cases {
        assert_eq!(equal(&a, &b), expected, "{a:?} = {b:?}");
        assert_eq!(equal(&b, &a), expected, "{b:?} = {a:?}");
    }
}

#[test]
fn order() {
    use Tri::{Error, False, True};
    let cases = [
        (i(1), x("1.5", "decimal"), True),
        (i(2), i(1), False),
        (s("a"), s("b"), True),
        (s("Z"), s("a"), True),
        (x("false", "boolean"), x("true", "boolean"), True),
        (x("NaN", "double"), i(1), False),
        (i(1), x("NaN", "float"), False),
        (i(1), s("2"), Error),
        (l("a", "en"), l("b", "en"), Error),
        (iri("a"), iri("b"), Error),
        (unknown("a", "t"), unknown("b", "t"), Error),
        (x("2006-08-23", "date"), x("2006-08-23Z", "date"), Error),
        (x("2006-08-22", "date"), x("2006-08-23Z", "date"), True),
        (x("2006-08-21", "date"), x("2006-08-23Z", "date"), True),
        (x("2006-08-22", "date"), x("2006-08-23T00:00:00Z", "dateTime"), Error),
        (x("10:00:00Z", "time"), x("11:00:00Z", "time"), True),
        (x("2000", "gYear"), x("2001", "gYear"), True),
        (x("P1M", "duration"), x("P30D", "duration"), Error),
        (x("P1M", "duration"), x("P32D", "duration"), True),
        (x("PT1H", "dayTimeDuration"), x("PT61M", "dayTimeDuration"), True),
    ];
    for (a, b, expected) in cases {
        assert_eq!(compare(Comparison::Less, &a, &b), expected, "{a:?} < {b:?}");
        assert_eq!(compare(Comparison::Greater, &b, &a), expected, "{b:?} > {a:?}");
    }
    assert_eq!(compare(Comparison::LessOrEqual, &i(1), &x("1.0", "decimal")), True);
    assert_eq!(compare(Comparison::GreaterOrEqual, &x("NaN", "double"), &x("NaN", "double")), False);
}

#[test]
fn arithmetic_by_example() {
    let cases = [
        (add(&i(1), &i(2)), "\"3\"^^<xsd:integer>"),
        (add(&x("1", "byte"), &x("2", "short")), "\"3\"^^<xsd:integer>"),
        (add(&x("1.0", "decimal"), &i(2)), "\"3\"^^<xsd:decimal>"),
        (add(&i(1), &x("2", "float")), "\"3.0E0\"^^<xsd:float>"),
        (add(&x("1", "float"), &x("2", "double")), "\"3.0E0\"^^<xsd:double>"),
        (add(&i(i64::MAX), &i(1)), "\"9223372036854775808\"^^<xsd:integer>"),
        (multiply(&i(i64::MAX), &i(2)), "\"18446744073709551614\"^^<xsd:integer>"),
        (add(&s("1"), &i(1)), "error"),
        (add(&x("abc", "integer"), &i(1)), "error"),
        (divide(&i(4), &i(2)), "\"2\"^^<xsd:decimal>"),
        (divide(&i(1), &i(0)), "error"),
        (divide(&x("1", "decimal"), &x("0", "decimal")), "error"),
        (divide(&x("1", "double"), &i(0)), "\"INF\"^^<xsd:double>"),
        (divide(&x("0", "float"), &i(0)), "\"NaN\"^^<xsd:float>"),
        (minus(&i(i64::MIN)), "\"9223372036854775808\"^^<xsd:integer>"),
        (minus(&x("0", "double")), "\"-0.0E0\"^^<xsd:double>"),
        (
            subtract(&x("2020-01-02T00:00:00Z", "dateTime"), &x("2020-01-01T00:00:00Z", "dateTime")),
            "\"P1D\"^^<xsd:dayTimeDuration>",
        ),
        (subtract(&x("2020-03-01", "date"), &x("P1M", "yearMonthDuration")), "\"2020-02-01\"^^<xsd:date>"),
        (
            add(&x("P1Y", "yearMonthDuration"), &x("2020-02-29T00:00:00Z", "dateTime")),
            "\"2021-02-28T00:00:00Z\"^^<xsd:dateTime>",
        ),
        (add(&x("10:00:00", "time"), &x("PT15H", "dayTimeDuration")), "\"01:00:00\"^^<xsd:time>"),
        (
            add(&x("P1D", "dayTimeDuration"), &x("PT12H", "dayTimeDuration")),
            "\"P1DT12H\"^^<xsd:dayTimeDuration>",
        ),
        (add(&x("2020-01-01", "date"), &i(1)), "error"),
    ];
    for (found, expected) in cases {
        assert_eq!(show(found), expected);
    }
}

/// Numbers of all types, small ones so that they meet, and large ones.
fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        (-5_i64..5).prop_map(Value::Integer),
        any::<i64>().prop_map(Value::Integer),
        (-50_i64..50, 0_u32..3)
            .prop_map(|(n, scale)| { Value::Decimal(Decimal::new(i128::from(n), scale).unwrap()) }),
        any::<i128>().prop_map(|bits| Value::Decimal(Decimal::from_be_bytes(bits.to_be_bytes()))),
        (-20_i8..20).prop_map(|n| Value::Float(f32::from(n) / 4.0)),
        any::<f32>().prop_map(Value::Float),
        (-20_i8..20).prop_map(|n| Value::Double(f64::from(n) / 4.0)),
        any::<f64>().prop_map(Value::Double),
    ]
}

proptest! {
    #[test]
    fn integers_agree(a: i64, b: i64) {
        let (x, y) = (Integer::from(a), Integer::from(b));
        // What does not fit is compared elsewhere, with exact numbers.
        let agree = |value: Option<Value>, expected: Option<String>| {
            expected.is_none() || value.and_then(|value| value.lexical()) == expected
        };
        let text = |value: Option<Integer>| value.map(|value| value.to_string());
        prop_assert!(agree(add(&i(a), &i(b)), text(x.checked_add(y))));
        prop_assert!(agree(subtract(&i(a), &i(b)), text(x.checked_sub(y))));
        prop_assert!(agree(multiply(&i(a), &i(b)), text(x.checked_mul(y))));
        let quotient = Decimal::from(x).checked_div(Decimal::from(y)).map(|value| value.to_string());
        prop_assert!(agree(divide(&i(a), &i(b)), quotient));
    }

    #[test]
    fn doubles_agree(a: f64, b: f64) {
        let (x, y) = (Double::from(a), Double::from(b));
        let (v, w) = (Value::Double(a), Value::Double(b));
        let same = |value: Option<Value>, expected: Double| {
            matches!(value, Some(Value::Double(value)) if Double::from(value).is_identical_with(expected))
        };
        prop_assert!(same(add(&v, &w), x + y));
        prop_assert!(same(divide(&v, &w), x / y));
        prop_assert_eq!(compare(Comparison::Less, &v, &w), Tri::from(x < y));
        prop_assert_eq!(equal(&v, &w), Tri::from(x == y));
    }

    #[test]
    fn comparisons_are_consistent(a in number(), b in number()) {
        let less = compare(Comparison::Less, &a, &b);
        let greater = compare(Comparison::Greater, &a, &b);
        let same = equal(&a, &b);
        prop_assert_eq!(compare(Comparison::LessOrEqual, &a, &b), less.or(same));
        prop_assert_eq!(compare(Comparison::GreaterOrEqual, &a, &b), greater.or(same));
        prop_assert!([less, greater, same].iter().filter(|truth| **truth == Tri::True).count() <= 1);
    }

    #[test]
    fn arithmetic_never_panics(a in number(), b in number()) {
        for f in [add, subtract, multiply, divide] {
            let _ = f(&a, &b).map(|value| value.to_term());
        }
        for f in [abs, ceil, floor, round, minus, plus] {
            let _ = f(&a).map(|value| value.to_term());
        }
        for name in ["string", "boolean", "integer", "byte", "decimal", "float", "double", "dateTime", "duration"] {
            let _ = cast(&a, name).map(|value| value.to_term());
        }
    }

    #[test]
    fn any_text_of_any_type_has_a_value(
        text in "(-?[0-9]{0,20}[-:.TPYMDHSZ+eE]?){0,8}",
        name in prop::sample::select(vec![
            "dateTime", "date", "time", "gYear", "gYearMonth", "gMonth", "gMonthDay", "gDay", "duration",
            "yearMonthDuration", "dayTimeDuration", "decimal", "double", "float", "integer", "unsignedLong",
        ]),
    ) {
        let value = x(&text, name);
        // The canonical form stands for the same value.
        let again = Value::from_term(value.to_term().as_ref());
        let nan = matches!(value, Value::Double(n) if n.is_nan()) || matches!(value, Value::Float(n) if n.is_nan());
        prop_assert!(nan || equal(&value, &again) == Tri::True, "{:?} {:?}", value, again);
        for other in ["dateTime", "date", "time", "gYear", "gMonthDay", "duration"] {
            let _ = cast(&value, other).map(|value| value.to_term());
        }
        for part in [year, month, day, hours, minutes, seconds, timezone, tz] {
            let _ = part(&value).map(|value| value.to_term());
        }
        let _ = add(&value, &x("P1Y2M3DT4H5M6.7S", "duration")).map(|value| value.to_term());
        let _ = subtract(&value, &value).map(|value| value.to_term());
        let _ = OrderKey::new(Some(&value)).cmp(&OrderKey::new(Some(&again)));
    }

    #[test]
    fn dates_never_panic(
        date in any::<i128>(),
        zone in -840_i16..=840,
        months: i64,
        seconds: i128,
    ) {
        let mut bytes = [0; 18];
        bytes[..16].copy_from_slice(&date.to_be_bytes());
        bytes[16..].copy_from_slice(&zone.to_be_bytes());
        let moment = Value::DateTime(oxsdatatypes::DateTime::from_be_bytes(bytes));
        let duration = Value::YearMonthDuration(oxsdatatypes::YearMonthDuration::new(months));
        let time = Value::DayTimeDuration(
            oxsdatatypes::DayTimeDuration::new(Decimal::from_be_bytes(seconds.to_be_bytes())),
        );
        for other in [&duration, &time] {
            let _ = add(&moment, other).map(|value| value.lexical());
            let _ = subtract(&moment, other).map(|value| value.lexical());
        }
        let _ = add(&duration, &time).map(|value| value.lexical());
        let _ = moment.lexical();
    }
}

//! ORDER BY's order: by the specification, and total.

use super::{d, i, iri, l, s, unknown, x, xt};
use crate::expr::column::Tri;
use crate::expr::order::OrderKey;
use crate::values::compare::{Comparison, compare, equal};
use crate::values::value::Value;
use lode_rdf::BaseDirection::{Ltr, Rtl};
use lode_rdf::{NamedNode, Triple};
use oxsdatatypes::Decimal;
use proptest::prelude::*;
use std::cmp::Ordering;
use std::sync::Arc;

fn key(value: &Value) -> OrderKey {
    OrderKey::new(Some(value))
}

fn triple(subject: &str, object: (&str, &str)) -> Value {
    let node = |name: &str| NamedNode::new_unchecked(format!("http://example.com/{name}"));
    Value::Triple(Arc::new(Triple::new(node(subject), node("p"), xt(object.0, object.1))))
}

#[test]
fn kinds_come_in_order() {
    let ascending = [
        None,
        Some(Value::Blank("b1".into())),
        Some(iri("http://a/")),
        Some(iri("http://b/")),
        Some(x("-INF", "double")),
        Some(i(-3)),
        Some(x("-2.5", "decimal")),
        Some(i(7)),
        Some(x("7.5", "float")),
        Some(x("INF", "float")),
        Some(x("NaN", "double")),
        Some(x("false", "boolean")),
        Some(x("2020-01-01T00:00:00", "dateTime")),
        Some(x("2020-01-01T00:00:00Z", "dateTime")),
        Some(x("P27D", "duration")),
        Some(x("P1M", "duration")),
        Some(x("P32D", "dayTimeDuration")),
        Some(s("")),
        Some(s("a")),
        Some(s("b")),
        Some(l("a", "de")),
        Some(l("a", "en")),
        Some(d("a", "en", Ltr)),
        Some(d("a", "en", Rtl)),
        Some(unknown("a", "t1")),
        Some(unknown("b", "t1")),
        Some(unknown("a", "t2")),
        Some(triple("s", ("-456", "integer"))),
        Some(triple("s", ("123", "integer"))),
        Some(triple("s1", ("999", "integer"))),
    ];
    for (at, a) in ascending.iter().enumerate() {
        for (other, b) in ascending.iter().enumerate() {
            let found = OrderKey::new(a.as_ref()).cmp(&OrderKey::new(b.as_ref()));
            assert_eq!(found, at.cmp(&other), "{a:?} {b:?}");
        }
    }
}

#[test]
fn equal_values_tie() {
    for (a, b) in [
        (i(10), x("10.0", "decimal")),
        (i(10), x("10", "double")),
        (x("0.5", "decimal"), x("0.5", "float")),
        (x("-0", "double"), i(0)),
        (x("2020-01-01T00:00:00Z", "dateTime"), x("2020-01-01T01:00:00+01:00", "dateTime")),
        (x("P1Y", "duration"), x("P12M", "yearMonthDuration")),
        (x("NaN", "double"), x("NaN", "float")),
    ] {
        assert_eq!(key(&a).cmp(&key(&b)), Ordering::Equal, "{a:?} {b:?}");
    }
}

#[test]
fn doubles_compare_exactly_with_decimals() {
    for (decimal, double, expected) in [
        ("0.1", 0.1, Ordering::Less),
        ("9007199254740993", 9_007_199_254_740_992.0, Ordering::Greater),
        ("0.000000000000000001", 1e-18, Ordering::Less),
        ("0.000000000000000001", f64::MIN_POSITIVE, Ordering::Greater),
        ("0", f64::MIN_POSITIVE, Ordering::Less),
        ("170141183460469231731", 1e300, Ordering::Less),
        ("-170141183460469231731", -1e300, Ordering::Greater),
        ("-0.5", -0.5, Ordering::Equal),
        ("-0.1", -0.1, Ordering::Greater),
    ] {
        let (a, b) = (x(decimal, "decimal"), Value::Double(double));
        assert_eq!(key(&a).cmp(&key(&b)), expected, "{decimal} {double}");
        assert_eq!(key(&b).cmp(&key(&a)), expected.reverse(), "{double} {decimal}");
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let small = || -3_i64..4;
    prop_oneof![
        small().prop_map(i),
        (small(), 0_u32..3)
            .prop_map(|(n, scale)| Value::Decimal(Decimal::new(i128::from(n), scale).unwrap())),
        prop::sample::select(vec![0.1, 0.5, -0.0, 1.0, 2.0, 0.01, f64::NAN, f64::INFINITY, 1e-3])
            .prop_map(Value::Double),
        prop::sample::select(vec![0.1, 0.5, -0.0, 1.0, f32::NAN, f32::NEG_INFINITY]).prop_map(Value::Float),
        any::<bool>().prop_map(Value::Boolean),
        "[ab]{0,2}".prop_map(|text| s(&text)),
        ("[ab]{0,1}", "(en|de)").prop_map(|(text, tag)| l(&text, &tag)),
        (1_u8..28, prop::sample::select(vec!["", "Z", "+14:00", "-14:00", "+01:00"]))
            .prop_map(|(day, zone)| x(&format!("2020-01-{day:02}T12:00:00{zone}"), "dateTime")),
        (1_u8..28, prop::sample::select(vec!["", "Z", "-14:00"]))
            .prop_map(|(day, zone)| x(&format!("2020-01-{day:02}{zone}"), "date")),
        (0_u8..14, 0_u16..400).prop_map(|(months, days)| x(&format!("P{months}M{days}D"), "duration")),
        (0_u16..400).prop_map(|days| x(&format!("P{days}D"), "dayTimeDuration")),
        (0_u8..14).prop_map(|months| x(&format!("P{months}M"), "yearMonthDuration")),
        ("[ab]", "(t|u)").prop_map(|(text, datatype)| unknown(&text, &datatype)),
        "[ab]".prop_map(|text| iri(&text)),
        "[ab]".prop_map(|label| Value::Blank(label.as_str().into())),
        small().prop_map(|n| triple("s", (&n.to_string(), "integer"))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_order_is_total(a in any_value(), b in any_value(), c in any_value()) {
        let (x, y, z) = (key(&a), key(&b), key(&c));
        prop_assert_eq!(x.cmp(&y), y.cmp(&x).reverse());
        if x <= y && y <= z {
            prop_assert!(x <= z);
        }
        if x == y {
            prop_assert_eq!(x.cmp(&z), y.cmp(&z));
        }
    }

    #[test]
    fn the_order_follows_less_than(a in any_value(), b in any_value()) {
        if compare(Comparison::Less, &a, &b) == Tri::True {
            prop_assert_eq!(key(&a).cmp(&key(&b)), Ordering::Less);
        }
        if key(&a) == key(&b) {
            // Ties are values that are equal, or of which nothing is known; NaN alone ties with itself without being equal.
            let nan = matches!(a, Value::Double(n) if n.is_nan()) || matches!(a, Value::Float(n) if n.is_nan());
            prop_assert!(nan || equal(&a, &b) == Tri::True, "{:?} {:?}", a, b);
        }
    }

    #[test]
    fn exact_comparison_agrees_with_doubles(a: f64, b: i64) {
        let found = key(&Value::Double(a)).cmp(&key(&i(b)));
        #[expect(clippy::cast_precision_loss, reason = "what is tested")]
        let rounded = b as f64;
        if a < rounded {
            prop_assert_eq!(found, Ordering::Less);
        } else if a > rounded {
            prop_assert_eq!(found, Ordering::Greater);
        }
    }
}

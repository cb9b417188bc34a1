//! Numbers beyond 64 and 128 bits, by examples and against `bigdecimal`.

use super::{i, show, x};
use crate::expr::order::OrderKey;
use crate::functions::cast::cast;
use crate::values::arithmetic::{abs, add, ceil, divide, floor, minus, multiply, round, subtract};
use crate::values::compare::{equal, order};
use crate::values::exact::DIGITS_MAX;
use crate::values::value::Value;
use bigdecimal::{BigDecimal, RoundingMode};
use proptest::prelude::*;
use std::cmp::Ordering;
use std::str::FromStr;

fn typed(lexical: &str, name: &str) -> String {
    format!("\"{lexical}\"^^<xsd:{name}>")
}

#[test]
fn what_overflows_goes_on_exactly() {
    let (max, min) = (i(i64::MAX), i(i64::MIN));
    let big = x("123456789012345678901234567890", "integer");
    let fine = x("0.0000000000000000000000001", "decimal");
    let cases = [
        (add(&max, &i(1)), "9223372036854775808", "integer"),
        (subtract(&min, &i(1)), "-9223372036854775809", "integer"),
        (subtract(&add(&max, &i(1)).unwrap(), &i(1)), "9223372036854775807", "integer"),
        (multiply(&max, &max), "85070591730234615847396907784232501249", "integer"),
        (minus(&min), "9223372036854775808", "integer"),
        (abs(&min), "9223372036854775808", "integer"),
        (divide(&big, &i(10)), "12345678901234567890123456789", "decimal"),
        (divide(&big, &big), "1", "decimal"),
        (divide(&i(1), &x("3000000000000000000000", "integer")), "0", "decimal"),
        (
            multiply(&x("0.000000000001", "decimal"), &x("0.000000000001", "decimal")),
            "0.000000000000000000000001",
            "decimal",
        ),
        (add(&fine, &i(1)), "1.0000000000000000000000001", "decimal"),
        (ceil(&fine), "1", "decimal"),
        (floor(&minus(&fine).unwrap()), "-1", "decimal"),
        (round(&x("170141183460469231731.5", "decimal")), "170141183460469231732", "decimal"),
        (round(&x("-170141183460469231731.5", "decimal")), "-170141183460469231731", "decimal"),
        (cast(&big, "decimal"), "123456789012345678901234567890", "decimal"),
        (cast(&x("1e20", "double"), "integer"), "100000000000000000000", "integer"),
        (cast(&x("1e25", "double"), "decimal"), "10000000000000000905969664", "decimal"),
        (cast(&x("18446744073709551615", "integer"), "unsignedLong"), "18446744073709551615", "integer"),
    ];
    for (found, lexical, name) in cases {
        assert_eq!(show(found), typed(lexical, name));
    }
    for (value, name) in [(&big, "long"), (&big, "unsignedLong"), (&big, "negativeInteger"), (&big, "int")] {
        assert!(cast(value, name).is_none(), "{name}");
    }
    assert!(divide(&big, &i(0)).is_none());
    assert!(big.is_numeric() && big.effective_boolean() == Some(true));
}

#[test]
fn all_numbers_are_in_one_order() {
    let numbers = [
        x("-INF", "double"),
        x("-20000000000000000000", "integer"),
        x("-3", "integer"),
        x("0.0000000000000000000000001", "decimal"),
        x("3", "integer"),
        x("20000000000000000000", "integer"),
        x("20000000000000000000.00000000000000000001", "decimal"),
        x("1e300", "double"),
        x("INF", "double"),
    ];
    for (n, a) in numbers.iter().enumerate() {
        for (m, b) in numbers.iter().enumerate() {
            let keys = OrderKey::new(Some(a)).cmp(&OrderKey::new(Some(b)));
            assert_eq!(keys, n.cmp(&m), "{a:?} {b:?}");
            // The two in the middle are equal as doubles only.
            assert_eq!(order(a, b), Some(Some(n.cmp(&m))), "{a:?} {b:?}");
        }
    }
    assert!(OrderKey::new(Some(&numbers[5])) < OrderKey::new(Some(&x("NaN", "double"))));
}

#[test]
fn too_many_digits_are_an_error_and_too_small_is_zero() {
    let digits = DIGITS_MAX as usize;
    let longest = x(&"9".repeat(digits), "integer");
    assert!(matches!(longest, Value::Exact(_)));
    assert!(matches!(x(&"9".repeat(digits + 1), "integer"), Value::Other(_)));
    assert!(matches!(x(&format!("{}5", "0".repeat(10 * digits)), "integer"), Value::Integer(5)));
    assert!(multiply(&longest, &longest).is_none());
    let least = x(&format!("0.{}1", "0".repeat(digits - 1)), "decimal");
    assert!(matches!(least, Value::Exact(_)));
    assert_eq!(show(multiply(&least, &least)), typed("0", "decimal"));
    // What is too long for arithmetic is a number all the same.
    assert!(x(&"9".repeat(digits + 1), "integer").is_numeric());
}

/// Decimals of all sizes, and integers.
fn number() -> impl Strategy<Value = (Value, BigDecimal)> {
    let decimal = ("-?[0-9]{1,45}\\.[0-9]{0,30}", "decimal");
    let integer = ("-?[0-9]{1,45}", "integer");
    prop_oneof![
        decimal.0.prop_map(move |text| (text, decimal.1)),
        integer.0.prop_map(move |text| (text, integer.1)),
        any::<i64>().prop_map(move |value| (value.to_string(), integer.1)),
    ]
    .prop_map(|(text, name)| {
        (
            x(&text, name),
            BigDecimal::from_str(&format!("{text}{}", if text.ends_with('.') { "0" } else { "" })).unwrap(),
        )
    })
}

fn plain(value: &BigDecimal) -> Option<String> {
    Some(value.normalized().to_plain_string())
}

fn lexical(value: Option<Value>) -> Option<String> {
    value?.lexical()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn numbers_agree((v, a) in number(), (w, b) in number()) {
        prop_assert_eq!(lexical(Some(v.clone())), plain(&a));
        prop_assert_eq!(lexical(add(&v, &w)), plain(&(&a + &b)));
        prop_assert_eq!(lexical(subtract(&v, &w)), plain(&(&a - &b)));
        prop_assert_eq!(lexical(multiply(&v, &w)), plain(&(&a * &b)));
        prop_assert_eq!(lexical(minus(&v)), plain(&-&a));
        prop_assert_eq!(lexical(abs(&v)), plain(&a.abs()));
        prop_assert_eq!(lexical(floor(&v)), plain(&a.with_scale_round(0, RoundingMode::Floor)));
        prop_assert_eq!(lexical(ceil(&v)), plain(&a.with_scale_round(0, RoundingMode::Ceiling)));
        prop_assert_eq!(order(&v, &w), Some(Some(a.cmp(&b))));
        prop_assert_eq!(equal(&v, &w), (a == b).into());
        prop_assert_eq!(OrderKey::new(Some(&v)).cmp(&OrderKey::new(Some(&w))), a.cmp(&b));
    }

    #[test]
    fn quotients_are_cut_off((v, a) in number(), (w, b) in number()) {
        let Some(quotient) = divide(&v, &w) else {
            prop_assert!(b == 0);
            return Ok(());
        };
        let quotient = BigDecimal::from_str(&quotient.lexical().unwrap()).unwrap();
        // |a| - |q * b| is less than |b| * 10^-18.
        let rest = a.abs() - (&quotient * &b).abs();
        prop_assert!(rest >= 0);
        prop_assert!(rest < b.abs() * BigDecimal::new(1.into(), 18));
    }

    #[test]
    fn doubles_compare_exactly((v, a) in number(), double in prop_oneof![any::<f64>(), any::<i64>().prop_map(|n| n as f64)]) {
        prop_assume!(double.is_finite());
        let exact = BigDecimal::try_from(double).unwrap();
        let found = v.to_exact().unwrap().order_double(double);
        prop_assert_eq!(found, a.cmp(&exact));
        let key = OrderKey::new(Some(&v)).cmp(&OrderKey::new(Some(&Value::Double(double))));
        prop_assert!(key == found || key == Ordering::Equal && found == Ordering::Equal);
    }
}

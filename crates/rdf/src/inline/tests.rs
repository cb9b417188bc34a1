//! Inline values: what is encoded comes back byte for byte, order follows value, and everything else is refused.

use super::*;
use proptest::prelude::*;
use std::cmp::Ordering;
use std::str::FromStr;

fn iri(local: &str) -> String {
    format!("{XSD}{local}")
}

fn id(lexical: &str, local: &str) -> Option<ValueId> {
    let id = encode_literal(lexical, &iri(local));
    if let Some(id) = id {
        let literal = decode(id).unwrap();
        assert_eq!(literal.value(), lexical);
        assert_eq!(literal.datatype().as_str(), iri(local));
    }
    id
}

#[track_caller]
fn inline(local: &str, texts: &[&str]) {
    for text in texts {
        assert!(id(text, local).is_some(), "{text} as {local}");
    }
}

#[track_caller]
fn refused(local: &str, texts: &[&str]) {
    for text in texts {
        assert_eq!(id(text, local), None, "{text} as {local}");
    }
}

#[track_caller]
fn ascending(local: &str, texts: &[&str]) {
    let ids: Vec<_> = texts.iter().map(|text| id(text, local).unwrap_or_else(|| panic!("{text}"))).collect();
    for (pair, texts) in ids.windows(2).zip(texts.windows(2)) {
        assert!(pair[0] < pair[1], "{texts:?} {pair:?}");
    }
}

#[test]
fn floats_are_rounded_once() {
    let mut random = 1_u64;
    let mut checked = 0;
    for round in 0..200_000_u32 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let float = f32::from_bits((random >> 32) as u32);
        // Also texts with more digits than a float has, and those of the middle between two floats.
        let middle = (f64::from(float) + f64::from(f32::from_bits(float.to_bits() ^ 1))) / 2.0;
        let text = match round % 3 {
            0 => format!("{float:E}"),
            1 => format!("{:.11E}", f64::from(float)),
            _ => format!("{middle:.12E}"),
        };
        let Some(id) = encode_literal(&text, "http://www.w3.org/2001/XMLSchema#float") else { continue };
        assert_eq!(as_f32(id).map(f32::to_bits), text.parse().ok().map(f32::to_bits), "{text}");
        checked += 1;
    }
    assert!(checked > 20_000, "{checked}");
}

#[test]
fn booleans_have_two_forms() {
    inline("boolean", &["true", "false"]);
    refused("boolean", &["1", "0", "TRUE", "", " true"]);
    assert_eq!(as_bool(from_bool(true)), Some(true));
    assert_eq!(from_bool(false), id("false", "boolean").unwrap());
}

#[test]
fn integers_are_canonical_and_in_range() {
    inline("integer", &["0", "5", "-5", "36028797018963967", "-36028797018963968"]);
    refused(
        "integer",
        &["", "-", "+5", "05", "-0", "00", "5.0", "36028797018963968", "-36028797018963969", " 5", "5 ", "٥"],
    );
    inline("byte", &["127", "-128"]);
    refused("byte", &["128", "-129"]);
    inline("unsignedByte", &["0", "255"]);
    refused("unsignedByte", &["256", "-1"]);
    inline("positiveInteger", &["1"]);
    refused("positiveInteger", &["0", "-1"]);
    inline("nonPositiveInteger", &["0", "-1"]);
    refused("nonPositiveInteger", &["1"]);
    inline("negativeInteger", &["-1"]);
    refused("negativeInteger", &["0"]);
    refused("unsignedInt", &["4294967296"]);
    ascending("integer", &["-36028797018963968", "-10", "-9", "0", "9", "10", "36028797018963967"]);
    assert_eq!(from_i64_of(Kind::Byte, 200), None);
    assert_eq!(from_i64_of(Kind::Decimal, 2), None);
    assert_eq!(from_i64(i64::MAX), None);
    assert_eq!(from_i64(i64::MIN), None);
}

#[test]
fn decimals_keep_the_digits_written() {
    inline("decimal", &["5", "5.0", "1234.50", "0", "0.0", "0.000000", "-0.5", "4503599626.999999"]);
    refused(
        "decimal",
        &["+1.0", ".5", "5.", "-0", "-0.0", "01.0", "1.0000000", "1e5", "", "-", ".", "1.-5", "1..5"],
    );
    ascending(
        "decimal",
        &["-4503599627.370496", "-2.5", "-0.000001", "0", "0.0", "0.000001", "1", "1.0", "1.5"],
    );
    let two_and_a_half = Decimal::from_str("2.5").unwrap();
    assert_eq!(from_decimal(two_and_a_half), id("2.5", "decimal"));
    assert_eq!(as_decimal(id("2.500", "decimal").unwrap()), Some(two_and_a_half));
    assert_eq!(from_decimal(Decimal::from_str("0.0000001").unwrap()), None);
    assert_eq!(from_decimal(Decimal::MAX), None);
}

#[test]
fn doubles_in_six_forms() {
    inline(
        "double",
        &["1.5E2", "150", "150.0", "1.5e2", "1.5e+02", "2e2", "2E2"]
            .map(|t| if t == "2E2" { "2.0E2" } else { t }),
    );
    inline(
        "double",
        &["0.0E0", "0", "0.0", "0.0e0", "0e+00", "0e0", "-0.0E0", "-0", "-0.0", "INF", "-INF", "NaN"],
    );
    inline(
        "double",
        &["1.234567890123E-307", "9.999999999999E307", "0.0000001", "100000000000000000000", "1e-05"],
    );
    refused(
        "double",
        &["1E0", "1.50E0", "1.E0", ".5", "+1.0E0", "1.0E+0", "1.0E00", "01.0E0", "+INF", "Infinity"],
    );
    refused(
        "double",
        &["1.2345678901234E0", "1.0E308", "1.0E-308", "", "E", "-", "e5", "1e", "1.5.5", "1.0E0 ", "nan"],
    );
    ascending(
        "double",
        &[
            "-INF",
            "-1.0E300",
            "-2.5E0",
            "-2.4E0",
            "-1.0E-300",
            "-0.0E0",
            "0.0E0",
            "1.0E-300",
            "0.025",
            "1.0E0",
            "1",
            "1.5E0",
            "150",
            "1.0E300",
            "INF",
            "NaN",
        ],
    );
}

#[test]
fn floats_stay_in_the_range_of_floats() {
    inline("float", &["1.5E0", "1.25", "-7.875", "3", "1.0E37", "1.0E-37", "INF", "NaN"]);
    refused("float", &["1.0E38", "1.0E-38", "1E0"]);
    assert_eq!(as_f32(id("1.1", "float").unwrap()), Some(1.1_f32));
    assert_eq!(from_f32(1.1), id("1.1E0", "float"));
}

#[test]
fn canonical_forms_of_doubles() {
    for (value, text) in [
        (1.5, "1.5E0"),
        (1.0, "1.0E0"),
        (0.0, "0.0E0"),
        (-0.0, "-0.0E0"),
        (1e-7, "1.0E-7"),
        (-2100.0, "-2.1E3"),
        (f64::INFINITY, "INF"),
        (f64::NEG_INFINITY, "-INF"),
        (f64::NAN, "NaN"),
        (-f64::NAN, "NaN"),
        (0.1 + 0.2, "3.0000000000000004E-1"),
        (f64::MIN_POSITIVE / 4.0, "5.562684646268003E-309"),
        (f64::MAX, "1.7976931348623157E308"),
    ] {
        assert_eq!(double_lexical(value), text);
        if let Some(id) = from_f64(value) {
            assert_eq!(decode(id).unwrap().value(), text);
        }
    }
    assert_eq!(from_f64(0.1 + 0.2), None);
    assert_eq!(float_lexical(0.1), "1.0E-1");
}

#[test]
fn date_times_keep_fraction_digits_and_zone() {
    inline(
        "dateTime",
        &[
            "2011-01-10T14:45:13.815-05:00",
            "2011-01-10T14:45:13Z",
            "2011-01-10T14:45:13",
            "2011-01-10T14:45:13+00:00",
            "2011-01-10T14:45:13.5",
            "2011-01-10T14:45:13.50Z",
            "2011-01-10T14:45:13.000+14:00",
            "0001-01-01T00:00:00Z",
            "2000-02-29T23:59:59-14:00",
            "4459-01-01T00:00:00Z",
        ],
    );
    refused(
        "dateTime",
        &[
            "2011-01-10T24:00:00Z",
            "2011-02-29T00:00:00Z",
            "1900-02-29T00:00:00Z",
            "2011-13-01T00:00:00Z",
            "2011-00-01T00:00:00Z",
            "2011-01-00T00:00:00Z",
            "2011-01-10T14:60:00Z",
            "2011-01-10T14:45:60Z",
            "2011-01-10T14:45:13.8155Z",
            "2011-01-10T14:45:13.Z",
            "2011-01-10T14:45Z",
            "2011-01-10T14:45:13-00:00",
            "2011-01-10T14:45:13+14:15",
            "2011-01-10T14:45:13+05:07",
            "2011-01-10T14:45:13z",
            "2011-01-10t14:45:13Z",
            "-2011-01-10T14:45:13Z",
            "12011-01-10T14:45:13Z",
            "0000-01-10T14:45:13Z",
            "0001-01-01T00:00:00+01:00",
            "5000-01-01T00:00:00Z",
            "2011-01-10",
            "",
        ],
    );
    ascending(
        "dateTime",
        &[
            "0001-01-01T00:00:00Z",
            "2011-01-10T14:45:13+02:00",
            "2011-01-10T14:45:13",
            "2011-01-10T14:45:13Z",
            "2011-01-10T14:45:13+00:00",
            "2011-01-10T14:45:13.0Z",
            "2011-01-10T14:45:13.001Z",
            "2011-01-10T14:45:13-02:00",
        ],
    );
}

#[test]
fn dates_order_by_their_start() {
    inline(
        "date",
        &["2011-01-10", "2011-01-10Z", "2011-01-10+00:00", "0001-01-01+14:00", "9999-12-31-14:00"],
    );
    refused(
        "date",
        &["2011-1-10", "2011-02-30", "02011-01-10", "2011-01-10T00:00:00", "0000-01-01", "2011-01-10-00:00"],
    );
    ascending(
        "date",
        &["2011-01-09", "2011-01-10+14:00", "2011-01-10", "2011-01-10Z", "2011-01-10-14:00", "2011-01-11"],
    );
}

#[test]
fn payloads_of_damaged_files_are_refused_or_decoded() {
    let mut out = Vec::new();
    for byte in 0..=255_u8 {
        for step in 0..4000_u64 {
            let payload = step.wrapping_mul(0x9E37_79B9_7F4A_7C15) & crate::value_id::PAYLOAD_MAX;
            let id = ValueId::from_bits((u64::from(byte) << 56) | payload);
            out.clear();
            if write_lexical(id, &mut out) {
                assert!(std::str::from_utf8(&out).is_ok());
            } else {
                assert!(out.is_empty(), "{id:?}");
            }
            let _ = (
                as_bool(id),
                as_i64(id),
                as_decimal(id),
                as_f64(id),
                as_f32(id),
                as_date(id),
                as_date_time(id),
            );
        }
    }
}

/// Texts around the border of what is inline, from pieces of the grammars.
fn numeric_text() -> impl Strategy<Value = String> {
    proptest::string::string_regex("[+-]?[0-9]{0,15}(\\.[0-9]{0,9})?([eE][+-]?[0-9]{0,3})?").unwrap()
}

fn double_text() -> impl Strategy<Value = String> {
    proptest::string::string_regex("-?[0-9]{1,4}(\\.[0-9]{1,5})?([eE](-|\\+|)[0-9]{1,2})?").unwrap()
}

fn decimal_text() -> impl Strategy<Value = String> {
    proptest::string::string_regex("-?(0|[1-9][0-9]{0,9})(\\.[0-9]{1,6})?").unwrap()
}

fn date_text() -> impl Strategy<Value = String> {
    (1..=9999_i32, 1..=12_u8, 1..=31_u8, zone_text())
        .prop_map(|(year, month, day, zone)| format!("{year:04}-{month:02}-{day:02}{zone}"))
}

fn zone_text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("Z".to_owned()),
        (-56..=56_i32).prop_map(|quarters| {
            let minutes = quarters.abs() * 15;
            format!("{}{:02}:{:02}", if quarters < 0 { '-' } else { '+' }, minutes / 60, minutes % 60)
        }),
    ]
}

fn date_time_text() -> impl Strategy<Value = String> {
    let fraction = proptest::string::string_regex("(\\.[0-9]{1,3})?").unwrap();
    ((1..=4500_i32, 1..=12_u8, 1..=31_u8), (0..=24_u8, 0..=60_u8, 0..=60_u8), fraction, zone_text()).prop_map(
        |((year, month, day), (hour, minute, second), fraction, zone)| {
            format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}{zone}")
        },
    )
}

fn check_order<T: PartialOrd>(a: (ValueId, T), b: (ValueId, T)) {
    match a.1.partial_cmp(&b.1) {
        Some(Ordering::Less) => assert!(a.0 < b.0),
        Some(Ordering::Greater) => assert!(a.0 > b.0),
        _ => {}
    }
}

/// Floats between 9 and 10^7 times 2, also those next to powers of two and ten, have their shortest texts.
#[test]
fn floats_of_many_digits_get_their_shortest_text() {
    let (first, last) = (9.0_f32.to_bits(), 2e7_f32.to_bits());
    let near = |value: f32| (-40..40).map(move |step: i32| value.to_bits().wrapping_add_signed(step));
    let powers = (3..25).map(|n| 2.0_f32.powi(n)).chain((1..8).map(|n| 10.0_f32.powi(n)));
    for bits in (first..last).step_by(997).chain(powers.flat_map(near)) {
        for value in [f32::from_bits(bits), -f32::from_bits(bits)] {
            assert_eq!(from_f32(value), encode_literal(&float_lexical(value), &iri("float")), "{value:e}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_text_comes_back_or_is_refused(text in numeric_text(), any in "\\PC{0,12}") {
        for local in ["integer", "decimal", "double", "float", "short", "unsignedLong", "boolean", "date", "dateTime"] {
            id(&text, local);
            id(&any, local);
        }
    }

    #[test]
    fn integers_order(a in any::<i64>(), b in any::<i64>(), shift in 0..64_u32) {
        let (a, b) = (a >> shift, b >> shift);
        if let (Some(x), Some(y)) = (id(&a.to_string(), "integer"), id(&b.to_string(), "integer")) {
            prop_assert_eq!(a.cmp(&b), x.cmp(&y));
            prop_assert_eq!(as_i64(x), Some(a));
            prop_assert_eq!(from_i64(a), Some(x));
        } else {
            prop_assert!(a.unsigned_abs() >= 1 << 55 || b.unsigned_abs() >= 1 << 55);
        }
    }

    #[test]
    fn decimals_order(a in decimal_text(), b in decimal_text()) {
        let values = [&a, &b].map(|text| Decimal::from_str(text).unwrap());
        if let (Some(x), Some(y)) = (id(&a, "decimal"), id(&b, "decimal")) {
            prop_assert_eq!(as_decimal(x), Some(values[0]));
            check_order((x, values[0]), (y, values[1]));
            let printed = from_decimal(values[0]).unwrap();
            prop_assert_eq!(decode(printed).unwrap().value().to_owned(), values[0].to_string());
        }
    }

    #[test]
    fn doubles_order(a in double_text(), b in double_text()) {
        let values = [&a, &b].map(|text| f64::from_str(text).unwrap());
        if let (Some(x), Some(y)) = (id(&a, "double"), id(&b, "double")) {
            prop_assert_eq!(as_f64(x), Some(values[0]));
            check_order((x, values[0]), (y, values[1]));
        }
        if let (Some(x), Some(y)) = (id(&a, "float"), id(&b, "float")) {
            let values = [&a, &b].map(|text| f32::from_str(text).unwrap());
            prop_assert_eq!(as_f32(x), Some(values[0]));
            check_order((x, values[0]), (y, values[1]));
        }
    }

    #[test]
    fn random_doubles(bits in any::<u64>(), small in any::<i32>(), power in -20..20_i32) {
        for value in [f64::from_bits(bits), f64::from(small), f64::from(small) * 10_f64.powi(power)] {
            let text = double_lexical(value);
            match from_f64(value) {
                Some(id) => {
                    prop_assert_eq!(decode(id).unwrap().value().to_owned(), text.clone());
                    prop_assert_eq!(as_f64(id).unwrap().to_bits(), if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() });
                    prop_assert_eq!(encode_literal(&text, &iri("double")), Some(id));
                }
                None => prop_assert_eq!(encode_literal(&text, &iri("double")), None),
            }
            if value.is_finite() {
                prop_assert_eq!(f64::from_str(&text).unwrap().to_bits(), value.to_bits());
            }
        }
    }

    #[test]
    fn random_floats(bits in any::<u32>()) {
        let value = f32::from_bits(bits);
        if let (Some(id), false) = (from_f32(value), value.is_nan()) {
            prop_assert_eq!(as_f32(id).unwrap().to_bits(), value.to_bits());
            prop_assert_eq!(decode(id).unwrap().value().to_owned(), float_lexical(value));
        }
    }

    #[test]
    fn numbers_of_few_digits_get_their_shortest_text(digits in 0..20_000_000_000_000_i64, cut in 0..13_u32, shift in 0..9_u32) {
        let text = format!("{}e-{shift}", digits / 10_i64.pow(cut));
        for text in [text.clone(), format!("-{text}")] {
            let (double, float) = (f64::from_str(&text).unwrap(), f32::from_str(&text).unwrap());
            prop_assert_eq!(from_f64(double), encode_literal(&double_lexical(double), &iri("double")));
            prop_assert_eq!(from_f32(float), encode_literal(&float_lexical(float), &iri("float")));
            let next = f32::from_bits(float.to_bits() + 1);
            prop_assert_eq!(from_f32(next), encode_literal(&float_lexical(next), &iri("float")));
        }
    }

    #[test]
    fn date_times_agree_with_the_library(a in date_time_text(), b in date_time_text()) {
        let values = [&a, &b].map(|text| DateTime::from_str(text));
        let ids = [&a, &b].map(|text| id(text, "dateTime"));
        for (value, id) in values.iter().zip(ids) {
            let Some(id) = id else { continue };
            let value = value.as_ref().unwrap();
            prop_assert!(as_date_time(id).unwrap().is_identical_with(*value));
            let printed = from_date_time(*value).unwrap();
            prop_assert_eq!(decode(printed).unwrap().value().to_owned(), value.to_string());
        }
        if let ([Ok(v), Ok(w)], [Some(x), Some(y)]) = (values, ids)
            && v.timezone_offset().is_some() == w.timezone_offset().is_some()
        {
            check_order((x, v), (y, w));
        }
    }

    #[test]
    fn dates_agree_with_the_library(a in date_text(), b in date_text()) {
        let values = [&a, &b].map(|text| Date::from_str(text));
        let ids = [&a, &b].map(|text| id(text, "date"));
        for (value, id) in values.iter().zip(ids) {
            prop_assert!(id.is_some() || value.is_err() || a.ends_with("-00:00") || b.ends_with("-00:00"));
            let Some(id) = id else { continue };
            let value = value.as_ref().unwrap();
            prop_assert!(as_date(id).unwrap().is_identical_with(*value));
            prop_assert_eq!(decode(from_date(*value).unwrap()).unwrap().value().to_owned(), value.to_string());
        }
        if let ([Ok(v), Ok(w)], [Some(x), Some(y)]) = (values, ids)
            && v.timezone_offset().is_some() == w.timezone_offset().is_some()
        {
            check_order((x, v), (y, w));
        }
    }
}

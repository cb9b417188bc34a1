//! Functions, by the tables of section 17.4 and the cases of the W3C suites.

use super::{XSD, d, i, iri, l, s, show, unknown, x};
use crate::expr::texts::TextLimit;
use crate::functions::string_predicates::StringRef;
use crate::functions::{cast, dates, hashes, strings, terms};
use crate::values::arithmetic;
use crate::values::value::Value;
use lode_rdf::BaseDirection::{Ltr, Rtl};

fn limit() -> TextLimit {
    TextLimit::new(&super::support::context())
}

#[test]
fn lengths_count_characters() {
    for (value, expected) in
        [(s("chat"), "4"), (l("chat", "en"), "4"), (s("食べ物"), "3"), (s("\u{1F46A}"), "1"), (s(""), "0")]
    {
        assert_eq!(show(strings::length(&value)), format!("\"{expected}\"^^<xsd:integer>"));
    }
    assert!(strings::length(&i(7)).is_none());
    assert!(strings::length(&iri("http://example/")).is_none());
}

#[test]
fn substrings_count_from_one_and_round() {
    let cases = [
        (s("foobar"), i(4), None, s("bar")),
        (l("foobar", "en"), i(4), None, l("bar", "en")),
        (s("foobar"), i(4), Some(i(1)), s("b")),
        (s("12345"), x("1.5", "decimal"), Some(x("2.6", "decimal")), s("234")),
        (s("12345"), i(0), Some(i(3)), s("12")),
        (s("12345"), i(5), Some(i(-3)), s("")),
        (s("12345"), i(-3), Some(i(5)), s("1")),
        (s("12345"), x("NaN", "double"), Some(i(3)), s("")),
        (s("12345"), i(1), Some(x("NaN", "double")), s("")),
        (s("12345"), i(-42), Some(x("INF", "double")), s("12345")),
        (s("12345"), x("-INF", "double"), Some(x("INF", "double")), s("")),
        (s("12345"), i(i64::MAX), Some(i(i64::MAX)), s("")),
        (s("食べ物"), i(2), None, s("べ物")),
        (s("食べ物"), i(1), Some(i(1)), s("食")),
        (s("食べ物"), i(2), Some(i(9)), s("べ物")),
        (s("食べ物"), i(4), Some(i(1)), s("")),
        (s("食べ物"), i(3), Some(i(0)), s("")),
    ];
    for (text, start, length, expected) in cases {
        let found = strings::substring(&text, &start, length.as_ref());
        assert_eq!(show(found), show(Some(expected)), "{text:?} {start:?} {length:?}");
    }
    assert!(strings::substring(&s("a"), &s("1"), None).is_none());
    assert!(strings::substring(&i(1), &i(1), None).is_none());
}

#[test]
fn before_and_after() {
    let cases = [
        (s("abc"), s("b"), Some((s("a"), s("c")))),
        (l("abc", "en"), s("bc"), Some((l("a", "en"), l("", "en")))),
        (l("abc", "en"), l("b", "cy"), None),
        (l("abc", "en"), s(""), Some((l("", "en"), l("abc", "en")))),
        (l("abc", "en"), l("", "en"), Some((l("", "en"), l("abc", "en")))),
        (s("abc"), s("xyz"), Some((s(""), s("")))),
        (l("abc", "en"), l("z", "en"), Some((s(""), s("")))),
        (l("abc", "en"), s("z"), Some((s(""), s("")))),
        (s("abc"), l("b", "en"), None),
        (i(7), s("b"), None),
    ];
    for (text, needle, expected) in cases {
        let (before, after) = expected.unzip();
        assert_eq!(show(strings::before(&text, &needle)), show(before), "{text:?} {needle:?}");
        assert_eq!(show(strings::after(&text, &needle)), show(after), "{text:?} {needle:?}");
    }
}

fn contains(a: &Value, b: &Value) -> Option<bool> {
    compatible(a, b).map(|(a, b)| a.contains(b))
}

fn starts(a: &Value, b: &Value) -> Option<bool> {
    compatible(a, b).map(|(a, b)| a.starts_with(b))
}

fn ends(a: &Value, b: &Value) -> Option<bool> {
    compatible(a, b).map(|(a, b)| a.ends_with(b))
}

fn compatible<'v>(a: &'v Value, b: &'v Value) -> Option<(&'v str, &'v str)> {
    StringRef::of_value(a)?.compatible(StringRef::of_value(b)?)
}

#[test]
fn searching_needs_compatible_arguments() {
    assert_eq!(contains(&s("foobar"), &s("bar")), Some(true));
    assert_eq!(contains(&l("foobar", "en"), &l("foo", "en")), Some(true));
    assert_eq!(contains(&l("foobar", "en"), &s("bar")), Some(true));
    assert_eq!(contains(&s("foobar"), &l("bar", "en")), None);
    assert_eq!(contains(&d("abc", "en", Ltr), &d("b", "en", Ltr)), Some(true));
    assert_eq!(contains(&d("abc", "en", Ltr), &d("b", "en", Rtl)), None);
    assert_eq!(contains(&d("abc", "en", Ltr), &l("b", "en")), None);
    assert_eq!(starts(&s("foobar"), &s("foo")), Some(true));
    assert_eq!(starts(&s("foobar"), &s("bar")), Some(false));
    assert_eq!(ends(&l("foobar", "en"), &l("bar", "en")), Some(true));
    assert_eq!(ends(&l("foobar", "en"), &l("bar", "fr")), None);
}

#[test]
fn concatenation_keeps_a_common_language() {
    let cases = [
        (vec![s("foo"), s("bar")], s("foobar")),
        (vec![l("foo", "en"), l("bar", "en")], l("foobar", "en")),
        (vec![l("foo", "en"), s("bar")], s("foobar")),
        (vec![s("foo"), l("bar", "en")], s("foobar")),
        (vec![l("foo", "en"), l("bar", "fr")], s("foobar")),
        (vec![d("a", "en", Ltr), d("b", "en", Ltr)], d("ab", "en", Ltr)),
        (vec![d("a", "en", Ltr), d("b", "en", Rtl)], s("ab")),
        (vec![d("a", "en", Ltr), l("b", "en")], s("ab")),
        (vec![d("a", "en", Ltr), s("b"), d("c", "en", Ltr)], s("abc")),
        (vec![], s("")),
    ];
    for (parts, expected) in cases {
        let parts: Vec<&Value> = parts.iter().collect();
        assert_eq!(show(strings::concat(&parts, &limit())), show(Some(expected)));
    }
    assert!(strings::concat(&[&s("a"), &i(7)], &limit()).is_none());
}

#[test]
fn case_and_encoding() {
    assert_eq!(show(strings::upper(&l("Straße", "de"), &limit())), "\"STRASSE\"@de");
    assert_eq!(show(strings::lower(&s("BAR"), &limit())), "\"bar\"");
    let encoded = strings::encode_for_uri(&s("Los Angeles/食~b%"), &limit());
    assert_eq!(show(encoded), "\"Los%20Angeles%2F%E9%A3%9F~b%25\"");
    assert_eq!(show(strings::encode_for_uri(&l("a b", "en"), &limit())), "\"a%20b\"");
    assert!(strings::encode_for_uri(&iri("http://a/"), &limit()).is_none());
}

#[test]
fn language_ranges() {
    for (tag, range, expected) in [
        ("en", "en", true),
        ("en-us", "EN", true),
        ("en-us", "en-US", true),
        ("eng", "en", false),
        ("en", "en-us", false),
        ("", "*", false),
        ("fr", "*", true),
        ("", "", true),
        ("de-latn-de", "de-de", false),
    ] {
        assert_eq!(strings::lang_matches(&s(tag), &s(range)), Some(expected), "{tag} {range}");
    }
    assert_eq!(strings::lang_matches(&l("en", "en"), &s("en")), None);
}

#[test]
fn languages_are_given_to_simple_strings_only() {
    assert_eq!(show(terms::with_language(&s("abc"), &s("en-US"), None)), "\"abc\"@en-us");
    assert!(terms::with_language(&s("abc"), &s(""), None).is_none());
    assert!(terms::with_language(&i(123), &s("en"), None).is_none());
    assert!(terms::with_language(&l("abc", "en"), &s("en"), None).is_none());
    assert_eq!(show(terms::with_language(&s("abc"), &s("en"), Some(&s("ltr")))), "\"abc\"@en--ltr");
    assert!(terms::with_language(&s("abc"), &s("en"), Some(&s("LTR"))).is_none());
    assert!(terms::with_language(&s("abc"), &s("en"), Some(&s(""))).is_none());
    assert!(terms::with_language(&s("abc"), &s("not a tag"), None).is_none());
}

#[test]
fn digests() {
    assert_eq!(show(hashes::digest::<md5::Md5>(&s("abc"))), "\"900150983cd24fb0d6963f7d28e17f72\"");
    assert_eq!(show(hashes::digest::<sha1::Sha1>(&s("abc"))), "\"a9993e364706816aba3e25717850c26c9cd0d89d\"");
    assert_eq!(
        show(hashes::digest::<sha2::Sha256>(&s("abc"))),
        "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\""
    );
    assert!(hashes::digest::<md5::Md5>(&l("abc", "en")).is_none());
    assert!(hashes::digest::<md5::Md5>(&i(1)).is_none());
}

#[test]
fn parts_of_dates() {
    let moment = x("2011-01-10T14:45:13.815-05:00", "dateTime");
    assert_eq!(show(dates::year(&moment)), "\"2011\"^^<xsd:integer>");
    assert_eq!(show(dates::month(&moment)), "\"1\"^^<xsd:integer>");
    assert_eq!(show(dates::day(&moment)), "\"10\"^^<xsd:integer>");
    assert_eq!(show(dates::hours(&moment)), "\"14\"^^<xsd:integer>");
    assert_eq!(show(dates::minutes(&moment)), "\"45\"^^<xsd:integer>");
    assert_eq!(show(dates::seconds(&moment)), "\"13.815\"^^<xsd:decimal>");
    assert_eq!(show(dates::timezone(&moment)), "\"-PT5H\"^^<xsd:dayTimeDuration>");
    assert_eq!(show(dates::tz(&moment)), "\"-05:00\"");
    let utc = x("2011-01-10T14:45:13.815Z", "dateTime");
    assert_eq!(show(dates::timezone(&utc)), "\"PT0S\"^^<xsd:dayTimeDuration>");
    assert_eq!(show(dates::tz(&utc)), "\"Z\"");
    let local = x("2011-01-10T14:45:13.815", "dateTime");
    assert_eq!(show(dates::timezone(&local)), "error");
    assert_eq!(show(dates::tz(&local)), "\"\"");
    assert!(dates::year(&s("2011-01-10T14:45:13.815Z")).is_none());
    assert!(dates::year(&x("2011-01-32T14:45:13.815Z", "dateTime")).is_none());
}

#[test]
fn casts_follow_the_table() {
    let cases = [
        (s("13"), "integer", "\"13\"^^<xsd:integer>"),
        (s(" 13\n"), "integer", "\"13\"^^<xsd:integer>"),
        (s("1.5"), "integer", "error"),
        (s("1E0"), "integer", "error"),
        (s("+33.3300"), "decimal", "\"33.33\"^^<xsd:decimal>"),
        (s("1E0"), "decimal", "error"),
        (s("-10.2E3"), "double", "\"-1.02E4\"^^<xsd:double>"),
        (s("inf"), "double", "error"),
        (s("infinity"), "float", "error"),
        (s("INF"), "float", "\"INF\"^^<xsd:float>"),
        (s("1"), "boolean", "\"true\"^^<xsd:boolean>"),
        (s("TRUE"), "boolean", "error"),
        (s("0.0"), "boolean", "error"),
        (iri("http://example/z"), "string", "\"http://example/z\""),
        (iri("http://example/z"), "integer", "error"),
        (x("0", "boolean"), "string", "\"false\""),
        (x("0E1", "double"), "string", "\"0\""),
        (x("1E0", "double"), "string", "\"1\""),
        (x("1E7", "double"), "string", "\"1.0E7\""),
        (x("1.25", "float"), "string", "\"1.25\""),
        (x("-7.875", "float"), "integer", "\"-7\"^^<xsd:integer>"),
        (x("123456789012345.0E0", "double"), "integer", "\"123456789012345\"^^<xsd:integer>"),
        (x("1E22", "double"), "integer", "\"10000000000000000000000\"^^<xsd:integer>"),
        (x("NaN", "double"), "integer", "error"),
        (x("NaN", "double"), "boolean", "\"false\"^^<xsd:boolean>"),
        (x("0.1E0", "double"), "decimal", "\"0.1\"^^<xsd:decimal>"),
        (x("INF", "double"), "decimal", "error"),
        (x("true", "boolean"), "decimal", "\"1\"^^<xsd:decimal>"),
        (x("true", "boolean"), "double", "\"1.0E0\"^^<xsd:double>"),
        (x("2.5", "decimal"), "integer", "\"2\"^^<xsd:integer>"),
        (x("2.5", "decimal"), "float", "\"2.5E0\"^^<xsd:float>"),
        (i(300), "byte", "error"),
        (i(-1), "unsignedInt", "error"),
        (i(200), "unsignedByte", "\"200\"^^<xsd:integer>"),
        (s("2002-10-10T17:00:00Z"), "dateTime", "\"2002-10-10T17:00:00Z\"^^<xsd:dateTime>"),
        (x("2002-10-10T17:00:00Z", "dateTime"), "date", "\"2002-10-10Z\"^^<xsd:date>"),
        (x("2002-10-10T17:00:00Z", "dateTime"), "time", "\"17:00:00Z\"^^<xsd:time>"),
        (x("2002-10-10", "date"), "dateTime", "\"2002-10-10T00:00:00\"^^<xsd:dateTime>"),
        (x("2002-10-10", "date"), "gYear", "\"2002\"^^<xsd:gYear>"),
        (x("P1Y2M3DT4H", "duration"), "yearMonthDuration", "\"P1Y2M\"^^<xsd:yearMonthDuration>"),
        (x("P1Y2M3DT4H", "duration"), "dayTimeDuration", "\"P3DT4H\"^^<xsd:dayTimeDuration>"),
        (x("PT24H", "dayTimeDuration"), "string", "\"P1D\""),
        (x("P12M", "duration"), "string", "\"P1Y\""),
        (i(5), "dateTime", "error"),
        (l("1", "en"), "integer", "error"),
        (unknown("1", "t"), "integer", "error"),
        (x("abc", "integer"), "integer", "error"),
    ];
    for (value, name, expected) in cases {
        assert_eq!(show(cast::cast(&value, name)), expected, "{value:?} as {name}");
    }
}

#[test]
fn rounding() {
    let cases = [
        (i(-1), "\"-1\"^^<xsd:integer>", "\"-1\"^^<xsd:integer>", "\"-1\"^^<xsd:integer>"),
        (x("-1.6", "decimal"), "\"-2\"^^<xsd:decimal>", "\"-1\"^^<xsd:decimal>", "\"-2\"^^<xsd:decimal>"),
        (x("2.5", "decimal"), "\"3\"^^<xsd:decimal>", "\"3\"^^<xsd:decimal>", "\"2\"^^<xsd:decimal>"),
        (
            x("-2.5", "double"),
            "\"-2.0E0\"^^<xsd:double>",
            "\"-2.0E0\"^^<xsd:double>",
            "\"-3.0E0\"^^<xsd:double>",
        ),
    ];
    for (value, round, ceil, floor) in cases {
        assert_eq!(show(arithmetic::round(&value)), round);
        assert_eq!(show(arithmetic::ceil(&value)), ceil);
        assert_eq!(show(arithmetic::floor(&value)), floor);
    }
    assert_eq!(show(arithmetic::abs(&x("-1.5", "decimal"))), "\"1.5\"^^<xsd:decimal>");
    assert_eq!(show(arithmetic::abs(&i(i64::MIN))), "\"9223372036854775808\"^^<xsd:integer>");
    assert!(arithmetic::round(&s("1")).is_none());
}

#[test]
fn numbers_are_told_by_value() {
    for value in
        [i(1), x("1", "byte"), x("1.0", "decimal"), x("NaN", "float"), x("99999999999999999999", "integer")]
    {
        assert!(value.is_numeric(), "{value:?}");
    }
    for value in [
        s("1"),
        x("300", "byte"),
        x("abc", "integer"),
        x("-1", "unsignedLong"),
        x("18446744073709551616", "unsignedLong"),
    ] {
        assert!(!value.is_numeric(), "{value:?}");
    }
    assert!(x("18446744073709551615", "unsignedLong").is_numeric());
}

#[test]
fn effective_boolean_values() {
    for (value, expected) in [
        (x("true", "boolean"), Some(true)),
        (x("0", "boolean"), Some(false)),
        (i(0), Some(false)),
        (x("0.0", "decimal"), Some(false)),
        (x("NaN", "double"), Some(false)),
        (x("0.01", "double"), Some(true)),
        (s(""), Some(false)),
        (s("a"), Some(true)),
        (l("a", "en"), None),
        (x("z", "boolean"), None),
        (unknown("a", "t"), None),
        (x("2020-01-01T00:00:00Z", "dateTime"), None),
        (iri("http://example/a"), None),
    ] {
        assert_eq!(value.effective_boolean(), expected, "{value:?}");
    }
}

#[test]
fn terms_of_values_come_back() {
    for (lexical, name) in [
        ("true", "boolean"),
        ("-5", "integer"),
        ("2.5", "decimal"),
        ("1.5E0", "double"),
        ("-INF", "float"),
        ("2020-01-01T00:00:00Z", "dateTime"),
        ("2020-01-01", "date"),
        ("10:00:00", "time"),
        ("2020", "gYear"),
        ("2020-01", "gYearMonth"),
        ("--01", "gMonth"),
        ("--01-31", "gMonthDay"),
        ("---31", "gDay"),
        ("P1Y2M3DT4H", "duration"),
        ("P1Y", "yearMonthDuration"),
        ("PT1S", "dayTimeDuration"),
        ("abc", "integer"),
        ("1", "anything"),
    ] {
        assert_eq!(x(lexical, name).to_term(), super::xt(lexical, name));
    }
    assert_eq!(x("1", "string").datatype(), Some(&*format!("{XSD}string")));
}

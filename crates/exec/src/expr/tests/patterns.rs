//! REGEX and REPLACE: XPath's syntax and its differences from the regex crate's.

use super::support::context;
use super::{i, l, s, show};
use crate::expr::pattern::{of_values, replace};
use crate::expr::texts::TextLimit;
use crate::expr::value::Value;

fn matches(text: &Value, pattern: &Value, flags: Option<&Value>) -> Option<bool> {
    let pattern = of_values(pattern, flags.map(Some))?;
    Some(pattern.is_match(text.text()?))
}

#[track_caller]
fn check(text: &str, pattern: &str, flags: &str, expected: Option<bool>) {
    assert_eq!(matches(&s(text), &s(pattern), Some(&s(flags))), expected, "{text:?} {pattern:?} {flags:?}");
}

#[test]
fn basics_and_flags() {
    check("Alice", "^ali", "i", Some(true));
    check("Alice", "^ali", "", Some(false));
    check("a\nb", "a.b", "", Some(false));
    check("a\nb", "a.b", "s", Some(true));
    check("a\nb", "^b$", "", Some(false));
    check("a\nb", "^b$", "m", Some(true));
    check("hello world", "hello world", "x", Some(false));
    check("helloworld", "hello world", "x", Some(true));
    check("hello world", "hello[ ]world", "x", Some(true));
    check("a#b", "a # b", "x", Some(true));
    check("a.b", "a.b", "q", Some(true));
    check("axb", "a.b", "q", Some(false));
    check("A.B", "a.b", "qi", Some(true));
    check("a", "a", "z", None);
    check("aaa", "^a{2,3}$", "", Some(true));
    check("aaaa", "^a{2,3}$", "", Some(false));
    check("aaaa", "^a{2,}$", "", Some(true));
}

#[test]
fn xpath_classes() {
    check("_a-1", r"^\i\c*$", "", Some(true));
    check("1a", r"^\i", "", Some(false));
    check("\u{A0}", r"^\s$", "", Some(false));
    check("\t", r"^\s$", "", Some(true));
    check("_", r"^\w$", "", Some(false));
    check("\u{663}", r"^\d$", "", Some(true));
    check("e", "^[a-z-[aeiou]]$", "", Some(false));
    check("f", "^[a-z-[aeiou]]$", "", Some(true));
    check("5", "^[^a-z-[0-9]]$", "", Some(false));
    check("%", "^[^a-z-[0-9]]$", "", Some(true));
    check("-", "^[a-]$", "", Some(true));
    check("-", "^[-a]$", "", Some(true));
    check("&", "^[&&a]$", "", Some(true));
    check("~", "^[a~~b]$", "", Some(true));
    check("^", "^[a^]$", "", Some(true));
    check("é", r"^\p{Ll}$", "", Some(true));
    check("é", r"^\P{IsBasicLatin}$", "", Some(true));
    check("e", r"^\p{IsBasicLatin}$", "", Some(true));
    check("a]", r"^[\w\]]+$", "", Some(true));
    check(" x", r"^[\s\S]+$", "", Some(true));
}

#[test]
fn what_xpath_lacks_is_an_error() {
    for pattern in [
        "(?i)a",
        "(?P<n>a)",
        "(?=a)",
        r"\bword\b",
        r"(a)\1",
        r"\x41",
        r"\p{Greek}",
        "[a",
        "a{,3}",
        "a{x}",
        "(a",
        "a]",
        "[]",
        "[[:alpha:]]",
        "[a-[b]c]",
        r"\",
        "*a",
        "[b-a]",
    ] {
        check("abc", pattern, "", None);
    }
    assert_eq!(matches(&i(5), &s("5"), None), None);
    assert_eq!(matches(&s("5"), &l("5", "en"), None), None);
    assert_eq!(matches(&l("5", "en"), &s("5"), None), Some(true));
}

#[test]
fn large_expressions_are_refused() {
    check("a", "(a{1000}){1000}", "", None);
    check("a", &"(".repeat(100_000), "", None);
    check("a", &format!("{}a{}", "(".repeat(10_000), ")".repeat(10_000)), "", None);
    check("a", &"[a-".repeat(10_000), "", None);
}

#[test]
fn replacements() {
    let cases = [
        ("banana", "ana", "*", "", "\"b*na\""),
        ("abcd", "(ab)|(a)", "[1=$1][2=$2]", "", "\"[1=ab][2=]cd\""),
        ("abcd", "b", "Z", "", "\"aZcd\""),
        ("abab", "B", "Z", "i", "\"aZaZ\""),
        ("abab", "B.", "Z", "i", "\"aZb\""),
        ("aAbBaC", "a", "~/", "i", "\"~/~/bB~/C\""),
        ("abc", "(b)", "$0$0", "", "\"abbc\""),
        ("abc", "(b)", "$12", "", "\"ab2c\""),
        ("abc", "b", "$1", "", "\"ac\""),
        ("abc", "b", r"\$\\", "", r#""a$\\c""#),
        ("a.c", ".", "$1", "q", "\"a$1c\""),
        ("abc", "b", "$", "", "error"),
        ("abc", "b", r"\n", "", "error"),
        ("abc", "x*", "-", "", "error"),
        ("abc", "x", "-", "", "\"abc\""),
        ("abc", "abc", "", "", "\"\""),
    ];
    let limit = TextLimit::new(&context());
    for (text, pattern, with, flags, expected) in cases {
        let found = replace(&s(text), &s(pattern), &s(with), Some(&s(flags)), &limit);
        assert_eq!(show(found), expected, "{text} {pattern} {with}");
    }
    assert_eq!(show(replace(&l("abc", "en"), &s("b"), &s("Z"), None, &limit)), "\"aZc\"@en");
}

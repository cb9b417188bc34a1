//! REGEX and REPLACE: XPath's syntax and its differences from the regex crate's.

use super::support::context;
use super::{i, l, s, show};
use crate::error::ExecError;
use crate::expr::texts::TextLimit;
use crate::functions::regex::{MatchLimit, of_values, replace};
use crate::values::value::Value;

fn matches(text: &Value, pattern: &Value, flags: Option<&Value>) -> Option<bool> {
    let limit = MatchLimit::new(&context());
    let pattern = of_values(pattern, flags.map(Some), &limit)?;
    let found = pattern.is_match(text.text()?, &limit);
    limit.check().unwrap();
    found
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
fn back_references() {
    check("abba", r"(.)\1", "", Some(true));
    check("abca", r"(.)\1", "", Some(false));
    check("abca", r"^(.).*\1$", "", Some(true));
    check("'Hi' there", r#"('|").*\1"#, "", Some(true));
    check("'Hi\" there", r#"('|").*\1"#, "", Some(false));
    check("xyzabcabc", r"(?:x|(y))z(abc)\2", "", Some(true));
    // A group without a match is the empty text.
    check("b", r"^(?:(a)|b)\1$", "", Some(true));
    check("a", r"^(?:(a)|b)\1$", "", Some(false));
    check("aba1", r"^(a){0}b?(b)?.*$\1", "", Some(true));
    check("bb", r"^(a){0}(b)\2$", "", Some(true));
    // As many digits as there are groups before.
    check("a1", r"^(a)?1$", "", Some(true));
    check("aa1", r"^(a)\11$", "", Some(true));
    check("abcdefghijkk", r"^(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)(k)\11$", "", Some(true));
    check("abcdefghijka1", r"^(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)(k)\1 1$", "", Some(false));
    check("abcdefghijkk", r"^(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)(k)\1 1$", "x", Some(true));
    for pattern in
        [r"(a\1)", r"\1(a)", r"(a)\2", r"(a)\0", r"(a)[\1]", r"(?:a)\1", r"((a)\1)", r"(?=(a))\1", r"(a)\1)"]
    {
        check("aa", pattern, "", None);
    }
    check("aa", r"^((a)\2)$", "", Some(true));
    check("aAaB", r"^(a)\1\1b$", "i", Some(true));
    check("aA", r"^(a)\1$", "", Some(false));
    check("σς", r"^(σ)\1$", "i", Some(true));
    check("a\nb\na", r"^(a)$.^b$.^\1$", "ms", Some(true));
    check("a\nb\na", r"^(a)$.^b$.^\1$", "m", Some(false));
}

/// Repetitions, greedy and not, take what they do without back-references.
#[test]
fn repetitions_beside_back_references() {
    check("abab", r"^(ab){2}()\2$", "", Some(true));
    check("ababab", r"^(ab){2}()\2$", "", Some(false));
    check("aaa", r"^(a)\1{2}$", "", Some(true));
    check("aaaa", r"^(a)\1{1,2}$", "", Some(false));
    check("a1a1a1", r"^(?:(a)(1))*\1?\2?$", "", Some(true));
    check("", r"^(a*)*\1$", "", Some(true));
    check("aaaaaa", r"^(a+?)\1+$", "", Some(true));
    check("aaaaaaa", r"^(aa+?)\1+$", "", Some(false));
    check("xxyyzz", r"^((.)\2)*$", "", Some(true));
    check("xxyzz", r"^((.)\2)*$", "", Some(false));
    check("aéaé", r"^([^x]{2}?)\1$", "", Some(true));
    check("éa", r"^([^x]{2,}?)()\2$", "", Some(true));
    check("éééb", r"^(é*)éb\1?$", "", Some(true));
}

#[test]
fn large_expressions_are_refused() {
    check("a", "(a{1000}){1000}", "", None);
    check("a", &"(".repeat(100_000), "", None);
    check("a", &format!("{}a{}", "(".repeat(10_000), ")".repeat(10_000)), "", None);
    check("a", &"[a-".repeat(10_000), "", None);
    check("a", r"(x)\1((ab){1000}c){1000}", "", None);
    check("a", r"(x)\1(((ab){0,99}b){0,99}){0,99}", "", None);
    check("a", r"(x)\1(\w{9}x){9999}", "", None);
    check("a", &format!("{}a{}\\1", "(".repeat(10_000), ")".repeat(10_000)), "", None);
    check("a", &format!("(a){}", r"\1".repeat(1_000_000)), "", None);
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
        ("aabbcd", r"(.)\1", "<$1>", "", "\"<a><b>cd\""),
        ("bookkeeper", r"(.)\1", "", "", "\"bper\""),
        ("the the cat", r"(\w+) \1", "$1", "", "\"the cat\""),
        ("aXbAxB", r"(a)(.)(b)\1\2\3", "$3$2$1", "i", "\"bXa\""),
        ("日日本", r"(.)\1", "[$1]", "", "\"[日]本\""),
        ("abc", r"(x?)\1", "-", "", "error"),
    ];
    let cx = context();
    let (limit, matching) = (TextLimit::new(&cx), MatchLimit::new(&cx));
    for (text, pattern, with, flags, expected) in cases {
        let found = replace(&s(text), &s(pattern), &s(with), Some(&s(flags)), &limit, &matching);
        assert_eq!(show(found), expected, "{text} {pattern} {with}");
    }
    assert_eq!(show(replace(&l("abc", "en"), &s("b"), &s("Z"), None, &limit, &matching)), "\"aZc\"@en");
}

#[test]
fn long_replacements_and_many_expressions_hear_that_they_are_cancelled() {
    let cx = context();
    cx.cancel.cancel();
    let string = |text: &str| Value::String(text.into());
    let (limit, matching) = (TextLimit::new(&cx), MatchLimit::new(&cx));
    let text = string(&"a".repeat(1 << 20));
    assert!(replace(&text, &string("a"), &string("b"), None, &limit, &matching).is_none());
    assert!(matches!(matching.check(), Err(ExecError::Cancelled(_))));
    let matching = MatchLimit::new(&cx);
    let of_number = |number| of_values(&string(&format!("[a-z]{{{number}}}")), None, &matching);
    assert!((0..10_000).any(|number| of_number(number % 10).is_none()));
    assert!(matches!(matching.check(), Err(ExecError::Cancelled(_))));
}

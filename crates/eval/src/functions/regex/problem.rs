//! What is wrong with a text that is no regular expression, where, and what would be right.

use super::translate::{Places, translate_noting};
use super::{Flags, compiled};
use regex_syntax::ast::ErrorKind as Syntax;
use regex_syntax::hir::ErrorKind as Meaning;

/// What is wrong with an expression, or with its flags; none where nothing is.
pub(crate) fn problem(pattern: &str, flags: &str) -> Option<String> {
    if compiled(pattern, flags).is_some() {
        return None;
    }
    let Some(read) = Flags::parse(flags) else {
        let wrong = flags.chars().find(|flag| !"smixq".contains(*flag)).unwrap_or(' ');
        return Some(format!("there is no flag {wrong:?}; i, m, s, x and q are those that there are"));
    };
    if read.literal {
        return Some(TOO_LARGE.to_owned());
    }
    let mut places = Places::default();
    let Some(translated) = translate_noting(pattern, read.free_spacing, &mut places) else {
        let at = places.last();
        return Some(told(pattern, at, &of_piece(pattern.get(at..).unwrap_or_default())));
    };
    let mut parser = regex_syntax::ParserBuilder::new().case_insensitive(read.ignore_case).build();
    let (at, what) = match parser.parse(&translated.text) {
        Err(regex_syntax::Error::Parse(error)) => (error.span().start.offset, of_syntax(error.kind())),
        Err(regex_syntax::Error::Translate(error)) => (error.span().start.offset, of_meaning(error.kind())),
        _ => return Some(TOO_LARGE.to_owned()),
    };
    Some(told(pattern, places.before(at), &what))
}

const TOO_LARGE: &str =
    "it is too large: counts such as {1000} are written out, so ask for less, or in several expressions";

fn told(pattern: &str, at: usize, what: &str) -> String {
    let before = pattern.get(..at).map_or(0, |before| before.chars().count());
    format!("at character {}, {what}", before + 1)
}

/// Of a piece that XPath does not have.
fn of_piece(piece: &str) -> String {
    let mut chars = piece.chars();
    let (first, second) = (chars.next(), chars.next());
    match (first, second) {
        (Some('\\'), None) => r"a `\` stands before nothing; write \\ for the sign itself".into(),
        (Some('\\'), Some(digit)) if digit.is_ascii_digit() => {
            format!(r"`\{digit}` names no group that has ended before it")
        }
        (Some('\\'), Some('b' | 'B')) => {
            r"`\b` is none of XPath's, which has no word boundaries; write (^|\W) and (\W|$) around a word".into()
        }
        (Some('\\'), Some(letter @ ('p' | 'P'))) => {
            format!(r"`\{letter}` is not followed by a category or block that is known, such as {{L}}, {{Lu}} or {{IsGreek}}")
        }
        (Some('\\'), Some(other)) => format!(r"`\{other}` is no escape of XPath's; write {other} for the sign itself"),
        (Some('['), _) if !piece.contains(']') => {
            r"a `[` without a `]`; write \[ for the sign itself".into()
        }
        (Some('['), _) => {
            r"the class has nothing in it, ends nowhere, or has a sign in it that needs a \ before it: [ ] \ (and - where it is no range)".into()
        }
        (Some('('), _) => "`(?` begins no group of XPath's but `(?:`; what is i or s elsewhere in brackets is the third argument here".into(),
        (Some('{'), _) => r"`{` begins no count such as {2}, {2,} or {2,5}; write \{ for the sign itself".into(),
        (Some(close @ (')' | '}' | ']')), _) => {
            let open = match close {
                ')' => '(',
                '}' => '{',
                _ => '[',
            };
            format!(r"a `{close}` without a `{open}`; write \{close} for the sign itself")
        }
        _ => "this is none of XPath's expressions".into(),
    }
}

fn of_syntax(kind: &Syntax) -> String {
    match kind {
        Syntax::GroupUnclosed => r"a `(` without a `)`; write \( for the sign itself".into(),
        Syntax::GroupUnopened => r"a `)` without a `(`; write \) for the sign itself".into(),
        Syntax::RepetitionMissing => {
            r"there is nothing to repeat; write a \ before *, +, ? or { for the sign itself".into()
        }
        Syntax::RepetitionCountInvalid => "the second number of a count is less than the first".into(),
        Syntax::DecimalInvalid | Syntax::DecimalEmpty | Syntax::RepetitionCountDecimalEmpty => {
            "the number of a count is none, or too large".into()
        }
        Syntax::ClassRangeInvalid => "a range goes from a later character to an earlier one".into(),
        Syntax::ClassRangeLiteral => {
            r"a range begins or ends with more than a character; write \- for the sign itself".into()
        }
        Syntax::NestLimitExceeded(_) | Syntax::CaptureLimitExceeded => {
            "brackets are too many, or too deep in each other".into()
        }
        other => other.to_string(),
    }
}

fn of_meaning(kind: &Meaning) -> String {
    match kind {
        Meaning::UnicodePropertyNotFound | Meaning::UnicodePropertyValueNotFound => {
            r"there is no such category; \p is followed by {L}, {Lu}, {N} and so on".into()
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::problem;

    fn of(pattern: &str) -> String {
        problem(pattern, "").unwrap_or_default()
    }

    #[test]
    fn it_is_told_what_and_where() {
        for (pattern, at, what) in [
            ("(", 1, "a `(` without a `)`; write \\("),
            ("éa(b", 3, "a `(` without"),
            ("a(b(c)", 2, "a `(` without"),
            ("ab)", 3, "a `)` without a `(`"),
            ("ab]", 3, "a `]` without a `[`"),
            ("a[bc", 2, "a `[` without a `]`"),
            ("a[]", 2, "the class has nothing"),
            ("é\\s|*x", 5, "there is nothing to repeat"),
            ("*a", 1, "there is nothing to repeat"),
            ("\\d\\s|+", 6, "there is nothing to repeat"),
            ("a{3,2}", 2, "the second number"),
            ("a{x}", 2, "`{` begins no count"),
            ("\\d[z-a]", 3, "a range goes"),
            ("\\bx\\b", 1, "`\\b` is none of XPath's"),
            ("x\\", 2, "a `\\` stands before nothing"),
            ("x\\q", 2, "`\\q` is no escape"),
            ("x\\p{Foo}", 2, "`\\p` is not followed"),
            ("x(a)\\2", 5, "`\\2` names no group"),
            ("a(?i)b", 2, "`(?` begins no group"),
            ("(?<x>a)", 1, "`(?` begins no group"),
        ] {
            let told = of(pattern);
            assert!(told.starts_with(&format!("at character {at}, {what}")), "{pattern}: {told}");
        }
        for right in ["a", "", "a{2,3}", "[a-z-[aeiou]]", "(a)\\1", "a(?:b|c)*?"] {
            assert_eq!(problem(right, ""), None, "{right}");
        }
    }

    #[test]
    fn flags_and_sizes() {
        assert!(problem("a", "iz").unwrap().starts_with("there is no flag 'z'; i, m, s, x and q"));
        assert!(of("(a{1000}){1000}").contains("too large"));
        assert!(of(&"(".repeat(3000)).contains("without") || of(&"(".repeat(3000)).contains("too deep"));
        assert!(problem(&"a".repeat(9 << 20), "q").unwrap().contains("too large"));
        // Spaces that count for nothing are passed over.
        assert!(problem("a b * * (", "x").is_some_and(|told| told.starts_with("at character ")));
    }

    #[test]
    fn whatever_is_wrong_is_told_somewhere_in_it() {
        let signs = ['(', ')', '[', ']', '{', '}', '\\', '*', '?', 'a', '1', ',', '-', '^', 'é'];
        let mut state = 7_usize;
        for _ in 0..1_500 {
            let mut pattern = String::new();
            for _ in 0..state % 9 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                pattern.push(signs[(state >> 33) % signs.len()]);
            }
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let told = problem(&pattern, "");
            assert_eq!(told.is_none(), super::compiled(&pattern, "").is_some(), "{pattern}");
            if let Some(place) = told.as_deref().and_then(|told| told.strip_prefix("at character ")) {
                let place: usize = place.split(',').next().unwrap().parse().unwrap();
                assert!(place <= pattern.chars().count().max(1), "{pattern}: {place}");
            }
        }
    }
}

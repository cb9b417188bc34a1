//! Functions on strings (SPARQL 1.1 section 17.4.3), REGEX and REPLACE with XPath's patterns.

use super::arithmetic::to_double;
use super::datatypes::{boolean, int, like, simple, string_literal as string, term_value, text};
use fancy_regex::{Regex, RegexBuilder};
use oxrdf::{Literal, Term};
use spargebra::algebra::Function;

/// The function's value; nothing for an error, or a function that is not about strings.
pub(super) fn apply(function: &Function, args: &[Term]) -> Option<Term> {
    match (function, args) {
        (Function::Concat, _) => concat(args),
        (Function::SubStr, [s, start]) => substring(string(s)?, rounded(start)?, None),
        (Function::SubStr, [s, start, length]) => {
            substring(string(s)?, rounded(start)?, Some(rounded(length)?))
        }
        (Function::StrLen, [s]) => Some(int(i64::try_from(string(s)?.value().chars().count()).ok()?)),
        (Function::UCase, [s]) => string(s).map(|l| like(l, l.value().to_uppercase())),
        (Function::LCase, [s]) => string(s).map(|l| like(l, l.value().to_lowercase())),
        (Function::EncodeForUri, [s]) => string(s).map(|l| text(percent_encode(l.value()))),
        (Function::Contains, [a, b]) => {
            let (a, b) = comparable(a, b)?;
            Some(boolean(a.value().contains(b.value())))
        }
        (Function::StrStarts, [a, b]) => {
            let (a, b) = comparable(a, b)?;
            Some(boolean(a.value().starts_with(b.value())))
        }
        (Function::StrEnds, [a, b]) => {
            let (a, b) = comparable(a, b)?;
            Some(boolean(a.value().ends_with(b.value())))
        }
        (Function::StrBefore, [a, b]) => {
            let (a, b) = comparable(a, b)?;
            Some(a.value().split_once(b.value()).map_or_else(|| text(""), |(before, _)| like(a, before)))
        }
        (Function::StrAfter, [a, b]) => {
            let (a, b) = comparable(a, b)?;
            Some(a.value().split_once(b.value()).map_or_else(|| text(""), |(_, after)| like(a, after)))
        }
        (Function::LangMatches, [tag, range]) => Some(boolean(lang_matches(simple(tag)?, simple(range)?))),
        (Function::Regex, [s, pattern]) => regex(string(s)?, simple(pattern)?, ""),
        (Function::Regex, [s, pattern, flags]) => regex(string(s)?, simple(pattern)?, simple(flags)?),
        (Function::Replace, [s, p, r]) => replace(string(s)?, simple(p)?, simple(r)?, ""),
        (Function::Replace, [s, p, r, flags]) => replace(string(s)?, simple(p)?, simple(r)?, simple(flags)?),
        _ => None,
    }
}

/// Argument compatibility (section 17.4.3.1.2): the second has the first's language or none.
fn comparable<'a>(a: &'a Term, b: &'a Term) -> Option<(&'a Literal, &'a Literal)> {
    let (a, b) = (string(a)?, string(b)?);
    let same = a.language() == b.language() && a.direction() == b.direction();
    (same || b.language().is_none()).then_some((a, b))
}

fn concat(args: &[Term]) -> Option<Term> {
    let literals: Vec<&Literal> = args.iter().map(string).collect::<Option<_>>()?;
    let joined: String = literals.iter().map(|l| l.value()).collect();
    let Some((first, rest)) = literals.split_first() else { return Some(text("")) };
    let same = rest.iter().all(|l| l.language() == first.language() && l.direction() == first.direction());
    Some(if same { like(first, joined) } else { text(joined) })
}

/// `fn:substring`: the characters at positions from `start`, `length` of them; positions before the first count.
fn substring(literal: &Literal, start: f64, length: Option<f64>) -> Option<Term> {
    let end = length.map_or(f64::INFINITY, |l| start + l);
    let kept: String = literal
        .value()
        .chars()
        .enumerate()
        .filter(|(index, _)| {
            let position = *index as f64 + 1.;
            start <= position && position < end
        })
        .map(|(_, c)| c)
        .collect();
    Some(like(literal, kept))
}

/// Positions are integers in SPARQL, numbers that are rounded in XPath; as there.
fn rounded(term: &Term) -> Option<f64> {
    let number = f64::from(to_double(term_value(term)?)?);
    Some((number + 0.5).floor())
}

fn percent_encode(value: &str) -> String {
    let mut encoded = String::new();
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

/// Basic filtering of RFC 4647.
fn lang_matches(tag: &str, range: &str) -> bool {
    if range == "*" {
        return !tag.is_empty();
    }
    let (tag, range) = (tag.to_ascii_lowercase(), range.to_ascii_lowercase());
    tag == range || tag.strip_prefix(&range).is_some_and(|rest| rest.starts_with('-'))
}

fn regex(literal: &Literal, pattern: &str, flags: &str) -> Option<Term> {
    Some(boolean(compile(pattern, flags)?.is_match(literal.value()).ok()?))
}

/// `fn:replace`: a pattern that matches the empty string is an error.
fn replace(literal: &Literal, pattern: &str, replacement: &str, flags: &str) -> Option<Term> {
    let regex = compile(pattern, flags)?;
    if regex.is_match("").ok()? {
        return None;
    }
    let template = if flags.contains('q') {
        replacement.replace('$', "$$")
    } else {
        template(replacement, regex.captures_len() - 1)?
    };
    Some(like(literal, regex.try_replacen(literal.value(), 0, template.as_str()).ok()?.into_owned()))
}

fn compile(pattern: &str, flags: &str) -> Option<Regex> {
    let mut stripped = pattern.to_owned();
    if flags.contains('q') {
        stripped = regex::escape(pattern);
    } else if flags.contains('x') {
        stripped = strip_space(pattern);
    }
    if !flags.contains('q') {
        stripped = with_empty_groups(&stripped)?;
    }
    let mut builder = RegexBuilder::new(&stripped);
    for flag in flags.chars() {
        match flag {
            's' => builder.dot_matches_new_line(true),
            'm' => builder.multi_line(true),
            'i' => builder.case_insensitive(true),
            'x' | 'q' => &mut builder,
            _ => return None,
        };
    }
    builder.delegate_size_limit(1 << 20).build().ok()
}

/// Back-references `\N` as in XPath (section 5.6.1): the group must have ended before, further digits count as far as there are so many
/// groups before, and a group without a match is the empty string. Look-around and other groups with `?` are errors.
fn with_empty_groups(pattern: &str) -> Option<String> {
    let mut out = String::new();
    let (mut open, mut ended) = (Vec::new(), Vec::new());
    let (mut groups, mut classes) = (0_usize, 0_usize);
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek().is_some_and(char::is_ascii_digit) => {
                let mut number = 0;
                while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
                    let longer = number * 10 + usize::try_from(digit).ok()?;
                    if number > 0 && longer > groups {
                        break;
                    }
                    number = longer;
                    chars.next();
                }
                if classes > 0 || !ended.contains(&number) {
                    return None;
                }
                out.push_str(&format!("(?:(?({number})\\{number}|))"));
                continue;
            }
            '\\' => {
                out.push(c);
                out.extend(chars.next());
                continue;
            }
            '[' => classes += 1,
            ']' => classes = classes.saturating_sub(1),
            '(' if classes == 0 && chars.peek() == Some(&'?') => {
                let mut ahead = chars.clone();
                if ahead.nth(1) != Some(':') {
                    return None;
                }
                open.push(0);
            }
            '(' if classes == 0 => {
                groups += 1;
                open.push(groups);
            }
            ')' if classes == 0 => ended.extend(open.pop().filter(|group| *group > 0)),
            _ => {}
        }
        out.push(c);
    }
    Some(out)
}

/// Flag `x`: white space outside character classes means nothing.
fn strip_space(pattern: &str) -> String {
    let mut depth = 0_u32;
    let mut escaped = false;
    pattern
        .chars()
        .filter(|c| {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '[' => depth += 1,
                ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth > 0 || !matches!(c, ' ' | '\t' | '\n' | '\r')
        })
        .collect()
}

/// XPath's replacement text in the regex crate's syntax: `$N` takes as many digits as name a group, `\$` and `\\` are escapes.
fn template(replacement: &str, groups: usize) -> Option<String> {
    let mut out = String::new();
    let mut chars = replacement.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next()? {
                '\\' => out.push('\\'),
                '$' => out.push_str("$$"),
                _ => return None,
            },
            '$' => {
                let mut number = usize::try_from(chars.next()?.to_digit(10)?).ok()?;
                while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
                    let longer = number * 10 + usize::try_from(digit).ok()?;
                    if longer > groups {
                        break;
                    }
                    number = longer;
                    chars.next();
                }
                if number <= groups {
                    out.push_str(&format!("${{{number}}}"));
                }
            }
            c => out.push(c),
        }
    }
    Some(out)
}

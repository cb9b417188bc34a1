//! REGEX and REPLACE: XPath regular expressions on the `regex` crate, whose running time is linear and whose size is bounded.

mod translate;

use super::texts::TextLimit;
use super::value::Value;
use regex::{Regex, RegexBuilder};
use std::cell::RefCell;
use std::str::Chars;
use std::sync::Arc;

/// Bytes a compiled expression may take.
const REGEX_BYTES_MAX: usize = 2 << 20;
/// Compiled expressions that a thread keeps.
const CACHE_ENTRIES: usize = 32;

/// A compiled expression.
#[derive(Debug)]
pub(crate) struct Pattern {
    regex: Regex,
    /// Flag `q`: the replacement is literal, too.
    literal: bool,
}

impl Pattern {
    /// Whether a text matches.
    pub fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

/// The expression of two arguments; `flags`: the third, if there is one. `None` where one is an error.
pub(crate) fn of_values(pattern: &Value, flags: Option<Option<&Value>>) -> Option<Arc<Pattern>> {
    let flags = match flags {
        None => "",
        Some(flags) => flags?.simple()?,
    };
    compiled(pattern.simple()?, flags)
}

/// `REPLACE(text, pattern, replacement, flags)`. A pattern that matches the empty string is an error, as in XPath.
pub(crate) fn replace(
    text: &Value,
    pattern: &Value,
    with: &Value,
    flags: Option<&Value>,
    limit: &TextLimit,
) -> Option<Value> {
    let input = text.text()?;
    let pattern = of_values(pattern, flags.map(Some))?;
    if pattern.regex.is_match("") {
        return None;
    }
    let groups = pattern.regex.captures_len() - 1;
    let parts = if pattern.literal {
        vec![Part::Text(with.simple()?.to_string())]
    } else {
        replacement_parts(with.simple()?, groups, limit)?
    };
    let mut out = String::with_capacity(input.len());
    let mut copied = 0;
    for captures in pattern.regex.captures_iter(input) {
        let Some(whole) = captures.get(0) else { continue };
        out.push_str(input.get(copied..whole.start()).unwrap_or_default());
        for part in &parts {
            let text = match part {
                Part::Text(text) => text.as_str(),
                Part::Group(group) => captures.get(*group).map_or("", |found| found.as_str()),
            };
            limit.allow(out.len() + text.len())?;
            out.push_str(text);
        }
        copied = whole.end();
    }
    if copied == 0 && out.is_empty() {
        return Some(text.clone());
    }
    let rest = input.get(copied..).unwrap_or_default();
    limit.allow(out.len() + rest.len())?;
    out.push_str(rest);
    Some(text.with_text(out))
}

/// A piece of a replacement.
enum Part {
    Text(String),
    Group(usize),
}

/// `$N` is a group, `\$` and `\\` stand for themselves; a lone `$` or `\` is an error.
fn replacement_parts(with: &str, groups: usize, limit: &TextLimit) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut chars = with.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next()? {
                escaped @ ('\\' | '$') => text.push(escaped),
                _ => return None,
            },
            '$' => {
                let group = group_number(&mut chars, groups)?;
                parts.push(Part::Text(std::mem::take(&mut text)));
                parts.push(Part::Group(group));
                limit.allow(parts.len() * size_of::<Part>())?;
            }
            _ => text.push(c),
        }
    }
    parts.push(Part::Text(text));
    Some(parts)
}

/// Digits after `$`: as many as still name an existing group, at least one.
fn group_number(chars: &mut Chars<'_>, groups: usize) -> Option<usize> {
    let mut number = usize::try_from(chars.next()?.to_digit(10)?).ok()?;
    loop {
        let mut ahead = chars.clone();
        let Some(digit) = ahead.next().and_then(|c| c.to_digit(10)) else { return Some(number) };
        let longer = number.checked_mul(10)?.checked_add(usize::try_from(digit).ok()?)?;
        if longer > groups {
            return Some(number);
        }
        number = longer;
        *chars = ahead;
    }
}

type CacheEntry = (Box<str>, Box<str>, Option<Arc<Pattern>>);

thread_local! {
    /// The expressions that this thread used last, most recent first: a query has few, and runs each for every batch.
    static CACHE: RefCell<Vec<CacheEntry>> = const { RefCell::new(Vec::new()) };
}

/// The compiled expression; `None` if it is none.
pub(crate) fn compiled(pattern: &str, flags: &str) -> Option<Arc<Pattern>> {
    CACHE.with_borrow_mut(|cache| {
        match cache.iter().position(|entry| &*entry.0 == pattern && &*entry.1 == flags) {
            Some(0) => {}
            Some(at) => cache.swap(0, at),
            None => {
                cache.truncate(CACHE_ENTRIES - 1);
                cache.insert(0, (pattern.into(), flags.into(), compile(pattern, flags).map(Arc::new)));
            }
        }
        cache.first().and_then(|entry| entry.2.clone())
    })
}

#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    dot_all: bool,
    multi_line: bool,
    ignore_case: bool,
    free_spacing: bool,
    literal: bool,
}

impl Flags {
    fn parse(text: &str) -> Option<Self> {
        let mut flags = Self::default();
        for c in text.chars() {
            match c {
                's' => flags.dot_all = true,
                'm' => flags.multi_line = true,
                'i' => flags.ignore_case = true,
                'x' => flags.free_spacing = true,
                'q' => flags.literal = true,
                _ => return None,
            }
        }
        Some(flags)
    }
}

fn compile(pattern: &str, flags: &str) -> Option<Pattern> {
    let flags = Flags::parse(flags)?;
    let translated = if flags.literal {
        regex::escape(pattern)
    } else {
        translate::translate(pattern, flags.free_spacing)?
    };
    let regex = RegexBuilder::new(&translated)
        .dot_matches_new_line(flags.dot_all)
        .multi_line(flags.multi_line)
        .case_insensitive(flags.ignore_case)
        .size_limit(REGEX_BYTES_MAX)
        .dfa_size_limit(REGEX_BYTES_MAX)
        .build()
        .ok()?;
    Some(Pattern { regex, literal: flags.literal })
}

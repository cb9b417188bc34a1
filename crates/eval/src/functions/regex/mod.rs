//! REGEX and REPLACE: XPath regular expressions on the `regex` crate, whose running time is linear and whose size is bounded. Those
//! with back-references have a matcher of their own.

mod backtrack;
mod parts;
mod problem;
mod translate;

pub(crate) use backtrack::MatchLimit;
pub(crate) use parts::regex_parts;
pub(crate) use problem::problem;

use crate::expr::texts::TextLimit;
use crate::values::value::Value;
use backtrack::{Matcher, Program};
use regex::{CaptureLocations, Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use std::cell::RefCell;
use std::ops::Range;
use std::str::Chars;
use std::sync::Arc;

/// Bytes a compiled expression may take.
const REGEX_BYTES_MAX: usize = 2 << 20;
/// Compiled expressions that a thread keeps.
const CACHE_ENTRIES: usize = 32;

/// A compiled expression.
#[derive(Debug)]
pub(crate) struct Pattern {
    engine: Engine,
    /// Flag `q`: the replacement is literal, too.
    literal: bool,
}

#[derive(Debug)]
enum Engine {
    Linear(Regex),
    /// The expression as it was written, and its program.
    Backtracking(Box<str>, Program),
}

/// What the groups of a match are, the whole first.
enum Groups<'a> {
    Linear(&'a CaptureLocations),
    Backtracking(&'a Matcher<'a>),
}

impl Groups<'_> {
    fn get(&self, group: usize) -> Option<Range<usize>> {
        match self {
            Self::Linear(found) => found.get(group).map(|(start, end)| start..end),
            Self::Backtracking(found) => found.group(group),
        }
    }
}

impl Pattern {
    /// Whether a text matches. `None` where that would cost too much: then the limit has an error.
    pub fn is_match(&self, text: &str, limit: &MatchLimit) -> Option<bool> {
        match &self.engine {
            Engine::Linear(regex) => {
                limit.spend(text.len())?;
                Some(regex.is_match(text))
            }
            Engine::Backtracking(pattern, program) => Matcher::new(program, pattern, text, limit)?.find(0),
        }
    }

    /// Groups that capture, without the whole.
    fn groups(&self) -> usize {
        match &self.engine {
            Engine::Linear(regex) => regex.captures_len() - 1,
            Engine::Backtracking(_, program) => program.groups(),
        }
    }

    /// Calls `found` for every match; none of them is empty, if the pattern does not match the empty text.
    fn each_match(
        &self,
        text: &str,
        limit: &MatchLimit,
        mut found: impl FnMut(&Groups<'_>) -> Option<()>,
    ) -> Option<()> {
        let mut from = 0;
        match &self.engine {
            Engine::Linear(regex) => {
                let mut locations = regex.capture_locations();
                while regex.captures_read_at(&mut locations, text, from).is_some() {
                    let groups = Groups::Linear(&locations);
                    let end = groups.get(0)?.end;
                    limit.spend(end - from)?;
                    from = end;
                    found(&groups)?;
                }
            }
            Engine::Backtracking(pattern, program) => {
                let mut matcher = Matcher::new(program, pattern, text, limit)?;
                while matcher.find(from)? {
                    let groups = Groups::Backtracking(&matcher);
                    from = groups.get(0)?.end;
                    found(&groups)?;
                }
            }
        }
        Some(())
    }
}

/// As how many bytes that are searched one of an expression counts, which may have to be compiled.
const COMPILED_BYTES: usize = 1 << 7;

/// The expression of two arguments; `flags`: the third, if there is one. `None` where one is an error.
pub(crate) fn of_values(
    pattern: &Value,
    flags: Option<Option<&Value>>,
    limit: &MatchLimit,
) -> Option<Arc<Pattern>> {
    let flags = match flags {
        None => "",
        Some(flags) => flags?.simple()?,
    };
    let pattern = pattern.simple()?;
    limit.spend(pattern.len().saturating_mul(COMPILED_BYTES))?;
    compiled(pattern, flags)
}

/// What is the matter with an expression and the text that REPLACE puts there: whether it is the expression, and what.
pub(crate) fn replace_problem(pattern: &str, flags: &str, with: &str) -> Option<(bool, &'static str)> {
    let pattern = compiled(pattern, flags)?;
    if let Engine::Linear(regex) = &pattern.engine
        && regex.is_match("")
    {
        return Some((true, "matches the empty text, which REPLACE does not take"));
    }
    if pattern.literal {
        return None;
    }
    let is_wrong = replacement_parts(with, pattern.groups(), &|_| Some(())).is_none();
    is_wrong.then_some((false, "is nothing that REPLACE can put in place: `$` stands before the number of a group, and \\$ and \\\\ are written for these signs"))
}

/// `REPLACE(text, pattern, replacement, flags)`. A pattern that matches the empty string is an error, as in XPath.
pub(crate) fn replace(
    text: &Value,
    pattern: &Value,
    with: &Value,
    flags: Option<&Value>,
    limit: &TextLimit,
    matching: &MatchLimit,
) -> Option<Value> {
    let input = text.text()?;
    let pattern = of_values(pattern, flags.map(Some), matching)?;
    if pattern.is_match("", matching)? {
        return None;
    }
    let parts = if pattern.literal {
        vec![Part::Text(with.simple()?.to_string())]
    } else {
        replacement_parts(with.simple()?, pattern.groups(), &|bytes| limit.allow(bytes))?
    };
    let mut out = String::with_capacity(input.len());
    let mut copied = 0;
    pattern.each_match(input, matching, |groups| {
        let whole = groups.get(0)?;
        out.push_str(input.get(copied..whole.start).unwrap_or_default());
        for part in &parts {
            let text = match part {
                Part::Text(text) => text.as_str(),
                Part::Group(group) => groups.get(*group).and_then(|at| input.get(at)).unwrap_or_default(),
            };
            limit.allow(out.len() + text.len())?;
            matching.spend(text.len())?;
            out.push_str(text);
        }
        copied = whole.end;
        Some(())
    })?;
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
fn replacement_parts(with: &str, groups: usize, allow: &dyn Fn(usize) -> Option<()>) -> Option<Vec<Part>> {
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
                allow(parts.len() * size_of::<Part>())?;
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
    if flags.literal {
        let engine = Engine::Linear(linear(&regex::escape(pattern), flags)?);
        return Some(Pattern { engine, literal: true });
    }
    let translated = translate::translate(pattern, flags.free_spacing)?;
    let engine = if translated.groups.references == 0 {
        Engine::Linear(linear(&translated.text, flags)?)
    } else {
        let hir = ParserBuilder::new()
            .dot_matches_new_line(flags.dot_all)
            .multi_line(flags.multi_line)
            .case_insensitive(flags.ignore_case)
            .build()
            .parse(&translated.text)
            .ok()?;
        Engine::Backtracking(
            pattern.into(),
            Program::new(&hir, &translated.groups.numbers, flags.ignore_case)?,
        )
    };
    Some(Pattern { engine, literal: false })
}

fn linear(translated: &str, flags: Flags) -> Option<Regex> {
    RegexBuilder::new(translated)
        .dot_matches_new_line(flags.dot_all)
        .multi_line(flags.multi_line)
        .case_insensitive(flags.ignore_case)
        .size_limit(REGEX_BYTES_MAX)
        .dfa_size_limit(REGEX_BYTES_MAX)
        .build()
        .ok()
}

//! XPath's regular expressions in the syntax of the `regex` crate (XPath and XQuery Functions and Operators 3.1, section 5.6.1).
//!
//! XPath has its own meanings of `\s`, `\w`, `\i`, `\c`, class subtraction, the flag `x`; what the crate would take but XPath forbids
//! is an error. Groups stand for back-references, which the crate lacks.

use super::backtrack;
use std::str::Chars;

const SPACE: &str = r" \t\n\r";
const WORD_NOT: &str = r"\p{P}\p{Z}\p{C}";
const NAME_START: &str = concat!(
    r":A-Z_a-z\xC0-\xD6\xD8-\xF6\u{F8}-\u{2FF}\u{370}-\u{37D}\u{37F}-\u{1FFF}\u{200C}\u{200D}\u{2070}-\u{218F}",
    r"\u{2C00}-\u{2FEF}\u{3001}-\u{D7FF}\u{F900}-\u{FDCF}\u{FDF0}-\u{FFFD}\u{10000}-\u{EFFFF}"
);
const NAME_MORE: &str = r"\-.0-9\xB7\u{300}-\u{36F}\u{203F}\u{2040}";

/// Back-references that an expression may have: the parser takes time for each that grows with their number.
const REFERENCES_MAX: usize = 1000;

/// An expression in the `regex` crate's syntax.
pub(super) struct Translated {
    pub text: String,
    pub groups: Groups,
}

/// The groups of an expression that capture.
#[derive(Default)]
pub(super) struct Groups {
    /// For each its number in the translated expression, where those that stand for back-references have numbers, too.
    pub numbers: Vec<u32>,
    /// Back-references so far.
    pub references: usize,
    /// Those that capture or not and have not ended yet; their places in `numbers`.
    open: Vec<Option<usize>>,
}

impl Groups {
    fn open(&mut self, captures: bool) -> Option<()> {
        if captures {
            self.numbers.push(u32::try_from(self.numbers.len() + self.references + 1).ok()?);
        }
        self.open.push(captures.then_some(self.numbers.len()));
        Some(())
    }
}

/// Where pieces of an expression begin, in the translated one and in itself.
#[derive(Default)]
pub(super) struct Places(Vec<(usize, usize)>);

impl Places {
    /// Where the last piece begins.
    pub fn last(&self) -> usize {
        self.0.last().map_or(0, |(_, at)| *at)
    }

    /// Where the piece begins that a place of the translated expression is in.
    pub fn before(&self, translated: usize) -> usize {
        let piece = self.0.partition_point(|(start, _)| *start <= translated);
        piece.checked_sub(1).and_then(|piece| self.0.get(piece)).map_or(0, |(_, at)| *at)
    }
}

/// An XPath expression in the `regex` crate's syntax.
pub(super) fn translate(pattern: &str, free_spacing: bool) -> Option<Translated> {
    translated(pattern, free_spacing, &mut |_, _| {})
}

/// The same, with the places of its pieces; where there is none, the last is of what is wrong.
pub(super) fn translate_noting(pattern: &str, free_spacing: bool, places: &mut Places) -> Option<Translated> {
    translated(pattern, free_spacing, &mut |translated, at| places.0.push((translated, at)))
}

fn translated(pattern: &str, free_spacing: bool, piece: &mut impl FnMut(usize, usize)) -> Option<Translated> {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut groups = Groups::default();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        piece(out.len(), pattern.len() - chars.as_str().len() - c.len_utf8());
        match c {
            '\\' if chars.as_str().starts_with(|c: char| c.is_ascii_digit()) => {
                translate_reference(&mut chars, free_spacing, &mut groups, &mut out)?;
            }
            '\\' => translate_escape(&mut chars, &mut out)?,
            '[' => translate_class(&mut chars, &mut out, 0)?,
            '(' => {
                let mut ahead = chars.clone();
                if ahead.next() == Some('?') {
                    // Of all groups with a question mark XPath has the one that does not capture.
                    if ahead.next() != Some(':') {
                        return None;
                    }
                    chars = ahead;
                    out.push_str("(?:");
                    groups.open(false)?;
                } else {
                    out.push('(');
                    groups.open(true)?;
                }
            }
            ')' => {
                groups.open.pop()?;
                out.push(')');
            }
            '{' => translate_count(&mut chars, &mut out)?,
            '}' | ']' => return None,
            ' ' | '\t' | '\n' | '\r' if free_spacing => {}
            _ => out.push(c),
        }
    }
    Some(Translated { text: out, groups })
}

/// The number after a backslash: one digit, and those after it as long as so many groups have begun. The group must have ended.
fn translate_reference(
    chars: &mut Chars<'_>,
    free_spacing: bool,
    groups: &mut Groups,
    out: &mut String,
) -> Option<()> {
    let mut group = usize::try_from(chars.next()?.to_digit(10)?).ok()?;
    loop {
        let mut ahead = chars.clone();
        let is_space = |c: &char| free_spacing && matches!(c, ' ' | '\t' | '\n' | '\r');
        let digit = ahead.find(|c| !is_space(c)).and_then(|c| c.to_digit(10));
        let longer = digit.and_then(|digit| group.checked_mul(10)?.checked_add(usize::try_from(digit).ok()?));
        let Some(longer) = longer.filter(|longer| *longer <= groups.numbers.len()) else { break };
        group = longer;
        *chars = ahead;
    }
    if groups.references == REFERENCES_MAX
        || group == 0
        || group > groups.numbers.len()
        || groups.open.contains(&Some(group))
    {
        return None;
    }
    groups.references += 1;
    out.push_str(&backtrack::reference(group, groups.references));
    Some(())
}

/// `{n}`, `{n,}`, `{n,m}`.
fn translate_count(chars: &mut Chars<'_>, out: &mut String) -> Option<()> {
    let (body, _) = chars.as_str().split_once('}')?;
    let (low, high) = body.split_once(',').unwrap_or((body, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if low.is_empty() || !digits(low) || !digits(high) {
        return None;
    }
    out.push('{');
    out.push_str(body);
    out.push('}');
    chars.nth(body.chars().count());
    Some(())
}

/// What follows a backslash.
fn translate_escape(chars: &mut Chars<'_>, out: &mut String) -> Option<()> {
    let set = |out: &mut String, negated: bool, content: &str| {
        out.push_str(if negated { "[^" } else { "[" });
        out.push_str(content);
        out.push(']');
    };
    match chars.next()? {
        c @ ('n' | 'r' | 't') => out.extend(['\\', c]),
        c @ ('\\' | '|' | '.' | '?' | '*' | '+' | '(' | ')' | '{' | '}' | '-' | '[' | ']' | '^') => {
            out.extend(['\\', c]);
        }
        '$' => out.push_str(r"\$"),
        's' => set(out, false, SPACE),
        'S' => set(out, true, SPACE),
        'd' => out.push_str(r"\p{Nd}"),
        'D' => out.push_str(r"\P{Nd}"),
        'w' => set(out, true, WORD_NOT),
        'W' => set(out, false, WORD_NOT),
        'i' => set(out, false, NAME_START),
        'I' => set(out, true, NAME_START),
        'c' => set(out, false, &format!("{NAME_START}{NAME_MORE}")),
        'C' => set(out, true, &format!("{NAME_START}{NAME_MORE}")),
        c @ ('p' | 'P') => translate_category(chars, out, c == 'P')?,
        // There is no other escape; in a class there are no back-references.
        _ => return None,
    }
    Some(())
}

/// `{L}`, `{Lu}`, `{IsBasicLatin}` after `\p`.
fn translate_category(chars: &mut Chars<'_>, out: &mut String, negated: bool) -> Option<()> {
    let (name, _) = chars.as_str().strip_prefix('{')?.split_once('}')?;
    match name.strip_prefix("Is") {
        Some(block) => {
            let (first, last) = block_range(block)?;
            out.push_str(if negated { "[^" } else { "[" });
            out.push_str(&format!(r"\u{{{first:X}}}-\u{{{last:X}}}]"));
        }
        None => {
            let known = matches!(name.as_bytes(), [b'A'..=b'Z'] | [b'A'..=b'Z', b'a'..=b'z']);
            if !known {
                return None;
            }
            out.push_str(if negated { r"\P{" } else { r"\p{" });
            out.push_str(name);
            out.push('}');
        }
    }
    chars.nth(name.chars().count() + 1);
    Some(())
}

/// The Unicode blocks that patterns name in practice.
fn block_range(block: &str) -> Option<(u32, u32)> {
    Some(match block {
        "BasicLatin" => (0x00, 0x7F),
        "Latin-1Supplement" => (0x80, 0xFF),
        "LatinExtended-A" => (0x100, 0x17F),
        "LatinExtended-B" => (0x180, 0x24F),
        "IPAExtensions" => (0x250, 0x2AF),
        "SpacingModifierLetters" => (0x2B0, 0x2FF),
        "CombiningDiacriticalMarks" => (0x300, 0x36F),
        "Greek" | "GreekandCoptic" => (0x370, 0x3FF),
        "Cyrillic" => (0x400, 0x4FF),
        "Armenian" => (0x530, 0x58F),
        "Hebrew" => (0x590, 0x5FF),
        "Arabic" => (0x600, 0x6FF),
        "Devanagari" => (0x900, 0x97F),
        "Thai" => (0xE00, 0xE7F),
        "LatinExtendedAdditional" => (0x1E00, 0x1EFF),
        "GreekExtended" => (0x1F00, 0x1FFF),
        "GeneralPunctuation" => (0x2000, 0x206F),
        "CurrencySymbols" => (0x20A0, 0x20CF),
        "LetterlikeSymbols" => (0x2100, 0x214F),
        "Arrows" => (0x2190, 0x21FF),
        "MathematicalOperators" => (0x2200, 0x22FF),
        "BoxDrawing" => (0x2500, 0x257F),
        "CJKSymbolsandPunctuation" => (0x3000, 0x303F),
        "Hiragana" => (0x3040, 0x309F),
        "Katakana" => (0x30A0, 0x30FF),
        "CJKUnifiedIdeographs" => (0x4E00, 0x9FFF),
        "HangulSyllables" => (0xAC00, 0xD7A3),
        "PrivateUse" | "PrivateUseArea" => (0xE000, 0xF8FF),
        _ => return None,
    })
}

/// Nested class subtractions that are followed.
const CLASS_DEPTH_MAX: usize = 32;

/// A class after its `[`, including a subtraction `-[...]` at its end.
fn translate_class(chars: &mut Chars<'_>, out: &mut String, depth: usize) -> Option<()> {
    if depth > CLASS_DEPTH_MAX {
        return None;
    }
    let negated = chars.as_str().starts_with('^');
    if negated {
        chars.next();
    }
    let mut body = String::new();
    let mut subtracted = None;
    loop {
        match chars.next()? {
            ']' => break,
            '[' => return None,
            '\\' => translate_escape(chars, &mut body)?,
            '-' if chars.as_str().starts_with('[') => {
                chars.next();
                let mut inner = String::new();
                translate_class(chars, &mut inner, depth + 1)?;
                subtracted = Some(inner);
                // Nothing but the end may follow a subtraction.
                if chars.next() != Some(']') {
                    return None;
                }
                break;
            }
            // A hyphen between two characters is a range, else it stands for itself.
            '-' if !body.is_empty() && !chars.as_str().starts_with(']') => body.push('-'),
            c @ ('-' | '&' | '~' | '^') => body.extend(['\\', c]),
            c => body.push(c),
        }
    }
    if body.is_empty() {
        return None;
    }
    let class = format!("[{}{body}]", if negated { "^" } else { "" });
    match subtracted {
        None => out.push_str(&class),
        Some(inner) => out.push_str(&format!("[{class}--{inner}]")),
    }
    Some(())
}

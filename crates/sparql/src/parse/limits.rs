//! Limits that a query must keep before the parser sees it.
//!
//! The parser recurses over the query's structure, and tries some alternatives one after the other, so that nesting alone can exhaust
//! the stack or take forever. A cheap pass over the text, which knows only comments, strings, IRIs and brackets, refuses what no
//! sensible query has, and tells how much stack the parser needs for the rest.

use std::ops::Range;

/// Brackets nested deeper than this are refused: 300 sub-selects in each other need twice as many.
const NESTING_MAX: usize = 1_000;
/// The parser reads what follows `!`, and the arguments of REGEX, SUBSTR, REPLACE and GROUP_CONCAT, up to twice: nested in each
/// other deeper than this they are refused.
const TWICE_MAX: usize = 8;
/// More operators than this in one query are refused: where they stand in a row, each makes the parser's tree one deeper.
const OPERATORS_MAX: usize = 20_000;
/// The same for brackets outside of data, which stand around groups, expressions, lists and blank nodes.
const BRACKETS_MAX: usize = 50_000;
/// More prefix operators in a row than this are refused.
const PREFIX_MAX: usize = 32;

/// What is too much, and where.
#[derive(Debug)]
pub(super) struct TooMuch {
    pub offset: usize,
    pub message: String,
}

/// Checks the text of a query or of one operation of an update, and tells its [`Extent`]. What is `data` may have any number of operators and brackets,
/// because they are none or stand side by side.
pub(super) fn check(text: &str, data: bool) -> Result<Extent, TooMuch> {
    let bytes = text.as_bytes();
    let mut state = State { data, ..State::default() };
    for range in tokens(text) {
        let token = bytes.get(range.clone()).unwrap_or(&[]);
        state.token(token).map_err(|message| TooMuch { offset: range.start, message })?;
    }
    Ok(Extent { nesting: state.deepest, links: if data { 0 } else { state.operators + state.brackets } })
}

/// How many words, numbers, names, strings, IRIs and marks a text has, about: what the memory of its algebra and its plan grows with.
pub fn count_tokens(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut count, mut before) = (0, b' ');
    for range in tokens(text) {
        let Some(&first) = bytes.get(range.start) else { break };
        // Numbers and names beyond ASCII come byte by byte.
        let goes_on = |byte: u8| byte.is_ascii_digit() || byte >= 0x80 || matches!(byte, b'.' | b':');
        let is_blank = first.is_ascii_whitespace() || first == b'#';
        count += usize::from(!(is_blank || goes_on(first) && goes_on(before)));
        before = bytes.get(range.end - 1).copied().unwrap_or(b' ');
    }
    count
}

/// What the parser may need the stack for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    /// Brackets in each other.
    nesting: usize,
    /// Operators and brackets, each of which can make a tree a level deeper.
    links: usize,
}

impl Extent {
    /// As levels of a tree, as [`crate::stack::deep`] counts them. The parser goes through a dozen rules and more for a bracket.
    pub fn levels(self) -> usize {
        self.nesting * LEVELS_PER_BRACKET + self.links / LINKS_PER_LEVEL
    }
}

/// The stack that the parser takes for a bracket in a bracket, in levels.
const LEVELS_PER_BRACKET: usize = 4;
/// So many links of a chain take as much stack as a level: little is done with them before they are balanced.
const LINKS_PER_LEVEL: usize = 8;

/// The tokens of a query's text, as far as this pass tells them apart: comments, strings, IRIs, words, variables, `<<`, `>>`, `!=`, `||`, `&&`, `^^`, single bytes.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at;
        at = match *bytes.get(start)? {
            b'#' => line_end(bytes, start),
            quote @ (b'"' | b'\'') => string_end(bytes, start, quote),
            b'<' => iri_end(bytes, start).unwrap_or_else(|| pair_end(bytes, start)),
            b'>' | b'!' | b'|' | b'&' | b'^' => pair_end(bytes, start),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => word_end(bytes, start),
            // Without a name it is a mark of a path, and what follows a token of its own.
            b'?' | b'$' if bytes.get(start + 1).is_some_and(is_of_word) => word_end(bytes, start + 1),
            _ => start + 1,
        };
        Some(start..at)
    })
}

#[derive(Default)]
struct State {
    /// For each open bracket: how often the parser may double its work for what is inside.
    open: Vec<usize>,
    /// The sum of these.
    twice: usize,
    /// What the next bracket adds: `!`, or the name of a function, before it.
    pending: usize,
    deepest: usize,
    operators: usize,
    brackets: usize,
    prefixes: usize,
    /// All of it is data.
    data: bool,
    /// Rows of VALUES are expected, or are in the bracket of this depth.
    values: Values,
}

/// Where the rows of VALUES are.
#[derive(Default, PartialEq, Eq)]
enum Values {
    #[default]
    Nowhere,
    /// Behind the word, before the rows.
    Next,
    /// Inside of so many brackets.
    Within(usize),
}

impl State {
    fn token(&mut self, token: &[u8]) -> Result<(), String> {
        if token.iter().all(u8::is_ascii_whitespace) || token.first() == Some(&b'#') {
            return Ok(());
        }
        match token {
            b"(" | b"{" | b"[" | b"<<" => self.open(token == b"{"),
            b")" | b"}" | b"]" | b">>" => self.close(),
            b"!" => {
                self.pending += 1;
                self.operators += 1;
            }
            b"^^" => {}
            b"||" | b"&&" | b"|" | b"&" | b"+" | b"-" | b"*" | b"/" | b"^" | b"?" => {
                self.pending = 0;
                self.operators += 1;
            }
            b"," | b";" | b"." | b"=" | b"!=" | b"<" | b">" => self.pending = 0,
            word if is_keyword(word) => {
                self.operators += 1;
                if word.eq_ignore_ascii_case(b"values") {
                    self.values = Values::Next;
                }
            }
            word => self.pending += usize::from(is_read_twice(word)),
        }
        self.prefixes = if matches!(token, b"!" | b"^") { self.prefixes + 1 } else { 0 };
        self.verdict()
    }

    fn open(&mut self, is_group: bool) {
        let doubled = std::mem::take(&mut self.pending);
        self.open.push(doubled);
        self.twice += doubled;
        self.deepest = self.deepest.max(self.open.len());
        if is_group && self.values == Values::Next {
            self.values = Values::Within(self.open.len());
        }
        // Rows of data stand side by side.
        self.brackets += usize::from(!matches!(self.values, Values::Within(_)));
    }

    fn close(&mut self) {
        if self.values == Values::Within(self.open.len()) {
            self.values = Values::Nowhere;
        }
        self.pending = 0;
        self.twice = self.twice.saturating_sub(self.open.pop().unwrap_or(0));
    }

    fn verdict(&self) -> Result<(), String> {
        if self.open.len() > NESTING_MAX {
            return Err(format!("brackets are nested over {NESTING_MAX} deep"));
        }
        if self.twice + self.pending > TWICE_MAX {
            let which = "!, REGEX, SUBSTR, REPLACE and GROUP_CONCAT";
            return Err(format!("{which} are nested over {TWICE_MAX} deep"));
        }
        if self.operators > OPERATORS_MAX && !self.data {
            return Err(format!("more than {OPERATORS_MAX} operators in one query"));
        }
        if self.brackets > BRACKETS_MAX && !self.data {
            return Err(format!("more than {BRACKETS_MAX} brackets in one query"));
        }
        if self.prefixes > PREFIX_MAX {
            return Err(format!("more than {PREFIX_MAX} prefix operators in a row"));
        }
        Ok(())
    }
}

fn is_keyword(word: &[u8]) -> bool {
    [&b"union"[..], b"optional", b"minus", b"filter", b"bind", b"graph", b"service", b"values"]
        .iter()
        .any(|k| word.eq_ignore_ascii_case(k))
}

fn is_read_twice(word: &[u8]) -> bool {
    [&b"regex"[..], b"substr", b"replace", b"group_concat"].iter().any(|f| word.eq_ignore_ascii_case(f))
}

/// The end of `<<`, `>>`, `!=`, `||`, `&&`, `^^` or of their first byte.
fn pair_end(bytes: &[u8], at: usize) -> usize {
    let pair = matches!(bytes.get(at..at + 2), Some(b"<<" | b">>" | b"!=" | b"||" | b"&&" | b"^^"));
    at + if pair { 2 } else { 1 }
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or(&[]);
    rest.iter().position(|b| matches!(b, b'\n' | b'\r')).map_or(bytes.len(), |n| at + n)
}

fn word_end(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or(&[]);
    at + rest.iter().take_while(|b| is_of_word(b)).count().max(usize::from(!rest.is_empty()))
}

fn is_of_word(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii()
}

/// The end of an IRI that starts here; none where `<` is an operator.
fn iri_end(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at + 1..)?;
    let end = rest
        .iter()
        .position(|b| matches!(b, 0..=b' ' | b'<' | b'>' | b'"' | b'{' | b'}' | b'|' | b'^' | b'`'))?;
    (rest.get(end) == Some(&b'>')).then_some(at + end + 2)
}

/// The end of a string that starts here; the end of the text (or line) where it never closes.
fn string_end(bytes: &[u8], at: usize, quote: u8) -> usize {
    let long = bytes.get(at..at + 3) == Some(&[quote; 3][..]);
    let mut i = at + if long { 3 } else { 1 };
    while let Some(byte) = bytes.get(i).copied() {
        match byte {
            b'\\' => i += 2,
            b if b == quote && !long => return i + 1,
            b if b == quote && bytes.get(i..i + 3) == Some(&[quote; 3][..]) => return i + 3,
            b'\n' | b'\r' if !long => return i,
            _ => i += 1,
        }
    }
    bytes.len()
}

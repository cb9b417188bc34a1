//! The tokens of N3, each with its place.

use super::wrong::Wrong;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `<...>`
    Iri,
    /// `p:name`
    Name,
    /// `_:label`
    Blank,
    /// `?name`
    Variable,
    /// A text in quotes, without what may follow.
    Text,
    /// A number.
    Number,
    /// A word without a colon.
    Word,
    /// `@word`
    At,
    /// Anything else: brackets, marks, arrows.
    Mark,
    /// The end.
    End,
}

/// A token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub kind: Kind,
    pub text: &'a str,
    pub start: usize,
}

impl Token<'_> {
    pub fn is(&self, mark: &str) -> bool {
        self.kind == Kind::Mark && self.text == mark
    }
}

/// All tokens of a text, the end behind them.
pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, Wrong> {
    let (mut tokens, mut at) = (Vec::new(), 0);
    while let Some(start) = next_start(text, at) {
        let rest = &text[start..];
        let (kind, length) = token(rest).map_err(|message| Wrong { at: start, message })?;
        tokens.push(Token { kind, text: &rest[..length], start });
        at = start + length;
    }
    tokens.push(Token { kind: Kind::End, text: "", start: text.len() });
    Ok(tokens)
}

/// Where the next token begins, behind spaces and comments.
fn next_start(text: &str, mut at: usize) -> Option<usize> {
    loop {
        let rest = &text[at..];
        at += rest.len() - rest.trim_start().len();
        let rest = &text[at..];
        match rest.chars().next()? {
            '#' => at += rest.find('\n').unwrap_or(rest.len()),
            _ => return Some(at),
        }
    }
}

/// What a text begins with, and how long that is.
fn token(rest: &str) -> Result<(Kind, usize), String> {
    let first = rest.chars().next().unwrap_or(' ');
    for mark in ["=>", "<=", "^^"] {
        if rest.starts_with(mark) {
            return Ok((Kind::Mark, mark.len()));
        }
    }
    match first {
        '<' => {
            let end = rest.find(['>', '\n', ' ', '"', '{', '}']).filter(|end| rest[*end..].starts_with('>'));
            end.map(|end| (Kind::Iri, end + 1)).ok_or_else(|| "this IRI has no end: > is missing".to_owned())
        }
        '"' | '\'' => string(rest, first),
        '?' => match word(&rest[1..]) {
            0 => Err("the name of a variable is missing".to_owned()),
            length => Ok((Kind::Variable, length + 1)),
        },
        '@' => match word(&rest[1..]) {
            0 => Err("what is behind @ is missing".to_owned()),
            length => Ok((Kind::At, length + 1)),
        },
        '0'..='9' => Ok((Kind::Number, number(rest))),
        '+' | '-' | '.' if number(rest) > 0 => Ok((Kind::Number, number(rest))),
        '{' | '}' | '[' | ']' | '(' | ')' | '.' | ';' | ',' | '=' | '!' | '^' => Ok((Kind::Mark, 1)),
        _ => name(rest, first),
    }
}

fn name(rest: &str, first: char) -> Result<(Kind, usize), String> {
    let length = match first {
        ':' => 0,
        _ => word(rest),
    };
    if !rest[length..].starts_with(':') {
        return match length {
            0 => Err(format!("nothing begins with {first:?}")),
            length => Ok((Kind::Word, length)),
        };
    }
    let local = local(&rest[length + 1..]);
    match &rest[..length] {
        "_" if local == 0 => Err("the label of a blank node is missing".to_owned()),
        "_" => Ok((Kind::Blank, length + 1 + local)),
        _ => Ok((Kind::Name, length + 1 + local)),
    }
}

/// How long a word is that a text begins with.
fn word(rest: &str) -> usize {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    rest.find(|c| !is_part(c)).unwrap_or(rest.len())
}

/// How long the part of a name behind its colon is: dots are within it only.
fn local(rest: &str) -> usize {
    let (mut end, mut chars) = (0, rest.char_indices());
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some((next, escaped)) => end = next + escaped.len_utf8(),
                None => break,
            },
            '.' => {}
            c if c.is_alphanumeric() || matches!(c, '_' | '-' | ':' | '%') => end = at + c.len_utf8(),
            _ => break,
        }
    }
    end
}

/// How long a number is; 0: it is none.
fn number(rest: &str) -> usize {
    let digits = |from: usize| rest[from..].bytes().take_while(u8::is_ascii_digit).count();
    let sign = usize::from(rest.starts_with(['+', '-']));
    let whole = digits(sign);
    let mut end = sign + whole;
    if rest[end..].starts_with('.') {
        let part = digits(end + 1);
        if part > 0 {
            end += 1 + part;
        }
    }
    if end == sign {
        return 0;
    }
    if rest[end..].starts_with(['e', 'E']) {
        let sign = usize::from(rest[end + 1..].starts_with(['+', '-']));
        let power = digits(end + 1 + sign);
        if power > 0 {
            end += 1 + sign + power;
        }
    }
    end
}

/// A text in quotes of one kind, one or three.
fn string(rest: &str, quote: char) -> Result<(Kind, usize), String> {
    let three = String::from(quote).repeat(3);
    let is_long = rest.starts_with(&three);
    let end_mark = if is_long { three } else { String::from(quote) };
    let (begin, mut is_escaped) = (end_mark.len(), false);
    for (at, c) in rest[begin..].char_indices() {
        let place = begin + at;
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '\n' | '\r' if !is_long => break,
            _ if rest[place..].starts_with(&end_mark) => return Ok((Kind::Text, place + end_mark.len())),
            _ => {}
        }
    }
    Err(format!("this text has no end: {end_mark} is missing"))
}

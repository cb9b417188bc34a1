//! Text to tokens (SPARQL 1.2 section 19.8, terminals). White space and comments are left out.

use crate::chars;
use crate::diagnostic::{DIAGNOSTICS_MAX, Diagnostic};
use crate::token::{Kind, TOKEN_BYTES_MAX, Token};

/// Marks of several characters, the longest first.
const MARKS: [&str; 12] = ["<<(", ")>>", "<<", ">>", "{|", "|}", "&&", "||", "^^", "!=", "<=", ">="];

/// The tokens of a text, an end after the last, and what can be no token.
pub(crate) fn tokens(text: &str) -> (Vec<Token>, Vec<Diagnostic>) {
    let mut lexer = Lexer { text, at: 0, problems: Vec::new() };
    // Texts have a token for four to eight bytes.
    let mut tokens = Vec::with_capacity(text.len() / 8 + 8);
    while let Some(token) = lexer.next() {
        tokens.push(token);
    }
    let end = tokens.last().map_or(0, Token::end);
    tokens.push(Token::new(Kind::End, end, end));
    // The tree is there until the algebra is.
    tokens.shrink_to_fit();
    (tokens, lexer.problems)
}

/// How many tokens a text has; nothing is kept of them.
pub fn count_tokens(text: &str) -> usize {
    let mut lexer = Lexer { text, at: 0, problems: Vec::new() };
    let mut count = 0;
    while lexer.next().is_some() {
        count += 1;
    }
    count
}

const INVISIBLE: &str =
    "write a usual space instead; such characters come with text that was copied from a page";

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    problems: Vec<Diagnostic>,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn next(&mut self) -> Option<Token> {
        self.skip_blanks();
        let start = self.at;
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let second = bytes.get(1).copied().unwrap_or(b' ');
        let (kind, length) = match *bytes.first()? {
            quote @ (b'"' | b'\'') => {
                let (kind, length) = self.string(quote);
                if kind == Kind::String {
                    self.escapes(length);
                }
                (kind, length)
            }
            b'<' => self.iri(),
            b'?' | b'$' => match variable_length(&rest[1..]) {
                0 => (Kind::Mark, 1),
                length => (Kind::Variable, 1 + length),
            },
            b'_' if second == b':' => match label_length(&rest[2..]) {
                0 => self.mark('_'),
                length => (Kind::Blank, 2 + length),
            },
            b':' => (Kind::Name, 1 + local_length(&rest[1..])),
            b'@' if second.is_ascii_alphabetic() => (Kind::LanguageTag, 1 + tag_length(&rest[1..])),
            b'0'..=b'9' => (Kind::Number, number_length(rest)),
            b'.' if second.is_ascii_digit() => (Kind::Number, number_length(rest)),
            b'{' | b'}' | b'(' | b'[' | b']' | b';' | b',' if second != b'|' => (Kind::Mark, 1),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => name(rest),
            byte if byte < 0x80 => self.mark(char::from(byte)),
            _ => match rest.chars().next()? {
                first if first.is_alphabetic() || chars::is_base(first) => name(rest),
                first => self.mark(first),
            },
        };
        self.at += length.max(1);
        if length > TOKEN_BYTES_MAX {
            self.at = start;
            self.problem(1, "this is too long", "shorten it, or load it from a file");
            self.at = self.text.len();
            return Some(Token::new(Kind::Bad, start, start + 1));
        }
        Some(Token::new(kind, start, self.at))
    }

    fn skip_blanks(&mut self) {
        let bytes = self.text.as_bytes();
        loop {
            let Some(&first) = bytes.get(self.at) else { return };
            match first {
                b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                b'#' => {
                    let tail = &bytes[self.at..];
                    self.at += tail.iter().position(|b| matches!(b, b'\n' | b'\r')).unwrap_or(tail.len());
                }
                0..0x80 => return,
                _ => match self.rest().chars().next() {
                    Some(c @ ('\u{a0}' | '\u{feff}' | '\u{200b}' | '\u{202f}' | '\u{3000}')) => {
                        let what = if c == '\u{a0}' { "a no-break space" } else { "an invisible character" };
                        let what = format!("{what} (U+{:04X})", u32::from(c));
                        self.problem(c.len_utf8(), &what, INVISIBLE);
                        self.at += c.len_utf8();
                    }
                    _ => return,
                },
            }
        }
    }

    fn problem(&mut self, length: usize, message: &str, help: &str) {
        self.tell(Diagnostic::new(self.at..self.at + length, message).help(help));
    }

    /// Keeps a problem, the first ones only: a text may be made of nothing else.
    fn tell(&mut self, problem: Diagnostic) {
        if self.problems.len() < DIAGNOSTICS_MAX {
            self.problems.push(problem);
        }
    }

    fn string(&mut self, quote: u8) -> (Kind, usize) {
        let rest = self.rest();
        let long = rest.as_bytes().starts_with(&[quote; 3]);
        let quotes = if long { 3 } else { 1 };
        if let Some(length) = end_of_string(&rest.as_bytes()[quotes..], quote, long) {
            return (Kind::String, quotes + length);
        }
        let quote = char::from(quote);
        let thrice = [quote; 3].iter().collect::<String>();
        if long {
            self.problem(3, "this text is never closed", &format!("close it with {thrice}"));
            return (Kind::Bad, rest.len());
        }
        let help =
            format!("close it with {quote}; a text of several lines stands between {thrice} and {thrice}");
        self.problem(1, "this text is not closed on its line", &help);
        (Kind::Bad, rest.find('\n').unwrap_or(rest.len()))
    }

    /// Tells of the first escape that there is not.
    fn escapes(&mut self, length: usize) {
        let text = self.rest().get(..length).unwrap_or("");
        let mut at = 0;
        while let Some(found) = text.get(at..).and_then(|rest| rest.find('\\')) {
            let start = self.at + at + found;
            let tail = text.get(at + found + 1..).unwrap_or("");
            let Some(escaped) = tail.chars().next() else { return };
            at += found + 1 + escaped.len_utf8();
            let digits = match escaped {
                't' | 'b' | 'n' | 'r' | 'f' | '\\' | '"' | '\'' => continue,
                'u' => 4,
                'U' => 8,
                _ => {
                    let message = format!("`\\{escaped}` means nothing in a text");
                    let help = format!("a backslash is written twice, also in patterns: \\\\{escaped}");
                    let span = start..start + 1 + escaped.len_utf8();
                    self.tell(Diagnostic::new(span, message).help(help));
                    return;
                }
            };
            if chars::escaped(&tail[1..], digits).is_none() {
                return self.not_a_character(start, digits);
            }
        }
    }

    fn not_a_character(&mut self, start: usize, digits: usize) {
        let letter = if digits == 4 { 'u' } else { 'U' };
        let message = format!("`\\{letter}` without the number of a character");
        let help = format!("{digits} digits of base 16 follow it; a backslash is written twice: \\\\");
        self.tell(Diagnostic::new(start..start + 2, message).help(help));
    }

    fn iri(&mut self) -> (Kind, usize) {
        let rest = self.rest();
        let ends = |c: char| c <= ' ' || matches!(c, '<' | '>' | '"' | '{' | '}' | '|' | '^' | '`' | '\\');
        // Escapes of characters are taken for what they stand for.
        let mut length = 1;
        loop {
            let tail = rest.get(length..).unwrap_or("");
            let stop = tail.find(ends).map_or(rest.len(), |at| length + at);
            match rest.get(stop..).and_then(|tail| tail.chars().next()) {
                Some('>') => return (Kind::Iri, stop + 1),
                Some('\\') if rest.get(stop + 1..).is_some_and(|tail| tail.starts_with(['u', 'U'])) => {
                    length = stop + 2;
                    let digits = if rest[stop + 1..].starts_with('u') { 4 } else { 8 };
                    if chars::escaped(&rest[length..], digits).is_none() {
                        self.not_a_character(self.at + stop, digits);
                    }
                }
                Some(found) if has_scheme(&rest[1..]) => return self.broken_iri(stop, found),
                _ => return self.mark('<'),
            }
        }
    }

    /// `<` with a scheme behind it, and a character that no IRI has.
    fn broken_iri(&mut self, stop: usize, found: char) -> (Kind, usize) {
        let rest = self.rest();
        if self.problems.len() == DIAGNOSTICS_MAX {
            return (Kind::Bad, stop);
        }
        let line = rest.find('\n').unwrap_or(rest.len());
        let (message, help) = match found {
            '\n' | '\r' => ("this IRI is not closed on its line".to_owned(), "close it with >".to_owned()),
            ' ' if rest[..line].contains('>') => (
                "there is a space in this IRI".to_owned(),
                "write it as %20, or close the IRI with > before it".to_owned(),
            ),
            ' ' | '\t' => ("this IRI is not closed".to_owned(), "close it with >".to_owned()),
            other => {
                (format!("an IRI may not contain {other}"), format!("write it as %{:02X}", u32::from(other)))
            }
        };
        self.problem(stop, &message, &help);
        let closed = rest[..line].find('>').filter(|_| !matches!(found, '\n' | '\r'));
        (Kind::Iri, closed.map_or(stop, |at| at + 1))
    }

    fn mark(&mut self, first: char) -> (Kind, usize) {
        let rest = self.rest();
        if let Some(mark) = MARKS.iter().find(|mark| rest.starts_with(**mark)) {
            return (Kind::Mark, mark.len());
        }
        let length = first.len_utf8();
        match first {
            '“' | '”' | '„' | '‟' | '«' | '»' | '‘' | '’' | '‚' | '`' | '´' => {
                let ends = ['“', '”', '‟', '»', '‘', '’', '`', '´', '\n'];
                let end = rest[length..].find(ends).map_or(rest.len(), |at| length + at);
                let end = end + rest[end..].chars().next().filter(|c| *c != '\n').map_or(0, char::len_utf8);
                self.problem(
                    end,
                    &format!("{first} does not quote text"),
                    "use straight quotes: \"...\" or '...'",
                );
                (Kind::String, end)
            }
            '{' | '}' | '(' | ')' | '[' | ']' | '.' | ';' | ',' | '|' | '/' | '^' | '?' | '*' | '+' | '!'
            | '-' | '=' | '<' | '>' | '~' | '&' | '%' | '@' | '$' => (Kind::Mark, length),
            '\\' if rest.starts_with("\\u") || rest.starts_with("\\U") => {
                let digits = if rest.starts_with("\\u") { 4 } else { 8 };
                let Some(escaped) = chars::escaped(rest.get(2..).unwrap_or(""), digits) else {
                    self.not_a_character(self.at, digits);
                    return (Kind::Bad, 2);
                };
                let help = if escaped.is_control() {
                    "SPARQL 1.2 has escapes of characters in IRIs and texts only".to_owned()
                } else {
                    format!("SPARQL 1.2 has escapes of characters in IRIs and texts only: write {escaped}")
                };
                self.problem(2 + digits, "an escape outside of IRIs and texts", &help);
                (Kind::Bad, 2 + digits)
            }
            '\\' => {
                self.problem(length, "a backslash stands in names and texts only", "leave it out");
                (Kind::Bad, length)
            }
            other => {
                self.problem(
                    length,
                    &format!("{other:?} has no meaning here"),
                    "leave it out, or put it in quotes if it is text",
                );
                (Kind::Bad, length)
            }
        }
    }
}

/// Where a string ends, its quotes included.
fn end_of_string(bytes: &[u8], quote: u8, long: bool) -> Option<usize> {
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'\n' | b'\r' if !long => return None,
            _ if byte != quote => at += 1,
            _ if !long => return Some(at + 1),
            _ if bytes[at..].starts_with(&[quote; 3]) => return Some(at + 3),
            _ => at += 1,
        }
    }
    None
}

/// Whether a text begins as an IRI that is not relative does.
/// Whether an IRI with a usual scheme begins here, or any that goes on with a slash.
fn has_scheme(text: &str) -> bool {
    let scheme = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')))
        .unwrap_or(text.len());
    // Else it is more likely `<` before a prefixed name.
    let is_sure = ["urn", "mailto", "file", "data", "tag", "tel", "info", "doi"].contains(&&text[..scheme]);
    scheme > 1 && text[scheme..].starts_with(if is_sure { ":" } else { ":/" })
}

fn variable_length(text: &str) -> usize {
    if !text.chars().next().is_some_and(chars::begins_variable) {
        return 0;
    }
    chars::length_of(text, chars::is_of_variable)
}

/// `en`, `en-GB`, `ar--rtl`.
fn tag_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let run = |from: usize, of: fn(&u8) -> bool| bytes[from..].iter().take_while(|byte| of(byte)).count();
    let mut length = run(0, u8::is_ascii_alphabetic);
    while bytes.get(length) == Some(&b'-') {
        let part = run(length + 1, u8::is_ascii_alphanumeric);
        if part == 0 {
            break;
        }
        length += 1 + part;
    }
    if bytes[length..].starts_with(b"--") {
        let direction = run(length + 2, u8::is_ascii_alphabetic);
        if direction > 0 {
            length += 2 + direction;
        }
    }
    length
}

/// The label of a blank node: dots may be in it, not at its ends.
fn label_length(text: &str) -> usize {
    if !text.chars().next().is_some_and(chars::begins_variable) {
        return 0;
    }
    let length = chars::length_of(text, |c| c == '.' || chars::is_of_name(c));
    text[..length].trim_end_matches('.').len()
}

/// A local name: dots may be in it, not at its ends.
fn local_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut length) = (0, 0);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b':' => at += 1,
            b'-' if at > 0 => at += 1,
            b'.' if at > 0 => {
                at += 1;
                continue;
            }
            b'\\' if bytes.get(at + 1).is_some_and(|byte| chars::is_escaped_in_name(*byte)) => at += 2,
            b'%' if bytes.get(at + 1..at + 3).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit)) => {
                at += 3
            }
            0..0x80 => break,
            _ => match text.get(at..).and_then(|rest| rest.chars().next()) {
                Some(c) if chars::is_base(c) || at > 0 && chars::is_of_name(c) => at += c.len_utf8(),
                _ => break,
            },
        }
        length = at;
    }
    length
}

fn number_length(text: &str) -> usize {
    let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let mut length = digits(text);
    let fraction = text[length..].strip_prefix('.').map(digits);
    let exponent_at = |at: usize| {
        let tail = text.get(at..)?.strip_prefix(['e', 'E'])?;
        let unsigned = tail.strip_prefix(['+', '-']).unwrap_or(tail);
        let count = digits(unsigned);
        (count > 0).then(|| at + 1 + (tail.len() - unsigned.len()) + count)
    };
    if let Some(fraction) = fraction {
        let after = length + 1 + fraction;
        if fraction > 0 || exponent_at(after).is_some() {
            length = after;
        }
    }
    exponent_at(length).unwrap_or(length)
}

/// A word, or a name with a prefix.
fn name(text: &str) -> (Kind, usize) {
    let word = text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let is_name = |prefix: usize| (Kind::Name, prefix + 1 + local_length(&text[prefix + 1..]));
    match text.as_bytes().get(word) {
        Some(b':') if !text.starts_with('_') => return is_name(word),
        Some(b'-' | b'.' | 0x80..) => {}
        _ => return (Kind::Word, word),
    }
    let prefix = chars::length_of(text, |c| c == '.' || chars::is_of_name(c));
    if text[prefix..].starts_with(':')
        && !text[..prefix].ends_with('.')
        && text.chars().next().is_some_and(chars::is_base)
    {
        return is_name(prefix);
    }
    (Kind::Word, chars::length_of(text, |c| c.is_alphanumeric() || c == '_'))
}

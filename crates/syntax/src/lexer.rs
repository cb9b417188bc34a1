//! Text to tokens (SPARQL 1.2 section 19.8, terminals). White space and comments are left out.

use crate::diagnostic::Diagnostic;
use crate::token::{Kind, Token};

/// Marks of several characters, the longest first.
const MARKS: [&str; 12] = ["<<(", ")>>", "<<", ">>", "{|", "|}", "&&", "||", "^^", "!=", "<=", ">="];

/// The tokens of a text, an end after the last, and what can be no token.
pub(crate) fn tokens(text: &str) -> (Vec<Token>, Vec<Diagnostic>) {
    let mut lexer = Lexer { text, at: 0, problems: Vec::new() };
    let mut tokens = Vec::new();
    while let Some(token) = lexer.next() {
        tokens.push(token);
    }
    let end = tokens.last().map_or(0, |token: &Token| token.span.end);
    tokens.push(Token { kind: Kind::End, span: end..end });
    (tokens, lexer.problems)
}

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
        let first = rest.chars().next()?;
        let second = rest.chars().nth(1).unwrap_or(' ');
        let (kind, length) = match first {
            '"' | '\'' => {
                let (kind, length) = self.string(first);
                if kind == Kind::String {
                    self.escapes(length);
                }
                (kind, length)
            }
            '<' => self.iri(),
            '?' | '$' if is_name_char(second) && second != '-' => {
                (Kind::Variable, 1 + variable_length(&rest[1..]))
            }
            '_' if second == ':' => (Kind::Blank, 2 + local_length(&rest[2..])),
            ':' => (Kind::Name, 1 + local_length(&rest[1..])),
            '@' if second.is_ascii_alphabetic() => (Kind::LanguageTag, 1 + tag_length(&rest[1..])),
            '0'..='9' => (Kind::Number, number_length(rest)),
            '.' if second.is_ascii_digit() => (Kind::Number, number_length(rest)),
            _ if first == '_' || first.is_alphabetic() => name(rest),
            _ => self.mark(first),
        };
        self.at += length;
        Some(Token { kind, span: start..self.at })
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let Some(first) = rest.chars().next() else { return };
            let length = match first {
                '#' => rest.find(['\n', '\r']).unwrap_or(rest.len()),
                ' ' | '\t' | '\r' | '\n' => 1,
                '\u{a0}' | '\u{feff}' | '\u{200b}' | '\u{202f}' | '\u{3000}' => {
                    let what = if first == '\u{a0}' { "a no-break space" } else { "an invisible character" };
                    self.problem(first.len_utf8(), &format!("{what} (U+{:04X})", u32::from(first)), "write a usual space instead; such characters come with text that was copied from a page");
                    first.len_utf8()
                }
                _ => return,
            };
            self.at += length;
        }
    }

    fn problem(&mut self, length: usize, message: &str, help: &str) {
        self.problems.push(Diagnostic::new(self.at..self.at + length, message).help(help));
    }

    fn string(&mut self, quote: char) -> (Kind, usize) {
        let rest = self.rest();
        let long = [quote; 3].iter().collect::<String>();
        if rest.starts_with(&long) {
            return match end_of_string(&rest[3..], &long, true) {
                Some(length) => (Kind::String, 3 + length),
                None => {
                    self.problem(3, "this text is never closed", &format!("close it with {long}"));
                    (Kind::Bad, rest.len())
                }
            };
        }
        let end = quote.to_string();
        match end_of_string(&rest[1..], &end, false) {
            Some(length) => (Kind::String, 1 + length),
            None => {
                self.problem(
                    1,
                    "this text is not closed on its line",
                    &format!(
                        "close it with {quote}; a text of several lines stands between {long} and {long}"
                    ),
                );
                (Kind::Bad, rest.find('\n').unwrap_or(rest.len()))
            }
        }
    }

    /// Tells of the first escape that there is not.
    fn escapes(&mut self, length: usize) {
        let text = self.rest().get(..length).unwrap_or("");
        let mut chars = text.char_indices();
        while let Some((at, c)) = chars.next() {
            if c != '\\' {
                continue;
            }
            let Some((_, escaped)) = chars.next() else { return };
            if !matches!(escaped, 't' | 'b' | 'n' | 'r' | 'f' | '\\' | '"' | '\'' | 'u' | 'U') {
                let start = self.at + at;
                let message = format!("`\\{escaped}` means nothing in a text");
                let help = format!("a backslash is written twice, also in patterns: \\\\{escaped}");
                self.problems
                    .push(Diagnostic::new(start..start + 1 + escaped.len_utf8(), message).help(help));
                return;
            }
        }
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
                    length = stop + 2
                }
                Some(found) if has_scheme(&rest[1..]) => return self.broken_iri(stop, found),
                _ => return self.mark('<'),
            }
        }
    }

    /// `<` with a scheme behind it, and a character that no IRI has.
    fn broken_iri(&mut self, stop: usize, found: char) -> (Kind, usize) {
        let rest = self.rest();
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
fn end_of_string(text: &str, quotes: &str, lines: bool) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'\n' | b'\r' if !lines => return None,
            _ if bytes[at..].starts_with(quotes.as_bytes()) => {
                at += quotes.len();
                // Quotes before the last three belong to the text.
                while lines && bytes.get(at) == quotes.as_bytes().first() {
                    at += 1;
                }
                return Some(at);
            }
            _ => at += 1,
        }
    }
    None
}

/// Whether a text begins as an IRI that is not relative does.
fn has_scheme(text: &str) -> bool {
    let scheme = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')))
        .unwrap_or(text.len());
    scheme > 1 && text[scheme..].starts_with(':')
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}'..='\u{2040}')
}

fn variable_length(text: &str) -> usize {
    text.find(|c: char| !is_name_char(c) || c == '-').unwrap_or(text.len())
}

fn tag_length(text: &str) -> usize {
    text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).unwrap_or(text.len())
}

/// A local name: dots may be in it, not at its end.
fn local_length(text: &str) -> usize {
    let mut length = 0;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '.' => {}
            '\\' => {
                let Some((at, c)) = chars.next() else { break };
                length = at + c.len_utf8();
            }
            ':' | '%' => length = at + 1,
            c if is_name_char(c) => length = at + c.len_utf8(),
            _ => break,
        }
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
    let prefix = text.find(|c: char| !(is_name_char(c) || c == '.')).unwrap_or(text.len());
    if text[prefix..].starts_with(':') && !text[..prefix].ends_with('.') {
        return (Kind::Name, prefix + 1 + local_length(&text[prefix + 1..]));
    }
    let word = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    (Kind::Word, word)
}

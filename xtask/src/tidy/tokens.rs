//! Rust source as tokens, for the rules that need more than lines: comments and literals are out of the way, and so is what only
//! tests compile.

/// What a token is, as far as the rules tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Word,
    /// One character, or one of `::`, `->`, `=>`.
    Sign,
    Literal,
    /// A line of outer documentation, with its `///`.
    Doc,
}

/// A token and its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    pub kind: Kind,
    pub text: &'a str,
    pub line: usize,
}

impl Token<'_> {
    pub fn is(&self, text: &str) -> bool {
        self.text == text && matches!(self.kind, Kind::Word | Kind::Sign)
    }
}

/// The tokens of a source, without the items under `#[cfg(test)]`.
pub fn product_tokens(text: &str) -> Vec<Token<'_>> {
    let all = tokens(text);
    let mut kept = Vec::with_capacity(all.len());
    let mut at = 0;
    while let Some(token) = all.get(at) {
        if is_test_attribute(&all[at..]) {
            at = after_item(&all, at);
        } else {
            kept.push(*token);
            at += 1;
        }
    }
    kept
}

/// Whether the tokens begin with `#[cfg(test)]` or `#[cfg(all(test, …))]`.
fn is_test_attribute(tokens: &[Token]) -> bool {
    let begins = |words: &[&str]| {
        tokens.len() >= words.len() && tokens.iter().zip(words).all(|(token, word)| token.is(word))
    };
    begins(&["#", "[", "cfg", "(", "test", ")", "]"]) || begins(&["#", "[", "cfg", "(", "all", "(", "test"])
}

/// The place after the item whose attributes begin at `at`: past its `;`, or past its braces.
fn after_item(tokens: &[Token], mut at: usize) -> usize {
    let mut depth = 0_usize;
    while let Some(token) = tokens.get(at) {
        at += 1;
        if token.kind != Kind::Sign {
            continue;
        }
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            "}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at;
                }
            }
            ";" | "," if depth == 0 => return at,
            _ => {}
        }
    }
    at
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut scanner = Scanner { text, at: 0, line: 1, tokens: Vec::new() };
    while scanner.at < text.len() {
        scanner.step();
    }
    scanner.tokens
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    tokens: Vec<Token<'a>>,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Takes `length` bytes as a token.
    fn take(&mut self, kind: Kind, length: usize) {
        let text = &self.rest()[..length];
        self.tokens.push(Token { kind, text, line: self.line });
        self.skip(length);
    }

    fn skip(&mut self, length: usize) {
        self.line += self.rest()[..length].matches('\n').count();
        self.at += length;
    }

    fn step(&mut self) {
        let rest = self.rest();
        let line_end = rest.find('\n').unwrap_or(rest.len());
        let Some(first) = rest.chars().next() else { return };
        if first.is_whitespace() {
            self.skip(first.len_utf8());
        } else if rest.starts_with("///") && !rest.starts_with("////") {
            self.take(Kind::Doc, line_end);
        } else if rest.starts_with("//") {
            self.skip(line_end);
        } else if rest.starts_with("/*") {
            self.skip(block_comment(rest));
        } else if let Some(length) = string(rest) {
            self.take(Kind::Literal, length);
        } else if first == '\'' {
            let length = character_or_lifetime(rest);
            self.take(Kind::Literal, length);
        } else if first.is_alphanumeric() || first == '_' {
            let raw = if rest.starts_with("r#") { 2 } else { 0 };
            let word = &rest[raw..];
            let length = word.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(word.len());
            self.take(if first.is_numeric() { Kind::Literal } else { Kind::Word }, raw + length);
        } else {
            let long = ["::", "->", "=>"].iter().any(|sign| rest.starts_with(sign));
            self.take(Kind::Sign, if long { 2 } else { first.len_utf8() });
        }
    }
}

fn block_comment(rest: &str) -> usize {
    let (mut at, mut depth) = (0, 0_usize);
    while at < rest.len() {
        let here = &rest.as_bytes()[at..];
        if here.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// The length of a string literal at the start, of any prefix and with any number of `#`.
fn string(rest: &str) -> Option<usize> {
    let prefix = ["br", "cr", "b", "c", "r", ""].into_iter().find(|prefix| {
        let after = rest.strip_prefix(prefix).unwrap_or_default();
        let raw = prefix.ends_with('r');
        after.starts_with('"')
            || (raw && after.trim_start_matches('#').starts_with('"') && after.starts_with('#'))
    })?;
    let after = &rest[prefix.len()..];
    if prefix.ends_with('r') {
        let hashes = after.len() - after.trim_start_matches('#').len();
        let end = format!("\"{}", "#".repeat(hashes));
        let body = prefix.len() + hashes + 1;
        return Some(rest[body..].find(&end).map_or(rest.len(), |at| body + at + end.len()));
    }
    let mut escaped = false;
    for (at, byte) in rest.bytes().enumerate().skip(prefix.len() + 1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    Some(rest.len())
}

/// The length of `'x'`, `'\n'` or `'lifetime`.
fn character_or_lifetime(rest: &str) -> usize {
    let mut characters = rest.char_indices().skip(1);
    match characters.next() {
        Some((_, '\\')) => rest[3.min(rest.len())..].find('\'').map_or(rest.len(), |at| 3 + at + 1),
        Some(_) => match characters.next() {
            Some((at, '\'')) => at + 1,
            _ => 1 + rest[1..].find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len() - 1),
        },
        None => 1,
    }
}

//! What stands at a place of a text: what was typed so far, and what would be replaced.

use lode_syntax::{Token, TokenKind};

/// What was typed before a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fragment {
    /// Nothing that goes on here.
    Nothing,
    /// Letters.
    Word(String),
    /// A prefix, and what is behind the colon.
    Name(String, String),
    /// An IRI without its brackets.
    Iri(String),
    /// A variable without its sign.
    Variable(String),
    /// A string without its quote.
    Text(String),
}

/// What was typed, and its bytes with what follows of the same word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Typed {
    pub from: usize,
    pub to: usize,
    pub fragment: Fragment,
}

impl Typed {
    fn nothing(at: usize) -> Self {
        Self { from: at, to: at, fragment: Fragment::Nothing }
    }
}

/// What was typed before the byte `at`; none where nothing can be completed, as in comments and numbers.
pub(crate) fn typed(text: &str, tokens: &[Token], at: usize) -> Option<Typed> {
    let next = tokens.partition_point(|token| token.end() < at);
    let token = tokens.get(next).filter(|token| token.start() < at && token.kind() != TokenKind::End);
    let before = next.checked_sub(1).and_then(|before| tokens.get(before)).map_or(0, Token::end);
    let Some(token) = token else {
        return (!is_in_comment(text.get(before..at)?)).then(|| Typed::nothing(at));
    };
    let written = text.get(token.start()..at)?;
    let whole = |fragment| Some(Typed { from: token.start(), to: token.end(), fragment });
    if token.kind() != TokenKind::String
        && let Some(iri) = open_iri(text, token, at)
    {
        return Some(iri);
    }
    match token.kind() {
        TokenKind::Word => whole(Fragment::Word(written.to_owned())),
        TokenKind::Name => {
            let (prefix, local) = written.split_once(':').unwrap_or((written, ""));
            // Before the colon a prefix is meant, behind it a name.
            if written.contains(':') {
                whole(Fragment::Name(prefix.to_owned(), local.replace('\\', "")))
            } else {
                whole(Fragment::Word(prefix.to_owned()))
            }
        }
        TokenKind::Variable => whole(Fragment::Variable(written.get(1..)?.to_owned())),
        TokenKind::String if at < token.end() => whole(Fragment::Text(unquoted(written))),
        TokenKind::Bad if written.starts_with(['"', '\'']) => {
            Some(Typed { from: token.start(), to: at, fragment: Fragment::Text(unquoted(written)) })
        }
        // A sign alone begins a variable.
        TokenKind::Mark | TokenKind::Bad if matches!(written, "?" | "$") => {
            whole(Fragment::Variable(String::new()))
        }
        TokenKind::Mark => Some(Typed::nothing(at)),
        TokenKind::Iri | TokenKind::String if at == token.end() => Some(Typed::nothing(at)),
        _ => None,
    }
}

/// Whether what is between a token and a place ends in a comment.
fn is_in_comment(gap: &str) -> bool {
    gap.rsplit('\n').next().is_some_and(|line| line.contains('#'))
}

/// An IRI that was begun, closed or not.
fn open_iri(text: &str, token: &Token, at: usize) -> Option<Typed> {
    let before = text.get(..at)?;
    let no_iri = |c: char| c.is_whitespace() || c.is_control() || "<>\"{}|^`\\".contains(c);
    let start = before.rfind(no_iri)?;
    let is_open = before.get(start..)?.starts_with('<') && !before.get(..start)?.ends_with('<');
    let written = before.get(start + 1..)?;
    if !is_open || written.starts_with('=') {
        return None;
    }
    // Where it was not closed, the lexer takes all up to the end of another one for it.
    let is_closed = token.kind() == TokenKind::Iri
        && token.start() == start
        && text.get(at..token.end()).is_some_and(|rest| !rest.trim_end_matches('>').contains(no_iri));
    let to = if is_closed { token.end() } else { at };
    Some(Typed { from: start, to, fragment: Fragment::Iri(written.to_owned()) })
}

/// A string without its first quotes.
fn unquoted(written: &str) -> String {
    let quote = written.chars().next().unwrap_or('"');
    let long = quote.to_string().repeat(3);
    written.strip_prefix(&long).or_else(|| written.strip_prefix(quote)).unwrap_or(written).to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Fragment, typed};
    use lode_syntax::Form;

    /// What was typed at the mark `|`.
    fn at(marked: &str) -> Option<(usize, usize, Fragment)> {
        let at = marked.find('|').unwrap();
        let text = marked.replacen('|', "", 1);
        let parsed = lode_syntax::parse(&text, Form::Query, lode_sparql::parse::vocabulary());
        let found = typed(&text, parsed.tree.tokens(), at)?;
        Some((found.from, found.to, found.fragment))
    }

    #[test]
    fn fragments() {
        let word = |text: &str| Fragment::Word(text.to_owned());
        assert_eq!(at("SEL|"), Some((0, 3, word("SEL"))));
        assert_eq!(at("SELECT |"), Some((7, 7, Fragment::Nothing)));
        assert_eq!(at("{ foaf:na|me"), Some((2, 11, Fragment::Name("foaf".into(), "na".into()))));
        assert_eq!(at("{ fo|af:name"), Some((2, 11, word("fo"))));
        assert_eq!(at("{ ?s|x"), Some((2, 5, Fragment::Variable("s".into()))));
        assert_eq!(at("{ ?|"), Some((2, 3, Fragment::Variable(String::new()))));
        assert_eq!(at("{ <http://e|/x> }"), Some((2, 14, Fragment::Iri("http://e".into()))));
        assert_eq!(at("{ <http://e/|"), Some((2, 12, Fragment::Iri("http://e/".into()))));
        assert_eq!(at("{ ?s <http://e| <http://f/x> . }"), Some((5, 14, Fragment::Iri("http://e".into()))));
        assert_eq!(at("{ ?s <http://e| ?o . ?o ?p <x> }"), Some((5, 14, Fragment::Iri("http://e".into()))));
        assert_eq!(at("{ <|"), Some((2, 3, Fragment::Iri(String::new()))));
        assert_eq!(at("{ ?s ?p \"ab|c\""), Some((8, 13, Fragment::Text("ab".into()))));
        assert_eq!(at("{ ?s ?p 12|"), None);
        assert_eq!(at("{ # a com|ment"), None);
        assert_eq!(at("{ # a comment\n|"), Some((14, 14, Fragment::Nothing)));
        assert_eq!(at("{ ?s ?p <http://e/x>|"), Some((20, 20, Fragment::Nothing)));
    }
}

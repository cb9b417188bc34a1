//! A text as who shows it needs it: in pieces to be coloured, with its prefixes, and whether there should be more of it.

use crate::answer::Prefix;
use crate::format::form_of;
use crate::names::Names;
use lode_sparql::parse::vocabulary;
use lode_sparql::{ParseError, parse_query, parse_update};
use lode_syntax::{Form, Token, TokenKind};
use std::ops::Range;

/// What a piece of a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PieceKind {
    /// A keyword, or the name of a function.
    Word,
    /// A variable.
    Variable,
    /// An IRI.
    Iri,
    /// A name with a prefix, or a blank node.
    Name,
    /// A string, with its quotes; its language.
    Text,
    /// A number.
    Number,
    /// Brackets, operators, punctuation.
    Mark,
    /// A comment.
    Comment,
    /// What can be nothing.
    Wrong,
}

/// The pieces of a text, in their order; what is between them is white space.
pub fn pieces(text: &str) -> Vec<(Range<usize>, PieceKind)> {
    let parsed = lode_syntax::parse(text, form_of(text), vocabulary());
    let (mut pieces, mut end) = (Vec::new(), 0);
    for token in parsed.tree.tokens() {
        comments(text, end..token.start(), &mut pieces);
        end = token.end().max(end);
        let kind = match token.kind() {
            TokenKind::Word => PieceKind::Word,
            TokenKind::Variable => PieceKind::Variable,
            TokenKind::Iri => PieceKind::Iri,
            TokenKind::Name | TokenKind::Blank => PieceKind::Name,
            TokenKind::String | TokenKind::LanguageTag => PieceKind::Text,
            TokenKind::Number => PieceKind::Number,
            TokenKind::Mark => PieceKind::Mark,
            TokenKind::Bad => PieceKind::Wrong,
            TokenKind::End => continue,
        };
        pieces.push((token.span(), kind));
    }
    comments(text, end..text.len(), &mut pieces);
    pieces
}

/// The comments between two tokens.
fn comments(text: &str, between: Range<usize>, pieces: &mut Vec<(Range<usize>, PieceKind)>) {
    let mut at = between.start;
    for line in text.get(between).unwrap_or("").split_inclusive('\n') {
        let content = line.trim();
        if content.starts_with('#') {
            let start = at + line.find('#').unwrap_or(0);
            pieces.push((start..start + content.len(), PieceKind::Comment));
        }
        at += line.len();
    }
}

/// Whether a text is a whole one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wholeness {
    /// It is right by the grammar.
    Whole,
    /// Something is missing at its end.
    Unfinished,
    /// Something before its end is wrong.
    Wrong,
}

/// Whether a text is a whole query or update. Prefixes that are not declared are not looked at.
pub fn wholeness(text: &str) -> Wholeness {
    let declared = with_prefixes(text, &[], true);
    let parsed = lode_syntax::parse(&declared, form_of(&declared), vocabulary());
    let tokens = parsed.tree.tokens();
    if tokens.iter().all(|token| token.kind() == TokenKind::End) {
        return Wholeness::Unfinished;
    }
    if parsed.diagnostics.is_empty() {
        return Wholeness::Whole;
    }
    let written = |token: &Token| declared.get(token.span()).unwrap_or("");
    let is_open = |(open, close): (&str, &str)| {
        let marks = || tokens.iter().filter(|token| token.kind() == TokenKind::Mark).map(written);
        marks().filter(|mark| *mark == open).count() > marks().filter(|mark| *mark == close).count()
    };
    let end = declared.trim_end().len();
    let last = tokens.iter().rev().find(|token| token.kind() != TokenKind::End);
    let is_at_end =
        |span: &Range<usize>| span.start >= end || last.is_some_and(|last| span.start >= last.end());
    let is_long_string = last.is_some_and(|last| {
        last.kind() == TokenKind::Bad
            && ["\"\"\"", "'''"].iter().any(|quotes| written(last).starts_with(quotes))
    });
    let is_unfinished = [("{", "}"), ("(", ")"), ("[", "]")].into_iter().any(is_open)
        || is_long_string
        || parsed.diagnostics.first().is_some_and(|diagnostic| is_at_end(&diagnostic.span));
    if is_unfinished { Wholeness::Unfinished } else { Wholeness::Wrong }
}

/// The prefixes that a text declares.
pub fn declared_prefixes(text: &str) -> Vec<Prefix> {
    let parsed = lode_syntax::parse(text, form_of(text), vocabulary());
    let names = Names::of(text, parsed.tree.tokens());
    names.declared().map(|(name, iri)| Prefix { name: name.to_owned(), iri: iri.to_owned() }).collect()
}

/// A text with a line before it that declares the prefixes that it uses and does not declare, as they are kept or usual; with `all` also those that
/// nobody knows. Without such it is the text.
pub fn with_prefixes(text: &str, kept: &[Prefix], all: bool) -> String {
    supplied(text, |prefix| {
        let known = kept_iri(kept, prefix).or_else(|| lode_syntax::usual_prefix(prefix));
        known.or(all.then_some("urn:undeclared:"))
    })
}

/// The same with nothing but the prefixes that are kept.
pub fn with_kept_prefixes(text: &str, kept: &[Prefix]) -> String {
    supplied(text, |prefix| kept_iri(kept, prefix))
}

fn kept_iri<'k>(kept: &'k [Prefix], prefix: &str) -> Option<&'k str> {
    kept.iter().rev().find(|kept| kept.name == prefix).map(|kept| kept.iri.as_str())
}

/// A text with a line before it that declares those prefixes of which it is known what they stand for.
fn supplied<'k>(text: &str, iri_of: impl Fn(&str) -> Option<&'k str>) -> String {
    let parsed = lode_syntax::parse(text, form_of(text), vocabulary());
    let names = Names::of(text, parsed.tree.tokens());
    let mut line = String::new();
    for prefix in names.undeclared() {
        if let Some(iri) = iri_of(prefix) {
            line += &format!("PREFIX {prefix}: <{iri}> ");
        }
    }
    if line.is_empty() { text.to_owned() } else { format!("{}\n{text}", line.trim_end()) }
}

/// Why a text is no query, or no update: with the places that it has without the first line.
pub fn error_behind_first_line(text: &str, form: Form, base: Option<&str>) -> Option<ParseError> {
    let error = match form {
        Form::Query => parse_query(text, base).err(),
        Form::Update => parse_update(text, base).err(),
    };
    let mut error = error?;
    for error in std::iter::once(&mut error.line).chain(error.more.iter_mut().map(|error| &mut error.line)) {
        *error = error.saturating_sub(1);
    }
    Some(error)
}

/// The variables, without the question mark, that count or sum something: `(COUNT(*) AS ?n)`.
pub fn counting_variables(text: &str) -> Vec<String> {
    let parsed = lode_syntax::parse(text, form_of(text), vocabulary());
    let tokens = parsed.tree.tokens();
    let written = |at: usize| tokens.get(at).and_then(|token| text.get(token.span())).unwrap_or("");
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        let counts = ["COUNT", "SUM"].iter().any(|name| written(at + 1).eq_ignore_ascii_case(name));
        if written(at) != "(" || !counts || written(at + 2) != "(" {
            continue;
        }
        let mut depth = 0_usize;
        let close = (at + 2..tokens.len()).find(|at| {
            match written(*at) {
                "(" => depth += 1,
                ")" => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let Some(close) = close else { continue };
        if written(close + 1).eq_ignore_ascii_case("AS") && written(close + 3) == ")" {
            found.extend(written(close + 2).get(1..).map(str::to_owned));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_a_text() {
        let text = "SELECT * { ?s foaf:name 'x'@en, 1 . # all\n}";
        let found: Vec<_> = pieces(text).into_iter().map(|(span, kind)| (&text[span], kind)).collect();
        for piece in [
            ("SELECT", PieceKind::Word),
            ("?s", PieceKind::Variable),
            ("foaf:name", PieceKind::Name),
            ("'x'", PieceKind::Text),
            ("1", PieceKind::Number),
            ("# all", PieceKind::Comment),
        ] {
            assert!(found.contains(&piece), "{piece:?}: {found:?}");
        }
    }

    #[test]
    fn whole_unfinished_and_wrong() {
        for (text, expected) in [
            ("SELECT * { ?s ?p ?o }", Wholeness::Whole),
            ("SELECT * { ?s foaf:name ?o } # all of them\n", Wholeness::Whole),
            ("INSERT DATA { <a:b> <a:b> <a:b> } ;", Wholeness::Whole),
            ("", Wholeness::Unfinished),
            ("# nothing yet", Wholeness::Unfinished),
            ("SELECT", Wholeness::Unfinished),
            ("SELECT * WHERE", Wholeness::Unfinished),
            ("SELECT * {", Wholeness::Unfinished),
            ("SELECT * { ?s ?p", Wholeness::Unfinished),
            ("SELECT * { ?s ?p '''a\nb", Wholeness::Unfinished),
            ("SELECT * { ?s ?p ?o } ORDER BY", Wholeness::Unfinished),
            ("PREFIX e: <http://e/>", Wholeness::Unfinished),
            ("SELCT * { ?s ?p ?o }", Wholeness::Wrong),
            ("SELECT * { ?s ?p }", Wholeness::Wrong),
            ("hello", Wholeness::Wrong),
        ] {
            assert_eq!(wholeness(text), expected, "{text}");
        }
    }

    #[test]
    fn prefixes_are_supplied() {
        let kept = [Prefix { name: "e".to_owned(), iri: "http://e/".to_owned() }];
        let text = "SELECT * { ?s e:p ?o ; foaf:name ?n }";
        let whole = with_prefixes(text, &kept, false);
        assert_eq!(whole, format!("PREFIX e: <http://e/> PREFIX foaf: <http://xmlns.com/foaf/0.1/>\n{text}"));
        assert_eq!(with_prefixes("ASK { ?s my:p ?o }", &kept, false), "ASK { ?s my:p ?o }");
        let wrong = with_prefixes("ASK { ?s e:p }", &kept, false);
        let error = error_behind_first_line(&wrong, Form::Query, None).map(|error| error.line);
        assert_eq!(error, Some(1));
    }

    #[test]
    fn what_counts() {
        let text =
            "SELECT ?c (COUNT(DISTINCT ?s) AS ?n) (sum((?x)) as ?m) (MAX(?x) AS ?l) { ?s a ?c } GROUP BY ?c";
        assert_eq!(counting_variables(text), ["n", "m"]);
        assert!(counting_variables("SELECT (COUNT(").is_empty());
    }
}

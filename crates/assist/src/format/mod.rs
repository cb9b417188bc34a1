//! A text in good order: a statement a line, groups indented, keywords in capitals, one space between words. Tokens and comments stay what they are,
//! and that is looked at before anything is answered: so the text means what it did.

mod printer;
mod roles;

use crate::repair;
use lode_sparql::{ParseError, parse_query, parse_update};
use lode_syntax::{Form, TokenKind};
use printer::Printer;
use roles::Roles;

/// What relative IRIs are resolved against: which it is does not matter here.
const BASE: &str = "http://localhost/";

/// The text in good order.
///
/// # Errors
/// Where it is no query and no update: then there is no order to see.
pub fn format(text: &str) -> Result<String, ParseError> {
    let vocabulary = lode_sparql::parse::vocabulary();
    let form = form_of(text);
    match form {
        Form::Query => parse_query(text, Some(BASE)).map(drop)?,
        Form::Update => parse_update(text, Some(BASE)).map(drop)?,
    }
    let parsed = lode_syntax::parse(text, form, vocabulary);
    let roles = Roles::of(&parsed.tree);
    // Paths are written without spaces, unless that would make other tokens of them.
    let tries = [true, false].map(|dense| Printer::new(&parsed.tree, &roles, dense).print());
    let same = tries.into_iter().find(|formatted| has_same_tokens(text, formatted, form));
    Ok(same.unwrap_or_else(|| text.to_owned()))
}

/// What a text is, by its first word that is no declaration: an update, or, also where there is no such word, a query.
pub fn form_of(text: &str) -> Form {
    let parsed = lode_syntax::parse(text, Form::Query, lode_sparql::parse::vocabulary());
    repair::form_of(text, parsed.tree.tokens()).unwrap_or(Form::Query)
}

/// Whether both texts have the same tokens, words in any case of letters, and the same comments.
fn has_same_tokens(text: &str, other: &str, form: Form) -> bool {
    let vocabulary = lode_sparql::parse::vocabulary();
    let (a, b) = (lode_syntax::parse(text, form, vocabulary), lode_syntax::parse(other, form, vocabulary));
    let (a_tokens, b_tokens) = (a.tree.tokens(), b.tree.tokens());
    let mut ends = (0, 0);
    a_tokens.len() == b_tokens.len()
        && a.diagnostics.is_empty() == b.diagnostics.is_empty()
        && a_tokens.iter().zip(b_tokens).all(|(a, b)| {
            let (a_text, b_text) = (text.get(a.span()).unwrap_or(""), other.get(b.span()).unwrap_or(""));
            let is_word = a.kind() == TokenKind::Word;
            let is_same = a_text == b_text || is_word && a_text.eq_ignore_ascii_case(b_text);
            let (a_end, b_end) = std::mem::replace(&mut ends, (a.end(), b.end()));
            let gap = |text: &str, from: usize, to: usize| {
                text.get(from..to)
                    .map_or(Vec::new(), |gap| printer::comments(gap).collect::<Vec<_>>())
                    .into_iter()
                    .map(|comment| comment.text.to_owned())
                    .collect::<Vec<_>>()
            };
            let (a_to, b_to) =
                if a.kind() == TokenKind::End { (text.len(), other.len()) } else { (a.start(), b.start()) };
            a.kind() == b.kind() && is_same && gap(text, a_end, a_to) == gap(other, b_end, b_to)
        })
}

#[cfg(test)]
mod tests;

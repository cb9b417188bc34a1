//! What is wrong with a text, as marks in it.

use crate::answer::{Checked, Mark, Span};
use crate::ask::Data;
use crate::names::Names;
use crate::position::{place_of, position_of};
use lode_engine::PlanWarning;
use lode_sparql::{ParseError, parse_query, parse_update};
use lode_syntax::{Form, Token, TokenKind, unescaped};
use std::ops::Range;

/// The errors of a text, and, where there are none, its warnings.
pub(crate) fn check(text: &str, form: Form, base: Option<&str>, data: Option<&Data<'_>>) -> Checked {
    let error = match form {
        Form::Query => parse_query(text, base).err(),
        Form::Update => parse_update(text, base).err(),
    };
    let errors = error.as_ref().map_or_else(Vec::new, Mark::of_error);
    let warnings = match data {
        Some(data) if errors.is_empty() => warnings(text, form, data),
        _ => Vec::new(),
    };
    Checked { errors, warnings }
}

impl Mark {
    /// Those of an error, and of what else is wrong further on.
    pub fn of_error(error: &ParseError) -> Vec<Self> {
        std::iter::once(error).chain(&error.more).map(Self::of_one).collect()
    }

    fn of_one(error: &ParseError) -> Self {
        Self {
            from: error.units.start,
            to: error.units.end,
            line: error.line,
            column: error.column,
            span: Span { start: error.span.start, end: error.span.end },
            code: None,
            message: error.message.clone(),
            help: Some(error.help.to_string()).filter(|help| !help.is_empty()),
        }
    }

    /// That of a warning, which has no place where `span` is none.
    fn of_warning(text: &str, warning: &PlanWarning, span: Option<Range<usize>>) -> Self {
        let mark = Self {
            code: Some(warning.code().to_owned()),
            message: warning.message(),
            help: Some(warning.help().to_owned()).filter(|help| !help.is_empty()),
            ..Self::default()
        };
        let Some(span) = span else { return mark };
        let (line, column) = place_of(text, span.start);
        Self {
            from: position_of(text, span.start),
            to: position_of(text, span.end),
            line,
            column,
            span: Span { start: span.start, end: span.end },
            ..mark
        }
    }
}

/// What of a text is most likely not meant.
fn warnings(text: &str, form: Form, data: &Data<'_>) -> Vec<Mark> {
    let told = match form {
        Form::Query => data.warnings(text),
        Form::Update => data.update_warnings(text),
    };
    if told.is_empty() {
        return Vec::new();
    }
    let parsed = lode_syntax::parse(text, form, lode_sparql::parse::vocabulary());
    let tokens = parsed.tree.tokens();
    let names = Names::of(text, tokens);
    let mark = |warning: &PlanWarning| {
        let found = || named_in(text, tokens, &names, warning.about()?);
        Mark::of_warning(text, warning, warning.span().or_else(found))
    };
    told.iter().map(mark).collect()
}

/// Where a text has the function, or the string, that a warning is of.
fn named_in(text: &str, tokens: &[Token], names: &Names, about: &str) -> Option<Range<usize>> {
    // Of a long one only the beginning is known.
    let is_it = |written: &str| match about.strip_suffix("...") {
        Some(start) => written == about || written.starts_with(start),
        None => written == about,
    };
    let is_called = |at: usize| {
        let next = tokens.get(at + 1).and_then(|token| text.get(token.span()));
        next == Some("(")
    };
    let found = tokens.iter().enumerate().find(|(at, token)| {
        let written = text.get(token.span()).unwrap_or("");
        match token.kind() {
            TokenKind::Iri | TokenKind::Name => {
                is_called(*at) && names.expanded(token.kind(), written).is_some_and(|iri| is_it(&iri))
            }
            TokenKind::String => content(written).is_some_and(|content| is_it(&content)),
            _ => false,
        }
    });
    found.map(|(_, token)| token.span())
}

/// What a string without its quotes stands for.
fn content(written: &str) -> Option<std::borrow::Cow<'_, str>> {
    let quote = written.chars().next()?;
    let long = quote.to_string().repeat(3);
    let is_long = written.len() >= 6 && written.starts_with(&long);
    let quotes = if is_long { 3 } else { 1 };
    unescaped(written.get(quotes..written.len().checked_sub(quotes)?)?)
}

//! What is wrong with a text, as marks in it.

use crate::answer::{Checked, Mark};
use crate::ask::Data;
use crate::position::position_of;
use lode_sparql::{ParseError, parse_query, parse_update};
use lode_syntax::{Diagnostic, Form};

/// The errors of a text, and, where there are none, its warnings.
pub(crate) fn check(text: &str, form: Form, base: Option<&str>, data: Option<&Data<'_>>) -> Checked {
    let errors = errors(text, form, base);
    let warnings = match data {
        Some(data) if errors.is_empty() => warnings(text, form, data),
        _ => Vec::new(),
    };
    Checked { errors, warnings }
}

fn errors(text: &str, form: Form, base: Option<&str>) -> Vec<Mark> {
    let error = match form {
        Form::Query => parse_query(text, base).err(),
        Form::Update => parse_update(text, base).err(),
    };
    let Some(error) = error else { return Vec::new() };
    let found = lode_syntax::check(text, form, lode_sparql::parse::vocabulary());
    if found.is_empty() {
        let ParseError { more, .. } = &error;
        return std::iter::once(&error).chain(more).map(|error| of_error(text, error)).collect();
    }
    let mark = |Diagnostic { span, message, help }| Mark {
        from: position_of(text, span.start),
        to: position_of(text, span.end),
        message,
        help,
    };
    found.into_iter().map(mark).collect()
}

/// An error that knows its line: from its place to the end of the word there.
fn of_error(text: &str, error: &ParseError) -> Mark {
    let line_start = |line: &usize| text.split_inclusive('\n').take(line - 1).map(str::len).sum::<usize>();
    let start = Some(error.line).filter(|line| *line > 0).as_ref().map_or(0, line_start);
    let line = text.get(start..).unwrap_or("");
    let place = line.char_indices().nth(error.column.saturating_sub(1)).map_or(line.len(), |(at, _)| at);
    let from = start + place;
    let rest = text.get(from..).unwrap_or("");
    let to = from + rest.find(char::is_whitespace).unwrap_or(rest.len());
    let to = if error.line == 0 { text.len() } else { to };
    Mark {
        from: position_of(text, from),
        to: position_of(text, to),
        message: error.message.clone(),
        help: Some(error.help.to_string()).filter(|help| !help.is_empty()),
    }
}

/// What of a text is most likely not meant. The engine tells it of the text as a whole: a place is the first one where the text says what the warning does.
fn warnings(text: &str, form: Form, data: &Data<'_>) -> Vec<Mark> {
    let told = match form {
        Form::Query => data.warnings(text),
        Form::Update => Vec::new(),
    };
    let mark = |message: String| {
        let (from, to) = place(text, &message).unwrap_or((0, text.len()));
        Mark { from: position_of(text, from), to: position_of(text, to), message, help: None }
    };
    told.into_iter().map(mark).collect()
}

/// Where a text has the IRI, or the string, that a message tells of.
fn place(text: &str, message: &str) -> Option<(usize, usize)> {
    let between = |open: char, close: char| {
        let start = message.find(open)?;
        let end = start + 1 + message.get(start + 1..)?.find(close)?;
        let quoted = message.get(start..=end)?;
        let local = crate::names::local_name(message.get(start + 1..end)?);
        let whole = text.find(quoted).map(|at| (at, at + quoted.len()));
        whole.or_else(|| {
            let name = format!(":{local}");
            let at = (!local.is_empty()).then(|| text.find(&name)).flatten()?;
            let start =
                text.get(..at)?.rfind(|c: char| !c.is_alphanumeric() && c != '-').map_or(0, |at| at + 1);
            Some((start, at + name.len()))
        })
    };
    between('<', '>').or_else(|| between('"', '"'))
}

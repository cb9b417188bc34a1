//! What is wrong with a text, as marks in it.

use crate::answer::{Checked, Mark, Span};
use crate::ask::Data;
use crate::position::position_of;
use lode_engine::PlanWarning;
use lode_sparql::{ParseError, line_and_column, parse_query, parse_update};
use lode_syntax::Form;

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

    /// That of a warning, which may have no place.
    fn of_warning(text: &str, warning: &PlanWarning) -> Self {
        let mark = Self {
            code: Some(warning.code().to_owned()),
            message: warning.message(),
            help: Some(warning.help().to_owned()).filter(|help| !help.is_empty()),
            ..Self::default()
        };
        let Some(span) = warning.span() else { return mark };
        let (line, column) = line_and_column(text, span.start);
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
    told.iter().map(|warning| Mark::of_warning(text, warning)).collect()
}

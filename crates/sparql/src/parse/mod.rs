//! Text of queries and updates to algebra, with errors that say where and show the place.
//!
//! `lode_syntax` makes the tree of a text, `lower` the algebra of the tree. The data types of the algebra are those of the crate spargebra; its parser is
//! the judge of ours in tests.

pub mod depth;
mod error;
mod explained;
mod functions;
pub mod hints;
mod limits;
mod lower;
#[cfg(test)]
mod tests;
mod update;

pub use error::{ParseError, line_and_column};
pub use lode_syntax::count_tokens;
pub use update::{parse_update, update_algebra};

use crate::stack;
use depth::{DEPTH_MAX, PATTERNS_MAX, Size};
use lode_syntax::{Form, Parsed, Vocabulary};
use lower::{Lowering, Wrong};
use oxiri_of_oxttl::Iri;
use spargebra::Query;

/// What a text may call by a name that is no IRI.
pub fn vocabulary() -> &'static Vocabulary {
    &functions::VOCABULARY
}

/// Parses a SPARQL 1.1 or 1.2 query; `base` resolves relative IRIs until the query has a BASE of its own.
///
/// # Errors
///
/// [`ParseError`] where the text is no query or `base` no IRI, or where the query is too deep or too large.
pub fn parse_query(text: &str, base: Option<&str>) -> Result<Query, ParseError> {
    let base = base_iri(base)?;
    let parsed = tree(text, Form::Query)?;
    stack::deep(limits::levels(parsed.extent), || {
        let query = Lowering::new(&parsed.tree, base).query();
        let query = query.map_err(|wrong| wrong_at(text, Form::Query, *wrong))?;
        bounded(&query)?;
        Ok(query)
    })
}

/// The tree of a text that is right by the grammar, and not too large.
fn tree(text: &str, form: Form) -> Result<Parsed<'_>, ParseError> {
    let mut parsed = lode_syntax::parse(text, form, vocabulary());
    if let Some(first) = parsed.diagnostics.drain(..).next() {
        let error = explained::told(text, first);
        return Err(if parsed.is_too_deep { error } else { explained::of(text, form, error) });
    }
    match limits::too_much(parsed.extent) {
        Some(message) => Err(ParseError::without_place(message)),
        None => Ok(parsed),
    }
}

fn wrong_at(text: &str, form: Form, wrong: Wrong) -> ParseError {
    let Wrong { span, message, help } = wrong;
    let help = Some(help).filter(|help| !help.is_empty());
    explained::of(text, form, explained::told(text, lode_syntax::Diagnostic { span, message, help }))
}

/// Refuses what is too deep, or too large. An error is for the caller to place.
fn bounded(query: &Query) -> Result<(), ParseError> {
    let Size { levels, patterns } = depth::of_query(query);
    if levels > DEPTH_MAX {
        return Err(ParseError::without_place(format!(
            "the query is {levels} levels deep, of which {DEPTH_MAX} are allowed: each group, sub-select, OPTIONAL, MINUS and BIND is \
             a level, and each operator of a sum or product"
        )));
    }
    if patterns > PATTERNS_MAX {
        return Err(ParseError::without_place(format!(
            "the query has {patterns} triple patterns and steps of property paths, of which {PATTERNS_MAX} are allowed"
        )));
    }
    Ok(())
}

fn base_iri(base: Option<&str>) -> Result<Option<Iri<String>>, ParseError> {
    let Some(base) = base else { return Ok(None) };
    match Iri::parse(base.to_owned()) {
        Ok(iri) => Ok(Some(iri)),
        Err(error) => Err(ParseError::without_place(format!("the base IRI <{base}> is not valid: {error}"))),
    }
}

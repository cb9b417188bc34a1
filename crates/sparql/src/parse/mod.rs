//! Text of queries and updates to algebra, with errors that say where and show the place.

mod aggregates;
mod balance;
mod booleans;
pub mod depth;
mod error;
mod explained;
mod group_keys;
mod limits;
mod operations;
mod star;
#[cfg(test)]
mod tests;
mod update;

pub use error::ParseError;
pub use limits::count_tokens;
pub use update::parse_update;

use crate::stack;
use depth::{DEPTH_MAX, PATTERNS_MAX, Size};
use lode_rdf::NamedNode;
use lode_syntax::Form;
use spargebra::{Query, SparqlParser};
use std::fmt;

/// Parses a SPARQL 1.1 or 1.2 query; `base` resolves relative IRIs until the query has a BASE of its own.
///
/// # Errors
///
/// [`ParseError`] where the text is no query or `base` no IRI, or where the query is too deep or too large.
pub fn parse_query(text: &str, base: Option<&str>) -> Result<Query, ParseError> {
    let parser = parser(base)?;
    let extent = limits::check(text, false)
        .map_err(|problem| ParseError::at_offset(text, problem.offset, problem.message))?;
    if let Some(found) = aggregates::misplaced(text) {
        let error = ParseError::at_offset(text, found.offset, found.message.to_owned());
        return Err(ParseError { help: found.help.to_owned(), ..error });
    }
    let given = text;
    let text = booleans::in_lower_case(text);
    let text = &*group_keys::as_calls(&text);
    stack::deep(extent.levels(), || {
        let parsed = parser.parse_query(text);
        let mut query = parsed.map_err(|error| {
            explained::of(given, Form::Query, ParseError::from_parser(text, &error.to_string()))
        })?;
        star::order_columns(&mut query, text);
        bounded(&mut query)?;
        Ok(query)
    })
}

/// Balances chains where the algebra is deep, and refuses what still is too deep, or too large. An error is for the caller to place.
fn bounded(query: &mut Query) -> Result<(), ParseError> {
    let mut size = depth::of_query(query);
    if size.levels > LOW {
        balance::query(query);
        size = depth::of_query(query);
    }
    let Size { levels, patterns } = size;
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

/// Trees up to this deep stay as the parser made them.
const LOW: usize = 100;

fn parser(base: Option<&str>) -> Result<SparqlParser, ParseError> {
    let Some(base) = base else { return Ok(SparqlParser::new()) };
    let invalid = |error: &dyn fmt::Display| {
        ParseError::without_place(format!("the base IRI <{base}> is not valid: {error}"))
    };
    NamedNode::new(base).map_err(|error| invalid(&error))?;
    SparqlParser::new().with_base_iri(base).map_err(|error| invalid(&error))
}

//! The functions that queries may call: a list of entries, each with its name, types, volatility, cost and kernel.
//!
//! A function is an entry of one of the files here. The planner finds it by its name ([`find`]) and the evaluator by the reference that the
//! planner puts into the expression, so nothing else names it.

pub(crate) mod cast;
pub(crate) mod dates;
#[cfg(feature = "geo")]
mod geo;
pub(crate) mod hashes;
mod math;
mod numbers;
mod random;
pub(crate) mod regex;
pub(crate) mod string_predicates;
pub(crate) mod strings;
pub(crate) mod terms;
#[cfg(test)]
mod tests;
mod text_search;
mod triples;

#[cfg(feature = "geo")]
pub use geo::{argument_problem, geometries, geometry_problem, place_pairs, place_proximity, place_search};
use lode_sparql::Function;
use std::collections::HashMap;
use std::sync::OnceLock;
pub use text_search::{prepared_search, text_parts};

/// All of them, by what they are about.
static FUNCTIONS: [&[Function]; 11] = [
    &terms::FUNCTIONS,
    &triples::FUNCTIONS,
    &strings::FUNCTIONS,
    &string_predicates::FUNCTIONS,
    &text_search::FUNCTIONS,
    &numbers::FUNCTIONS,
    &math::FUNCTIONS,
    &dates::FUNCTIONS,
    &hashes::FUNCTIONS,
    &random::FUNCTIONS,
    &cast::FUNCTIONS,
];

static BY_NAME: OnceLock<HashMap<&'static str, &'static Function>> = OnceLock::new();

/// Those of geometries, where the program was built with them.
#[cfg(feature = "geo")]
static OF_GEOMETRIES: &[&[Function]] = &geo::FUNCTIONS;
#[cfg(not(feature = "geo"))]
static OF_GEOMETRIES: &[&[Function]] = &[];

/// All functions.
pub fn all() -> impl Iterator<Item = &'static Function> {
    FUNCTIONS.iter().chain(OF_GEOMETRIES).copied().flatten()
}

/// The function of this name, a keyword as SPARQL writes it or an IRI.
pub fn find(name: &str) -> Option<&'static Function> {
    BY_NAME.get_or_init(|| all().map(|function| (function.name, function)).collect()).get(name).copied()
}

/// What is the matter with a literal where functions take it for a geometry: nothing is known of geometries.
#[cfg(not(feature = "geo"))]
pub fn geometry_problem(_: &str, _: &str) -> Option<String> {
    None
}

/// Why each call of a function with such an argument is an error: nothing is known of geometries.
#[cfg(not(feature = "geo"))]
pub fn argument_problem(_: &str, _: usize, _: lode_sparql::warnings::Given<'_>) -> Option<String> {
    None
}

/// The function that is most likely meant by an IRI that none has: of the same namespace one whose name is like it, or ends so; else one of the same name in another.
pub fn nearest(iri: &str) -> Option<&'static str> {
    let (namespace, name) = split(iri)?;
    let others = || all().filter_map(|function| Some((split(function.name)?, function.name)));
    let of_namespace = || others().filter(|((other, _), _)| *other == namespace);
    let like = lode_sparql::syntax::nearest(name, of_namespace().map(|((_, other), _)| other));
    let ends_so = |other: &str| {
        let start = other.len().checked_sub(name.len());
        start.and_then(|start| other.get(start..)).is_some_and(|end| end.eq_ignore_ascii_case(name))
    };
    let near = of_namespace().find(|((_, other), _)| Some(*other) == like || ends_so(other));
    near.or_else(|| others().find(|((_, other), _)| *other == name)).map(|(_, iri)| iri)
}

/// Namespace and name of an IRI; none of a keyword.
fn split(iri: &str) -> Option<(&str, &str)> {
    let at = iri.rfind(['#', '/', ':'])?;
    let (namespace, name) = iri.split_at(at + 1);
    (!name.is_empty()).then_some((namespace, name))
}

/// What is the matter with a regular expression, with flags, and the text that REPLACE puts there: whether it is the expression, and what. None where that is no expression at all.
pub fn replace_problem(pattern: &str, flags: &str, with: &str) -> Option<(bool, &'static str)> {
    regex::replace_problem(pattern, flags, with)
}

/// What is wrong with a text, with flags, that REGEX and REPLACE take for no regular expression, where, and what would be right; none of one that they do.
pub fn regex_problem(pattern: &str, flags: &str) -> Option<String> {
    regex::problem(pattern, flags)
}

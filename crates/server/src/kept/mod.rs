//! Kept queries: a text stays on the server, and clients run it by its name with parameters, which are values and never text.
//!
//! `/queries` lists them, `/queries/ID` runs one (GET, POST of a form) or keeps or removes one (PUT, DELETE: the administration), `/queries/ID/text`
//! shows its text to the administration. Each has the role that it takes to run it, which may be none at all: so a server may offer some
//! queries to everybody, and nothing else.

mod entry;
mod file;
mod parameters;
mod value;

pub(crate) use entry::{KeptQuery, Parameter, Runner};
pub(crate) use file::Kept;
pub(crate) use parameters::{is_reserved, read};
pub(crate) use value::Kind;

use crate::access::Operation;
use axum::http::Method;

/// What a request asks for at these addresses; none of others. Who may run a query the query itself says.
pub(crate) fn operation(method: &Method, path: &str) -> Option<Operation> {
    let rest = path.strip_prefix("/queries")?;
    let is_here = match rest.strip_prefix('/') {
        None => rest.is_empty(),
        Some(id) => id.ends_with("/text") || !(id.is_empty() || id.contains('/')),
    };
    if !is_here || *method == Method::OPTIONS {
        return None;
    }
    let is_one = path.strip_prefix("/queries/").is_some_and(|id| !id.contains('/'));
    let runs = [Method::GET, Method::HEAD, Method::POST].contains(method);
    Some(match (is_one, runs) {
        (true, true) => Operation::Ask,
        (false, true) if path == "/queries" => Operation::Read,
        _ => Operation::Administer,
    })
}

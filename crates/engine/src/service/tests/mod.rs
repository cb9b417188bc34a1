//! SERVICE over the loopback: blocks of bindings, joins, and endpoints that misbehave.

mod endpoint;
mod joins;
mod misbehaviour;

use super::{HttpService, HttpServiceOptions};
use crate::{CancelToken, Database, EngineError, OutputFormat, QueryOptions, QueryResults, UpdateOptions};
use endpoint::{Endpoint, JSON, send};
use sparesults::QueryResultsFormat;
use std::sync::Arc;
use std::time::Duration;

/// No test takes so long: what hangs is stopped, and fails.
const HANGS: Duration = Duration::from_secs(60);

fn database(data: &str) -> Database {
    let database = Database::in_memory().unwrap();
    let text = format!("PREFIX : <http://e/> INSERT DATA {{ {data} }}");
    database.update(&text, &UpdateOptions::default()).unwrap();
    database
}

/// Allows everything on the loopback, and waits as long as need be.
fn service(change: impl FnOnce(&mut HttpServiceOptions)) -> Arc<HttpService> {
    let allowed = vec!["*".to_owned()];
    let mut options = HttpServiceOptions { allowed, timeout: HANGS, ..HttpServiceOptions::default() };
    change(&mut options);
    Arc::new(HttpService::new(options).unwrap())
}

fn options(service: &Arc<HttpService>) -> QueryOptions {
    let cancel = CancelToken::new(Some(HANGS));
    QueryOptions { service: Some(Arc::clone(service) as _), cancel, ..QueryOptions::default() }
}

/// The rows as sorted lines of terms.
fn rows(database: &Database, query: &str, options: &QueryOptions) -> Result<Vec<String>, EngineError> {
    let text = format!("PREFIX : <http://e/> {query}");
    let QueryResults::Solutions(mut solutions) = database.query(&text, options)? else { panic!("no rows") };
    let line = |row: &Vec<Option<lode_rdf::Term>>| {
        let cell = |term: &Option<lode_rdf::Term>| term.as_ref().map_or("-".to_owned(), ToString::to_string);
        row.iter().map(cell).collect::<Vec<_>>().join(" ")
    };
    let mut lines: Vec<String> = solutions.collect_rows()?.iter().map(line).collect();
    lines.sort();
    Ok(lines)
}

/// An endpoint that a database stands behind.
fn endpoint_of(data: &str) -> Endpoint {
    let database = database(data);
    Endpoint::start(move |request, stream| {
        let results = database.query(&request.query, &QueryOptions::default());
        let mut results = results.unwrap_or_else(|error| panic!("{error}: {}", request.query));
        let mut body = Vec::new();
        crate::write_results(&mut results, OutputFormat::Results(QueryResultsFormat::Json), &mut body)
            .unwrap();
        send(stream, "200 OK", JSON, &String::from_utf8(body).unwrap())
    })
}

/// What is said of a query that fails.
#[track_caller]
fn error(endpoint: &Endpoint, change: impl FnOnce(&mut HttpServiceOptions)) -> String {
    let query = format!("SELECT * {{ SERVICE <{}> {{ ?s :p ?o }} }}", endpoint.url);
    rows(&database(""), &query, &options(&service(change))).expect_err("an error").to_string()
}

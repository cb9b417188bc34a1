//! The pages a person or a tool finds without a query: a small query form, and the service description.

use crate::error::HttpError;
use axum::http::{Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};

/// What there is, for those who ask for something else.
const ROUTES: &str = "\
/sparql                    queries and updates (SPARQL 1.1 Protocol): GET or POST, query=... or update=...
/query, /update            one of them each
/data                      graphs (Graph Store Protocol): GET, PUT, POST, DELETE with ?graph=IRI or ?default
/                          a page to try queries
/admin/stats               figures of the moment (GET)
/admin/queries             what runs (GET); /admin/queries/ID stops it (DELETE)
/admin/compact             makes one segment of all (POST)
/admin/snapshots           named snapshots: GET, POST ?name=NAME, DELETE ?name=NAME
/admin/backup              writes a backup (POST ?to=NAME)";

/// Another address.
pub(crate) async fn not_found(uri: Uri) -> HttpError {
    HttpError::new(
        StatusCode::NOT_FOUND,
        format!("there is nothing at {}; this server has:\n{ROUTES}", uri.path()),
    )
}

/// An address that is there, asked for by a method that it has not.
pub(crate) async fn other_method(method: Method, uri: Uri) -> HttpError {
    let message = format!("{} does not take {method}; this server has:\n{ROUTES}", uri.path());
    HttpError::new(StatusCode::METHOD_NOT_ALLOWED, message)
}

/// The query form at `/`.
pub(crate) async fn form() -> Response {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], include_str!("page.html")).into_response()
}

/// The SPARQL 1.1 Service Description, for a GET of the endpoint without a query.
pub(crate) fn service_description(union_default_graph: bool, is_writable: bool) -> Response {
    let mut text = String::from(
        "@prefix sd: <http://www.w3.org/ns/sparql-service-description#> .\n\
         @prefix formats: <http://www.w3.org/ns/formats/> .\n\n\
         [] a sd:Service ;\n    sd:endpoint <> ;\n    sd:supportedLanguage sd:SPARQL11Query",
    );
    if is_writable {
        text.push_str(", sd:SPARQL11Update");
    }
    text.push_str(" ;\n    sd:feature sd:BasicFederatedQuery");
    if union_default_graph {
        text.push_str(", sd:UnionDefaultGraph");
    }
    if is_writable {
        text.push_str(
            " ;\n    sd:inputFormat formats:N-Triples, formats:N-Quads, formats:Turtle, formats:TriG, formats:RDF_XML,\n        \
             formats:JSON-LD",
        );
    }
    text.push_str(
        " ;\n    sd:resultFormat formats:SPARQL_Results_JSON, formats:SPARQL_Results_XML, formats:SPARQL_Results_CSV,\n        \
         formats:SPARQL_Results_TSV, formats:N-Triples, formats:N-Quads, formats:Turtle, formats:TriG, formats:RDF_XML,\n        \
         formats:JSON-LD .\n",
    );
    ([(header::CONTENT_TYPE, "text/turtle")], text).into_response()
}

//! The pages a person or a tool finds without a query: a small query form, and the service description.

use axum::http::header;
use axum::response::{IntoResponse, Response};

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

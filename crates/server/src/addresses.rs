//! The addresses that there are, as lists: what `Allow` says, who finds nothing is told, and the guide shows comes from here.

use crate::access::{Operation, Role};
use crate::kept;
use axum::http::Method;
use std::fmt::Write as _;

/// An address: what is there, and for which methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address {
    /// Its path; `{id}` stands for a part of it, `{*path}` for all that follows.
    pub path: &'static str,
    /// The methods that it takes, as `Allow` has them.
    pub methods: &'static str,
    /// What it is.
    pub what: &'static str,
}

const GET: &str = "GET, HEAD, OPTIONS";
const POST: &str = "POST, OPTIONS";
const GET_POST: &str = "GET, HEAD, POST, OPTIONS";
const GET_DELETE: &str = "GET, HEAD, DELETE, OPTIONS";
const GET_POST_DELETE: &str = "GET, HEAD, POST, DELETE, OPTIONS";
const GRAPHS: &str = "GET, HEAD, PUT, POST, DELETE, OPTIONS";

const fn at(path: &'static str, methods: &'static str, what: &'static str) -> Address {
    Address { path, methods, what }
}

/// The addresses of a database: of a server with one they are its own, else they are below its name.
pub const OF_DATABASE: &[Address] = &[
    at("/", GET, "a page for people: queries, what is in the data, uploads"),
    at("/page/{name}", GET, "the parts of that page; /page/session.json tells who asks"),
    at("/sparql", GET_POST, "queries and updates (SPARQL Protocol): query=... or update=..."),
    at("/query", GET_POST, "queries"),
    at("/update", POST, "updates"),
    at("/data", GRAPHS, "graphs (Graph Store Protocol): ?graph=IRI or ?default; without either, all graphs"),
    at("/data/{*path}", GRAPHS, "the graph whose name is this address"),
    at(
        "/shacl",
        POST,
        "validates data against shapes (SHACL), which are the body: ?graph=default, union or IRI, &limit, &format",
    ),
    at(
        "/why",
        GET,
        "why a triple holds: ?triple=, as in Turtle (or false: why the data are contradictory), &graph, &proofs, &depth, &facts, &format",
    ),
    at("/queries", GET, "kept queries"),
    at(
        "/queries/{id}",
        "GET, HEAD, POST, PUT, DELETE, OPTIONS",
        "runs one (GET, POST), keeps it (PUT), removes it (DELETE)",
    ),
    at("/queries/{id}/text", GET, "the text of one"),
    at(
        "/.well-known/void",
        GET,
        "what is in the data, graph by graph; /sparql without a query tells it, too",
    ),
    at("/api/complete", POST, "what may stand at a place of a query (JSON)"),
    at("/api/hover", POST, "what is known of what stands there (JSON)"),
    at("/api/format", POST, "a query in good order (JSON)"),
    at("/api/check", POST, "what is wrong with a query, or looks so (JSON)"),
    at("/api/prefixes", GET, "the usual prefixes that the data uses"),
    at("/health/live", GET, "whether the server runs"),
    at("/$/ping", GET, "the same, where Fuseki has it"),
    at("/health/ready", GET, "whether it can do its work; else 503, and why"),
    at("/metrics", GET, "figures for Prometheus"),
    at("/admin/stats", GET, "figures of the moment"),
    at("/admin/queries", GET, "what runs"),
    at(
        "/admin/queries/{id}",
        GET_DELETE,
        "the plan of a query with what was done so far (GET); stops it (DELETE)",
    ),
    at("/admin/workers", GET, "who runs parts of long queries, and what they did"),
    at("/admin/compact", POST, "makes one segment of all"),
    at(
        "/admin/materialise",
        GET_POST_DELETE,
        "what is inferred by which rules (GET); applies ?rules=SET, or rules in the body (POST); drops them (DELETE)",
    ),
    at(
        "/admin/snapshots",
        GET_POST_DELETE,
        "named snapshots (GET); ?name=NAME makes one (POST) or drops it (DELETE)",
    ),
    at("/admin/backup", POST, "writes a backup: ?to=NAME, &copy, &check"),
];

/// What a database of a server with several has besides: queries, updates and graphs at one address, and the REST API of RDF4J.
pub const OF_ONE_OF_SEVERAL: &[Address] = &[
    at("", GRAPHS, "queries, updates and graphs (?graph=IRI, ?default) at one address"),
    at("/get", GET, "/data, to be read only"),
    at("/rdf4j", GET_POST, "queries"),
    at("/rdf4j/statements", GRAPHS, "statements by pattern, and updates"),
    at("/rdf4j/size", GET, "how many statements there are"),
    at("/rdf4j/contexts", GET, "the graphs"),
    at("/rdf4j/namespaces", GET, "no namespaces are kept"),
    at("/rdf4j/transactions", POST, "begins a transaction over several requests"),
    at(
        "/rdf4j/transactions/{id}",
        "PUT, POST, DELETE, OPTIONS",
        "does something in it (?action=...), or ends it",
    ),
];

/// The addresses of a server with several databases itself.
pub const OF_SERVER: &[Address] = &[
    at("/", GET, "the databases that you may read"),
    at("/health/live", GET, "whether the server runs"),
    at("/$/ping", GET, "the same, where Fuseki has it"),
    at("/health/ready", GET, "whether all open databases can do their work"),
    at("/metrics", GET, "figures of the server and of all open databases for Prometheus"),
    at("/protocol", GET, "the version of RDF4J's protocol"),
    at("/repositories", GET, "the databases, for RDF4J; /repositories/NAME is /NAME/rdf4j"),
    at("/admin/databases", GET_POST, "all databases (GET); ?name=NAME makes one (POST)"),
    at("/admin/databases/{name}", GET_DELETE, "one of them (GET); drops it with its data (DELETE)"),
    at("/admin/databases/{name}/open", POST, "opens one"),
    at("/admin/databases/{name}/close", POST, "closes one: another process may open its folder"),
    at("/admin/databases/{name}/rename", POST, "?to=NAME"),
    at("/admin/queries", GET, "what runs, in all databases"),
    at("/admin/queries/{id}", "DELETE, OPTIONS", "stops it"),
    at("/admin/workers", GET, "who runs parts of long queries, and what they did"),
];

impl Address {
    /// The role that it takes to ask by a method, by its name; none: everybody may.
    pub fn role(&self, method: &str) -> Option<Role> {
        let method = Method::from_bytes(method.as_bytes()).ok()?;
        // Queries, updates and graphs at one address take what each of them takes.
        let path = if self.path.is_empty() { "/data" } else { self.path };
        kept::operation(&method, path).unwrap_or_else(|| Operation::of(&method, path)).role()
    }

    /// Whether a path is one of this address.
    fn is_of(&self, path: &str) -> bool {
        let mut parts = path.split('/');
        for expected in self.path.split('/') {
            let Some(part) = parts.next() else { return false };
            let fits = match expected.strip_prefix('{') {
                Some(rest) if rest.starts_with('*') => return true,
                Some(_) => !part.is_empty(),
                None => expected == part,
            };
            if !fits {
                return false;
            }
        }
        parts.next().is_none()
    }
}

/// The methods that a path takes, by one of these addresses.
pub(crate) fn methods(addresses: &[Address], path: &str) -> Option<&'static str> {
    addresses.iter().find(|address| address.is_of(path)).map(|address| address.methods)
}

/// What there is, for those who ask for something else: each address below another has a line.
pub(crate) fn listed(prefix: &str, addresses: &[Address]) -> String {
    addresses.iter().fold(String::new(), |mut text, Address { path, methods, what }| {
        let path = format!("{prefix}{}", path.replace("{*", "{"));
        let methods = methods.trim_end_matches(", OPTIONS").replace("GET, HEAD", "GET");
        let _ = write!(text, "\n{path:<26} {what} ({methods})");
        text
    })
}

#[cfg(test)]
mod tests {
    //! The lists and the routers.
    use super::{Address, OF_DATABASE, OF_ONE_OF_SEVERAL, OF_SERVER, listed, methods};

    #[test]
    fn paths_of_addresses() {
        for (path, expected) in [
            ("/", Some("GET, HEAD, OPTIONS")),
            ("/data", Some(super::GRAPHS)),
            ("/data/", Some(super::GRAPHS)),
            ("/data/a/b", Some(super::GRAPHS)),
            ("/admin/queries/7", Some(super::GET_DELETE)),
            ("/admin/queries/", None),
            ("/queries/a/text", Some("GET, HEAD, OPTIONS")),
            ("/queries/a/b", None),
            ("/page/a.js", Some("GET, HEAD, OPTIONS")),
            ("/page", None),
            ("/sparql/", None),
        ] {
            assert_eq!(methods(OF_DATABASE, path), expected, "{path}");
        }
        let text = listed("/NAME", OF_ONE_OF_SEVERAL);
        assert!(text.contains("\n/NAME/get                  /data, to be read only (GET)"), "{text}");
    }

    #[test]
    fn every_route_is_in_the_list() {
        // A route with a name is in the list by itself, or as one of those that a name stands for.
        let is_listed = |lists: &[&[Address]], path: &str| {
            lists.iter().any(|list| list.iter().any(|address| address.is_of(path)))
        };
        let (one, server) = ([OF_DATABASE, OF_ONE_OF_SEVERAL], [OF_SERVER]);
        for (source, lists) in [
            (include_str!("database_routes.rs"), &one[..]),
            (include_str!("kept_routes/mod.rs"), &one[..]),
            (include_str!("rdf4j/mod.rs"), &one[..]),
            (include_str!("catalog/routes.rs"), &server[..]),
        ] {
            let routes = source.split(".route(\"").skip(1).filter_map(|rest| rest.split('"').next());
            for path in routes.filter(|path| !["/admin", "/admin/{*path}"].contains(path)) {
                assert!(is_listed(lists, path), "{path} is in no list of addresses.rs");
            }
        }
    }
}

//! Where a server takes queries, updates and data.

use crate::exit::wrong_usage;
use crate::server_client::{server_address, without_password};

/// The addresses of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addresses {
    /// For queries: the first one, and another one for servers that do not know it.
    pub query: String,
    pub query_else: Option<String>,
    pub update: String,
    /// Of the Graph Store Protocol.
    pub data: String,
    /// Without a path of the protocol.
    pub base: String,
}

/// The last parts of addresses that are endpoints themselves.
const ENDPOINTS: [&str; 5] = ["sparql", "query", "update", "data", "statements"];

impl Addresses {
    /// What an address means: an endpoint, or a server (of one with several databases, with its name) whose endpoints are below it.
    pub fn new(url: &str) -> anyhow::Result<Self> {
        let url = url.trim().trim_end_matches('/');
        let (_, behind) = url.split_once("://").unwrap_or(("", url));
        let (_, path) = behind.split_once('/').unwrap_or((behind, ""));
        without_password(url)?;
        if url.contains(['?', '#']) {
            return Err(wrong_usage(format!("{url}: the address of a server has no parameters")));
        }
        let last = path.rsplit('/').next().unwrap_or("");
        // As RDF4J and GraphDB have them.
        let is_repository = path.contains("repositories/");
        let (own, base) = (url.to_owned(), server_address(url));
        if is_repository {
            let query = own.trim_end_matches("/statements").to_owned();
            let update = format!("{query}/statements");
            return Ok(Self { data: update.clone(), update, base: query.clone(), query, query_else: None });
        }
        let below = |name: &str| format!("{base}/{name}");
        let is_endpoint = ENDPOINTS.contains(&last);
        let query = match last {
            "update" => below("query"),
            "data" => below("sparql"),
            _ if is_endpoint => own.clone(),
            _ => below("sparql"),
        };
        let update = match last {
            "sparql" | "update" => own.clone(),
            _ => below("update"),
        };
        let query_else = (!is_endpoint && !path.is_empty()).then_some(own);
        Ok(Self { query, query_else, update, data: below("data"), base: base.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::Addresses;

    #[test]
    fn endpoints_and_servers() {
        for (url, query, other, update) in [
            ("http://h:1", "http://h:1/sparql", None, "http://h:1/update"),
            ("http://h:1/", "http://h:1/sparql", None, "http://h:1/update"),
            ("http://h:1/sparql", "http://h:1/sparql", None, "http://h:1/sparql"),
            ("http://h:1/query", "http://h:1/query", None, "http://h:1/update"),
            ("http://h:1/update", "http://h:1/query", None, "http://h:1/update"),
            ("http://h/db", "http://h/db/sparql", Some("http://h/db"), "http://h/db/update"),
            (
                "http://h/repositories/r",
                "http://h/repositories/r",
                None,
                "http://h/repositories/r/statements",
            ),
        ] {
            let addresses = Addresses::new(url).unwrap();
            assert_eq!((addresses.query.as_str(), addresses.update.as_str()), (query, update), "{url}");
            assert_eq!(addresses.query_else.as_deref(), other, "{url}");
        }
        assert!(Addresses::new("http://me:secret@h/").is_err() && Addresses::new("http://h/?a=b").is_err());
    }
}

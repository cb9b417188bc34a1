//! SERVICE over HTTP, only to endpoints on an allow-list (empty by default: no query can make the server talk to others).

use lode_exec::context::{ServiceHandler, ServiceRows};
use lode_rdf::Term;
use sparesults::{QueryResultsFormat, QueryResultsParser, ReaderQueryResultsParserOutput};
use std::io::Read;
use std::time::Duration;

/// The most bytes read of one answer.
const ANSWER_BYTES_MAX: u64 = 1 << 30;
/// Media types asked for, best first.
const ACCEPT: &str = "application/sparql-results+json, application/sparql-results+xml;q=0.8";

/// Federation through the SPARQL 1.1 Protocol (POST, form-encoded).
#[derive(Debug)]
pub struct HttpService {
    allowed: Vec<String>,
    agent: ureq::Agent,
}

impl HttpService {
    /// Talks only to endpoints whose IRI is in `allowed` or starts with an entry that ends in `*`; of such an entry scheme, host and port
    /// count wholly; `*` alone allows all.
    pub fn new(allowed: Vec<String>, timeout: Duration) -> Self {
        let config = ureq::Agent::config_builder().timeout_global(Some(timeout)).max_redirects(0).build();
        Self { allowed, agent: config.into() }
    }

    fn is_allowed(&self, endpoint: &str) -> bool {
        self.allowed.iter().any(|entry| match entry.strip_suffix('*') {
            Some("") => true,
            Some(prefix) => starts_with(endpoint, prefix),
            None => endpoint == entry,
        })
    }
}

/// Whether an address begins so: another host does not begin like a host, and dots do not lead out of a folder.
fn starts_with(endpoint: &str, prefix: &str) -> bool {
    let (Some(asked), Some(allowed)) = (Address::parse(endpoint), Address::parse(prefix)) else {
        return false;
    };
    asked.origin == allowed.origin && !asked.has_dots && asked.path.starts_with(allowed.path)
}

/// The parts of an address that decide who is asked.
struct Address<'a> {
    /// Scheme, host and port, in lower case, the port always told.
    origin: (String, String, String),
    path: &'a str,
    /// Whether a server could resolve its path to another.
    has_dots: bool,
}

impl<'a> Address<'a> {
    /// None where it is no address of a server, or says as whom to ask.
    fn parse(text: &'a str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        let standard_port = match scheme.as_str() {
            "http" => "80",
            "https" => "443",
            _ => return None,
        };
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len()));
        if authority.is_empty() || authority.contains('@') {
            return None;
        }
        let port_at = authority.rfind(':').filter(|at| !authority[*at..].contains(']'));
        let (host, port) = port_at.map_or((authority, ""), |at| (&authority[..at], &authority[at + 1..]));
        let port = if port.is_empty() { standard_port } else { port };
        let plain = path.to_ascii_lowercase().replace("%2e", ".");
        let has_dots = path.contains('\\') || plain.split('/').any(|part| part == "." || part == "..");
        let origin = (scheme, host.to_ascii_lowercase(), port.to_owned());
        Some(Self { origin, path: if path.is_empty() { "/" } else { path }, has_dots })
    }
}

impl ServiceHandler for HttpService {
    fn query(&self, endpoint: &str, query: &str) -> Result<ServiceRows, String> {
        if !self.is_allowed(endpoint) {
            return Err("this endpoint is not on the allow-list (--allow-service IRI)".to_owned());
        }
        let response = self
            .agent
            .post(endpoint)
            .header("Accept", ACCEPT)
            .send_form([("query", query)])
            .map_err(|error| error.to_string())?;
        let media_type = response.headers().get("content-type").and_then(|value| value.to_str().ok());
        let format = media_type
            .and_then(|value| {
                QueryResultsFormat::from_media_type(value.split(';').next().unwrap_or("").trim())
            })
            .ok_or_else(|| {
                format!("answered with the unknown content type {}", media_type.unwrap_or("(none)"))
            })?;
        read_rows(format, response.into_body().into_reader().take(ANSWER_BYTES_MAX))
    }
}

/// Reads a result of rows.
fn read_rows(format: QueryResultsFormat, body: impl Read) -> Result<ServiceRows, String> {
    let parser = QueryResultsParser::from_format(format);
    let ReaderQueryResultsParserOutput::Solutions(solutions) =
        parser.for_reader(body).map_err(|error| error.to_string())?
    else {
        return Err("answered yes or no instead of rows".to_owned());
    };
    let variables: Vec<String> = solutions.variables().iter().map(|v| v.as_str().to_owned()).collect();
    let mut rows: Vec<Vec<Option<Term>>> = Vec::new();
    for solution in solutions {
        rows.push(solution.map_err(|error| error.to_string())?.values().to_vec());
    }
    Ok((variables, rows))
}

#[cfg(test)]
mod tests {
    //! Who may be asked.
    use super::HttpService;
    use std::time::Duration;

    #[test]
    fn entries_name_origins_wholly() {
        let allows = |entry: &str, endpoint: &str| {
            HttpService::new(vec![entry.to_owned()], Duration::from_secs(1)).is_allowed(endpoint)
        };
        for (entry, endpoint) in [
            ("http://example.org/sparql", "http://example.org/sparql"),
            ("http://example.org*", "http://example.org/sparql"),
            ("http://example.org*", "http://EXAMPLE.org:80/a?b"),
            ("https://example.org/*", "https://example.org:443"),
            ("http://[::1]:7878/*", "http://[::1]:7878/sparql"),
            ("http://example.org/a*", "http://example.org/abc/d"),
            ("*", "http://example.org/"),
        ] {
            assert!(allows(entry, endpoint), "{entry} {endpoint}");
        }
        for (entry, endpoint) in [
            ("http://example.org*", "http://example.org.evil.com/"),
            ("http://example.org*", "http://example.org@evil.com/"),
            ("http://example.org*", "http://example.org:81/"),
            ("http://example.org*", "http://example.organ/"),
            ("http://example.org*", "https://example.org/"),
            ("http://example.org*", "http://example.org\\@evil.com/"),
            ("http://example.org/a/*", "http://example.org/a/../b"),
            ("http://example.org/a/*", "http://example.org/a/%2E%2e/b"),
            ("http://example.org/sparql", "http://example.org/sparql/"),
            ("http*", "http://example.org/"),
        ] {
            assert!(!allows(entry, endpoint), "{entry} {endpoint}");
        }
    }
}

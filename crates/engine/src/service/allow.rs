//! Which endpoints may be asked: those on a list, which is empty by default, so that no query can make a server talk to others.

/// Endpoints that may be asked.
#[derive(Debug, Clone, Default)]
pub(super) struct AllowList(Vec<String>);

impl AllowList {
    /// Those whose IRI is an entry or starts with an entry that ends in `*`; of such an entry scheme, host and port count wholly; `*` alone
    /// allows all.
    pub(super) fn new(entries: Vec<String>) -> Self {
        Self(entries)
    }

    /// Whether an endpoint may be asked.
    pub(super) fn allows(&self, endpoint: &str) -> bool {
        self.0.iter().any(|entry| match entry.strip_suffix('*') {
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

#[cfg(test)]
mod tests {
    //! Who may be asked.
    use super::AllowList;

    #[test]
    fn entries_name_origins_wholly() {
        let allows = |entry: &str, endpoint: &str| AllowList::new(vec![entry.to_owned()]).allows(endpoint);
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

//! Addresses as counters have them: those that there are, and one name for all others, whatever clients ask for.

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Route(pub(super) &'static str);

/// What is below them is the same route.
const ROOTS: [&str; 7] = [
    "/data",
    "/queries",
    "/admin/databases",
    "/admin/queries",
    "/admin/snapshots",
    "/rdf4j",
    "/repositories",
];
const PATHS: [&str; 22] = [
    "/",
    "/get",
    "/sparql",
    "/query",
    "/update",
    "/shacl",
    "/why",
    "/api/complete",
    "/api/hover",
    "/api/format",
    "/api/check",
    "/api/prefixes",
    "/.well-known/void",
    "/admin/stats",
    "/admin/workers",
    "/admin/compact",
    "/admin/materialise",
    "/admin/backup",
    "/metrics",
    "/health/live",
    "/$/ping",
    "/health/ready",
];
/// All that there is nothing at.
const OTHER: &str = "other";

/// A database among several, all of it at one address.
pub(super) const OF_ONE: &str = "/NAME";

impl Route {
    /// An address within a database.
    pub(super) fn within(path: &str, is_one_of_several: bool) -> Self {
        match path {
            "/" if is_one_of_several => Self(OF_ONE),
            path => Self(Self::known(path).unwrap_or(OTHER)),
        }
    }

    /// Where there are several databases, an address is that of one of them behind its name.
    pub(super) fn of(path: &str) -> Self {
        let slash = path.get(1..).and_then(|path| path.find('/'));
        let behind_name = || slash.map(|slash| &path[slash + 1..]).filter(|rest| *rest != "/");
        let known = Self::known(path);
        Self(known.or_else(|| behind_name().and_then(Self::known)).unwrap_or(OTHER))
    }

    fn known(path: &str) -> Option<&'static str> {
        let is_below = |root: &&str| {
            path.strip_prefix(*root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let known = PATHS.into_iter().find(|known| *known == path);
        known.or_else(|| ROOTS.into_iter().find(|root| is_below(root)))
    }
}

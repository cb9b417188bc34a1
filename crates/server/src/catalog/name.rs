//! Names of databases: a folder's name and the first part of an address at once.

use crate::error::HttpError;

/// The longest name.
const BYTES_MAX: usize = 64;
/// What an address begins with that is none of a database.
const RESERVED: [&str; 13] = [
    "admin",
    "api",
    "data",
    "favicon.ico",
    "get",
    "health",
    "metrics",
    "protocol",
    "query",
    "repositories",
    "sparql",
    "static",
    "update",
];

/// What the file of users is called, and those beside it that are made when it is changed.
const USERS: &str = "users.json";

/// Whether a folder of this name is a database to be served.
pub(super) fn is_fit(name: &str) -> bool {
    let is_fit = |c: u8| c.is_ascii_alphanumeric() || b"-_.".contains(&c);
    (1..=BYTES_MAX).contains(&name.len())
        && !name.starts_with('.')
        && name.bytes().all(is_fit)
        && !RESERVED.contains(&name)
        // The users of all are beside the databases.
        && !name.starts_with(USERS)
}

/// Refuses a name that is none.
pub(super) fn check(name: &str) -> Result<(), HttpError> {
    if is_fit(name) {
        return Ok(());
    }
    Err(HttpError::bad_request(format!(
        "the name of a database has 1 to {BYTES_MAX} letters, digits, and - _ . (no . at its beginning), and is none of {}, {USERS}",
        RESERVED.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    //! What may be a name.
    use super::is_fit;

    #[test]
    fn names_lead_nowhere_else() {
        for name in ["a", "Books-2026.v1", "a_b", "administrator", "sparql2"] {
            assert!(is_fit(name), "{name}");
        }
        let long = "a".repeat(65);
        for name in [
            "",
            ".",
            "..",
            ".a",
            "a/b",
            "a\\b",
            "a b",
            "a%2f",
            "a\n",
            "\u{e4}",
            "admin",
            "sparql",
            "users.json",
            "users.json.lock",
            &long,
        ] {
            assert!(!is_fit(name), "{name:?}");
        }
    }
}

//! Who may what: roles, and what each operation asks for.
//!
//! All of it is decided here: what a request asks for, by its address and method ([`Operation::of`]), and whether its role has it
//! ([`Access::check`]). Only an update that comes to an address which also takes queries is known later, and asks the same question then.

mod cache;
mod credentials;
mod file;
mod grant;
mod graphs;
mod identify;
mod layer;
#[cfg(feature = "tls")]
mod oidc;
mod refusal;
mod rights;
mod role;
mod standing;
mod throttle;
mod users;
mod written_rights;

pub use grant::Graphs;
pub use layer::Anonymous;
#[cfg(feature = "tls")]
pub use oidc::{KeyPlace, Oidc};
pub use rights::Rights;
pub use role::Role;
pub use users::{UserError, Users};

pub(crate) use graphs::{graph_rules, with_graph_rules, with_version};
pub(crate) use layer::{Access, Identity, Settings};

use axum::http::Method;

/// What a request is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Queries, downloads and descriptions.
    Read,
    /// Updates, uploads and removals of graphs.
    Update,
    /// All below `/admin`, and `/metrics`.
    Administer,
    /// What tells nothing of the data: which methods an address takes, whether the server is well, and the page.
    Ask,
}

impl Operation {
    /// What an address and a method ask for, at least.
    pub(crate) fn of(method: &Method, path: &str) -> Self {
        if method == Method::OPTIONS {
            return Self::Ask;
        }
        let is_of =
            |root: &str| path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let reads = [Method::GET, Method::HEAD].contains(method);
        match path {
            _ if is_of("/admin") || path == "/metrics" => Self::Administer,
            _ if (is_of("/health") || path == "/$/ping") && reads => Self::Ask,
            // The page has nothing of the data in it, and is where people log in.
            _ if (path == "/" || path.starts_with("/page/")) && reads => Self::Ask,
            _ if is_of("/data") && !reads => Self::Update,
            _ if is_of("/update") || is_of("/rdf4j/transactions") => Self::Update,
            _ if is_of("/rdf4j/statements") && !reads => Self::Update,
            _ => Self::Read,
        }
    }

    /// The same at an address of one of several databases, of which not even whether it is there is for everybody.
    pub(crate) fn of_one(method: &Method, path: &str) -> Self {
        match Self::of(method, path) {
            Self::Ask if method != Method::OPTIONS => Self::Read,
            other => other,
        }
    }

    /// The role that may do it; none where everybody may.
    pub(crate) fn role(self) -> Option<Role> {
        match self {
            Self::Ask => None,
            Self::Read => Some(Role::Read),
            Self::Update => Some(Role::Update),
            Self::Administer => Some(Role::Admin),
        }
    }
}

#[cfg(test)]
mod tests;

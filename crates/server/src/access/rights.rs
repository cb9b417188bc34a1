//! What somebody may do: in all databases, and in some of them.

use super::grant::{Grant, Graphs};
use super::role::Role;
use lode_engine::GraphRules;
use std::collections::BTreeMap;
use std::fmt;

/// Roles, in all databases of a server and in single ones, for all graphs or for some of them. They add up: somebody may do what any of them
/// lets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rights {
    /// In all databases, those that are made later included.
    pub(super) all: Option<Grant>,
    /// In single ones, by name: at least.
    pub(super) databases: BTreeMap<String, Grant>,
}

impl Rights {
    /// A role in these databases; in all, where none is named.
    pub fn new(role: Role, databases: &[String]) -> Self {
        let grant = Grant::from(role);
        if databases.is_empty() {
            return Self { all: Some(grant), databases: BTreeMap::new() };
        }
        Self { all: None, databases: databases.iter().map(|name| (name.clone(), grant.clone())).collect() }
    }

    /// Gives a role in these databases (in all, where none is named) and says for which graphs it is. Of graphs of which nothing is said the rules
    /// stay as they are. The role in all databases becomes no less; that in a single one is the one that was given last.
    pub fn give(&mut self, role: Role, databases: &[String], graphs: &Graphs) {
        let given = |before: Option<&Grant>, role: Role| {
            before.cloned().map_or(Grant::from(role), |before| Grant { role, ..before }).with(graphs)
        };
        if databases.is_empty() {
            let role = self.all.as_ref().map_or(role, |before| before.role.max(role));
            self.all = Some(given(self.all.as_ref(), role));
        }
        for name in databases {
            let grant = given(self.databases.get(name), role);
            self.databases.insert(name.clone(), grant);
        }
    }

    /// Why there cannot be such rights, if so.
    pub(super) fn problem(&self) -> Option<&'static str> {
        self.all.iter().chain(self.databases.values()).find_map(Grant::problem)
    }

    /// The grants that count in a database of this name; in a server's only one, or for the server itself, without a name.
    fn grants(&self, database: Option<&str>) -> impl Iterator<Item = &Grant> {
        self.all.iter().chain(database.and_then(|name| self.databases.get(name)))
    }

    /// All that one of two has. They add up in each database.
    #[cfg(feature = "tls")]
    pub(super) fn or(&self, other: &Self) -> Self {
        let both = |a: Option<&Grant>, b: Option<&Grant>| match (a, b) {
            (Some(a), Some(b)) => Some(a.or(b)),
            (one, other) => one.or(other).cloned(),
        };
        let names = self.databases.keys().chain(other.databases.keys());
        let single = names.filter_map(|name| {
            Some((name.clone(), both(self.databases.get(name), other.databases.get(name))?))
        });
        Self { all: both(self.all.as_ref(), other.all.as_ref()), databases: single.collect() }
    }

    /// The same with no greater role than this; nothing without one.
    pub(super) fn up_to(&self, role: Option<Role>) -> Self {
        let Some(role) = role else { return Self::default() };
        let less = |grant: &Grant| Grant { role: grant.role.min(role), ..grant.clone() };
        let single = self.databases.iter().map(|(name, grant)| (name.clone(), less(grant)));
        Self { all: self.all.as_ref().map(less), databases: single.collect() }
    }

    /// Whether it administers anything.
    pub(super) fn administers(&self) -> bool {
        self.all.iter().chain(self.databases.values()).any(|grant| grant.role == Role::Admin)
    }

    /// The role in a database.
    pub(crate) fn role(&self, database: Option<&str>) -> Option<Role> {
        self.grants(database).map(|grant| grant.role).max()
    }

    /// The graphs of a database that may be read and changed.
    pub(crate) fn graphs(&self, database: Option<&str>) -> GraphRules {
        let rules = self.grants(database).map(Grant::rules);
        let sum = |a: GraphRules, b: GraphRules| GraphRules {
            read: a.read.or(&b.read),
            write: a.write.or(&b.write),
        };
        rules.reduce(sum).unwrap_or_else(GraphRules::nothing)
    }
}

impl From<Option<Role>> for Rights {
    fn from(role: Option<Role>) -> Self {
        Self { all: role.map(Grant::from), databases: BTreeMap::new() }
    }
}

/// The role in all databases, then each name with its role: `read; update in books`.
impl fmt::Display for Rights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let everywhere = self.all.iter().map(Grant::to_string);
        let single = self.databases.iter().map(|(name, grant)| format!("{grant} in {name}"));
        f.write_str(&everywhere.chain(single).collect::<Vec<_>>().join("; "))
    }
}

//! What somebody may do: in all databases, and in some of them.

use super::role::Role;
use std::collections::BTreeMap;
use std::fmt;

/// Roles, in all databases of a server and in single ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rights {
    /// In all databases, those that are made later included.
    pub(super) role: Option<Role>,
    /// In single ones, by name: at least.
    pub(super) databases: BTreeMap<String, Role>,
}

impl Rights {
    /// A role in these databases; in all, where none is named.
    pub fn new(role: Role, databases: &[String]) -> Self {
        if databases.is_empty() {
            return Self { role: Some(role), databases: BTreeMap::new() };
        }
        Self { role: None, databases: databases.iter().map(|name| (name.clone(), role)).collect() }
    }

    /// Adds those of others.
    pub fn add(&mut self, others: Self) {
        self.role = self.role.max(others.role);
        self.databases.extend(others.databases);
    }

    /// The role in a database of this name; of a server's only one, or for the server itself, without a name.
    pub(crate) fn role(&self, database: Option<&str>) -> Option<Role> {
        self.role.max(database.and_then(|name| self.databases.get(name)).copied())
    }
}

impl From<Option<Role>> for Rights {
    fn from(role: Option<Role>) -> Self {
        Self { role, databases: BTreeMap::new() }
    }
}

/// The role in all databases, then each name with its role: `read; update in books`.
impl fmt::Display for Rights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let everywhere = self.role.iter().map(Role::to_string);
        let single = self.databases.iter().map(|(name, role)| format!("{role} in {name}"));
        f.write_str(&everywhere.chain(single).collect::<Vec<_>>().join("; "))
    }
}

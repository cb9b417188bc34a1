//! Variables of queries, by number.

/// A variable of a query: an index into its [`VarTable`]. Variables of a sub-query that it does not project, and blank
/// nodes of patterns, have ids of their own, so equal ids always mean the same variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VarId(pub u32);

/// The variables of a query. A name can occur more than once: sub-queries have scopes of their own.
#[derive(Debug, Clone, Default)]
pub struct VarTable {
    names: Vec<String>,
}

impl VarTable {
    /// Adds a variable of this name (without `?`).
    pub fn add(&mut self, name: impl Into<String>) -> VarId {
        self.names.push(name.into());
        VarId(u32::try_from(self.names.len() - 1).unwrap_or(u32::MAX))
    }

    /// The name of a variable, without `?`.
    pub fn name(&self, var: VarId) -> &str {
        self.names.get(var.0 as usize).map_or("", String::as_str)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

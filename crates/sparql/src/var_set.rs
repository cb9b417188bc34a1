//! Small sets of variables, as sorted vectors.

use crate::variable::VarId;

/// A set of variables, sorted by id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct VarSet(Vec<VarId>);

impl VarSet {
    /// The empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether `var` is a member.
    pub fn contains(&self, var: VarId) -> bool {
        self.0.binary_search(&var).is_ok()
    }

    /// Adds a member; whether it was new.
    pub fn insert(&mut self, var: VarId) -> bool {
        match self.0.binary_search(&var) {
            Ok(_) => false,
            Err(at) => {
                self.0.insert(at, var);
                true
            }
        }
    }

    /// Removes a member.
    pub fn remove(&mut self, var: VarId) {
        if let Ok(at) = self.0.binary_search(&var) {
            self.0.remove(at);
        }
    }

    /// Adds all of `other`.
    pub fn extend(&mut self, other: &Self) {
        for var in &other.0 {
            self.insert(*var);
        }
    }

    /// Members of either.
    pub fn union(&self, other: &Self) -> Self {
        let mut all = self.clone();
        all.extend(other);
        all
    }

    /// Members of both.
    pub fn intersect(&self, other: &Self) -> Self {
        self.0.iter().copied().filter(|v| other.contains(*v)).collect()
    }

    /// Members that `other` lacks.
    pub fn minus(&self, other: &Self) -> Self {
        self.0.iter().copied().filter(|v| !other.contains(*v)).collect()
    }

    /// Whether every member is one of `other`.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.0.iter().all(|v| other.contains(*v))
    }

    /// Whether no member is one of `other`.
    pub fn is_disjoint(&self, other: &Self) -> bool {
        !self.0.iter().any(|v| other.contains(*v))
    }

    /// Members, ascending.
    pub fn iter(&self) -> impl Iterator<Item = VarId> + '_ {
        self.0.iter().copied()
    }

    /// Members, ascending.
    pub fn as_slice(&self) -> &[VarId] {
        &self.0
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<VarId> for VarSet {
    fn from_iter<I: IntoIterator<Item = VarId>>(vars: I) -> Self {
        let mut vars: Vec<VarId> = vars.into_iter().collect();
        vars.sort_unstable();
        vars.dedup();
        Self(vars)
    }
}

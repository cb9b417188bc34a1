//! Predicates and graph names of a load: lists of those that occur, as long as they do not take too much memory.

use crate::segment_builder::TermIndex;

/// What a term is used as, besides as a subject or an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Roles(u8);

impl Roles {
    /// Bits of roles.
    pub const BITS: u32 = 2;
    /// It is a predicate.
    pub const PREDICATE: Self = Self(1);
    /// It is a graph name.
    pub const GRAPH: Self = Self(2);

    /// The roles in the lowest bits.
    pub fn from_bits(bits: u32) -> Self {
        Self((bits & 3) as u8)
    }

    /// The bits.
    pub fn bits(self) -> u32 {
        u32::from(self.0)
    }

    /// Whether this is one of them.
    pub fn has(self, role: Self) -> bool {
        self.0 & role.0 != 0
    }

    /// These and others.
    #[must_use]
    pub fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }
}

/// The roles of the terms of a run, by number.
#[derive(Debug, Default)]
pub struct RunRoles(Vec<u8>);

/// Terms whose roles are in one byte.
const TERMS_PER_BYTE: usize = (u8::BITS / Roles::BITS) as usize;

impl RunRoles {
    /// Those of terms with these numbers.
    pub fn new(terms: u32, predicates: &[u32], graphs: &[u32]) -> Self {
        let mut roles = Self(vec![0; terms as usize / TERMS_PER_BYTE + 1]);
        predicates.iter().for_each(|number| roles.add(*number, Roles::PREDICATE));
        graphs.iter().for_each(|number| roles.add(*number, Roles::GRAPH));
        roles
    }

    fn add(&mut self, number: u32, role: Roles) {
        let shift = number as usize % TERMS_PER_BYTE * Roles::BITS as usize;
        if let Some(byte) = self.0.get_mut(number as usize / TERMS_PER_BYTE) {
            *byte |= role.0 << shift;
        }
    }

    /// Those of one term.
    #[inline]
    pub fn of(&self, number: u32) -> Roles {
        let shift = number as usize % TERMS_PER_BYTE * Roles::BITS as usize;
        let byte = self.0.get(number as usize / TERMS_PER_BYTE).copied().unwrap_or(0);
        Roles::from_bits(u32::from(byte >> shift))
    }
}

/// Terms of one role, while they are listed.
#[derive(Debug, Clone)]
pub struct NameList {
    /// Given up once there are too many.
    names: Option<Vec<TermIndex>>,
    names_max: usize,
}

impl NameList {
    /// None yet; up to `names_max` are listed.
    pub fn new(names_max: usize) -> Self {
        Self { names: Some(Vec::new()), names_max }
    }

    /// Adds a name.
    pub fn push(&mut self, name: TermIndex) {
        let Some(names) = &mut self.names else { return };
        if names.len() < self.names_max {
            names.push(name);
        } else {
            self.names = None;
        }
    }

    /// Adds the names of one run in any order.
    pub fn extend(&mut self, more: impl Iterator<Item = TermIndex>) {
        let Some(names) = &mut self.names else { return };
        names.extend(more);
        names.sort_unstable();
        names.dedup();
        if names.len() > self.names_max {
            self.names = None;
        }
    }

    /// The names, sorted; none where there are too many.
    pub fn into_names(self) -> Option<Vec<TermIndex>> {
        self.names
    }
}

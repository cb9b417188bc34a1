//! Predicates and graph names of a load: lists of those that occur, so that rows hold places in them; or, where the lists would take too
//! much memory, nothing, and rows hold the codes of the terms.

use crate::load::layout::{TermCodes, TermIndex};
use lode_packed::rows::{CodeIds, ColumnIds};
use lode_rdf::ValueId;

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

/// What stands for predicates, or for graph names, in packed rows.
#[derive(Debug)]
pub enum NameFields {
    /// Places in a list.
    Listed {
        /// Codes of the terms, sorted.
        codes: Vec<u64>,
        /// Ids by field.
        ids: Vec<u64>,
    },
    /// Codes of resources.
    Coded {
        /// Ids by field.
        ids: CodeIds,
        /// The field of the first code.
        first: u64,
        /// Beyond all fields.
        end: u64,
    },
}

impl NameFields {
    /// Fields of predicates; `codes` are sorted, none where there are too many.
    pub fn predicates(codes: Option<Vec<u64>>, terms: &TermCodes) -> Self {
        match codes {
            Some(codes) => Self::Listed { ids: codes.iter().map(|code| terms.id(*code)).collect(), codes },
            None => Self::Coded { ids: terms.resource_ids().clone(), first: 0, end: terms.resources_end() },
        }
    }

    /// Fields of graphs; `codes` are those of graph names, and field 0 is the default graph.
    pub fn graphs(codes: Option<Vec<u64>>, terms: &TermCodes) -> Self {
        let default = ValueId::DEFAULT_GRAPH.to_bits();
        match codes {
            Some(codes) => {
                let named = codes.iter().map(|code| terms.id(*code));
                Self::Listed { ids: std::iter::once(default).chain(named).collect(), codes }
            }
            None => {
                let (ids, first) = terms.resource_ids().behind(default);
                Self::Coded { ids, first, end: first + terms.resources_end() }
            }
        }
    }

    /// The field of a term.
    pub fn field(&self, code: u64, terms: &TermCodes) -> u64 {
        match self {
            Self::Listed { codes, ids } => {
                let place = codes.binary_search(&code).map_or(0, |place| place as u64);
                place + (ids.len() - codes.len()) as u64
            }
            Self::Coded { first, .. } => first + terms.resource(code),
        }
    }

    /// The code of the term that a field stands for; none for the default graph.
    pub fn code(&self, field: u64, terms: &TermCodes) -> Option<u64> {
        match self {
            Self::Listed { codes, ids } => {
                codes.get(field.checked_sub((ids.len() - codes.len()) as u64)? as usize).copied()
            }
            Self::Coded { first, .. } => Some(terms.code_of_resource(field.checked_sub(*first)?)),
        }
    }

    /// Ids by field.
    pub fn ids(&self) -> ColumnIds<'_> {
        match self {
            Self::Listed { ids, .. } => ColumnIds::Places(ids),
            Self::Coded { ids, .. } => ColumnIds::Terms(ids),
        }
    }

    /// Beyond all fields.
    pub fn end(&self) -> u64 {
        match self {
            Self::Listed { ids, .. } => ids.len() as u64,
            Self::Coded { end, .. } => *end,
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Listed { codes, ids } => (codes.capacity() + ids.capacity()) * size_of::<u64>(),
            Self::Coded { .. } => 0,
        }
    }
}

//! What stands for predicates and graph names in packed rows: places in lists of those that occur; or, where the lists would take too much
//! memory, the codes of the terms.

use super::term_codes::TermCodes;
use lode_packed::rows::{CodeIds, ColumnIds};
use lode_rdf::ValueId;

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

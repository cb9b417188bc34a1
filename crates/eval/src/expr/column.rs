//! Columns: what an expression is worth for every row of a batch.

use super::texts::Texts;
use crate::context::EvalContext;
use crate::error::ExecError;
pub(crate) use crate::values::truth::Tri;
use crate::values::value::Value;
use lode_rdf::{Kind, Term, ValueId};

/// One value for all rows.
#[derive(Debug, Clone)]
pub(crate) enum Constant<'e> {
    /// A term of the query.
    Term(&'e Term),
    /// A computed value; `None` is an error.
    Value(Option<Value>),
}

/// What an expression is worth for every row.
#[derive(Debug, Clone)]
pub(crate) enum Column<'e> {
    /// Terms; unbound is an error.
    Ids(Vec<ValueId>),
    Bools(Vec<Tri>),
    /// Computed values, and the memory of their texts; `None` is an error.
    Values(Vec<Option<Value>>, Texts),
    Constant(Constant<'e>),
}

impl Column<'_> {
    /// An error in every row.
    pub const ERROR: Self = Self::Constant(Constant::Value(None));

    /// The ids of all results, where computed values have inline ids; `None` where one has not, or was given an id for this query.
    pub fn inline_ids(&self, rows: usize) -> Option<Vec<ValueId>> {
        let inline = |value: &Option<Value>| match value {
            None => Some(ValueId::UNDEF),
            Some(value) => value.to_inline(),
        };
        match self {
            Self::Ids(ids) => ids.iter().all(|id| id.kind() != Some(Kind::Local)).then(|| ids.clone()),
            Self::Bools(bools) => Some(bools.iter().copied().map(tri_id).collect()),
            Self::Values(values, _) => values.iter().map(inline).collect(),
            Self::Constant(Constant::Value(value)) => Some(vec![inline(value)?; rows]),
            Self::Constant(Constant::Term(_)) => None,
        }
    }

    /// The terms' ids; computed values get the ids of their canonical terms.
    pub fn into_ids(self, cx: &EvalContext, rows: usize) -> Result<Vec<ValueId>, ExecError> {
        match self {
            Self::Ids(ids) => Ok(ids),
            Self::Bools(bools) => Ok(bools.into_iter().map(tri_id).collect()),
            Self::Values(values, _) => values.iter().map(|value| value_id(cx, value.as_ref())).collect(),
            Self::Constant(Constant::Term(term)) => Ok(vec![cx.intern(term)?; rows]),
            Self::Constant(Constant::Value(value)) => Ok(vec![value_id(cx, value.as_ref())?; rows]),
        }
    }
}

/// The id of a truth value.
pub(crate) fn tri_id(value: Tri) -> ValueId {
    match value {
        Tri::False => lode_rdf::inline::from_bool(false),
        Tri::True => lode_rdf::inline::from_bool(true),
        Tri::Error => ValueId::UNDEF,
    }
}

/// The id of a value's canonical term; unbound for an error.
pub(crate) fn value_id(cx: &EvalContext, value: Option<&Value>) -> Result<ValueId, ExecError> {
    let Some(value) = value else { return Ok(ValueId::UNDEF) };
    match value.to_inline() {
        Some(id) => Ok(id),
        None => cx.intern(&value.to_term()),
    }
}

/// The values of a column, ready to be read row by row.
pub(crate) enum Operand<'c> {
    One(Option<Value>),
    Rows(&'c [Option<Value>]),
    /// Values of ids, with the memory of their texts.
    Decoded(Vec<Option<Value>>, #[expect(dead_code, reason = "held as long as the values")] Texts),
    Bools(&'c [Tri]),
}

const TRUE: Value = Value::Boolean(true);
const FALSE: Value = Value::Boolean(false);

impl Operand<'_> {
    /// The value in a row; `None` is an error.
    #[inline]
    pub fn get(&self, row: usize) -> Option<&Value> {
        match self {
            Self::One(value) => value.as_ref(),
            Self::Rows(values) => values.get(row).and_then(Option::as_ref),
            Self::Decoded(values, _) => values.get(row).and_then(Option::as_ref),
            Self::Bools(bools) => match bools.get(row) {
                Some(Tri::True) => Some(&TRUE),
                Some(Tri::False) => Some(&FALSE),
                _ => None,
            },
        }
    }

    /// Whether all rows have the same value.
    pub fn is_constant(&self) -> bool {
        matches!(self, Self::One(_))
    }
}

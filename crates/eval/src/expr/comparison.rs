//! Comparisons of columns: by id where the ids tell, by value for the rows that remain.

use super::column::{Column, Constant, Operand, Tri};
use super::constant;
use super::decode;
use super::eval::Evaluator;
use super::selection::gather;
use crate::error::ExecError;
use crate::values::compare::{self, Comparison};
use crate::values::identity::{equals_itself, has_known_value};
use crate::values::value::Value;
use lode_rdf::{Kind, ValueId};
use lode_sparql::Expr;
use lode_sparql::id_set::IdSet;
use lode_store::Snapshot;

/// `a = b` where the ids tell.
#[inline]
fn equal_ids(a: ValueId, b: ValueId) -> Option<Tri> {
    if a.is_undef() || b.is_undef() {
        return Some(Tri::Error);
    }
    if a == b && equals_itself(a) {
        return Some(Tri::True);
    }
    let (kind_a, kind_b) = (a.kind()?, b.kind()?);
    if !has_known_value(a) || !has_known_value(b) {
        // An IRI of the store is equal to no other term, whatever that is.
        let iri_and_other = (kind_a == Kind::Iri) != (kind_b == Kind::Iri);
        return iri_and_other.then_some(Tri::False);
    }
    match (group(kind_a), group(kind_b)) {
        // Tags compare in any case.
        (Group::LangString, Group::LangString) => None,
        (Group::Term, Group::Term) | (Group::String, Group::String) => Some(Tri::False),
        (group_a, group_b) if group_a != group_b => Some(Tri::False),
        _ if kind_a == kind_b && kind_a.is_integer() => Some(Tri::False),
        _ => Some(compare::equal(&Value::from_inline(a)?, &Value::from_inline(b)?)),
    }
}

/// Kinds whose values are disjoint from those of the other groups.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    Term,
    String,
    LangString,
    Boolean,
    Number,
    DateTime,
    Date,
}

fn group(kind: Kind) -> Group {
    match kind {
        Kind::String => Group::String,
        Kind::LangString => Group::LangString,
        Kind::Boolean => Group::Boolean,
        Kind::DateTime => Group::DateTime,
        Kind::Date => Group::Date,
        kind if kind.is_literal() => Group::Number,
        _ => Group::Term,
    }
}

/// `<` and its kin where the ids tell.
#[inline]
fn compare_ids(comparison: Comparison, a: ValueId, b: ValueId, snapshot: &Snapshot) -> Option<Tri> {
    if a.is_undef() || b.is_undef() {
        return Some(Tri::Error);
    }
    let (kind_a, kind_b) = (a.kind()?, b.kind()?);
    if kind_a == kind_b && (kind_a.is_integer() || (kind_a == Kind::String && snapshot.are_ordered(a, b))) {
        return Some(comparison.holds(Some(a.cmp(&b))).into());
    }
    Some(compare::compare(comparison, &Value::from_inline(a)?, &Value::from_inline(b)?))
}

impl Evaluator<'_> {
    /// `a = b`.
    pub fn equal<'e>(&self, a: &'e Expr, b: &'e Expr) -> Result<Column<'e>, ExecError> {
        let (a, b) = (self.eval(a)?, self.eval(b)?);
        Ok(Column::Bools(self.equal_columns(&a, &b)?))
    }

    /// `a = b` of evaluated columns.
    pub fn equal_columns(&self, a: &Column<'_>, b: &Column<'_>) -> Result<Vec<Tri>, ExecError> {
        if let (Column::Ids(ids), Column::Constant(Constant::Term(term)))
        | (Column::Constant(Constant::Term(term)), Column::Ids(ids)) = (a, b)
            && term.is_named_node()
        {
            return Ok(constant::equal_to_iri(ids, self.cx.intern(term)?));
        }
        self.by_id_then_value(a, b, equal_ids, compare::equal)
    }

    /// `a < b` and its kin.
    pub fn compare<'e>(
        &self,
        comparison: Comparison,
        a: &'e Expr,
        b: &'e Expr,
    ) -> Result<Column<'e>, ExecError> {
        let (a, b) = (self.eval(a)?, self.eval(b)?);
        if let Some(truths) = self.compare_numbers(comparison, &a, &b)? {
            return Ok(Column::Bools(truths));
        }
        Ok(Column::Bools(self.by_id_then_value(
            &a,
            &b,
            |a, b| compare_ids(comparison, a, b, &self.cx.snapshot),
            |a, b| compare::compare(comparison, a, b),
        )?))
    }

    /// `sameTerm(a, b)`.
    pub fn same_term<'e>(&self, a: &'e Expr, b: &'e Expr) -> Result<Column<'e>, ExecError> {
        let a = self.eval(a)?.into_ids(self.cx, self.rows())?;
        let b = self.eval(b)?.into_ids(self.cx, self.rows())?;
        let same = |(a, b): (&ValueId, &ValueId)| {
            if a.is_undef() || b.is_undef() { Tri::Error } else { Tri::from(a == b) }
        };
        Ok(Column::Bools(a.iter().zip(&b).map(same).collect()))
    }

    /// Whether a term is in a set of terms.
    pub fn is_among<'e>(&self, value: &'e Expr, set: &IdSet) -> Result<Column<'e>, ExecError> {
        let ids = self.eval(value)?.into_ids(self.cx, self.rows())?;
        let among = |id: &ValueId| if id.is_undef() { Tri::Error } else { Tri::from(set.contains(*id)) };
        Ok(Column::Bools(ids.iter().map(among).collect()))
    }

    /// Compares two columns row by row: by id where both have ids and those tell, else by value.
    fn by_id_then_value(
        &self,
        a: &Column<'_>,
        b: &Column<'_>,
        by_id: impl Fn(ValueId, ValueId) -> Option<Tri>,
        by_value: impl Fn(&Value, &Value) -> Tri,
    ) -> Result<Vec<Tri>, ExecError> {
        let (Some(ids_a), Some(ids_b)) = (self.ids(a)?, self.ids(b)?) else {
            return self.by_value(a, b, self.rows(), by_value);
        };
        let mut result = Vec::with_capacity(self.rows());
        let mut open = Vec::new();
        for row in 0..self.rows() {
            let truth = by_id(ids_a.get(row), ids_b.get(row));
            if truth.is_none() {
                open.push(row as u32);
            }
            result.push(truth.unwrap_or(Tri::Error));
        }
        if open.is_empty() {
            return Ok(result);
        }
        let (a, b) = (gather(a.clone(), &open), gather(b.clone(), &open));
        let truths = self.by_value(&a, &b, open.len(), by_value)?;
        for (row, truth) in open.iter().zip(truths) {
            if let Some(slot) = result.get_mut(*row as usize) {
                *slot = truth;
            }
        }
        Ok(result)
    }

    fn by_value(
        &self,
        a: &Column<'_>,
        b: &Column<'_>,
        rows: usize,
        by_value: impl Fn(&Value, &Value) -> Tri,
    ) -> Result<Vec<Tri>, ExecError> {
        let (a, b): (Operand<'_>, Operand<'_>) = (decode::operand(self.cx, a)?, decode::operand(self.cx, b)?);
        let compare = |row| match (a.get(row), b.get(row)) {
            (Some(a), Some(b)) => by_value(a, b),
            _ => Tri::Error,
        };
        Ok((0..rows).map(compare).collect())
    }

    /// The ids of a column of terms; `None` for computed values.
    fn ids<'c>(&self, column: &'c Column<'_>) -> Result<Option<Ids<'c>>, ExecError> {
        Ok(match column {
            Column::Ids(ids) => Some(Ids::Rows(ids)),
            Column::Constant(Constant::Term(term)) => Some(Ids::One(self.cx.intern(term)?)),
            _ => None,
        })
    }
}

/// Ids of a column or of a constant.
enum Ids<'c> {
    Rows(&'c [ValueId]),
    One(ValueId),
}

impl Ids<'_> {
    #[inline]
    fn get(&self, row: usize) -> ValueId {
        match self {
            Self::Rows(ids) => ids.get(row).copied().unwrap_or_default(),
            Self::One(id) => *id,
        }
    }
}

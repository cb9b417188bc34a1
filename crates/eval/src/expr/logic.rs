//! Truth: effective boolean values, three-valued logic, IF, COALESCE and IN. What is decided for a row is not evaluated further.

use super::column::{Column, Constant, Tri, value_id};
use super::decode;
use super::eval::Evaluator;
use super::selection::{gather, positions};
use super::texts::Texts;
use crate::error::ExecError;
use crate::values::in_list::InList;
use crate::values::value::Value;
use lode_rdf::{Kind, ValueId, inline};
use lode_sparql::Expr;
use std::sync::Arc;

impl Evaluator<'_> {
    /// The effective boolean value for every row.
    pub fn truth(&self, expr: &Expr) -> Result<Vec<Tri>, ExecError> {
        let rows = self.rows();
        match self.eval(expr)? {
            Column::Bools(bools) => Ok(bools),
            Column::Ids(ids) => self.truth_of_ids(&ids),
            column => {
                let operand = decode::operand(self.cx, &column)?;
                let truth = |row| Tri::from_option(operand.get(row).and_then(Value::effective_boolean));
                if operand.is_constant() {
                    Ok(vec![truth(0); rows])
                } else {
                    Ok((0..rows).map(truth).collect())
                }
            }
        }
    }

    fn truth_of_ids(&self, ids: &[ValueId]) -> Result<Vec<Tri>, ExecError> {
        let all_boolean = |id: &ValueId| id.is_undef() || id.kind_byte() == Kind::Boolean as u8;
        if ids.iter().all(all_boolean) {
            return Ok(ids.iter().map(|id| Tri::from_option(inline::as_bool(*id))).collect());
        }
        let values = decode::values(self.cx, ids)?;
        let truth = |value: Option<&Value>| Tri::from_option(value.and_then(Value::effective_boolean));
        Ok(values.iter().map(|value| truth(value.as_ref())).collect())
    }

    /// `&&`: an operand is evaluated where none before it was false.
    pub fn and(&self, operands: &[Expr]) -> Result<Vec<Tri>, ExecError> {
        self.connect(operands, Tri::True, Tri::False, Tri::and)
    }

    /// `||`: an operand is evaluated where none before it was true.
    pub fn or(&self, operands: &[Expr]) -> Result<Vec<Tri>, ExecError> {
        self.connect(operands, Tri::False, Tri::True, Tri::or)
    }

    fn connect(
        &self,
        operands: &[Expr],
        neutral: Tri,
        decided: Tri,
        combine: fn(Tri, Tri) -> Tri,
    ) -> Result<Vec<Tri>, ExecError> {
        let Some((first, rest)) = operands.split_first() else { return Ok(vec![neutral; self.rows()]) };
        let mut result = self.truth(first)?;
        for operand in rest {
            let open = positions(&result, |truth| *truth != decided);
            if open.is_empty() {
                break;
            }
            let truths = self.over(&open, |evaluator| evaluator.truth(operand))?;
            for (row, truth) in open.iter().zip(truths) {
                if let Some(slot) = result.get_mut(*row as usize) {
                    *slot = combine(*slot, truth);
                }
            }
        }
        Ok(result)
    }

    /// Evaluates over some rows, without a selection where they are all.
    fn over<T>(
        &self,
        rows: &[u32],
        evaluate: impl Fn(&Evaluator<'_>) -> Result<T, ExecError>,
    ) -> Result<T, ExecError> {
        if rows.len() == self.rows() { evaluate(self) } else { evaluate(&self.narrow(rows)) }
    }

    /// `IF`: an error in the condition is an error.
    pub fn conditional<'e>(
        &self,
        condition: &Expr,
        yes: &'e Expr,
        no: &'e Expr,
    ) -> Result<Column<'e>, ExecError> {
        let condition = self.truth(condition)?;
        let mut merge = ColumnParts::new(self);
        for (truth, branch) in [(Tri::True, yes), (Tri::False, no)] {
            let rows = positions(&condition, |found| *found == truth);
            if rows.len() == self.rows() {
                return self.eval(branch);
            }
            if !rows.is_empty() {
                let column = self.narrow(&rows).eval(branch)?;
                merge.put(&rows, column)?;
            }
        }
        merge.finish()
    }

    /// `COALESCE`: the first operand that is no error.
    pub fn coalesce<'e>(&self, list: &'e [Expr]) -> Result<Column<'e>, ExecError> {
        let mut open: Vec<u32> = (0..self.rows() as u32).collect();
        let mut merge = ColumnParts::new(self);
        for operand in list {
            if open.is_empty() {
                break;
            }
            let column = self.over(&open, |evaluator| evaluator.eval(operand))?;
            let errors = error_rows(&column, open.len());
            if errors.is_empty() && open.len() == self.rows() {
                return Ok(column);
            }
            merge.put(&open, column)?;
            open = errors.iter().filter_map(|row| open.get(*row as usize).copied()).collect();
        }
        merge.finish()
    }

    /// `IN`: true where one is equal, else an error where one comparison is.
    pub fn is_in<'e>(&self, value: &'e Expr, list: &'e Arc<Vec<Expr>>) -> Result<Column<'e>, ExecError> {
        let value = self.eval(value)?;
        let set = self
            .cx
            .memos
            .in_list(list, || InList::new(list, &self.cx.cancel, |term| self.cx.intern(term)))?;
        let mut result = vec![Tri::False; self.rows()];
        let mut open: Vec<u32> = match &value {
            Column::Ids(ids) => find_by_id(ids, &set, &mut result),
            column => {
                for row in error_rows(column, self.rows()) {
                    if let Some(slot) = result.get_mut(row as usize) {
                        *slot = Tri::Error;
                    }
                }
                positions(&result, |truth| *truth != Tri::Error)
            }
        };
        if !open.is_empty() {
            let subset = gather(value.clone(), &open);
            let operand = decode::operand(self.cx, &subset)?;
            for (at, row) in open.iter().enumerate() {
                if let Some(slot) = result.get_mut(*row as usize) {
                    *slot = operand.get(at).map_or(Tri::Error, |value| set.by_value(value));
                }
            }
        }
        for item in set.others.iter().filter_map(|number| list.get(*number)) {
            open.retain(|row| result.get(*row as usize) != Some(&Tri::True));
            if open.is_empty() {
                break;
            }
            self.cx.cancel.check()?;
            let subset = if open.len() == self.rows() { value.clone() } else { gather(value.clone(), &open) };
            let truths = self.over(&open, |evaluator| {
                let item = evaluator.eval(item)?;
                evaluator.equal_columns(&subset, &item)
            })?;
            for (row, truth) in open.iter().zip(truths) {
                if let Some(slot) = result.get_mut(*row as usize) {
                    *slot = slot.or(truth);
                }
            }
        }
        Ok(Column::Bools(result))
    }
}

/// Answers IN by looking ids up in the constants of the list; gives back the rows that this cannot decide.
fn find_by_id(ids: &[ValueId], set: &InList, result: &mut [Tri]) -> Vec<u32> {
    let mut open = Vec::new();
    for ((row, id), slot) in ids.iter().enumerate().zip(result) {
        match set.by_id(*id) {
            Some(truth) => *slot = truth,
            None => open.push(row as u32),
        }
    }
    open
}

/// The rows in which a column is an error.
fn error_rows(column: &Column<'_>, rows: usize) -> Vec<u32> {
    match column {
        Column::Ids(ids) => positions(ids, |id| id.is_undef()),
        Column::Bools(bools) => positions(bools, |truth| *truth == Tri::Error),
        Column::Values(values, _) => positions(values, Option::is_none),
        Column::Constant(Constant::Value(None)) => (0..rows as u32).collect(),
        Column::Constant(_) => Vec::new(),
    }
}

/// Puts a column together from parts. Parts that are all computed stay values; where terms take part, all become ids.
struct ColumnParts<'m, 'a> {
    evaluator: &'m Evaluator<'a>,
    values: Vec<Option<Value>>,
    texts: Texts,
    ids: Option<Vec<ValueId>>,
}

impl<'m, 'a> ColumnParts<'m, 'a> {
    fn new(evaluator: &'m Evaluator<'a>) -> Self {
        let values = vec![None; evaluator.rows()];
        Self { evaluator, values, texts: Texts::default(), ids: None }
    }

    fn put(&mut self, rows: &[u32], column: Column<'_>) -> Result<(), ExecError> {
        let computed =
            matches!(column, Column::Values(..) | Column::Bools(_) | Column::Constant(Constant::Value(_)));
        if computed && self.ids.is_none() {
            if let Column::Values(_, texts) = &column {
                self.texts.add(texts);
            }
            let operand = decode::operand(self.evaluator.cx, &column)?;
            for (at, row) in rows.iter().enumerate() {
                if let Some(slot) = self.values.get_mut(*row as usize) {
                    *slot = operand.get(at).cloned();
                }
            }
            return Ok(());
        }
        let part = column.into_ids(self.evaluator.cx, rows.len())?;
        let ids = self.make_ids()?;
        for (row, id) in rows.iter().zip(part) {
            if let Some(slot) = ids.get_mut(*row as usize) {
                *slot = id;
            }
        }
        Ok(())
    }

    fn make_ids(&mut self) -> Result<&mut Vec<ValueId>, ExecError> {
        let ids = match self.ids.take() {
            Some(ids) => ids,
            None => {
                let intern = |value: &Option<Value>| value_id(self.evaluator.cx, value.as_ref());
                self.values.iter().map(intern).collect::<Result<_, _>>()?
            }
        };
        Ok(self.ids.insert(ids))
    }

    fn finish<'e>(self) -> Result<Column<'e>, ExecError> {
        Ok(match self.ids {
            Some(ids) => Column::Ids(ids),
            None => Column::Values(self.values, self.texts),
        })
    }
}

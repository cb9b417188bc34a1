//! The evaluator: one expression over the rows of a batch, column by column.
//!
//! Intermediate results are columns of values; only the final result gets ids. Where an expression depends on one variable
//! alone and has to look at texts, it is evaluated once per distinct id of that variable, and the results are spread; they are
//! kept for the batches to come ([`crate::memo`]).

use super::column::{Column, Constant, Operand, Tri};
use super::decode;
use super::selection::{gather, pick};
use super::texts::{TextCounter, TextLimit, Texts};
use crate::batch::Batch;
use crate::context::EvalContext;
use crate::error::ExecError;
use crate::memo::{self, Memo};
use crate::shape;
use crate::text_bytes::TextBytes;
use crate::values::arithmetic;
use crate::values::compare::Comparison;
use crate::values::value::Value;
use lode_rdf::ValueId;
use lode_sparql::{Expr, VarId, stack};
use std::cell::Cell;
use std::sync::Arc;

/// Below this many rows, looking for distinct ids costs more than it can save.
const DISTINCT_ROWS_MIN: usize = 32;

/// Values that are computed between two looks at the cancel token: one may take some hundred microseconds.
const VALUES_UNCHECKED: usize = 64;

/// Longer texts are no constants, but a column of the same: that has its memory.
const CONSTANT_BYTES_FREE: usize = 4 << 10;

/// Which results may become ids before the whole expression is evaluated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Results {
    /// All: ids are what is asked for.
    All,
    /// Those whose ids are inline: texts that are looked at once are not worth an entry in the query's own terms.
    Inline,
}

/// Evaluates expressions over some rows of a batch.
pub(crate) struct Evaluator<'a> {
    pub cx: &'a EvalContext,
    pub batch: &'a Batch,
    /// The rows looked at, ascending; `None`: all.
    selection: Option<Vec<u32>>,
    /// The number of the batch's first row, for BNODE: drawn when first needed.
    row_base: &'a Cell<Option<u64>>,
    /// Whether the rows are known to hold different terms, or to be few.
    distinct: bool,
}

impl<'a> Evaluator<'a> {
    pub fn new(cx: &'a EvalContext, batch: &'a Batch, row_base: &'a Cell<Option<u64>>) -> Self {
        Self { cx, batch, selection: None, row_base, distinct: false }
    }

    /// How many rows.
    pub fn rows(&self) -> usize {
        self.selection.as_ref().map_or(self.batch.rows, Vec::len)
    }

    /// The row of the batch that is row `row` here.
    pub fn batch_row(&self, row: usize) -> usize {
        match &self.selection {
            None => row,
            Some(rows) => rows.get(row).map_or(0, |row| *row as usize),
        }
    }

    /// The first rows and the others.
    pub fn halves(&self) -> [Vec<u32>; 2] {
        let (rows, middle) = (self.rows() as u32, self.rows() as u32 / 2);
        [(0..middle).collect(), (middle..rows).collect()]
    }

    /// The same over some of the rows (numbers here, ascending).
    pub fn narrow(&self, rows: &[u32]) -> Evaluator<'a> {
        let selection = match &self.selection {
            None => rows.to_vec(),
            Some(outer) => rows.iter().filter_map(|row| outer.get(*row as usize).copied()).collect(),
        };
        Evaluator { selection: Some(selection), ..*self }
    }

    /// A number that no other row of the query has.
    pub fn row_number(&self, row: usize) -> u64 {
        let base = self.row_base.get().unwrap_or_else(|| {
            let base = self.cx.local.fresh(self.batch.rows as u64);
            self.row_base.set(Some(base));
            base
        });
        base.wrapping_add(self.batch_row(row) as u64)
    }

    /// A variable's ids; unbound where the batch lacks it.
    pub fn variable(&self, var: VarId) -> Vec<ValueId> {
        match (self.batch.column(var), &self.selection) {
            (None, _) => vec![ValueId::UNDEF; self.rows()],
            (Some(column), None) => column.to_vec(),
            (Some(column), Some(rows)) => {
                rows.iter().map(|row| column.get(*row as usize).copied().unwrap_or_default()).collect()
            }
        }
    }

    /// What `expr` is worth for every row.
    pub fn eval<'e>(&self, expr: &'e Expr) -> Result<Column<'e>, ExecError> {
        let Some(var) = self.variable_of_text_function(expr) else { return self.eval_rows(expr) };
        if let Some(ids) = self.through_memo(expr, var, Results::Inline)? {
            return Ok(Column::Ids(ids));
        }
        match self.distinct_terms(var) {
            None => self.without_distinct().eval_rows(expr),
            Some((batch, rows)) => Ok(gather(self.over_terms(&batch).eval_rows(expr)?, &rows)),
        }
    }

    /// Like [`Evaluator::eval`], as ids: what is evaluated once per term gets its id once per term, too.
    pub fn eval_ids(&self, expr: &Expr) -> Result<Vec<ValueId>, ExecError> {
        let Some(var) = self.variable_of_text_function(expr) else {
            return self.eval_rows(expr)?.into_ids(self.cx, self.rows());
        };
        if let Some(ids) = self.through_memo(expr, var, Results::All)? {
            return Ok(ids);
        }
        match self.distinct_terms(var) {
            None => self.without_distinct().eval_rows(expr)?.into_ids(self.cx, self.rows()),
            Some((batch, rows)) => {
                let ids = self.over_terms(&batch).eval_rows(expr)?.into_ids(self.cx, batch.rows)?;
                Ok(pick(&ids, &rows))
            }
        }
    }

    /// The same; where there is no memory for the texts of all rows, of half of them first.
    pub fn ids_in_parts(&self, expr: &Expr) -> Result<Vec<ValueId>, ExecError> {
        match self.eval_ids(expr) {
            Err(ExecError::OutOfMemory(_)) if self.rows() > 1 => {
                let [first, others] = self.halves();
                let mut ids = self.narrow(&first).ids_in_parts(expr)?;
                ids.extend(self.narrow(&others).ids_in_parts(expr)?);
                Ok(ids)
            }
            other => other,
        }
    }

    /// The one variable that `expr` depends on, where it may pay to evaluate it once per term.
    fn variable_of_text_function(&self, expr: &Expr) -> Option<VarId> {
        if self.distinct || self.rows() < DISTINCT_ROWS_MIN {
            return None;
        }
        shape::text_function_of_one_variable(expr)
    }

    /// What `expr` is worth, taken from earlier batches where they had the term. `None`: it has to be evaluated without.
    fn through_memo(
        &self,
        expr: &Expr,
        var: VarId,
        wanted: Results,
    ) -> Result<Option<Vec<ValueId>>, ExecError> {
        let Some(mut memo) = self.cx.memos.take(expr, var, &self.cx.budget) else { return Ok(None) };
        let column = self.variable(var);
        let (mut ids, missing) = memo.look_up(&column);
        if !missing.is_empty() {
            let distinct = decode::distinct(&pick(&column, &missing));
            let batch =
                Batch { vars: Arc::from([var]), rows: distinct.ids.len(), columns: vec![distinct.ids] };
            let column = self.over_terms(&batch).eval_rows(expr)?;
            let (results, inline) = match column.inline_ids(batch.rows) {
                Some(results) => (results, true),
                None if wanted == Results::Inline && !matches!(column, Column::Ids(_)) => {
                    self.cx.memos.give_up(expr);
                    return Ok(None);
                }
                None => (column.into_ids(self.cx, batch.rows)?, false),
            };
            for (row, at) in missing.iter().zip(&distinct.rows) {
                if let (Some(slot), Some(result)) = (ids.get_mut(*row as usize), results.get(*at as usize)) {
                    *slot = *result;
                }
            }
            for terms in &batch.columns {
                memo.remember(terms, &results);
                // Texts of terms that nobody asks for would only fill the query's own terms.
                if inline {
                    self.fill_pages(expr, var, &mut memo, terms)?;
                }
            }
        }
        self.cx.memos.put(expr, memo);
        Ok(Some(ids))
    }

    /// Evaluates `expr` for whole pages of terms where `missing` ones lie close together.
    fn fill_pages(
        &self,
        expr: &Expr,
        var: VarId,
        memo: &mut Memo,
        missing: &[ValueId],
    ) -> Result<(), ExecError> {
        for page in memo.crowded(missing) {
            self.cx.cancel.check()?;
            let ids = self.cx.snapshot.dictionary_ids(memo::page_ids(page));
            if ids.is_empty() {
                continue;
            }
            let batch = Batch { vars: Arc::from([var]), rows: ids.len(), columns: vec![ids] };
            let column = self.over_terms(&batch).eval_rows(expr)?;
            if let Some(results) = column.inline_ids(batch.rows) {
                batch.columns.iter().for_each(|ids| memo.fill(page, ids, &results));
            }
        }
        Ok(())
    }

    /// The distinct terms of a variable, and which of them each row has; `None` where nearly all are different.
    fn distinct_terms(&self, var: VarId) -> Option<(Batch, Vec<u32>)> {
        let distinct = decode::distinct(&self.variable(var));
        if distinct.ids.len() > self.rows() / 4 * 3 {
            return None;
        }
        let batch = Batch { vars: Arc::from([var]), rows: distinct.ids.len(), columns: vec![distinct.ids] };
        Some((batch, distinct.rows))
    }

    fn without_distinct(&self) -> Evaluator<'a> {
        Evaluator { selection: self.selection.clone(), distinct: true, ..*self }
    }

    fn over_terms<'b>(&self, batch: &'b Batch) -> Evaluator<'b>
    where
        'a: 'b,
    {
        Evaluator { batch, selection: None, distinct: true, cx: self.cx, row_base: self.row_base }
    }

    fn eval_rows<'e>(&self, expr: &'e Expr) -> Result<Column<'e>, ExecError> {
        // A hash of 4,096 long texts takes a millisecond or more, and they can be many, one in the other.
        self.cx.cancel.check()?;
        stack::room(|| self.eval_here(expr))
    }

    fn eval_here<'e>(&self, expr: &'e Expr) -> Result<Column<'e>, ExecError> {
        match expr {
            Expr::Const(term) => Ok(Column::Constant(Constant::Term(term))),
            Expr::Var(var) => Ok(Column::Ids(self.variable(*var))),
            Expr::Bound(var) => {
                Ok(Column::Bools(self.variable(*var).iter().map(|id| Tri::from(!id.is_undef())).collect()))
            }
            Expr::Or(operands) => Ok(Column::Bools(self.or(operands)?)),
            Expr::And(operands) => Ok(Column::Bools(self.and(operands)?)),
            Expr::Not(operand) => Ok(Column::Bools(self.truth(operand)?.into_iter().map(Tri::not).collect())),
            Expr::Equal(a, b) => self.equal(a, b),
            Expr::SameTerm(a, b) => self.same_term(a, b),
            Expr::Less(a, b) => self.compare(Comparison::Less, a, b),
            Expr::LessOrEqual(a, b) => self.compare(Comparison::LessOrEqual, a, b),
            Expr::Greater(a, b) => self.compare(Comparison::Greater, a, b),
            Expr::GreaterOrEqual(a, b) => self.compare(Comparison::GreaterOrEqual, a, b),
            Expr::In(value, list) => self.is_in(value, list),
            Expr::Among(value, ids) => self.is_among(value, ids),
            Expr::Add(a, b) => self.arithmetic(a, b, i64::checked_add, arithmetic::add),
            Expr::Subtract(a, b) => self.arithmetic(a, b, i64::checked_sub, arithmetic::subtract),
            Expr::Multiply(a, b) => self.arithmetic(a, b, i64::checked_mul, arithmetic::multiply),
            Expr::Divide(a, b) => self.binary(a, b, arithmetic::divide),
            Expr::UnaryPlus(a) => self.unary(a, arithmetic::plus),
            Expr::UnaryMinus(a) => self.unary(a, arithmetic::minus),
            Expr::If(condition, yes, no) => self.conditional(condition, yes, no),
            Expr::Coalesce(list) => self.coalesce(list),
            Expr::Call(function, arguments) => self.call(function, arguments),
            Expr::Exists(pattern) => self.exists(pattern),
        }
    }

    /// A function of one value.
    pub fn unary<'e>(
        &self,
        a: &'e Expr,
        f: impl Fn(&Value) -> Option<Value>,
    ) -> Result<Column<'e>, ExecError> {
        let a = self.eval(a)?;
        let a = decode::operand(self.cx, &a)?;
        if a.is_constant() {
            return self.constant(a.get(0).and_then(f));
        }
        self.values(|row| a.get(row).and_then(&f))
    }

    /// A function of two values.
    pub fn binary<'e>(
        &self,
        a: &'e Expr,
        b: &'e Expr,
        f: impl Fn(&Value, &Value) -> Option<Value>,
    ) -> Result<Column<'e>, ExecError> {
        self.binary_columns(&self.eval(a)?, &self.eval(b)?, f)
    }

    /// A function of two values, over evaluated columns.
    pub fn binary_columns<'e>(
        &self,
        a: &Column<'_>,
        b: &Column<'_>,
        f: impl Fn(&Value, &Value) -> Option<Value>,
    ) -> Result<Column<'e>, ExecError> {
        let (a, b) = (decode::operand(self.cx, a)?, decode::operand(self.cx, b)?);
        let apply = |row| f(a.get(row)?, b.get(row)?);
        if a.is_constant() && b.is_constant() {
            return self.constant(apply(0));
        }
        self.values(apply)
    }

    /// A function of any number of values; an error in one is an error of the result.
    pub fn variadic<'e>(
        &self,
        arguments: &'e [Expr],
        f: impl Fn(&[&Value]) -> Option<Value>,
    ) -> Result<Column<'e>, ExecError> {
        let columns: Vec<_> =
            arguments.iter().map(|argument| self.eval(argument)).collect::<Result<_, _>>()?;
        let operands: Vec<_> =
            columns.iter().map(|column| decode::operand(self.cx, column)).collect::<Result<_, _>>()?;
        if operands.iter().all(Operand::is_constant) {
            let mut row_values = Vec::with_capacity(operands.len());
            row_values.extend(operands.iter().filter_map(|operand| operand.get(0)));
            let complete = row_values.len() == operands.len();
            return self.constant(if complete { f(&row_values) } else { None });
        }
        self.values(|row| {
            let mut row_values = Vec::with_capacity(operands.len());
            row_values.extend(operands.iter().filter_map(|operand| operand.get(row)));
            if row_values.len() == operands.len() { f(&row_values) } else { None }
        })
    }

    /// A column of computed values. Their texts have to fit into the memory of the query: a few thousand rows of long ones are much.
    pub fn values<'e>(&self, value: impl FnMut(usize) -> Option<Value>) -> Result<Column<'e>, ExecError> {
        let (values, texts) = self.each_row(value)?;
        Ok(Column::Values(values, texts))
    }

    /// What is computed for each row, and the memory of its texts.
    pub fn each_row<T: TextBytes>(
        &self,
        mut value: impl FnMut(usize) -> Option<T>,
    ) -> Result<(Vec<Option<T>>, Texts), ExecError> {
        let mut texts = TextCounter::new(self.cx);
        let mut out = Vec::with_capacity(self.rows());
        for row in 0..self.rows() {
            if row % VALUES_UNCHECKED == 0 {
                self.cx.cancel.check()?;
            }
            let value = value(row);
            texts.add(value.as_ref().map_or(0, T::text_bytes))?;
            out.push(value);
        }
        Ok((out, texts.finish()))
    }

    /// One value for all rows. A long text is accounted.
    pub fn constant<'e>(&self, value: Option<Value>) -> Result<Column<'e>, ExecError> {
        let bytes = value.as_ref().map_or(0, Value::text_bytes);
        if bytes <= CONSTANT_BYTES_FREE {
            return Ok(Column::Constant(Constant::Value(value)));
        }
        let mut texts = TextCounter::new(self.cx);
        texts.add(bytes)?;
        Ok(Column::Values(vec![value; self.rows()], texts.finish()))
    }

    /// A column of texts that `make` keeps within their greatest length.
    pub fn limited<'e>(
        &self,
        function: &'static str,
        make: impl FnOnce(&TextLimit) -> Result<Column<'e>, ExecError>,
    ) -> Result<Column<'e>, ExecError> {
        let limit = TextLimit::new(self.cx);
        let column = make(&limit);
        limit.check(function)?;
        column
    }
}

//! Columns of ids as those of Arrow, and back.

use datafusion::arrow::array::{
    Array, ArrayRef, BinaryArray, BinaryBuilder, RecordBatch, RecordBatchOptions, UInt64Array,
};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::error::ArrowError;
use lode_exec::batch::Batch;
use lode_exec::{Came, EvalContext};
use lode_fragment::{FragmentError, RowValue};
use lode_rdf::ValueId;
use std::sync::Arc;

/// What is in a column on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    /// Ids of the version; 0 is unbound, a value like others.
    Id,
    /// Ids of the version, and terms that it lacks.
    Term,
}

impl Column {
    /// What a column of this type is.
    pub fn of(data: &DataType) -> Option<Self> {
        match data {
            DataType::UInt64 => Some(Self::Id),
            DataType::Binary => Some(Self::Term),
            _ => None,
        }
    }

    pub const fn to_byte(self) -> u8 {
        match self {
            Self::Id => 0,
            Self::Term => 1,
        }
    }

    pub const fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            0 => Some(Self::Id),
            1 => Some(Self::Term),
            _ => None,
        }
    }
}

/// The columns by their places.
pub fn schema(columns: &[Column]) -> SchemaRef {
    let field = |(place, column): (usize, &Column)| match column {
        Column::Id => Field::new(name(place), DataType::UInt64, false),
        Column::Term => Field::new(name(place), DataType::Binary, false),
    };
    Arc::new(Schema::new(columns.iter().enumerate().map(field).collect::<Vec<_>>()))
}

/// The name of a column by its place.
pub fn name(place: usize) -> String {
    format!("c{place}")
}

/// Why rows do not go on the wire.
#[derive(Debug, thiserror::Error)]
pub enum ColumnError {
    /// They are no rows of these columns.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
    /// A value means nothing elsewhere, or cannot be read.
    #[error(transparent)]
    Value(#[from] FragmentError),
}

impl ColumnError {
    pub fn other_columns() -> Self {
        ArrowError::SchemaError("a fragment has other columns than it says".into()).into()
    }
}

/// Rows for the wire.
///
/// # Errors
/// Where they are no rows of these columns, or a value means nothing elsewhere.
pub fn to_arrow(
    batch: Batch,
    columns: &[Column],
    schema: &SchemaRef,
    cx: &EvalContext,
) -> Result<RecordBatch, ColumnError> {
    let rows = batch.rows;
    if batch.columns.len() != columns.len() {
        return Err(ColumnError::other_columns());
    }
    let arrays = batch.columns.into_iter().zip(columns).map(|(ids, column)| array(ids, *column, cx));
    batch_of(schema, arrays.collect::<Result<_, _>>()?, rows)
}

/// Columns as rows.
///
/// # Errors
/// Where they are none of these columns.
pub fn batch_of(schema: &SchemaRef, arrays: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch, ColumnError> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), arrays, &options)?)
}

fn array(ids: Vec<ValueId>, column: Column, cx: &EvalContext) -> Result<ArrayRef, FragmentError> {
    Ok(match column {
        // In their place: an id is its bits.
        Column::Id => Arc::new(UInt64Array::from(ids.into_iter().map(ValueId::to_bits).collect::<Vec<_>>())),
        Column::Term => {
            let mut values = BinaryBuilder::with_capacity(ids.len(), ids.len() * 9);
            values_of(&ids, cx, |bytes| values.append_value(bytes))?;
            Arc::new(values.finish())
        }
    })
}

/// The bytes of each value of a column, ids or terms.
///
/// # Errors
/// Where a value means nothing elsewhere.
pub fn values_of(
    ids: &[ValueId],
    cx: &EvalContext,
    mut each: impl FnMut(&[u8]),
) -> Result<(), FragmentError> {
    let mut bytes = Vec::new();
    for id in ids {
        bytes.clear();
        RowValue::of(*id, cx)?.write(&mut bytes);
        each(&bytes);
    }
    Ok(())
}

/// What came, behind the rows of `out`. None where it has other columns, or a value that is none.
pub fn from_arrow(came: &RecordBatch, columns: &[Column], out: &mut Came) -> Option<()> {
    if came.num_columns() != columns.len() || out.batch.columns.len() != columns.len() {
        return None;
    }
    for (place, (array, column)) in came.columns().iter().zip(columns).enumerate() {
        if array.null_count() > 0 {
            return None;
        }
        match column {
            Column::Id => {
                let ids = array.as_any().downcast_ref::<UInt64Array>()?;
                let to = out.batch.columns.get_mut(place)?;
                to.extend(ids.values().iter().map(|bits| ValueId::from_bits(*bits)));
            }
            Column::Term => {
                let values = array.as_any().downcast_ref::<BinaryArray>()?;
                for bytes in values.iter() {
                    RowValue::read(bytes?).ok()?.push(place, out);
                }
            }
        }
    }
    out.batch.rows += came.num_rows();
    Some(())
}

#[cfg(test)]
pub(crate) mod tests {
    //! There and back.
    use super::*;
    use lode_base::cancel::CancelToken;
    use lode_fragment::{RunOptions, Wanted, run, take_apart};
    use lode_rdf::{Kind, Literal};
    use lode_sparql::VarId;

    /// A query over nothing.
    pub(crate) fn with_context<T>(test: impl FnOnce(&EvalContext) -> T) -> T {
        let database = lode_engine::Database::in_memory().unwrap();
        let data = "INSERT DATA { <http://e/a> <http://e/p> 1 }";
        database.update(data, &lode_engine::UpdateOptions::default()).unwrap();
        let query = database.prepare("SELECT * { ?s ?p ?o }", &lode_engine::QueryOptions::default()).unwrap();
        let wanted = Wanted { cost_min: 0.0, now: query.now(), visible: None, exchange: None };
        let apart = take_apart(query.plan(), query.snapshot(), &wanted).unwrap();
        let all = ValueId::UNDEF..ValueId::MAX;
        let options = RunOptions::new(1 << 20, CancelToken::default());
        let running = run(&apart.fragments[0].0, query.snapshot(), &all, &options).unwrap();
        test(running.context())
    }

    fn batch(columns: Vec<Vec<ValueId>>) -> Batch {
        let vars = (0..columns.len()).map(|n| VarId(u32::try_from(n).unwrap())).collect::<Vec<_>>();
        let rows = columns.first().map_or(0, Vec::len);
        Batch { columns, rows, ..Batch::new(vars.into()) }
    }

    fn empty(columns: usize) -> Came {
        Came { batch: batch(vec![Vec::new(); columns]), terms: Vec::new() }
    }

    #[test]
    fn ids_and_terms_come_back() {
        with_context(|cx| {
            let ids = vec![ValueId::UNDEF, ValueId::MAX, ValueId::from_bits(1 << 60)];
            let text = Literal::new_simple_literal("no term of the database").into();
            let new = cx.intern(&text).unwrap();
            assert_eq!(new.kind(), Some(Kind::Local));
            let rows = batch(vec![ids.clone(), vec![ValueId::UNDEF, new, ids[2]]]);
            let columns = [Column::Id, Column::Term];
            let there = to_arrow(rows, &columns, &schema(&columns), cx).unwrap();
            let mut back = empty(2);
            from_arrow(&there, &columns, &mut back).unwrap();
            assert_eq!(back.batch.columns, [ids.clone(), vec![ValueId::UNDEF, ValueId::UNDEF, ids[2]]]);
            assert_eq!(back.terms, [lode_exec::NewTerm { column: 1, row: 1, term: text }]);
            assert_eq!(back.batch.rows, 3);
        });
    }

    #[test]
    fn rows_without_columns_are_counted() {
        with_context(|cx| {
            let rows = Batch { rows: 5, ..batch(Vec::new()) };
            let there = to_arrow(rows, &[], &schema(&[]), cx).unwrap();
            let mut back = empty(0);
            from_arrow(&there, &[], &mut back).unwrap();
            assert_eq!(back.batch.rows, 5);
        });
    }

    #[test]
    fn other_columns_are_refused() {
        with_context(|cx| {
            let columns = [Column::Id];
            let there = to_arrow(batch(vec![vec![ValueId::MAX]]), &columns, &schema(&columns), cx).unwrap();
            assert!(from_arrow(&there, &[Column::Term], &mut empty(1)).is_none());
            assert!(from_arrow(&there, &[], &mut empty(1)).is_none());
            assert!(from_arrow(&there, &columns, &mut empty(2)).is_none());
            assert!(to_arrow(batch(Vec::new()), &columns, &schema(&columns), cx).is_err());
        });
    }
}

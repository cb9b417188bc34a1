//! Columns of ids as those of Arrow, and back.

use datafusion::arrow::array::{Array, ArrayRef, Int64Array, RecordBatch, RecordBatchOptions, UInt64Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::error::ArrowError;
use lode_exec::batch::Batch;
use lode_rdf::{ValueId, inline};
use std::sync::Arc;

/// What is in a column on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    /// Ids of the version; 0 is unbound, a value like others.
    Id,
    /// Counts, which are added up outside of our engine.
    Count,
}

impl Column {
    pub const fn to_byte(self) -> u8 {
        match self {
            Self::Id => 0,
            Self::Count => 1,
        }
    }

    pub const fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            0 => Some(Self::Id),
            1 => Some(Self::Count),
            _ => None,
        }
    }
}

/// The columns by their places.
pub fn schema(columns: &[Column]) -> SchemaRef {
    let field = |(place, column): (usize, &Column)| match column {
        Column::Id => Field::new(format!("c{place}"), DataType::UInt64, false),
        Column::Count => Field::new(format!("c{place}"), DataType::Int64, true),
    };
    Arc::new(Schema::new(columns.iter().enumerate().map(field).collect::<Vec<_>>()))
}

/// Rows for the wire.
pub fn to_arrow(batch: Batch, columns: &[Column], schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let rows = batch.rows;
    if batch.columns.len() != columns.len() {
        return Err(ArrowError::SchemaError("a fragment has other columns than it says".into()));
    }
    let arrays = batch.columns.into_iter().zip(columns).map(|(ids, column)| array(&ids, *column));
    let arrays = arrays.collect::<Result<Vec<_>, _>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::clone(schema), arrays, &options)
}

fn array(ids: &[ValueId], column: Column) -> Result<ArrayRef, ArrowError> {
    Ok(match column {
        Column::Id => Arc::new(UInt64Array::from_iter_values(ids.iter().map(|id| id.to_bits()))),
        Column::Count => {
            let count = |id: &ValueId| {
                inline::as_i64(*id)
                    .ok_or_else(|| ArrowError::ComputeError("a count that is no number".into()))
            };
            Arc::new(Int64Array::from(ids.iter().map(count).collect::<Result<Vec<_>, _>>()?))
        }
    })
}

/// What came as rows of ids, behind those of `out`. None where it has other columns, or a count that nothing counts.
pub fn from_arrow(came: &RecordBatch, columns: &[Column], out: &mut Batch) -> Option<()> {
    if came.num_columns() != columns.len() || out.columns.len() != columns.len() {
        return None;
    }
    for ((array, column), to) in came.columns().iter().zip(columns).zip(&mut out.columns) {
        if array.null_count() > 0 {
            return None;
        }
        match column {
            Column::Id => {
                let ids = array.as_any().downcast_ref::<UInt64Array>()?;
                to.extend(ids.values().iter().map(|bits| ValueId::from_bits(*bits)));
            }
            Column::Count => {
                let counts = array.as_any().downcast_ref::<Int64Array>()?;
                for count in counts.values() {
                    to.push(id_of_count(*count)?);
                }
            }
        }
    }
    out.rows += came.num_rows();
    Some(())
}

const INTEGER: &str = "http://www.w3.org/2001/XMLSchema#integer";

fn id_of_count(count: i64) -> Option<ValueId> {
    inline::encode_literal(&count.to_string(), INTEGER)
}

#[cfg(test)]
mod tests {
    //! There and back.
    use super::*;

    #[test]
    fn ids_and_counts_come_back() {
        let vars: Arc<[lode_sparql::VarId]> = vec![lode_sparql::VarId(0), lode_sparql::VarId(1)].into();
        let mut batch = Batch::new(Arc::clone(&vars));
        let ids = [ValueId::UNDEF, ValueId::MAX, ValueId::from_bits(1 << 60)];
        let counts = [0, 7, 1 << 40].map(|count| id_of_count(count).unwrap());
        batch.columns = vec![ids.to_vec(), counts.to_vec()];
        batch.rows = 3;
        let columns = [Column::Id, Column::Count];
        let there = to_arrow(batch.clone(), &columns, &schema(&columns)).unwrap();
        let mut back = Batch::new(vars);
        from_arrow(&there, &columns, &mut back).unwrap();
        assert_eq!((back.columns, back.rows), (batch.columns, 3));
    }

    #[test]
    fn rows_without_columns_are_counted() {
        let mut batch = Batch::new(Vec::new().into());
        batch.rows = 5;
        let there = to_arrow(batch, &[], &schema(&[])).unwrap();
        let mut back = Batch::new(Vec::new().into());
        from_arrow(&there, &[], &mut back).unwrap();
        assert_eq!(back.rows, 5);
    }

    #[test]
    fn other_columns_are_refused() {
        let columns = [Column::Id];
        let mut batch = Batch::new(vec![lode_sparql::VarId(0)].into());
        batch.columns = vec![vec![ValueId::MAX]];
        batch.rows = 1;
        assert!(to_arrow(batch.clone(), &[Column::Count], &schema(&[Column::Count])).is_err());
        let there = to_arrow(batch.clone(), &columns, &schema(&columns)).unwrap();
        assert!(from_arrow(&there, &[Column::Count], &mut batch.clone()).is_none());
        assert!(from_arrow(&there, &[], &mut batch).is_none());
    }
}

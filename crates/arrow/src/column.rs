//! A column of ids becomes one of its type.

use crate::column_type::{ColumnType, DECIMAL_PRECISION, DECIMAL_SCALE};
use crate::dictionary::{self, KeptDictionary, bound};
use crate::memory::BatchMemory;
use crate::number;
use crate::structs;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int64Type,
    TimestampMicrosecondType,
};
use arrow_array::{ArrayRef, BooleanArray, PrimitiveArray};
use arrow_buffer::ScalarBuffer;
use lode_engine::{Columns, EngineError, ExecError};
use lode_rdf::inline;
use lode_rdf::{TermRef, ValueId};
use std::sync::Arc;

/// What a decimal of six digits, as ids have it, is multiplied with.
const OF_ID_SCALE: i128 = 10_i128.pow(12);

/// Makes the column of ids.
pub fn column(
    columns: &Columns,
    ids: &[ValueId],
    of: &ColumnType,
    kept: &mut KeptDictionary,
    memory: &mut BatchMemory,
) -> Result<ArrayRef, EngineError> {
    match of {
        ColumnType::Iri
        | ColumnType::Blank
        | ColumnType::String
        | ColumnType::Language(_)
        | ColumnType::Lexical(_) => dictionary::column(columns, ids, structs::value, kept, memory),
        ColumnType::Text => dictionary::column(columns, ids, structs::text, kept, memory),
        ColumnType::Struct => structs::column(columns, ids, memory),
        _ => numbers(columns, ids, of, memory),
    }
}

fn numbers(
    columns: &Columns,
    ids: &[ValueId],
    of: &ColumnType,
    memory: &mut BatchMemory,
) -> Result<ArrayRef, EngineError> {
    let mut values = Values { columns, ids, memory };
    Ok(match of {
        ColumnType::Boolean => {
            let made = values.of(inline::as_bool, number::boolean)?;
            Arc::new(BooleanArray::new(made.into(), bound(ids)))
        }
        ColumnType::Integer(_) => Arc::new(values.primitive::<Int64Type>(inline::as_i64, number::integer)?),
        ColumnType::Decimal => {
            let of_id = |id| Some(i128::from(inline::as_decimal_scaled(id)?) * OF_ID_SCALE);
            let made = values.primitive::<Decimal128Type>(of_id, number::decimal)?;
            let made = made.with_precision_and_scale(DECIMAL_PRECISION, DECIMAL_SCALE);
            Arc::new(made.map_err(crate::output::error)?)
        }
        ColumnType::Float => Arc::new(values.primitive::<Float32Type>(inline::as_f32, number::float)?),
        ColumnType::Date => {
            let of_id = |id| number::of_date(inline::as_date(id)?);
            Arc::new(values.primitive::<Date32Type>(of_id, number::date)?)
        }
        ColumnType::DateTime { utc } => {
            let of_id = |id| Some(number::of_date_time(inline::as_date_time(id)?)?.0);
            let of_text = |text: &str| Some(number::date_time(text)?.0);
            let made = values.primitive::<TimestampMicrosecondType>(of_id, of_text)?;
            Arc::new(made.with_timezone_opt(utc.then(|| Arc::<str>::from("UTC"))))
        }
        _ => Arc::new(values.primitive::<Float64Type>(inline::as_f64, number::double)?),
    })
}

struct Values<'a> {
    columns: &'a Columns,
    ids: &'a [ValueId],
    memory: &'a mut BatchMemory,
}

impl Values<'_> {
    fn primitive<T: ArrowPrimitiveType>(
        &mut self,
        of_id: impl Fn(ValueId) -> Option<T::Native>,
        of_text: impl Fn(&str) -> Option<T::Native>,
    ) -> Result<PrimitiveArray<T>, EngineError> {
        let values = self.of(of_id, of_text)?;
        Ok(PrimitiveArray::new(ScalarBuffer::from(values), bound(self.ids)))
    }

    /// The value of each row; any where it has none.
    fn of<T: Copy + Default>(
        &mut self,
        of_id: impl Fn(ValueId) -> Option<T>,
        of_text: impl Fn(&str) -> Option<T>,
    ) -> Result<Vec<T>, EngineError> {
        self.memory.add(self.ids.len() * (size_of::<T>() + 1))?;
        let mut values = Vec::with_capacity(self.ids.len());
        let mut others = Vec::new();
        for (row, id) in self.ids.iter().enumerate() {
            let value = of_id(*id);
            if value.is_none() && !id.is_undef() {
                others.push(row);
            }
            values.push(value.unwrap_or_default());
        }
        if others.is_empty() {
            return Ok(values);
        }
        self.memory.add(others.len() * (size_of::<(usize, ValueId, Option<T>)>() + 16))?;
        let ids: Vec<ValueId> = others.iter().filter_map(|row| self.ids.get(*row).copied()).collect();
        let distinct = Columns::distinct(&ids);
        let mut read = vec![None; distinct.ids.len()];
        self.columns.terms(&distinct.ids, &mut |at, term| {
            let TermRef::Literal(literal) = term else { return Err(does_not_fit(term)) };
            let value = of_text(literal.value()).ok_or_else(|| does_not_fit(term))?;
            if let Some(slot) = read.get_mut(at) {
                *slot = Some(value);
            }
            Ok(())
        })?;
        for (row, at) in others.into_iter().zip(distinct.rows) {
            let value = read.get(at as usize).copied().flatten();
            if let (Some(slot), Some(value)) = (values.get_mut(row), value) {
                *slot = value;
            }
        }
        Ok(values)
    }
}

/// What cannot be: the type of a column has all of its values.
fn does_not_fit(term: TermRef<'_>) -> ExecError {
    ExecError::Internal(format!("{term} is not of its column's type"))
}

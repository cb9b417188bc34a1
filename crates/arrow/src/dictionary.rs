//! Columns of texts: each distinct one once, and for each row which.

use crate::memory::BatchMemory;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Int32Array, StringArray};
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType};
use lode_engine::{Columns, EngineError, ExecError};
use lode_rdf::{TermRef, ValueId};
use std::collections::HashMap;
use std::sync::Arc;

/// A dictionary of no more texts is kept for the batches to come: that of a column with few of them is then made once.
const KEPT_TEXTS: usize = 4096;
/// So is none of more bytes.
const KEPT_BYTES: usize = 1 << 20;
/// The greatest number of bytes of a dictionary, since its offsets have 32 bits.
const TEXT_BYTES_MAX: usize = i32::MAX as usize;
/// What a row and an offset take.
const KEY_BYTES: usize = 4;

/// The type of a column of texts.
pub fn data_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// Texts one after the other.
#[derive(Default)]
pub struct Texts {
    bytes: Vec<u8>,
    offsets: Vec<i32>,
}

impl Texts {
    /// Appends a text that `write` writes; returns its number.
    pub fn push(
        &mut self,
        memory: &mut BatchMemory,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> Result<i32, ExecError> {
        if self.offsets.is_empty() {
            self.offsets.push(0);
        }
        let before = self.bytes.capacity();
        let start = self.bytes.len();
        write(&mut self.bytes);
        let end = i32::try_from(self.bytes.len()).map_err(|_| too_long())?;
        memory.add(KEY_BYTES + (self.bytes.capacity() - before).max(self.bytes.len() - start))?;
        self.offsets.push(end);
        i32::try_from(self.offsets.len() - 2).map_err(|_| too_long())
    }

    /// Bytes of all of them.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The column of them.
    pub fn finish(mut self) -> Result<StringArray, ArrowError> {
        if self.offsets.is_empty() {
            self.offsets.push(0);
        }
        StringArray::try_new(OffsetBuffer::new(ScalarBuffer::from(self.offsets)), self.bytes.into(), None)
    }
}

fn too_long() -> ExecError {
    ExecError::Internal(format!("a column of a batch has more than {TEXT_BYTES_MAX} bytes of text"))
}

/// The dictionary of the batch before, if it is small.
#[derive(Default)]
pub struct KeptDictionary {
    places: HashMap<ValueId, i32>,
    texts: Option<Arc<StringArray>>,
}

/// A column of texts: `write` appends that of a term.
pub fn column(
    columns: &Columns,
    ids: &[ValueId],
    write: fn(TermRef<'_>, &mut Vec<u8>),
    kept: &mut KeptDictionary,
    memory: &mut BatchMemory,
) -> Result<ArrayRef, EngineError> {
    // Numbers of rows, keys, and the table of distinct ids.
    memory.add(ids.len() * (4 + KEY_BYTES + 16))?;
    let distinct = Columns::distinct(ids);
    let places = kept.places(columns, &distinct.ids, write, memory)?;
    let texts = kept.texts.clone().unwrap_or_else(|| Arc::new(StringArray::new_null(0)));
    if kept.places.is_empty() {
        kept.texts = None;
    }
    let keys = distinct.rows.iter().map(|row| places.get(*row as usize).copied().flatten());
    let keys: Int32Array = keys.collect();
    Ok(Arc::new(dictionary(keys, texts)?))
}

/// A column of keys and texts.
pub fn dictionary(
    keys: Int32Array,
    texts: Arc<StringArray>,
) -> Result<DictionaryArray<Int32Type>, EngineError> {
    DictionaryArray::try_new(keys, texts).map_err(crate::output::error)
}

impl KeptDictionary {
    /// The place of each of the distinct ids in the dictionary, which has all of them afterwards.
    fn places(
        &mut self,
        columns: &Columns,
        ids: &[ValueId],
        write: fn(TermRef<'_>, &mut Vec<u8>),
        memory: &mut BatchMemory,
    ) -> Result<Vec<Option<i32>>, EngineError> {
        let new: Vec<ValueId> =
            ids.iter().copied().filter(|id| !id.is_undef() && !self.places.contains_key(id)).collect();
        if self.places.len() + new.len() > KEPT_TEXTS {
            // One for these rows alone.
            self.places.clear();
            let mut places = vec![None; ids.len()];
            let texts = texts_of(columns, ids, write, memory, &mut |at, place| {
                if let Some(slot) = places.get_mut(at) {
                    *slot = Some(place);
                }
            })?;
            self.texts = Some(Arc::new(texts));
            return Ok(places);
        }
        if !new.is_empty() || self.texts.is_none() {
            self.append(columns, &new, write, memory)?;
        }
        let places = ids.iter().map(|id| self.places.get(id).copied()).collect();
        if self.texts.as_ref().is_some_and(|texts| texts.value_data().len() > KEPT_BYTES) {
            self.places.clear();
        }
        Ok(places)
    }

    /// Adds texts of more ids to those that are kept.
    fn append(
        &mut self,
        columns: &Columns,
        new: &[ValueId],
        write: fn(TermRef<'_>, &mut Vec<u8>),
        memory: &mut BatchMemory,
    ) -> Result<(), EngineError> {
        let mut texts = Texts::default();
        if let Some(before) = &self.texts {
            for text in before.iter().flatten() {
                texts.push(memory, |out| out.extend_from_slice(text.as_bytes()))?;
            }
        }
        columns.terms(new, &mut |at, term| {
            let place = texts.push(memory, |out| write(term, out))?;
            if let Some(id) = new.get(at) {
                self.places.insert(*id, place);
            }
            Ok(())
        })?;
        self.texts = Some(Arc::new(texts.finish().map_err(crate::output::error)?));
        Ok(())
    }
}

/// The texts of ids; tells for each the place of its text.
fn texts_of(
    columns: &Columns,
    ids: &[ValueId],
    write: fn(TermRef<'_>, &mut Vec<u8>),
    memory: &mut BatchMemory,
    tell: &mut dyn FnMut(usize, i32),
) -> Result<StringArray, EngineError> {
    let mut texts = Texts::default();
    columns.terms(ids, &mut |at, term| {
        tell(at, texts.push(memory, |out| write(term, out))?);
        Ok(())
    })?;
    texts.finish().map_err(crate::output::error)
}

/// The rows of a column that have a value.
pub fn bound(ids: &[ValueId]) -> Option<NullBuffer> {
    if !ids.iter().any(|id| id.is_undef()) {
        return None;
    }
    Some(ids.iter().map(|id| !id.is_undef()).collect::<Vec<bool>>().into())
}

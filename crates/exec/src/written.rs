//! Columns of results as texts: each distinct term is written once, straight from the dictionary, and copied for its rows.

use crate::context::QueryContext;
use crate::terms::visit_terms;
use lode_eval::batch::Batch;
use lode_eval::error::ExecError;
use lode_eval::expr::decode::distinct;
use lode_eval::expr::texts::{TextCounter, Texts};
use lode_rdf::{TermRef, ValueId};
use std::ops::Range;

/// Buffers of more texts than this part of the memory are not kept for the next batch.
const KEPT_PART: usize = 32;

/// The texts of a batch's terms.
#[derive(Debug, Default)]
pub struct WrittenBatch {
    columns: Vec<WrittenColumn>,
    texts: Texts,
}

impl WrittenBatch {
    /// Replaces all by the texts of `batch`; `write` appends the text of a term. Out of memory, it holds nothing.
    ///
    /// # Errors
    ///
    /// Where the query was cancelled, has no memory for what is computed, or the store cannot be read.
    pub fn fill(
        &mut self,
        cx: &QueryContext,
        batch: &Batch,
        mut write: impl FnMut(TermRef<'_>, &mut Vec<u8>),
    ) -> Result<(), ExecError> {
        if self.texts.bytes() > cx.budget.limit() / KEPT_PART {
            // What was reserved for long texts goes back, and so must they.
            *self = Self::default();
        }
        self.columns.resize_with(batch.columns.len(), WrittenColumn::default);
        // All columns at once; what cannot be asked for is an error once it is read.
        let _asked = cx.snapshot.ask_for_terms(batch.columns.iter().flatten().copied());
        let mut texts = TextCounter::again(cx, std::mem::take(&mut self.texts));
        for (column, ids) in self.columns.iter_mut().zip(&batch.columns) {
            if let Err(error) = column.fill(cx, ids, &mut write, &mut texts) {
                *self = Self::default();
                return Err(error);
            }
        }
        self.texts = texts.finish();
        Ok(())
    }

    /// One for each column of the batch.
    pub fn columns(&self) -> &[WrittenColumn] {
        &self.columns
    }
}

/// The texts of a column's terms.
#[derive(Debug, Default)]
pub struct WrittenColumn {
    /// All texts, in no order.
    bytes: Vec<u8>,
    /// Where the text of each distinct term is; an empty place is an unbound one's.
    places: Vec<Range<usize>>,
    /// By row, which of the distinct terms it has.
    rows: Vec<u32>,
}

impl WrittenColumn {
    fn fill(
        &mut self,
        cx: &QueryContext,
        ids: &[ValueId],
        write: &mut impl FnMut(TermRef<'_>, &mut Vec<u8>),
        texts: &mut TextCounter<'_>,
    ) -> Result<(), ExecError> {
        let distinct = distinct(ids);
        let Self { bytes, places, rows } = self;
        bytes.clear();
        places.clear();
        places.resize(distinct.ids.len(), 0..0);
        *rows = distinct.rows;
        let mut text = |place: usize, term: TermRef<'_>| {
            let start = bytes.len();
            write(term, bytes);
            if let Some(range) = places.get_mut(place) {
                *range = start..bytes.len();
            }
            texts.add(bytes.len() - start)
        };
        visit_terms(cx, &distinct.ids, &mut text)
    }

    /// The text of a row's term; `None` is unbound.
    #[inline]
    pub fn get(&self, row: usize) -> Option<&[u8]> {
        let place = *self.rows.get(row)?;
        let text = self.bytes.get(self.places.get(place as usize)?.clone())?;
        (!text.is_empty()).then_some(text)
    }
}

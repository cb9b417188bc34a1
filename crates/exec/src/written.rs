//! Columns of results as texts: each distinct term is written once, straight from the dictionary, and copied for its rows.

use crate::context::QueryContext;
use crate::error::ExecError;
use crate::expr::decode::distinct;
use crate::results::blank_of;
use lode_rdf::{Kind, Term, TermRef, ValueId};
use std::ops::Range;

/// The texts of a column's terms.
#[derive(Debug, Clone, Default)]
pub struct WrittenColumn {
    /// All texts, in no order.
    bytes: Vec<u8>,
    /// Where the text of each distinct term is; an empty place is an unbound one's.
    places: Vec<Range<usize>>,
    /// By row, which of the distinct terms it has.
    rows: Vec<u32>,
}

impl WrittenColumn {
    /// Replaces the column by that of `ids`; `write` appends the text of a term.
    pub fn fill(
        &mut self,
        cx: &QueryContext,
        ids: &[ValueId],
        mut write: impl FnMut(TermRef<'_>, &mut Vec<u8>),
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
        };
        let (mut stored, mut stored_places) = (Vec::new(), Vec::new());
        for (place, id) in distinct.ids.iter().enumerate() {
            match id.kind() {
                _ if id.is_undef() => {}
                Some(Kind::Special) => text(place, Term::BlankNode(blank_of(*id)).as_ref()),
                Some(Kind::Local) => text(place, cx.term(*id)?.as_ref()),
                _ => {
                    stored.push(*id);
                    stored_places.push(place);
                }
            }
        }
        cx.snapshot.term_refs(&stored, &mut |index, term| {
            if let Some(place) = stored_places.get(index) {
                text(*place, term);
            }
            Ok(())
        })?;
        Ok(())
    }

    /// The text of a row's term; `None` is unbound.
    #[inline]
    pub fn get(&self, row: usize) -> Option<&[u8]> {
        let place = *self.rows.get(row)?;
        let text = self.bytes.get(self.places.get(place as usize)?.clone())?;
        (!text.is_empty()).then_some(text)
    }
}

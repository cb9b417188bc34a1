//! Rows that are held back until the types of columns are decided, and what decides them.

use crate::column_type::ColumnType;
use lode_engine::{Columns, EngineError, ExecError, IdRows, Reservation};
use lode_rdf::{Kind, ValueId};

/// A part of the query's memory that rows held back may take.
const BUDGET_PART: usize = 8;
/// Rows that are read at once, at most.
const READ_ROWS: usize = 4096;

/// Rows of ids that wait to be made record batches of.
pub struct Waiting {
    columns: Vec<Vec<ValueId>>,
    /// Rows of these that are no longer there.
    start: usize,
    rows: usize,
    memory: Reservation,
}

impl Waiting {
    /// None.
    pub fn new(of: &Columns) -> Self {
        let columns = of.names().iter().map(|_| Vec::new()).collect();
        Self { columns, start: 0, rows: 0, memory: of.budget().reserve_empty() }
    }

    /// How many wait.
    pub fn rows(&self) -> usize {
        self.rows - self.start
    }

    /// Takes the memory of a batch of rows more.
    fn make_room(&mut self) -> Result<(), ExecError> {
        // Vectors grow by doubling.
        let bytes = 2 * (self.rows + READ_ROWS) * size_of::<ValueId>() * self.columns.len();
        if bytes > self.memory.bytes() {
            self.memory.resize(bytes)?;
        }
        Ok(())
    }

    fn push(&mut self, more: IdRows) {
        for (column, more) in self.columns.iter_mut().zip(more.columns) {
            column.extend(more);
        }
        self.rows += more.rows;
    }

    /// Reads until so many rows wait, or there is no memory for more; returns whether there are no more.
    pub fn fill(&mut self, of: &mut Columns, rows: usize) -> Result<bool, EngineError> {
        while self.rows() < rows {
            match self.make_room() {
                Err(error) if self.rows() == 0 => return Err(error.into()),
                Err(_) => return Ok(false),
                Ok(()) => {}
            }
            let Some(more) = of.next_rows()? else { return Ok(true) };
            self.push(more);
        }
        Ok(false)
    }

    /// The first rows of a column.
    pub fn column(&self, column: usize, rows: usize) -> &[ValueId] {
        let all = self.columns.get(column).map_or(&[][..], Vec::as_slice);
        all.get(self.start..self.start + rows).unwrap_or_default()
    }

    /// Removes the first rows.
    pub fn take(&mut self, rows: usize) {
        self.start += rows;
        if self.start == self.rows {
            // What the window took is not needed for the batches after it.
            self.columns.iter_mut().for_each(|column| *column = Vec::new());
            (self.start, self.rows) = (0, 0);
            self.memory.shrink(self.memory.bytes());
        }
    }

    /// How many rows may be held back.
    pub fn window(of: &Columns, rows_max: usize) -> usize {
        let row_bytes = 2 * size_of::<ValueId>() * of.names().len().max(1);
        rows_max.min(of.budget().limit() / BUDGET_PART / row_bytes).max(1)
    }
}

/// The type of a column of which these ids are known: all, or the first ones.
pub fn type_of(
    of: &Columns,
    column: usize,
    ids: &[ValueId],
    is_all: bool,
) -> Result<ColumnType, EngineError> {
    if is_all {
        return exact(of, ids);
    }
    let Some(first) = ids.iter().find(|id| !id.is_undef()).and_then(|id| id.kind()) else {
        return Ok(ColumnType::Struct);
    };
    let first = if first == Kind::Local { Kind::Iri } else { first };
    let same = |id: &ValueId| id.is_undef() || id.kind() == Some(first) || id.kind() == Some(Kind::Local);
    match ColumnType::of_kind_or_lexical(first) {
        // What was read can refute it at once, and only a plan can prove it.
        Some(found) if ids.iter().all(same) && of.are_always(column, first)? => Ok(found),
        _ => Ok(ColumnType::Struct),
    }
}

/// The narrowest type of all ids.
pub fn exact(of: &Columns, ids: &[ValueId]) -> Result<ColumnType, EngineError> {
    let mut found: Option<ColumnType> = None;
    let mut add = |other: ColumnType| {
        found = Some(match found.take() {
            Some(found) => found.with(&other),
            None => other,
        });
        found == Some(ColumnType::Struct)
    };
    let mut seen = 0_u128;
    let mut unknown = 0;
    for id in ids.iter().filter(|id| !id.is_undef()) {
        let bit = 1_u128.checked_shl(u32::from(id.kind_byte())).unwrap_or_default();
        match id.kind().and_then(ColumnType::of_kind) {
            Some(_) if seen & bit != 0 => {}
            Some(found) => {
                seen |= bit;
                if add(found) {
                    return Ok(ColumnType::Struct);
                }
            }
            None => unknown += 1,
        }
    }
    let _memory = of.budget().reserve(unknown * size_of::<ValueId>()).map_err(ExecError::from)?;
    let mut read = Vec::with_capacity(unknown);
    read.extend(ids.iter().filter(|id| is_unknown(**id)));
    read.sort_unstable();
    read.dedup();
    for ids in read.chunks(4096) {
        let mut is_struct = false;
        of.terms(ids, &mut |_, term| {
            is_struct |= add(ColumnType::of_term(term));
            Ok(())
        })?;
        if is_struct {
            return Ok(ColumnType::Struct);
        }
    }
    Ok(found.unwrap_or(ColumnType::String))
}

/// Whether only its term tells the type of an id.
fn is_unknown(id: ValueId) -> bool {
    !id.is_undef() && id.kind().and_then(ColumnType::of_kind).is_none()
}

//! The rows that a dump writes, and the parts of them whose texts it holds at once.

use super::scope::DumpScope;
use crate::error::StoreError;
use crate::snapshot::{Scan, Snapshot};
use lode_packed::{Order, Position};
use lode_rdf::ValueId;
use std::mem::take;
use std::ops::Range;

/// Rows that are turned into terms at once: a term that repeats among them is read once.
const BATCH_ROWS: usize = 1 << 15;
/// A text is written with so many bytes besides its key, about.
const QUOTES_BYTES: usize = 64;

/// Why reading texts ended.
pub(super) enum Stop {
    /// They are too many for memory.
    TooLong,
    /// An error.
    Error(StoreError),
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Error(error)
    }
}

/// Counts the bytes of texts that are read.
#[derive(Clone, Copy)]
pub(super) struct TextBytes {
    bytes: usize,
    bytes_max: usize,
}

impl TextBytes {
    /// One more of so many bytes.
    pub fn add(&mut self, bytes: usize) -> Result<(), Stop> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > self.bytes_max { Err(Stop::TooLong) } else { Ok(()) }
    }

    /// Empties what held the texts of the rows before, for these: what a single row needed is not kept for many.
    pub fn clear(&self, text: &mut Vec<u8>) {
        text.clear();
        text.shrink_to(self.bytes_max);
    }

    /// Makes room for the text of a key, but not far beyond what there may be of texts.
    pub fn make_room(&self, text: &mut Vec<u8>, key_bytes: usize) {
        let needed = text.len() + key_bytes + QUOTES_BYTES;
        if needed > text.capacity() {
            let bytes = (2 * text.capacity()).min(self.bytes_max).max(needed);
            text.reserve_exact(bytes - text.len());
        }
    }
}

/// Cuts rows into parts whose texts have `bytes_max` bytes at most: `read` replaces `texts` by those of some and counts them, `write` takes
/// them from there. A single row is never too long.
pub(super) fn in_parts<T, E: From<StoreError>>(
    rows: usize,
    bytes_max: usize,
    texts: &mut T,
    mut read: impl FnMut(Range<usize>, TextBytes, &mut T) -> Result<(), Stop>,
    mut write: impl FnMut(Range<usize>, &mut T) -> Result<(), E>,
) -> Result<(), E> {
    let mut parts: Vec<_> = std::iter::once(0..rows).collect();
    while let Some(part) = parts.pop() {
        let bytes_max = if part.len() > 1 { bytes_max } else { usize::MAX };
        match read(part.clone(), TextBytes { bytes: 0, bytes_max }, texts) {
            Ok(()) => write(part, texts)?,
            Err(Stop::Error(error)) => return Err(error.into()),
            Err(Stop::TooLong) => {
                let middle = usize::midpoint(part.start, part.end);
                parts.extend([middle..part.end, part.start..middle]);
            }
        }
    }
    Ok(())
}

/// Batches of rows in the positions S, P, O, G.
pub(super) struct Batches<'a> {
    snapshot: &'a Snapshot,
    /// Scans still to do, last first.
    scans: Vec<(Order, Scan)>,
    /// A graph whose quads are left out.
    without: Option<ValueId>,
    columns: [Vec<ValueId>; 4],
}

impl<'a> Batches<'a> {
    pub fn new(snapshot: &'a Snapshot, scope: DumpScope) -> Result<Self, StoreError> {
        let scan =
            |order, prefix: &[ValueId]| Ok::<_, StoreError>((order, snapshot.scan(order, prefix, 0b1111)?));
        let scans = match scope {
            DumpScope::All | DumpScope::AllBut(_) => vec![scan(Order::Gspo, &[])?, scan(Order::Spog, &[])?],
            DumpScope::Graph(ValueId::DEFAULT_GRAPH) => vec![scan(Order::Spog, &[])?],
            DumpScope::Graph(graph) => vec![scan(Order::Gspo, &[graph])?],
        };
        let without = if let DumpScope::AllBut(graph) = scope { Some(graph) } else { None };
        Ok(Self { snapshot, scans, without, columns: Default::default() })
    }

    /// Reads the next batch; `false` at the end. A scan in SPOG order contributes the default graph alone.
    pub fn next(&mut self) -> Result<bool, StoreError> {
        while let Some((order, scan)) = self.scans.last_mut() {
            self.columns.iter_mut().for_each(Vec::clear);
            let order = *order;
            let mut read = order.positions().map(|position| take(&mut self.columns[position as usize]));
            if scan.next(BATCH_ROWS, &mut read)? == 0 {
                self.scans.pop();
                continue;
            }
            for (column, position) in read.into_iter().zip(order.positions()) {
                self.columns[position as usize] = column;
            }
            if order == Order::Spog && self.snapshot.has_named_graphs() {
                self.keep(&|graph| graph == ValueId::DEFAULT_GRAPH);
            }
            if let Some(without) = self.without {
                self.keep(&|graph| graph != without);
            }
            if self.rows() > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn keep(&mut self, has: &dyn Fn(ValueId) -> bool) {
        let keep: Vec<bool> = self.columns[Position::G as usize].iter().map(|g| has(*g)).collect();
        for column in &mut self.columns {
            let mut kept = keep.iter();
            column.retain(|_| kept.next().copied().unwrap_or(false));
        }
    }

    pub fn rows(&self) -> usize {
        self.columns[0].len()
    }

    pub fn row(&self, row: usize) -> [ValueId; 4] {
        self.columns.each_ref().map(|column| column[row])
    }

    /// Replaces `ids` by those of some rows but the default graph's mark, sorted, once each.
    pub fn distinct(&self, rows: Range<usize>, ids: &mut Vec<ValueId>) {
        ids.clear();
        for column in &self.columns {
            // In the order of the scan many are the same as the one before.
            let mut last = ValueId::DEFAULT_GRAPH;
            for id in column.get(rows.clone()).unwrap_or_default() {
                if *id != last {
                    ids.push(*id);
                    last = *id;
                }
            }
        }
        ids.sort_unstable();
        ids.dedup();
        ids.retain(|id| *id != ValueId::DEFAULT_GRAPH);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES_MAX: usize = 16 << 20;

    #[test]
    fn room_for_one_long_text_is_not_kept_for_many() {
        let mut text = vec![0; 10_000];
        TextBytes { bytes: 0, bytes_max: usize::MAX }.clear(&mut text);
        assert!(text.is_empty() && text.capacity() >= 10_000);
        TextBytes { bytes: 0, bytes_max: 1000 }.clear(&mut text);
        assert!(text.capacity() < 10_000);
    }

    #[test]
    fn rows_come_in_sequence_and_only_single_ones_are_longer_than_what_is_held() {
        let sizes: Vec<usize> =
            (0..1000).map(|row| if row % 97 == 0 { 3 * BYTES_MAX } else { row << 10 }).collect();
        let mut written = Vec::new();
        let read = |rows: Range<usize>, mut bytes: TextBytes, texts: &mut Vec<usize>| {
            texts.clear();
            rows.into_iter().try_for_each(|row| {
                texts.push(sizes[row]);
                bytes.add(sizes[row])
            })
        };
        in_parts(sizes.len(), BYTES_MAX, &mut Vec::new(), read, |rows, texts| {
            assert_eq!(texts, &sizes[rows.clone()]);
            assert!(rows.len() == 1 || texts.iter().sum::<usize>() <= BYTES_MAX);
            written.extend(rows);
            Ok::<_, StoreError>(())
        })
        .unwrap();
        assert_eq!(written, (0..sizes.len()).collect::<Vec<_>>());
        let damaged = |_, _, (): &mut ()| Err(Stop::Error(StoreError::Limit("damaged".to_owned())));
        assert!(in_parts(2, BYTES_MAX, &mut (), damaged, |_, ()| Ok::<_, StoreError>(())).is_err());
    }
}

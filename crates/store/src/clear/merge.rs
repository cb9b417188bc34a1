//! What several segments add up to, of the rows of some graphs, in one order. Rows of other graphs are left out before the merge: what other
//! segments say of them is not asked for here.

use crate::clear::graph_reader::Reader;
use crate::delta::Row;
use crate::error::StoreError;
use crate::manifest::Sign;
use crate::segment_builder::BuildError;
use lode_base::gallop::gallop;

/// The rows of one segment.
struct Part<'a> {
    reader: Reader<'a>,
    sign: Sign,
    /// The next row.
    at: usize,
    head: Row,
}

impl Part<'_> {
    fn row(&self, at: usize) -> Option<Row> {
        let [a, b, c, d] = &self.reader.columns;
        Some([*a.get(at)?, *b.get(at)?, *c.get(at)?, *d.get(at)?])
    }

    /// Steps over rows at hand; false at the end.
    fn skip(&mut self, rows: usize) -> Result<bool, StoreError> {
        self.at += rows;
        if self.at >= self.reader.columns[0].len() {
            self.at = 0;
            if !self.reader.fill()? {
                return Ok(false);
            }
        }
        self.head = self.row(self.at).unwrap_or_default();
        Ok(true)
    }

    /// How many rows at hand come before `bound`: by steps of growing width, then halving.
    fn run_before(&self, bound: Option<&Row>) -> usize {
        let waiting = self.reader.columns[0].len() - self.at;
        let Some(bound) = bound else { return waiting };
        let is_before = |index: usize| self.row(self.at + index).is_some_and(|row| row < *bound);
        gallop(0, waiting, is_before)
    }
}

/// Calls `visit` with the columns of what is inserted once more than deleted. The rows of the readers must not have been read.
pub fn merge(
    readers: Vec<(Reader<'_>, Sign)>,
    visit: &mut dyn FnMut([&[u64]; 4]) -> Result<(), BuildError>,
) -> Result<(), BuildError> {
    let mut parts = Vec::with_capacity(readers.len());
    for (reader, sign) in readers {
        let mut part = Part { reader, sign, at: 0, head: Row::default() };
        if part.skip(0)? {
            parts.push(part);
        }
    }
    loop {
        parts.sort_unstable_by_key(|part| part.head);
        let Some(first) = parts.first() else { return Ok(()) };
        let head = first.head;
        let sharing = parts.iter().take_while(|part| part.head == head).count();
        let (sum, rows) = if sharing == 1 {
            (first.sign.of(1), first.run_before(parts.get(1).map(|part| &part.head)))
        } else {
            (parts[..sharing].iter().map(|part| part.sign.of(1)).sum(), 1)
        };
        match sum {
            0 => {}
            1 => {
                let range = first.at..first.at + rows;
                visit(first.reader.columns.each_ref().map(|column| &column[range.clone()]))?;
            }
            _ => {
                let what = "the segments contradict each other: a quad is there more or less than once";
                return Err(BuildError::Inconsistent(what.to_owned()));
            }
        }
        for at in (0..sharing).rev() {
            if !parts[at].skip(rows)? {
                parts.swap_remove(at);
            }
        }
    }
}

//! Trees of boxes as rows: of each plane the leaves first, in the order of Hilbert's curve, then the levels above them, the root last. All nodes but the last of a
//! level are full, so where a node is follows from how many rows there are.

use crate::index_files::IndexFiles;
use lode_packed::{PackedError, PermutationWriter};
use std::ops::Range;

/// Entries of a node.
pub const NODE_ENTRIES: usize = 128;
/// Bits for the number of a node; those above are for the plane.
const NODE_BITS: u32 = 40;

/// A box of cells, with its sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CellBox {
    /// The first column and row.
    pub min: [u32; 2],
    /// The last ones.
    pub max: [u32; 2],
}

impl CellBox {
    fn with(self, other: &Self) -> Self {
        Self {
            min: std::array::from_fn(|axis| self.min[axis].min(other.min[axis])),
            max: std::array::from_fn(|axis| self.max[axis].max(other.max[axis])),
        }
    }

    /// Whether both have a cell in common.
    pub fn meets(&self, other: &Self) -> bool {
        (0..2).all(|axis| self.min[axis] <= other.max[axis] && other.min[axis] <= self.max[axis])
    }

    /// Whether all cells of another are its own.
    pub fn holds(&self, other: &Self) -> bool {
        (0..2).all(|axis| self.min[axis] <= other.min[axis] && other.max[axis] <= self.max[axis])
    }

    fn columns(&self) -> [u64; 2] {
        let pair = |[x, y]: [u32; 2]| u64::from(x) << 32 | u64::from(y);
        [pair(self.min), pair([self.max[0] - self.min[0], self.max[1] - self.min[1]])]
    }

    #[expect(clippy::cast_possible_truncation, reason = "halves")]
    fn of_columns(min: u64, sides: u64) -> Self {
        let min = [(min >> 32) as u32, min as u32];
        let sides = [(sides >> 32) as u32, sides as u32];
        Self { min, max: [min[0].saturating_add(sides[0]), min[1].saturating_add(sides[1])] }
    }
}

/// What a node has: boxes, and what is in them: a number, or a node.
pub type Entry = (CellBox, u64);

/// A node that is to be written.
pub struct Node {
    /// Corners, sides and numbers of its entries.
    columns: [Vec<u64>; 3],
    around: Option<CellBox>,
}

impl Node {
    /// The one with these entries, up to [`NODE_ENTRIES`].
    pub fn of(mut entries: Vec<Entry>) -> Self {
        entries.sort_unstable_by_key(|(cells, number)| (cells.columns(), *number));
        let mut columns: [Vec<u64>; 3] = std::array::from_fn(|_| Vec::with_capacity(entries.len()));
        for (cells, number) in &entries {
            let [min, sides] = cells.columns();
            for (column, value) in columns.iter_mut().zip([min, sides, *number]) {
                column.push(value);
            }
        }
        let around = entries.iter().map(|(cells, _)| *cells).reduce(|a, b| a.with(&b));
        Self { columns, around }
    }
}

/// Writes the tree of one plane.
pub struct TreeWriter<'w> {
    writer: &'w mut PermutationWriter,
    plane: u64,
    next_node: u64,
    /// The boxes of the nodes of this level.
    boxes: Vec<Entry>,
}

impl<'w> TreeWriter<'w> {
    /// The plane with this number. Planes come ascending.
    pub fn new(writer: &'w mut PermutationWriter, plane: u8) -> Self {
        let plane = u64::from(plane) << NODE_BITS;
        Self { writer, plane, next_node: 0, boxes: Vec::new() }
    }

    /// The next boxes along the curve. All nodes but the last of a plane are full.
    pub fn push_node(&mut self, node: &Node) -> Result<(), PackedError> {
        let [mins, sides, numbers] = &node.columns;
        let nodes = vec![self.plane | self.next_node; numbers.len()];
        self.writer.push([&nodes, mins, sides, numbers])?;
        self.boxes.extend(node.around.map(|around| (around, self.next_node)));
        self.next_node += 1;
        Ok(())
    }

    /// The levels above the leaves.
    pub fn finish(mut self) -> Result<(), PackedError> {
        while self.boxes.len() > 1 {
            for entries in std::mem::take(&mut self.boxes).chunks(NODE_ENTRIES) {
                self.push_node(&Node::of(entries.to_vec()))?;
            }
        }
        Ok(())
    }
}

/// One level of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Level {
    first_node: u64,
    nodes: u64,
    first_row: u64,
    entries: u64,
}

/// The tree of one plane.
#[derive(Debug, Clone)]
pub struct Tree<'f> {
    files: &'f IndexFiles,
    /// The leaves first.
    levels: Vec<Level>,
}

impl<'f> Tree<'f> {
    /// That of the plane with this number; none where it has no rows.
    pub fn of(files: &'f IndexFiles, plane: u8) -> Result<Option<Self>, PackedError> {
        let all = 0..files.rows.rows();
        let first = |plane: u64| files.rows.lower_bound(&[plane << NODE_BITS], all.clone());
        let (start, end) = (first(u64::from(plane))?, first(u64::from(plane) + 1)?);
        Ok(levels(start..end).map(|levels| Self { files, levels }))
    }

    /// How many boxes it has.
    pub fn len(&self) -> u64 {
        self.levels.first().map_or(0, |leaves| leaves.entries)
    }

    /// How many leaves it has, which are its first nodes.
    pub fn leaves(&self) -> u64 {
        self.levels.first().map_or(0, |leaves| leaves.nodes)
    }

    /// How many levels it has.
    pub fn height(&self) -> usize {
        self.levels.len()
    }

    /// How many boxes an entry of a level has below it, if all nodes were full; at least half of that is likely.
    pub fn boxes_below(&self, level: usize) -> u64 {
        let level = u32::try_from(level).unwrap_or(u32::MAX);
        (NODE_ENTRIES as u64).saturating_pow(level)
    }

    /// The root, which is in the highest level.
    pub fn root(&self) -> u64 {
        self.levels.last().map_or(0, |root| root.first_node)
    }

    /// Appends the entries of nodes of a level, which ascend; false where there is no such node.
    pub fn read(&self, level: usize, nodes: &[u64], entries: &mut Vec<Entry>) -> Result<bool, PackedError> {
        let Some(place) = self.levels.get(level) else { return Ok(false) };
        let rows = |node: u64| {
            let number = node.checked_sub(place.first_node).filter(|number| *number < place.nodes)?;
            let start = number * NODE_ENTRIES as u64;
            let end = place.entries.min(start + NODE_ENTRIES as u64);
            Some(place.first_row + start..place.first_row + end)
        };
        let mut columns = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
        let mut nodes = nodes.iter().peekable();
        while let Some(node) = nodes.next() {
            let Some(mut run) = rows(*node) else { return Ok(false) };
            // Nodes beside each other are read as one.
            while let Some(next) =
                nodes.peek().and_then(|next| rows(**next)).filter(|next| next.start == run.end)
            {
                run.end = next.end;
                nodes.next();
            }
            let rows = usize::try_from(run.end - run.start).unwrap_or(usize::MAX);
            let mut cursor = self.files.rows.cursor(run, 0b1110);
            columns.iter_mut().for_each(Vec::clear);
            cursor.next(rows, &mut columns)?;
            let [_, mins, sides, numbers] = &columns;
            let boxes = mins.iter().zip(sides).map(|(min, sides)| CellBox::of_columns(*min, *sides));
            entries.extend(boxes.zip(numbers.iter().copied()));
        }
        Ok(true)
    }
}

/// The levels of a tree whose rows these are.
fn levels(rows: Range<u64>) -> Option<Vec<Level>> {
    let count = rows.end.checked_sub(rows.start).filter(|count| *count > 0)?;
    let all = |entries: u64| -> u64 { sizes(entries).map(|(entries, _)| entries).sum() };
    // The most boxes that make no more rows; rows grow with boxes.
    let (mut entries, mut most) = (0, count);
    while entries < most {
        let middle = most - (most - entries) / 2;
        if all(middle) <= count {
            entries = middle;
        } else {
            most = middle - 1;
        }
    }
    let (mut first_node, mut first_row) = (0, rows.start);
    let levels = sizes(entries).map(|(entries, nodes)| {
        let level = Level { first_node, nodes, first_row, entries };
        (first_node, first_row) = (first_node + nodes, first_row + entries);
        level
    });
    Some(levels.collect())
}

/// How many entries and nodes the levels have, the leaves first.
fn sizes(entries: u64) -> impl Iterator<Item = (u64, u64)> {
    let of = |entries: u64| (entries, entries.div_ceil(NODE_ENTRIES as u64));
    std::iter::successors(Some(of(entries)), move |(_, nodes)| (*nodes > 1).then(|| of(*nodes)))
}

#[cfg(test)]
mod tests {
    use super::{levels, sizes};

    #[test]
    fn levels_follow_from_how_many_rows_there_are() {
        for entries in (1..2000).chain([16_383, 16_384, 16_385, 2_097_152, 2_097_153, 10_000_000]) {
            let rows: u64 = sizes(entries).map(|(entries, _)| entries).sum();
            let levels = levels(7..7 + rows).unwrap();
            assert_eq!(levels[0].entries, entries);
            assert_eq!(levels.last().map(|root| root.nodes), Some(1));
            assert!(levels.windows(2).all(|pair| pair[0].first_node + pair[0].nodes == pair[1].first_node));
        }
    }
}

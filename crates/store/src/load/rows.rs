//! The quads of one run as columns of term numbers, in chunks that move to a temporary file as they are.

use lode_base::frame_file::{FrameWriter, read_frame};
use lode_base::vfs::ReadAt;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Rows of a chunk.
pub const CHUNK_ROWS: usize = 1 << 15;
/// The graph number of quads in the default graph.
pub const DEFAULT_GRAPH: u32 = u32::MAX;

/// Some quads. `graph` is empty while all of them are in the default graph.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct RowChunk {
    /// Subjects: numbers of terms in the run.
    pub subject: Vec<u32>,
    /// Predicates; once the run is closed, places in its list of predicates.
    pub predicate: Vec<u32>,
    /// Objects: numbers of terms in the run.
    pub object: Vec<u32>,
    /// Graph names or [`DEFAULT_GRAPH`]; once the run is closed, places in its list of graphs.
    pub graph: Vec<u32>,
}

impl RowChunk {
    /// Rows.
    pub fn len(&self) -> usize {
        self.subject.len()
    }

    fn bytes(&self) -> usize {
        let columns = [&self.subject, &self.predicate, &self.object, &self.graph];
        columns.iter().map(|column| column.capacity() * size_of::<u32>()).sum()
    }

    fn clear(&mut self) {
        self.subject.clear();
        self.predicate.clear();
        self.object.clear();
        self.graph.clear();
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(&(self.len() as u32).to_le_bytes());
        out.extend_from_slice(&u32::from(!self.graph.is_empty()).to_le_bytes());
        for column in [&self.subject, &self.predicate, &self.object, &self.graph] {
            for value in column {
                out.extend_from_slice(&value.to_le_bytes());
            }
        }
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (rows, bytes) = bytes.split_first_chunk::<4>()?;
        let (has_graph, bytes) = bytes.split_first_chunk::<4>()?;
        let column_bytes = u32::from_le_bytes(*rows) as usize * 4;
        let column = |number: usize| -> Option<Vec<u32>> {
            let part = bytes.get(number * column_bytes..(number + 1) * column_bytes)?;
            Some(
                part.chunks_exact(4)
                    .filter_map(|v| v.first_chunk())
                    .map(|v| u32::from_le_bytes(*v))
                    .collect(),
            )
        };
        let graph = if *has_graph == [0; 4] { Vec::new() } else { column(3)? };
        Some(Self { subject: column(0)?, predicate: column(1)?, object: column(2)?, graph })
    }
}

/// The growing rows of a run.
#[derive(Debug, Default)]
pub struct Rows {
    chunks: Vec<RowChunk>,
    spare: Vec<RowChunk>,
    count: u64,
    bytes: usize,
}

impl Rows {
    /// Adds a quad.
    #[inline]
    pub fn push(&mut self, subject: u32, predicate: u32, object: u32, graph: u32) {
        let chunk = match self.chunks.last_mut() {
            Some(chunk) if chunk.len() < CHUNK_ROWS => chunk,
            _ => self.add_chunk(),
        };
        if graph != DEFAULT_GRAPH && chunk.graph.is_empty() {
            chunk.graph.resize(chunk.subject.len(), DEFAULT_GRAPH);
            chunk.graph.push(graph);
        } else if !chunk.graph.is_empty() {
            chunk.graph.push(graph);
        }
        chunk.subject.push(subject);
        chunk.predicate.push(predicate);
        chunk.object.push(object);
        self.count += 1;
    }

    fn add_chunk(&mut self) -> &mut RowChunk {
        let chunk = self.spare.pop().unwrap_or_default();
        // What the chunk will take when it is full, so that the budget is not surprised.
        self.bytes += chunk.bytes().max(CHUNK_ROWS * 3 * size_of::<u32>());
        self.chunks.push(chunk);
        let last = self.chunks.len() - 1;
        &mut self.chunks[last]
    }

    /// Quads.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.bytes + self.spare.len() * CHUNK_ROWS * 3 * size_of::<u32>()
    }

    /// Replaces predicates and graph names by places in the lists of distinct ones that are returned.
    pub fn number_predicates_and_graphs(&mut self, terms: u32) -> (Vec<u32>, Vec<u32>) {
        let mut places = vec![0_u32; terms as usize];
        let mut predicates = Vec::new();
        for chunk in &mut self.chunks {
            to_places(&mut chunk.predicate, &mut places, &mut predicates);
        }
        let mut graphs = Vec::new();
        if self.chunks.iter().any(|chunk| !chunk.graph.is_empty()) {
            places.fill(0);
            for chunk in &mut self.chunks {
                to_places(&mut chunk.graph, &mut places, &mut graphs);
            }
        }
        (predicates, graphs)
    }

    /// Takes the rows out.
    pub fn take(&mut self) -> Vec<RowChunk> {
        self.count = 0;
        self.bytes = 0;
        std::mem::take(&mut self.chunks)
    }

    /// Writes the rows to a file and keeps the memory for the next run.
    pub fn spill(&mut self, file: &mut FrameWriter) -> io::Result<Range<u64>> {
        let start = file.cut()?;
        let mut bytes = Vec::new();
        for chunk in &self.chunks {
            chunk.write(&mut bytes);
            file.frame(&bytes)?;
        }
        let end = file.cut()?;
        for mut chunk in self.chunks.drain(..) {
            chunk.clear();
            self.spare.push(chunk);
        }
        self.count = 0;
        self.bytes = 0;
        Ok(start..end)
    }

    /// Gives back the memory kept for later.
    pub fn drop_spare(&mut self) {
        self.spare = Vec::new();
    }
}

fn to_places(column: &mut [u32], places: &mut [u32], list: &mut Vec<u32>) {
    for value in column {
        // DEFAULT_GRAPH is beyond all numbers of terms.
        let Some(place) = places.get_mut(*value as usize) else { continue };
        if *place == 0 {
            list.push(*value);
            *place = list.len() as u32;
        }
        *value = *place - 1;
    }
}

/// The rows of a closed run.
#[derive(Debug)]
pub enum ClosedRows {
    /// Still in memory.
    Memory(std::vec::IntoIter<RowChunk>),
    /// In a temporary file.
    File {
        /// The file.
        file: Arc<dyn ReadAt>,
        /// Where its frames are.
        range: Range<u64>,
    },
}

impl ClosedRows {
    /// The next chunk; memory is given back as it goes.
    pub fn next(&mut self) -> io::Result<Option<RowChunk>> {
        match self {
            Self::Memory(chunks) => Ok(chunks.next()),
            Self::File { file, range } => {
                if range.start >= range.end {
                    return Ok(None);
                }
                let mut bytes = Vec::new();
                range.start = read_frame(&**file, range.start, &mut bytes)?;
                let damaged = || io::Error::new(io::ErrorKind::InvalidData, "a temporary file is damaged");
                RowChunk::read(&bytes).map(Some).ok_or_else(damaged)
            }
        }
    }
}

//! The quads of one run as rows of term numbers, in chunks that move to a temporary file as they are.

use lode_base::frame_file::{FrameWriter, read_frame};
use lode_base::huge;
use lode_base::vfs::ReadAt;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Rows of a frame in a temporary file, and of the first chunk.
pub const FRAME_ROWS: usize = 1 << 15;
/// Rows of other chunks: enough for some huge pages.
const CHUNK_ROWS: usize = if cfg!(test) { 2 * FRAME_ROWS } else { 16 * FRAME_ROWS };
/// The graph number of quads in the default graph.
pub const DEFAULT_GRAPH: u32 = u32::MAX;

/// Some quads. `graph` is empty while all of them are in the default graph.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct RowChunk {
    /// Subjects, predicates and objects. Subjects and objects are numbers of terms in the run; so are predicates, until
    /// the run is closed and they are places in its list of predicates.
    pub terms: Vec<[u32; 3]>,
    /// Graph names or [`DEFAULT_GRAPH`]; once the run is closed, places in its list of graphs.
    pub graph: Vec<u32>,
}

impl RowChunk {
    fn with_capacity(rows: usize) -> Self {
        Self { terms: huge::with_capacity(rows), graph: Vec::new() }
    }

    /// Pieces of at most [`FRAME_ROWS`] rows: their terms, and their graphs or nothing.
    pub fn frames(&self) -> impl Iterator<Item = (&[[u32; 3]], &[u32])> {
        let graphs = self.graph.chunks(FRAME_ROWS).chain(std::iter::repeat(&[][..]));
        self.terms.chunks(FRAME_ROWS).zip(graphs)
    }

    fn bytes(&self) -> usize {
        size_of_val(self.terms.as_slice()) + size_of_val(self.graph.as_slice())
    }

    fn clear(&mut self) {
        self.terms.clear();
        self.graph.clear();
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (rows, bytes) = bytes.split_first_chunk::<4>()?;
        let (terms, graph) = bytes.split_at_checked(u32::from_le_bytes(*rows) as usize * 12)?;
        let (terms, []) = terms.as_chunks::<12>() else { return None };
        let terms = terms.iter().map(|row| {
            let (numbers, _) = row.as_chunks::<4>();
            std::array::from_fn(|at| numbers.get(at).map_or(0, |number| u32::from_le_bytes(*number)))
        });
        let (graph, []) = graph.as_chunks::<4>() else { return None };
        let graph = graph.iter().map(|number| u32::from_le_bytes(*number)).collect();
        Some(Self { terms: terms.collect(), graph })
    }
}

fn write_frame(terms: &[[u32; 3]], graph: &[u32], out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(&(terms.len() as u32).to_le_bytes());
    for value in terms.as_flattened().iter().chain(graph) {
        out.extend_from_slice(&value.to_le_bytes());
    }
}

/// The growing rows of a run.
#[derive(Debug, Default)]
pub struct Rows {
    chunks: Vec<RowChunk>,
    spare: Vec<RowChunk>,
    /// Rows in all chunks but the last, and their bytes.
    closed_rows: usize,
    closed_bytes: usize,
    /// Bytes that spilled runs had: what is written again was touched already.
    touched_bytes: usize,
}

impl Rows {
    /// Adds a quad.
    #[inline]
    pub fn push(&mut self, subject: u32, predicate: u32, object: u32, graph: u32) {
        let chunk = match self.chunks.last_mut() {
            Some(chunk) if chunk.terms.len() < chunk.terms.capacity() => chunk,
            _ => self.add_chunk(),
        };
        if graph != DEFAULT_GRAPH && chunk.graph.is_empty() {
            chunk.graph.resize(chunk.terms.len(), DEFAULT_GRAPH);
            chunk.graph.push(graph);
        } else if !chunk.graph.is_empty() {
            chunk.graph.push(graph);
        }
        chunk.terms.push([subject, predicate, object]);
    }

    #[cold]
    fn add_chunk(&mut self) -> &mut RowChunk {
        if let Some(full) = self.chunks.last() {
            self.closed_rows += full.terms.len();
            self.closed_bytes += full.bytes();
        }
        let rows = if self.chunks.is_empty() { FRAME_ROWS } else { CHUNK_ROWS };
        let chunk = self.spare.pop().unwrap_or_else(|| RowChunk::with_capacity(rows));
        self.chunks.push(chunk);
        let last = self.chunks.len() - 1;
        &mut self.chunks[last]
    }

    /// Quads.
    pub fn count(&self) -> u64 {
        (self.closed_rows + self.chunks.last().map_or(0, |chunk| chunk.terms.len())) as u64
    }

    /// Bytes held. Of the last chunk only what is written counts, since the rest was never touched.
    pub fn bytes(&self) -> usize {
        (self.closed_bytes + self.chunks.last().map_or(0, RowChunk::bytes)).max(self.touched_bytes)
    }

    /// Replaces predicates and graph names by places in the lists of distinct ones that are returned.
    pub fn number_predicates_and_graphs(&mut self, terms: u32) -> (Vec<u32>, Vec<u32>) {
        let mut places = vec![0_u32; terms as usize];
        let mut predicates = Vec::new();
        for chunk in &mut self.chunks {
            to_places(
                chunk.terms.iter_mut().map(|[_, predicate, _]| predicate),
                &mut places,
                &mut predicates,
            );
        }
        let mut graphs = Vec::new();
        if self.chunks.iter().any(|chunk| !chunk.graph.is_empty()) {
            places.fill(0);
            for chunk in &mut self.chunks {
                to_places(chunk.graph.iter_mut(), &mut places, &mut graphs);
            }
        }
        (predicates, graphs)
    }

    /// How many rows each of so many terms is the subject of.
    pub fn count_subjects(&self, terms: u32) -> Vec<u32> {
        let mut counts = vec![0_u32; terms as usize];
        for [subject, ..] in self.chunks.iter().flat_map(|chunk| &chunk.terms) {
            if let Some(count) = counts.get_mut(*subject as usize) {
                *count = count.saturating_add(1);
            }
        }
        counts
    }

    /// Takes the rows out.
    pub fn take(&mut self) -> Vec<RowChunk> {
        (self.closed_rows, self.closed_bytes) = (0, 0);
        std::mem::take(&mut self.chunks)
    }

    /// Writes the rows to a file and keeps the memory for the next run.
    pub fn spill(&mut self, file: &mut FrameWriter) -> io::Result<Range<u64>> {
        let start = file.cut()?;
        let mut bytes = Vec::new();
        for (terms, graph) in self.chunks.iter().flat_map(RowChunk::frames) {
            write_frame(terms, graph, &mut bytes);
            file.frame(&bytes)?;
        }
        let end = file.cut()?;
        self.touched_bytes = self.bytes();
        for mut chunk in self.take() {
            chunk.clear();
            self.spare.push(chunk);
        }
        Ok(start..end)
    }

    /// Gives back the memory kept for later.
    pub fn drop_spare(&mut self) {
        self.spare = Vec::new();
        self.touched_bytes = 0;
    }
}

fn to_places<'a>(column: impl Iterator<Item = &'a mut u32>, places: &mut [u32], list: &mut Vec<u32>) {
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
                file.will_read(range.start, range.end);
                let damaged = || io::Error::new(io::ErrorKind::InvalidData, "a temporary file is damaged");
                RowChunk::read(&bytes).map(Some).ok_or_else(damaged)
            }
        }
    }
}

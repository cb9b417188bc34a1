//! Makes the index of a segment's geometries: reads each, sorts their boxes along a curve, and writes them as trees.

use super::hilbert;
use super::ranges::{each_geometry, geometries_of};
use super::tree::{CellBox, NODE_ENTRIES, Node, TreeWriter};
use crate::error::StoreError;
use crate::index_files::{KEYS, PLACES, ROWS};
use crate::kept_indexes;
use crate::store::Store;
use crate::version::OpenSegment;
use lode_base::cancel::CancelToken;
use lode_base::cores::cores;
use lode_base::external_sort::{ExternalSorter, SortOptions, SortedRows};
use lode_base::pieces;
use lode_base::vfs::Vfs;
use lode_geo::proximity::is_regular;
use lode_geo::window::{Grid, extent};
use lode_geo::{Crs, Geometry, read};
use lode_packed::{Dictionary, DictionaryWriter, PermutationWriter};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Geometries between two looks at the cancel token.
const GEOMETRIES_UNCHECKED: u64 = 64;
/// Planes that have a tree of their own are below this one, in which is what has no box, or perhaps no distance even from a place near it.
pub(super) const IRREGULAR: u8 = 14;
/// The last one has geometries of further planes: they are candidates for every question.
pub(super) const PLANES_MAX: u8 = 15;
/// Bits of a row for a geometry,
const NUMBER_BITS: u32 = 32;
/// and where those for the sides of its box, its place on the curve, and its plane begin.
const SIDES_AT: u32 = NUMBER_BITS;
const CURVE_AT: u32 = SIDES_AT + 2 * hilbert::SIDE_BITS;
const PLANE_AT: u32 = CURVE_AT + u64::BITS;
/// All cells.
const EVERYWHERE: [[u32; 2]; 2] = [[0; 2], [u32::MAX; 2]];

/// How to index geometries.
#[derive(Debug, Clone)]
pub struct PlacesOptions {
    /// Bytes of memory for sorting.
    pub memory_bytes: usize,
    /// Also where there is an index.
    pub force: bool,
    /// Stops it.
    pub cancel: CancelToken,
}

/// Unreadable literals that are named, and bytes of those that are.
const NAMED_MAX: usize = 5;
const NAMED_BYTES_MAX: usize = 1 << 16;

/// A literal with the datatype of a geometry that is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoGeometry {
    /// Its text.
    pub text: String,
    /// Its datatype.
    pub datatype: String,
    /// Why it cannot be read.
    pub reason: String,
}

/// What was done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlacesReport {
    /// Segments that were indexed now,
    pub segments: u64,
    /// and geometries of them.
    pub geometries: u64,
    /// Literals of them that have the datatype of a geometry and are none.
    pub unreadable: u64,
    /// The first few of these.
    pub named: Vec<NoGeometry>,
    /// Bytes of their indexes.
    pub bytes: u64,
    /// Segments that had an index, or have no geometries.
    pub others: u64,
    /// Those of them that have no geometries.
    pub without: u64,
}

/// Whether the database has indexes of geometries.
pub fn keeps_places(store: &Store) -> bool {
    kept_indexes::keeps(store, &PLACES)
}

/// Removes the indexes of geometries, and makes none for new segments.
///
/// # Errors
///
/// Where a file cannot be removed.
pub fn drop_places(store: &Store) -> Result<(), StoreError> {
    kept_indexes::drop_all(store, &PLACES)
}

/// Makes an index of the geometries of each segment that has none, and from now on of new ones. Who reads at the same time is not kept waiting, and finds it as soon
/// as it is whole.
///
/// # Errors
///
/// Where files cannot be read or written, or it was cancelled.
pub fn index_places(store: &Store, options: &PlacesOptions) -> Result<PlacesReport, StoreError> {
    kept_indexes::in_turn(store, &options.cancel, || {
        kept_indexes::keep(store, &PLACES)?;
        index_in_turn(store, options, cores())
    })
}

/// The same for who has the right to replace segments, with up to so many threads.
pub(crate) fn index_in_turn(
    store: &Store,
    options: &PlacesOptions,
    threads: usize,
) -> Result<PlacesReport, StoreError> {
    let threads = threads.max(1);
    let mut report = PlacesReport::default();
    let others = kept_indexes::each_without(store, &PLACES, options.force, |segment, folder| {
        let building = Building { vfs: store.vfs(), folder, segment, options, threads };
        if building.run(&mut report)? {
            report.segments += 1;
        } else {
            report.others += 1;
            report.without += 1;
        }
        Ok(())
    })?;
    report.others += others;
    Ok(report)
}

struct Building<'b> {
    vfs: &'b Arc<dyn Vfs>,
    folder: &'b Path,
    segment: &'b OpenSegment,
    options: &'b PlacesOptions,
    threads: usize,
}

/// The planes of a segment, in the order in which they were met.
#[derive(Default)]
struct Planes(Vec<Crs>);

impl Planes {
    /// The number of a plane; none where there are too many.
    fn number(&mut self, plane: &Crs) -> Option<u8> {
        let known = self.0.iter().position(|known| known == plane);
        let at = match known {
            Some(at) => at,
            None if self.0.len() == usize::from(IRREGULAR) => return None,
            None => {
                self.0.push(plane.clone());
                self.0.len() - 1
            }
        };
        u8::try_from(at).ok()
    }

    /// The rows of a piece, with the numbers of their planes.
    fn numbered(&mut self, piece: Piece) -> Result<Vec<Vec<u128>>, StoreError> {
        let everywhere = |numbers: Vec<u64>, plane: u8| {
            numbers.into_iter().map(|number| row(plane, EVERYWHERE, number)).collect::<Result<Vec<_>, _>>()
        };
        let mut all = vec![everywhere(piece.irregular, IRREGULAR)?, everywhere(piece.elsewhere, PLANES_MAX)?];
        for (plane, _, mut rows) in piece.planes {
            let number = self.number(&plane);
            for row in &mut rows {
                *row = match number {
                    Some(number) => u128::from(number) << PLANE_AT | *row,
                    None => self::row(PLANES_MAX, EVERYWHERE, number_of(*row))?,
                };
            }
            all.push(rows);
        }
        Ok(all)
    }
}

/// Geometries that one thread reads at a time.
const PIECE: usize = 1 << 13;

/// Ranges cut into pieces.
fn pieces_of(ranges: &[Range<u64>]) -> Vec<Range<u64>> {
    let cut = |range: &Range<u64>| {
        let end = range.end;
        range.clone().step_by(PIECE).map(move |from| from..end.min(from + PIECE as u64))
    };
    ranges.iter().flat_map(cut).collect()
}

/// The geometries of a piece.
#[derive(Default)]
struct Piece {
    geometries: u64,
    unreadable: u64,
    named: Vec<NoGeometry>,
    /// Planes in the order in which they were met, with rows that do not have their numbers yet.
    planes: Vec<(Crs, Grid, Vec<u128>)>,
    /// Those of further planes,
    elsewhere: Vec<u64>,
    /// and those that may have no distance.
    irregular: Vec<u64>,
}

impl Piece {
    fn read(dictionary: &Dictionary, range: &Range<u64>, cancel: &CancelToken) -> Result<Self, StoreError> {
        let mut piece = Self::default();
        each_geometry::<StoreError>(dictionary, range, &mut |number, text, datatype| {
            if number.is_multiple_of(GEOMETRIES_UNCHECKED) {
                cancel.check()?;
            }
            match read::literal(text, datatype) {
                Ok(geometry) => {
                    piece.geometries += 1;
                    piece.add(&geometry, number)
                }
                Err(error) => {
                    piece.unreadable += 1;
                    if piece.named.len() < NAMED_MAX && text.len() <= NAMED_BYTES_MAX {
                        let (text, datatype) = (text.to_owned(), datatype.to_owned());
                        piece.named.push(NoGeometry { text, datatype, reason: error.to_string() });
                    }
                    piece.irregular.push(number);
                    Ok(())
                }
            }
        })?;
        Ok(piece)
    }

    fn add(&mut self, geometry: &Geometry, number: u64) -> Result<(), StoreError> {
        if !is_regular(geometry) {
            self.irregular.push(number);
        }
        let Some(bounds) = extent(geometry) else { return Ok(()) };
        let plane = geometry.crs().plane();
        let known = self.planes.iter().position(|(known, _, _)| *known == plane);
        let at = match known {
            Some(at) => at,
            None if self.planes.len() == usize::from(IRREGULAR) => {
                self.elsewhere.push(number);
                return Ok(());
            }
            None => {
                let grid = Grid::of(&plane);
                self.planes.push((plane, grid, Vec::new()));
                self.planes.len() - 1
            }
        };
        if let Some((_, grid, rows)) = self.planes.get_mut(at) {
            rows.push(row(0, [grid.cell(bounds.min), grid.cell(bounds.max)], number)?);
        }
        Ok(())
    }
}

impl Building<'_> {
    /// Whether there is something to index.
    fn run(&self, report: &mut PlacesReport) -> Result<bool, StoreError> {
        let ranges = geometries_of(self.segment)?;
        let Some(dictionary) = self.segment.dictionary().filter(|_| !ranges.is_empty()) else {
            return Ok(false);
        };
        let mut planes = Planes::default();
        let mut sorter = ExternalSorter::<u128>::new(self.sort_options(), 0);
        // Some pieces for each thread at a time, so that a few are in memory; what is made of them does not depend on how many threads there are.
        for some in pieces_of(&ranges).chunks(4 * self.threads) {
            let read = |piece: Range<u64>| Piece::read(dictionary, &piece, &self.options.cancel);
            for piece in pieces::each(some.to_vec(), self.threads, &read) {
                let mut piece = piece?;
                report.geometries += piece.geometries;
                report.unreadable += piece.unreadable;
                let more = NAMED_MAX.saturating_sub(report.named.len());
                report.named.extend(piece.named.drain(..).take(more));
                for rows in planes.numbered(piece)? {
                    sorter.push(&rows).map_err(StoreError::io(self.folder))?;
                }
            }
        }
        let rows = sorter.finish().map_err(StoreError::io(self.folder))?;
        report.bytes += self.write_keys(&planes)? + self.write_rows(rows)?;
        PLACES
            .put_in_place(&**self.vfs, self.folder)
            .map_err(|(path, error)| StoreError::io(&path)(error))?;
        Ok(true)
    }

    fn sort_options(&self) -> SortOptions {
        SortOptions {
            vfs: Arc::clone(self.vfs),
            folder: self.folder.to_owned(),
            name: "places-rows".to_owned(),
            bits: 0..u128::BITS,
            memory_bytes: self.options.memory_bytes,
            threads: self.threads,
        }
    }

    /// The planes, each with its number before it.
    fn write_keys(&self, planes: &Planes) -> Result<u64, StoreError> {
        let [path, _] = PLACES.new_files(self.folder);
        let mut writer = DictionaryWriter::new(self.vfs.create(&path).map_err(StoreError::io(&path))?);
        for (number, plane) in (0_u8..).zip(&planes.0) {
            writer.push(KEYS, &[&[number], plane.iri().as_bytes()].concat())?;
        }
        let (info, mut file) = writer.finish_into_file()?;
        file.sync().map_err(StoreError::io(&path))?;
        Ok(info.bytes)
    }

    fn write_rows(&self, rows: SortedRows<u128>) -> Result<u64, StoreError> {
        let [_, path] = PLACES.new_files(self.folder);
        let mut writer = PermutationWriter::new(self.vfs.create(&path).map_err(StoreError::io(&path))?, ROWS);
        let mut merge = match rows {
            SortedRows::Memory(rows) => Rows::new(vec![rows].into_iter().map(Ok)),
            SortedRows::Runs(mut merge) => Rows::new(std::iter::from_fn(move || {
                let mut rows = Vec::new();
                match merge.next(&mut rows) {
                    Ok(true) => Some(Ok(rows)),
                    Ok(false) => None,
                    Err(error) => Some(Err(error)),
                }
            })),
        };
        while let Some(plane) = merge.plane().map_err(StoreError::io(&path))? {
            let mut tree = TreeWriter::new(&mut writer, plane);
            while merge.plane().map_err(StoreError::io(&path))? == Some(plane) {
                self.options.cancel.check()?;
                let mut nodes: Vec<Vec<u128>> = Vec::new();
                while nodes.len() < NODES_AT_ONCE * self.threads {
                    let node = merge.some(plane, NODE_ENTRIES).map_err(StoreError::io(&path))?;
                    if node.is_empty() {
                        break;
                    }
                    nodes.push(node);
                }
                let leaf = |node: Vec<u128>| Node::of(node.into_iter().map(entry).collect());
                for node in pieces::each(nodes, self.threads, &leaf) {
                    tree.push_node(&node)?;
                }
            }
            tree.finish()?;
        }
        let (info, mut file) = writer.finish_into_file()?;
        file.sync().map_err(StoreError::io(&path))?;
        Ok(info.bytes)
    }
}

/// Sorted rows one by one.
struct Rows<'r> {
    blocks: Box<dyn Iterator<Item = std::io::Result<Vec<u128>>> + 'r>,
    block: std::vec::IntoIter<u128>,
    next: Option<u128>,
}

impl<'r> Rows<'r> {
    fn new(blocks: impl Iterator<Item = std::io::Result<Vec<u128>>> + 'r) -> Self {
        Self { blocks: Box::new(blocks), block: Vec::new().into_iter(), next: None }
    }

    /// The plane of the next row; none at the end.
    fn plane(&mut self) -> std::io::Result<Option<u8>> {
        while self.next.is_none() {
            self.next = self.block.next();
            if self.next.is_none() {
                match self.blocks.next() {
                    Some(block) => self.block = block?.into_iter(),
                    None => return Ok(None),
                }
            }
        }
        Ok(self.next.map(|row| (row >> PLANE_AT) as u8))
    }

    /// The next rows of a plane, up to so many.
    fn some(&mut self, plane: u8, most: usize) -> std::io::Result<Vec<u128>> {
        let mut rows = Vec::with_capacity(most);
        while rows.len() < most && self.plane()? == Some(plane) {
            rows.extend(self.next.take());
        }
        Ok(rows)
    }
}

/// Nodes that are made of rows at a time, for each thread.
const NODES_AT_ONCE: usize = 64;

/// A geometry's row, which sorts along the curve of its plane.
fn row(plane: u8, [min, max]: [[u32; 2]; 2], number: u64) -> Result<u128, StoreError> {
    let number =
        u32::try_from(number).map_err(|_| StoreError::PlacesTooMany { most: u64::from(u32::MAX) })?;
    let side = |axis: usize| u128::from(hilbert::pack_side(max[axis] - min[axis]));
    let sides = side(0) << hilbert::SIDE_BITS | side(1);
    let curve = u128::from(hilbert::index(min[0], min[1]));
    Ok(u128::from(plane) << PLANE_AT | curve << CURVE_AT | sides << SIDES_AT | u128::from(number))
}

/// The box and the number of a geometry of a row.
#[expect(clippy::cast_possible_truncation, reason = "parts of a row")]
fn entry(row: u128) -> (CellBox, u64) {
    let (x, y) = hilbert::cell((row >> CURVE_AT) as u64);
    let side = |shift: u32| {
        let packed = (row >> (SIDES_AT + shift)) as u16 & ((1 << hilbert::SIDE_BITS) - 1);
        hilbert::unpack_side(packed)
    };
    let max = [x.saturating_add(side(hilbert::SIDE_BITS)), y.saturating_add(side(0))];
    (CellBox { min: [x, y], max }, number_of(row))
}

/// The number of a geometry of a row.
#[expect(clippy::cast_possible_truncation, reason = "a part of a row")]
fn number_of(row: u128) -> u64 {
    u64::from(row as u32)
}

//! Makes the index of a segment's geometries: reads each, sorts their boxes along a curve, and writes them as trees.

use super::hilbert;
use super::ranges::{each_geometry, geometries_of};
use super::tree::{CellBox, TreeWriter};
use crate::error::StoreError;
use crate::index_files::{KEYS, PLACES, ROWS};
use crate::kept_indexes;
use crate::store::Store;
use crate::version::OpenSegment;
use lode_base::cancel::CancelToken;
use lode_base::external_sort::{ExternalSorter, SortOptions, SortedRows};
use lode_base::vfs::Vfs;
use lode_geo::proximity::is_regular;
use lode_geo::window::{Grid, extent};
use lode_geo::{Crs, Geometry, read};
use lode_packed::{DictionaryWriter, PermutationWriter};
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

/// What was done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlacesReport {
    /// Segments that were indexed now,
    pub segments: u64,
    /// and geometries of them.
    pub geometries: u64,
    /// Literals of them that have the datatype of a geometry and are none.
    pub unreadable: u64,
    /// Bytes of their indexes.
    pub bytes: u64,
    /// Segments that had an index, or have no geometries.
    pub others: u64,
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
        index_in_turn(store, options)
    })
}

/// The same for who has the right to replace segments.
pub(crate) fn index_in_turn(store: &Store, options: &PlacesOptions) -> Result<PlacesReport, StoreError> {
    let mut report = PlacesReport::default();
    let others = kept_indexes::each_without(store, &PLACES, options.force, |segment, folder| {
        let building = Building { vfs: store.vfs(), folder, segment, options };
        if building.run(&mut report)? {
            report.segments += 1;
        } else {
            report.others += 1;
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
}

/// The planes of a segment, in the order in which they were met.
#[derive(Default)]
struct Planes(Vec<(Crs, Grid)>);

impl Planes {
    /// The number of a plane and its grid; none where there are too many.
    fn of(&mut self, crs: &Crs) -> Option<(u8, Grid)> {
        let plane = crs.plane();
        let known = self.0.iter().position(|(known, _)| *known == plane);
        let at = match known {
            Some(at) => at,
            None if self.0.len() == usize::from(IRREGULAR) => return None,
            None => {
                let grid = Grid::of(&plane);
                self.0.push((plane, grid));
                self.0.len() - 1
            }
        };
        let (_, grid) = self.0.get(at)?;
        Some((u8::try_from(at).ok()?, *grid))
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
        for range in &ranges {
            each_geometry::<StoreError>(dictionary, range, &mut |number, text, datatype| {
                if number.is_multiple_of(GEOMETRIES_UNCHECKED) {
                    self.options.cancel.check()?;
                }
                let mut push = |row: u128| sorter.push(&[row]).map_err(StoreError::io(self.folder));
                let Ok(geometry) = read::literal(text, datatype) else {
                    report.unreadable += 1;
                    return push(row(IRREGULAR, EVERYWHERE, number)?);
                };
                report.geometries += 1;
                self.each_row(&geometry, &mut planes, number, push)
            })?;
        }
        let rows = sorter.finish().map_err(StoreError::io(self.folder))?;
        report.bytes += self.write_keys(&planes)? + self.write_rows(rows)?;
        PLACES
            .put_in_place(&**self.vfs, self.folder)
            .map_err(|(path, error)| StoreError::io(&path)(error))?;
        Ok(true)
    }

    /// The rows of a geometry: one, or a second that says that it may have no distance.
    fn each_row(
        &self,
        geometry: &Geometry,
        planes: &mut Planes,
        number: u64,
        mut push: impl FnMut(u128) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        if !is_regular(geometry) {
            push(row(IRREGULAR, EVERYWHERE, number)?)?;
        }
        let Some(bounds) = extent(geometry) else { return Ok(()) };
        let row = match planes.of(geometry.crs()) {
            Some((plane, grid)) => row(plane, [grid.cell(bounds.min), grid.cell(bounds.max)], number),
            None => row(PLANES_MAX, EVERYWHERE, number),
        };
        push(row?)
    }

    fn sort_options(&self) -> SortOptions {
        SortOptions {
            vfs: Arc::clone(self.vfs),
            folder: self.folder.to_owned(),
            name: "places-rows".to_owned(),
            bits: 0..u128::BITS,
            memory_bytes: self.options.memory_bytes,
            threads: 1,
        }
    }

    /// The planes, each with its number before it.
    fn write_keys(&self, planes: &Planes) -> Result<u64, StoreError> {
        let [path, _] = PLACES.new_files(self.folder);
        let mut writer = DictionaryWriter::new(self.vfs.create(&path).map_err(StoreError::io(&path))?);
        for (number, (plane, _)) in (0_u8..).zip(&planes.0) {
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
            let mut pushed = 0_u64;
            while merge.plane().map_err(StoreError::io(&path))? == Some(plane) {
                if pushed.is_multiple_of(1 << 12) {
                    self.options.cancel.check()?;
                }
                pushed += 1;
                if let Some(row) = merge.take() {
                    tree.push(entry(row))?;
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

    fn take(&mut self) -> Option<u128> {
        self.next.take()
    }
}

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
    (CellBox { min: [x, y], max }, u64::from(row as u32))
}

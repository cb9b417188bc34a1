//! The geometries of a version that may pass a condition, by the indexes of its segments; what has none is read, if that is little.

use super::build::{IRREGULAR, PLANES_MAX};
use super::ranges::{LITERALS, each_geometry, geometries_of, with_geometry};
use super::tree::{CellBox, Tree};
use crate::error::StoreError;
use crate::index_files::{IndexFiles, KEYS};
use crate::snapshot::Snapshot;
use crate::version::OpenSegment;
use lode_base::cancel::CancelToken;
use lode_geo::window::{Grid, Search, Windows, extent};
use lode_geo::{Crs, read};
use lode_packed::PackedError;
use lode_rdf::ValueId;

/// So many geometries of segments without an index, and as many terms that are in no dictionary yet, are read,
const READ_MAX: u64 = 1 << 14;
/// or this part of those that an index has, if that is more.
const READ_PART: u64 = 16;
/// Candidates, at most: they are in a plan, which has no budget.
const CANDIDATES_MAX: u64 = 1 << 19;
/// Of more than this part of a segment's geometries, to test all is as good.
const CANDIDATES_PART: u64 = 2;
/// Geometries that are read between two looks at the cancel token.
const GEOMETRIES_UNCHECKED: u64 = 64;

impl Snapshot {
    /// The geometries that may pass a condition, ascending; none where there are no indexes, or they are of no help.
    ///
    /// # Errors
    ///
    /// Where a file cannot be read, or it was cancelled. A damaged index is none.
    pub fn place_candidates(
        &self,
        search: &Search,
        cancel: &CancelToken,
    ) -> Result<Option<Vec<ValueId>>, StoreError> {
        let with_literals = || {
            let segments = self.version().segments.iter();
            segments.filter(|segment| segment.dictionary().is_some_and(|terms| terms.len(LITERALS) > 0))
        };
        if !with_literals().any(|segment| segment.has_places()) {
            return Ok(None);
        }
        let (mut indexed, mut read) = (0, 0);
        for segment in with_literals() {
            match segment.has_places() {
                true => indexed += segment.dictionary().map_or(0, |terms| terms.len(LITERALS)),
                false => {
                    read += geometries_of(segment)?.iter().map(|range| range.end - range.start).sum::<u64>()
                }
            }
        }
        let delta = &self.version().delta;
        let most = READ_MAX.max(indexed / READ_PART);
        if read > most || delta.terms_seen() > most {
            return Ok(None);
        }
        let mut ids = Vec::new();
        for segment in with_literals() {
            let found = match segment.has_places() {
                true => self.indexed_candidates(segment, search, cancel, &mut ids),
                false => read_candidates(segment, search, cancel, &mut ids).map(|()| true),
            };
            match found {
                Ok(true) if ids.len() as u64 <= CANDIDATES_MAX => {}
                Ok(_) => return Ok(None),
                Err(StoreError::Corruption { .. } | StoreError::Version { .. }) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        let mut tests = Tests::new(search);
        let mut seen = 0_u64;
        delta.each_term(&mut |id, section, key| {
            seen += 1;
            let stops = seen.is_multiple_of(GEOMETRIES_UNCHECKED) && cancel.check().is_err();
            let may_pass = section == LITERALS
                && !stops
                && with_geometry(key, |text, datatype| tests.may_pass(text, datatype)) == Some(true);
            if may_pass {
                ids.push(id);
            }
        });
        cancel.check()?;
        ids.sort_unstable();
        Ok(Some(ids))
    }

    /// Those of a segment's index; false where it is of no help.
    fn indexed_candidates(
        &self,
        segment: &OpenSegment,
        search: &Search,
        cancel: &CancelToken,
        ids: &mut Vec<ValueId>,
    ) -> Result<bool, StoreError> {
        // It may have gone just now.
        let Some(files) = segment.places()? else { return Ok(false) };
        let files = self.index_files(&files);
        // What has no box passes nothing.
        for plane in (0..=PLANES_MAX).filter(|plane| *plane != IRREGULAR) {
            let Some(tree) = Tree::of(&files, plane)? else { continue };
            let numbers = match windows_of(&files, plane, search)? {
                Some(boxes) => within(&tree, &boxes, cancel)?,
                None => all_of(&tree, cancel)?,
            };
            let Some(numbers) = numbers else { return Ok(false) };
            let base = segment.base(LITERALS);
            ids.extend(numbers.into_iter().map(|number| ValueId::new(LITERALS.kind(), base + number)));
        }
        Ok(true)
    }
}

/// The boxes of cells in which those of a plane may be; none where they may be everywhere.
fn windows_of(files: &IndexFiles, plane: u8, search: &Search) -> Result<Option<Vec<CellBox>>, PackedError> {
    if plane == PLANES_MAX {
        return Ok(None);
    }
    let plane = plane_of(files, plane)?;
    let grid = Grid::of(&plane);
    Ok(match search.windows(&plane) {
        Windows::Everywhere => None,
        Windows::Boxes(boxes) => Some(
            boxes
                .iter()
                .map(|window| CellBox { min: grid.cell(window.min), max: grid.cell(window.max) })
                .collect(),
        ),
    })
}

/// The plane with a number.
pub fn plane_of(files: &IndexFiles, plane: u8) -> Result<Crs, PackedError> {
    let mut key = Vec::new();
    files.keys.get(KEYS, u64::from(plane), &mut key)?;
    let iri = key.get(1..).map(String::from_utf8_lossy).unwrap_or_default();
    Ok(Crs::from_iri(&iri))
}

fn all_of(tree: &Tree<'_>, cancel: &CancelToken) -> Result<Option<Vec<u64>>, StoreError> {
    within(tree, &[CellBox { min: [0; 2], max: [u32::MAX; 2] }], cancel)
}

/// The numbers of the geometries whose boxes meet one of these; none where there are too many.
fn within(
    tree: &Tree<'_>,
    windows: &[CellBox],
    cancel: &CancelToken,
) -> Result<Option<Vec<u64>>, StoreError> {
    let most = CANDIDATES_MAX.min((tree.len() / CANDIDATES_PART).max(1 << 10));
    let mut nodes = vec![tree.root()];
    for level in (0..tree.height()).rev() {
        let mut entries = Vec::new();
        let mut found = Vec::new();
        let mut inside = 0_u64;
        for some in nodes.chunks(1 << 8) {
            cancel.check()?;
            entries.clear();
            if !tree.read(level, some, &mut entries)? {
                return Ok(None);
            }
            for (cells, number) in &entries {
                if let Some(window) = windows.iter().find(|window| window.meets(cells)) {
                    inside += u64::from(window.holds(cells));
                    found.push(*number);
                }
            }
            // What lies within is found whatever is below.
            let too_many = level == 0 && found.len() as u64 > most;
            if too_many || inside.saturating_mul(tree.boxes_below(level)) > most.saturating_mul(2) {
                return Ok(None);
            }
        }
        found.sort_unstable();
        nodes = found;
    }
    Ok(Some(nodes))
}

/// Those of a segment without an index.
fn read_candidates(
    segment: &OpenSegment,
    search: &Search,
    cancel: &CancelToken,
    ids: &mut Vec<ValueId>,
) -> Result<(), StoreError> {
    let Some(dictionary) = segment.dictionary() else { return Ok(()) };
    let mut tests = Tests::new(search);
    for range in geometries_of(segment)? {
        each_geometry::<StoreError>(dictionary, &range, &mut |number, text, datatype| {
            if number.is_multiple_of(GEOMETRIES_UNCHECKED) {
                cancel.check()?;
            }
            if tests.may_pass(text, datatype) {
                ids.push(ValueId::new(LITERALS.kind(), segment.base(LITERALS) + number));
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Tests texts of geometries against the windows of their planes.
struct Tests<'s> {
    search: &'s Search,
    /// The plane that was met last.
    last: Option<(Crs, Windows)>,
}

impl<'s> Tests<'s> {
    fn new(search: &'s Search) -> Self {
        Self { search, last: None }
    }

    fn may_pass(&mut self, text: &str, datatype: &str) -> bool {
        if !read::is_geometry(datatype) {
            return false;
        }
        let Ok(geometry) = read::literal(text, datatype) else { return false };
        let Some(bounds) = extent(&geometry) else { return false };
        let plane = geometry.crs().plane();
        if !self.last.as_ref().is_some_and(|(known, _)| *known == plane) {
            let windows = self.search.windows(&plane);
            self.last = Some((plane, windows));
        }
        self.last.as_ref().is_some_and(|(_, windows)| windows.meet(&bounds))
    }
}

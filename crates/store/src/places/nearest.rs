//! The geometries of a version that are nearest to a place: from the root of each tree the nearest box first, until no box is left that could have a nearer one.

use super::build::{IRREGULAR, PLANES_MAX};
use super::ranges::{LITERALS, geometries_of, with_geometry};
use super::search::plane_of;
use super::tree::{CellBox, Entry, Tree};
use crate::error::StoreError;
use crate::index_files::IndexFiles;
use crate::snapshot::Snapshot;
use crate::version::OpenSegment;
use lode_base::cancel::CancelToken;
use lode_geo::proximity::Proximity;
use lode_geo::window::Grid;
use lode_geo::{Crs, read};
use lode_rdf::ValueId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Geometries that have to be looked at wherever the place is, at most: those that are in no index, are none, or are in other planes.
const OTHERS_MAX: usize = 1 << 14;
/// Geometries that are looked at, at most.
const LOOKED_AT_MAX: usize = 1 << 18;

/// What is wanted.
pub struct Nearest<'n> {
    /// From where.
    pub from: &'n Proximity,
    /// So many rows.
    pub rows: u64,
    /// How many rows a range of ids has.
    pub rows_of: &'n mut dyn FnMut(Range<ValueId>) -> u64,
    /// How many rows there are.
    pub all_rows: u64,
}

impl Snapshot {
    /// The geometries of the nearest rows, those as near as the last of these, and those that have no distance. None where indexes do not tell: where some have no index, or rows
    /// are of something else than geometries.
    ///
    /// # Errors
    ///
    /// Where a file cannot be read, or it was cancelled. A damaged index is none.
    pub fn nearest_places(
        &self,
        nearest: Nearest<'_>,
        cancel: &CancelToken,
    ) -> Result<Option<Vec<ValueId>>, StoreError> {
        match self.search_nearest(nearest, cancel) {
            Err(StoreError::Corruption { .. } | StoreError::Version { .. }) => Ok(None),
            other => other,
        }
    }

    fn search_nearest(
        &self,
        nearest: Nearest<'_>,
        cancel: &CancelToken,
    ) -> Result<Option<Vec<ValueId>>, StoreError> {
        let Nearest { from, rows, rows_of, all_rows } = nearest;
        let mut others: Vec<ValueId> = Vec::new();
        let mut files: Vec<(&OpenSegment, IndexFiles)> = Vec::new();
        let mut rows_left = all_rows;
        for segment in self.version().segments.iter() {
            let ranges = geometries_of(segment)?;
            if ranges.is_empty() {
                continue;
            }
            for range in ranges {
                rows_left =
                    rows_left.saturating_sub(rows_of(id(segment, range.start)..id(segment, range.end)));
            }
            let Some(index) = segment.places()? else { return Ok(None) };
            files.push((segment, self.index_files(&index)));
        }
        let delta = &self.version().delta;
        if delta.terms_seen() > OTHERS_MAX as u64 {
            return Ok(None);
        }
        delta.each_term(&mut |id, section, key| {
            let is_geometry = section == LITERALS
                && with_geometry(key, |_, datatype| read::is_geometry(datatype)) == Some(true);
            if is_geometry {
                others.push(id);
            }
        });
        for other in &others {
            rows_left = rows_left.saturating_sub(rows_of(*other..ValueId::from_bits(other.to_bits() + 1)));
        }
        if rows_left > 0 {
            return Ok(None);
        }
        let mut trees = Vec::new();
        for (segment, files) in &files {
            for plane in 0..=PLANES_MAX {
                let Some(tree) = Tree::of(files, plane)? else { continue };
                if plane < IRREGULAR && plane_of(files, plane)? == Crs::Crs84 {
                    trees.push((*segment, tree));
                } else if !add_all(&tree, segment, &mut others)? {
                    return Ok(None);
                }
            }
        }
        let mut found =
            Found { snapshot: self, from, wanted: rows, near: Vec::new(), without: Vec::new(), looked_at: 0 };
        others.sort_unstable();
        others.dedup();
        for other in &others {
            cancel.check()?;
            found.look_at(*other, rows_of)?;
        }
        found.search(&trees, &others, rows_of, cancel)
    }
}

fn id(segment: &OpenSegment, number: u64) -> ValueId {
    ValueId::new(LITERALS.kind(), segment.base(LITERALS) + number)
}

/// Adds all geometries of a tree; false where there are too many.
fn add_all(tree: &Tree<'_>, segment: &OpenSegment, others: &mut Vec<ValueId>) -> Result<bool, StoreError> {
    if others.len() as u64 + tree.len() > OTHERS_MAX as u64 {
        return Ok(false);
    }
    let mut entries: Vec<Entry> = Vec::new();
    for leaf in 0..tree.leaves() {
        if !tree.read(0, &[leaf], &mut entries)? {
            return Ok(false);
        }
    }
    others.extend(entries.iter().map(|(_, number)| id(segment, *number)));
    Ok(true)
}

/// What was found so far.
struct Found<'s> {
    snapshot: &'s Snapshot,
    from: &'s Proximity,
    wanted: u64,
    /// Distances, with how many rows a geometry has.
    near: Vec<(f64, u64, ValueId)>,
    /// Those without a distance, which an ascending order has first.
    without: Vec<ValueId>,
    looked_at: usize,
}

/// A box that may be looked into.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Next {
    /// Its least distance, as bits: distances are no less than 0.
    least: u64,
    tree: usize,
    level: usize,
    number: u64,
}

impl Found<'_> {
    fn look_at(
        &mut self,
        id: ValueId,
        rows_of: &mut dyn FnMut(Range<ValueId>) -> u64,
    ) -> Result<(), StoreError> {
        self.looked_at += 1;
        let rows = rows_of(id..ValueId::from_bits(id.to_bits() + 1));
        if rows == 0 {
            return Ok(());
        }
        let distance = match self.snapshot.term(id)? {
            lode_rdf::Term::Literal(literal) => read::literal(literal.value(), literal.datatype().as_str())
                .and_then(|geometry| self.from.distance(&geometry))
                .ok(),
            _ => None,
        };
        match distance {
            Some(distance) => self.near.push((distance, rows, id)),
            None => self.without.push(id),
        }
        Ok(())
    }

    /// The distance of the last row that is wanted; infinite as long as there are too few.
    fn furthest(&mut self) -> f64 {
        self.near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut rows = 0_u64;
        for (distance, more, _) in &self.near {
            rows = rows.saturating_add(*more);
            if rows >= self.wanted {
                let furthest = *distance;
                self.near.retain(|(distance, ..)| *distance <= furthest);
                return furthest;
            }
        }
        f64::INFINITY
    }

    fn search(
        mut self,
        trees: &[(&OpenSegment, Tree<'_>)],
        known: &[ValueId],
        rows_of: &mut dyn FnMut(Range<ValueId>) -> u64,
        cancel: &CancelToken,
    ) -> Result<Option<Vec<ValueId>>, StoreError> {
        let grid = Grid::of(&Crs::Crs84);
        let least =
            |from: &Proximity, cells: &CellBox| from.least(&grid.bounds(cells.min, cells.max)).to_bits();
        let roots = (0..).zip(trees).map(|(tree, (_, nodes))| {
            Reverse(Next { least: 0, tree, level: nodes.height(), number: nodes.root() })
        });
        let mut queue: BinaryHeap<Reverse<Next>> = roots.collect();
        let mut furthest = self.furthest();
        let mut entries = Vec::new();
        while let Some(Reverse(next)) = queue.pop() {
            if f64::from_bits(next.least) > furthest {
                break;
            }
            cancel.check()?;
            let Some((segment, tree)) = trees.get(next.tree) else { break };
            // A node of a level has entries that are nodes of the one below, and geometries below all.
            let Some(level) = next.level.checked_sub(1) else {
                if self.looked_at > LOOKED_AT_MAX {
                    return Ok(None);
                }
                let id = id(segment, next.number);
                if known.binary_search(&id).is_err() {
                    self.look_at(id, rows_of)?;
                    furthest = self.furthest();
                }
                continue;
            };
            entries.clear();
            if !tree.read(level, &[next.number], &mut entries)? {
                return Ok(None);
            }
            let near = entries.iter().map(|(cells, number)| (least(self.from, cells), *number));
            let near = near.filter(|(least, _)| f64::from_bits(*least) <= furthest);
            queue.extend(near.map(|(least, number)| Reverse(Next { least, tree: next.tree, level, number })));
        }
        let mut ids = self.without;
        ids.extend(self.near.iter().map(|(_, _, id)| *id));
        ids.sort_unstable();
        Ok(Some(ids))
    }
}

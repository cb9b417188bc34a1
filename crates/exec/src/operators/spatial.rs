//! Spatial joins: hash joins without a key whose condition relates a geometry of each side. The right side's geometries are kept by their boxes, each of the
//! left side finds those that may pass, and pairs are tested with the geometries that were read for that.
//!
//! A pair passes where the condition is true; what is unbound, no geometry, or not valid for the test passes with nothing, as an error of the condition does.

use super::join_output::Pairs;
use crate::context::QueryContext;
use crate::key_filter::{FILTER_KEY_BYTES, KeyFilter};
use lode_base::cancel::with_current;
use lode_base::memory_budget::Reservation;
use lode_eval::batch::{Batch, position};
use lode_eval::error::ExecError;
use lode_eval::functions::{geometries, place_pairs};
use lode_geo::Geometry;
use lode_geo::pairs::{KEPT_BYTES, Kept, PairTest, Place};
use lode_rdf::ValueId;
use lode_scheduler::{for_ranges, lock, waiting};
use lode_sparql::plan::JoinCondition;
use lode_sparql::{PlanNode, VarId};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Bytes of a right row beside its values.
pub(super) const SPATIAL_ROW_BYTES: usize = KEPT_BYTES;
/// An index of geometries is asked for so many of them, at most: each time it may read some thousands.
const ASKED_MAX: usize = 64;
/// Where there are fewer left rows, all are read.
const ASKED_ROWS_MIN: f64 = 20_000.0;
/// Bytes of one that is near, in a list and in the filter that is made of it.
const NEAR_BYTES: usize = size_of::<ValueId>() + FILTER_KEY_BYTES;
/// Geometries that are read together.
const READ_ROWS: usize = 1024;

/// What is asked of geometries of both sides.
#[derive(Debug, Clone)]
pub(crate) struct SpatialTest {
    test: PairTest,
    left: VarId,
    right: VarId,
    right_is_first: bool,
}

impl SpatialTest {
    /// What a join's condition asks, and what else has to hold; none of other joins.
    pub(crate) fn of(
        left: &PlanNode,
        right: &PlanNode,
        condition: &JoinCondition,
    ) -> Option<(Self, JoinCondition)> {
        let (join, rest) = condition.place_join(&left.vars, &right.vars)?;
        let test = place_pairs(&join)?;
        let [first, second] = join.geometries;
        let right_is_first = right.vars.contains(&first);
        let (left, right) = if right_is_first { (second, first) } else { (first, second) };
        Some((Self { test, left, right, right_is_first }, rest))
    }

    /// The geometries of these right rows.
    ///
    /// Their boxes are in what rows of a build side have reserved. The geometries are kept, too, while there is memory for them, and read again otherwise.
    pub(crate) fn index(&self, cx: &QueryContext, rows: &Arc<Batch>) -> Result<SpatialIndex, ExecError> {
        let column = column_of(rows, self.right)?;
        let mut reservation = cx.budget.reserve_spillable();
        let is_kept = reservation.grow(rows.rows * size_of::<Option<Arc<Geometry>>>()).is_ok();
        let found = Found {
            places: Vec::new(),
            geometries: if is_kept { vec![None; rows.rows] } else { Vec::new() },
            reservation: Some(reservation),
            failed: None,
        };
        let reading = Arc::new(Reading {
            cx: cx.clone(),
            rows: Arc::clone(rows),
            column,
            is_kept: AtomicBool::new(is_kept),
            found: Mutex::new(found),
        });
        let part = Arc::clone(&reading);
        for_ranges(cx.threads, rows.rows, move |range| part.read(range));
        cx.cancel.check()?;
        let found = std::mem::take(&mut *lock(&reading.found));
        if let Some(failed) = found.failed {
            return Err(failed);
        }
        let is_kept = reading.is_kept.load(Ordering::Relaxed);
        Ok(SpatialIndex {
            kept: Kept::new(self.test.clone(), self.right_is_first, found.places.into_iter()),
            geometries: is_kept.then_some(found.geometries),
            column,
            near: Mutex::default(),
            _reservation: found.reservation,
        })
    }
}

impl SpatialTest {
    /// The variable of the left side's geometries.
    pub(super) fn left(&self) -> VarId {
        self.left
    }
}

fn column_of(rows: &Batch, var: VarId) -> Result<usize, ExecError> {
    position(&rows.vars, var).ok_or_else(|| ExecError::Internal("a spatial join without its column".into()))
}

/// The right side's geometries, by row.
#[derive(Debug)]
pub(crate) struct SpatialIndex {
    kept: Kept,
    /// None, where memory did not suffice.
    geometries: Option<Vec<Option<Arc<Geometry>>>>,
    column: usize,
    /// What an index of geometries told: it is asked once, whichever thread comes first.
    near: Mutex<Near>,
    _reservation: Option<Reservation>,
}

/// What an index of geometries told.
#[derive(Debug, Default)]
struct Near {
    is_asked: bool,
    filter: Option<Arc<KeyFilter>>,
    _reservation: Option<Reservation>,
}

impl SpatialIndex {
    /// Those geometries of the data that may pass with one of these, where an index of geometries tells them and they are less than half of `left_rows`.
    pub(super) fn near(
        &self,
        cx: &QueryContext,
        test: &SpatialTest,
        left_rows: f64,
    ) -> Result<Option<Arc<KeyFilter>>, ExecError> {
        let mut near = match self.near.try_lock() {
            Ok(near) => near,
            Err(_) => waiting(|| lock(&self.near)),
        };
        if !near.is_asked {
            let mut reservation = cx.budget.reserve_spillable();
            let found = self.find_near(cx, test, left_rows, &mut reservation)?;
            *near = Near { is_asked: true, filter: found.map(Arc::new), _reservation: Some(reservation) };
        }
        Ok(near.filter.clone())
    }

    fn find_near(
        &self,
        cx: &QueryContext,
        test: &SpatialTest,
        left_rows: f64,
        reservation: &mut Reservation,
    ) -> Result<Option<KeyFilter>, ExecError> {
        let Some(geometries) = &self.geometries else { return Ok(None) };
        if geometries.len() > ASKED_MAX || left_rows < ASKED_ROWS_MIN {
            return Ok(None);
        }
        let mut near: Vec<ValueId> = Vec::new();
        for geometry in geometries.iter().flatten() {
            let search = test.test.search((**geometry).clone(), test.right_is_first);
            let Some(search) = search else { return Ok(None) };
            let found = cx.snapshot.place_candidates(&search, &cx.cancel)?;
            let Some(found) = found else { return Ok(None) };
            near.extend(found);
            if reservation.resize(near.len() * NEAR_BYTES).is_err() {
                return Ok(None);
            }
            #[expect(clippy::cast_precision_loss, reason = "an estimate")]
            let count = near.len() as f64;
            if count > left_rows / 2.0 {
                return Ok(None);
            }
        }
        Ok(KeyFilter::new(&near))
    }

    fn geometry(
        &self,
        cx: &QueryContext,
        rows: &Batch,
        row: u32,
    ) -> Result<Option<Arc<Geometry>>, ExecError> {
        match &self.geometries {
            Some(geometries) => Ok(geometries.get(row as usize).cloned().flatten()),
            None => {
                let id = rows.columns[self.column][row as usize];
                Ok(geometries(cx, &[id])?.pop().flatten())
            }
        }
    }
}

/// The geometries of rows while threads read them.
struct Reading {
    cx: QueryContext,
    rows: Arc<Batch>,
    column: usize,
    is_kept: AtomicBool,
    found: Mutex<Found>,
}

#[derive(Default)]
struct Found {
    places: Vec<(u32, Place)>,
    geometries: Vec<Option<Arc<Geometry>>>,
    reservation: Option<Reservation>,
    failed: Option<ExecError>,
}

impl Reading {
    fn read(&self, range: Range<usize>) {
        let mut open: Vec<_> =
            range.clone().step_by(READ_ROWS).map(|from| from..range.end.min(from + READ_ROWS)).collect();
        while let Some(part) = open.pop() {
            match geometries(&self.cx, &self.rows.columns[self.column][part.clone()]) {
                Ok(read) => self.add(part.start, read),
                Err(ExecError::OutOfMemory(_)) if part.len() > 1 => open.extend(halves(part)),
                Err(error) => {
                    lock(&self.found).failed.get_or_insert(error);
                    return;
                }
            }
        }
    }

    fn add(&self, from: usize, read: Vec<Option<Arc<Geometry>>>) {
        let numbered = || (from..).zip(&read).filter_map(|(row, read)| Some((row, read.as_ref()?)));
        let places: Vec<(u32, Place)> =
            numbered().map(|(row, read)| (u32::try_from(row).unwrap_or(u32::MAX), Place::of(read))).collect();
        let bytes = numbered().map(|(_, read)| read.bytes()).sum();
        let found = &mut *lock(&self.found);
        found.places.extend(places);
        if !self.is_kept.load(Ordering::Relaxed) {
            return;
        }
        if found.reservation.as_mut().is_some_and(|reservation| reservation.grow(bytes).is_ok()) {
            for (slot, read) in found.geometries.iter_mut().skip(from).zip(read) {
                *slot = read;
            }
        } else {
            self.is_kept.store(false, Ordering::Relaxed);
            (found.geometries, found.reservation) = (Vec::new(), None);
        }
    }
}

fn halves(part: Range<usize>) -> [Range<usize>; 2] {
    let middle = part.start + part.len() / 2;
    [middle..part.end, part.start..middle]
}

/// Finds pairs for batches of left rows.
#[derive(Debug)]
pub(crate) struct SpatialProber {
    left: VarId,
    /// The rows whose geometries are read, and these.
    read: Range<usize>,
    geometries: Vec<Option<Arc<Geometry>>>,
    reservation: Option<Reservation>,
    /// Right rows that may pass with the row that is looked at, and how many of them were tested.
    found: Vec<u32>,
    tested: Option<usize>,
}

/// What pairs are wanted.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    /// Up to so many.
    pub(crate) max: usize,
    /// One for each left row.
    pub(crate) one_suffices: bool,
}

impl SpatialProber {
    /// For a test.
    pub(crate) fn new(test: &SpatialTest) -> Self {
        let (geometries, found) = (Vec::new(), Vec::new());
        Self { left: test.left, read: 0..0, geometries, reservation: None, found, tested: None }
    }

    /// A new batch of left rows begins.
    pub(crate) fn begin(&mut self) {
        self.read = 0..0;
        self.geometries.clear();
        self.tested = None;
    }

    /// Appends the pairs that pass, from the left row `row` on, which becomes the first that is not complete.
    pub(crate) fn pairs(
        &mut self,
        cx: &QueryContext,
        (index, rows): (&SpatialIndex, &Batch),
        left: &Batch,
        row: &mut usize,
        (pairs, wanted): (&mut Pairs, Wanted),
    ) -> Result<(), ExecError> {
        let column = column_of(left, self.left)?;
        while *row < left.rows && pairs.len() < wanted.max {
            if !self.read.contains(row) {
                self.read_from(cx, &left.columns[column], *row)?;
            }
            let geometry = self.geometries.get(*row - self.read.start).cloned().flatten();
            let is_done = match &geometry {
                Some(geometry) => with_current(Some(&cx.cancel), || {
                    self.test(cx, (index, rows), (geometry, *row), (&mut *pairs, wanted))
                })?,
                None => true,
            };
            if is_done {
                *row += 1;
                self.tested = None;
            }
        }
        Ok(())
    }

    /// Tests what may pass with a left row; whether all was.
    fn test(
        &mut self,
        cx: &QueryContext,
        (index, rows): (&SpatialIndex, &Batch),
        (geometry, row): (&Arc<Geometry>, usize),
        (pairs, wanted): (&mut Pairs, Wanted),
    ) -> Result<bool, ExecError> {
        let mut at = match self.tested {
            Some(tested) => tested,
            None => {
                self.found.clear();
                index.kept.candidates(geometry, &mut self.found);
                0
            }
        };
        while let Some(number) = self.found.get(at).copied() {
            if pairs.len() >= wanted.max {
                self.tested = Some(at);
                return Ok(false);
            }
            // One test may take milliseconds.
            cx.cancel.check()?;
            at += 1;
            let passes =
                index.geometry(cx, rows, number)?.is_some_and(|kept| index.kept.passes(&kept, geometry));
            if passes {
                pairs.push(u32::try_from(row).unwrap_or(u32::MAX - 1), number);
                if wanted.one_suffices {
                    break;
                }
            }
        }
        // The last test may have been stopped.
        cx.cancel.check()?;
        Ok(true)
    }

    /// Reads the geometries of some rows from this one on: fewer, where memory is short.
    fn read_from(&mut self, cx: &QueryContext, ids: &[ValueId], from: usize) -> Result<(), ExecError> {
        let reservation = self.reservation.get_or_insert_with(|| cx.budget.reserve_empty());
        self.geometries.clear();
        let mut end = ids.len().min(from + READ_ROWS);
        loop {
            let read = geometries(cx, &ids[from..end]).and_then(|read| {
                let bytes = read.iter().flatten().map(|geometry| geometry.bytes()).sum();
                reservation.resize(bytes)?;
                Ok(read)
            });
            match read {
                Ok(read) => {
                    self.geometries = read;
                    self.read = from..end;
                    return Ok(());
                }
                Err(ExecError::OutOfMemory(_)) if end - from > 1 => end = from + (end - from) / 2,
                Err(error) => return Err(error),
            }
        }
    }
}

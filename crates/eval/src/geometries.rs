//! Geometries of literals that were read: a query reads each text once, as long as there is memory for what it read.
//!
//! Short texts are read again each time, which costs no more than finding them. The others are found by their text, since the same geometry comes as a
//! constant, from the dictionary, and from other functions.

use crate::values::value::{OtherLiteral, Value};
use hashbrown::HashTable;
use lode_base::memory_budget::{MemoryBudget, Reservation};
use lode_geo::{Geometry, read};
use lode_scheduler::lock;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex};

/// Shorter texts are not kept.
const BYTES_MIN: usize = 80;
/// The part of the query's memory that geometries may take.
const PART: usize = 8;
/// The most that they may take.
const BYTES_MAX: usize = 256 << 20;

/// The geometries of a query.
#[derive(Debug, Default)]
pub struct Geometries {
    shelf: Mutex<Shelf>,
    hasher: RandomState,
}

#[derive(Debug, Default)]
struct Shelf {
    table: HashTable<Entry>,
    bytes: usize,
    reservation: Option<Reservation>,
}

/// A text and its geometry; none where it is not one.
#[derive(Debug)]
struct Entry {
    hash: u64,
    literal: Arc<OtherLiteral>,
    geometry: Option<Arc<Geometry>>,
}

/// A geometry that was looked up.
pub struct Found {
    /// The geometry; none of what is not one.
    pub geometry: Option<Arc<Geometry>>,
    /// Whether its memory is accounted here.
    pub is_kept: bool,
}

impl Geometries {
    /// The geometry of a value.
    pub fn of(&self, value: &Value, budget: &MemoryBudget) -> Found {
        let Value::Other(literal) = value else { return Found { geometry: None, is_kept: true } };
        if !read::is_geometry(&literal.datatype) {
            return Found { geometry: None, is_kept: true };
        }
        if literal.lexical.len() < BYTES_MIN {
            return Found { geometry: read_literal(literal), is_kept: false };
        }
        let hash = self.hasher.hash_one((&*literal.lexical, &*literal.datatype));
        let is_same = |entry: &Entry| entry.hash == hash && *entry.literal == **literal;
        if let Some(entry) = lock(&self.shelf).table.find(hash, is_same) {
            return Found { geometry: entry.geometry.clone(), is_kept: true };
        }
        // Others may look up theirs meanwhile.
        let geometry = read_literal(literal);
        let entry = Entry { hash, literal: Arc::clone(literal), geometry: geometry.clone() };
        let is_kept = lock(&self.shelf).keep(entry, budget);
        Found { geometry, is_kept }
    }
}

impl Shelf {
    /// Keeps a geometry, if there is memory for it. Where there are too many, all others go.
    fn keep(&mut self, entry: Entry, budget: &MemoryBudget) -> bool {
        let limit = (budget.limit() / PART).min(BYTES_MAX);
        let bytes = entry.bytes();
        if bytes > limit {
            return false;
        }
        if self.bytes + bytes > limit {
            self.clear();
        }
        let reservation = self.reservation.get_or_insert_with(|| budget.reserve_empty());
        if reservation.resize(self.bytes + bytes).is_err() {
            self.clear();
            return false;
        }
        self.bytes += bytes;
        self.table.insert_unique(entry.hash, entry, |entry| entry.hash);
        true
    }

    fn clear(&mut self) {
        self.table = HashTable::new();
        self.bytes = 0;
        if let Some(reservation) = &mut self.reservation {
            // Less is always to be had.
            let _ = reservation.resize(0);
        }
    }
}

impl Entry {
    fn bytes(&self) -> usize {
        let texts = self.literal.lexical.len() + self.literal.datatype.len();
        2 * size_of::<Self>() + texts + self.geometry.as_ref().map_or(0, |geometry| geometry.bytes())
    }
}

fn read_literal(literal: &OtherLiteral) -> Option<Arc<Geometry>> {
    read::literal(&literal.lexical, &literal.datatype).ok().map(Arc::new)
}

#[cfg(test)]
mod tests {
    use super::Geometries;
    use crate::values::value::Value;
    use lode_base::memory_budget::MemoryBudget;
    use lode_geo::vocabulary::WKT_LITERAL;

    fn line(points: usize) -> Value {
        let points: Vec<String> = (0..points).map(|x| format!("{x} 1")).collect();
        Value::from_typed(&format!("LINESTRING({})", points.join(", ")), WKT_LITERAL)
    }

    #[test]
    fn texts_are_read_once() {
        let (geometries, budget) = (Geometries::default(), MemoryBudget::new(1 << 20));
        let found = geometries.of(&line(100), &budget);
        let again = geometries.of(&line(100), &budget);
        assert!(found.is_kept && again.is_kept && budget.used() > 1000);
        assert!(std::ptr::eq(&*found.geometry.unwrap(), &*again.geometry.unwrap()));
    }

    #[test]
    fn what_is_no_geometry_is_remembered_as_such() {
        let (geometries, budget) = (Geometries::default(), MemoryBudget::new(1 << 20));
        let wrong = Value::from_typed(&format!("POINT({})", "1 ".repeat(100)), WKT_LITERAL);
        assert!(geometries.of(&wrong, &budget).geometry.is_none());
        assert!(geometries.of(&wrong, &budget).geometry.is_none());
        assert!(geometries.of(&Value::string("POINT(1 2)"), &budget).geometry.is_none());
        assert!(geometries.of(&Value::Integer(1), &budget).geometry.is_none());
    }

    #[test]
    fn memory_is_bounded_and_given_back() {
        let (geometries, budget) = (Geometries::default(), MemoryBudget::new(1 << 20));
        for points in 100..400 {
            assert!(geometries.of(&line(points), &budget).geometry.is_some());
            assert!(budget.used() <= (1 << 20) / 8, "{}", budget.used());
        }
        // Too large to be kept, but read.
        let found = geometries.of(&line(20_000), &budget);
        assert!(found.geometry.is_some() && !found.is_kept);
        drop(geometries);
        assert_eq!(budget.used(), 0);
        let none = MemoryBudget::new(0);
        assert!(Geometries::default().of(&line(100), &none).geometry.is_some());
    }
}

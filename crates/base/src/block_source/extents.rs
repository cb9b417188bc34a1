//! Reads what is around a block that is missed, for devices with an arm: there a megabyte costs hardly more than a block. Who misses a second
//! block of a region is likely to miss more of it, and they are on their way with that one.
//!
//! Nobody has asked for the blocks, so nobody holds their flights: the source does, the newest of them.

use super::flight::Flight;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Regions are of so many bytes.
pub(super) const REGION_BYTES: u64 = 1 << 20;
/// So many regions are remembered.
const REGIONS_MAX: usize = 4096;

#[derive(Debug)]
struct Region {
    file: u64,
    number: u64,
    was_read: bool,
}

#[derive(Debug, Default)]
struct Known {
    /// Regions in which a block was missed, the newest last.
    regions: VecDeque<Region>,
    held: VecDeque<Arc<Flight>>,
    held_bytes: u64,
}

/// What was missed lately, and what was read for it.
#[derive(Debug)]
pub(super) struct Extents {
    bytes_max: u64,
    known: Mutex<Known>,
}

impl Extents {
    /// Holds so many bytes that nobody has asked for, at most.
    pub fn new(bytes_max: u64) -> Self {
        Self { bytes_max, known: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        // A panic of another holder leaves the lists whole.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A block was missed: the bytes of its region, where they are to be read now.
    pub fn miss(&self, file: u64, offset: u64) -> Option<Range<u64>> {
        let number = offset / REGION_BYTES;
        let mut known = self.lock();
        let regions = &mut known.regions;
        match regions.iter_mut().rev().find(|region| region.file == file && region.number == number) {
            None => {
                if regions.len() == REGIONS_MAX {
                    regions.pop_front();
                }
                regions.push_back(Region { file, number, was_read: false });
                None
            }
            Some(region) => {
                let was_read = std::mem::replace(&mut region.was_read, true);
                (!was_read).then_some(number * REGION_BYTES..(number + 1) * REGION_BYTES)
            }
        }
    }

    /// Holds what was asked for, in place of what was before.
    pub fn hold(&self, flights: Vec<Arc<Flight>>) {
        let mut gone = Vec::new();
        let mut known = self.lock();
        for flight in flights {
            known.held_bytes += flight.bytes();
            known.held.push_back(flight);
            while known.held_bytes > self.bytes_max
                && let Some(oldest) = known.held.pop_front()
            {
                known.held_bytes -= oldest.bytes();
                gone.push(oldest);
            }
        }
        // Dropped without the lock.
        drop(known);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_miss_of_a_region_reads_it_once() {
        let extents = Extents::new(1 << 20);
        assert_eq!(extents.miss(1, 5), None);
        assert_eq!(extents.miss(2, 5), None);
        assert_eq!(extents.miss(1, REGION_BYTES), None);
        assert_eq!(extents.miss(1, 9000), Some(0..REGION_BYTES));
        assert_eq!(extents.miss(1, 9000), None);
        assert_eq!(extents.miss(1, 2 * REGION_BYTES - 1), Some(REGION_BYTES..2 * REGION_BYTES));
        for other in 0..REGIONS_MAX as u64 {
            extents.miss(3, other * REGION_BYTES);
        }
        // Forgotten meanwhile.
        assert_eq!(extents.miss(2, 5), None);
    }
}

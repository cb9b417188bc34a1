//! Where blocks were missed lately, for devices with an arm: there a megabyte costs hardly more than a block. Who misses a second block of a
//! region is likely to miss more of it, so all of it is read with that one.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Regions are of so many bytes.
pub(super) const REGION_BYTES: u64 = 1 << 20;
/// So many regions are remembered.
const REGIONS_MAX: usize = 4096;

#[derive(Debug)]
pub(super) struct Region {
    file: u64,
    number: u64,
    was_read: bool,
}

/// Regions in which a block was missed, the newest last.
#[derive(Debug, Default)]
pub(super) struct Extents(Mutex<VecDeque<Region>>);

impl Extents {
    /// A block was missed: the bytes of its region, where they are to be read now.
    pub fn miss(&self, file: u64, offset: u64) -> Option<Range<u64>> {
        let number = offset / REGION_BYTES;
        // A panic of another holder leaves the list whole.
        let mut regions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_miss_of_a_region_reads_it_once() {
        let extents = Extents::default();
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

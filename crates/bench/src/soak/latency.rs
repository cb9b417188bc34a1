//! How long many things took, in little room: counts by length, about 3 % apart.

use std::time::Duration;

/// Parts of each doubling.
const PARTS_LOG: u32 = 5;

/// Counts of durations.
#[derive(Debug, Clone, Default)]
pub struct Latencies {
    counts: Vec<u64>,
    count: u64,
    max: Duration,
}

impl Latencies {
    /// Counts one.
    pub fn add(&mut self, duration: Duration) {
        let at = slot(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX));
        if self.counts.len() <= at {
            self.counts.resize(at + 1, 0);
        }
        self.counts[at] += 1;
        self.count += 1;
        self.max = self.max.max(duration);
    }

    /// Counts all that another has counted.
    pub fn merge(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (sum, count) in self.counts.iter_mut().zip(&other.counts) {
            *sum += count;
        }
        self.count += other.count;
        self.max = self.max.max(other.max);
    }

    /// How many.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The longest.
    pub fn max(&self) -> Duration {
        self.max
    }

    /// The least duration that so great a part (0 to 1) does not exceed, about; none of none.
    pub fn quantile(&self, part: f64) -> Option<Duration> {
        let wanted = ((self.count as f64 * part).ceil() as u64).clamp(1, self.count.max(1));
        let mut sum = 0;
        let at = self.counts.iter().position(|count| {
            sum += count;
            sum >= wanted
        })?;
        Some(Duration::from_micros(end_of(at)).min(self.max))
    }
}

fn slot(micros: u64) -> usize {
    let doubling = micros.checked_ilog2().unwrap_or(0);
    if doubling <= PARTS_LOG {
        return micros as usize;
    }
    let part = (micros >> (doubling - PARTS_LOG)) - (1 << PARTS_LOG);
    (((doubling - PARTS_LOG + 1) as usize) << PARTS_LOG) + part as usize
}

/// The largest number of microseconds in a slot.
fn end_of(slot: usize) -> u64 {
    let (group, part) = ((slot >> PARTS_LOG) as u32, (slot & ((1 << PARTS_LOG) - 1)) as u64);
    if group <= 1 {
        return slot as u64;
    }
    (((1 << PARTS_LOG) + part + 1) << (group - 1)) - 1
}

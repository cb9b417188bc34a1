//! Reproducible random numbers: SplitMix64 and the distributions that the benchmark's rules ask for.
//!
//! Integers only, so that every machine and compiler draws the same values. The normal distribution is
//! the sum of twelve uniform 16-bit numbers, whose standard deviation is exactly 2^16: a fixed-point number with
//! 16 fraction bits, right to a few per mille inside three deviations and cut off at six.

/// A small, fast generator of random numbers; equal seeds give equal sequences.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

/// What a random stream is for. The numbers are part of the data's definition.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stream {
    ProductType = 1,
    FeatureCount = 2,
    Feature = 3,
    ProducerSize = 4,
    Producer = 5,
    Product = 6,
    VendorSize = 7,
    Vendor = 8,
    Offer = 9,
    RatingSiteSize = 10,
    RatingSite = 11,
    ReviewerSize = 12,
    Reviewer = 13,
    Review = 14,
    NewProduct = 15,
}

/// One in fixed-point numbers.
pub(super) const ONE: i64 = 1 << 16;

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

fn scramble(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Random {
    /// A generator started by `seed`.
    pub fn new(seed: u64) -> Self {
        Self { state: scramble(seed.wrapping_add(GOLDEN)) }
    }

    /// The stream of one resource: independent of every other, whatever the order of use.
    pub(super) fn stream(seed: u64, stream: Stream, number: u64) -> Self {
        let class = scramble(seed.wrapping_add((stream as u64).wrapping_mul(GOLDEN)));
        Self { state: scramble(class ^ number.wrapping_mul(0xD6E8_FEB8_6659_FD93)) }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        scramble(self.state)
    }

    /// A number from 0 to `bound - 1`; 0 if the bound is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// True in `share` of 100 cases.
    pub fn percent(&mut self, share: u64) -> bool {
        self.below(100) < share
    }

    /// A standard normal number in fixed point.
    pub(super) fn normal(&mut self) -> i64 {
        let mut sum = 0;
        for _ in 0..3 {
            let bits = self.bits();
            sum += (bits & 0xFFFF) + ((bits >> 16) & 0xFFFF) + ((bits >> 32) & 0xFFFF) + (bits >> 48);
        }
        sum as i64 - 12 * 0xFFFF / 2
    }

    /// A group size: normal with the given mean and a third of it as deviation, never negative; rounded down.
    pub(super) fn group_size(&mut self, mean: u64) -> u64 {
        loop {
            let x = 3 * ONE + self.normal();
            if let Ok(x) = u64::try_from(x) {
                return x * mean / (3 * ONE as u64);
            }
        }
    }

    /// A number from 1 to `max`: normal with the given mean, where `limit` deviations are the whole range
    /// and what falls outside is drawn again. A mean of 0 favours small numbers (half of a bell).
    pub(super) fn normal_rank(&mut self, mean: i64, limit: i64, max: u64) -> u64 {
        loop {
            let x = mean + self.normal();
            if (0..limit).contains(&x) {
                return x as u64 * max / limit as u64 + 1;
            }
        }
    }
}

//! A model of queries on several machines: what costs on one say of many. It tells orders of magnitude, and what is the bottleneck; it is no
//! measurement.

/// What work costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Costs {
    /// To read a row of an index, in nanoseconds of a core.
    pub scan_ns: f64,
    /// To join a row with others of the same key, both sides in its order.
    pub merge_ns: f64,
    /// To put a row into a hash table of groups or of a join, or to look it up there.
    pub hash_ns: f64,
    /// To send a row to another worker and take it there, both sides together.
    pub exchange_ns: f64,
    /// Bytes of a row on the wire.
    pub row_bytes: f64,
    /// Bytes of a quad in one index, as stored.
    pub stored_bytes: f64,
    /// Until an object store begins to answer, in seconds.
    pub request_seconds: f64,
    /// Bytes of a request.
    pub request_bytes: f64,
    /// Requests of a worker that are on their way at once.
    pub requests_at_once: f64,
    /// Bytes a second between a worker and all others, and the store.
    pub network_bytes: f64,
    /// To begin and to end a stage, in seconds.
    pub stage_seconds: f64,
    /// What the head does for each task, in seconds.
    pub task_seconds: f64,
}

impl Default for Costs {
    /// Assumptions of the right order: `shared/scale-out.md` assumes 50 ns a row of a star, and object stores answer after some 30 ms. Who has measured
    /// puts in what was found.
    fn default() -> Self {
        Self {
            scan_ns: 5.0,
            merge_ns: 6.0,
            hash_ns: 40.0,
            exchange_ns: 60.0,
            row_bytes: 16.0,
            stored_bytes: 4.5,
            request_seconds: 0.03,
            request_bytes: 1048576.0,
            requests_at_once: 32.0,
            network_bytes: 1.25e9,
            stage_seconds: 0.004,
            task_seconds: 0.0002,
        }
    }
}

/// What a query does with all triples of a database, of which it reads some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Patterns with one subject, and few groups: nothing is exchanged but groups.
    Star,
    /// The same with a group for each tenth row: groups go to the worker that has their key.
    Groups,
    /// Subjects joined with objects, both in the order of the variable: nothing is exchanged.
    Path,
    /// A join by a variable that is in no order: both sides go to the worker that has the key.
    HashJoin,
}

impl Shape {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Star, Self::Path, Self::Groups, Self::HashJoin];

    /// What it is called in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Star => "star, few groups",
            Self::Groups => "star, many groups",
            Self::Path => "subject-object join",
            Self::HashJoin => "hash join",
        }
    }

    /// Rows that cross between workers for each row that is read.
    const fn exchanged(self) -> f64 {
        match self {
            Self::Star | Self::Path => 0.0,
            Self::Groups => 0.1,
            Self::HashJoin => 1.0,
        }
    }

    const fn stages(self) -> f64 {
        match self {
            Self::Star | Self::Path => 1.0,
            Self::Groups => 2.0,
            Self::HashJoin => 3.0,
        }
    }
}

/// Where a query runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Site {
    /// Machines.
    pub workers: u32,
    /// Cores of each.
    pub cores: u32,
    /// Of what is read, the part that is in the caches of the workers.
    pub cached: f64,
    /// How unequal keys are: the exponent of a power law of their numbers of rows (0: all equal; 1: as words of a language).
    pub skew: f64,
}

/// What is predicted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// Until the answer is there.
    pub seconds: f64,
    /// Of all cores, of all workers.
    pub core_seconds: f64,
    /// How much more the slowest task has than the mean.
    pub imbalance: f64,
    /// What takes longest.
    pub bottleneck: &'static str,
}

/// Of a database's triples a query reads this part.
pub const PART_READ: f64 = 0.3;
/// A key has so many rows in the mean.
const ROWS_OF_A_KEY: f64 = 20.0;
/// Keys that are large enough to be told apart.
const LARGE_KEYS: usize = 20_000;

/// The time of a query over so many triples.
pub fn predict(costs: &Costs, site: &Site, shape: Shape, triples: f64) -> Prediction {
    let (workers, cores) = (f64::from(site.workers.max(1)), f64::from(site.cores.max(1)));
    let rows = triples * PART_READ;
    let crossing = if workers > 1.0 { rows * shape.exchanged() * (workers - 1.0) / workers } else { 0.0 };
    let tasks = (workers * cores) as usize;
    let shares = Shares::of(rows, site.skew);
    let (range_max, hash_max) = (shares.of_ranges(tasks), shares.of_hash(tasks));
    let work_ns = costs.scan_ns
        + match shape {
            Shape::Path => costs.merge_ns,
            Shape::Star => costs.merge_ns + costs.hash_ns / 10.0,
            Shape::Groups | Shape::HashJoin => costs.merge_ns,
        };
    let hashed = rows * if shape == Shape::Groups { 0.2 } else { shape.exchanged() };
    let leaf_seconds = rows * work_ns / 1e9;
    let above_seconds = (crossing * costs.exchange_ns + hashed * costs.hash_ns) / 1e9;
    // The slowest task of each stage; stages run at once, but its rows are not there before it has read them.
    let compute = leaf_seconds * range_max + above_seconds * hash_max;
    let fetched = rows * costs.stored_bytes * (1.0 - site.cached) / workers;
    let requests = fetched / costs.request_bytes;
    let waits = (requests / costs.requests_at_once).ceil() * costs.request_seconds;
    let store = waits.max(fetched / costs.network_bytes);
    let wire =
        crossing * costs.row_bytes / workers * (hash_max * tasks as f64).max(1.0) / costs.network_bytes;
    let begin = shape.stages() * (costs.stage_seconds + workers * costs.task_seconds);
    let parts =
        [(compute, "processors"), (store, "object store"), (wire, "network"), (begin, "begin and end")];
    let slowest = parts.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0));
    Prediction {
        seconds: begin + compute.max(store).max(wire),
        core_seconds: leaf_seconds + above_seconds,
        imbalance: range_max * tasks as f64,
        bottleneck: slowest.map_or("", |(_, name)| name),
    }
}

/// How rows are spread over keys.
struct Shares {
    /// Parts of all rows that the largest keys have, from the largest on.
    large: Vec<f64>,
}

impl Shares {
    fn of(rows: f64, skew: f64) -> Self {
        let keys = (rows / ROWS_OF_A_KEY).max(1.0);
        let total = power_sum(keys, skew);
        let large = (1..=LARGE_KEYS.min(keys as usize)).map(|rank| (rank as f64).powf(-skew) / total);
        Self { large: large.collect() }
    }

    /// The part of the slowest of so many tasks with neighbouring keys: a key is in one range.
    fn of_ranges(&self, tasks: usize) -> f64 {
        let equal = 1.0 / tasks.max(1) as f64;
        self.large.first().copied().unwrap_or_default().max(equal)
    }

    /// The same where keys go by a hash.
    fn of_hash(&self, tasks: usize) -> f64 {
        let tasks = tasks.max(1);
        let rest = 1.0 - self.large.iter().sum::<f64>();
        let mut loads = vec![rest.max(0.0) / tasks as f64; tasks];
        for (rank, share) in (0_u64..).zip(&self.large) {
            if let Some(load) = loads.get_mut((mixed(rank) % tasks as u64) as usize) {
                *load += share;
            }
        }
        loads.into_iter().fold(0.0, f64::max)
    }
}

/// The sum of `rank^-skew` over so many ranks: the first ones as they are, the others by the integral.
fn power_sum(keys: f64, skew: f64) -> f64 {
    let counted = keys.min(LARGE_KEYS as f64);
    let first: f64 = (1..=counted as usize).map(|rank| (rank as f64).powf(-skew)).sum();
    let integral = match skew {
        one if (one - 1.0).abs() < 1e-9 => (keys / counted).ln(),
        other => (keys.powf(1.0 - other) - counted.powf(1.0 - other)) / (1.0 - other),
    };
    first + integral.max(0.0)
}

/// A hash of a number (SplitMix64), the same everywhere.
fn mixed(number: u64) -> u64 {
    let mut x = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    //! What any such model has to say.
    use super::*;

    fn site(workers: u32, skew: f64) -> Site {
        Site { workers, cores: 8, cached: 1.0, skew }
    }

    #[test]
    fn equal_keys_are_divided() {
        let costs = Costs::default();
        for shape in Shape::ALL {
            let one = predict(&costs, &site(1, 0.0), shape, 1e11);
            let ten = predict(&costs, &site(10, 0.0), shape, 1e11);
            assert!(ten.seconds < one.seconds, "{shape:?}");
            assert!((1.0..1.01).contains(&one.imbalance), "{shape:?}");
            if shape.exchanged() == 0.0 {
                assert!((one.core_seconds - ten.core_seconds).abs() < 1e-6 * one.core_seconds, "{shape:?}");
                assert!(one.seconds / ten.seconds > 9.9, "{shape:?}: {one:?} {ten:?}");
            } else {
                assert!(ten.core_seconds > one.core_seconds, "{shape:?}");
            }
        }
    }

    #[test]
    fn the_largest_key_is_not_divided() {
        let costs = Costs::default();
        let at = |workers, skew| predict(&costs, &site(workers, skew), Shape::Star, 1e10);
        assert!(at(256, 1.2).seconds > 10.0 * at(256, 0.0).seconds);
        // More workers do not help any more.
        assert!(at(256, 1.2).seconds > 0.9 * at(128, 1.2).seconds);
        assert_eq!(at(256, 0.0).bottleneck, "begin and end");
    }

    #[test]
    fn shares_are_all_rows() {
        for (keys, skew) in [(10.0, 0.0), (1e4, 0.7), (1e6, 1.0), (1e9, 1.3)] {
            let shares = Shares::of(keys * ROWS_OF_A_KEY, skew);
            let large: f64 = shares.large.iter().sum();
            assert!(large > 0.0 && large < 1.0 + 1e-9, "{keys} {skew}: {large}");
            assert!(shares.of_hash(16) >= 1.0 / 16.0 - 1e-9);
            assert!((shares.of_hash(1) - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn what_is_far_away_takes_time() {
        let costs = Costs::default();
        let cold = Site { cached: 0.0, ..site(4, 0.0) };
        let (cold, warm) =
            (predict(&costs, &cold, Shape::Star, 1e10), predict(&costs, &site(4, 0.0), Shape::Star, 1e10));
        assert!(cold.seconds > warm.seconds);
        assert_eq!(cold.bottleneck, "object store");
    }
}

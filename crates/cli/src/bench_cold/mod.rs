//! `lode bench cold`: how long a database is slow whose blocks come from a disk, from flash or from object storage, and what is read meanwhile,
//! by what is read ahead.

mod plot;

use crate::args::{BenchColdArgs, ColdDevice, ColdPolicy};
use crate::bench_target::Shape;
use crate::exit::Done;
use crate::number;
use crate::talk::say;
use anyhow::{Context, bail};
use clap::ValueEnum;
use lode_bench::bsbm::{self, ParameterPools, Random};
use lode_engine::store::{HotBlocks, Warmer};
use lode_engine::{
    CancelToken, Database, DeviceModel, OpenOptions, QueryOptions, ReadPolicy, SourceCounters, write_results,
};
use plot::Curve;
use serde_json::{Value, json};
use std::io::{Write as _, sink, stdout};
use std::time::{Duration, Instant};

/// So many mixes in a row tell the rate.
const WINDOW: usize = 10;
/// A database is warm when it has this part of the rate that it has in memory.
const WARM_PART: f64 = 0.9;

/// The queries of all mixes.
struct Mixes(Vec<Vec<(&'static str, String)>>);

/// What one device and policy did.
struct Run {
    device: ColdDevice,
    policy: ColdPolicy,
    open: Duration,
    /// Of all mixes, each for the first time; none where that took too long.
    first_pass: Option<Duration>,
    /// Until it was as fast as when warm; none where that took too long.
    warm: Option<Duration>,
    /// When each mix ended, and how long it took.
    mixes: Vec<(Duration, Duration)>,
    reads: SourceCounters,
}

/// What a database does once all is in memory.
struct Warm {
    /// The median time of a mix.
    mix: Duration,
    /// The rows of each.
    rows: Vec<u64>,
    /// What is in memory then, and the bytes of files that it is.
    hot: HotBlocks,
    hot_bytes: u64,
}

impl Warm {
    /// How long the device takes for the blocks that are hot, in the order of the files: as one piece, and one block after the other. Computed.
    fn device_times(&self, device: ColdDevice) -> (Duration, Duration) {
        let model = model(device);
        let passing = Duration::from_secs_f64(self.hot_bytes as f64 / model.bytes_per_second as f64);
        let requests = u32::try_from(self.hot.len()).unwrap_or(u32::MAX);
        (model.latency + passing, model.latency * requests + passing)
    }
}

pub fn run(args: &BenchColdArgs) -> anyhow::Result<Done> {
    if args.mixes < WINDOW {
        bail!("--mixes must be at least {WINDOW}");
    }
    let mixes = Mixes::of(args);
    let warm = Warm::measure(args, &mixes)?;
    if !args.json {
        say!(
            "all in memory: {} a mix, {:.1} mixes/s; {} hot blocks, {}",
            number::duration(warm.mix),
            rate(warm.mix),
            number::grouped(warm.hot.len() as u64),
            number::bytes(warm.hot_bytes)
        );
    }
    let mut runs = Vec::new();
    for device in &args.device {
        for policy in &args.policy {
            let run = Run::measure(args, &mixes, *device, *policy, &warm)?;
            if !args.json {
                say!("{} {}: {} mixes", name(device), name(policy), run.mixes.len());
            }
            runs.push(run);
        }
    }
    if let Some(path) = &args.plot {
        let curves: Vec<Curve> = runs.iter().map(|run| run.curve(warm.mix)).collect();
        std::fs::write(path, plot::svg(&curves)).with_context(|| format!("writing {}", path.display()))?;
    }
    let mut out = stdout().lock();
    if args.json {
        let runs: Vec<Value> = runs.iter().map(Run::json).collect();
        let devices: Vec<Value> = args.device.iter().map(|device| warm.json(*device)).collect();
        let report = json!({
            "warm_mixes_per_second": rate(warm.mix),
            "mixes": args.mixes,
            "hot_blocks": warm.hot.len(),
            "hot_bytes": warm.hot_bytes,
            "devices": devices,
            "runs": runs,
        });
        writeln!(out, "{report:#}")?;
    } else {
        write_table(&runs, &mut out)?;
        writeln!(out, "\n| device | hot blocks as one piece | one after the other |\n|---|--:|--:|")?;
        for device in &args.device {
            let (piece, blocks) = warm.device_times(*device);
            writeln!(
                out,
                "| {} | {} | {} |",
                name(device),
                number::duration(piece),
                number::duration(blocks)
            )?;
        }
    }
    Ok(Done::Ok)
}

fn rate(mix: Duration) -> f64 {
    1.0 / mix.as_secs_f64().max(1e-9)
}

/// That of so many mixes in a row.
fn rate_of(mixes: &[(Duration, Duration)]) -> f64 {
    rate(mixes.iter().map(|(_, time)| *time).sum::<Duration>() / WINDOW as u32)
}

fn name(value: &impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

impl Mixes {
    fn of(args: &BenchColdArgs) -> Self {
        let pools = ParameterPools::new(args.products, args.data_seed);
        let mut random = Random::new(args.seed);
        Self((0..args.mixes).map(|_| bsbm::explore_mix(&pools, &mut random)).collect())
    }

    /// Runs one; the number of rows or triples of all its answers.
    fn run(&self, number: usize, database: &Database) -> anyhow::Result<u64> {
        let mut rows = 0;
        for (name, text) in &self.0[number % self.0.len()] {
            let query = database.prepare(text, &QueryOptions::default()).context(*name)?;
            let mut results = query.run()?;
            rows +=
                write_results(&mut results, Shape::of_query(text).format(), &mut sink()).context(*name)?;
        }
        Ok(rows)
    }
}

impl Warm {
    fn measure(args: &BenchColdArgs, mixes: &Mixes) -> anyhow::Result<Self> {
        let database = Database::open(&args.database, &OpenOptions::with_cache(args.cache))?;
        let (mut times, mut rows) = (Vec::new(), Vec::new());
        for round in 0..2 {
            for number in 0..args.mixes {
                let start = Instant::now();
                let found = mixes.run(number, &database)?;
                if round == 0 {
                    rows.push(found);
                } else {
                    times.push(start.elapsed());
                }
            }
        }
        times.sort_unstable();
        let hot = database.store().hot_blocks();
        // Read once more, to tell how many bytes they are.
        let again = Database::open(&args.database, &OpenOptions::with_cache(args.cache))?;
        let hot_bytes = again.store().warm(&hot, &CancelToken::default())?.bytes;
        Ok(Self { mix: times[times.len() / 2], rows, hot, hot_bytes })
    }

    fn json(&self, device: ColdDevice) -> Value {
        let (piece, blocks) = self.device_times(device);
        json!({
            "device": name(&device),
            "hot_as_one_piece_seconds": piece.as_secs_f64(),
            "hot_one_after_the_other_seconds": blocks.as_secs_f64(),
        })
    }
}

impl Run {
    fn measure(
        args: &BenchColdArgs,
        mixes: &Mixes,
        device: ColdDevice,
        policy: ColdPolicy,
        warm: &Warm,
    ) -> anyhow::Result<Self> {
        let start = Instant::now();
        let options = OpenOptions { read_ahead: read_policy(policy), ..OpenOptions::with_cache(args.cache) };
        let database = Database::open_emulated(&args.database, &options, model(device))?;
        let open = start.elapsed();
        let hot = (policy == ColdPolicy::Warm).then(|| warm.hot.clone());
        let warmer = hot.map(|hot| {
            Warmer::start_with(database.store(), Some(hot), Duration::MAX, Box::new(|line| say!("{line}")))
        });
        let warmer = warmer.transpose()?;
        let mut run = Self {
            device,
            policy,
            open,
            first_pass: None,
            warm: None,
            mixes: Vec::new(),
            reads: SourceCounters::default(),
        };
        while start.elapsed() < args.seconds && (run.first_pass.is_none() || run.warm.is_none()) {
            let (mix_start, number) = (Instant::now(), run.mixes.len());
            let found = mixes.run(number, &database)?;
            if found != warm.rows[number % warm.rows.len()] {
                bail!("mix {number} has {found} rows on {}, and others in memory", name(&device));
            }
            run.mixes.push((start.elapsed(), mix_start.elapsed()));
            if run.mixes.len() == args.mixes {
                run.first_pass = Some(start.elapsed());
            }
            if run.warm.is_none() && run.last_rate().is_some_and(|last| last >= WARM_PART * rate(warm.mix)) {
                run.warm = Some(start.elapsed());
            }
        }
        drop(warmer);
        run.reads = database.store().read_counters();
        Ok(run)
    }

    /// Mixes a second of the last ones, once there were enough.
    fn last_rate(&self) -> Option<f64> {
        self.mixes.len().checked_sub(WINDOW).and_then(|from| self.mixes.get(from..)).map(rate_of)
    }

    /// How the rate rises.
    fn curve(&self, warm: Duration) -> Curve {
        let point = |last: &[(Duration, Duration)]| {
            let at = last.last().map_or(Duration::ZERO, |(at, _)| *at);
            (at.as_secs_f64(), rate_of(last) / rate(warm))
        };
        let points = self.mixes.windows(WINDOW).map(point).collect();
        Curve { device: name(&self.device), policy: name(&self.policy), points }
    }

    fn json(&self) -> Value {
        let seconds = |time: Option<Duration>| time.map(|time| time.as_secs_f64());
        let reads = &self.reads;
        json!({
            "device": name(&self.device),
            "policy": name(&self.policy),
            "open_seconds": self.open.as_secs_f64(),
            "first_pass_seconds": seconds(self.first_pass),
            "warm_seconds": seconds(self.warm),
            "mixes": self.mixes.len(),
            "requests": reads.requests,
            "bytes": reads.bytes,
            "merged_blocks": reads.merged,
            "ahead_blocks": reads.ahead_blocks,
            "ahead_hits": reads.ahead_hits,
            "ahead_bytes": reads.ahead_bytes,
            "wasted_bytes": reads.wasted_bytes,
            "dropped_requests": reads.dropped,
        })
    }
}

fn model(device: ColdDevice) -> DeviceModel {
    match device {
        ColdDevice::Disk => DeviceModel::DISK,
        ColdDevice::Ssd => DeviceModel::SSD,
        ColdDevice::Object => DeviceModel::OBJECT_STORAGE,
    }
}

fn read_policy(policy: ColdPolicy) -> ReadPolicy {
    ReadPolicy {
        sequential: !matches!(policy, ColdPolicy::None | ColdPolicy::Vectored),
        vectored: !matches!(policy, ColdPolicy::None | ColdPolicy::Sequential),
        extent: matches!(policy, ColdPolicy::Extent | ColdPolicy::Warm),
    }
}

fn write_table(runs: &[Run], out: &mut impl std::io::Write) -> anyhow::Result<()> {
    writeln!(
        out,
        "| device | policy | all mixes once | 90 % of warm | requests | read | merged | ahead | of use | wasted |"
    )?;
    writeln!(out, "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|")?;
    let seconds = |time: Option<Duration>| {
        time.map_or_else(|| "-".to_owned(), |time| format!("{:.1} s", time.as_secs_f64()))
    };
    for run in runs {
        let reads = &run.reads;
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            name(&run.device),
            name(&run.policy),
            seconds(run.first_pass),
            seconds(run.warm),
            number::grouped(reads.requests),
            number::bytes(reads.bytes),
            number::grouped(reads.merged),
            number::grouped(reads.ahead_blocks),
            number::grouped(reads.ahead_hits),
            number::bytes(reads.wasted_bytes),
        )?;
    }
    Ok(())
}

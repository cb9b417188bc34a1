//! `lode bench cold`: how long a database is slow whose blocks come from a disk, from flash or from object storage, and what is read meanwhile,
//! by what is read ahead.

use crate::args::{BenchColdArgs, ColdDevice, ColdPolicy};
use crate::bench_target::Shape;
use crate::exit::Done;
use crate::number;
use crate::talk::say;
use anyhow::{Context, bail};
use clap::ValueEnum;
use lode_bench::bsbm::{self, ParameterPools, Random};
use lode_engine::{
    Database, DeviceModel, OpenOptions, QueryOptions, ReadPolicy, SourceCounters, write_results,
};
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
    mixes: usize,
    reads: SourceCounters,
}

pub fn run(args: &BenchColdArgs) -> anyhow::Result<Done> {
    if args.mixes < WINDOW {
        bail!("--mixes must be at least {WINDOW}");
    }
    let mixes = Mixes::of(args);
    let (warm, rows) = warm_times(args, &mixes)?;
    if !args.json {
        say!("all in memory: {} a mix, {:.1} mixes/s", number::duration(warm), rate(warm));
    }
    let mut runs = Vec::new();
    for device in &args.device {
        for policy in &args.policy {
            let run = Run::measure(args, &mixes, *device, *policy, warm, &rows)?;
            if !args.json {
                say!("{} {}: {} mixes", name(device), name(policy), run.mixes);
            }
            runs.push(run);
        }
    }
    let mut out = stdout().lock();
    if args.json {
        let runs: Vec<Value> = runs.iter().map(Run::json).collect();
        let report = json!({ "warm_mixes_per_second": rate(warm), "mixes": args.mixes, "runs": runs });
        writeln!(out, "{report:#}")?;
    } else {
        write_table(&runs, &mut out)?;
    }
    Ok(Done::Ok)
}

fn rate(mix: Duration) -> f64 {
    1.0 / mix.as_secs_f64().max(1e-9)
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

/// The median time of a mix once all is in memory, and the rows of each mix.
fn warm_times(args: &BenchColdArgs, mixes: &Mixes) -> anyhow::Result<(Duration, Vec<u64>)> {
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
    Ok((times[times.len() / 2], rows))
}

impl Run {
    fn measure(
        args: &BenchColdArgs,
        mixes: &Mixes,
        device: ColdDevice,
        policy: ColdPolicy,
        warm: Duration,
        rows: &[u64],
    ) -> anyhow::Result<Self> {
        let start = Instant::now();
        let options = OpenOptions { read_ahead: read_policy(policy), ..OpenOptions::with_cache(args.cache) };
        let database = Database::open_emulated(&args.database, &options, model(device))?;
        let open = start.elapsed();
        let mut run = Self {
            device,
            policy,
            open,
            first_pass: None,
            warm: None,
            mixes: 0,
            reads: SourceCounters::default(),
        };
        let mut times: Vec<Duration> = Vec::new();
        while start.elapsed() < args.seconds && (run.first_pass.is_none() || run.warm.is_none()) {
            let mix_start = Instant::now();
            let found = mixes.run(run.mixes, &database)?;
            if found != rows[run.mixes % rows.len()] {
                bail!("mix {} has {found} rows on {}, and others in memory", run.mixes, name(&device));
            }
            times.push(mix_start.elapsed());
            run.mixes += 1;
            if run.mixes == args.mixes {
                run.first_pass = Some(start.elapsed());
            }
            let last = times.get(times.len().saturating_sub(WINDOW)..).unwrap_or_default();
            let mean = last.iter().sum::<Duration>() / WINDOW as u32;
            if run.warm.is_none() && last.len() == WINDOW && rate(mean) >= WARM_PART * rate(warm) {
                run.warm = Some(start.elapsed());
            }
        }
        run.reads = database.store().read_counters();
        Ok(run)
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
            "mixes": self.mixes,
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
        sequential: matches!(policy, ColdPolicy::Sequential | ColdPolicy::Both),
        vectored: matches!(policy, ColdPolicy::Vectored | ColdPolicy::Both),
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

//! `lode bench bsbm run`: runs a query mix on a database in this process, and tells what each query took.

use crate::args::{BsbmRunArgs, Mix};
use crate::exit::Done;
use crate::talk::say;
use anyhow::Context;
use lode_bench::bsbm::{self, ParameterPools, Random};
use lode_engine::{Database, OpenOptions, OutputFormat, QueryOptions, write_results};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::time::{Duration, Instant};

/// What runs of one query took.
#[derive(Default)]
struct Times {
    runs: Vec<Duration>,
    rows: u64,
}

pub fn run(args: &BsbmRunArgs) -> anyhow::Result<Done> {
    let database = Database::open(&args.database, &OpenOptions { cache_bytes: args.cache })?;
    let pools = ParameterPools::new(args.products, args.data_seed);
    let mut random = Random::new(args.seed);
    let mut times: BTreeMap<&'static str, Times> = BTreeMap::new();
    let mut mixes = Vec::new();
    for number in 0..args.warmup + args.runs {
        let queries = match args.mix {
            Mix::Explore => bsbm::explore_queries(&pools, &mut random),
            Mix::Bi => bsbm::bi_queries(&pools, &mut random),
        };
        let start = Instant::now();
        for (name, text) in queries {
            let (time, rows) = answer(&database, args, &text).with_context(|| name)?;
            if number >= args.warmup {
                let times = times.entry(name).or_default();
                times.runs.push(time);
                times.rows += rows;
            }
        }
        if number >= args.warmup {
            mixes.push(start.elapsed());
        }
    }
    report(args, times, mixes)?;
    Ok(Done::Ok)
}

/// Answers one query, results written as they would be sent.
fn answer(database: &Database, args: &BsbmRunArgs, text: &str) -> anyhow::Result<(Duration, u64)> {
    let mut options = QueryOptions::default();
    if let Some(threads) = args.threads {
        options.threads = threads;
    }
    let start = Instant::now();
    let query = database.prepare(text, &options)?;
    let format = OutputFormat::default_for(query.kind());
    let rows = write_results(&mut query.run()?, format, &mut std::io::sink())?;
    Ok((start.elapsed(), rows))
}

fn report(
    args: &BsbmRunArgs,
    times: BTreeMap<&'static str, Times>,
    mut mixes: Vec<Duration>,
) -> anyhow::Result<()> {
    mixes.sort_unstable();
    let median = |sorted: &[Duration]| sorted.get(sorted.len() / 2).copied().unwrap_or_default();
    let seconds: f64 = mixes.iter().map(Duration::as_secs_f64).sum();
    let mixes_per_hour = if seconds > 0.0 { 3600.0 * mixes.len() as f64 / seconds } else { 0.0 };
    let mut queries = serde_json::Map::new();
    for (name, mut times) in times {
        times.runs.sort_unstable();
        let mean = times.runs.iter().sum::<Duration>() / times.runs.len().max(1) as u32;
        let (least, most) = (times.runs.first().copied(), times.runs.last().copied());
        if args.json {
            let ms = |time: Option<Duration>| time.map(|time| time.as_secs_f64() * 1e3);
            queries.insert(
                name.to_owned(),
                json!({"runs": times.runs.len(), "mean_ms": ms(Some(mean)), "median_ms": ms(Some(median(&times.runs))),
                    "min_ms": ms(least), "max_ms": ms(most), "rows": times.rows}),
            );
        } else {
            say!(
                "{name:<12} median {:>10.2?}  mean {mean:>10.2?}  min {:>10.2?}  max {:>10.2?}  {:>9} rows",
                median(&times.runs),
                least.unwrap_or_default(),
                most.unwrap_or_default(),
                times.rows
            );
        }
    }
    if args.json {
        let mix = median(&mixes).as_secs_f64() * 1e3;
        let all = json!({"mixes": mixes.len(), "median_mix_ms": mix, "mixes_per_hour": mixes_per_hour, "queries": queries});
        writeln!(std::io::stdout().lock(), "{all:#}")?;
    } else {
        say!("{} mixes, median {:.2?} each, {mixes_per_hour:.0} mixes an hour", mixes.len(), median(&mixes));
    }
    Ok(())
}

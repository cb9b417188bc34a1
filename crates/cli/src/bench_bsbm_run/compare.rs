//! Two stores side by side: whether every query of the mixes has the same answer.

use super::mix::{FAILURES_TOLD, queries_of_mix};
use crate::args::BsbmRunArgs;
use crate::bench_target::{Client, Comparison, Failure, compare};
use crate::exit::Done;
use crate::talk::say;
use anyhow::{Context, bail};
use lode_bench::bsbm::{ParameterPools, Random};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write as _;

/// How often a query was answered alike, in another way, or not at all.
#[derive(Default)]
struct Tally {
    same: u64,
    different: u64,
    failed: u64,
}

/// Asks `--runs` mixes of both, one query at a time.
pub fn run(args: &BsbmRunArgs, one: &Client<'_>, two: &Client<'_>) -> anyhow::Result<Done> {
    let pools = ParameterPools::new(args.products, args.data_seed);
    let mut random = Random::new(args.seed);
    let mut tallies: BTreeMap<(usize, &'static str), Tally> = BTreeMap::new();
    let mut told = 0;
    for _ in 0..args.runs {
        for (name, text) in queries_of_mix(args.mix, &pools, &mut random) {
            let tally = tallies.entry((name.len(), name)).or_default();
            let lines = match one.digest(&text).and_then(|digest| compare(&text, digest, one, two)) {
                Ok(Comparison::Same) => {
                    tally.same += 1;
                    continue;
                }
                Ok(Comparison::Different(lines)) => {
                    tally.different += 1;
                    lines
                }
                Err(Failure::Gone(error)) => return Err(error).context(name),
                Err(Failure::Query(error)) => {
                    tally.failed += 1;
                    vec![format!("{error:#}")]
                }
            };
            told += 1;
            if told <= FAILURES_TOLD {
                say!("{name} is not answered alike: {}\n{text}", lines.join("\n  "));
            }
        }
    }
    report(args, &tallies)?;
    let sum = |of: fn(&Tally) -> u64| tallies.values().map(of).sum::<u64>();
    match (sum(|tally| tally.different), sum(|tally| tally.failed)) {
        (0, 0) => Ok(Done::Ok),
        (different, failed) => bail!("{different} answers differ, {failed} queries failed"),
    }
}

fn report(args: &BsbmRunArgs, tallies: &BTreeMap<(usize, &'static str), Tally>) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if args.target.json {
        let value =
            |tally: &Tally| json!({"same": tally.same, "different": tally.different, "failed": tally.failed});
        let queries: serde_json::Map<_, _> =
            tallies.iter().map(|((_, name), tally)| ((*name).to_owned(), value(tally))).collect();
        let report =
            json!({"products": args.products, "mixes": args.runs, "seed": args.seed, "queries": queries});
        writeln!(out, "{report:#}")?;
    } else {
        writeln!(out, "{:<12} {:>7} {:>9} {:>7}", "answers", "same", "different", "failed")?;
        for ((_, name), tally) in tallies {
            writeln!(out, "{name:<12} {:>7} {:>9} {:>7}", tally.same, tally.different, tally.failed)?;
        }
    }
    Ok(out.flush()?)
}

//! `lode bench cluster`: what measured costs predict for many machines.

use crate::args::BenchClusterArgs;
use crate::exit::Done;
use lode_bench::cluster::{Costs, Prediction, Shape, Site, predict};
use serde_json::json;
use std::io::{Write, stdout};

pub fn run(args: &BenchClusterArgs) -> anyhow::Result<Done> {
    let costs = costs(args);
    if args.json {
        return write_json(args, &costs);
    }
    let mut out = stdout().lock();
    writeln!(
        out,
        "Simulated, not measured: {} cores a machine, skew {}, {:.0} % in caches\n",
        args.cores,
        args.skew,
        args.cached * 100.0
    )?;
    for shape in Shape::ALL {
        write!(out, "| {} |", shape.name())?;
        args.workers.iter().try_for_each(|workers| write!(out, " {workers} |"))?;
        writeln!(out, "\n|---|{}", "---:|".repeat(args.workers.len()))?;
        for billions in &args.billions {
            write!(out, "| {billions} G |")?;
            for workers in &args.workers {
                write!(out, " {} |", told(&predicted(args, &costs, shape, *billions, *workers)))?;
            }
            writeln!(out)?;
        }
        writeln!(out)?;
    }
    writeln!(out, "p: processors, s: object store, n: network, b: begin and end of stages take longest")?;
    Ok(Done::Ok)
}

fn costs(args: &BenchClusterArgs) -> Costs {
    let usual = Costs::default();
    Costs {
        scan_ns: args.scan.unwrap_or(usual.scan_ns),
        merge_ns: args.merge.unwrap_or(usual.merge_ns),
        hash_ns: args.hash.unwrap_or(usual.hash_ns),
        exchange_ns: args.exchange.unwrap_or(usual.exchange_ns),
        request_seconds: args.request.map_or(usual.request_seconds, |ms| ms / 1e3),
        network_bytes: args.network.map_or(usual.network_bytes, |gbit| gbit * 1e9 / 8.0),
        ..usual
    }
}

fn predicted(
    args: &BenchClusterArgs,
    costs: &Costs,
    shape: Shape,
    billions: u32,
    workers: u32,
) -> Prediction {
    let site = Site { workers, cores: args.cores, cached: args.cached, skew: args.skew };
    predict(costs, &site, shape, f64::from(billions) * 1e9)
}

/// As a cell of a table.
fn told(prediction: &Prediction) -> String {
    let letter = prediction.bottleneck.chars().next().filter(|letter| *letter != 'o').unwrap_or('s');
    let seconds = prediction.seconds;
    let digits = if seconds < 10.0 { 2 } else { 0 };
    format!("{seconds:.digits$} s {letter}")
}

fn write_json(args: &BenchClusterArgs, costs: &Costs) -> anyhow::Result<Done> {
    let mut rows = Vec::new();
    for shape in Shape::ALL {
        for billions in &args.billions {
            for workers in &args.workers {
                let found = predicted(args, costs, shape, *billions, *workers);
                rows.push(json!({
                    "query": shape.name(),
                    "triples": u64::from(*billions) * 1_000_000_000,
                    "workers": workers,
                    "cores": args.cores,
                    "seconds": found.seconds,
                    "core_seconds": found.core_seconds,
                    "imbalance": found.imbalance,
                    "bottleneck": found.bottleneck,
                }));
            }
        }
    }
    writeln!(stdout().lock(), "{}", json!({ "simulated": true, "predictions": rows }))?;
    Ok(Done::Ok)
}

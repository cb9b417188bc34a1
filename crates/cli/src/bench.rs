//! `lode bench`.

use crate::args::{BsbmCommand, BsbmGenerateArgs, BsbmQueriesArgs, Mix};
use crate::exit::{Done, wrong_usage};
use crate::number;
use crate::progress::{LiveLine, RateMeter};
use crate::talk::say;
use anyhow::Context;
use lode_bench::bsbm::{self, Format, Options, ParameterPools};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub fn run(command: &BsbmCommand) -> anyhow::Result<Done> {
    match command {
        BsbmCommand::Generate(args) => generate(args),
        BsbmCommand::Queries(args) => queries(args),
        BsbmCommand::Run(args) => crate::bench_bsbm_run::run(args),
    }
}

fn generate(args: &BsbmGenerateArgs) -> anyhow::Result<Done> {
    let format = match args.format.as_str() {
        "nt" => Format::NTriples,
        "ttl" => Format::Turtle,
        "nq" => Format::NQuads,
        other => return Err(wrong_usage(format!("unknown format {other}: use nt, ttl or nq"))),
    };
    let options = Options { products: args.products, seed: args.seed, format };
    match &args.output {
        None => write_data(&options, args.quiet, &mut std::io::stdout().lock()),
        Some(path) => {
            let mut file =
                BufWriter::new(File::create(path).with_context(|| format!("creating {}", path.display()))?);
            write_data(&options, args.quiet, &mut file)?;
            file.flush().with_context(|| format!("writing {}", path.display()))
        }
    }?;
    Ok(Done::Ok)
}

/// Generates with a live line and a summary.
pub fn write_data(options: &Options, quiet: bool, out: &mut dyn Write) -> anyhow::Result<()> {
    let count = Arc::new(AtomicU64::new(0));
    let shown = Arc::clone(&count);
    let mut meter = RateMeter::new();
    let total = options.products * bsbm::TRIPLES_PER_PRODUCT;
    let line = LiveLine::start(quiet, move || {
        let done = shown.load(Ordering::Relaxed);
        let left = meter
            .time_left(done, total.max(done))
            .map_or(String::new(), |t| format!(", about {} left", number::duration(t)));
        format!(
            "generating: {} triples, {}/s{left}",
            number::grouped(done),
            number::short(meter.current(done))
        )
    });
    let start = std::time::Instant::now();
    let summary = bsbm::generate(options, out, &mut |triples| count.store(triples, Ordering::Relaxed))?;
    drop(line);
    if !quiet {
        let (triples, time) = (summary.statements, start.elapsed());
        let (text, rate) = (number::grouped(triples), number::rate(triples, time));
        say!(
            "generated {text} triples, {} in {}, {rate}",
            number::bytes(summary.bytes),
            number::duration(time)
        );
    }
    Ok(())
}

fn queries(args: &BsbmQueriesArgs) -> anyhow::Result<Done> {
    let pools = ParameterPools::new(args.products, args.data_seed);
    let mut random = bsbm::Random::new(args.seed);
    let queries = match args.mix {
        Mix::Explore => bsbm::explore_queries(&pools, &mut random),
        Mix::Bi => bsbm::bi_queries(&pools, &mut random),
        Mix::Update => {
            let insert = pools.insert_product(1);
            let updates = [("update-1", insert), ("update-2", pools.delete_offer(&mut random))];
            updates.into_iter().chain(bsbm::explore_queries(&pools, &mut random)).collect()
        }
    };
    let mut out = std::io::stdout().lock();
    for (name, text) in queries {
        writeln!(out, "# {name}\n{text}\n")?;
    }
    Ok(Done::Ok)
}

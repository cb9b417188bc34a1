//! The differential test at any length: `differential --pairs 1000000 --seed 0 [--failures 5] [--threads 2]`; with `--updates`, of
//! updates instead of queries.

use anyhow::{Context, Result, bail};
use lode_conformance::differential;
use lode_conformance::engine_subject::EngineSubject;
use std::io::Write;
use std::process::ExitCode;

/// The allocator of `lode`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

struct Arguments {
    pairs: u64,
    seed: u64,
    failures: usize,
    threads: u64,
    updates: bool,
}

fn main() -> Result<ExitCode> {
    let arguments = arguments()?;
    let (seed, pairs, updates) = (arguments.seed, arguments.pairs, arguments.updates);
    writeln!(std::io::stdout(), "seeds {seed}..{}", seed + pairs)?;
    let share = pairs.div_ceil(arguments.threads);
    let summaries: Vec<differential::Summary> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..arguments.threads)
            .map(|worker| {
                let first = seed + worker * share;
                let count = share.min((seed + pairs).saturating_sub(first));
                scope.spawn(move || run(first, count, arguments.failures, updates))
            })
            .collect();
        workers.into_iter().filter_map(|w| w.join().ok()).collect()
    });
    let mut out = std::io::stdout().lock();
    let mut failed = summaries.len() < usize::try_from(arguments.threads)?;
    let (mut agreed, mut with_rows, mut skipped) = (0, 0, 0);
    for summary in &summaries {
        agreed += summary.agreed;
        with_rows += summary.with_rows;
        skipped += summary.skipped;
        failed |= !summary.failures.is_empty();
    }
    writeln!(
        out,
        "{agreed} agree ({with_rows} with an answer that is not empty, or a change), {skipped} skipped"
    )?;
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn run(first: u64, count: u64, failures: usize, updates: bool) -> differential::Summary {
    let (mut done, mut found) = (0_u64, 0);
    let trace = std::env::var_os("LODE_TRACE").is_some();
    let mut subject = EngineSubject::default();
    let mut progress = |summary: &differential::Summary| {
        done += 1;
        if summary.failures.len() > found {
            found = summary.failures.len();
            let last = summary.failures.last().map_or("", String::as_str);
            let _ = writeln!(std::io::stderr(), "{last}");
        }
        if trace {
            let _ = writeln!(std::io::stderr(), "seed {} done", first + done - 1);
        }
        if done.is_multiple_of(10_000) {
            // Progress is a courtesy: where it cannot be printed the run goes on.
            let _ = writeln!(std::io::stderr(), "{done} of {count} from seed {first}, {found} differ");
        }
    };
    if updates {
        differential::updates::run(&mut subject, first, count, failures, &mut progress)
    } else {
        differential::run(&mut subject, first, count, failures, &mut progress)
    }
}

fn arguments() -> Result<Arguments> {
    let mut arguments = Arguments { pairs: 10_000, seed: 0, failures: 5, threads: 2, updates: false };
    let mut given = std::env::args().skip(1);
    while let Some(name) = given.next() {
        if name == "--updates" {
            arguments.updates = true;
            continue;
        }
        let value = given.next().with_context(|| format!("{name} needs a number"))?;
        match name.as_str() {
            "--pairs" => arguments.pairs = value.parse()?,
            "--seed" => arguments.seed = value.parse()?,
            "--failures" => arguments.failures = value.parse()?,
            "--threads" => arguments.threads = value.parse::<u64>()?.max(1),
            other => bail!("unknown argument {other}"),
        }
    }
    Ok(arguments)
}

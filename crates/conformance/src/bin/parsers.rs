//! Our parser against the judge's, on any number of damaged texts: `parsers --texts 1000000 --seed 0 [--threads 2] FOLDER...`. The folders' `.rq` and
//! `.ru` files are the texts, beside generated ones.

use anyhow::{Context, Result};
use lode_conformance::generate::Random;
use lode_conformance::parsers::{Corpus, Outcome};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// The allocator of `lode`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The judge recurses over all that it reads.
const STACK_BYTES: usize = 256 << 20;
const FAILURES_MAX: usize = 20;

fn main() -> Result<ExitCode> {
    let (mut texts, mut seed, mut threads, mut folders) = (10_000_u64, 0, 1, Vec::new());
    let mut given = std::env::args().skip(1);
    while let Some(name) = given.next() {
        let mut value = || given.next().with_context(|| format!("{name} needs a value"));
        match name.as_str() {
            "--texts" => texts = value()?.parse()?,
            "--seed" => seed = value()?.parse()?,
            "--threads" => threads = value()?.parse()?,
            folder => folders.push(PathBuf::from(folder)),
        }
    }
    let corpus = Corpus::new(&folders, 2_000);
    let whole = corpus.texts();
    writeln!(std::io::stdout(), "{} texts to begin with", whole.len())?;
    let mut outcome = Outcome::default();
    std::thread::scope(|scope| -> Result<()> {
        let mut workers = Vec::new();
        for worker in 0..threads {
            let corpus = &corpus;
            let work = move || {
                let mut outcome = Outcome::default();
                if worker == 0 {
                    corpus.texts().iter().for_each(|(text, form)| outcome.add(text, *form));
                }
                let mut random = Random::new(seed + worker);
                for _ in 0..texts / threads {
                    let (text, form) = corpus.damaged(&mut random);
                    outcome.add(&text, form);
                    if outcome.failures.len() > FAILURES_MAX {
                        break;
                    }
                }
                outcome
            };
            workers.push(std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work)?);
        }
        for worker in workers {
            outcome.merge(worker.join().map_err(|_| anyhow::anyhow!("a panic"))?);
        }
        Ok(())
    })?;
    let mut out = std::io::stdout().lock();
    for failure in &outcome.failures {
        writeln!(out, "---\n{failure}")?;
    }
    writeln!(out, "{} texts: both take {}, both refuse {}", outcome.texts(), outcome.taken, outcome.refused)?;
    for (kind, count) in &outcome.meant {
        writeln!(out, "{count:>8}  {kind}")?;
    }
    writeln!(out, "{} differ for no reason known", outcome.failures.len())?;
    Ok(if outcome.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

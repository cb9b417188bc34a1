//! Damaged databases, queries and documents, any number of each: `damage --variants 10000 --seed 0 [--only databases]`.

use anyhow::{Context, Result, bail};
use lode_conformance::damage::{Outcome, damaged_databases, damaged_documents, damaged_queries};
use std::io::Write;
use std::process::ExitCode;

fn main() -> Result<ExitCode> {
    let (mut variants, mut seed, mut only) = (10_000, 0, None);
    let mut given = std::env::args().skip(1);
    while let Some(name) = given.next() {
        let value = given.next().with_context(|| format!("{name} needs a value"))?;
        match name.as_str() {
            "--variants" => variants = value.parse()?,
            "--seed" => seed = value.parse()?,
            "--only" => only = Some(value),
            other => bail!("unknown argument {other}"),
        }
    }
    let mut failed = false;
    for (name, run) in KINDS {
        if only.as_deref().is_some_and(|o| o != *name) {
            continue;
        }
        let mut done = 0_u64;
        let outcome = run(seed, variants, &mut |outcome| {
            done += 1;
            if done.is_multiple_of(1000) {
                // Progress is a courtesy: where it cannot be printed the run goes on.
                let _ = writeln!(std::io::stderr(), "{name}: {done}, {} failures", outcome.failures.len());
            }
        })?;
        let mut out = std::io::stdout().lock();
        for failure in &outcome.failures {
            writeln!(out, "\n{name}: {failure}")?;
        }
        let Outcome { refused, right, failures } = &outcome;
        writeln!(out, "{name}: {refused} refused, {right} right, {} failures", failures.len())?;
        failed |= !failures.is_empty();
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

type Run = fn(u64, u64, &mut dyn FnMut(&Outcome)) -> Result<Outcome>;

const KINDS: &[(&str, Run)] =
    &[("databases", damaged_databases), ("queries", damaged_queries), ("documents", damaged_documents)];

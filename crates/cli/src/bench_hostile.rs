//! `lode bench hostile`: what queries that ask for trouble do to a server.

use crate::args::BenchHostileArgs;
use crate::bench_clients::{Light, agent, ask, most_resident_bytes, write_times};
use crate::exit::Done;
use crate::talk::say;
use anyhow::{Context, bail};
use lode_bench::hostile::queries;
use std::collections::BTreeMap;
use std::io::{Write, stdout};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// What became of a query.
struct Outcome {
    name: &'static str,
    what: String,
    took: Duration,
}

/// What became of all.
struct Round {
    outcomes: Vec<Outcome>,
    light: Vec<Duration>,
}

pub fn run(args: &BenchHostileArgs) -> anyhow::Result<Done> {
    let mut queries = queries();
    queries.retain(|(name, _)| args.only.is_empty() || args.only.iter().any(|only| name.contains(only)));
    if queries.is_empty() {
        bail!("no query has such a name (see --write)");
    }
    if let Some(folder) = &args.write {
        write_files(folder, &queries)?;
        return Ok(Done::Ok);
    }
    let url = args.url.as_deref().unwrap_or_default();
    let clients = [1, args.at_once];
    for clients in clients.into_iter().filter(|clients| *clients > 0) {
        say!("{} queries, {clients} at once", queries.len());
        let round = ask_all(args, url, &queries, clients)?;
        report(args, clients, &round)?;
    }
    Ok(Done::Ok)
}

fn write_files(folder: &Path, queries: &[(&str, String)]) -> anyhow::Result<()> {
    let failed = || format!("writing to {}", folder.display());
    std::fs::create_dir_all(folder).with_context(failed)?;
    for (name, text) in queries {
        std::fs::write(folder.join(format!("{name}.rq")), text).with_context(failed)?;
    }
    Ok(())
}

fn ask_all(
    args: &BenchHostileArgs,
    url: &str,
    queries: &[(&'static str, String)],
    clients: usize,
) -> anyhow::Result<Round> {
    let heavy_url = with_timeout(url, args.timeout);
    let (next, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let outcomes: Mutex<Vec<Outcome>> = Mutex::default();
    let over = &is_over;
    let work = || {
        let agent = agent();
        while let Some((name, text)) = queries.get(next.fetch_add(1, Ordering::Relaxed)) {
            let outcome = ask_one(&agent, &heavy_url, name, text);
            outcomes.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(outcome);
        }
    };
    let light = thread::scope(|scope| {
        let light = Light { url, queries: &args.light, pause: args.pause };
        let light = scope.spawn(move || light.times(|| over.load(Ordering::Relaxed)));
        let workers: Vec<_> = (0..clients).map(|_| scope.spawn(work)).collect();
        let whole = workers.into_iter().all(|worker| worker.join().is_ok());
        is_over.store(true, Ordering::Relaxed);
        match (whole, light.join()) {
            (true, Ok(light)) => light,
            _ => bail!("a client failed"),
        }
    })?;
    Ok(Round { outcomes: outcomes.into_inner().unwrap_or_default(), light })
}

fn with_timeout(url: &str, timeout: Duration) -> String {
    let separator = if url.contains('?') { '&' } else { '?' };
    format!("{url}{separator}timeout={}", timeout.as_secs_f64())
}

fn ask_one(agent: &ureq::Agent, url: &str, name: &'static str, text: &str) -> Outcome {
    let started = Instant::now();
    let what = match ask(agent, url, text) {
        Ok(reply) if reply.is_whole => reply.status.to_string(),
        Ok(reply) => format!("{}, cut", reply.status),
        Err(error) => format!("no answer ({error:#})"),
    };
    Outcome { name, what, took: started.elapsed() }
}

fn report(args: &BenchHostileArgs, clients: usize, round: &Round) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    writeln!(out, "hostile queries, {clients} at once")?;
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for outcome in &round.outcomes {
        *counts.entry(&outcome.what).or_default() += 1;
        if args.each {
            writeln!(out, "  {:<32} {:>10.3} s  {}", outcome.name, outcome.took.as_secs_f64(), outcome.what)?;
        }
    }
    for (what, count) in counts {
        writeln!(out, "  {what:<8} {count:>8}")?;
    }
    if let Some(last) = round.outcomes.iter().max_by_key(|outcome| outcome.took) {
        let late = last.took.saturating_sub(args.timeout);
        writeln!(out, "  latest after its time-out {:>10.1} ms  ({})", late.as_secs_f64() * 1e3, last.name)?;
    }
    write_times(&round.light, &mut out)?;
    if let Some(bytes) = args.server_pid.map(most_resident_bytes).transpose()? {
        writeln!(out, "most memory so far {:>10.1} MiB", bytes as f64 / f64::from(1 << 20))?;
    }
    Ok(())
}

//! `lode bench crowd`: how long light queries take behind many heavy ones.

use crate::args::BenchCrowdArgs;
use crate::bench_clients::{Light, Reply, agent, ask, write_times};
use crate::exit::Done;
use crate::talk::say;
use anyhow::Context;
use std::collections::BTreeMap;
use std::io::{Write, stdout};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The heavy ones have so long to line up.
const START: Duration = Duration::from_secs(2);
const STACK_BYTES: usize = 512 << 10;
/// Where an answer has no `Retry-After`, or none came.
const PAUSE: Duration = Duration::from_millis(200);

pub fn run(args: &BenchCrowdArgs) -> anyhow::Result<Done> {
    let stop = AtomicBool::new(false);
    let outcomes: Mutex<BTreeMap<String, u64>> = Mutex::default();
    let (to_stop, heavy) = (&stop, &outcomes);
    let light = thread::scope(|scope| {
        for client in 0..args.clients {
            let work = move || crowd(args, client, to_stop, heavy);
            let started = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work);
            started.context("starting a client")?;
        }
        thread::sleep(START.min(args.seconds));
        let until = Instant::now() + args.seconds;
        let light = Light { url: &args.url, queries: &args.light, pause: args.pause };
        let light = light.times(|| Instant::now() >= until);
        stop.store(true, Ordering::Relaxed);
        say!("waiting for the last heavy queries");
        light
    })?;
    report(&light, &outcomes.into_inner().unwrap_or_default())?;
    Ok(Done::Ok)
}

/// A client that sends heavy queries.
fn crowd(args: &BenchCrowdArgs, client: usize, stop: &AtomicBool, outcomes: &Mutex<BTreeMap<String, u64>>) {
    let agent = agent();
    for query in args.heavy.iter().cycle().skip(client % args.heavy.len().max(1)) {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let (outcome, pause) = match ask(&agent, &args.url, query) {
            Ok(Reply { status: 503, retry_after, .. }) => {
                ("503".to_owned(), retry_after.map_or(PAUSE, Duration::from_secs))
            }
            Ok(Reply { status, .. }) => (status.to_string(), Duration::ZERO),
            Err(error) => (format!("no answer ({error:#})"), PAUSE),
        };
        *outcomes.lock().unwrap_or_else(std::sync::PoisonError::into_inner).entry(outcome).or_default() += 1;
        let until = Instant::now() + pause;
        while Instant::now() < until && !stop.load(Ordering::Relaxed) {
            thread::sleep(PAUSE);
        }
    }
}

fn report(light: &[Duration], heavy: &BTreeMap<String, u64>) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    write_times(light, &mut out)?;
    writeln!(out, "heavy queries     {}", heavy.values().sum::<u64>())?;
    for (outcome, count) in heavy {
        writeln!(out, "  {outcome:<8} {count:>8}")?;
    }
    Ok(())
}

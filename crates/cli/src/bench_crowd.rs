//! `lode bench crowd`: how long light queries take behind many heavy ones.

use crate::args::BenchCrowdArgs;
use crate::exit::Done;
use crate::talk::say;
use anyhow::{Context, bail};
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
        let light = look_ups(args);
        stop.store(true, Ordering::Relaxed);
        say!("waiting for the last heavy queries");
        light
    })?;
    report(&light, &outcomes.into_inner().unwrap_or_default())?;
    Ok(Done::Ok)
}

fn agent() -> ureq::Agent {
    ureq::Agent::config_builder().http_status_as_error(false).build().into()
}

/// What came back: the status, and after how many seconds a refused query may come again.
fn ask(agent: &ureq::Agent, url: &str, query: &str) -> anyhow::Result<(u16, Option<u64>)> {
    let request =
        agent.post(url).header("Content-Type", "application/sparql-query").header("Accept", "text/csv");
    let mut response = request.send(query)?;
    let later = response.headers().get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
    response.body_mut().with_config().limit(u64::MAX).read_to_vec()?;
    Ok((response.status().as_u16(), later))
}

/// A client that sends heavy queries.
fn crowd(args: &BenchCrowdArgs, client: usize, stop: &AtomicBool, outcomes: &Mutex<BTreeMap<String, u64>>) {
    let agent = agent();
    for query in args.heavy.iter().cycle().skip(client % args.heavy.len().max(1)) {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let (outcome, pause) = match ask(&agent, &args.url, query) {
            Ok((503, later)) => ("503".to_owned(), later.map_or(PAUSE, Duration::from_secs)),
            Ok((status, _)) => (status.to_string(), Duration::ZERO),
            Err(error) => (format!("no answer ({error:#})"), PAUSE),
        };
        *outcomes.lock().unwrap_or_else(std::sync::PoisonError::into_inner).entry(outcome).or_default() += 1;
        let until = Instant::now() + pause;
        while Instant::now() < until && !stop.load(Ordering::Relaxed) {
            thread::sleep(PAUSE);
        }
    }
}

/// The times of light queries, sorted.
fn look_ups(args: &BenchCrowdArgs) -> anyhow::Result<Vec<Duration>> {
    let (agent, until) = (agent(), Instant::now() + args.seconds);
    let mut times = Vec::new();
    for (number, query) in args.light.iter().cycle().enumerate() {
        if Instant::now() >= until {
            break;
        }
        let query = query.replace("%n%", &number.to_string());
        let started = Instant::now();
        let (status, _) = ask(&agent, &args.url, &query)?;
        times.push(started.elapsed());
        if status != 200 {
            bail!("a light query was answered with status {status}");
        }
        thread::sleep(args.pause);
    }
    times.sort_unstable();
    Ok(times)
}

fn report(light: &[Duration], heavy: &BTreeMap<String, u64>) -> anyhow::Result<()> {
    let at = |share: f64| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a place in a list"
        )]
        let place = ((light.len() as f64 * share) as usize).min(light.len().saturating_sub(1));
        light.get(place).map_or(0.0, |time| time.as_secs_f64() * 1e3)
    };
    let mut out = stdout().lock();
    writeln!(out, "light queries     {}", light.len())?;
    for (name, share) in [("median", 0.5), ("95 %", 0.95), ("99 %", 0.99), ("99.9 %", 0.999), ("most", 1.0)] {
        writeln!(out, "  {name:<8} {:>10.1} ms", at(share))?;
    }
    writeln!(out, "heavy queries     {}", heavy.values().sum::<u64>())?;
    for (outcome, count) in heavy {
        writeln!(out, "  {outcome:<8} {count:>8}")?;
    }
    Ok(())
}

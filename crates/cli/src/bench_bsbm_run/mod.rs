//! `lode bench bsbm run`: whole query mixes, by clients at once, on an endpoint or on a database in this process, as the driver of the
//! benchmark runs them.

mod compare;
mod figures;
mod mix;

use crate::args::{BsbmRunArgs, Mix};
use crate::bench_target::{self, Failure, Processors, Target, Use};
use crate::exit::Done;
use crate::talk::say;
use anyhow::{Context, bail};
use figures::{Figures, Run};
use lode_bench::bsbm::{ParameterPools, Random};
use mix::{FAILURES_TOLD, queries_of_mix};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Products that runs with one seed may insert.
const NEW_PRODUCTS_MAX: u64 = 10_000_000;
/// So that the numbers of new products stay far from overflow.
const SEED_MAX: u64 = 1_000_000;
pub fn run(args: &BsbmRunArgs) -> anyhow::Result<Done> {
    if args.clients == 0 || args.runs == 0 {
        bail!("--clients and --runs must be above 0");
    }
    if args.mix == Mix::Update && args.seed > SEED_MAX {
        bail!("the update mix takes a --seed up to {SEED_MAX}: each has new products of its own");
    }
    let pools = ParameterPools::new(args.products, args.data_seed);
    let usage = if args.mix == Mix::Update { Use::Write } else { Use::Read };
    let target = Target::open(&args.target, usage)?;
    if let Some(other) = Target::other(&args.target) {
        if usage == Use::Write {
            bail!("--compare is for mixes that change nothing");
        }
        return compare::run(args, &target.client(), &other.client());
    }
    let processors = Processors::of(&args.target)?;
    let mut seeds = Random::new(args.seed);
    // Each seed has products of its own: inserting the same ones again would change nothing.
    let new_products = AtomicU64::new(args.seed.saturating_mul(NEW_PRODUCTS_MAX));
    let mut clients: Vec<Client<'_>> = (0..args.clients)
        .map(|_| Client {
            mix: args.mix,
            pools: &pools,
            new_products: &new_products,
            random: Random::new(seeds.bits()),
            target: target.client(),
            figures: Figures::default(),
        })
        .collect();
    run_mixes(&mut clients, args.warmup)?;
    clients.iter_mut().for_each(|client| client.figures = Figures::default());
    let (start, processors_before) = (Instant::now(), processors.seconds()?);
    run_mixes(&mut clients, args.runs)?;
    let (wall, processors_after) = (start.elapsed(), processors.seconds()?);
    let mut figures = Figures::default();
    clients.into_iter().for_each(|client| figures.add(client.figures));
    let processor_seconds = processors_before.zip(processors_after).map(|(before, after)| after - before);
    let run = Run { figures, wall, processor_seconds };
    run.report(args)?;
    match run.figures.failures() {
        0 => Ok(Done::Ok),
        count => bail!("{count} queries failed"),
    }
}

/// Whole mixes, so many in all, shared by the clients. Fails where there is nobody to ask.
fn run_mixes(clients: &mut [Client<'_>], count: u64) -> anyhow::Result<()> {
    let begun = AtomicU64::new(0);
    thread::scope(|scope| {
        let run_all = |client: &mut Client<'_>| {
            while begun.fetch_add(1, Ordering::Relaxed) < count {
                if let Err(error) = client.run_mix() {
                    // The others end with the mix that they are in.
                    begun.store(count, Ordering::Relaxed);
                    return Err(error);
                }
            }
            Ok(())
        };
        let threads: Vec<_> = clients.iter_mut().map(|client| scope.spawn(move || run_all(client))).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| match thread.join() {
            Ok(outcome) => outcome,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        threads.into_iter().map(join).fold(Ok(()), Result::and)
    })
}

/// One of those who ask at the same time, with parameters of its own.
struct Client<'a> {
    mix: Mix,
    pools: &'a ParameterPools,
    /// The last product that was inserted, by any client.
    new_products: &'a AtomicU64,
    random: Random,
    target: bench_target::Client<'a>,
    figures: Figures,
}

impl Client<'_> {
    fn run_mix(&mut self) -> anyhow::Result<()> {
        let mut mix = Duration::ZERO;
        if self.mix == Mix::Update {
            let number = self.new_products.fetch_add(1, Ordering::Relaxed) + 1;
            let insert = self.pools.insert_product(number);
            let delete = self.pools.delete_offer(&mut self.random);
            for (name, text) in [("update-1", insert), ("update-2", delete)] {
                mix += self.time(name, |target| target.update(&text).map(|()| 0))?;
            }
        }
        for (name, text) in queries_of_mix(self.mix, self.pools, &mut self.random) {
            mix += self.time(name, |target| target.answer(&text))?;
        }
        self.figures.mixes.push(mix);
        Ok(())
    }

    /// Asks, and notes what came of it and how long it took.
    fn time(
        &mut self,
        name: &'static str,
        ask: impl FnOnce(&bench_target::Client<'_>) -> Result<u64, Failure>,
    ) -> anyhow::Result<Duration> {
        let start = Instant::now();
        let outcome = ask(&self.target);
        let time = start.elapsed();
        match outcome {
            Ok(results) => self.figures.answered(name, time, results),
            Err(Failure::Gone(error)) => return Err(error).context(name),
            Err(Failure::Query(error)) => {
                self.figures.failed(name);
                if self.figures.failures() <= FAILURES_TOLD {
                    say!("{name} failed: {error:#}");
                }
            }
        }
        Ok(time)
    }
}

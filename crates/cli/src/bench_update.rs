//! `lode bench update`: many clients that commit small transactions to one database, and what that took.

use crate::args::{BenchUpdateArgs, UpdateShape};
use crate::exit::Done;
use crate::number;
use crate::talk::say;
use anyhow::{Context, bail};
use lode_engine::store::{Maintenance, Snapshot, Store, StoreError, WriteOptions};
use lode_engine::{Database, OpenOptions, Order};
use lode_rdf::{Literal, NamedNode, Term, ValueId};
use serde_json::json;
use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const NAMESPACE: &str = "http://example.org/lode-bench/";

pub fn run(args: &BenchUpdateArgs) -> anyhow::Result<Done> {
    let options = OpenOptions::with_cache(args.cache);
    drop(Database::create_or_open(&args.database, &options)?);
    let write = WriteOptions {
        delta_bytes_max: args.delta,
        log_bytes_max: args.log as u64,
        ..WriteOptions::default()
    };
    let database = Database::open_for_writing(&args.database, &options, write)?;
    let store = database.store();
    // As in a server.
    let maintenance = Maintenance::start(store, Box::new(|line| say!("{line}")))?;
    let bench = Bench { store, args, next: AtomicU64::new(0), subjects: subjects(&store.snapshot())? };
    if args.shape == UpdateShape::Scatter && bench.subjects.is_none() {
        bail!("{} is empty: there is nothing to scatter changes over", args.database.display());
    }
    let before = store.log_counters();
    let start = Instant::now();
    let mut latencies = std::thread::scope(|scope| -> anyhow::Result<Vec<Duration>> {
        let clients: Vec<_> = (0..args.clients)
            .map(|client| {
                let bench = &bench;
                scope.spawn(move || bench.client(client as u64))
            })
            .collect();
        let mut all = Vec::new();
        for client in clients {
            all.extend(client.join().map_err(|_| anyhow::anyhow!("a client ended by a panic"))??);
        }
        Ok(all)
    })?;
    let seconds = start.elapsed().as_secs_f64();
    drop(maintenance);
    latencies.sort_unstable();
    let after = store.log_counters();
    let report = Report {
        commits: latencies.len() as u64,
        triples: latencies.len() as u64 * args.size,
        seconds,
        median: quantile(&latencies, 0.5),
        p99: quantile(&latencies, 0.99),
        syncs: after.syncs.saturating_sub(before.syncs),
    };
    if args.json {
        writeln!(std::io::stdout().lock(), "{:#}", report.as_json())?;
    } else {
        say!("{}", report.as_text());
    }
    Ok(Done::Ok)
}

struct Bench<'a> {
    store: &'a Store,
    args: &'a BenchUpdateArgs,
    next: AtomicU64,
    /// The first and the last subject.
    subjects: Option<(u64, u64)>,
}

impl Bench<'_> {
    /// Commits the transactions of one client; how long each took.
    fn client(&self, client: u64) -> anyhow::Result<Vec<Duration>> {
        let mut random = Random(self.args.seed ^ (client + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mut latencies = Vec::new();
        for round in 0..self.args.transactions {
            let start = Instant::now();
            match self.args.shape {
                UpdateShape::Insert => self.insert(),
                UpdateShape::Scatter => self.scatter(&mut random),
                UpdateShape::Churn => self.churn(client, round),
            }
            .with_context(|| format!("client {client}"))?;
            latencies.push(start.elapsed());
        }
        Ok(latencies)
    }

    /// New triples, ten of each subject.
    fn insert(&self) -> Result<(), StoreError> {
        let mut transaction = self.store.begin_blind()?;
        let first = self.next.fetch_add(self.args.size, Ordering::Relaxed);
        for n in first..first + self.args.size {
            let terms = [
                iri(format!("{NAMESPACE}{}/{}", self.args.seed, n / 10)),
                iri(format!("{NAMESPACE}p{}", n % 10)),
                Literal::from(format!("value {n}")).into(),
            ];
            let mut row = [ValueId::DEFAULT_GRAPH; 4];
            for (id, term) in row.iter_mut().zip(terms) {
                *id = transaction.intern(&term)?.unwrap_or_default();
            }
            transaction.insert(row);
        }
        transaction.commit().map(|_| ())
    }

    /// Other values for the subjects of a client, which have two in turns.
    fn churn(&self, client: u64, round: u64) -> Result<(), StoreError> {
        let mut transaction = self.store.begin_blind()?;
        for n in 0..self.args.size {
            let mut quads = [[ValueId::DEFAULT_GRAPH; 4]; 2];
            for (quad, value) in quads.iter_mut().zip([round % 2, (round + 1) % 2]) {
                let terms = [
                    iri(format!("{NAMESPACE}{}/{client}/{n}", self.args.seed)),
                    iri(format!("{NAMESPACE}value")),
                    Literal::from(value as i64).into(),
                ];
                for (id, term) in quad.iter_mut().zip(terms) {
                    *id = transaction.intern(&term)?.unwrap_or_default();
                }
            }
            let [old, new] = quads;
            transaction.delete(old);
            transaction.insert(new);
        }
        transaction.commit().map(|_| ())
    }

    /// Deletes a quad of a random subject, or gives it another value of the same predicate.
    fn scatter(&self, random: &mut Random) -> Result<(), StoreError> {
        let mut transaction = self.store.begin_blind()?;
        let snapshot = self.store.snapshot();
        for _ in 0..self.args.size {
            let Some(mut quad) = self.random_quad(&snapshot, random)? else { continue };
            if random.next() & 1 == 0 {
                transaction.delete(quad);
            } else {
                let number = self.next.fetch_add(1, Ordering::Relaxed);
                let value = Literal::from(format!("value {} {number}", self.args.seed)).into();
                quad[2] = transaction.intern(&value)?.unwrap_or_default();
                transaction.insert(quad);
            }
        }
        transaction.commit().map(|_| ())
    }

    /// One of the first quads of a random subject.
    fn random_quad(
        &self,
        snapshot: &Snapshot,
        random: &mut Random,
    ) -> Result<Option<[ValueId; 4]>, StoreError> {
        let Some((first, last)) = self.subjects else { return Ok(None) };
        let subject = first + random.below(last - first + 1);
        let mut scan = snapshot.scan(Order::Spog, &[], 0b1111)?;
        scan.seek(&[ValueId::from_bits(subject)])?;
        let mut columns: [Vec<ValueId>; 4] = Default::default();
        let rows = scan.next(1 + random.below(8) as usize, &mut columns)?;
        Ok(rows.checked_sub(1).map(|row| columns.each_ref().map(|column| column[row])))
    }
}

/// The first and the last subject that is an IRI.
fn subjects(snapshot: &Snapshot) -> Result<Option<(u64, u64)>, StoreError> {
    let mut columns: [Vec<ValueId>; 4] = Default::default();
    let last_part = snapshot
        .split(Order::Spog, &[], ValueId::UNDEF..ValueId::MAX, 1 << 16)?
        .pop()
        .map(|range| range.start);
    let mut scan = snapshot.scan(Order::Spog, &[], 0b0001)?;
    scan.seek(&[ValueId::new(lode_rdf::Kind::Iri, 0)])?;
    scan.next(1, &mut columns)?;
    if let Some(start) = last_part {
        scan.seek(&[start])?;
    }
    while scan.next(1 << 14, &mut columns)? > 0 {}
    let ids = &columns[0];
    Ok(ids.first().zip(ids.last()).map(|(first, last)| (first.to_bits(), last.to_bits())))
}

fn iri(text: String) -> Term {
    NamedNode::new_unchecked(text).into()
}

/// A small generator of numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }
}

fn quantile(sorted: &[Duration], part: f64) -> Duration {
    let at = (sorted.len() as f64 * part) as usize;
    sorted.get(at.min(sorted.len().saturating_sub(1))).copied().unwrap_or_default()
}

struct Report {
    commits: u64,
    triples: u64,
    seconds: f64,
    median: Duration,
    p99: Duration,
    syncs: u64,
}

impl Report {
    fn as_text(&self) -> String {
        format!(
            "{} commits in {:.2} s: {}/s, {} triples/s; {:.1} commits a sync; a commit takes {:.2?}, at most {:.2?} of 99 in 100",
            number::grouped(self.commits),
            self.seconds,
            number::short(self.commits as f64 / self.seconds),
            number::short(self.triples as f64 / self.seconds),
            self.commits as f64 / self.syncs.max(1) as f64,
            self.median,
            self.p99,
        )
    }

    fn as_json(&self) -> serde_json::Value {
        json!({
            "commits": self.commits,
            "triples": self.triples,
            "seconds": self.seconds,
            "median_seconds": self.median.as_secs_f64(),
            "p99_seconds": self.p99.as_secs_f64(),
            "syncs": self.syncs,
        })
    }
}

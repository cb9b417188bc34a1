//! `lode bench soak`: a server under mixed load for as long as you like, killed now and then, and every answer compared with a book of what
//! was confirmed.
//!
//! The server is this very program, as a process of its own. Clients are threads that write, read and administrate; where the server
//! dies, they all stop, the database is compared with the book while nobody has it, and everything goes on. `lode_bench::soak` says what is
//! written and what may be found.

mod check;
mod field;
mod keeper;
mod places;
mod reader;
mod report;
mod server;
mod watch;
mod web;
mod writer;

use crate::args::BenchSoakArgs;
use crate::bench_data::{program, run_child};
use crate::exit::Done;
use crate::talk::say;
use anyhow::{Context, bail};
use field::Field;
use lode_bench::bsbm::{self, Random};
use lode_bench::soak::{Found, between};
use places::Places;
use report::{Ending, Report};
use server::Server;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::thread;
use std::time::{Duration, Instant};
use watch::Watch;

pub fn run(args: &BenchSoakArgs) -> anyhow::Result<Done> {
    let places = prepare(args)?;
    let field = Field::new(args.readers + args.writers + 1);
    let mut watch = Watch::new(&places.database, args.json);
    let start = Instant::now();
    let run = thread::scope(|scope| {
        for number in 0..args.writers {
            let (field, random) = (&field, random(args.seed, 1, number as u64));
            scope.spawn(move || writer::run(field, random, args.units / args.writers.max(1)));
        }
        for number in 0..args.readers {
            let (field, random) = (&field, random(args.seed, 2, number as u64));
            scope.spawn(move || reader::run(field, random));
        }
        let (keeper_field, keeper_places) = (&field, &places);
        scope.spawn(move || keeper::run(keeper_field, keeper_places, random(args.seed, 3, 0)));
        let done = rounds(args, &places, &field, &mut watch, start);
        field.end();
        done
    });
    run?;
    let ending = end(&places, &field)?;
    let report = Report::new(watch.minutes, &field, ending);
    if args.json {
        writeln!(std::io::stdout().lock(), "{:#}", report.as_json())?;
    } else {
        say!("{}", report.as_text());
    }
    match report.failures.first() {
        None => Ok(Done::Ok),
        Some(first) => bail!("{} answers were wrong; the first: {first}", report.failure_count),
    }
}

fn random(seed: u64, kind: u64, number: u64) -> Random {
    Random::new(seed ^ (kind << 32 | number).wrapping_mul(0xD6E8_FEB8_6659_FD93))
}

/// Makes the folders, and the database with what lies in it from the beginning.
fn prepare(args: &BenchSoakArgs) -> anyhow::Result<Places> {
    let folder = &args.folder;
    std::fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    if std::fs::read_dir(folder)?.next().is_some() {
        bail!("{} is not empty: give the path of a new or empty folder", folder.display());
    }
    let folder = folder.canonicalize()?;
    let places = Places {
        database: folder.join("db"),
        backups: folder.join("backups"),
        restored: folder.join("restored"),
    };
    std::fs::create_dir(&places.backups)?;
    let path = folder.join("base.nt");
    let mut file = BufWriter::new(File::create(&path)?);
    let options = bsbm::Options { products: args.products, seed: args.seed, format: bsbm::Format::NTriples };
    if args.products > 0 {
        bsbm::generate(&options, &mut file, &mut |_| ())?;
    }
    file.flush()?;
    drop(file);
    let mut load = program()?;
    load.arg("load").arg(&places.database).arg(&path).arg("--quiet");
    run_child(load)?;
    std::fs::remove_file(&path)?;
    Ok(places)
}

/// Serves, and kills, until the time is up.
fn rounds(
    args: &BenchSoakArgs,
    places: &Places,
    field: &Field,
    watch: &mut Watch,
    start: Instant,
) -> anyhow::Result<()> {
    let mut random = random(args.seed, 4, 0);
    let end = start + args.minutes;
    loop {
        let mut server = Server::start(places, args)?;
        field.opened(server.ready_after);
        field.begin(&server.base);
        let kill = (!args.kill_every.is_zero()).then(|| {
            // From nearly nothing to twice the mean.
            Instant::now() + Duration::from_millis(random.below(2 * args.kill_every.as_millis() as u64 + 1))
        });
        let until = kill.map_or(end, |kill| kill.min(end));
        watch.follow(&mut server, field, until);
        let has_died = !server.is_running();
        if has_died {
            field.fail(format!("the server ended by itself: {}", server.said()));
        }
        let is_last = Instant::now() >= end;
        field.pause();
        if is_last && !has_died {
            // Requests that are under way end by themselves; then the server stops in good order.
            field.wait_for_all();
            server.stop()?;
        } else {
            server.kill()?;
            field.wait_for_all();
            field.did("kills");
        }
        compare(places, field)?;
        if is_last || has_died {
            watch.end(field);
            return Ok(());
        }
    }
}

/// Compares the whole database with the book, while no process has it.
fn compare(places: &Places, field: &Field) -> anyhow::Result<()> {
    let found: Found = check::found_in(&places.database)?;
    let mut book = field.book();
    let wrong = between(&book, &book, &found);
    book.settle(&found);
    drop(book);
    field.did("comparisons");
    wrong.into_iter().for_each(|what| field.fail(format!("after the server's end: {what}")));
    Ok(())
}

/// What is left at the end: sound, and as large as it has to be.
fn end(places: &Places, field: &Field) -> anyhow::Result<Ending> {
    let mut check = program()?;
    check.arg("check").arg(&places.database).arg("--quiet");
    if let Err(error) = run_child(check) {
        field.fail(format!("the database is damaged at the end: {error:#}"));
    }
    let bytes = watch::folder_bytes(&places.database);
    check::drop_snapshots(&places.database)?;
    let mut compact = program()?;
    compact.arg("compact").arg(&places.database).args(["--quiet", "--force"]);
    run_child(compact)?;
    compare(places, field)?;
    let packed_bytes = watch::folder_bytes(&places.database);
    let reloaded_bytes = check::reloaded_bytes(places)?;
    let quads = check::quads(&places.database)?;
    Ok(Ending { quads, bytes, packed_bytes, reloaded_bytes })
}

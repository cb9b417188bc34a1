//! `lode check`.

use crate::args::CheckArgs;
use crate::exit::Done;
use crate::number;
use crate::progress::{LiveLine, RateMeter};
use crate::talk::say;
use lode_engine::{CancelToken, salvage_database};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

pub fn run(args: &CheckArgs) -> anyhow::Result<Done> {
    if args.salvage {
        salvage(args)?;
    }
    let done = Arc::new(AtomicU64::new(0));
    let shown = Arc::clone(&done);
    let mut meter = RateMeter::new();
    let line = LiveLine::start(args.quiet, move || {
        let items = shown.load(Ordering::Relaxed);
        format!(
            "checking: {} rows and terms, {}/s",
            number::grouped(items),
            number::short(meter.current(items))
        )
    });
    let start = Instant::now();
    let mut progress = |items| {
        done.fetch_add(items, Ordering::Relaxed);
    };
    let report = lode_engine::check_database(&args.database, &CancelToken::default(), &mut progress);
    drop(line);
    let report = report?;
    let mut out = std::io::stdout().lock();
    for problem in &report.problems {
        writeln!(out, "{}: byte {}: {}", problem.file, problem.offset, problem.what)?;
    }
    let (quads, terms) = (number::grouped(report.quads), number::grouped(report.terms));
    let time = number::duration(start.elapsed());
    if report.problems.is_empty() {
        say!("sound: {quads} quads in {} segments, {terms} terms, checked in {time}", report.segments);
        return Ok(Done::Ok);
    }
    if report.problems.iter().any(|problem| is_log(&problem.file)) {
        say!("`lode check --salvage` makes a database of what is before the damage of the log");
    }
    say!("damaged: {} problems; restore the database from a backup or load it again", report.problems.len());
    Ok(Done::Damaged)
}

fn is_log(file: &str) -> bool {
    Path::new(file).file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("log-"))
}

fn salvage(args: &CheckArgs) -> anyhow::Result<()> {
    let Some(report) = salvage_database(&args.database, &CancelToken::default())? else {
        say!("the log is sound: nothing to salvage");
        return Ok(());
    };
    say!("{}", report.damage);
    say!(
        "kept {} commits of the log: the database has {} quads",
        number::grouped(report.kept_records),
        number::grouped(report.quads)
    );
    say!(
        "gave up {} commits or more, {} bytes; the damaged log is kept as {}",
        number::grouped(report.lost_records),
        number::grouped(report.lost_bytes),
        report.kept_as.display()
    );
    Ok(())
}

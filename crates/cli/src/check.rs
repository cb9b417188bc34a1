//! `lode check`.

use crate::args::CheckArgs;
use crate::exit::Done;
use crate::number;
use crate::progress::{LiveLine, RateMeter};
use crate::talk::say;
use lode_engine::CancelToken;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

pub fn run(args: &CheckArgs) -> anyhow::Result<Done> {
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
    say!("damaged: {} problems; restore the database from a backup or load it again", report.problems.len());
    Ok(Done::Damaged)
}

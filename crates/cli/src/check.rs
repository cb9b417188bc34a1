//! `lode check`.

use crate::args::CheckArgs;
use crate::exit::Done;
use crate::number;
use crate::progress::{LiveLine, RateMeter};
use crate::talk::say;
use lode_engine::{CancelToken, remake_manifest, salvage_database};
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
    for note in &report.notes {
        say!("{note}");
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
    if report.problems.iter().all(|problem| problem.file.ends_with(".end")) {
        say!(
            "damaged: only the end mark of the log, which the next command that writes to the database makes again"
        );
        return Ok(Done::Damaged);
    }
    say!("damaged: {} problems; restore the database from a backup or load it again", report.problems.len());
    Ok(Done::Damaged)
}

fn is_log(file: &str) -> bool {
    Path::new(file)
        .file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| name.starts_with("log-") && !name.ends_with(".end"))
}

/// Makes a lost manifest again; whether it was lost.
fn remake(args: &CheckArgs) -> anyhow::Result<bool> {
    let Some(report) = remake_manifest(&args.database)? else { return Ok(false) };
    let from = if report.is_copy { "of its copy" } else { "of what the segments say" };
    let log = if report.has_log { " and a log" } else { "" };
    say!("the manifest was made again {from}: {} segments{log}", report.segments);
    for doubt in &report.doubts {
        say!("in doubt: {doubt}");
    }
    for path in &report.set_aside {
        say!("set aside: {}", path.display());
    }
    Ok(true)
}

fn salvage(args: &CheckArgs) -> anyhow::Result<()> {
    let is_remade = remake(args)?;
    let Some(report) = salvage_database(&args.database, &CancelToken::default())? else {
        if !is_remade {
            say!("the manifest and the log are sound: nothing to salvage");
        }
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

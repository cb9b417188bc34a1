//! `lode check`.

use crate::args::{CheckArgs, folder};
use crate::exit::{Done, wrong_usage};
use crate::load_scratch::tell_work_beside;
use crate::number;
use crate::progress::{LiveLine, RateMeter};
use crate::published;
use crate::talk::say;
use lode_engine::store::{Remedy, Salvage, SalvageReport};
use lode_engine::{CancelToken, remake_manifest, salvage_database};
use lode_remote::{Address, ObjectRemedy, Wanted, WebOptions};
use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

pub fn run(args: &CheckArgs) -> anyhow::Result<Done> {
    if let Some(address) = published::address(&args.database)? {
        return check_published(args, &address);
    }
    if let Some(refusal) = folder::refusal(&args.database) {
        return Err(wrong_usage(refusal));
    }
    if args.at.is_some() {
        return Err(wrong_usage(
            "--at is for published databases: lode check reads named snapshots with the database",
        ));
    }
    if args.salvage {
        salvage(args)?;
    }
    if !args.quiet {
        tell_work_beside(&args.database)?;
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
    let (quads, terms) = (number::of(report.quads, "quad"), number::of(report.terms, "term"));
    let time = number::duration(start.elapsed());
    if report.problems.is_empty() {
        let segments = number::of(report.segments, "segment");
        say!("sound: {quads} in {segments}, {terms}, checked in {time}");
        return Ok(Done::Ok);
    }
    let remedies: BTreeSet<&Remedy> = report.problems.iter().map(|problem| &problem.remedy).collect();
    remedies.into_iter().for_each(tell_remedy);
    say!("damaged: {}", number::of(report.problems.len() as u64, "problem"));
    Ok(Done::Damaged)
}

/// Reads all objects of a published version.
fn check_published(args: &CheckArgs, address: &Address) -> anyhow::Result<Done> {
    if args.salvage {
        return Err(wrong_usage("--salvage mends databases in folders; what is published is published anew"));
    }
    let done = Arc::new(AtomicU64::new(0));
    let shown = Arc::clone(&done);
    let mut meter = RateMeter::new();
    let line = LiveLine::start(args.quiet, move || {
        let bytes = shown.load(Ordering::Relaxed);
        format!("checking: {}, {}/s", number::bytes(bytes), number::bytes(meter.current(bytes) as u64))
    });
    let start = Instant::now();
    let mut progress = |bytes| {
        done.fetch_add(bytes, Ordering::Relaxed);
    };
    let wanted = args.at.as_deref().map_or_else(Wanted::default, Wanted::of);
    let store = address.store(WebOptions::default())?;
    let report = lode_remote::check(&*store, &wanted, &CancelToken::default(), &mut progress);
    drop(line);
    let report = report?;
    let mut out = std::io::stdout().lock();
    for problem in &report.problems {
        writeln!(out, "{}: byte {}: {}", problem.object, problem.offset, problem.what)?;
    }
    if report.problems.is_empty() {
        say!(
            "version {} is whole: {} in {}, {} of {}, checked in {}",
            report.number,
            number::of(report.quads, "quad"),
            number::of(report.segments, "segment"),
            number::of(report.objects, "object"),
            number::bytes(report.bytes),
            number::duration(start.elapsed())
        );
        return Ok(Done::Ok);
    }
    let remedies: BTreeSet<ObjectRemedy> = report.problems.iter().map(|problem| problem.remedy).collect();
    remedies.into_iter().for_each(tell_object_remedy);
    say!("damaged: {}", number::of(report.problems.len() as u64, "problem"));
    Ok(Done::Damaged)
}

fn tell_object_remedy(remedy: ObjectRemedy) {
    match remedy {
        ObjectRemedy::Publish => {
            say!("the next `lode publish` to this address writes the manifest or its copy again")
        }
        ObjectRemedy::RemoveAndPublish => {
            say!(
                "the copy of the manifest is sound: remove the manifest, and the next `lode publish` to this address puts it back"
            )
        }
        ObjectRemedy::PublishElsewhere => say!(
            "publish the database to another address, and read that: what is published here is not written again"
        ),
    }
}

fn tell_remedy(remedy: &Remedy) {
    match remedy {
        Remedy::Salvage => say!(
            "`lode check --salvage` mends this (a manifest, a log or its end mark): it keeps all that is whole, and tells what it gives up"
        ),
        Remedy::Write => {
            say!("the next command that writes to the database makes the copy of the manifest again")
        }
        Remedy::Compact => say!(
            "`lode compact --force` mends this: it makes damaged orders again from sound ones; look at the disk, which may damage more"
        ),
        Remedy::DropSnapshot(name) => {
            say!(
                "`lode snapshot drop` gives up the snapshot {name}; the database does not need what it has lost"
            )
        }
        Remedy::Words => say!(
            "only searches are slower without it: `lode text DB --force` makes the indexes of words again"
        ),
        Remedy::Places => say!(
            "only conditions on geometries are slower without it: `lode geo DB --force` makes their indexes again"
        ),
        Remedy::BackUp => say!(
            "make another backup, in a new folder; without the database, copy this one, remove the file BACKUP from the copy, and see what \
             `lode check --salvage` makes of that"
        ),
        Remedy::Stripes => say!(
            "mount the disk, or tell where the folder is now with `lode stripe DB --move OLD NEW`; where it is lost, restore the database from a backup"
        ),
        Remedy::StripeList => say!(
            "`lode stripe DB DIR DIR...`, with all folders that it was spread over, writes the list again; where these are lost, restore the database from a \
             backup"
        ),
        Remedy::WriteOwner => {
            say!(
                "the next command that writes to the database makes this mark again; no answer depends on it"
            )
        }
        Remedy::Restore => say!("restore the database from a backup, or load it again"),
    }
}

/// Makes a lost manifest again; whether it was lost.
fn remake(args: &CheckArgs) -> anyhow::Result<bool> {
    let Some(report) = remake_manifest(&args.database)? else { return Ok(false) };
    let from = if report.is_copy { "of its copy" } else { "of what the segments say" };
    let log = if report.has_log { " and a log" } else { "" };
    say!("the manifest was made again {from}: {}{log}", number::of(report.segments, "segment"));
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
    match salvage_database(&args.database, &CancelToken::default())? {
        Salvage::Nothing if is_remade => {}
        Salvage::Nothing => say!("the manifest and the log are sound: nothing to salvage"),
        Salvage::EndMark(path) => {
            say!(
                "{}: it was damaged, and has been written again; the log is whole up to where it ends",
                path.display()
            )
        }
        Salvage::Log(report) => tell_salvaged_log(&report),
    }
    Ok(())
}

fn tell_salvaged_log(report: &SalvageReport) {
    say!("{}", report.damage);
    say!(
        "kept {} of the log, up to version {}: the database has {}, as version {}",
        number::of(report.kept_records, "commit"),
        report.kept_version,
        number::of(report.quads, "quad"),
        report.version
    );
    let lost = format!(
        "{} or more, {}",
        number::of(report.lost_records, "commit"),
        number::of(report.lost_bytes, "byte")
    );
    match &report.kept_as {
        Some(kept_as) => say!("gave up {lost}; the damaged log is kept as {}", kept_as.display()),
        None if report.lost_records == 0 => say!("gave up the whole log, and nobody can tell what was in it"),
        None => say!("gave up the whole log: {lost}, as its end mark says"),
    }
}

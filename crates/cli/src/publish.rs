//! `lode publish`.

use crate::args::PublishArgs;
use crate::exit::{Done, wrong_usage};
use crate::load_line::left_text;
use crate::number;
use crate::progress::{LiveLine, RateMeter};
use crate::published;
use crate::talk::{say, write_json};
use lode_engine::CancelToken;
use lode_remote::{
    Address, CollectOptions, CollectReport, PublishOptions, PublishProgress, PublishReport, collect,
    publish_folder,
};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub fn run(args: &PublishArgs) -> anyhow::Result<Done> {
    let address = target(&args.url)?;
    let store = address.store(Default::default())?;
    let options = PublishOptions { take_over: args.take_over, name: args.name.clone() };
    let progress = Arc::new(PublishProgress::default());
    let (start, shown, mut meter) = (Instant::now(), Arc::clone(&progress), RateMeter::new());
    let line = LiveLine::start(args.quiet, move || {
        let (bytes, total) = shown.bytes();
        format!(
            "publishing: {} of {}, {}/s{}",
            number::bytes(bytes),
            number::bytes(total),
            number::bytes(meter.current(bytes) as u64),
            left_text(meter.time_left(bytes, total))
        )
    });
    let report = publish_folder(&args.database, &*store, &options, &CancelToken::default(), &progress);
    drop(line);
    let report = report?;
    if !args.quiet {
        summary(&report, &address.to_string(), start.elapsed());
    }
    let keep =
        args.keep.map(|keep| collect(&*store, &CollectOptions { keep, grace: args.grace })).transpose()?;
    if let Some(kept) = keep.as_ref().filter(|_| !args.quiet) {
        say!(
            "{} kept, {} removed; of segments and logs that no version needs, {} removed and {} to go later",
            number::of(kept.versions, "version"),
            kept.versions_removed,
            kept.removed,
            kept.condemned
        );
    }
    if args.json {
        write_json(&as_json(&report, keep.as_ref(), start.elapsed()))?;
    }
    Ok(Done::Ok)
}

/// The address that a database may be published to.
pub fn target(url: &str) -> anyhow::Result<Address> {
    let Some(address) = published::database_address(Path::new(url))? else {
        let what = "a database is published to an address: file:///whole/path, or s3://bucket/prefix";
        return Err(wrong_usage(format!("{url}: {what}")));
    };
    if let Address::Web(url) = &address {
        let what = "a web server can only be read: publish to the folder that it serves (file:///whole/path)";
        return Err(wrong_usage(format!("{url}: {what}")));
    }
    Ok(address)
}

fn summary(report: &PublishReport, address: &str, time: Duration) {
    let (number, version) = (report.number, report.version);
    if report.was_there {
        return say!("{address} has this as version {number} already (version {version} of the database)");
    }
    say!(
        "published version {number} at {address} in {} (version {version} of the database): {} in {}",
        number::duration(time),
        number::of(report.quads, "quad"),
        number::of(report.segments, "segment")
    );
    let log = match report.log_bytes {
        0 => String::new(),
        bytes => format!(", with a log of {}: another process has the database open", number::bytes(bytes)),
    };
    say!(
        "wrote {} of {}; there before: {}{log}",
        number::of(report.objects, "object"),
        number::bytes(report.bytes),
        number::of(report.segments_kept, "segment")
    );
}

fn as_json(report: &PublishReport, kept: Option<&CollectReport>, time: Duration) -> Value {
    let kept = kept.map(|kept| {
        json!({
            "versions": kept.versions,
            "versions_removed": kept.versions_removed,
            "removed": kept.removed,
            "condemned": kept.condemned,
        })
    });
    json!({
        "number": report.number,
        "was_there": report.was_there,
        "epoch": report.epoch,
        "version": report.version,
        "quads": report.quads,
        "segments": report.segments,
        "segments_kept": report.segments_kept,
        "objects": report.objects,
        "bytes": report.bytes,
        "bytes_found": report.bytes_found,
        "log_bytes": report.log_bytes,
        "kept": kept,
        "seconds": time.as_secs_f64(),
    })
}

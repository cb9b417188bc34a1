//! `lode compact`.

use crate::args::CompactArgs;
use crate::direct;
use crate::exit::Done;
use crate::load::CACHE_BYTES;
use crate::load_line::live_line;
use crate::memory;
use crate::new_words::index_new;
use crate::number;
use crate::talk::{say, say_found_log, tell_damaged_snapshots};
use lode_engine::store::load::{LoadProgress, Stage};
use lode_engine::store::{CompactOptions, CompactReport, WriteOptions, compact};
use lode_engine::{Database, OpenOptions};
use serde_json::json;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The stages of a compaction.
const STAGES: [Stage; 3] = [Stage::Terms, Stage::Writing, Stage::Publishing];

pub fn run(args: &CompactArgs) -> anyhow::Result<Done> {
    let mut options = CompactOptions { force: args.force, ..CompactOptions::default() };
    if let Some(threads) = args.threads {
        options.threads = threads.max(1);
    }
    if let Some(memory) = args.memory {
        options.memory_bytes = memory;
    }
    memory::keep_to(options.memory_bytes);
    direct::use_if(args.direct);
    let open = OpenOptions::with_cache(CACHE_BYTES);
    let database = Database::open_for_writing(&args.database, &open, WriteOptions::default())?;
    say_found_log(&database);
    tell_damaged_snapshots(&database);
    let progress = Arc::new(LoadProgress::default());
    let start = Instant::now();
    let line = live_line(args.quiet, &progress);
    let result = compact(database.store(), &options, &progress);
    drop(line);
    let report = result?;
    index_new(&database, options.memory_bytes);
    for damage in &report.damaged {
        say!("{}: damaged at byte {}: {}", damage.file, damage.offset, damage.what);
    }
    if !report.damaged.is_empty() {
        let orders = number::of(report.damaged.len() as u64, "damaged order");
        say!(
            "{orders} made again from sound ones; look at the disk, and see with `lode check` whether all is well now"
        );
    }
    if !args.quiet {
        summary(&report, start.elapsed());
    }
    if args.json {
        let mut out = std::io::stdout().lock();
        serde_json::to_writer_pretty(&mut out, &as_json(&report))?;
        writeln!(out)?;
    }
    Ok(Done::Ok)
}

fn summary(report: &CompactReport, time: Duration) {
    let Some(segment) = &report.segment else {
        if report.terms_dropped > 0 {
            let segments = number::of(report.segments, "segment");
            say!("no quads are left: {segments} and {} are gone", number::of(report.terms_dropped, "term"));
            return;
        }
        let segments = number::of(report.segments, "segment");
        say!("nothing to do: {} in {segments}", number::of(report.quads, "quad"));
        return;
    };
    say!(
        "compacted {} and {} of {} in {}, {}",
        number::of(report.quads, "quad"),
        number::of(report.terms, "term"),
        number::of(report.segments, "segment"),
        number::duration(time),
        number::rate(report.quads, time),
    );
    if report.rounds > 1 {
        say!("in {} rounds, because memory is short for all at once; --memory gives it more", report.rounds);
    }
    let seconds = STAGES.map(|stage| format!("{} {:.2} s", stage.name(), report.seconds.of(stage)));
    say!("{}", seconds.join(", "));
    if report.terms_dropped > 0 {
        say!("gone, since no quad has them any more: {}", number::of(report.terms_dropped, "term"));
    }
    let per_quad = segment.bytes() as f64 / segment.quads().max(1) as f64;
    let peak = report
        .peak_resident_bytes
        .map_or(String::new(), |bytes| format!("; peak memory {}", number::bytes(bytes)));
    say!(
        "{} on disk, {per_quad:.1} bytes a quad; before, {}{peak}",
        number::bytes(segment.bytes()),
        number::bytes(report.bytes_before),
    );
}

fn as_json(report: &CompactReport) -> serde_json::Value {
    let seconds: serde_json::Map<String, serde_json::Value> =
        STAGES.iter().map(|stage| (stage.name().to_owned(), json!(report.seconds.of(*stage)))).collect();
    let damaged: Vec<_> = report
        .damaged
        .iter()
        .map(|damage| json!({ "file": damage.file, "offset": damage.offset, "what": damage.what }))
        .collect();
    json!({
        "compacted": report.segment.is_some() || report.terms_dropped > 0,
        "segments": report.segments,
        "rounds": report.rounds,
        "quads": report.quads,
        "terms": report.terms,
        "terms_dropped": report.terms_dropped,
        "bytes_before": report.bytes_before,
        "damaged": damaged,
        "segment_bytes": report.segment.as_ref().map(|segment| segment.bytes()),
        "seconds": seconds,
        "peak_resident_bytes": report.peak_resident_bytes,
    })
}

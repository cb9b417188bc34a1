//! `lode text`.

use crate::args::TextArgs;
use crate::exit::Done;
use crate::load::CACHE_BYTES;
use crate::memory;
use crate::number;
use crate::talk::{say, say_found_log};
use lode_engine::store::{CompactOptions, WordsOptions, WriteOptions, drop_words, index_words};
use lode_engine::{CancelToken, Database, OpenOptions};
use serde_json::json;
use std::io::Write;
use std::time::Instant;

pub fn run(args: &TextArgs) -> anyhow::Result<Done> {
    let memory_bytes = args.memory.unwrap_or(CompactOptions::default().memory_bytes);
    memory::keep_to(memory_bytes);
    let open = OpenOptions::with_cache(CACHE_BYTES);
    let database = Database::open_for_writing(&args.database, &open, WriteOptions::default())?;
    say_found_log(&database);
    if args.drop {
        drop_words(database.store())?;
        if !args.quiet {
            say!("the index of words is gone");
        }
        return Ok(Done::Ok);
    }
    let start = Instant::now();
    let options = WordsOptions { memory_bytes, force: args.force, cancel: CancelToken::default() };
    let report = index_words(database.store(), &options)?;
    if !args.quiet {
        say!(
            "indexed the words of {} in {}: {}, {}",
            number::of(report.texts, "text"),
            number::of(report.segments, "segment"),
            number::bytes(report.bytes),
            number::duration(start.elapsed()),
        );
    }
    if args.json {
        let report = json!({
            "segments": report.segments,
            "segments_left_as_they_are": report.others,
            "texts": report.texts,
            "bytes": report.bytes,
            "seconds": start.elapsed().as_secs_f64(),
        });
        let mut out = std::io::stdout().lock();
        serde_json::to_writer_pretty(&mut out, &report)?;
        writeln!(out)?;
    }
    Ok(Done::Ok)
}

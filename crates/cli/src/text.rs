//! `lode text`.

use crate::args::TextArgs;
use crate::exit::Done;
use crate::load::CACHE_BYTES;
use crate::memory;
use crate::new_words::index_all;
use crate::talk::{say, say_found_log, write_json};
use lode_engine::store::{WordsOptions, WriteOptions, drop_words, keeps_words};
use lode_engine::{Database, OpenOptions};
use serde_json::json;
use std::time::Instant;

pub fn run(args: &TextArgs) -> anyhow::Result<Done> {
    let mut options = WordsOptions { force: args.force, ..WordsOptions::default() };
    if let Some(threads) = args.threads {
        options.threads = threads.max(1);
    }
    if let Some(memory) = args.memory {
        options.memory_bytes = memory;
    }
    memory::keep_to(options.memory_bytes);
    let open = OpenOptions::with_cache(CACHE_BYTES);
    let database = Database::open_for_writing(&args.database, &open, WriteOptions::default())?;
    say_found_log(&database);
    if args.drop {
        let was_there = keeps_words(database.store());
        drop_words(database.store())?;
        if !args.quiet {
            say!("{}", if was_there { "the index of words is gone" } else { "there was no index of words" });
        }
        return Ok(Done::Ok);
    }
    let start = Instant::now();
    let report = index_all(&database, &options, args.quiet)?;
    if args.json {
        write_json(&json!({
            "segments": report.segments,
            "segments_left_as_they_are": report.others,
            "texts": report.texts,
            "bytes": report.bytes,
            "seconds": start.elapsed().as_secs_f64(),
        }))?;
    }
    Ok(Done::Ok)
}

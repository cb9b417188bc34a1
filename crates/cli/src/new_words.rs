//! What is new is indexed where the database keeps an index of words (`lode text`) or of geometries (`lode geo`).

use crate::args::LoadArgs;
use crate::number;
use crate::talk::say;
use lode_engine::store::{WordsOptions, WordsReport, WriteOptions, index_words, keeps_words};
use lode_engine::{Database, OpenOptions};
use std::time::Instant;

/// After a load, an update or a compaction: indexes what is new, if the database has indexes. What was written is durable already, so a failure is only told.
pub fn index_new(database: &Database, memory_bytes: usize) {
    if keeps_words(database.store()) {
        let options = WordsOptions { memory_bytes, ..WordsOptions::default() };
        if let Err(error) = index_words(database.store(), &options) {
            say!("warning: all is written, but the words of new texts are not indexed: {error}");
        }
    }
    #[cfg(feature = "geo")]
    index_new_places(database, memory_bytes);
}

#[cfg(feature = "geo")]
fn index_new_places(database: &Database, memory_bytes: usize) {
    use lode_engine::CancelToken;
    use lode_engine::store::{PlacesOptions, index_places, keeps_places};
    if keeps_places(database.store()) {
        let options = PlacesOptions { memory_bytes, force: false, cancel: CancelToken::default() };
        match index_places(database.store(), &options) {
            Ok(report) => crate::no_geometries::tell_unreadable(database, &report),
            Err(error) => say!("warning: all is written, but new geometries are not indexed: {error}"),
        }
    }
}

/// Makes the indexes of words, and from now on those of new segments, and tells of it.
pub fn index_all(database: &Database, options: &WordsOptions, quiet: bool) -> anyhow::Result<WordsReport> {
    let start = Instant::now();
    let report = index_words(database.store(), options)?;
    if !quiet && report.segments == 0 && report.others > 0 {
        let segments = number::of(report.others, "segment");
        say!("nothing to do: the words of {segments} are indexed (--force makes the index again)");
    } else if !quiet {
        say!(
            "indexed the words of {} in {}: {}, {}",
            number::of(report.texts, "text"),
            number::of(report.segments, "segment"),
            number::bytes(report.bytes),
            number::duration(start.elapsed()),
        );
    }
    Ok(report)
}

/// After a load with `--text`: indexes all that has no index.
pub fn index_loaded(args: &LoadArgs, cache_bytes: usize) -> anyhow::Result<()> {
    let mut options = WordsOptions::default();
    if let Some(threads) = args.threads {
        options.threads = threads.max(1);
    }
    if let Some(memory) = args.memory {
        options.memory_bytes = memory;
    }
    let open = OpenOptions::with_cache(cache_bytes);
    let database = Database::open_for_writing(&args.database, &open, WriteOptions::default())?;
    index_all(&database, &options, args.quiet).map(drop)
}

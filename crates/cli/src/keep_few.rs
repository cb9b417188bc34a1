//! After a load or an update: merges the newest segments where there are too many, so that a database stays quick to open and to query
//! however many small loads it has seen.

use crate::load_line::live_line;
use crate::new_words::index_new;
use crate::number;
use crate::talk::say;
use lode_engine::Database;
use lode_engine::store::load::LoadProgress;
use lode_engine::store::{CompactOptions, keep_few as merge};
use std::sync::Arc;
use std::time::Instant;

/// Merges what has become too many. What was written is durable already, so a failure is only told.
pub fn keep_few(database: &Database, options: &CompactOptions, quiet: bool) {
    let progress = Arc::new(LoadProgress::default());
    let (start, line) = (Instant::now(), live_line(quiet, &progress));
    let result = merge(database.store(), options, &progress);
    drop(line);
    match result {
        Ok(report) if report.merges > 0 && !quiet => say!(
            "merged the newest segments, {}, in {}: there are {} of {}",
            number::of(report.quads, "quad"),
            number::duration(start.elapsed()),
            number::of(report.segments, "segment"),
            report.segments_before
        ),
        Ok(_) => {}
        Err(error) => say!("warning: all is written, but segments could not be merged: {error}"),
    }
    index_new(database, options.memory_bytes);
}

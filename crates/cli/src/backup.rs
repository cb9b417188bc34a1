//! `lode backup` and `lode restore`.

use crate::args::{BackupArgs, RestoreArgs};
use crate::exit::{Done, wrong_usage};
use crate::load_line::left_text;
use crate::number;
use crate::progress::{LiveLine, RateMeter};
use crate::published;
use crate::stripe::{self, Named};
use crate::talk::{say, write_json};
use lode_engine::store::{BackupOptions, BackupProgress, BackupReport};
use lode_engine::{
    CancelToken, backup_database, clear_unfinished_restore, remove_database, restore_database,
};
use lode_remote::{Published, ReadOptions};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub fn run(args: &BackupArgs) -> anyhow::Result<Done> {
    if published::address(&args.folder)?.is_some() {
        let (database, url) = (args.database.display(), args.folder.display());
        return Err(wrong_usage(format!(
            "lode publish {database} {url} writes a backup to an address; lode restore reads it back"
        )));
    }
    let options = BackupOptions { link: !args.copy, check: args.check };
    let work = |progress: &BackupProgress| {
        backup_database(&args.database, &args.folder, &options, &CancelToken::default(), progress)
    };
    follow(work, "backed up", args.quiet, args.json)
}

pub fn restore(args: &RestoreArgs) -> anyhow::Result<Done> {
    let options = BackupOptions { link: args.link, check: !args.no_check };
    if clear_unfinished_restore(&args.database)? {
        say!("{}: removed what a restore had left that did not end", args.database.display());
    }
    let existed = args.database.exists();
    stripe::ask_for(&args.database, &args.stripe, Named::Options, args.quiet)?;
    let restored = restore_to(args, &options);
    if restored.is_err() && !existed && !args.stripe.is_empty() && !args.database.join("MANIFEST").exists() {
        // With what it has in the stripe folders. What is left is refused by whoever comes next.
        let _ = remove_database(&args.database);
    }
    restored
}

fn restore_to(args: &RestoreArgs, options: &BackupOptions) -> anyhow::Result<Done> {
    if let Some(address) = published::address(&args.folder)? {
        // What is read is read once: nothing of it is kept.
        let published = Published::open(&address, &ReadOptions::default())?;
        let work = |progress: &BackupProgress| {
            lode_remote::restore(&published, &args.database, options, &CancelToken::default(), progress)
        };
        return follow(work, "restored", args.quiet, args.json);
    }
    let work = |progress: &BackupProgress| {
        restore_database(&args.folder, &args.database, options, &CancelToken::default(), progress)
    };
    follow(work, "restored", args.quiet, args.json)
}

/// Does the work with a live line, and tells what it did.
fn follow<E: Into<anyhow::Error>>(
    work: impl FnOnce(&BackupProgress) -> Result<BackupReport, E>,
    done: &str,
    quiet: bool,
    json: bool,
) -> anyhow::Result<Done> {
    let progress = Arc::new(BackupProgress::default());
    let start = Instant::now();
    let mut text = LineText::new();
    let shown = Arc::clone(&progress);
    let line = LiveLine::start(quiet, move || text.show(&shown));
    let result = work(&progress);
    drop(line);
    let report = result.map_err(Into::into)?;
    if let Some(note) = &report.note {
        say!("{note}");
    }
    if !quiet {
        summary(&report, done, start.elapsed());
    }
    if json {
        write_json(&as_json(&report, start.elapsed()))?;
    }
    Ok(Done::Ok)
}

/// Makes the text of the live line.
struct LineText {
    copying: RateMeter,
    checking: Option<RateMeter>,
}

impl LineText {
    fn new() -> Self {
        Self { copying: RateMeter::new(), checking: None }
    }

    fn show(&mut self, progress: &BackupProgress) -> String {
        let (bytes, bytes_total) = progress.bytes();
        let (checked, to_check) = progress.checked();
        if to_check > 0 && checked < to_check {
            let meter = self.checking.get_or_insert_with(RateMeter::new);
            let rate = number::short(meter.current(checked));
            return format!(
                "checking: {} of {} rows and terms, {rate}/s{}",
                number::grouped(checked),
                number::grouped(to_check),
                left_text(meter.time_left(checked, to_check))
            );
        }
        format!(
            "copying: {} of {}, {}/s{}",
            number::bytes(bytes),
            number::bytes(bytes_total),
            number::bytes(self.copying.current(bytes) as u64),
            left_text(self.copying.time_left(bytes, bytes_total))
        )
    }
}

fn summary(report: &BackupReport, done: &str, time: Duration) {
    let rate = report.bytes_copied as f64 / time.as_secs_f64().max(1e-9);
    say!(
        "{done} version {}: {} in {}, {} in {}",
        report.version,
        number::of(report.quads, "quad"),
        number::of(report.segments, "segment"),
        number::bytes(report.bytes),
        number::duration(time)
    );
    say!(
        "copied {} of {} ({}/s), linked {} of {}; there before: {} of {}, {}",
        number::of(report.files_copied, "file"),
        number::bytes(report.bytes_copied),
        number::bytes(rate as u64),
        report.files_linked,
        number::bytes(report.bytes_linked),
        report.segments_kept,
        number::of(report.segments, "segment"),
        number::bytes(report.bytes_kept)
    );
}

fn as_json(report: &BackupReport, time: Duration) -> serde_json::Value {
    json!({
        "version": report.version,
        "quads": report.quads,
        "segments": report.segments,
        "segments_kept": report.segments_kept,
        "bytes": report.bytes,
        "bytes_kept": report.bytes_kept,
        "files_copied": report.files_copied,
        "bytes_copied": report.bytes_copied,
        "files_linked": report.files_linked,
        "bytes_linked": report.bytes_linked,
        "seconds": time.as_secs_f64(),
    })
}

#[cfg(test)]
mod tests {
    //! What the live line says.
    use super::*;

    #[test]
    fn the_live_line_tells_bytes_and_rate() {
        let text = LineText::new().show(&BackupProgress::default());
        assert!(text.starts_with("copying: 0 B of 0 B, 0 B/s"), "{text}");
    }
}

//! What the program says to people: lines on standard error. A standard error that nobody reads any more is no reason to stop
//! (`eprintln!` would panic). And to programs: reports as JSON, on standard output.

use lode_engine::store::FoundLog;
use lode_engine::{Database, PlanWarning};

/// Writes a line to standard error, if it can be written.
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        // Names of files, data and answers of others are in it: nothing of them controls the terminal.
        let _ = writeln!($crate::screen::Clean::new(std::io::stderr()), $($text)*);
    }};
}

pub(crate) use say;

/// Says what of a query or an update is most likely not meant, and where, in a text before which so many bytes were put.
pub(crate) fn say_warnings(warnings: &[PlanWarning], text: &str, before: usize) {
    for warning in warnings {
        match warning.line_and_column(text, before) {
            Some((line, column)) => say!("warning: {warning} (line {line}, column {column})"),
            None => say!("warning: {warning}"),
        }
    }
}

/// Says how the log of a database was found, where people should know.
pub(crate) fn say_found_log(database: &Database) {
    if let Some(note) = database.store().found_log().and_then(FoundLog::note) {
        say!("{note}");
    }
}

/// Warns of snapshots that cannot be read. Where that cannot be told, what comes next says why.
pub(crate) fn tell_damaged_snapshots(database: &Database) {
    for name in database.store().damaged_snapshots().unwrap_or_default() {
        say!(
            "warning: snapshot {name}: its manifest is damaged or missing, so nobody can read it; no segment that it may need is removed \
             until `lode snapshot drop` drops it"
        );
    }
}

/// Writes a report to standard output.
pub fn write_json(report: &serde_json::Value) -> anyhow::Result<()> {
    use std::io::Write as _;
    let mut out = std::io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, report)?;
    writeln!(out)?;
    Ok(())
}

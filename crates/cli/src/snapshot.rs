//! `lode snapshot`.

use crate::args::SnapshotCommand;
use crate::exit::Done;
use crate::load::CACHE_BYTES;
use crate::number;
use crate::talk::{say, say_found_log, tell_damaged_snapshots, write_json};
use lode_engine::store::WriteOptions;
use lode_engine::{CancelToken, Database, EngineError, OpenOptions};
use serde_json::json;
use std::io::Write;
use std::path::Path;

pub fn run(command: &SnapshotCommand) -> anyhow::Result<Done> {
    match command {
        SnapshotCommand::Create(args) => {
            let database = open(&args.database)?;
            let made = database.store().create_snapshot(&args.name, &CancelToken::default());
            let made = made.map_err(EngineError::from)?;
            if !args.quiet {
                let quads = number::of(made.quads, "quad");
                say!("snapshot {}: version {}, {quads}", made.name, made.version);
            }
        }
        SnapshotCommand::Drop(args) => {
            let dropped = open(&args.database)?.store().drop_snapshot(&args.name, &CancelToken::default());
            dropped.map_err(EngineError::from)?;
            if !args.quiet {
                say!("dropped snapshot {}", args.name);
            }
        }
        SnapshotCommand::List(args) => {
            let database = Database::open(&args.database, &OpenOptions::with_cache(0))?;
            list(&database, args.json)?;
        }
    }
    Ok(Done::Ok)
}

fn open(database: &Path) -> Result<Database, EngineError> {
    let options = OpenOptions::with_cache(CACHE_BYTES);
    let database = Database::open_for_writing(database, &options, WriteOptions::default())?;
    say_found_log(&database);
    Ok(database)
}

fn list(database: &Database, as_json: bool) -> anyhow::Result<()> {
    tell_damaged_snapshots(database);
    let snapshots = database.store().snapshots().map_err(EngineError::from)?;
    if as_json {
        let rows = snapshots.iter().map(|snapshot| {
            json!({
                "name": snapshot.name,
                "version": snapshot.version,
                "quads": snapshot.quads,
                "segments": snapshot.segments,
            })
        });
        let damaged = database.store().damaged_snapshots().map_err(EngineError::from)?;
        let damaged = damaged.into_iter().map(|name| json!({ "name": name, "damaged": true }));
        return write_json(&rows.chain(damaged).collect());
    }
    let mut out = std::io::stdout().lock();
    for snapshot in &snapshots {
        let quads = number::of(snapshot.quads, "quad");
        writeln!(out, "{:<24} version {:>8} {quads:>22}", snapshot.name, snapshot.version)?;
    }
    Ok(())
}

//! What is looked at in files, while no server has them.

use super::places::Places;
use super::watch::folder_bytes;
use super::web::found;
use crate::bench_data::{program, run_child};
use anyhow::Context;
use lode_bench::soak::{Found, Unit};
use lode_engine::store::WriteOptions;
use lode_engine::{
    CancelToken, Database, EngineError, OpenOptions, OutputFormat, QueryOptions, write_results,
};
use std::fs::File;
use std::path::Path;

const CACHE_BYTES: usize = 64 << 20;

/// All units of a database.
pub fn found_in(folder: &Path) -> anyhow::Result<Found> {
    let database = open(folder)?;
    let mut results = database.query(&Unit::query_all(), &QueryOptions::default())?;
    let format = OutputFormat::from_name("csv").context("the format csv")?;
    let mut csv = Vec::new();
    write_results(&mut results, format, &mut csv)?;
    found(&String::from_utf8(csv)?)
}

/// Quads of all graphs.
pub fn quads(folder: &Path) -> anyhow::Result<u64> {
    Ok(open(folder)?.snapshot().quad_count())
}

fn open(folder: &Path) -> Result<Database, EngineError> {
    Database::open(folder, &OpenOptions::with_cache(CACHE_BYTES))
}

/// Forgets all named snapshots.
pub fn drop_snapshots(folder: &Path) -> anyhow::Result<()> {
    let options = OpenOptions::with_cache(CACHE_BYTES);
    let database = Database::open_for_writing(folder, &options, WriteOptions::default())?;
    let store = database.store();
    for snapshot in store.snapshots()? {
        store.drop_snapshot(&snapshot.name, &CancelToken::default())?;
    }
    Ok(())
}

/// What the same quads take that are written out and loaded into a new database.
pub fn reloaded_bytes(places: &Places) -> anyhow::Result<u64> {
    let (path, database) = (places.restored.with_extension("nq"), &places.restored);
    let mut dump = program()?;
    dump.arg("dump").arg(&places.database).stdout(File::create(&path)?);
    anyhow::ensure!(dump.status()?.success(), "{dump:?} has failed");
    let mut load = program()?;
    load.arg("load").arg(database).arg(&path).arg("--quiet");
    run_child(load)?;
    let bytes = folder_bytes(database);
    std::fs::remove_dir_all(database)?;
    std::fs::remove_file(&path)?;
    Ok(bytes)
}

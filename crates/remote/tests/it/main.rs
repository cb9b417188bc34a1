//! Published databases from end to end, and what is needed to try them: databases, a store in memory, a web server that behaves as it is told.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod cached;
mod checked;
#[cfg(feature = "object-store")]
mod cloud;
mod collected;
mod crashes;
mod followed;
mod hostile;
mod load;
mod published;
mod races;
mod turns;
mod web_server;

use lode_base::cancel::CancelToken;
use lode_base::mem_vfs::MemVfs;
use lode_base::vfs::Vfs;
use lode_engine::store::OpenFiles;
use lode_engine::{Database, OpenOptions, QueryOptions, QueryResults, UpdateOptions};
use lode_rdf::RdfFormat;
use lode_remote::{
    FolderStore, ObjectStore, PublishOptions, PublishProgress, PublishReport, Published, PublishedVersion,
    ReadOptions, RemoteError,
};
use lode_store::load::{LoadOptions, LoadProgress, Source};
use std::path::Path;
use std::sync::Arc;

pub const DATABASE: &str = "/db";
pub const STORE: &str = "/store";

/// A database in a file system.
pub fn open(vfs: &Arc<dyn Vfs>) -> Database {
    Database::create_on(Arc::clone(vfs), Path::new(DATABASE), &OpenOptions::with_cache(1 << 20)).unwrap()
}

/// A database in memory with so many triples, closed.
pub fn database(triples: usize) -> MemVfs {
    let vfs = MemVfs::new();
    load(&shared(&vfs), 0, triples);
    vfs
}

pub fn shared(vfs: &MemVfs) -> Arc<dyn Vfs> {
    Arc::new(vfs.clone())
}

/// Adds a segment.
pub fn load(vfs: &Arc<dyn Vfs>, first: usize, triples: usize) {
    let triple = |i: usize| {
        format!("<http://e/s{}> <http://e/p{}> \"{} of {}\" .\n", i / 3, i % 7, i * 7919 % 100_003, i)
    };
    let text: String = (first..first + triples).map(triple).collect();
    let source = Source::bytes("data.nt", text).with_format(RdfFormat::NTriples);
    let progress = Arc::new(LoadProgress::default());
    lode_store::load(open(vfs).store(), vec![source], LoadOptions::default(), &progress).unwrap();
}

pub fn insert(database: &Database, number: usize) {
    let text = format!("INSERT DATA {{ <http://e/new{number}> <http://e/p> {number} }}");
    database.update(&text, &UpdateOptions::default()).unwrap();
}

/// All triples, sorted.
pub fn contents(database: &Database) -> Result<Vec<String>, lode_engine::EngineError> {
    let results = database.query("SELECT ?s ?p ?o { ?s ?p ?o }", &QueryOptions::default())?;
    let QueryResults::Solutions(mut solutions) = results else { panic!("rows") };
    let mut rows: Vec<String> = solutions.collect_rows()?.iter().map(|row| format!("{row:?}")).collect();
    rows.sort_unstable();
    Ok(rows)
}

pub fn store(vfs: &MemVfs) -> FolderStore {
    FolderStore::new(shared(vfs), Path::new(STORE))
}

pub fn try_publish(
    vfs: &MemVfs,
    store: &dyn ObjectStore,
    options: &PublishOptions,
) -> Result<PublishReport, RemoteError> {
    let (cancel, progress) = (CancelToken::default(), PublishProgress::default());
    let report = lode_remote::publish(&shared(vfs), Path::new(DATABASE), store, options, &cancel, &progress)?;
    let (done, total) = progress.bytes();
    assert!(done == total || report.was_there, "{done} of {total}");
    Ok(report)
}

pub fn publish(vfs: &MemVfs, store: &dyn ObjectStore) -> PublishReport {
    try_publish(vfs, store, &PublishOptions::default()).unwrap()
}

/// Opens what is published.
pub fn read(store: Arc<dyn ObjectStore>, options: &ReadOptions) -> Result<Published, RemoteError> {
    Published::open_store(store, Path::new("test://published"), options, Arc::new(MemVfs::new()))
}

/// The triples of a published version.
pub fn published_contents(published: &Published) -> Result<Vec<String>, lode_engine::EngineError> {
    contents(&published.database(&OpenOptions::with_cache(1 << 20), OpenFiles::WhenRead)?)
}

pub fn newest_contents(vfs: &MemVfs) -> Vec<String> {
    published_contents(&read(Arc::new(store(vfs)), &ReadOptions::default()).unwrap()).unwrap()
}

/// The object that is the manifest of a version.
pub fn manifest_key(number: u64) -> String {
    format!("manifest/{number:020}")
}

/// What those begin at who cannot list a store.
pub fn newest_copy(store: &dyn ObjectStore) -> PublishedVersion {
    PublishedVersion::decode(&store.get("manifest/latest", 1 << 20).unwrap(), "latest").unwrap()
}

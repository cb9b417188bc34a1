//! What is new is indexed where the database keeps an index of words (`lode text`) or of geometries (`lode geo`).

use crate::talk::say;
use lode_engine::store::{WordsOptions, index_words, keeps_words};
use lode_engine::{CancelToken, Database};

/// After a load, an update or a compaction: indexes what is new, if the database has indexes. What was written is durable already, so a failure is only told.
pub fn index_new(database: &Database, memory_bytes: usize) {
    if keeps_words(database.store()) {
        let options = WordsOptions { memory_bytes, force: false, cancel: CancelToken::default() };
        if let Err(error) = index_words(database.store(), &options) {
            say!("warning: all is written, but the words of new texts are not indexed: {error}");
        }
    }
    #[cfg(feature = "geo")]
    index_new_places(database, memory_bytes);
}

#[cfg(feature = "geo")]
fn index_new_places(database: &Database, memory_bytes: usize) {
    use crate::geo::tell_unreadable;
    use lode_engine::store::{PlacesOptions, index_places, keeps_places};
    if keeps_places(database.store()) {
        let options = PlacesOptions { memory_bytes, force: false, cancel: CancelToken::default() };
        match index_places(database.store(), &options) {
            Ok(report) => tell_unreadable(report.unreadable),
            Err(error) => say!("warning: all is written, but new geometries are not indexed: {error}"),
        }
    }
}

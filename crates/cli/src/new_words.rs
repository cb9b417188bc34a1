//! Words of what is new are indexed where the database keeps an index of words (`lode text`).

use crate::talk::say;
use lode_engine::store::{WordsOptions, index_words, keeps_words};
use lode_engine::{CancelToken, Database};

/// After a load, an update or a compaction: indexes what is new, if the database has indexes of words. What was written is durable already, so a failure is only told.
pub fn index_new(database: &Database, memory_bytes: usize) {
    if keeps_words(database.store()) {
        let options = WordsOptions { memory_bytes, force: false, cancel: CancelToken::default() };
        if let Err(error) = index_words(database.store(), &options) {
            say!("warning: all is written, but the words of new texts are not indexed: {error}");
        }
    }
}

//! Which texts a database has in its index of words: all, or those that stand behind some properties, or in some graphs. It is kept in the file that says that the database has one.

use crate::error::StoreError;
use crate::kept_indexes;
use crate::small_file::{read_file, replace_file};
use crate::store::Store;
use crate::word_files::WORDS;
use lode_base::cancel::CancelToken;

/// Bytes that the file may have.
const BYTES_MAX: usize = 1 << 20;
/// How the default graph is written.
pub(super) const DEFAULT_GRAPH: &str = "default";

/// The texts that an index has: objects of these properties in these graphs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WordsOf {
    /// IRIs of properties; none: of all.
    pub predicates: Vec<String>,
    /// IRIs of graphs, and `default`; none: in all.
    pub graphs: Vec<String>,
}

impl WordsOf {
    /// Whether that is every text.
    pub fn is_all(&self) -> bool {
        self.predicates.is_empty() && self.graphs.is_empty()
    }

    fn text(&self) -> String {
        let lines = |name: &str, values: &[String]| -> String {
            values.iter().map(|value| format!("{name} {value}\n")).collect()
        };
        lines("predicate", &self.predicates) + &lines("graph", &self.graphs)
    }

    /// What a file says; what it does not say, or cannot, is all.
    fn read(text: &str) -> Self {
        let mut of = Self::default();
        for line in text.lines() {
            match line.split_once(' ') {
                Some(("predicate", iri)) => of.predicates.push(iri.to_owned()),
                Some(("graph", iri)) => of.graphs.push(iri.to_owned()),
                _ => return Self::default(),
            }
        }
        of
    }

    /// Each once, in order, so that the same is written in one way.
    fn sorted(&self) -> Self {
        let sorted = |values: &[String]| {
            let mut values = values.to_vec();
            values.sort_unstable();
            values.dedup();
            values
        };
        Self { predicates: sorted(&self.predicates), graphs: sorted(&self.graphs) }
    }
}

/// Which texts the database has in its index of words; none where it has none.
///
/// # Errors
///
/// Where the file that says so cannot be read.
pub fn words_of(store: &Store) -> Result<Option<WordsOf>, StoreError> {
    let path = store.folder().join(WORDS.kept_file);
    let text = read_file(&**store.vfs(), &path, BYTES_MAX)?;
    Ok(text
        .map(|text| String::from_utf8(text).map_or_else(|_| WordsOf::default(), |text| WordsOf::read(&text))))
}

/// From now on the database has these texts in an index of words; whether it had others in it, which is removed then. Who searches at the same time goes on with what was opened before.
///
/// # Errors
///
/// Where a file cannot be written, or it was cancelled.
pub fn keep_words_of(store: &Store, of: &WordsOf, cancel: &CancelToken) -> Result<bool, StoreError> {
    kept_indexes::in_turn(store, cancel, || {
        let (before, of) = (words_of(store)?, of.sorted());
        if before.as_ref() == Some(&of) {
            return Ok(false);
        }
        // What is there is of other texts. It goes first: an index that is missing is made again, whatever happens now.
        kept_indexes::remove_all(store, &WORDS)?;
        replace_file(&**store.vfs(), store.folder(), WORDS.kept_file, of.text().as_bytes())?;
        Ok(before.is_some())
    })
}

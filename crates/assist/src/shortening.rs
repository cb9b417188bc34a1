//! How IRIs of answers are written with prefixes.

use crate::answer::Prefix;
use lode_engine::Database;
use lode_rdf::serialize::Prefixes;
use lode_syntax::usual_prefixes;
use std::cmp::Reverse;
use std::sync::{Arc, LazyLock};

/// The usual ones; of several names for one namespace, the shortest.
static USUAL: LazyLock<Arc<Prefixes>> = LazyLock::new(|| {
    let mut all: Vec<_> = usual_prefixes().collect();
    all.sort_by_key(|(name, _)| (Reverse(name.len()), Reverse(*name)));
    Arc::new(Prefixes::new(all))
});

/// The prefixes that are kept with a database.
pub fn kept_prefixes(database: &Database) -> Vec<Prefix> {
    let prefix = |(name, iri): &(String, String)| Prefix { name: name.clone(), iri: iri.clone() };
    database.store().prefixes().iter().map(prefix).collect()
}

/// The usual prefixes, and others that count more, the last most.
pub fn prefixes_over_usual<'a>(others: impl IntoIterator<Item = &'a Prefix>) -> Prefixes {
    let others = others.into_iter().map(|prefix| (prefix.name.as_str(), prefix.iri.as_str()));
    Prefixes::over(Arc::clone(&USUAL), others)
}

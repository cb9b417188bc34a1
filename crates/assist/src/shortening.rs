//! How IRIs of answers are written with prefixes.

use crate::answer::Prefix;
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

/// The usual prefixes, and others that count more, the last most.
pub fn prefixes_over_usual<'a>(others: impl IntoIterator<Item = &'a Prefix>) -> Prefixes {
    let others = others.into_iter().map(|prefix| (prefix.name.as_str(), prefix.iri.as_str()));
    Prefixes::over(Arc::clone(&USUAL), others)
}

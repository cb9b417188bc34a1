//! The prefixes that were read last, which an open database holds (`kept_prefixes.rs` reads and writes them).

use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Names without the colon, and IRIs, sorted by name.
pub type KeptPrefixes = Arc<[(String, String)]>;

/// What was read last, and when.
#[derive(Debug, Default)]
pub(crate) struct LastPrefixes(pub Mutex<Option<(Instant, KeptPrefixes)>>);

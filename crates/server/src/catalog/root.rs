//! What the addresses share that are none of a database.

use super::Catalog;
use crate::state::Shared;
use std::sync::Arc;

/// The server and its databases.
pub(super) struct Root {
    pub(super) shared: Arc<Shared>,
    pub(super) catalog: Arc<Catalog>,
}

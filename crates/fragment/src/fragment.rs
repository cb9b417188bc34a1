//! A fragment: a sub-plan, and what it needs of its query.

use crate::error::FragmentError;
use lode_sparql::Plan;
use lode_sparql::plan::VisibleGraphs;
use lode_store::Snapshot;
use oxsdatatypes::DateTime;
use std::sync::Arc;

/// A sub-plan that can be run by ranges, with the ids of one version of a database as one process has them.
#[derive(Debug, Clone)]
pub struct Fragment {
    /// The random number of the database.
    pub database: u128,
    /// The number of the version.
    pub version: u64,
    /// `NOW()` of the query.
    pub now: DateTime,
    /// The graphs that there are for who asks; none: all.
    pub visible: Option<VisibleGraphs>,
    /// The sub-plan.
    pub plan: Arc<Plan>,
}

impl Fragment {
    /// Fails where `snapshot` is not the version that it is for.
    pub(crate) fn check_version(
        (database, version): (u128, u64),
        snapshot: &Snapshot,
    ) -> Result<(), FragmentError> {
        let number = snapshot.version_number();
        let found = match (snapshot.database_number() == database, number == version) {
            (true, true) => return Ok(()),
            (true, false) => format!("version {number}"),
            (false, _) => "another database".to_owned(),
        };
        Err(FragmentError::Version { wanted: version, found })
    }
}

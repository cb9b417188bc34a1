//! The stages of a query or an update, and how long each took.

use serde::{Serialize, Serializer};
use std::time::Duration;

/// What is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum WorkKind {
    #[default]
    Query,
    Update,
    Upload,
    Download,
}

impl WorkKind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Update => "update",
            Self::Upload => "upload",
            Self::Download => "download",
        }
    }
}

/// How long each stage took: until there was a place, to parse and plan, to compute and write the answer, and until the client had taken
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub(crate) struct Stages {
    #[serde(rename = "wait_seconds", serialize_with = "as_seconds")]
    pub(crate) wait: Duration,
    #[serde(rename = "plan_seconds", serialize_with = "as_seconds")]
    pub(crate) plan: Duration,
    #[serde(rename = "execute_seconds", serialize_with = "as_seconds")]
    pub(crate) execute: Duration,
    #[serde(rename = "deliver_seconds", serialize_with = "as_seconds")]
    pub(crate) deliver: Duration,
}

impl Stages {
    /// With their names.
    pub(super) fn named(&self) -> [(&'static str, Duration); 4] {
        [("wait", self.wait), ("plan", self.plan), ("execute", self.execute), ("deliver", self.deliver)]
    }
}

fn as_seconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}

/// What an update or an upload has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Change {
    pub(crate) inserted: u64,
    pub(crate) deleted: u64,
    pub(crate) version: u64,
}

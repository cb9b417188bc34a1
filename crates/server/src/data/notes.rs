//! What is noted of work on graphs, for those who watch.

use crate::observe::{Change, Record, WorkKind};
use axum::http::Method;
use std::time::Duration;

/// What is done, for those who watch.
pub(super) fn kind(method: &Method) -> WorkKind {
    if [Method::PUT, Method::POST, Method::DELETE].contains(method) {
        WorkKind::Upload
    } else {
        WorkKind::Download
    }
}

/// Notes what has changed.
pub(crate) fn changed(inserted: u64, deleted: u64, version: u64) {
    if let Some(record) = Record::current() {
        record.note_change(Change { inserted, deleted, version });
        record.note_written(Duration::ZERO);
    }
}

/// Notes that the work begins.
pub(super) fn begun() {
    if let Some(record) = Record::current() {
        record.note_begun();
    }
}

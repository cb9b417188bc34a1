//! Who reads files: how urgent it is, who may call it off, and where it keeps what it reads.

use crate::error::PackedError;
use lode_base::block_cache::BlockCache;
use lode_base::block_source::{ReadError, Reading};
use lode_base::cancel::CancelToken;
use std::sync::Arc;

/// A context, shared by all that it has open.
#[derive(Debug, Default)]
pub struct ReadContext {
    reading: Reading,
    /// A cache of its own, which leaves that of the others as it is.
    aside: Option<Arc<BlockCache>>,
}

static ANYBODY: Reading = Reading::IN_FRONT;

impl ReadContext {
    /// For a query, whose reads end with it.
    pub fn of_query(cancel: &CancelToken) -> Arc<Self> {
        Arc::new(Self { reading: Reading::of_query(cancel), aside: None })
    }

    /// For who reads all of something once: gives way to queries, and keeps what it reads in a cache of its own. Where it is part of
    /// another's work, that may be cancelled.
    pub fn aside(cache: &Arc<BlockCache>, other: Option<&Arc<Self>>) -> Arc<Self> {
        let cancel = other.and_then(|other| other.reading.cancel.clone());
        Arc::new(Self { reading: Reading { cancel, ..Reading::BEHIND }, aside: Some(Arc::clone(cache)) })
    }

    /// For work in the background that fills the cache of all: gives way to queries.
    pub fn in_background(cancel: &CancelToken) -> Arc<Self> {
        let reading = Reading { cancel: Some(cancel.clone()), ..Reading::BEHIND };
        Arc::new(Self { reading, aside: None })
    }

    /// How a context that may be unknown reads.
    pub(crate) fn reading(context: Option<&Arc<Self>>) -> &Reading {
        context.map_or(&ANYBODY, |context| &context.reading)
    }

    /// The cache of its own, if it has one.
    pub(crate) fn own_cache(context: Option<&Arc<Self>>) -> Option<&BlockCache> {
        context?.aside.as_deref()
    }
}

pub(crate) fn read_error(path: &Arc<str>) -> impl FnOnce(ReadError) -> PackedError {
    let path = Arc::clone(path);
    move |error| match error {
        ReadError::Io(source) => PackedError::Io { path, source },
        ReadError::Cancelled(cancelled) => PackedError::Cancelled(cancelled),
    }
}

//! Publishing one version after the other beside the writer of a database. Who else has begun to publish there is noticed also where nothing is to be
//! published.

use crate::error::RemoteError;
use crate::object::ObjectStore;
use crate::publish::{PublishOptions, PublishProgress, PublishReport, publish_store};
use crate::versions;
use lode_base::cancel::CancelToken;
use lode_store::{Store, publisher};
use std::sync::Arc;

/// Publishes what an open database becomes.
#[derive(Debug)]
pub struct Publishing {
    store: Arc<dyn ObjectStore>,
    /// What was published last.
    last: Option<PublishReport>,
}

impl Publishing {
    /// Publishes to a store.
    pub fn new(store: Arc<dyn ObjectStore>) -> Self {
        Self { store, last: None }
    }

    /// Publishes the present version of a database that is open for writing, unless that was done; what became of it.
    ///
    /// # Errors
    /// [`RemoteError::Conflict`] where another copy of the database has taken over: nothing of this one will ever be published there again.
    /// All else may go well the next time.
    pub fn step(
        &mut self,
        database: &Store,
        cancel: &CancelToken,
    ) -> Result<Option<PublishReport>, RemoteError> {
        let now = database.snapshot().version_number();
        if let Some(last) = self.last.as_ref().filter(|last| last.version == now) {
            self.look_for_others(database, last)?;
            return Ok(None);
        }
        let (options, progress) = (PublishOptions::default(), PublishProgress::default());
        let report = publish_store(database, &*self.store, &options, cancel, &progress)?;
        self.last = Some(report.clone());
        Ok(Some(report))
    }

    fn look_for_others(&self, database: &Store, last: &PublishReport) -> Result<(), RemoteError> {
        let next = versions::read(&*self.store, last.number.saturating_add(1))?;
        let own = publisher(&**database.vfs(), database.folder())?;
        match next.filter(|next| next.epoch != last.epoch || next.publisher != own) {
            None => Ok(()),
            Some(next) => Err(RemoteError::Conflict {
                address: self.store.name().to_owned(),
                what: format!(
                    "version {} there was published by another copy of this database, which has taken over (epoch {}, after {} of this one)",
                    next.number, next.epoch, last.epoch
                ),
            }),
        }
    }
}

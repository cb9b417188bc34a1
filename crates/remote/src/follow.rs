//! A reader that follows: whenever a newer version is published, an open database goes on to it. What it has is shared, what is new is opened first, and where
//! that fails it stays with what it has.

use crate::error::RemoteError;
use crate::opening::{KnownSegments, Opening, known_segments};
use crate::version::PublishedVersion;
use crate::versions;
use lode_base::cancel::{self, CancelToken};
use lode_base::vfs::Vfs;
use lode_store::{Course, Store};
use std::path::PathBuf;
use std::sync::Arc;

/// Follows what is published at an address.
#[derive(Debug)]
pub struct Follower {
    opening: Opening,
    root: PathBuf,
    beside: Arc<dyn Vfs>,
    version: PublishedVersion,
    known: KnownSegments,
}

impl Follower {
    pub fn new(
        opening: Opening,
        root: PathBuf,
        beside: Arc<dyn Vfs>,
        (version, known): (PublishedVersion, KnownSegments),
    ) -> Self {
        Self { opening, root, beside, version, known }
    }

    /// The version that the database has.
    pub fn version(&self) -> &PublishedVersion {
        &self.version
    }

    /// Looks for a newer version, and has the database go on to it, which was opened by [`Published::database`](crate::Published::database); whether there was one.
    ///
    /// # Errors
    /// Where the store cannot be reached, the newer version is damaged or not all there, or what is served is not published any more. Then the database
    /// stays as it is; the next look may find more.
    pub fn look(&mut self, database: &Store, cancel: &CancelToken) -> Result<bool, RemoteError> {
        cancel::with_current(Some(cancel), || self.look_now(database))
    }

    fn look_now(&mut self, database: &Store) -> Result<bool, RemoteError> {
        let newest = self.newest()?;
        if newest == self.version {
            return Ok(false);
        }
        let segments = self.opening.segments(&newest, &self.known)?;
        let known = known_segments(&newest, &segments);
        let files = self.opening.files(&self.root, &newest, segments, Arc::clone(&self.beside));
        let vfs: Arc<dyn Vfs> = Arc::new(files);
        let is_same = newest.epoch == self.version.epoch && newest.publisher == self.version.publisher;
        database.follow(&vfs, if is_same { Course::Same } else { Course::Other })?;
        (self.version, self.known) = (newest, known);
        Ok(true)
    }

    /// The newest version. Those right behind the present one may have been removed meanwhile, and the copy of the newest may be behind, so both are asked.
    fn newest(&self) -> Result<PublishedVersion, RemoteError> {
        let (store, own) = (&*self.opening.store, &self.version);
        // One that is damaged will be replaced; what comes after the present version tells more.
        let copy = match versions::copy(store) {
            Err(error @ RemoteError::Damaged { .. }) => {
                let newest = versions::after(store, own.clone())?;
                return if newest == *own { Err(error) } else { Ok(newest) };
            }
            copy => copy?,
        };
        match copy {
            Some(copy) if copy.number > own.number => versions::after(store, copy),
            Some(copy) if copy == *own => versions::after(store, copy),
            copy => {
                let newest = versions::after(store, own.clone())?;
                let is_gone = newest == *own && versions::read(store, own.number)?.as_ref() != Some(own);
                if !is_gone {
                    return Ok(newest);
                }
                let newest =
                    copy.map_or_else(|| "nothing".to_owned(), |copy| format!("version {}", copy.number));
                let what = format!(
                    "version {}, which is served, is not published any more, and the newest there is {newest}: somebody has put something else in its \
                     place. Start the server anew to serve that",
                    own.number
                );
                Err(RemoteError::Conflict { address: store.name().to_owned(), what })
            }
        }
    }
}

//! Databases on object storage: numbered versions of a database are published as objects that never change, and read in place.
//!
//! `docs/format.md` has the layout; why it is so is in `docs/design/038-object-storage.md`. [`publish()`] writes a version, [`Published`] reads one:
//! a [`Vfs`](lode_base::vfs::Vfs) in which the objects stand where the files of the database would, so that the store above is the same.

mod address;
mod cache;
mod check;
#[cfg(feature = "object-store")]
mod cloud;
mod collect;
mod counters;
mod error;
mod extents;
mod files;
mod folder;
mod follow;
mod index;
mod keys;
mod load;
mod object;
mod opening;
mod place;
mod publish;
mod published;
mod publishing;
mod restore;
mod retry;
mod version;
mod versions;
mod web;

pub use address::Address;
pub use check::{ObjectProblem, ObjectRemedy, PublishedCheck, check};
#[cfg(feature = "object-store")]
pub use cloud::CloudStore;
pub use collect::{CollectOptions, CollectReport, collect};
pub use counters::{RemoteCounters, RemoteSample};
pub use error::RemoteError;
pub use folder::FolderStore;
pub use follow::Follower;
pub use load::{LoadPlace, begin_load, publish_load};
pub use object::ObjectStore;
pub use publish::{PublishOptions, PublishProgress, PublishReport, publish, publish_folder, publish_store};
pub use published::{CacheOptions, Published, ReadOptions};
pub use publishing::Publishing;
pub use restore::restore;
pub use version::PublishedVersion;
pub use versions::{Wanted, list_versions, newest};
pub use web::{WebOptions, WebStore};

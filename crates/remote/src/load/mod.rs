//! Loads by several processes whose database is a published one: their tasks, what these write, and the segments are objects, so that workers need
//! nothing in common but the store and the files that are loaded.
//!
//! The work is below one key (`load/...`). A task writes on a disk of its machine, and what it wrote becomes objects before it counts; what others wrote
//! is fetched when it is read. Finished segments go where those of published versions are, and the last step puts the manifest of the first version where
//! none is.

mod fetched_file;
mod publish_load;
mod work_files;
mod work_place;

pub use publish_load::{begin_load, publish_load};
pub use work_place::LoadPlace;

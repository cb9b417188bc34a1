//! What users get: static binaries in archives and Debian packages, the context of a container's image, a bill of materials, and the
//! check of licences. Everything is made by this code alone, so that nothing but a compiler has to be installed, and the same source
//! makes the same bytes.

mod archive;
mod binary;
mod content;
pub mod debian;
mod dist;
pub mod licences;
mod metadata;
mod sbom;
mod spdx;
mod third_party;

pub use binary::Target;
pub use content::Content;
pub use dist::{Asked, dist};
pub use metadata::Metadata;

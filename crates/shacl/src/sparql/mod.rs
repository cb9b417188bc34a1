//! Queries of the shapes graph, made parts of ours: checked by the rules for pre-bound variables (SHACL, appendix A), with names written out, so that
//! they mean the same in any place.

mod path;
mod rules;
mod splice;

pub use path::{uses_path, with_path};
pub use splice::{Body, body};

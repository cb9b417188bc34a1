//! Databases that can only be folders.

use clap::builder::{PathBufValueParser, TypedValueParser};
use lode_engine::web::is_url;
use std::path::{Path, PathBuf};

/// A folder, as an argument.
pub fn folder() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match refusal(&path) {
        Some(refusal) => Err(refusal),
        None => Ok(path),
    })
}

/// What is said where an address stands for a folder: it would be made one, `http:`, and below it the rest.
pub fn refusal(path: &Path) -> Option<String> {
    let address = path.to_str().filter(|text| is_url(text))?;
    Some(format!(
        "this command takes the folder of a database, and not the address of a server: documents are sent to one by \
         `curl -T FILE '{address}/data?default'`, or by .load in `lode shell {address}`"
    ))
}

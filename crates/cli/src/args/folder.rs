//! Databases that can only be folders.

use clap::builder::{PathBufValueParser, TypedValueParser};
use lode_engine::web::is_url;
use std::path::PathBuf;

/// A folder. An address would otherwise be made one: `http:`, and below it the rest.
pub fn folder() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match path.to_str().filter(|text| is_url(text)) {
        Some(address) => Err(format!(
            "this command takes the folder of a database, and not the address of a server: documents are sent to one by \
             `curl -T FILE '{address}/data?default'`, or by .load in `lode shell {address}`"
        )),
        None => Ok(path),
    })
}

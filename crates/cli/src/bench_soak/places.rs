//! The folders of a soak.

use std::path::PathBuf;

/// Where the parts of a soak are.
pub struct Places {
    pub database: PathBuf,
    pub backups: PathBuf,
    pub restored: PathBuf,
}

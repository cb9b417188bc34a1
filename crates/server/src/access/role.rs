//! Roles: read, update, administer.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What somebody may do. Each role may do what those before it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Queries and downloads.
    Read,
    /// Updates and uploads.
    Update,
    /// The administration.
    Admin,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Update => "update",
            Self::Admin => "admin",
        })
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "read" => Ok(Self::Read),
            "update" => Ok(Self::Update),
            "admin" => Ok(Self::Admin),
            _ => Err("expected read, update or admin".to_owned()),
        }
    }
}

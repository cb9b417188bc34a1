//! A kept query: its text, its parameters, who may run it, and what it may take.

use super::value::Kind;
use crate::access::{Identity, Role};
use crate::limits::RoleLimits;
use serde::{Deserialize, Serialize};

/// A query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeptQuery {
    pub(super) text: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) description: String,
    #[serde(default)]
    pub(super) role: Runner,
    /// As a command line has them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) limits: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) parameters: Vec<Parameter>,
}

/// Who may run it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Runner {
    /// Everybody, also where nothing else is for everybody.
    Anybody,
    /// Who may read.
    #[default]
    Read,
    /// Who may update.
    Update,
    /// Who may administer.
    Admin,
}

impl Runner {
    pub(super) fn of_name(name: &str) -> Option<Self> {
        match name {
            "anybody" => Some(Self::Anybody),
            "read" => Some(Self::Read),
            "update" => Some(Self::Update),
            "admin" => Some(Self::Admin),
            _ => None,
        }
    }

    /// Whether somebody may run it.
    pub(super) fn includes(self, identity: &Identity) -> bool {
        let needed = match self {
            Self::Anybody => return true,
            Self::Read => Role::Read,
            Self::Update => Role::Update,
            Self::Admin => Role::Admin,
        };
        identity.role.is_some_and(|role| role >= needed)
    }
}

/// A parameter: a variable of the query whose value comes with each request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Parameter {
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) kind: Kind,
    /// The value where none comes; without it, one must come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) default: Option<String>,
}

impl KeptQuery {
    /// What it may take, which was looked at when it was kept.
    pub(super) fn role_limits(&self) -> RoleLimits {
        self.limits.parse().unwrap_or_default()
    }

    /// Bytes of it, about.
    pub(super) fn bytes(&self) -> usize {
        let parameters = self.parameters.iter();
        let parameters =
            parameters.map(|one| one.name.len() + one.default.as_ref().map_or(0, String::len) + 128);
        self.text.len() + self.description.len() + self.limits.len() + parameters.sum::<usize>() + 256
    }
}

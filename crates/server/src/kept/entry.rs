//! A kept query: its text, its parameters, who may run it, and what it may take.

use super::value::Kind;
use crate::access::{Identity, Role};
use crate::limits::RoleLimits;
use serde::{Deserialize, Serialize};

/// A query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeptQuery {
    pub(crate) text: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) description: String,
    #[serde(default)]
    pub(crate) role: Runner,
    /// As a command line has them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) limits: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) parameters: Vec<Parameter>,
}

/// Who may run it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Runner {
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
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        match name {
            "anybody" => Some(Self::Anybody),
            "read" => Some(Self::Read),
            "update" => Some(Self::Update),
            "admin" => Some(Self::Admin),
            _ => None,
        }
    }

    /// Whether somebody may run it.
    pub(crate) fn includes(self, identity: &Identity) -> bool {
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
pub(crate) struct Parameter {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) kind: Kind,
    /// The value where none comes; without it, one must come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) default: Option<String>,
}

impl KeptQuery {
    /// What it may take, which was looked at when it was kept.
    pub(crate) fn role_limits(&self) -> RoleLimits {
        self.limits.parse().unwrap_or_default()
    }

    /// Bytes of it, about.
    pub(crate) fn bytes(&self) -> usize {
        let parameters = self.parameters.iter();
        let parameters =
            parameters.map(|one| one.name.len() + one.default.as_ref().map_or(0, String::len) + 128);
        self.text.len() + self.description.len() + self.limits.len() + parameters.sum::<usize>() + 256
    }
}

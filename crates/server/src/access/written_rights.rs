//! Rights as the file of users has them.

use super::grant::Written;
use super::rights::Rights;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name of who does not log in. No user is called so.
pub(super) const ANONYMOUS: &str = "anonymous";
/// Rights as the file has them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Standing {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) role: Option<Written>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) databases: BTreeMap<String, Written>,
}

impl Standing {
    pub(super) fn rights(&self) -> Rights {
        rights_of(self.role.as_ref(), &self.databases).unwrap_or_default()
    }
}

/// The rights that are written: `Users::check` has refused a file of others.
pub(super) fn rights_of(
    role: Option<&Written>,
    databases: &BTreeMap<String, Written>,
) -> Result<Rights, String> {
    let all = role.map(Written::grant).transpose()?;
    let single = databases.iter().map(|(name, written)| Ok((name.clone(), written.grant()?)));
    Ok(Rights { all, databases: single.collect::<Result<_, String>>()? })
}

/// How rights are written.
pub(super) fn written(rights: &Rights) -> (Option<Written>, BTreeMap<String, Written>) {
    let databases = rights.databases.iter().map(|(name, grant)| (name.clone(), grant.into()));
    (rights.all.as_ref().map(Written::from), databases.collect())
}

//! A role with the graphs that it is for.

use super::role::Role;
use lode_engine::{GraphPattern, GraphRules, GraphSet};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What somebody may do in a database, or in all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Grant {
    pub(super) role: Role,
    /// The graphs that there are.
    pub(super) read: GraphSet,
    /// Those that may be changed, with a role that changes anything; unless said, those that may be read.
    pub(super) write: Option<GraphSet>,
}

impl From<Role> for Grant {
    fn from(role: Role) -> Self {
        Self { role, read: GraphSet::default(), write: None }
    }
}

impl Grant {
    /// The same for some graphs only.
    pub(super) fn with(self, graphs: &Graphs) -> Self {
        let read = graphs.read.clone().unwrap_or(self.read);
        Self { read, write: graphs.write.clone().or(self.write), ..self }
    }

    /// What it lets be read and changed.
    pub(super) fn rules(&self) -> GraphRules {
        let write = match self.role {
            Role::Read => GraphSet::none(),
            Role::Update | Role::Admin => self.write.clone().unwrap_or_else(|| self.read.clone()),
        };
        GraphRules { read: self.read.clone(), write }
    }

    /// What one of two lets be done.
    #[cfg(feature = "tls")]
    pub(super) fn or(&self, other: &Self) -> Self {
        let (mine, theirs) = (self.rules(), other.rules());
        let (role, write) = (self.role.max(other.role), mine.write.or(&theirs.write));
        Self { role, read: mine.read.or(&theirs.read), write: (role > Role::Read).then_some(write) }
    }

    /// Why there cannot be such a grant, if so.
    pub(super) fn problem(&self) -> Option<&'static str> {
        let is_free = self.read.is_all() && self.write.as_ref().is_none_or(GraphSet::is_all);
        match self.role {
            Role::Admin if !is_free => {
                Some("the role admin is for all graphs: rules for graphs go with read and update")
            }
            Role::Read if self.write.is_some() => {
                Some("the role read changes no graph: graphs to be changed go with update")
            }
            _ => None,
        }
    }
}

/// `update (graphs default, http://e/*; changes http://e/own)`.
impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { role, read, write } = self;
        let list = |set: &GraphSet| match set.patterns() {
            None => "all".to_owned(),
            Some([]) => "none".to_owned(),
            Some(patterns) => patterns.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        };
        match (read.is_all(), write) {
            (true, None) => write!(f, "{role}"),
            (_, None) => write!(f, "{role} (graphs {})", list(read)),
            (_, Some(write)) => write!(f, "{role} (graphs {}; changes {})", list(read), list(write)),
        }
    }
}

/// Graphs as they are asked for: what is not said stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Graphs {
    /// Those that there are.
    pub read: Option<GraphSet>,
    /// Those that may be changed.
    pub write: Option<GraphSet>,
}

impl Graphs {
    /// Reads lists of patterns: IRIs, beginnings of them with `*` at the end, and `default`; or `all` or `none` alone. An empty list says nothing.
    ///
    /// # Errors
    /// What is none of these.
    pub fn parse(read: &[String], write: &[String]) -> Result<Self, String> {
        Ok(Self { read: parse(read)?, write: parse(write)? })
    }
}

fn parse(texts: &[String]) -> Result<Option<GraphSet>, String> {
    match texts {
        [] => Ok(None),
        [one] if one == "all" => Ok(Some(GraphSet::default())),
        [one] if one == "none" => Ok(Some(GraphSet::none())),
        texts => {
            let alone = texts.iter().find(|text| ["all", "none"].contains(&text.as_str()));
            if let Some(alone) = alone {
                return Err(format!("{alone} stands alone, without other graphs"));
            }
            let patterns: Result<Vec<GraphPattern>, String> = texts.iter().map(|text| text.parse()).collect();
            Ok(Some(GraphSet::of(patterns?)))
        }
    }
}

/// How a grant is written in the file: the name of its role, where that is all there is to say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Written {
    Role(Role),
    Ruled(Ruled),
}

/// A grant with rules for graphs, which are patterns, or `all`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ruled {
    role: Role,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    graphs: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    write_graphs: Option<Vec<String>>,
}

impl From<&Grant> for Written {
    fn from(grant: &Grant) -> Self {
        if grant.read.is_all() && grant.write.is_none() {
            return Self::Role(grant.role);
        }
        let texts = |set: &GraphSet| match set.patterns() {
            None => vec!["all".to_owned()],
            Some(patterns) => patterns.iter().map(ToString::to_string).collect(),
        };
        Self::Ruled(Ruled {
            role: grant.role,
            graphs: (!grant.read.is_all()).then(|| texts(&grant.read)),
            write_graphs: grant.write.as_ref().map(texts),
        })
    }
}

impl Written {
    /// What is written.
    pub(super) fn grant(&self) -> Result<Grant, String> {
        let Ruled { role, graphs, write_graphs } = match self {
            Self::Role(role) => return Ok(Grant::from(*role)),
            Self::Ruled(ruled) => ruled,
        };
        // An empty list is one of no graphs.
        let set = |texts: &Option<Vec<String>>| match texts.as_deref() {
            None => Ok(None),
            Some([]) => Ok(Some(GraphSet::none())),
            Some(texts) => parse(texts),
        };
        let grant = Grant::from(*role).with(&Graphs { read: set(graphs)?, write: set(write_graphs)? });
        grant.problem().map_or(Ok(()), |problem| Err(problem.to_owned()))?;
        Ok(grant)
    }
}

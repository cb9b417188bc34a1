//! The rules that come with the program.

use super::{Rule, RuleError, parse_rules};
use crate::schema::{SchemaRule, SchemaRules};

/// A set of rules by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleSet {
    /// RDF Schema.
    Rdfs,
    /// What run-time reasoning calls so.
    RdfsPlus,
    /// OWL 2 RL.
    Owl2Rl,
    /// SKOS.
    Skos,
}

impl RuleSet {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Rdfs, Self::RdfsPlus, Self::Owl2Rl, Self::Skos];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rdfs => "rdfs",
            Self::RdfsPlus => "rdfs-plus",
            Self::Owl2Rl => "owl2-rl",
            Self::Skos => "skos",
        }
    }

    /// The set of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|set| set.name() == name)
    }

    /// Its text.
    pub fn text(self) -> &'static str {
        match self {
            Self::Rdfs => include_str!("sets/rdfs.rq"),
            Self::RdfsPlus => include_str!("sets/rdfs-plus.rq"),
            Self::Owl2Rl => include_str!("sets/owl2-rl.rq"),
            Self::Skos => include_str!("sets/skos.rq"),
        }
    }

    /// What it says must not be, if it says something of that.
    pub fn contradictions(self) -> Option<&'static str> {
        match self {
            Self::Rdfs | Self::RdfsPlus => None,
            Self::Owl2Rl => Some(include_str!("sets/owl2-rl-false.rq")),
            Self::Skos => Some(include_str!("sets/skos-false.rq")),
        }
    }

    /// Its rules.
    ///
    /// # Errors
    /// Never, of the texts that there are.
    pub fn rules(self) -> Result<Vec<Rule>, RuleError> {
        let mut rules = parse_rules(self.text())?;
        if let Some(text) = self.contradictions() {
            rules.extend(parse_rules(text)?);
        }
        Ok(rules)
    }
}

/// The rules by which reasoning at run time finds what it finds: for explanations, nothing applies them.
///
/// # Errors
/// Never, of the text that there is.
pub fn run_time(rules: SchemaRules) -> Result<Vec<Rule>, RuleError> {
    let mut all = parse_rules(include_str!("sets/run-time.rq"))?;
    all.retain(|rule| {
        let name = rule.name.split('-').next().unwrap_or_default();
        SchemaRule::ALL.iter().any(|(known, its)| *its == name && rules.has(*known))
    });
    Ok(all)
}

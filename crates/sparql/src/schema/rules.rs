//! Which rules of RDF Schema and OWL are asked for.

use std::fmt;
use std::str::FromStr;

/// A rule by which a query finds more than what was stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SchemaRule {
    /// Instances of a class are those of the classes above it (rdfs9, rdfs11).
    SubClass,
    /// What a property relates is related by the properties above it (rdfs5, rdfs7).
    SubProperty,
    /// Subjects of a property are instances of its domain (rdfs2).
    Domain,
    /// Objects of a property are instances of its range (rdfs3).
    Range,
    /// What a property relates is related by its inverse, the other way round.
    Inverse,
    /// A symmetric property relates both ways.
    Symmetric,
    /// What a transitive property relates in several steps it relates in one.
    Transitive,
}

impl SchemaRule {
    /// All of them, with their names.
    pub const ALL: [(Self, &'static str); 7] = [
        (Self::SubClass, "subclass"),
        (Self::SubProperty, "subproperty"),
        (Self::Domain, "domain"),
        (Self::Range, "range"),
        (Self::Inverse, "inverse"),
        (Self::Symmetric, "symmetric"),
        (Self::Transitive, "transitive"),
    ];

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// Sets of rules that have names.
const SETS: [(&str, &[SchemaRule]); 3] = [
    ("hierarchies", &[SchemaRule::SubClass, SchemaRule::SubProperty]),
    ("rdfs", &[SchemaRule::SubClass, SchemaRule::SubProperty, SchemaRule::Domain, SchemaRule::Range]),
    (
        "rdfs-plus",
        &[
            SchemaRule::SubClass,
            SchemaRule::SubProperty,
            SchemaRule::Domain,
            SchemaRule::Range,
            SchemaRule::Inverse,
            SchemaRule::Symmetric,
            SchemaRule::Transitive,
        ],
    ),
];

/// A set of rules. As text: names of rules or of sets, with commas between them, or `none`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct SchemaRules(u8);

impl SchemaRules {
    /// These rules.
    pub fn of(rules: &[SchemaRule]) -> Self {
        Self(rules.iter().fold(0, |bits, rule| bits | rule.bit()))
    }

    /// Whether a rule is one of them.
    pub fn has(self, rule: SchemaRule) -> bool {
        self.0 & rule.bit() != 0
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl FromStr for SchemaRules {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut rules = Self::default();
        for name in text.split(',').map(str::trim) {
            let set = SETS.iter().find(|(set, _)| *set == name).map(|(_, rules)| Self::of(rules));
            let rule =
                SchemaRule::ALL.iter().find(|(_, rule)| *rule == name).map(|(rule, _)| Self::of(&[*rule]));
            rules.0 |= match (set.or(rule), name) {
                (Some(named), _) => named.0,
                (None, "none") => 0,
                (None, _) => return Err(unknown(name)),
            };
        }
        Ok(rules)
    }
}

fn unknown(name: &str) -> String {
    let sets: Vec<&str> = SETS.iter().map(|(name, _)| *name).collect();
    let rules: Vec<&str> = SchemaRule::ALL.iter().map(|(_, name)| *name).collect();
    format!(
        "no rules are called `{name}`: there are {}, the single rules {}, and none; several have commas between them",
        sets.join(", "),
        rules.join(", ")
    )
}

impl fmt::Display for SchemaRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((name, _)) = SETS.iter().find(|(_, rules)| Self::of(rules) == *self) {
            return f.write_str(name);
        }
        let names: Vec<&str> =
            SchemaRule::ALL.iter().filter(|(rule, _)| self.has(*rule)).map(|(_, name)| *name).collect();
        f.write_str(if names.is_empty() { "none" } else { "" })?;
        f.write_str(&names.join(","))
    }
}

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

/// Sets of rules that have names, and what they add.
const SETS: [(&str, SchemaRules, &str); 4] = [
    ("none", SchemaRules::of(&[]), "only what was stated"),
    (
        "hierarchies",
        SchemaRules::HIERARCHIES,
        "also what is of a class or a property below the one that is asked for",
    ),
    ("rdfs", SchemaRules::RDFS, "also the classes that domains and ranges of properties tell"),
    ("rdfs-plus", SchemaRules::RDFS_PLUS, "also by inverse, symmetric and transitive properties"),
];

/// A set of rules. As text: names of rules or of sets, with commas between them, or `none`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct SchemaRules(u8);

impl SchemaRules {
    /// Of classes and properties.
    pub const HIERARCHIES: Self = Self::of(&[SchemaRule::SubClass, SchemaRule::SubProperty]);
    /// Also domains and ranges: what RDF Schema says of data.
    pub const RDFS: Self = Self::HIERARCHIES.and(&[SchemaRule::Domain, SchemaRule::Range]);
    /// Also what OWL says of properties.
    pub const RDFS_PLUS: Self =
        Self::RDFS.and(&[SchemaRule::Inverse, SchemaRule::Symmetric, SchemaRule::Transitive]);

    /// These rules.
    pub const fn of(rules: &[SchemaRule]) -> Self {
        Self(0).and(rules)
    }

    const fn and(self, rules: &[SchemaRule]) -> Self {
        let (mut bits, mut i) = (self.0, 0);
        while i < rules.len() {
            bits |= rules[i].bit();
            i += 1;
        }
        Self(bits)
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

impl SchemaRules {
    /// The names of sets, for who offers them.
    pub fn set_names() -> impl Iterator<Item = &'static str> {
        SETS.iter().map(|(name, ..)| *name)
    }
}

impl FromStr for SchemaRules {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut rules = Self::default();
        for name in text.split(',').map(str::trim) {
            let set = SETS.iter().find(|(set, ..)| *set == name).map(|(_, rules, _)| *rules);
            let rule =
                SchemaRule::ALL.iter().find(|(_, rule)| *rule == name).map(|(rule, _)| Self::of(&[*rule]));
            rules.0 |= set.or(rule).ok_or_else(|| unknown(name))?.0;
        }
        Ok(rules)
    }
}

/// What there is, a line for each set, for who wrote another name or none.
fn unknown(name: &str) -> String {
    let wrong = match name {
        "" => "the name of rules is missing".to_owned(),
        // Sets for which more is needed than what a query finds while it runs.
        name @ ("owl2-rl" | "owl" | "skos") => {
            let set = if name == "owl" { "owl2-rl" } else { name };
            format!(
                "`{name}` is no set by which queries reason at run time, but one that is applied once: lode materialise DB --rules {set}"
            )
        }
        name => format!("no rules are called `{name}`"),
    };
    let sets: String = SETS.iter().map(|(name, _, adds)| format!("\n  {name:<12} {adds}")).collect();
    let rules: Vec<&str> = SchemaRule::ALL.iter().map(|(_, name)| *name).collect();
    format!("{wrong}; there are{sets}\nand single rules, with commas between them: {}", rules.join(", "))
}

impl fmt::Display for SchemaRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((name, ..)) = SETS.iter().find(|(_, rules, _)| rules == self) {
            return f.write_str(name);
        }
        let names: Vec<&str> =
            SchemaRule::ALL.iter().filter(|(rule, _)| self.has(*rule)).map(|(_, name)| *name).collect();
        f.write_str(&names.join(","))
    }
}

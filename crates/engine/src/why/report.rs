//! What is asked to be explained, and what an explanation tells.

use crate::options::QueryOptions;
use lode_rdf::Term;
use serde::Serialize;
use serde::ser::SerializeMap;

/// What is to be explained.
#[derive(Debug, Clone, PartialEq)]
pub enum Goal {
    /// That a triple holds. Blank nodes are those of the store, by the labels that it shows.
    Triple([Term; 3]),
    /// That the data are contradictory, by rules that say so.
    Contradiction,
}

/// How to explain.
#[derive(Clone)]
pub struct WhyOptions {
    /// What there is for who asks: graphs, reasoning at run time, memory, and what stops the work.
    pub evaluation: QueryOptions,
    /// So many proofs are told at most, the shortest first.
    pub proofs_max: usize,
    /// So many steps may be above each other.
    pub depth_max: usize,
    /// So many triples are looked at.
    pub facts_max: usize,
}

impl Default for WhyOptions {
    fn default() -> Self {
        Self { evaluation: QueryOptions::default(), proofs_max: 1, depth_max: 64, facts_max: 20_000 }
    }
}

/// Why something holds, or that it does not.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The triple; none of contradictions.
    pub triple: Option<Statement>,
    /// Whether it holds, as who asks sees the data; of contradictions: whether there is one.
    pub holds: bool,
    /// The graphs that have it as stated: names, or `default`.
    pub asserted: Vec<String>,
    /// Proofs, the shortest first. Of what does not hold they tell that it would, were rules applied to the data as they are now.
    pub proofs: Vec<Proof>,
    /// Whether all ways were looked at: if not, there may be shorter proofs, and others.
    pub is_complete: bool,
    /// Whether the data have changed since rules were applied.
    pub is_stale: bool,
    /// The rules by which something can follow: names of sets and texts.
    pub rules: Vec<String>,
    /// What would make it follow, of what does not hold.
    pub nearest: Vec<Nearest>,
    /// Triples that were looked at.
    pub facts: usize,
    /// Terms of the triple that are nowhere in the data: most likely they are misspelt.
    pub unknown: Vec<String>,
}

/// A triple.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Statement(pub [Term; 3]);

impl Serialize for Statement {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        for (name, term) in ["subject", "predicate", "object"].iter().zip(&self.0) {
            map.serialize_entry(name, &term.to_string())?;
        }
        map.end()
    }
}

/// A proof: steps, of which the first is what is proven. Each is stated, or follows from later ones.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Proof {
    /// How many steps are above each other at most, those that are stated aside.
    pub height: usize,
    /// The steps; a triple that is needed several times is there once.
    pub steps: Vec<Step>,
}

/// A step.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// What holds; none: it is a contradiction.
    pub triple: Option<Statement>,
    /// The graphs that have it as stated; then it needs no rule.
    pub asserted: Vec<String>,
    /// The rule by which it follows.
    pub rule: Option<RuleName>,
    /// From which steps, by their places in the list.
    pub premises: Vec<usize>,
    /// What else the rule asks that is so.
    pub conditions: Vec<String>,
}

/// A rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleName {
    /// Its set or text.
    pub source: String,
    /// Its name there.
    pub name: String,
    /// The line where it begins.
    pub line: usize,
}

/// A triple that is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Nearest {
    /// The rule by which what was asked for would follow.
    pub rule: RuleName,
    /// What is missing: three terms, or variables where any term would do.
    pub missing: [String; 3],
}

/// A contradiction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Contradiction {
    /// The rule that says so.
    pub rule: RuleName,
    /// What it takes, all of which is in the data or follows.
    pub triples: Vec<Statement>,
}

/// Whether data are contradictory.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Consistency {
    /// Rules that say what is contradictory.
    pub rules: usize,
    /// What is, in the sequence of the rules.
    pub contradictions: Vec<Contradiction>,
    /// Whether these are all.
    pub is_complete: bool,
    /// Whether the data have changed since rules were applied.
    pub is_stale: bool,
}

impl Consistency {
    /// How much is contradictory, in words; none where nothing is.
    pub fn told(&self) -> Option<String> {
        let more = if self.is_complete { "" } else { ", and there are more" };
        let count = match self.contradictions.len() {
            0 => return None,
            1 => "1 contradiction".to_owned(),
            many => format!("{many} contradictions"),
        };
        Some(format!("the data are contradictory: {count}{more}"))
    }
}

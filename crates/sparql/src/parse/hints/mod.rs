//! What a right query most likely does not mean, as far as its text tells, and what of it is to be looked up in the data.
//!
//! All is found in the tree of the text, so that each has its place: variables that nothing binds (`scope`), parts of a group that nothing joins
//! (`joins`), comparisons that are always errors (`comparisons`), and constants (`constants`). Nothing is said that may be right.

mod comparisons;
mod constants;
mod groups;
mod joins;
mod scope;
#[cfg(test)]
mod tests;

pub use constants::{Constant, InGraph, Role};
pub use joins::{Counted, Unjoined};

use super::lower::Lowering;
use super::{base_iri, vocabulary};
use groups::{Around, Names};
use lode_syntax::{At, Form, Node};
use std::collections::BTreeSet;
use std::ops::Range;

/// Longer texts are not looked at.
pub const BYTES_MAX: usize = 64 << 10;
/// So many of a kind are found at most.
const FOUND_MAX: usize = 32;

/// What a hint is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HintKind {
    /// A variable that nothing binds.
    UnboundVariable,
    /// A variable that is used once, and most likely is another one.
    MisspeltVariable,
    /// Parts of a group that have nothing in common.
    CartesianProduct,
    /// MINUS that removes nothing.
    MinusOfNothing,
    /// A comparison that is always an error, or never holds.
    ImpossibleComparison,
    /// A constant that no quad has, in its place.
    UnknownConstant,
    /// A pattern that only other graphs hold.
    OtherGraph,
}

impl HintKind {
    /// Its name in reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::UnboundVariable => "unbound-variable",
            Self::MisspeltVariable => "misspelt-variable",
            Self::CartesianProduct => "cartesian-product",
            Self::MinusOfNothing => "minus-of-nothing",
            Self::ImpossibleComparison => "impossible-comparison",
            Self::UnknownConstant => "unknown-constant",
            Self::OtherGraph => "other-graph",
        }
    }
}

/// Something that most likely is not meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// What it is about.
    pub kind: HintKind,
    /// Its bytes of the text.
    pub span: Range<usize>,
    /// What is the matter.
    pub message: String,
    /// What may be meant; empty where that is not known.
    pub help: String,
}

/// What was found in a text.
#[derive(Debug, Default)]
pub struct Findings {
    /// What needs no data.
    pub hints: Vec<Hint>,
    /// Constants of patterns.
    pub constants: Vec<Constant>,
    /// Parts that are not joined, which is harmless where they are small.
    pub unjoined: Vec<Unjoined>,
    /// The query has a dataset of its own.
    pub has_dataset: bool,
    /// Prefixes of the text, with what they stand for.
    pub prefixes: Vec<(String, String)>,
}

impl Findings {
    fn hint(&mut self, kind: HintKind, span: Range<usize>, message: String, help: String) {
        if self.hints.len() < FOUND_MAX {
            self.hints.push(Hint { kind, span, message, help });
        }
    }

    /// An IRI as the text would write it.
    pub fn short(&self, iri: &str) -> String {
        let local = |start: &str| {
            let local = iri.strip_prefix(start).filter(|_| !start.is_empty())?;
            let is_plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
            (local.chars().all(is_plain) && !local.starts_with('-')).then_some(local)
        };
        let known = self.prefixes.iter().filter_map(|(name, start)| Some((name, local(start)?)));
        match known.min_by_key(|(_, local)| local.len()) {
            Some((name, local)) => format!("{name}:{local}"),
            None => format!("<{iri}>"),
        }
    }
}

/// What a walk over the tree has found so far.
struct Walk<'t> {
    lowering: Lowering<'t>,
    found: Findings,
    /// Variables that stand in a pattern somewhere.
    bound: BTreeSet<&'t str>,
    /// Those of triples.
    in_triples: BTreeSet<&'t str>,
    /// Variables without a value where they stand.
    unbound: Vec<scope::Unbound<'t>>,
    is_ask: bool,
}

/// What there is to say of a query; nothing of a text that is none, or is long.
pub fn findings(text: &str, base: Option<&str>) -> Findings {
    let Ok(base) = base_iri(base) else { return Findings::default() };
    if text.len() > BYTES_MAX {
        return Findings::default();
    }
    let parsed = lode_syntax::parse(text, Form::Query, vocabulary());
    if !parsed.diagnostics.is_empty() {
        return Findings::default();
    }
    let lowering = Lowering::new(&parsed.tree, base);
    let (bound, in_triples) = (BTreeSet::new(), BTreeSet::new());
    let found = Findings::default();
    let mut walk = Walk { lowering, found, bound, in_triples, unbound: Vec::new(), is_ask: false };
    for at in parsed.tree.root().children() {
        match at.node() {
            Node::Base | Node::Prefix | Node::Version => {
                if walk.lowering.declaration(at).is_err() {
                    return Findings::default();
                }
            }
            _ => walk.form(at),
        }
    }
    walk.found.prefixes = walk.lowering.prefixes();
    walk.told_unbound();
    walk.misspelt(&parsed.tree);
    walk.found.hints.sort_by_key(|hint| hint.span.start);
    walk.found
}

impl<'t> Walk<'t> {
    fn form(&mut self, at: At<'t>) {
        self.is_ask = at.node() == Node::Ask;
        for from in at.children().filter(|part| part.node() == Node::From) {
            self.found.has_dataset = true;
            if let Some(iri) = from.first() {
                self.constant(iri, Role::Graph, InGraph::Any, true);
            }
        }
        let nothing = Names::new();
        let around = Around::new(&nothing);
        if at.node() == Node::Select {
            self.select(at, &around);
            return;
        }
        let mut names = match at.child(Node::Group) {
            Some(group) => self.group(group, &around),
            // `CONSTRUCT WHERE { ... }`: the template is the pattern. `DESCRIBE <x>` has none.
            None => at.child(Node::Template).map(|all| self.parts(all, &around)).unwrap_or_default(),
        };
        if at.node() == Node::Describe {
            for part in at.children().filter(|part| part.node() == Node::Variable) {
                self.used(part, &names, None, scope::Place::Selected);
            }
        }
        if at.child(Node::Group).is_some() {
            for triples in at.child(Node::Template).into_iter().flat_map(At::children) {
                self.made_of(triples, &names);
            }
        }
        self.modifiers(at, &mut names, &around);
    }

    /// Variables of what is constructed.
    fn made_of(&mut self, at: At<'t>, names: &Names<'t>) {
        if at.node() == Node::Variable {
            return self.used(at, names, None, scope::Place::Made);
        }
        for child in at.children() {
            crate::stack::room(|| self.made_of(child, names));
        }
    }
}

/// The name of a variable.
fn name(at: At<'_>) -> &str {
    at.text().trim_start_matches(['?', '$'])
}

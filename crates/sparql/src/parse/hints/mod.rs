//! What a right query most likely does not mean, as far as its text tells, and what of it is to be looked up in the data.
//!
//! All is found in the tree of the text, so that each has its place: variables that nothing binds (`scope`), parts of a group that nothing joins
//! (`joins`), comparisons that are always errors (`comparisons`), and constants (`constants`). Nothing is said that may be right.

mod comparisons;
mod constants;
mod found;
mod groups;
mod joins;
mod scope;
#[cfg(test)]
mod tests;
mod update;
mod walk;

pub use found::{Constant, Counted, Deleted, Findings, Hint, HintKind, InGraph, Role, Unjoined};
pub use update::findings_of_update;

use super::lower::Lowering;
use super::{base_iri, vocabulary};
use lode_syntax::{At, Form, Node};
use walk::{Around, Names, Place, Walk};

/// Longer texts are not looked at.
pub const BYTES_MAX: usize = 64 << 10;
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
    let mut walk = Walk::new(Lowering::new(&parsed.tree, base));
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
    walk.misspelt(&parsed.tree, 0..parsed.tree.tokens().len());
    walk.found.hints.sort_by_key(|hint| hint.span.start);
    walk.found
}

impl<'t> Walk<'t> {
    fn form(&mut self, at: At<'t>) {
        self.is_ask = at.node() == Node::Ask;
        for from in at.children().filter(|part| part.node() == Node::From) {
            self.has_dataset = true;
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
                self.used(part, &names, None, Place::Selected);
            }
        }
        if at.child(Node::Group).is_some() {
            for triples in at.child(Node::Template).into_iter().flat_map(At::children) {
                self.made_of(triples, &names, Place::Made);
            }
        }
        self.modifiers(at, &mut names, &around);
    }

    /// Variables of a template.
    fn made_of(&mut self, at: At<'t>, names: &Names<'t>, place: Place) {
        if at.node() == Node::Variable {
            return self.used(at, names, None, place);
        }
        for child in at.children() {
            crate::stack::room(|| self.made_of(child, names, place));
        }
    }
}

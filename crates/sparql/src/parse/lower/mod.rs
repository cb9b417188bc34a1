//! The tree of a text to the algebra (SPARQL 1.1 section 18.2, with what 1.2 adds).
//!
//! What the grammar does not say is decided here: names of prefixes, the scope of variables and of blank nodes, where aggregates may stand. Each error has
//! the place of what is wrong.

mod aggregates;
mod as_algebra;
mod chain;
mod expression;
mod group;
mod level;
mod links;
mod paths;
mod search;
mod select;
mod terms;
#[cfg(test)]
mod tests;
mod triples;
mod update;
mod visible;
mod wanted;

pub(super) use update::{Lowered, Modified};

use lode_rdf::{BlankNode, Variable};
use lode_syntax::{At, Node, Tree};
use oxiri_of_oxttl::Iri;
use spargebra::Query;
use std::collections::HashMap;
use std::ops::Range;

/// What is wrong, where, and what would be right.
#[derive(Debug)]
pub(super) struct Wrong {
    pub span: Range<usize>,
    pub message: String,
    pub help: String,
}

impl Wrong {
    fn at(at: At<'_>, message: impl Into<String>) -> Box<Self> {
        Box::new(Self { span: at.span(), message: message.into(), help: String::new() })
    }

    fn help(mut self: Box<Self>, help: impl Into<String>) -> Box<Self> {
        self.help = help.into();
        self
    }
}

/// Zeros before the number of a variable that is made.
const MADE_DIGITS: usize = 24;

type Result<T> = std::result::Result<T, Box<Wrong>>;

/// What holds where the walk over the tree is.
pub(super) struct Lowering<'t> {
    tree: &'t Tree<'t>,
    base: Option<Iri<String>>,
    prefixes: HashMap<&'t str, String>,
    /// The pattern that a label of a blank node stands in.
    labels: HashMap<&'t str, usize>,
    /// Patterns are numbered; the one here is this. None: labels have no scope, in templates.
    block: Option<usize>,
    blocks: usize,
    /// What is sent to another server is left as it is written.
    in_service: bool,
    aggregates: Vec<level::Level>,
    made: usize,
    /// What names of variables that are made begin with.
    mark: Option<String>,
}

impl<'t> Lowering<'t> {
    pub fn new(tree: &'t Tree<'t>, base: Option<Iri<String>>) -> Self {
        Self {
            tree,
            base,
            prefixes: HashMap::new(),
            labels: HashMap::new(),
            block: None,
            blocks: 0,
            in_service: false,
            aggregates: Vec::new(),
            made: 0,
            mark: None,
        }
    }

    /// The query that the tree is.
    pub fn query(&mut self) -> Result<Query> {
        let root = self.tree.root();
        for at in root.children() {
            match at.node() {
                Node::Base | Node::Prefix | Node::Version => self.declaration(at)?,
                _ => return self.form(at),
            }
        }
        Err(Wrong::at(root, "there is no query"))
    }

    /// The prefixes so far, and what they stand for.
    pub fn prefixes(&self) -> Vec<(String, String)> {
        self.prefixes.iter().map(|(name, iri)| ((*name).to_owned(), iri.clone())).collect()
    }

    pub(in crate::parse) fn declaration(&mut self, at: At<'t>) -> Result<()> {
        let Some(iri) = at.first() else { return Ok(()) };
        let resolved = self.reference(iri)?;
        match at.node() {
            Node::Base => self.base = Some(resolved),
            Node::Prefix => {
                // `PREFIX:` is of one token.
                let name = if at.tokens().len() == 2 { ":" } else { at.token(1) };
                self.prefixes.insert(name.trim_end_matches(':'), resolved.into_inner());
            }
            _ => {}
        }
        Ok(())
    }

    /// A variable that the text does not have. Its name is one of a variable, for SERVICE, and one that explanations leave out: a long number.
    fn fresh(&mut self) -> Variable {
        let text = self.tree.text();
        let mark = self.mark.get_or_insert_with(|| {
            let mut mark = "0".repeat(MADE_DIGITS);
            while text.contains(&format!("?{mark}")) || text.contains(&format!("${mark}")) {
                mark.push('0');
            }
            mark
        });
        self.made += 1;
        Variable::new_unchecked(format!("{mark}{:08x}", self.made))
    }

    /// A basic graph pattern begins: labels of blank nodes in it are its own.
    fn begin_block(&mut self) {
        self.blocks += 1;
        self.block = Some(self.blocks);
    }

    /// The blank node of a label.
    fn labelled(&mut self, at: At<'t>) -> Result<BlankNode> {
        let label = at.text().trim_start_matches("_:");
        if let Some(block) = self.block
            && *self.labels.entry(label).or_insert(block) != block
        {
            let message = format!("the blank node _:{label} is used in two patterns");
            let help = "a label is of one basic graph pattern, which OPTIONAL, BIND, VALUES and braces end: use a variable";
            return Err(Wrong::at(at, message).help(help));
        }
        Ok(BlankNode::new_unchecked(label))
    }
}

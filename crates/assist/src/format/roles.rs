//! What the tree knows of single tokens that decides how they are written.

use lode_syntax::{At, Node, Tree};

/// What tokens are part of, by their places.
pub(super) struct Roles {
    /// Of a path.
    in_path: Vec<bool>,
    /// A sign before its operand.
    unary: Vec<bool>,
    /// The last of a row of VALUES.
    ends_row: Vec<bool>,
    /// The IRI or name of a function that is called.
    called: Vec<bool>,
}

impl Roles {
    pub fn of(tree: &Tree<'_>) -> Self {
        let none = || vec![false; tree.tokens().len()];
        let mut roles = Self { in_path: none(), unary: none(), ends_row: none(), called: none() };
        // Without recursion: trees are deep.
        let mut open = vec![tree.root()];
        while let Some(node) = open.pop() {
            roles.note(node);
            open.extend(node.children());
        }
        roles
    }

    fn note(&mut self, node: At<'_>) {
        let tokens = node.tokens();
        let mark =
            |marks: &mut Vec<bool>, at: usize| marks.get_mut(at).into_iter().for_each(|mark| *mark = true);
        match node.node() {
            // What is around it is one already, most of the time.
            Node::Alternative | Node::Sequence | Node::Inverse | Node::Repeated | Node::Negated
                if !self.is_in_path(tokens.start) =>
            {
                tokens.for_each(|at| mark(&mut self.in_path, at));
            }
            Node::Unary => mark(&mut self.unary, tokens.start),
            Node::Row => mark(&mut self.ends_row, tokens.end.saturating_sub(1)),
            Node::IriCall => mark(&mut self.called, tokens.start),
            _ => {}
        }
    }

    pub fn is_in_path(&self, token: usize) -> bool {
        self.in_path.get(token).copied().unwrap_or(false)
    }

    pub fn is_unary(&self, token: usize) -> bool {
        self.unary.get(token).copied().unwrap_or(false)
    }

    pub fn ends_row(&self, token: usize) -> bool {
        self.ends_row.get(token).copied().unwrap_or(false)
    }

    pub fn is_called(&self, token: usize) -> bool {
        self.called.get(token).copied().unwrap_or(false)
    }
}

//! How much there is in a text.

use crate::tree::Node;

/// How much there is in a text: of its operations, in the one with most.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extent {
    /// Brackets in each other, and signs.
    pub depth: usize,
    /// Operators, and keywords that join patterns, outside of data.
    pub operators: usize,
    /// Brackets of all kinds, outside of data.
    pub brackets: usize,
}

impl Extent {
    /// The larger of each.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            depth: self.depth.max(other.depth),
            operators: self.operators.max(other.operators),
            brackets: self.brackets.max(other.brackets),
        }
    }

    pub(super) fn count(&mut self, node: Node) {
        match node {
            Node::Optional
            | Node::Minus
            | Node::Lateral
            | Node::Filter
            | Node::Bind
            | Node::Graph
            | Node::Service
            | Node::Values
            | Node::Unary
            | Node::In
            | Node::Inverse
            | Node::Repeated
            | Node::Negated
            | Node::As => self.operators += 1,
            Node::Group
            | Node::Parentheses
            | Node::Collection
            | Node::BlankProperties
            | Node::ReifiedTriple
            | Node::TripleTerm
            | Node::Call
            | Node::IriCall
            | Node::Aggregate => self.brackets += 1,
            _ => {}
        }
    }
}

//! The tree of a text: what its tokens are together.
//!
//! Tokens and nodes stand in one vector each, 8 bytes for a token and 12 for a node. A node stands before what is inside of it and knows how many nodes
//! that are, so the next one beside it is found by an addition. Nothing of the text is lost: what is between two tokens is white space and comments.

use crate::token::Token;
use std::ops::Range;

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Node {
    /// A whole query: the prologue, and one of the four forms.
    Query,
    /// A whole request: prologues and operations.
    Update,
    /// BASE: an IRI.
    Base,
    /// PREFIX: a name, an IRI.
    Prefix,
    /// VERSION.
    Version,
    /// SELECT: [`Node::Selection`], [`Node::From`]s, [`Node::Group`], modifiers. In a group, too.
    Select,
    /// CONSTRUCT: [`Node::Template`] or none, [`Node::From`]s, [`Node::Group`] or [`Node::Template`], modifiers.
    Construct,
    /// DESCRIBE: resources, [`Node::From`]s, [`Node::Group`] or none, modifiers.
    Describe,
    /// ASK: [`Node::From`]s, [`Node::Group`], modifiers.
    Ask,
    /// What a SELECT has, with its word: variables and [`Node::As`], or none for `*`.
    Selection,
    /// FROM or USING, NAMED or not: an IRI.
    From,
    /// `(expression AS ?variable)`; in GROUP BY the variable may be missing.
    As,

    /// GROUP BY: expressions and [`Node::As`].
    GroupBy,
    /// HAVING: expressions.
    Having,
    /// ORDER BY: [`Node::Order`]s.
    OrderBy,
    /// ASC, DESC or neither: an expression.
    Order,
    /// LIMIT.
    Limit,
    /// OFFSET.
    Offset,
    /// VALUES: variables, then [`Node::Row`]s, or values where the only variable is without parentheses.
    Values,
    /// Values in parentheses.
    Row,
    /// UNDEF.
    Undef,

    /// `{ ... }`: what is in it, or a SELECT.
    Group,
    /// Groups with UNION between them; one without.
    Union,
    /// OPTIONAL: a group.
    Optional,
    /// LATERAL: a group.
    Lateral,
    /// MINUS: a group.
    Minus,
    /// GRAPH: a variable or an IRI, a group.
    Graph,
    /// SERVICE, SILENT or not: a variable or an IRI, a group.
    Service,
    /// FILTER: an expression.
    Filter,
    /// BIND: an expression and a variable.
    Bind,

    /// A subject and [`Node::Property`]s.
    Triples,
    /// A verb, and objects with [`Node::Reifier`]s and [`Node::Annotation`]s behind each.
    Property,
    /// `~`: a term, or none.
    Reifier,
    /// `{| ... |}`: [`Node::Property`]s.
    Annotation,
    /// `[ ... ]`: [`Node::Property`]s; none in `[]`.
    BlankProperties,
    /// `( ... )`: terms; none in `()`.
    Collection,
    /// `<< ... >>`: subject, verb, object, [`Node::Reifier`] or none.
    ReifiedTriple,
    /// `<<( ... )>>`: subject, verb, object.
    TripleTerm,
    /// `{ ... }` of CONSTRUCT: [`Node::Triples`].
    Template,

    /// A variable.
    Variable,
    /// `<...>`.
    Iri,
    /// `prefix:local`.
    Name,
    /// `a`.
    Type,
    /// `_:label`.
    Blank,
    /// A string, with a language tag or [`Node::Iri`] or [`Node::Name`] as its datatype.
    Literal,
    /// A number, with a sign or without.
    Number,
    /// `true` or `false`.
    Boolean,

    /// Paths with `|` between them.
    Alternative,
    /// Paths with `/` between them.
    Sequence,
    /// `^`: a path.
    Inverse,
    /// A path, and `?`, `*` or `+`.
    Repeated,
    /// `!`: IRIs, `a`, and [`Node::Inverse`]s of them.
    Negated,

    /// `( ... )` around one expression or path.
    Parentheses,
    /// Operands with `||` between them.
    Or,
    /// Operands with `&&` between them.
    And,
    /// Two operands.
    Comparison,
    /// IN or NOT IN: an operand, and those of the list.
    In,
    /// Operands with `+` and `-` between them.
    Sum,
    /// Operands with `*` and `/` between them.
    Product,
    /// `!`, `+` or `-`: an operand.
    Unary,
    /// A function of SPARQL: its arguments.
    Call,
    /// A function with an IRI: that, and its arguments.
    IriCall,
    /// An aggregate: its expression, or none for `*`.
    Aggregate,
    /// EXISTS or NOT EXISTS: a group.
    Exists,

    /// LOAD: one or two IRIs.
    Load,
    /// CLEAR, DROP: an IRI, or none for DEFAULT, NAMED and ALL.
    Clear,
    /// CREATE: an IRI.
    Create,
    /// ADD, MOVE, COPY: two [`Node::Target`]s.
    Transfer,
    /// An IRI, or none for DEFAULT.
    Target,
    /// INSERT DATA: [`Node::Quads`].
    InsertData,
    /// DELETE DATA: [`Node::Quads`].
    DeleteData,
    /// DELETE WHERE: [`Node::Quads`].
    DeleteWhere,
    /// WITH, DELETE, INSERT, USING, WHERE.
    Modify,
    /// WITH: an IRI.
    With,
    /// DELETE: [`Node::Quads`].
    Delete,
    /// INSERT: [`Node::Quads`].
    Insert,
    /// `{ ... }`: [`Node::Triples`] and [`Node::QuadsOfGraph`].
    Quads,
    /// GRAPH: a variable or an IRI, [`Node::Triples`].
    QuadsOfGraph,
}

/// All nodes, in the sequence of their numbers.
const NODES: [Node; 78] = [
    Node::Query,
    Node::Update,
    Node::Base,
    Node::Prefix,
    Node::Version,
    Node::Select,
    Node::Construct,
    Node::Describe,
    Node::Ask,
    Node::Selection,
    Node::From,
    Node::As,
    Node::GroupBy,
    Node::Having,
    Node::OrderBy,
    Node::Order,
    Node::Limit,
    Node::Offset,
    Node::Values,
    Node::Row,
    Node::Undef,
    Node::Group,
    Node::Union,
    Node::Optional,
    Node::Lateral,
    Node::Minus,
    Node::Graph,
    Node::Service,
    Node::Filter,
    Node::Bind,
    Node::Triples,
    Node::Property,
    Node::Reifier,
    Node::Annotation,
    Node::BlankProperties,
    Node::Collection,
    Node::ReifiedTriple,
    Node::TripleTerm,
    Node::Template,
    Node::Variable,
    Node::Iri,
    Node::Name,
    Node::Type,
    Node::Blank,
    Node::Literal,
    Node::Number,
    Node::Boolean,
    Node::Alternative,
    Node::Sequence,
    Node::Inverse,
    Node::Repeated,
    Node::Negated,
    Node::Parentheses,
    Node::Or,
    Node::And,
    Node::Comparison,
    Node::In,
    Node::Sum,
    Node::Product,
    Node::Unary,
    Node::Call,
    Node::IriCall,
    Node::Aggregate,
    Node::Exists,
    Node::Load,
    Node::Clear,
    Node::Create,
    Node::Transfer,
    Node::Target,
    Node::InsertData,
    Node::DeleteData,
    Node::DeleteWhere,
    Node::Modify,
    Node::With,
    Node::Delete,
    Node::Insert,
    Node::Quads,
    Node::QuadsOfGraph,
];

/// A node of the vector.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    /// Its first token, and the one behind its last.
    pub first: u32,
    pub end: u32,
    /// How many nodes it is, with those inside; in the lowest bits what it is.
    size: u32,
}

/// Bits of what a node is.
const NODE_BITS: u32 = 7;

/// A tree has fewer nodes.
pub(crate) const NODES_MAX: usize = (u32::MAX >> NODE_BITS) as usize;

impl Entry {
    pub fn new(node: Node, tokens: Range<u32>, size: u32) -> Self {
        Self { first: tokens.start, end: tokens.end, size: size << NODE_BITS | node as u32 }
    }

    pub fn node(self) -> Node {
        let place = self.size & ((1 << NODE_BITS) - 1);
        NODES.get(place as usize).copied().unwrap_or(Node::Query)
    }

    fn size(self) -> usize {
        (self.size >> NODE_BITS) as usize
    }
}

/// The tree of a text.
#[derive(Debug)]
pub struct Tree<'a> {
    pub(crate) text: &'a str,
    pub(crate) tokens: Vec<Token>,
    pub(crate) entries: Vec<Entry>,
}

impl<'a> Tree<'a> {
    /// The node that all others are in.
    pub fn root(&self) -> At<'_> {
        At { tree: self, index: 0 }
    }

    /// All tokens; the last is the end.
    pub fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// The text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The text of a token.
    pub fn token_text(&self, token: usize) -> &'a str {
        self.tokens.get(token).and_then(|token| self.text.get(token.span())).unwrap_or("")
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        self.tokens.capacity() * size_of::<Token>() + self.entries.capacity() * size_of::<Entry>()
    }
}

/// A node of a tree.
#[derive(Debug, Clone, Copy)]
pub struct At<'t> {
    tree: &'t Tree<'t>,
    index: usize,
}

impl<'t> At<'t> {
    fn entry(self) -> Entry {
        let none = Entry::new(Node::Query, 0..0, 1);
        self.tree.entries.get(self.index).copied().unwrap_or(none)
    }

    /// What it is.
    pub fn node(self) -> Node {
        self.entry().node()
    }

    /// Where it stands among all nodes.
    pub fn index(self) -> usize {
        self.index
    }

    /// Its tokens, as places among all of them.
    pub fn tokens(self) -> Range<usize> {
        let entry = self.entry();
        entry.first as usize..entry.end as usize
    }

    /// Its bytes of the text.
    pub fn span(self) -> Range<usize> {
        let tokens = self.tokens();
        let start = self.tree.tokens.get(tokens.start).map_or(0, Token::start);
        let end =
            tokens.end.checked_sub(1).and_then(|last| self.tree.tokens.get(last)).map_or(start, Token::end);
        start..end.max(start)
    }

    /// Its text.
    pub fn text(self) -> &'t str {
        self.tree.text.get(self.span()).unwrap_or("")
    }

    /// The text of its token at a place from 0.
    pub fn token(self, place: usize) -> &'t str {
        let tokens = self.tokens();
        let at = tokens.start + place;
        if at < tokens.end { self.tree.token_text(at) } else { "" }
    }

    /// Whether that token is a word, in any case of letters.
    pub fn has_word(self, place: usize, word: &str) -> bool {
        self.token(place).eq_ignore_ascii_case(word)
    }

    /// The nodes in it.
    pub fn children(self) -> Children<'t> {
        Children { tree: self.tree, next: self.index + 1, end: self.index + self.entry().size() }
    }

    /// The first node in it.
    pub fn first(self) -> Option<At<'t>> {
        self.children().next()
    }

    /// The first node of a kind in it.
    pub fn child(self, node: Node) -> Option<At<'t>> {
        self.children().find(|child| child.node() == node)
    }

    /// The tree that it is of.
    pub fn tree(self) -> &'t Tree<'t> {
        self.tree
    }
}

/// Nodes beside each other.
#[derive(Debug, Clone)]
pub struct Children<'t> {
    tree: &'t Tree<'t>,
    next: usize,
    end: usize,
}

impl<'t> Iterator for Children<'t> {
    type Item = At<'t>;

    fn next(&mut self) -> Option<At<'t>> {
        if self.next >= self.end {
            return None;
        }
        let at = At { tree: self.tree, index: self.next };
        self.next += at.entry().size().max(1);
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_kept() {
        for node in NODES {
            let entry = Entry::new(node, 1..3, 9);
            assert_eq!((entry.node(), entry.size(), entry.first, entry.end), (node, 9, 1, 3));
        }
        assert!(NODES.len() < 1 << NODE_BITS && size_of::<Entry>() == 12);
    }
}

//! A query for words, as it was understood: what is looked for, and how that has to come together.

use crate::glob::Piece;
use std::fmt::{self, Write as _};

/// A query for words.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    pub(crate) root: Group,
    /// What is looked for in a text, each once.
    pub(crate) leaves: Vec<Leaf>,
}

/// Something that a text has or has not.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Leaf {
    /// A word, or another of the same stem.
    Word(Word),
    /// Words one after the other; or, with `slop`, all of them among as many words as they are and `slop` more.
    Phrase { words: Vec<Word>, slop: u32 },
    /// A word of which parts are open.
    Pattern(Vec<Piece>),
    /// A word that becomes this one by so many insertions, deletions, replacements or exchanges of neighbours.
    Fuzzy { word: Box<str>, distance: u32 },
}

/// A word of a query.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Word {
    /// Its folded form.
    pub folded: Box<str>,
    /// In lower case, with accents: stems are made of that.
    pub lower: Box<str>,
}

/// Parts that a text must have, may have, and must not have. Where there are none that it must have, it has one of those that it may have.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Group {
    pub must: Vec<Node>,
    pub should: Vec<Node>,
    pub not: Vec<Node>,
}

/// A part of a query.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    /// A leaf, by its number, and how much it counts.
    Leaf(usize, f64),
    Group(Box<Group>),
}

impl Group {
    /// Whether leaves make a text match, by which of them it has.
    pub fn holds(&self, has: &impl Fn(usize) -> bool) -> bool {
        let holds = |node: &Node| match node {
            Node::Leaf(leaf, _) => has(*leaf),
            Node::Group(group) => group.holds(has),
        };
        self.must.iter().all(holds)
            && (!self.must.is_empty() || self.should.iter().any(holds))
            && !self.not.iter().any(holds)
    }

    /// Calls `found` with the leaves that add to a score, of parts that hold only.
    pub fn each_scored(&self, has: &impl Fn(usize) -> bool, found: &mut impl FnMut(usize, f64)) {
        for node in self.must.iter().chain(&self.should) {
            match node {
                Node::Leaf(leaf, boost) if has(*leaf) => found(*leaf, *boost),
                Node::Group(group) if group.holds(has) => group.each_scored(has, found),
                _ => {}
            }
        }
    }

    /// Calls `found` with all leaves that may add to a score.
    pub fn each_boost(&self, found: &mut impl FnMut(usize, f64)) {
        for node in self.must.iter().chain(&self.should) {
            match node {
                Node::Leaf(leaf, boost) => found(*leaf, *boost),
                Node::Group(group) => group.each_boost(found),
            }
        }
    }

    /// Whether more words in a text never make it match less.
    pub fn is_monotone(&self) -> bool {
        let nodes = self.must.iter().chain(&self.should);
        self.not.is_empty()
            && nodes.into_iter().all(|node| match node {
                Node::Leaf(..) => true,
                Node::Group(group) => group.is_monotone(),
            })
    }
}

/// As text that is parsed to the same query.
impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.group(&self.root, f)
    }
}

impl Query {
    fn group(&self, group: &Group, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let must = group.must.iter().map(|node| ("+", node));
        let should = group.should.iter().map(|node| ("", node));
        let not = group.not.iter().map(|node| ("-", node));
        for (number, (sign, node)) in must.chain(should).chain(not).enumerate() {
            if number > 0 {
                f.write_char(' ')?;
            }
            f.write_str(sign)?;
            match node {
                Node::Leaf(leaf, boost) => {
                    if let Some(leaf) = self.leaves.get(*leaf) {
                        write!(f, "{leaf}")?;
                    }
                    if (*boost - 1.0).abs() > f64::EPSILON {
                        write!(f, "^{boost}")?;
                    }
                }
                Node::Group(group) => {
                    f.write_char('(')?;
                    self.group(group, f)?;
                    f.write_char(')')?;
                }
            }
        }
        Ok(())
    }
}

impl fmt::Display for Leaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Quotes keep AND, OR and NOT from being read as such.
            Self::Word(word) => {
                f.write_char('"')?;
                escaped(&word.lower, f)?;
                f.write_char('"')
            }
            Self::Phrase { words, slop } => {
                f.write_char('"')?;
                for (number, word) in words.iter().enumerate() {
                    let space = if number > 0 { " " } else { "" };
                    f.write_str(space)?;
                    escaped(&word.lower, f)?;
                }
                f.write_char('"')?;
                if *slop > 0 { write!(f, "~{slop}") } else { Ok(()) }
            }
            Self::Pattern(pieces) => pieces.iter().try_for_each(|piece| match piece {
                Piece::Char(c) => escaped(c.encode_utf8(&mut [0; 4]), f),
                Piece::One => f.write_char('?'),
                Piece::Any => f.write_char('*'),
            }),
            Self::Fuzzy { word, distance } => {
                escaped(word, f)?;
                write!(f, "~{distance}")
            }
        }
    }
}

/// Characters that are signs have a `\` before them. Some words have such characters: a quotation mark and a vowel sign without a letter are one.
fn escaped(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    text.chars().try_for_each(|c| {
        if c.is_ascii_punctuation() && !matches!(c, '_' | '\'' | '.') {
            f.write_char('\\')?;
        }
        f.write_char(c)
    })
}

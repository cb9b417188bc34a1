//! Texts of queries: the part of Lucene's classic language that people write, and what Virtuoso's `bif:contains` has of its own.
//!
//! Words, `"phrases"`, `"words near each other"~5`, `prefix*`, `te?t`, `fuzzy~1`, `AND` `OR` `NOT` `&&` `||` `!` `+` `-`, parentheses, `word^2`. `AND`
//! binds closer than `OR`, and what is said of no words is an error with its place: a query that finds nothing because of a bracket helps nobody.

use crate::analysis::{WORD_BYTES_MAX, fold_char, folded, stands_alone, words};
use crate::error::QueryError;
use crate::glob::Piece;
use crate::query::{Group, Leaf, Node, Query, Word};
use std::collections::HashMap;
use std::ops::Range;

/// The longest query, in bytes.
const BYTES_MAX: usize = 1 << 16;
/// Words, phrases and patterns of a query; Lucene allows as many.
const LEAVES_MAX: usize = 1024;
/// Words of a phrase.
pub(crate) const PHRASE_WORDS_MAX: usize = 128;
/// Parentheses that are open at once.
const DEPTH_MAX: usize = 64;
/// The greatest distance of a fuzzy word, as in Lucene.
const DISTANCE_MAX: u32 = 2;

type Result<T> = std::result::Result<T, QueryError>;

/// What differs between those who write queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// Lucene's: words without an operator between them are alternatives.
    #[default]
    Lucene,
    /// The same where all words are wanted.
    AllWords,
    /// Virtuoso's: the same, and texts between single quotes are phrases, or patterns.
    Virtuoso,
}

/// Reads a query.
///
/// # Errors
///
/// [`QueryError`] where it is none, looks for nothing, or is too large.
pub fn parse(text: &str, dialect: Dialect) -> Result<Query> {
    if text.len() > BYTES_MAX {
        let message =
            format!("the query for words has {} bytes, of which {BYTES_MAX} are allowed", text.len());
        return Err(QueryError::new(0..text.len(), message, "look for fewer words"));
    }
    let mut parser =
        Parser { text, at: 0, dialect, depth: 0, leaves: Vec::new(), numbers: HashMap::new(), count: 0 };
    let root = parser.sequence()?;
    if parser.peek().is_some() {
        let at = parser.at..parser.at + 1;
        return Err(QueryError::new(at, "a `)` without a `(`", "write \\) for the character"));
    }
    Ok(Query { root, leaves: parser.leaves })
}

/// What stands before a part.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    None,
    Must,
    Not,
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    dialect: Dialect,
    depth: usize,
    leaves: Vec<Leaf>,
    numbers: HashMap<Leaf, usize>,
    /// Words, phrases and patterns so far, also those that stand more than once.
    count: usize,
}

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// The next character that is no space.
    fn peek(&mut self) -> Option<char> {
        self.skip_space();
        self.rest().chars().next()
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    /// An operator that is a word has a space or bracket behind it.
    fn take_operator(&mut self, word: &str, sign: &str) -> bool {
        self.skip_space();
        let behind = self.rest().strip_prefix(word);
        if behind
            .is_some_and(|rest| !rest.starts_with(|c: char| !c.is_whitespace() && !"()\"'+-!".contains(c)))
        {
            self.at += word.len();
            return true;
        }
        self.take(sign)
    }

    /// Alternatives, up to the end or a closing bracket.
    fn sequence(&mut self) -> Result<Group> {
        let start = self.at;
        let mut group = Group::default();
        while self.peek().is_some_and(|c| c != ')') {
            let here = self.at;
            if self.take_operator("OR", "||") {
                if group.is_empty() || self.peek().is_none_or(|c| c == ')') {
                    return Err(QueryError::new(here..self.at, "OR stands between two parts", LITERALLY));
                }
                continue;
            }
            if self.take_operator("AND", "&&") {
                return Err(QueryError::new(here..self.at, "AND stands between two parts", LITERALLY));
            }
            for (sign, node) in self.conjunction()? {
                group.put(sign, node);
            }
        }
        if group.must.is_empty() && group.should.is_empty() {
            return Err(nothing(&group, start..self.at));
        }
        Ok(group)
    }

    /// Parts with AND between them, or one with its sign.
    fn conjunction(&mut self) -> Result<Vec<(Sign, Node)>> {
        let start = self.at;
        let mut parts = Vec::new();
        let mut and = false;
        loop {
            parts.extend(self.unit()?);
            self.skip_space();
            let here = self.at;
            if self.take_operator("AND", "&&") {
                and = true;
                if self.peek().is_none_or(|c| c == ')') {
                    return Err(QueryError::new(here..self.at, "AND stands between two parts", LITERALLY));
                }
                continue;
            }
            let goes_on = self.dialect != Dialect::Lucene && self.peek().is_some_and(|c| c != ')');
            if !goes_on || self.is_before_or() {
                break;
            }
            and = true;
        }
        if !and {
            return Ok(parts);
        }
        let mut group = Group::default();
        for (sign, node) in parts {
            group.put(if sign == Sign::Not { Sign::Not } else { Sign::Must }, node);
        }
        if group.must.is_empty() {
            return Err(nothing(&group, start..self.at));
        }
        Ok(vec![(Sign::None, Node::Group(Box::new(group)))])
    }

    fn is_before_or(&mut self) -> bool {
        let here = self.at;
        let is_or = self.take_operator("OR", "||");
        self.at = here;
        is_or
    }

    /// A part with its sign; none where it has no words.
    fn unit(&mut self) -> Result<Option<(Sign, Node)>> {
        let mut sign = Sign::None;
        self.skip_space();
        let start = self.at;
        loop {
            self.skip_space();
            let here = self.at;
            match self.peek() {
                Some('+') => sign = Sign::Must,
                Some('-' | '!') => sign = Sign::Not,
                _ if self.take_operator("NOT", "\0") => {
                    sign = Sign::Not;
                    if self.peek().is_none_or(|c| c == ')') {
                        return Err(QueryError::new(here..self.at, "NOT stands before a part", LITERALLY));
                    }
                    continue;
                }
                None | Some(')') => {
                    let message = "a word is missing here";
                    return Err(QueryError::new(start..self.at, message, "write it, or \\ before the sign"));
                }
                _ => break,
            }
            self.at += 1;
        }
        Ok(self.primary()?.map(|node| (sign, node)))
    }

    fn primary(&mut self) -> Result<Option<Node>> {
        let start = self.at;
        match self.peek() {
            Some('(') => self.parentheses(),
            Some('"') => self.quoted('"'),
            Some('\'') if self.dialect == Dialect::Virtuoso => self.quoted('\''),
            Some(c @ ('[' | '{' | '/')) => {
                let message =
                    format!("`{c}` begins a range or a regular expression, which there are none of");
                Err(QueryError::new(
                    start..start + 1,
                    message,
                    "use FILTER with < or REGEX, or write \\ before it",
                ))
            }
            _ => self.word(),
        }
    }

    fn parentheses(&mut self) -> Result<Option<Node>> {
        let start = self.at;
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            let message = format!("the query is more than {DEPTH_MAX} brackets deep");
            return Err(QueryError::new(start..start + 1, message, "use fewer brackets"));
        }
        self.at += 1;
        let group = self.sequence()?;
        self.skip_space();
        if !self.take(")") {
            let help = "write \\( for the character";
            return Err(QueryError::new(start..start + 1, "a `(` without a `)`", help));
        }
        self.depth -= 1;
        let boost = self.boost()?;
        let mut node = Node::Group(Box::new(group));
        boosted(&mut node, boost);
        Ok(Some(node))
    }

    /// A phrase.
    fn quoted(&mut self, quote: char) -> Result<Option<Node>> {
        let start = self.at;
        let mut inside = String::new();
        let mut chars = self.rest().char_indices().skip(1);
        let end = loop {
            match chars.next() {
                Some((_, '\\')) => inside.extend(chars.next().map(|(_, c)| c)),
                Some((at, c)) if c == quote => break start + at + 1,
                Some((_, c)) => inside.push(c),
                None => {
                    let message = format!("a {quote} without another one");
                    return Err(QueryError::new(
                        start..start + 1,
                        message,
                        "write \\ before it for the character",
                    ));
                }
            }
        };
        self.at = end;
        let is_pattern = inside.contains(['*', '?']) && !inside.trim().contains(char::is_whitespace);
        if self.dialect == Dialect::Virtuoso && is_pattern {
            let pieces = inside.trim().chars().map(|c| match c {
                '*' => Raw::Any,
                '?' => Raw::One,
                c => Raw::Char(c),
            });
            let pieces: Vec<Raw> = pieces.collect();
            return self.pattern(&pieces, start..end);
        }
        let slop = if self.take("~") { self.number(start)?.unwrap_or(0) } else { 0 };
        self.words(&inside, slop, start)
    }

    /// A word, a pattern or a fuzzy word.
    fn word(&mut self) -> Result<Option<Node>> {
        let start = self.at;
        let mut pieces = Vec::new();
        let mut chars = self.rest().char_indices();
        let mut end = self.text.len();
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => pieces.extend(chars.next().map(|(_, c)| Raw::Char(c))),
                '*' => pieces.push(Raw::Any),
                '?' => pieces.push(Raw::One),
                ':' => {
                    let span = start + at..start + at + 1;
                    let message = "a field stands before `:`, and texts have none";
                    let help = "name the property before the query, or write \\: for the character";
                    return Err(QueryError::new(span, message, help));
                }
                c if c.is_whitespace() || "()\"^~".contains(c) => {
                    end = start + at;
                    break;
                }
                c => pieces.push(Raw::Char(c)),
            }
        }
        self.at = end;
        if pieces.is_empty() {
            // One of the signs that stand behind a word.
            let sign = self.rest().chars().next().unwrap_or(' ');
            let message = format!("`{sign}` stands behind a word");
            return Err(QueryError::new(start..start + sign.len_utf8(), message, LITERALLY));
        }
        let plain = pieces.iter().map(|piece| match piece {
            Raw::Char(c) => Some(*c),
            Raw::One | Raw::Any => None,
        });
        let Some(plain) = plain.collect::<Option<String>>() else { return self.pattern(&pieces, start..end) };
        if self.dialect == Dialect::Virtuoso && plain.eq_ignore_ascii_case("near") {
            return Err(QueryError::new(
                start..end,
                "NEAR is not known",
                "write the words as a phrase: \"one two\"~100",
            ));
        }
        if !self.take("~") {
            return self.words(&plain, 0, start);
        }
        let distance = self.number(start)?;
        let written: Vec<&str> = words(&plain).map(|(_, word)| word).collect();
        match written.as_slice() {
            [one] => {
                let distance = distance.unwrap_or(DISTANCE_MAX);
                if distance > DISTANCE_MAX {
                    let message = format!("a word may differ by {DISTANCE_MAX} characters at most");
                    return Err(QueryError::new(start..self.at, message, "write ~1 or ~2"));
                }
                let word = folded(one).into();
                self.leaf(Leaf::Fuzzy { word, distance }, start).map(Some)
            }
            _ => self.words(&plain, distance.unwrap_or(0), start),
        }
    }

    /// A word of which parts are open.
    fn pattern(&mut self, raw: &[Raw], span: Range<usize>) -> Result<Option<Node>> {
        let mut pieces = Vec::with_capacity(raw.len());
        let mut text = String::new();
        for piece in raw {
            match piece {
                Raw::One => pieces.push(Piece::One),
                Raw::Any if pieces.last() == Some(&Piece::Any) => {}
                Raw::Any => pieces.push(Piece::Any),
                Raw::Char(c) => {
                    let before = text.len();
                    fold_char(*c, &mut text);
                    pieces.extend(text.get(before..).unwrap_or_default().chars().map(Piece::Char));
                }
            }
        }
        let ends_open = pieces.last() == Some(&Piece::Any);
        let open = pieces.iter().filter(|piece| !matches!(piece, Piece::Char(_))).count();
        if ends_open && open == 1 && text.chars().any(stands_alone) {
            // Each character is a word already.
            return self.words(&text, 0, span.start);
        }
        if text.is_empty() {
            return Err(QueryError::new(span, "a pattern without a letter", "every text has such words"));
        }
        let is_of_word = |c: char| c.is_alphanumeric() || "_'.’".contains(c) || !c.is_ascii();
        if !text.chars().all(is_of_word) || text.chars().any(stands_alone) || text.len() > WORD_BYTES_MAX {
            let help = "write the words apart, and * at the end of one";
            return Err(QueryError::new(span, "a pattern is of one word", help));
        }
        self.leaf(Leaf::Pattern(pieces), span.start).map(Some)
    }

    /// A word, or several as a phrase; none where there is none in the text.
    fn words(&mut self, text: &str, slop: u32, start: usize) -> Result<Option<Node>> {
        let word = |(_, word): (usize, &str)| Word {
            folded: folded(word).into(),
            lower: word.to_lowercase().into(),
        };
        let mut found: Vec<Word> = words(text).map(word).collect();
        if found.len() > PHRASE_WORDS_MAX {
            let message =
                format!("a phrase of {} words, of which {PHRASE_WORDS_MAX} are allowed", found.len());
            return Err(QueryError::new(start..self.at, message, "make it shorter"));
        }
        let leaf = match (found.len(), found.pop()) {
            (_, None) => {
                self.boost()?;
                return Ok(None);
            }
            (1, Some(word)) => Leaf::Word(word),
            (_, Some(last)) => {
                found.push(last);
                Leaf::Phrase { words: found, slop }
            }
        };
        self.leaf(leaf, start).map(Some)
    }

    fn leaf(&mut self, leaf: Leaf, start: usize) -> Result<Node> {
        let boost = self.boost()?;
        self.count += 1;
        if self.count > LEAVES_MAX {
            let message = format!("the query looks for more than {LEAVES_MAX} words");
            return Err(QueryError::new(start..self.at, message, "look for fewer words"));
        }
        let next = self.leaves.len();
        let number = *self.numbers.entry(leaf.clone()).or_insert(next);
        if number == next {
            self.leaves.push(leaf);
        }
        Ok(Node::Leaf(number, boost))
    }

    /// How much a part counts, if that is said.
    fn boost(&mut self) -> Result<f64> {
        let start = self.at;
        if !self.take("^") {
            return Ok(1.0);
        }
        let digits = self.digits();
        match digits.parse::<f64>() {
            Ok(boost) if (0.0..=1e6).contains(&boost) => Ok(boost),
            _ => Err(QueryError::new(start..self.at, "`^` takes a number up to 1000000", "write word^2")),
        }
    }

    /// The number behind a `~`.
    fn number(&mut self, start: usize) -> Result<Option<u32>> {
        let digits = self.digits();
        if digits.is_empty() {
            return Ok(None);
        }
        // Lucene's similarities of former times, below 1, mean two differences at most.
        let number = digits.parse::<f64>().ok().filter(|number| (0.0..=10_000.0).contains(number));
        match number {
            Some(number) if number > 0.0 && number < 1.0 => Ok(Some(DISTANCE_MAX)),
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "between 0 and 10,000"
            )]
            Some(number) => Ok(Some(number as u32)),
            None => Err(QueryError::new(start..self.at, "`~` takes a number up to 10000", "write word~1")),
        }
    }

    fn digits(&mut self) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }
}

/// A character of a word as it is written.
enum Raw {
    Char(char),
    One,
    Any,
}

const LITERALLY: &str = "put it between \"quotes\" where it is a word to look for";

impl Group {
    fn is_empty(&self) -> bool {
        self.must.is_empty() && self.should.is_empty() && self.not.is_empty()
    }

    fn put(&mut self, sign: Sign, node: Node) {
        match sign {
            Sign::None => self.should.push(node),
            Sign::Must => self.must.push(node),
            Sign::Not => self.not.push(node),
        }
    }
}

/// The error of a group that looks for nothing.
fn nothing(group: &Group, span: Range<usize>) -> QueryError {
    let none = group.not.is_empty();
    let message = if none { "this looks for no word" } else { "this says only what there must not be" };
    QueryError::new(span, message, "name a word that texts must have")
}

/// A factor of all that is in a part.
fn boosted(node: &mut Node, factor: f64) {
    match node {
        Node::Leaf(_, boost) => *boost *= factor,
        Node::Group(group) if (factor - 1.0).abs() > f64::EPSILON => {
            group.must.iter_mut().chain(&mut group.should).for_each(|node| boosted(node, factor));
        }
        Node::Group(_) => {}
    }
}

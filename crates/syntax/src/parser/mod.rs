//! A recursive descent over the grammar of SPARQL 1.1 and 1.2 that makes a tree, and diagnostics.
//!
//! What it can repair it tells of, and goes on as if it were right. Behind what it cannot, a text that is explained is read on where something new begins
//! (`recovery`); any other is not.

mod aggregates;
mod expression;
mod extent;
mod file_name;
mod group;
mod modifiers;
mod no_aggregates;
mod path;
mod query;
mod recovery;
mod scope;
mod selection;
mod terms;
mod triples;
mod update;
mod values;

use crate::diagnostic::{DIAGNOSTICS_MAX, Diagnostic};
use crate::lexer;
use crate::token::{Kind, Token};
use crate::tree::{Entry, NODES_MAX, Node, Tree};
use crate::vocabulary::Vocabulary;
pub use extent::Extent;
use no_aggregates::NoAggregates;
use scope::Scope;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Brackets of all kinds in each other, and signs before values: deeper texts are refused.
pub const DEPTH_MAX: usize = 1_000;
/// Texts of more bytes are refused.
pub const BYTES_MAX: usize = u32::MAX as usize / 2;

/// What a text should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A query.
    Query,
    /// A sequence of updates.
    Update,
}

/// A text that was read.
#[derive(Debug)]
pub struct Parsed<'a> {
    /// Its tree, as far as it could be read.
    pub tree: Tree<'a>,
    /// What is wrong with it. A text without such is right by the grammar.
    pub diagnostics: Vec<Diagnostic>,
    /// How much there is in it.
    pub extent: Extent,
    /// Brackets are nested deeper than [`DEPTH_MAX`], and nothing behind the first that is was read.
    pub is_too_deep: bool,
}

/// Reads a text by the grammar.
pub fn parse<'a>(text: &'a str, form: Form, vocabulary: &'a Vocabulary) -> Parsed<'a> {
    let parser = run(text, form, vocabulary, false);
    let (stopped, at, extent) = (parser.stopped, parser.text.len(), parser.most.or(parser.extent));
    let mut entries = parser.entries;
    entries.shrink_to_fit();
    let tree = Tree { text, tokens: parser.tokens, entries };
    let mut diagnostics = parser.diagnostics;
    if stopped && diagnostics.is_empty() {
        diagnostics.push(Diagnostic::new(at..at, "the text cannot be read to its end"));
    }
    Parsed { tree, diagnostics, extent, is_too_deep: parser.is_too_deep }
}

/// What is wrong with a text, in its order; nothing where that cannot be told.
pub fn check(text: &str, form: Form, vocabulary: &Vocabulary) -> Vec<Diagnostic> {
    if let Some(name) = file_name::file_name(text) {
        let message = format!("{name:?} is no {}, but may be the name of a file", form.name());
        return vec![Diagnostic::new(0..text.trim_end().len(), message).help("-f FILE reads it from there")];
    }
    let mut parser = run(text, form, vocabulary, true);
    parser.leave_out_shifted_texts();
    let mut diagnostics = parser.diagnostics;
    diagnostics.sort_by_key(|diagnostic| diagnostic.span.start);
    diagnostics.truncate(DIAGNOSTICS_MAX);
    diagnostics
}

fn run<'a>(text: &'a str, form: Form, vocabulary: &'a Vocabulary, explains: bool) -> Parser<'a> {
    if text.len() > BYTES_MAX {
        let mut parser = Parser::new("", lexer::tokens("").0, vocabulary, explains);
        parser.diagnostics.push(Diagnostic::new(0..0, format!("the text has more than {BYTES_MAX} bytes")));
        return parser;
    }
    let (tokens, problems) = lexer::tokens(text);
    let mut parser = Parser::new(text, tokens, vocabulary, explains);
    if explains {
        let is_quote = |token: &&Token| matches!(text.as_bytes().get(token.start()), Some(b'"' | b'\''));
        let bad = parser.tokens.iter().filter(|token| token.kind() == Kind::Bad);
        parser.unclosed = bad.filter(is_quote).map(Token::start).collect();
    }
    if explains {
        parser.open_braces = parser.count_open_braces();
    }
    parser.diagnostics = problems;
    if parser.tokens.len() >= NODES_MAX / 2 {
        parser.diagnostics.push(Diagnostic::new(0..0, "the text has too many tokens"));
        return parser;
    }
    let root = parser.open();
    match form {
        Form::Query => parser.query(),
        Form::Update => parser.update(),
    }
    parser.close_node(root, if form == Form::Query { Node::Query } else { Node::Update });
    parser
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Update => "update",
        }
    }
}

/// Where the parser is, and what it has found.
struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    entries: Vec<Entry>,
    diagnostics: Vec<Diagnostic>,
    vocabulary: &'a Vocabulary,
    /// More is looked at than the grammar: what a text that is wrong may have meant.
    explains: bool,
    /// Prefixes that are declared, without the colon, and the IRIs that they stand for, as they are written.
    prefixes: BTreeMap<&'a str, &'a str>,
    /// Those that are not and were told of, and names of variables that are none.
    undeclared: BTreeSet<&'a str>,
    depth: usize,
    is_too_deep: bool,
    stopped: bool,
    /// The token at which it stopped.
    failed: usize,
    /// How often it went on behind a mistake.
    resumed: usize,
    /// Mistakes before this token are of one that was told.
    quiet: usize,
    /// Nothing is read any more, also where what is wrong is explained.
    halted: bool,
    /// Braces that are opened and not closed, in all.
    open_braces: usize,
    /// The pattern that was read last lacks its brace.
    braceless: bool,
    /// Every prefix that the text declares is known.
    knows_prefixes: bool,
    /// Where texts begin that are not closed.
    unclosed: Vec<usize>,
    /// Triples are of a template or data, and have no paths.
    templates: bool,
    /// Where no aggregate may stand.
    no_aggregates: Option<&'static NoAggregates>,
    scope: Scope<'a>,
    extent: Extent,
    /// Of the operations before.
    most: Extent,
}

/// A node that was opened.
#[derive(Clone, Copy)]
struct Open {
    index: usize,
    token: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, tokens: Vec<Token>, vocabulary: &'a Vocabulary, explains: bool) -> Self {
        Self {
            text,
            // A node for a token, about, less punctuation.
            entries: Vec::with_capacity(tokens.len() * 3 / 4),
            tokens,
            at: 0,
            diagnostics: Vec::new(),
            vocabulary,
            explains,
            prefixes: BTreeMap::new(),
            undeclared: BTreeSet::new(),
            depth: 0,
            is_too_deep: false,
            stopped: false,
            failed: 0,
            resumed: 0,
            quiet: 0,
            halted: false,
            open_braces: 0,
            braceless: false,
            knows_prefixes: true,
            unclosed: Vec::new(),
            templates: false,
            no_aggregates: None,
            scope: Scope::new(explains),
            extent: Extent::default(),
            most: Extent::default(),
        }
    }

    /// A node begins with the next token; [`Parser::close_node`] says what it is.
    fn open(&mut self) -> Open {
        let open = self.place();
        self.entries.push(entry(self.at));
        open
    }

    /// Where a node would begin that [`Parser::wrap`] may make later.
    fn place(&self) -> Open {
        Open { index: self.entries.len(), token: self.at }
    }

    /// A node that was opened ends with the last token.
    fn close_node(&mut self, open: Open, node: Node) {
        self.extent.count(node);
        let size = small(self.entries.len() - open.index);
        let end = small(self.at);
        if let Some(entry) = self.entries.get_mut(open.index) {
            *entry = Entry::new(node, small(open.token)..end, size);
        }
    }

    /// All nodes since a place are in one, which is open.
    fn wrap(&mut self, place: Open) -> Open {
        self.entries.insert(place.index, entry(place.token));
        place
    }

    /// The next token is a node.
    fn leaf(&mut self, node: Node) {
        if !self.stopped {
            self.entries.push(Entry::new(node, small(self.at)..small(self.at + 1), 1));
        }
        self.bump();
    }

    /// The token `ahead` of the next one.
    fn peek(&self, ahead: usize) -> &Token {
        let last = self.tokens.len() - 1;
        &self.tokens[(self.at + ahead).min(last)]
    }

    fn kind(&self) -> Kind {
        self.peek(0).kind()
    }

    fn span(&self) -> Range<usize> {
        self.peek(0).span()
    }

    /// The text of the token `ahead` of the next one.
    fn word_at(&self, ahead: usize) -> &'a str {
        self.text.get(self.peek(ahead).span()).unwrap_or("")
    }

    fn word(&self) -> &'a str {
        self.word_at(0)
    }

    /// The end of the token before.
    fn before(&self) -> usize {
        self.at.checked_sub(1).map_or(0, |at| self.tokens[at.min(self.tokens.len() - 1)].end())
    }

    fn bump(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    fn is_mark(&self, mark: &str) -> bool {
        self.mark_at(0, mark)
    }

    fn mark_at(&self, ahead: usize, mark: &str) -> bool {
        self.peek(ahead).kind() == Kind::Mark && self.word_at(ahead) == mark
    }

    fn is_keyword(&self, word: &str) -> bool {
        self.keyword_at(0, word)
    }

    fn keyword_at(&self, ahead: usize, word: &str) -> bool {
        self.peek(ahead).kind() == Kind::Word && self.word_at(ahead).eq_ignore_ascii_case(word)
    }

    fn is_one_of(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is_keyword(word))
    }

    fn eat_mark(&mut self, mark: &str) -> bool {
        let found = self.is_mark(mark);
        if found {
            self.bump();
        }
        found
    }

    fn eat_keyword(&mut self, word: &str) -> bool {
        let found = self.is_keyword(word);
        if found {
            self.bump();
        }
        found
    }

    fn at_end(&self) -> bool {
        self.kind() == Kind::End
    }

    /// Tells of a mistake, and goes on.
    fn tell(&mut self, span: Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        self.push(Diagnostic::new(span, message).help(help));
    }

    fn push(&mut self, diagnostic: Diagnostic) {
        // The lexer has told of what is no token.
        let is_told = self.at < self.quiet || self.explains && self.kind() == Kind::Bad;
        // Those that are read on for are few, and so may be those that are not.
        if !self.stopped && !is_told && self.diagnostics.len() < 2 * DIAGNOSTICS_MAX {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Whether the text ends within something that is told of.
    fn is_cut(&self) -> bool {
        self.at_end() && !self.unclosed.is_empty()
    }

    /// Where a text is not closed on its line, what was taken for text and what was not may be shifted: mistakes before it on its line are of that.
    fn leave_out_shifted_texts(&mut self) {
        let (text, unclosed) = (self.text, std::mem::take(&mut self.unclosed));
        self.diagnostics.retain(|diagnostic| {
            let at = diagnostic.span.start;
            !unclosed.iter().any(|start| at < *start && !text.get(at..*start).unwrap_or("\n").contains('\n'))
        });
    }

    /// Tells of a mistake, and reads no further.
    fn stop(&mut self, span: Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        self.tell(span, message, help);
        self.stop_here();
    }

    fn stop_here(&mut self) {
        if !self.stopped {
            self.failed = self.at;
        }
        self.stopped = true;
        self.at = self.tokens.len() - 1;
    }

    /// Stops at the next token, which is none of those that could follow.
    fn unexpected(&mut self, wanted: &str) {
        let span = self.span();
        if self.foreign_comment() {
            return;
        }
        let what = match self.kind() {
            // The lexer has told of it.
            Kind::Bad => return self.stop_here(),
            Kind::End => format!("the text ends where {wanted} should follow"),
            _ => format!("`{}` stands where {wanted} should", shortened(self.word())),
        };
        if !self.is_cut() {
            self.push(Diagnostic::new(span, what));
        }
        self.stop_here();
    }

    /// Stops behind a comment of another language.
    fn foreign_comment(&mut self) -> bool {
        let is_one = self.passed_comment();
        if is_one {
            self.stop_here();
        }
        is_one
    }

    /// Tells of a comment of another language, and passes over it.
    fn passed_comment(&mut self) -> bool {
        if self.kind() != Kind::Mark {
            return false;
        }
        let (first, second) = (self.span(), self.peek(1).span());
        let is_one = first.end == second.start
            && [("/", "/"), ("/", "*"), ("-", "-")]
                .iter()
                .any(|(a, b)| self.is_mark(a) && self.mark_at(1, b));
        if is_one {
            let both = first.start..second.end;
            let written = self.text.get(both.clone()).unwrap_or("").to_owned();
            let help = "a comment begins with `#`, and ends with its line";
            self.tell(both, format!("`{written}` begins no comment"), help);
            self.pass_comment(&written);
        }
        is_one
    }

    /// Passes over a comment of another language.
    fn pass_comment(&mut self, begin: &str) {
        let start = self.span().start;
        let end = if begin == "/*" { "*/" } else { "\n" };
        let rest = self.text.get(start + 2..).unwrap_or("");
        let end = rest.find(end).map_or(self.text.len(), |at| start + 2 + at + end.len());
        while !self.at_end() && self.span().start < end {
            self.bump();
        }
    }

    /// The mark, or the end of reading.
    fn expect(&mut self, mark: &str, after: &str) {
        if !self.eat_mark(mark) {
            self.unexpected(&format!("`{mark}` {after}"));
        }
    }

    /// A closing bracket of what was opened at `open`.
    fn close(&mut self, mark: &str, open: Range<usize>) {
        if self.eat_mark(mark) {
            return;
        }
        if self.kind() == Kind::Bad || self.is_cut() {
            return self.stop_here();
        }
        let opened = self.text.get(open.clone()).unwrap_or("").to_owned();
        let found = if self.at_end() {
            "the end of the text".to_owned()
        } else {
            format!("`{}`", shortened(self.word()))
        };
        let line = if self.at_end() && mark == "}" && !self.stopped { self.unclosed_line() } else { None };
        let which = line.map_or_else(String::new, |line| {
            format!("; as the lines are indented, it is the `{{` of line {line} that lacks one")
        });
        let message = format!("`{opened}` is not closed before {found}");
        self.stop(open, message, format!("put `{mark}` where it ends{which}"));
    }

    /// Does something a level deeper, unless that is too deep.
    fn deeper(&mut self, inner: impl FnOnce(&mut Self)) {
        if self.depth == DEPTH_MAX {
            if !self.stopped {
                self.is_too_deep = true;
                let message = format!("brackets are nested over {DEPTH_MAX} deep");
                self.diagnostics.push(Diagnostic::new(self.span(), message));
            }
            self.halted = true;
            return self.stop_here();
        }
        self.depth += 1;
        self.extent.depth = self.extent.depth.max(self.depth);
        stacker::maybe_grow(ROOM_BYTES, PIECE_BYTES, || inner(self));
        self.depth -= 1;
    }
}

/// Where less of the stack is left, a level more gets a new piece
const ROOM_BYTES: usize = 128 << 10;
/// of this size.
const PIECE_BYTES: usize = 2 << 20;

fn entry(first: usize) -> Entry {
    Entry::new(Node::Parentheses, small(first)..small(first), 1)
}

/// Tokens and nodes are fewer than bytes.
fn small(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

/// Long tokens are shown in part.
fn shortened(token: &str) -> String {
    const CHARS: usize = 40;
    let line = token.lines().next().unwrap_or("");
    if line.chars().count() <= CHARS && line.len() == token.len() {
        return token.to_owned();
    }
    line.chars().take(CHARS).chain("...".chars()).collect()
}

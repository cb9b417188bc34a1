//! A recursive descent over the grammar of SPARQL 1.1 and 1.2 that makes nothing but diagnostics.
//!
//! What it can repair it tells of, and goes on as if it were right; at the first thing that it cannot it stops, because whatever it said
//! after that would be a guess.

mod expression;
mod file_name;
mod group;
mod modifiers;
mod path;
mod query;
mod scope;
mod terms;
mod triples;
mod update;
mod values;

use crate::diagnostic::Diagnostic;
use crate::lexer;
use crate::token::{Kind, Token};
use scope::Scope;
use std::collections::BTreeSet;
use std::ops::Range;

/// So many mistakes are told at most.
const DIAGNOSTICS_MAX: usize = 8;
/// Brackets of all kinds in each other. Deeper texts are not looked at.
const DEPTH_MAX: usize = 150;

/// What a text should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A query.
    Query,
    /// A sequence of updates.
    Update,
}

/// What is wrong with a text, in its order; nothing where that cannot be told.
pub fn check(text: &str, form: Form) -> Vec<Diagnostic> {
    if let Some(name) = file_name::file_name(text) {
        let message = format!("{name:?} is no {}, but may be the name of a file", form.name());
        return vec![Diagnostic::new(0..text.trim_end().len(), message).help("-f FILE reads it from there")];
    }
    let (tokens, problems) = lexer::tokens(text);
    let mut parser = Parser::new(text, tokens);
    parser.diagnostics = problems;
    match form {
        Form::Query => parser.query(),
        Form::Update => parser.update(),
    }
    let Parser { mut diagnostics, .. } = parser;
    diagnostics.sort_by_key(|diagnostic| diagnostic.span.start);
    diagnostics.truncate(DIAGNOSTICS_MAX);
    diagnostics
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
    diagnostics: Vec<Diagnostic>,
    /// Prefixes that are declared, without the colon.
    prefixes: Vec<&'a str>,
    /// Those that are not and were told of.
    undeclared: BTreeSet<&'a str>,
    depth: usize,
    stopped: bool,
    scope: Scope<'a>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, tokens: Vec<Token>) -> Self {
        Self {
            text,
            tokens,
            at: 0,
            diagnostics: Vec::new(),
            prefixes: Vec::new(),
            undeclared: BTreeSet::new(),
            depth: 0,
            stopped: false,
            scope: Scope::default(),
        }
    }

    /// The token `ahead` of the next one.
    fn peek(&self, ahead: usize) -> &Token {
        let last = self.tokens.len() - 1;
        &self.tokens[(self.at + ahead).min(last)]
    }

    fn kind(&self) -> Kind {
        self.peek(0).kind
    }

    fn span(&self) -> Range<usize> {
        self.peek(0).span.clone()
    }

    /// The text of the token `ahead` of the next one.
    fn word_at(&self, ahead: usize) -> &'a str {
        self.text.get(self.peek(ahead).span.clone()).unwrap_or("")
    }

    fn word(&self) -> &'a str {
        self.word_at(0)
    }

    /// The end of the token before.
    fn before(&self) -> usize {
        self.at.checked_sub(1).map_or(0, |at| self.tokens[at.min(self.tokens.len() - 1)].span.end)
    }

    fn bump(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    fn is_mark(&self, mark: &str) -> bool {
        self.mark_at(0, mark)
    }

    fn mark_at(&self, ahead: usize, mark: &str) -> bool {
        self.peek(ahead).kind == Kind::Mark && self.word_at(ahead) == mark
    }

    fn is_keyword(&self, word: &str) -> bool {
        self.keyword_at(0, word)
    }

    fn keyword_at(&self, ahead: usize, word: &str) -> bool {
        self.peek(ahead).kind == Kind::Word && self.word_at(ahead).eq_ignore_ascii_case(word)
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
        if !self.stopped {
            self.diagnostics.push(Diagnostic::new(span, message).help(help));
        }
    }

    /// Tells of a mistake, and reads no further.
    fn stop(&mut self, span: Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        self.tell(span, message, help);
        self.stop_here();
    }

    fn stop_here(&mut self) {
        self.stopped = true;
        self.at = self.tokens.len() - 1;
    }

    /// Stops at the next token, which is none of those that could follow.
    fn unexpected(&mut self, wanted: &str) {
        let span = self.span();
        let what = match self.kind() {
            // The lexer has told of it.
            Kind::Bad => return self.stop_here(),
            Kind::End => format!("the text ends where {wanted} should follow"),
            _ => format!("`{}` stands where {wanted} should", shortened(self.word())),
        };
        if !self.stopped {
            self.diagnostics.push(Diagnostic::new(span, what));
        }
        self.stop_here();
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
        if self.kind() == Kind::Bad {
            return self.stop_here();
        }
        let opened = self.text.get(open.clone()).unwrap_or("").to_owned();
        let found = if self.at_end() {
            "the end of the text".to_owned()
        } else {
            format!("`{}`", shortened(self.word()))
        };
        self.stop(
            open,
            format!("`{opened}` is not closed before {found}"),
            format!("put `{mark}` where it ends"),
        );
    }

    /// Does something a level deeper, unless that is too deep.
    fn deeper(&mut self, inner: impl FnOnce(&mut Self)) {
        if self.depth == DEPTH_MAX {
            return self.stop_here();
        }
        self.depth += 1;
        inner(self);
        self.depth -= 1;
    }
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

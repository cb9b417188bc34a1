//! Going on behind a mistake.
//!
//! A mistake that cannot be repaired unwinds the descent as the end of the text would ([`Parser::stop_here`]), up to the next place that knows where it could
//! go on: a group at `.`, `}`, `{` or the keyword of its next part, a property list at `;`, a query at its next clause, a request at its
//! next operation. What was between is passed over. The first token behind is not complained of: that would be of the same mistake.
//!
//! Nothing is read twice, and reading goes on a fixed number of times, so all takes time in proportion to the text.

use super::group::PARTS;
use super::modifiers::CLAUSES;
use super::query::{FORMS, PROLOGUE, UPDATES};
use super::{DEPTH_MAX, DIAGNOSTICS_MAX, Parser};
use crate::token::Kind;

/// So often reading goes on in a text.
const RESUMED_MAX: usize = 64;

impl Parser<'_> {
    /// Whether reading can go on behind the mistake that stopped it: at that, so far.
    fn resume(&mut self) -> bool {
        let can = self.stopped
            && self.explains
            && !self.halted
            && self.resumed < RESUMED_MAX
            && self.diagnostics.len() < DIAGNOSTICS_MAX;
        if can {
            self.stopped = false;
            self.at = self.failed;
            self.resumed += 1;
            // Where there are too many of them, that is the mistake.
            if self.open_braces > 0 && self.is_mark("{") {
                self.open_braces -= 1;
                self.bump();
            }
        }
        can
    }

    /// How many braces are opened more often than closed.
    pub(super) fn count_open_braces(&self) -> usize {
        let braces = |brace: &str| (0..self.tokens.len()).filter(|at| self.token_mark(*at) == brace).count();
        braces("{").saturating_sub(braces("}"))
    }

    /// Reading goes on with the next token.
    pub(super) fn resumed_here(&mut self) -> bool {
        self.quiet = self.quiet.max(self.at + 1);
        true
    }

    /// Goes on with the next token for which `ends` holds; whether that could be.
    fn resume_at(&mut self, ends: impl Fn(&Self) -> bool) -> bool {
        if !self.resume() {
            return false;
        }
        while !self.at_end() && !ends(self) {
            self.bump();
        }
        self.resumed_here()
    }

    /// Goes on at the mistake.
    pub(super) fn resume_at_once(&mut self) -> bool {
        self.resume_at(|_| true)
    }

    /// How many `(` and `[` are open at the next token, of those since another token.
    fn open_since(&self, start: usize) -> usize {
        (start..self.at).fold(0_usize, |open, at| match self.token_mark(at) {
            "(" | "[" => open + 1,
            ")" | "]" => open.saturating_sub(1),
            _ => open,
        })
    }

    fn token_mark(&self, at: usize) -> &str {
        let token = self.tokens.get(at).filter(|token| token.kind() == Kind::Mark);
        token.and_then(|token| self.text.get(token.span())).unwrap_or("")
    }

    /// `:p{1,3}` is passed over as a whole.
    pub(super) fn pass_repetition(&mut self) -> bool {
        let is_one = self.is_mark("{") && (self.peek(1).kind() == Kind::Number || self.mark_at(1, ","));
        if is_one {
            while !self.at_end() && !self.is_mark("}") {
                self.bump();
            }
            self.bump();
        }
        is_one
    }

    /// Whether what is next ends a triple, whatever was open in it.
    fn ends_block(&self) -> bool {
        self.at_end()
            || self.is_mark(".")
            || self.is_mark("}")
            || self.is_mark("{")
            || self.is_one_of(&PARTS)
            || self.is_keyword("WHERE") && self.mark_at(1, "{")
    }

    /// Whether what is next is of the block in which the mistake was.
    fn is_in_block(&mut self) -> bool {
        while self.pass_repetition() {}
        !self.ends_block()
    }

    /// In a group, behind a mistake in the part that began with a token.
    pub(super) fn resume_in_group(&mut self, start: usize) -> bool {
        if !self.resume() {
            return false;
        }
        let mut open = self.open_since(start);
        if self.at == start {
            // What begins nothing is passed over, and what is behind it may be right.
            let is_stray = self.kind() == Kind::Mark;
            self.bump();
            if is_stray && (self.begins_term(0) || self.ends_block()) {
                return self.resumed_here();
            }
        }
        while self.is_in_block() {
            let mark = self.token_mark(self.at);
            if matches!(mark, "(" | "[") {
                open += 1;
            } else if matches!(mark, ")" | "]") && open > 0 {
                open -= 1;
                if open == 0 {
                    self.bump();
                    break;
                }
            }
            self.bump();
        }
        self.resumed_here()
    }

    /// Behind a mistake in a triple, whose subject was read.
    pub(super) fn resume_in_properties(&mut self, start: usize) -> bool {
        if !self.resume() {
            return false;
        }
        let mut open = self.open_since(start);
        while self.is_in_block() {
            let mark = self.token_mark(self.at);
            match mark {
                ";" | "]" | "|}" if open == 0 => break,
                "(" | "[" => open += 1,
                ")" | "]" => open = open.saturating_sub(1),
                _ => {}
            }
            self.bump();
        }
        let has_more = self.is_mark(";");
        self.resumed_here();
        // What follows it at once is of the same.
        self.quiet += usize::from(has_more);
        true
    }

    /// Behind a mistake in a triple.
    pub(super) fn resume_behind_triple(&mut self) -> bool {
        self.resume_at(|p| p.ends_block() || p.is_mark("|}"))
    }

    /// Behind a mistake in braces, at the one that closes them.
    pub(super) fn resume_behind_group(&mut self) -> bool {
        if !self.resume() {
            return false;
        }
        let mut open = 0_usize;
        while !(self.at_end() || open == 0 && self.is_mark("}")) {
            match self.token_mark(self.at) {
                "{" => open += 1,
                "}" => open -= 1,
                _ => {}
            }
            self.bump();
        }
        self.resumed_here()
    }

    /// Behind a mistake among data in braces, at their end.
    pub(super) fn resume_behind_data(&mut self) -> bool {
        self.resume_at(|p| p.is_mark("}"))
    }

    /// Behind a mistake in a declaration.
    pub(super) fn resume_in_prologue(&mut self) -> bool {
        // What was declared is not known any more.
        self.knows_prefixes &= !self.stopped;
        self.resume_at(|p| {
            p.is_one_of(&PROLOGUE)
                || p.is_one_of(&FORMS)
                || p.is_one_of(&UPDATES)
                || p.kind() == Kind::LanguageTag
        })
    }

    /// Behind a mistake in what is selected or described.
    pub(super) fn resume_before_pattern(&mut self) -> bool {
        self.resume_at(|p| p.is_one_of(&["WHERE", "FROM"]) || p.is_mark("{") || p.is_mark("}"))
    }

    /// Behind a mistake in a clause that began with a token.
    pub(super) fn resume_at_clause(&mut self, start: usize) -> bool {
        self.resume_at(|p| p.at > start && p.is_one_of(&CLAUSES) || p.is_mark("}"))
    }

    /// Behind a mistake in an operation that began with a token.
    pub(super) fn resume_at_operation(&mut self, start: usize) -> bool {
        if !self.resume() {
            return false;
        }
        let mut open = (start..self.at).fold(0_usize, |open, at| match self.token_mark(at) {
            "{" => open + 1,
            "}" => open.saturating_sub(1),
            _ => open,
        });
        self.at = self.at.max(start + 1).min(self.tokens.len() - 1);
        while !self.at_end() {
            match self.token_mark(self.at) {
                "{" => open += 1,
                "}" => open = open.saturating_sub(1),
                ";" if open == 0 => break,
                _ if open == 0 && self.is_one_of(&UPDATES) && !self.keyword_at(1, "TO") => break,
                _ => {}
            }
            self.bump();
        }
        self.resumed_here()
    }

    /// The line whose `{` lacks its `}`, as lines are indented: a `}` that begins a line stands further to the left than the line of what it closes.
    pub(super) fn unclosed_line(&self) -> Option<usize> {
        let (mut line, mut indent, mut end) = (1, 0, 0);
        let mut open = Vec::new();
        for token in &self.tokens {
            let gap = self.text.get(end..token.start()).unwrap_or("");
            let begin = gap.rfind('\n').map(|at| at + 1).or((end == 0).then_some(0));
            indent = begin.map_or(indent, |begin| gap.len() - begin);
            line += gap.matches('\n').count();
            let written = self.text.get(token.span()).unwrap_or("");
            match written {
                "{" if open.len() < DEPTH_MAX => open.push((line, indent)),
                "{" => return None,
                "}" => {
                    let (of, before) = open.pop()?;
                    if begin.is_some() && indent < before {
                        return Some(of);
                    }
                }
                _ => {}
            }
            line += written.matches('\n').count();
            end = token.end();
        }
        None
    }
}

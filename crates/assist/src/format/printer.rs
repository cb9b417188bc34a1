//! Writes tokens and comments, each where it belongs.

use super::roles::Roles;
use lode_syntax::{Token, TokenKind, Tree};

const INDENT: &str = "  ";
/// Deeper groups are not indented more.
const DEPTH_MAX: usize = 20;
/// Words that begin a line in a group,
const IN_GROUPS: [&str; 14] = [
    "FILTER", "OPTIONAL", "BIND", "VALUES", "GRAPH", "MINUS", "SERVICE", "LATERAL", "SELECT", "GROUP",
    "HAVING", "ORDER", "LIMIT", "OFFSET",
];
/// outside of one,
const OUTSIDE: [&str; 11] =
    ["PREFIX", "BASE", "VERSION", "FROM", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "VALUES", "USING"];
/// and those that begin an operation, or a part of one.
const OPERATIONS: [&str; 14] = [
    "SELECT",
    "CONSTRUCT",
    "DESCRIBE",
    "ASK",
    "INSERT",
    "DELETE",
    "WITH",
    "LOAD",
    "CLEAR",
    "DROP",
    "CREATE",
    "ADD",
    "MOVE",
    "COPY",
];
/// Words that have their parentheses close to them.
const CLOSE: [&str; 3] = ["FILTER", "BIND", "HAVING"];

/// A comment between two tokens.
pub(super) struct Comment<'t> {
    pub text: &'t str,
    /// Line ends since what was before it.
    lines: usize,
}

/// The comments of what is between two tokens.
pub(super) fn comments(gap: &str) -> impl Iterator<Item = Comment<'_>> {
    let mut rest = gap;
    std::iter::from_fn(move || {
        let start = rest.find('#')?;
        let lines = rest.get(..start)?.matches('\n').count();
        let comment = rest.get(start..)?;
        let end = comment.find(['\n', '\r']).unwrap_or(comment.len());
        rest = comment.get(end..)?;
        Some(Comment { text: comment.get(..end)?.trim_end(), lines })
    })
}

/// What is open in a group.
#[derive(Debug, Clone, Copy, Default)]
struct Level {
    parentheses: usize,
    brackets: usize,
    /// A statement goes on with its next predicate.
    goes_on: bool,
}

pub(super) struct Printer<'t> {
    tree: &'t Tree<'t>,
    roles: &'t Roles,
    /// Paths have no spaces in them.
    dense: bool,
    out: String,
    levels: Vec<Level>,
    /// What comes next begins a line,
    breaks: bool,
    /// behind an empty one.
    blank: bool,
    /// The last statement outside of groups was a declaration.
    declared: bool,
    /// A comment was written last.
    commented: bool,
}

impl<'t> Printer<'t> {
    pub fn new(tree: &'t Tree<'t>, roles: &'t Roles, dense: bool) -> Self {
        let levels = vec![Level::default()];
        Self {
            tree,
            roles,
            dense,
            out: String::new(),
            levels,
            breaks: false,
            blank: false,
            declared: false,
            commented: false,
        }
    }

    pub fn print(mut self) -> String {
        let mut end = 0;
        for (at, token) in self.tree.tokens().iter().enumerate() {
            let is_end = token.kind() == TokenKind::End;
            let until = if is_end { self.tree.text().len() } else { token.start() };
            self.gap(self.tree.text().get(end..until).unwrap_or(""), at);
            if is_end {
                break;
            }
            self.token(at, *token);
            end = token.end();
        }
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        self.out
    }

    fn level(&mut self) -> &mut Level {
        if self.levels.is_empty() {
            self.levels.push(Level::default());
        }
        let last = self.levels.len() - 1;
        &mut self.levels[last]
    }

    fn here(&self) -> Level {
        self.levels.last().copied().unwrap_or_default()
    }

    fn written(&self, at: usize) -> &'t str {
        self.tree.token_text(at)
    }

    fn before(&self, at: usize) -> &'t str {
        at.checked_sub(1).map_or("", |before| self.written(before))
    }

    /// Comments, and whether there was an empty line.
    fn gap(&mut self, gap: &str, at: usize) {
        let mut rest_lines = gap.matches('\n').count();
        let opened = self.before(at) == "{";
        let mut first = true;
        for comment in comments(gap) {
            rest_lines -= comment.lines;
            if comment.lines == 0 && first && !self.out.is_empty() && !self.out.ends_with('\n') {
                self.out.push(' ');
            } else {
                self.blank |= comment.lines > 1 && !(first && opened);
                self.new_line(false);
            }
            self.out.push_str(comment.text);
            (self.breaks, self.commented) = (true, true);
            first = false;
        }
        self.blank |= rest_lines > 1 && self.breaks && !(first && opened);
    }

    /// Begins a line, unless one has just begun.
    fn new_line(&mut self, closes: bool) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        if self.blank && !closes && !self.out.is_empty() {
            self.out.push('\n');
        }
        (self.breaks, self.blank) = (false, false);
        let depth = self.levels.len() - 1 + usize::from(self.here().goes_on && !closes);
        let depth = depth.saturating_sub(usize::from(closes));
        (0..depth.min(DEPTH_MAX)).for_each(|_| self.out.push_str(INDENT));
    }

    fn token(&mut self, at: usize, token: Token) {
        let written = self.written(at);
        let is_word = token.kind() == TokenKind::Word;
        let is_mark = token.kind() == TokenKind::Mark;
        let closes = is_mark && written == "}";
        if is_word && self.here().parentheses == 0 {
            self.word(at, written);
        }
        let stays = is_mark && matches!(written, "." | ";" | ")" | "," | "&&" | "||") || self.is(at, "UNION");
        let is_behind_comment = std::mem::take(&mut self.commented);
        if self.breaks && stays && self.before(at) == "}" && !is_behind_comment {
            (self.breaks, self.blank) = (false, false);
        }
        let is_empty = closes && self.before(at) == "{" && !is_behind_comment;
        if is_empty {
            (self.breaks, self.blank) = (false, false);
            self.out.push(' ');
        } else if closes || self.breaks {
            if closes {
                self.level().goes_on = false;
            }
            self.new_line(closes);
        } else if !self.out.is_empty() && self.has_space(at) {
            self.out.push(' ');
        }
        if is_word && is_keyword(written) {
            self.out.push_str(&written.to_ascii_uppercase());
        } else {
            self.out.push_str(written);
        }
        if is_mark {
            self.mark(written);
        }
        self.breaks |= self.roles.ends_row(at);
    }

    /// Whether a token is this word.
    fn is(&self, at: usize, word: &str) -> bool {
        self.written(at).eq_ignore_ascii_case(word)
    }

    /// What a word does to the line that it is on.
    fn word(&mut self, at: usize, written: &str) {
        let is_one_of = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(written));
        if self.levels.len() > 1 {
            if is_one_of(&IN_GROUPS) && at.checked_sub(1).is_none_or(|before| !self.is(before, "NOT")) {
                self.level().goes_on = false;
                self.breaks = true;
            }
            return;
        }
        if is_one_of(&OPERATIONS) {
            self.breaks = true;
            self.blank |= self.declared;
            self.declared = false;
        } else if is_one_of(&OUTSIDE) {
            self.breaks = true;
            self.declared = is_one_of(&["PREFIX", "BASE", "VERSION"]);
        }
    }

    /// What a mark opens, closes or ends.
    fn mark(&mut self, mark: &str) {
        let in_group = self.levels.len() > 1;
        let level = self.level();
        let is_flat = level.parentheses == 0 && level.brackets == 0;
        match mark {
            "{" => {
                level.goes_on = false;
                self.levels.push(Level::default());
                self.breaks = true;
            }
            "}" => {
                if self.levels.len() > 1 {
                    self.levels.pop();
                }
                self.breaks = true;
            }
            "(" | "<<(" => level.parentheses += 1,
            ")" | ")>>" => level.parentheses = level.parentheses.saturating_sub(1),
            "[" | "{|" | "<<" => level.brackets += 1,
            "]" | "|}" | ">>" => level.brackets = level.brackets.saturating_sub(1),
            "." if is_flat => {
                level.goes_on = false;
                self.breaks = true;
            }
            ";" if is_flat && in_group => {
                level.goes_on = true;
                self.breaks = true;
            }
            ";" if is_flat => (self.breaks, self.blank) = (true, true),
            _ => {}
        }
    }

    /// Whether a space stands before a token.
    fn has_space(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1) else { return false };
        let (Some(left), Some(right)) = (self.tree.tokens().get(before), self.tree.tokens().get(at)) else {
            return false;
        };
        let (a, b) = (self.written(before), self.written(at));
        let is_mark = |token: &Token| token.kind() == TokenKind::Mark;
        if right.kind() == TokenKind::LanguageTag || a == "^^" || b == "^^" {
            return false;
        }
        // A sign that is close to its number is a part of it.
        if is_mark(left) && matches!(a, "+" | "-") && right.kind() == TokenKind::Number {
            return left.end() < right.start();
        }
        if is_mark(left) && a == "(" || is_mark(right) && matches!(b, ")" | ",") {
            return false;
        }
        if is_mark(left) && is_mark(right) && a == "[" && b == "]" {
            return false;
        }
        if self.roles.is_unary(before) {
            return false;
        }
        if self.dense && self.roles.is_in_path(before) && self.roles.is_in_path(at) {
            return false;
        }
        if is_mark(right) && b == "(" {
            let is_function = left.kind() == TokenKind::Word
                && (!is_keyword(a) || CLOSE.iter().any(|word| word.eq_ignore_ascii_case(a)));
            return !(is_function || self.roles.is_called(before));
        }
        true
    }
}

/// Whether a word is written in capitals: names of functions stay as they are, and so do `a`, `true` and `false`.
fn is_keyword(word: &str) -> bool {
    let vocabulary = lode_sparql::parse::vocabulary();
    let is_boolean = ["true", "false"].iter().any(|known| known.eq_ignore_ascii_case(word));
    !(word == "a" || is_boolean || vocabulary.function(word).is_some() || vocabulary.is_aggregate(word))
}

//! What follows the pattern of a query: GROUP BY, HAVING, ORDER BY, LIMIT, OFFSET, VALUES.

use super::Parser;
use super::no_aggregates::IN_GROUP_BY;
use super::scope::bare;
use crate::spelling;
use crate::token::Kind;
use crate::tree::Node;

/// In the order in which they stand.
pub(super) const CLAUSES: [&str; 6] = ["GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "VALUES"];
/// What compares or joins.
const OPERATORS: [&str; 12] = ["=", "!=", "<", ">", "<=", ">=", "&&", "||", "+", "-", "*", "/"];

impl<'a> Parser<'a> {
    /// All of them; the variables of GROUP BY, if there is one.
    pub(super) fn modifiers(&mut self) -> Option<Vec<&'a str>> {
        let mut keys: Option<Vec<&'a str>> = None;
        let mut last: Option<usize> = None;
        let mut seen = [false; CLAUSES.len()];
        loop {
            let joined = self.joined_words();
            let written = CLAUSES.iter().position(|clause| self.is_keyword(clause));
            let Some(rank) = joined.or(written).or_else(|| self.misspelt_clause()) else { return keys };
            let start = self.at;
            // LIMIT and OFFSET may be in either order.
            let place = |rank: usize| if rank == 4 { 3 } else { rank };
            if std::mem::replace(&mut seen[rank], true) {
                let help = if matches!(CLAUSES[rank], "GROUP" | "ORDER") {
                    "list all behind one: BY ?a ?b"
                } else {
                    "keep one of them"
                };
                self.tell(self.span(), format!("{} stands twice", full(CLAUSES[rank])), help);
            }
            if let Some(before) = last.filter(|last| place(*last) > place(rank)) {
                let (now, before) = (full(CLAUSES[rank]), full(CLAUSES[before]));
                self.tell(
                    self.span(),
                    format!("{now} stands behind {before}"),
                    format!("put {now} before {before}"),
                );
            }
            last = Some(rank);
            if CLAUSES[rank] == "VALUES" {
                self.values();
                self.resume_at_clause(start);
                continue;
            }
            let node = self.open();
            self.bump();
            if joined.is_none() && matches!(CLAUSES[rank], "GROUP" | "ORDER") {
                self.by(CLAUSES[rank]);
            }
            let kind = match CLAUSES[rank] {
                "GROUP" => {
                    self.without_aggregates(&IN_GROUP_BY, |p| {
                        keys.get_or_insert_default().extend(p.group_by())
                    });
                    Node::GroupBy
                }
                "HAVING" => {
                    self.having();
                    Node::Having
                }
                "ORDER" => {
                    self.order_by();
                    Node::OrderBy
                }
                limit => {
                    self.limit(limit);
                    if limit == "LIMIT" { Node::Limit } else { Node::Offset }
                }
            };
            self.close_node(node, kind);
            if self.stopped && !self.resume_at_clause(start) {
                return keys;
            }
        }
    }

    /// Whether the next token begins one of them.
    pub(super) fn begins_clause(&self) -> bool {
        self.is_one_of(&CLAUSES)
    }

    /// `GROUPBY` and `ORDERBY`: the clause that is meant.
    fn joined_words(&mut self) -> Option<usize> {
        if !self.is_one_of(&["GROUPBY", "ORDERBY"]) {
            return None;
        }
        let word = self.word().to_ascii_uppercase();
        let message = format!("`{}` is two words", self.word());
        self.tell(self.span(), message, format!("write {} BY", &word[..5]));
        CLAUSES.iter().position(|clause| word.starts_with(clause))
    }

    /// The clause that a word stands for, which is told of.
    fn misspelt_clause(&mut self) -> Option<usize> {
        if !self.explains
            || self.kind() != Kind::Word
            || !matches!(self.peek(1).kind(), Kind::Word | Kind::Number | Kind::Variable)
        {
            return None;
        }
        let word = self.word();
        let meant = spelling::meant(word, CLAUSES).filter(|meant| word.len() > 3 || meant.len() < 6)?;
        self.tell(self.span(), format!("`{word}` is no keyword"), format!("did you mean {meant}?"));
        CLAUSES.iter().position(|clause| *clause == meant)
    }

    /// The variable that stands here, or another.
    fn variable_or(&self, other: &str) -> String {
        if self.kind() == Kind::Variable { super::shortened(self.word()) } else { other.to_owned() }
    }

    fn by(&mut self, clause: &str) {
        if !self.eat_keyword("BY") {
            self.tell(
                self.span(),
                format!("{clause} without BY"),
                format!("write {clause} BY {}", self.variable_or("?x")),
            );
            if self.kind() != Kind::Variable && !self.is_mark("(") {
                self.stop_here();
            }
        }
    }

    fn group_by(&mut self) -> Vec<&'a str> {
        let mut keys = Vec::new();
        let start = self.at;
        loop {
            match self.kind() {
                Kind::Variable => {
                    keys.push(bare(self.word()));
                    self.leaf(Node::Variable);
                }
                Kind::Mark if self.is_mark("(") => keys.extend(self.key()),
                Kind::Mark if self.is_mark(",") && self.at > start => self.comma("what is grouped by"),
                _ if self.begins_call() => self.called(),
                _ => break,
            }
        }
        if self.at == start {
            self.nothing_by("GROUP BY");
        }
        keys
    }

    /// `(expression)` or `(expression AS ?name)` of GROUP BY; the name.
    fn key(&mut self) -> Option<&'a str> {
        let (node, open) = (self.open(), self.span());
        self.bump();
        self.expression();
        let name = self.eat_keyword("AS").then(|| {
            let name = bare(self.word());
            self.variable("a variable behind AS");
            name
        });
        self.close(")", open);
        self.close_node(node, if name.is_some() { Node::As } else { Node::Parentheses });
        name
    }

    /// Whether a call of a function may be next, which conditions, keys and orders may be without parentheses.
    fn begins_call(&self) -> bool {
        match self.kind() {
            Kind::Iri | Kind::Name => true,
            Kind::Word if self.mark_at(1, "(") => {
                !self.is_one_of(&CLAUSES) && !self.is_one_of(&["ASC", "DESC"])
            }
            Kind::Word => self.begins_exists(),
            _ => false,
        }
    }

    fn begins_exists(&self) -> bool {
        self.is_keyword("EXISTS") || self.is_keyword("NOT") && self.keyword_at(1, "EXISTS")
    }

    /// A call of a function, which an IRI alone is not.
    fn called(&mut self) {
        let span = self.span();
        if self.begins_exists() {
            return self.exists();
        }
        let is_iri = self.kind() != Kind::Word;
        let nodes = self.entries.len();
        self.call();
        let called = self.entries.get(nodes).is_some_and(|entry| entry.node() == Node::IriCall);
        if is_iri && !called && !self.stopped {
            let help = format!(
                "a function is called with its arguments: {}(?x)",
                super::shortened(self.text.get(span.clone()).unwrap_or(""))
            );
            self.stop(span, "an IRI where an expression stands", help);
        }
    }

    /// An expression in parentheses.
    pub(super) fn parentheses(&mut self) {
        let (node, open) = (self.open(), self.span());
        self.bump();
        self.expression();
        self.close(")", open);
        self.close_node(node, Node::Parentheses);
    }

    fn nothing_by(&mut self, clause: &str) {
        if self.kind() == Kind::Word && !CLAUSES.iter().any(|other| self.is_keyword(other)) {
            let word = self.word();
            return self.stop(
                self.span(),
                format!("`{word}` is no variable"),
                format!("a variable begins with `?`: {clause} ?{word}"),
            );
        }
        self.unexpected(&format!("a variable or an expression in parentheses behind {clause}"));
    }

    fn having(&mut self) {
        loop {
            self.constraint("HAVING");
            if !(self.is_mark("(") || self.begins_call()) {
                return;
            }
        }
    }

    /// What FILTER and HAVING have: an expression in parentheses, or a call of a function.
    pub(super) fn constraint(&mut self, clause: &str) {
        let span = self.span();
        match self.kind() {
            Kind::Mark if self.is_mark("(") => self.parentheses(),
            Kind::Word if self.begins_exists() => return self.exists(),
            _ if self.begins_call() => self.called(),
            Kind::Word if self.vocabulary.function(self.word()).is_some() => {
                let word = self.word();
                return self.stop(
                    span,
                    format!("the arguments of {word} stand in parentheses"),
                    format!("{word}(...)"),
                );
            }
            _ => {
                return self.stop(
                    span,
                    format!("the condition of {clause} stands in parentheses"),
                    format!("{clause} (?x > 1)"),
                );
            }
        }
        if self.kind() == Kind::Mark
            && OPERATORS.contains(&self.word())
            && !self.is_mark("*")
            && !self.is_signed()
        {
            self.stop(
                span,
                format!("the whole condition of {clause} stands in parentheses"),
                format!("`{}` and what follows is outside: {clause} (... {} ...)", self.word(), self.word()),
            );
        }
    }

    fn order_by(&mut self) {
        let start = self.at;
        loop {
            let node = self.place();
            match self.kind() {
                Kind::Variable => {
                    let (name, span) = (self.word(), self.span());
                    self.leaf(Node::Variable);
                    if self.is_one_of(&["ASC", "DESC"]) && !self.mark_at(1, "(") {
                        let word = self.word().to_ascii_uppercase();
                        self.tell(
                            span.start..self.span().end,
                            format!("{word} stands before the variable"),
                            format!("write {word}({name})"),
                        );
                        self.bump();
                    }
                }
                Kind::Word if self.is_one_of(&["ASC", "DESC"]) => {
                    let word = self.word();
                    self.bump();
                    if !self.is_mark("(") {
                        let word = word.to_ascii_uppercase();
                        self.tell(
                            self.span(),
                            format!("what is ordered stands in parentheses behind {word}"),
                            format!("write {word}({})", self.variable_or("?x")),
                        );
                        continue;
                    }
                    self.parentheses();
                }
                Kind::Mark if self.is_mark("(") => self.parentheses(),
                Kind::Mark if self.is_mark(",") && self.at > start => {
                    self.comma("what is ordered by");
                    continue;
                }
                _ if self.begins_call() => self.called(),
                _ => break,
            }
            let order = self.wrap(node);
            self.close_node(order, Node::Order);
        }
        if self.at == start {
            self.nothing_by("ORDER BY");
        }
    }

    fn limit(&mut self, clause: &str) {
        let (span, word) = (self.span(), self.word());
        let is_integer = self.kind() == Kind::Number && word.bytes().all(|byte| byte.is_ascii_digit());
        if !is_integer {
            return self.stop(
                span,
                format!("{clause} takes a number without sign and fraction"),
                format!("write {clause} 10"),
            );
        }
        self.bump();
        if self.is_mark(",") && self.peek(1).kind() == Kind::Number {
            let help = format!("write LIMIT {} OFFSET {word}", self.word_at(1));
            self.stop(self.span(), format!("{clause} takes one number"), help);
        } else if self.kind() == Kind::Number {
            self.stop(self.span(), format!("{clause} takes one number"), "write LIMIT 10 OFFSET 20");
        }
    }
}

/// The clause as people call it.
fn full(clause: &str) -> String {
    if matches!(clause, "GROUP" | "ORDER") { format!("{clause} BY") } else { clause.to_owned() }
}

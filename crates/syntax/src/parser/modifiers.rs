//! What follows the pattern of a query: GROUP BY, HAVING, ORDER BY, LIMIT, OFFSET, VALUES.

use super::Parser;
use super::scope::bare;
use crate::spelling;
use crate::token::Kind;

/// In the order in which they stand.
const CLAUSES: [&str; 6] = ["GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "VALUES"];
/// What compares or joins.
const OPERATORS: [&str; 12] = ["=", "!=", "<", ">", "<=", ">=", "&&", "||", "+", "-", "*", "/"];

impl<'a> Parser<'a> {
    /// All of them; the variables of GROUP BY, if there is one.
    pub(super) fn modifiers(&mut self) -> Option<Vec<&'a str>> {
        let mut keys = None;
        let mut last: Option<usize> = None;
        let mut seen = [false; CLAUSES.len()];
        loop {
            self.joined_words();
            let Some(rank) = CLAUSES.iter().position(|clause| self.is_keyword(clause)) else {
                if self.misspelt_clause() {
                    continue;
                }
                return keys;
            };
            // LIMIT and OFFSET may be in either order.
            let place = |rank: usize| if rank == 4 { 3 } else { rank };
            if std::mem::replace(&mut seen[rank], true) {
                let help = if matches!(CLAUSES[rank], "GROUP" | "ORDER") {
                    "list all behind one: BY ?a ?b"
                } else {
                    "keep one of them"
                };
                self.stop(self.span(), format!("{} stands twice", full(CLAUSES[rank])), help);
                return keys;
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
            self.bump();
            match CLAUSES[rank] {
                "GROUP" => keys = Some(self.group_by()),
                "HAVING" => self.having(),
                "ORDER" => self.order_by(),
                "VALUES" => self.values(),
                limit => self.limit(limit),
            }
        }
    }

    /// `GROUPBY` and `ORDERBY`.
    fn joined_words(&mut self) {
        let word = self.word().to_ascii_uppercase();
        if self.kind() == Kind::Word && matches!(word.as_str(), "GROUPBY" | "ORDERBY") {
            self.stop(
                self.span(),
                format!("`{}` is two words", self.word()),
                format!("write {} BY", &word[..5]),
            );
        }
    }

    fn misspelt_clause(&mut self) -> bool {
        if self.kind() != Kind::Word
            || !matches!(self.peek(1).kind, Kind::Word | Kind::Number | Kind::Variable)
        {
            return false;
        }
        let word = self.word();
        let Some(meant) = spelling::meant(word, CLAUSES).filter(|meant| word.len() > 3 || meant.len() < 6)
        else {
            return false;
        };
        self.stop(self.span(), format!("`{word}` is no keyword"), format!("did you mean {meant}?"));
        false
    }

    fn by(&mut self, clause: &str) {
        if !self.eat_keyword("BY") {
            self.stop(self.span(), format!("{clause} without BY"), format!("write {clause} BY ?x"));
        }
    }

    fn group_by(&mut self) -> Vec<&'a str> {
        self.by("GROUP");
        let mut keys = Vec::new();
        let start = self.at;
        loop {
            match self.kind() {
                Kind::Variable => {
                    keys.push(bare(self.word()));
                    self.bump();
                }
                Kind::Mark if self.is_mark("(") => {
                    let open = self.span();
                    self.bump();
                    self.expression();
                    if self.eat_keyword("AS") {
                        keys.push(bare(self.word()));
                        self.variable("a variable behind AS");
                    }
                    self.close(")", open);
                }
                Kind::Mark if self.is_mark(",") && self.at > start => self.comma("what is grouped by"),
                Kind::Word if self.mark_at(1, "(") && !self.is_keyword("HAVING") => self.call(),
                Kind::Iri | Kind::Name => self.call(),
                _ => break,
            }
        }
        if self.at == start {
            self.nothing_by("GROUP BY");
        }
        keys
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
            let is_call = self.kind() == Kind::Word && self.mark_at(1, "(") && !self.is_one_of(&CLAUSES);
            if !(self.is_mark("(") || is_call) {
                return;
            }
        }
    }

    /// What FILTER and HAVING have: an expression in parentheses, or a call of a function.
    pub(super) fn constraint(&mut self, clause: &str) {
        let span = self.span();
        match self.kind() {
            Kind::Mark if self.is_mark("(") => {
                self.bump();
                self.expression();
                self.close(")", span.clone());
            }
            Kind::Word
                if self.is_keyword("EXISTS") || self.is_keyword("NOT") && self.keyword_at(1, "EXISTS") =>
            {
                self.expression();
                return;
            }
            Kind::Word if self.mark_at(1, "(") => self.call(),
            Kind::Iri | Kind::Name => self.call(),
            Kind::Word if crate::functions::arity(self.word()).is_some() => {
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
        if self.kind() == Kind::Mark && OPERATORS.contains(&self.word()) && !self.is_mark("*") {
            self.stop(
                span,
                format!("the whole condition of {clause} stands in parentheses"),
                format!("`{}` and what follows is outside: {clause} (... {} ...)", self.word(), self.word()),
            );
        }
    }

    fn order_by(&mut self) {
        self.by("ORDER");
        let start = self.at;
        loop {
            match self.kind() {
                Kind::Variable => {
                    let (name, span) = (self.word(), self.span());
                    self.bump();
                    if self.is_one_of(&["ASC", "DESC"]) && !self.mark_at(1, "(") {
                        let word = self.word().to_ascii_uppercase();
                        return self.stop(
                            span.start..self.span().end,
                            format!("{word} stands before the variable"),
                            format!("write {word}({name})"),
                        );
                    }
                }
                Kind::Word if self.is_one_of(&["ASC", "DESC"]) => {
                    let word = self.word().to_ascii_uppercase();
                    self.bump();
                    let open = self.span();
                    if !self.eat_mark("(") {
                        return self.stop(
                            open,
                            format!("what is ordered stands in parentheses behind {word}"),
                            format!("write {word}(?x)"),
                        );
                    }
                    self.expression();
                    self.close(")", open);
                }
                Kind::Mark if self.is_mark("(") => {
                    let open = self.span();
                    self.bump();
                    self.expression();
                    self.close(")", open);
                }
                Kind::Mark if self.is_mark(",") && self.at > start => self.comma("what is ordered by"),
                Kind::Word if self.mark_at(1, "(") && !self.is_one_of(&CLAUSES) => self.call(),
                Kind::Iri | Kind::Name => self.call(),
                _ => break,
            }
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
        if self.is_mark(",") && self.peek(1).kind == Kind::Number {
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

//! Expressions.

use super::Parser;
use super::scope::bare;
use crate::functions::{self, Arity};
use crate::token::Kind;

/// How strongly a binary operator binds.
fn strength(operator: &str) -> Option<u8> {
    Some(match operator {
        "||" => 1,
        "&&" => 2,
        "=" | "!=" | "<" | ">" | "<=" | ">=" => COMPARISON,
        "+" | "-" => 4,
        "*" | "/" => 5,
        _ => return None,
    })
}

const COMPARISON: u8 = 3;

impl Parser<'_> {
    /// A whole expression.
    pub(super) fn expression(&mut self) {
        self.deeper(|p| p.operators(1));
    }

    /// Operands and operators that bind at least so strongly.
    fn operators(&mut self, least: u8) {
        self.operand();
        let mut compared = false;
        while !self.stopped {
            self.mistaken_operator();
            let operator = self.word();
            if least <= COMPARISON
                && (self.is_keyword("IN") || self.is_keyword("NOT") && self.keyword_at(1, "IN"))
            {
                self.eat_keyword("NOT");
                self.bump();
                self.in_list();
                continue;
            }
            if self.kind() != Kind::Mark {
                return;
            }
            let Some(strength) = strength(operator).filter(|strength| *strength >= least) else { return };
            if strength == COMPARISON && std::mem::replace(&mut compared, true) {
                return self.stop(self.span(), "comparisons in a row", "compare twice: ?a < ?b && ?b < ?c");
            }
            let span = self.span();
            self.bump();
            self.doubled(operator, span);
            self.operators(strength + 1);
        }
    }

    /// `==`, `=<`, `=>` and their kind.
    fn doubled(&mut self, operator: &str, span: std::ops::Range<usize>) {
        let next = self.span();
        if next.start != span.end || self.kind() != Kind::Mark {
            return;
        }
        let both = span.start..next.end;
        let meant = match (operator, self.word()) {
            ("=", "=") => "=",
            ("=", "<") => "<=",
            ("=", ">") => ">=",
            ("!=", "=") => "!=",
            _ => return,
        };
        let written = self.text.get(both.clone()).unwrap_or("");
        self.tell(both, format!("`{written}` is no operator"), format!("write `{meant}`"));
        self.bump();
    }

    /// Operators of other languages.
    fn mistaken_operator(&mut self) {
        let (span, word) = (self.span(), self.word());
        let upper = word.to_ascii_uppercase();
        let meant = match (self.kind(), upper.as_str()) {
            (Kind::Word, "AND") | (Kind::Mark, "&") => "&&",
            (Kind::Word, "OR") | (Kind::Mark, "|") => "||",
            (Kind::Iri, "<>") => "!=",
            (Kind::Word, "IS" | "NOT") if self.keyword_at(1, "NULL") || self.keyword_at(2, "NULL") => {
                let is_not = upper == "NOT" || self.keyword_at(1, "NOT");
                let help = if is_not {
                    "BOUND(?x) tells that a variable has a value"
                } else {
                    "!BOUND(?x) tells that a variable has no value"
                };
                return self.stop(span, "SPARQL has no NULL", help);
            }
            (Kind::Mark, "~") => {
                return self.stop(span, "`~` is no operator", "write REGEX(?text, \"pattern\", \"i\")");
            }
            (Kind::Word, "EQ" | "IS") => "=",
            (Kind::Word, "LIKE") => {
                return self.stop(
                    span,
                    "SPARQL has no LIKE",
                    "write CONTAINS(?text, \"part\"), STRSTARTS(...) or REGEX(?text, \"pattern\", \"i\")",
                );
            }
            (Kind::Word, "BETWEEN") => {
                return self.stop(span, "SPARQL has no BETWEEN", "write ?x >= 1 && ?x <= 9");
            }
            (Kind::Mark, "%") | (Kind::Word, "MOD") => {
                return self.stop(span, "SPARQL has no remainder", "write ?a - ?b * FLOOR(?a / ?b)");
            }
            (Kind::Mark, "^") => return self.stop(span, "SPARQL has no powers", "write a product: ?x * ?x"),
            _ => return,
        };
        self.stop(span, format!("`{word}` is no operator"), format!("write `{meant}`"));
    }

    fn in_list(&mut self) {
        let open = self.span();
        if !self.eat_mark("(") {
            return self.stop(open, "the list of IN stands in parentheses", "?x IN (1, 2, 3)");
        }
        if !self.is_mark(")") {
            self.arguments();
        }
        self.close(")", open);
    }

    /// Expressions with commas between them; how many.
    fn arguments(&mut self) -> usize {
        let mut count = 0;
        loop {
            self.expression();
            count += 1;
            if self.eat_mark(",") {
                continue;
            }
            if !self.stopped && self.begins_operand() {
                self.stop(
                    self.span(),
                    "a comma is missing between arguments",
                    "arguments are separated: f(?a, ?b)",
                );
            }
            return count;
        }
    }

    fn begins_operand(&self) -> bool {
        matches!(self.kind(), Kind::Variable | Kind::String | Kind::Number | Kind::Name)
    }

    fn operand(&mut self) {
        let span = self.span();
        match self.kind() {
            Kind::Mark if matches!(self.word(), "!" | "-" | "+") => self.deeper(|p| {
                p.bump();
                p.operand();
            }),
            Kind::Mark if self.is_mark("(") => {
                self.bump();
                self.expression();
                self.close(")", span);
            }
            Kind::Mark if self.is_mark("<<(") => self.triple_term(),
            Kind::Mark if self.is_mark("{") => {
                self.stop(
                    span,
                    "a pattern where a value stands",
                    "EXISTS { ... } tells whether a pattern has a solution",
                );
            }
            Kind::Mark if self.is_mark("?") || self.is_mark("$") => self.variable("a value"),
            Kind::Variable => {
                self.scope.mention(bare(self.word()), span);
                // A variable of an expression brings nothing into scope.
                self.bump();
                self.hyphenated();
            }
            Kind::Word if self.is_one_of(&["EXISTS", "NOT"]) => self.exists(),
            Kind::Iri | Kind::Name => self.call(),
            Kind::Word if self.mark_at(1, "(") => self.call(),
            Kind::Blank => {
                self.stop(span, "a blank node in an expression", "use a variable, and bind it in a triple")
            }
            Kind::Word if !self.is_one_of(&["true", "false"]) => self.word_operand(),
            _ if self.literal() => {}
            _ => self.unexpected("a value"),
        }
    }

    /// `?first-name` in an expression.
    fn hyphenated(&mut self) {
        let joined = self.is_mark("-")
            && self.span().start == self.before()
            && self.peek(1).span.start == self.span().end;
        if joined && self.peek(1).kind == Kind::Word && !self.mark_at(2, "(") {
            let end = self.peek(1).span.end;
            self.stop(
                self.span().start..end,
                "there is a hyphen in the name of a variable",
                "names have letters, digits and `_`",
            );
        }
    }

    fn word_operand(&mut self) {
        let (span, word) = (self.span(), self.word());
        if functions::arity(word).is_some() || functions::is_aggregate(word) {
            return self.stop(
                span,
                format!("the arguments of {word} stand in parentheses"),
                format!("{word}(...)"),
            );
        }
        if self.is_keyword("NULL") {
            return self.stop(span, "SPARQL has no NULL", "!BOUND(?x) tells that a variable has no value");
        }
        self.no_term("a value should stand");
    }

    fn exists(&mut self) {
        let negated = self.eat_keyword("NOT");
        let span = self.span();
        if !self.eat_keyword("EXISTS") {
            if negated {
                return self.stop(
                    span,
                    "NOT stands before EXISTS and IN only",
                    "write ! before a condition: !(?x = 1)",
                );
            }
            return self.unexpected("EXISTS");
        }
        if !self.is_mark("{") {
            return self.stop(span, "the pattern of EXISTS stands in braces", "EXISTS { ... }");
        }
        let outside = self.scope.pause();
        self.group();
        self.scope.resume(outside);
    }

    /// A function's name and arguments; an IRI may be without.
    pub(super) fn call(&mut self) {
        let (span, word) = (self.span(), self.word());
        if self.kind() != Kind::Word {
            self.iri("a function");
            if self.is_mark("(") {
                let open = self.span();
                self.bump();
                self.eat_keyword("DISTINCT");
                if !self.is_mark(")") {
                    self.arguments();
                }
                self.close(")", open);
            }
            return;
        }
        if functions::is_aggregate(word) {
            return self.aggregate();
        }
        self.bump();
        let open = self.span();
        let Some(arity) = functions::arity(word) else {
            let help = functions::remedy(word)
                .unwrap_or_else(|| format!("functions of others have an IRI: ex:{word}(...)"));
            return self.stop(span, format!("there is no function {word}"), help);
        };
        if !self.eat_mark("(") {
            return self.unexpected(&format!("`(` behind {word}"));
        }
        if word.eq_ignore_ascii_case("BOUND") && self.kind() != Kind::Variable && !self.is_mark(")") {
            return self.stop(
                self.span(),
                "BOUND takes a variable",
                "BOUND(?x) tells whether a variable has a value",
            );
        }
        let count = if self.is_mark(")") { 0 } else { self.arguments() };
        self.close(")", open);
        let Arity(least, most) = arity;
        if count < least || count > most {
            let wanted = match (least, most) {
                (1, 1) => "1 argument".to_owned(),
                (least, most) if least == most => format!("{least} arguments"),
                (least, usize::MAX) => format!("at least {least} arguments"),
                (least, most) => format!("{least} to {most} arguments"),
            };
            self.tell(
                span.start..self.before(),
                format!("{} takes {wanted}, not {count}", word.to_ascii_uppercase()),
                wanted_example(word),
            );
        }
    }

    fn aggregate(&mut self) {
        let word = self.word();
        self.scope.aggregates += 1;
        self.bump();
        let open = self.span();
        if !self.eat_mark("(") {
            return self.unexpected(&format!("`(` behind {word}"));
        }
        self.eat_keyword("DISTINCT");
        let outside = self.scope.pause();
        if self.is_mark("*") {
            if !word.eq_ignore_ascii_case("COUNT") {
                return self.stop(
                    self.span(),
                    format!("only COUNT takes `*`, not {word}"),
                    format!("name what is meant: {word}(?x)"),
                );
            }
            self.bump();
        } else if self.is_mark(")") {
            return self.stop(
                open,
                format!("{word} without what it is of"),
                "COUNT(*) counts rows, COUNT(?x) values",
            );
        } else {
            self.expression();
        }
        self.scope.resume(outside);
        if self.eat_mark(";") {
            if !self.eat_keyword("SEPARATOR") {
                return self.stop(
                    self.span(),
                    "SEPARATOR should stand behind `;`",
                    "GROUP_CONCAT(?x; SEPARATOR=\", \")",
                );
            }
            self.expect("=", "behind SEPARATOR");
            if self.kind() != Kind::String {
                return self.unexpected("the separator in quotes");
            }
            self.bump();
        } else if self.is_mark(",") {
            let help = if word.eq_ignore_ascii_case("GROUP_CONCAT") {
                "the separator is named: GROUP_CONCAT(?x; SEPARATOR=\", \")"
            } else {
                "an aggregate is of one expression"
            };
            return self.stop(self.span(), format!("{word} takes one argument"), help);
        }
        self.close(")", open);
    }
}

fn wanted_example(word: &str) -> String {
    match word.to_ascii_uppercase().as_str() {
        "IF" => "IF(condition, value, other value)".to_owned(),
        "REGEX" => "REGEX(?text, \"pattern\", \"i\")".to_owned(),
        "REPLACE" => "REPLACE(?text, \"pattern\", \"by\")".to_owned(),
        "BOUND" => "BOUND(?x)".to_owned(),
        "LANGMATCHES" => "LANGMATCHES(LANG(?x), \"en\")".to_owned(),
        upper => format!("see {upper} in the SPARQL specification"),
    }
}

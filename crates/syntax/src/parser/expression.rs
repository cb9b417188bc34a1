//! Expressions.

use super::Parser;
use super::scope::bare;
use super::triples::Place;
use crate::token::Kind;
use crate::tree::Node;
use crate::vocabulary::Callable;

/// How strongly a binary operator binds, and what operands with it are together.
fn strength(operator: &str) -> Option<(u8, Node)> {
    Some(match operator {
        "||" => (1, Node::Or),
        "&&" => (2, Node::And),
        "=" | "!=" | "<" | ">" | "<=" | ">=" => (COMPARISON, Node::Comparison),
        "+" | "-" => (4, Node::Sum),
        "*" | "/" => (5, Node::Product),
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
        let place = self.place();
        self.operand();
        let mut compared = false;
        while !self.stopped {
            self.mistaken_operator();
            if least <= COMPARISON
                && (self.is_keyword("IN") || self.is_keyword("NOT") && self.keyword_at(1, "IN"))
            {
                if std::mem::replace(&mut compared, true) {
                    return self.compared_twice();
                }
                let node = self.wrap(place);
                self.eat_keyword("NOT");
                self.bump();
                self.in_list();
                self.close_node(node, Node::In);
                continue;
            }
            let Some((strength, node)) = self.operator().filter(|(strength, _)| *strength >= least) else {
                return;
            };
            // Behind the list of IN stands no `-`: what is compared is whole.
            if compared && strength > COMPARISON {
                return;
            }
            if strength == COMPARISON && std::mem::replace(&mut compared, true) {
                return self.compared_twice();
            }
            let open = self.wrap(place);
            // As many operands as the operators between them allow, without recursion over their number.
            loop {
                let (operator, span) = (self.word(), self.span());
                if let Some(meant) = self.meant_operator() {
                    self.tell(
                        span.clone(),
                        format!("`{operator}` is no operator"),
                        format!("write `{meant}`"),
                    );
                }
                // Comparisons stand in no row.
                self.extent.operators += usize::from(strength != COMPARISON);
                self.bump();
                self.doubled(operator, span);
                self.operators(strength + 1);
                let goes_on =
                    strength != COMPARISON && self.operator().is_some_and(|(next, _)| next == strength);
                if self.stopped || !goes_on {
                    break;
                }
            }
            self.close_node(open, node);
        }
    }

    fn operator(&self) -> Option<(u8, Node)> {
        if self.kind() == Kind::Mark
            && let Some(known) = strength(self.word())
        {
            return Some(known);
        }
        if self.explains { strength(self.meant_operator()?) } else { None }
    }

    /// The operator that stands for one of another language.
    fn meant_operator(&self) -> Option<&'static str> {
        let is_null = self.keyword_at(1, "NULL") || self.keyword_at(2, "NULL");
        match (self.kind(), self.word().to_ascii_uppercase().as_str()) {
            (Kind::Word, "AND") | (Kind::Mark, "&") => Some("&&"),
            (Kind::Word, "OR") | (Kind::Mark, "|") => Some("||"),
            (Kind::Iri, "<>") => Some("!="),
            (Kind::Word, "EQ" | "IS") if !is_null => Some("="),
            _ => None,
        }
    }

    fn compared_twice(&mut self) {
        self.stop(self.span(), "comparisons in a row", "compare twice: ?a < ?b && ?b < ?c");
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
        if !self.explains || !matches!(self.kind(), Kind::Word | Kind::Mark | Kind::Iri) {
            return;
        }
        let (span, word) = (self.span(), self.word());
        if self.kind() == Kind::Iri && word.len() > 2 && span.start == self.before() {
            let help = "put a space behind `<`: what is between < and > without a space is an IRI";
            return self.stop(span, format!("`{}` is an IRI", super::shortened(word)), help);
        }
        let upper = word.to_ascii_uppercase();
        match (self.kind(), upper.as_str()) {
            (Kind::Word, "IS" | "NOT") if self.keyword_at(1, "NULL") || self.keyword_at(2, "NULL") => {
                let is_not = upper == "NOT" || self.keyword_at(1, "NOT");
                let help = if is_not {
                    "BOUND(?x) tells that a variable has a value"
                } else {
                    "!BOUND(?x) tells that a variable has no value"
                };
                self.stop(span, "SPARQL has no NULL", help);
            }
            (Kind::Mark, "~") => {
                self.stop(span, "`~` is no operator", "write REGEX(?text, \"pattern\", \"i\")");
            }
            (Kind::Word, "LIKE") => {
                self.stop(
                    span,
                    "SPARQL has no LIKE",
                    "write CONTAINS(?text, \"part\"), STRSTARTS(...) or REGEX(?text, \"pattern\", \"i\")",
                );
            }
            (Kind::Word, "BETWEEN") => {
                self.stop(span, "SPARQL has no BETWEEN", "write ?x >= 1 && ?x <= 9");
            }
            (Kind::Mark, "%") | (Kind::Word, "MOD") => {
                self.stop(span, "SPARQL has no remainder", "write ?a - ?b * FLOOR(?a / ?b)");
            }
            (Kind::Mark, "^") => self.stop(span, "SPARQL has no powers", "write a product: ?x * ?x"),
            _ => {}
        }
    }

    fn in_list(&mut self) {
        let open = self.span();
        if !self.eat_mark("(") {
            return self.stop(open, "the list of IN stands in parentheses", "?x IN (1, 2, 3)");
        }
        self.list(open);
    }

    /// Arguments, or none, and the parenthesis behind them; how many.
    fn list(&mut self, open: std::ops::Range<usize>) -> usize {
        // To the grammar, `()` is one token.
        let is_one = !self.text.get(open.end..self.span().start).is_some_and(|between| between.contains('#'));
        let count = if self.is_mark(")") && is_one { 0 } else { self.arguments() };
        self.close(")", open);
        count
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
                let help = "arguments are separated: f(?a, ?b)";
                self.tell(self.span(), "a comma is missing between arguments", help);
                continue;
            }
            return count;
        }
    }

    fn begins_operand(&self) -> bool {
        matches!(self.kind(), Kind::Variable | Kind::String | Kind::Number | Kind::Name)
    }

    fn operand(&mut self) {
        if self.is_mark("!") {
            return self.deeper(|p| p.unary(|p| p.operand()));
        }
        if !self.is_signed() && (self.is_mark("-") || self.is_mark("+")) {
            return self.unary(|p| p.primary());
        }
        self.primary();
    }

    fn unary(&mut self, operand: impl FnOnce(&mut Self)) {
        let node = self.open();
        self.bump();
        operand(self);
        self.close_node(node, Node::Unary);
    }

    fn primary(&mut self) {
        let span = self.span();
        match self.kind() {
            Kind::Mark if self.is_mark("(") => self.parentheses(),
            Kind::Mark if self.is_mark("<<(") => self.triple_term(Place::Value),
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
                self.leaf(Node::Variable);
                self.hyphenated();
            }
            Kind::Word if self.is_one_of(&["EXISTS", "NOT"]) => self.exists(),
            Kind::Iri | Kind::Name => self.call(),
            Kind::Word if self.mark_at(1, "(") => self.call(),
            Kind::Blank => {
                self.stop(span, "a blank node in an expression", "use a variable, and bind it in a triple")
            }
            Kind::Word if !self.is_boolean() => self.word_operand(),
            _ if self.literal() => {}
            _ => self.unexpected("a value"),
        }
    }

    /// `?first-name` in an expression.
    fn hyphenated(&mut self) {
        let joined = self.is_mark("-")
            && self.span().start == self.before()
            && self.peek(1).start() == self.span().end;
        if joined && self.peek(1).kind() == Kind::Word && !self.mark_at(2, "(") {
            let start = self.tokens[self.at - 1].start();
            self.hyphen_in(start..self.peek(1).end());
            self.bump();
            self.bump();
        }
    }

    fn word_operand(&mut self) {
        let (span, word) = (self.span(), self.word());
        if self.vocabulary.has(word) {
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

    pub(super) fn exists(&mut self) {
        let node = self.open();
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
        self.close_node(node, Node::Exists);
    }

    /// A function's name and arguments; an IRI may be without.
    pub(super) fn call(&mut self) {
        let (span, word) = (self.span(), self.word());
        if self.kind() != Kind::Word {
            let place = self.place();
            if self.is_aggregate_iri() {
                self.iri("an aggregate");
                let node = self.wrap(place);
                self.aggregate_of(word);
                return self.close_node(node, Node::Aggregate);
            }
            self.iri("a function");
            if self.is_mark("(") {
                let node = self.wrap(place);
                let open = self.span();
                self.bump();
                if self.eat_keyword("DISTINCT") {
                    let count = self.arguments();
                    self.close(")", open);
                    debug_assert!(count > 0, "the grammar wants one behind DISTINCT");
                } else {
                    self.list(open);
                }
                self.close_node(node, Node::IriCall);
            }
            return;
        }
        let node = self.open();
        if self.vocabulary.is_aggregate(word) {
            self.aggregate();
            return self.close_node(node, Node::Aggregate);
        }
        self.bump();
        let open = self.span();
        let Some(function) = self.vocabulary.function(word) else {
            let help = self
                .vocabulary
                .remedy(word)
                .unwrap_or_else(|| format!("functions of others have an IRI: ex:{word}(...)"));
            self.tell(span, format!("there is no function {word}"), help);
            if self.explains && self.eat_mark("(") {
                self.list(open);
            } else {
                self.stop_here();
            }
            return;
        };
        if !self.eat_mark("(") {
            return self.unexpected(&format!("`(` behind {word}"));
        }
        let is_variable = self.kind() == Kind::Variable && self.mark_at(1, ")");
        if word.eq_ignore_ascii_case("BOUND") && !is_variable && !self.is_mark(")") {
            let help = "BOUND(?x) tells whether a variable has a value";
            self.tell(self.span(), "BOUND takes a variable", help);
        }
        let told = self.diagnostics.len();
        let count = self.list(open);
        self.close_node(node, Node::Call);
        if self.diagnostics.len() > told {
            return;
        }
        let Callable { least, most, .. } = *function;
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

//! Group graph patterns.

use super::Parser;
use super::scope::bare;
use crate::functions;
use crate::spelling;
use crate::token::Kind;
use std::collections::BTreeSet;
use std::ops::Range;

/// What a part of a group begins with.
const PARTS: [&str; 10] =
    ["OPTIONAL", "FILTER", "BIND", "MINUS", "UNION", "GRAPH", "SERVICE", "VALUES", "LATERAL", "SELECT"];
/// What stands behind the pattern of a query.
const BEHIND: [&str; 5] = ["GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET"];

impl<'a> Parser<'a> {
    /// `{ ... }`; its variables.
    pub(super) fn group(&mut self) -> BTreeSet<&'a str> {
        let mut names = BTreeSet::new();
        self.deeper(|p| {
            p.scope.open();
            p.group_inside();
            names = p.scope.close();
        });
        names
    }

    fn group_inside(&mut self) {
        let open = self.span();
        if !self.eat_mark("{") {
            return self.unexpected("`{`");
        }
        if self.is_keyword("SELECT") {
            let names = self.select(false);
            self.scope.add(names);
            if !self.is_mark("}") && !self.at_end() && !self.stopped && self.kind() != Kind::Bad {
                return self.stop(
                    self.span(),
                    "a sub-query shares its braces",
                    "a sub-query stands in braces of its own: { { SELECT ... } ?s ?p ?o }",
                );
            }
            return self.close("}", open);
        }
        let mut is_first = true;
        while !self.eat_mark("}") {
            if self.at_end() {
                return self.close("}", open);
            }
            self.part(is_first);
            is_first = false;
        }
    }

    fn part(&mut self, is_first: bool) {
        let span = self.span();
        match self.kind() {
            Kind::Bad => self.stop_here(),
            Kind::Mark if self.is_mark("{") => self.union(),
            Kind::Mark if self.is_mark(".") && !is_first => {
                if self.at > 0 && self.text.get(self.tokens[self.at - 1].span.clone()) == Some(".") {
                    self.tell(span, "one dot too many", "leave it out");
                }
                self.bump();
            }
            Kind::Word if self.is_one_of(&PARTS) => self.keyword_part(span),
            Kind::Word if self.is_one_of(&BEHIND) && !self.mark_at(1, "{") => {
                let word = self.word().to_ascii_uppercase();
                self.stop(
                    span,
                    format!("{word} stands inside of the braces"),
                    "it follows the `}` of the pattern: move it, or put the `}` that is missing before it",
                );
            }
            Kind::Word if self.is_one_of(&["EXISTS", "NOT"]) => {
                self.stop(
                    span,
                    "EXISTS stands in a FILTER",
                    "FILTER EXISTS { ... }, FILTER NOT EXISTS { ... }",
                );
            }
            Kind::Word if self.is_one_of(&["PREFIX", "BASE"]) => {
                self.stop(span, "declarations stand before the query", "put it at the beginning of the text");
            }
            _ if self.begins_term(0) => self.triples_block(),
            Kind::Word => self.word_in_group(),
            Kind::Mark if self.is_mark(";") => {
                self.stop(
                    span,
                    "there is nothing before `;` that it could go on with",
                    "`;` stands between the properties of one subject; a dot ends a triple",
                );
            }
            _ => self.unexpected("a pattern, or `}` at its end,"),
        }
    }

    fn keyword_part(&mut self, span: Range<usize>) {
        let word = self.word().to_ascii_uppercase();
        self.bump();
        match word.as_str() {
            "OPTIONAL" | "LATERAL" => {
                if self.braces(&word, &span) {
                    let names = self.group();
                    self.scope.add(names);
                }
            }
            "MINUS" => {
                if self.braces(&word, &span) {
                    self.group();
                }
            }
            "GRAPH" | "SERVICE" => {
                if word == "SERVICE" {
                    self.eat_keyword("SILENT");
                }
                self.variable_or_iri(if word == "GRAPH" {
                    "the name of a graph, an IRI or a variable,"
                } else {
                    "the IRI of an endpoint"
                });
                if self.braces(&word, &span) {
                    let names = self.group();
                    self.scope.add(names);
                }
            }
            "UNION" => self.stop(span, "UNION stands between two groups in braces", "{ ... } UNION { ... }"),
            "FILTER" => self.constraint("FILTER"),
            "BIND" => self.bind(),
            "VALUES" => self.values(),
            _ => self.stop(span, "a sub-query stands in braces of its own", "{ SELECT ... WHERE { ... } }"),
        }
    }

    /// Whether a group follows.
    fn braces(&mut self, word: &str, span: &Range<usize>) -> bool {
        if !self.is_mark("{") && !self.stopped {
            self.stop(
                span.clone(),
                format!("the pattern of {word} stands in braces"),
                format!("{word} {{ ... }}"),
            );
        }
        !self.stopped
    }

    fn union(&mut self) {
        loop {
            let names = self.group();
            self.scope.add(names);
            if !self.is_keyword("UNION") {
                if self.kind() == Kind::Word && self.mark_at(1, "{") && !self.is_one_of(&PARTS) {
                    let word = self.word();
                    let help = match spelling::meant(word, ["UNION", "OPTIONAL", "MINUS"]) {
                        Some(meant) => format!("did you mean {meant}?"),
                        None => "between two groups stands UNION, MINUS or OPTIONAL".to_owned(),
                    };
                    self.stop(self.span(), format!("`{word}` has no meaning between groups"), help);
                }
                return;
            }
            let span = self.span();
            self.bump();
            if !self.is_mark("{") {
                return self.stop(span, "UNION stands between two groups in braces", "{ ... } UNION { ... }");
            }
        }
    }

    fn bind(&mut self) {
        let open = self.span();
        if !self.eat_mark("(") {
            return self.stop(open, "what BIND binds stands in parentheses", "BIND (?x + 1 AS ?y)");
        }
        self.expression();
        if self.is_mark(")") {
            return self.stop(
                open.start..self.span().end,
                "BIND without a name for the value",
                "BIND (... AS ?name)",
            );
        }
        if !self.eat_keyword("AS") {
            return self.unexpected("AS and a variable");
        }
        let (name, span) = (bare(self.word()), self.span());
        if self.kind() == Kind::Variable && self.scope.has(name) {
            self.tell(
                span,
                format!("?{name} was used before in this group"),
                "give the value another name, or compare: FILTER (?a = ...)",
            );
        }
        self.variable("a variable behind AS");
        self.close(")", open);
    }

    /// A word that begins no pattern.
    fn word_in_group(&mut self) {
        let (span, word) = (self.span(), self.word());
        if self.mark_at(1, "(") && (functions::arity(word).is_some() || functions::is_aggregate(word)) {
            return self.stop(
                span,
                "an expression among patterns",
                format!("conditions stand in FILTER ({word}(...)), values in BIND ({word}(...) AS ?x)"),
            );
        }
        let misspelt = spelling::meant(word, PARTS.into_iter().chain(BEHIND));
        if let Some(meant) = misspelt.filter(|_| !self.is_keyword("a")) {
            return self.stop(span, format!("`{word}` begins no pattern"), format!("did you mean {meant}?"));
        }
        self.no_term("a pattern begins");
    }

    /// A bare word where a term should be.
    pub(super) fn no_term(&mut self, place: &str) {
        let (span, word) = (self.span(), self.word());
        if word == "a" {
            return self.stop(span, "`a` is rdf:type, and stands between subject and object", "?s a ?class");
        }
        let elsewhere = match word.to_ascii_uppercase().as_str() {
            "WHERE" | "IF" | "WHEN" => "a condition stands in FILTER (...)",
            "JOIN" | "INNER" | "AND" => "triples of one group are joined as they are: leave it out",
            "LEFT" => "write OPTIONAL { ... }",
            "LET" | "SET" => "a value gets a name by BIND (... AS ?x)",
            "CASE" => "write IF(condition, value, other value)",
            _ => "",
        };
        if !elsewhere.is_empty() {
            return self.stop(span, format!("`{word}` has no meaning where {place}"), elsewhere);
        }
        self.stop(
            span,
            format!("`{word}` is no term, where {place}"),
            format!("a variable is ?{word}, a name has a prefix, :{word}, text stands in quotes, \"{word}\""),
        );
    }
}

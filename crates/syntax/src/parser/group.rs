//! Group graph patterns.

use super::Parser;
use super::no_aggregates::{IN_BIND, IN_FILTER};
use super::scope::bare;
use crate::spelling;
use crate::token::Kind;
use crate::tree::Node;
use std::collections::BTreeSet;
use std::ops::Range;

/// What a part of a group begins with.
pub(super) const PARTS: [&str; 10] =
    ["OPTIONAL", "FILTER", "BIND", "MINUS", "UNION", "GRAPH", "SERVICE", "VALUES", "LATERAL", "SELECT"];
/// What stands behind the pattern of a query.
const BEHIND: [&str; 5] = ["GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET"];

impl<'a> Parser<'a> {
    /// `{ ... }`; its variables.
    pub(super) fn group(&mut self) -> BTreeSet<&'a str> {
        self.group_from(Self::group_inside)
    }

    /// A group of which the `{` is missing.
    pub(super) fn group_without_brace(&mut self) -> BTreeSet<&'a str> {
        self.group_from(|p| p.parts(None))
    }

    fn group_from(&mut self, inside: fn(&mut Self)) -> BTreeSet<&'a str> {
        let mut names = BTreeSet::new();
        self.deeper(|p| {
            let node = p.open();
            p.scope.open();
            inside(p);
            names = p.scope.close();
            p.close_node(node, Node::Group);
        });
        names
    }

    /// A group of which the variables are in scope around it.
    fn joined_group(&mut self) {
        let names = self.group();
        self.scope.add(names);
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
                self.tell(
                    self.span(),
                    "a sub-query shares its braces",
                    "a sub-query stands in braces of its own: { { SELECT ... } ?s ?p ?o }",
                );
                return self.parts(Some(open));
            }
            return self.close("}", open);
        }
        self.parts(Some(open));
    }

    /// The parts of a group that was opened at `open`, if it was, and its end.
    fn parts(&mut self, open: Option<Range<usize>>) {
        let mut is_first = true;
        while !self.eat_mark("}") {
            if self.at_end() {
                if let Some(open) = open {
                    self.close("}", open);
                }
                return;
            }
            let start = self.at;
            self.part(is_first);
            self.resume_in_group(start);
            is_first = false;
        }
    }

    /// What stands behind the pattern of a query, though it is of a group: up to a clause, or a brace.
    pub(super) fn parts_behind(&mut self) {
        while !self.at_end() && !self.is_mark("}") && !self.begins_clause() {
            let start = self.at;
            self.part(false);
            if self.stopped && !self.resume_in_group(start) {
                return;
            }
        }
    }

    /// Whether the next token begins a part of a group that is no triple.
    pub(super) fn begins_part(&self) -> bool {
        self.begins_part_at(0)
    }

    pub(super) fn begins_part_at(&self, ahead: usize) -> bool {
        PARTS.iter().any(|part| self.keyword_at(ahead, part))
    }

    fn part(&mut self, is_first: bool) {
        let span = self.span();
        match self.kind() {
            Kind::Bad => self.stop_here(),
            Kind::Mark if self.is_mark("{") => self.union(),
            Kind::Mark if self.is_mark(".") && !is_first => {
                let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
                if before.and_then(|token| self.text.get(token.span())) == Some(".") {
                    self.tell(span, "one dot too many", "leave it out");
                }
                self.bump();
            }
            Kind::Word if self.is_one_of(&PARTS) => self.keyword_part(span, self.word()),
            Kind::Mark if self.explains && self.passed_comment() => {}
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

    /// What begins with the next token, which is a keyword of these or stands for it.
    fn keyword_part(&mut self, span: Range<usize>, word: &str) {
        let Some(word) = PARTS.into_iter().find(|part| part.eq_ignore_ascii_case(word)) else { return };
        if word == "VALUES" {
            return self.values();
        }
        let node = self.open();
        self.bump();
        let kind = match word {
            "OPTIONAL" | "LATERAL" => {
                if self.braces(word, &span) {
                    self.joined_group();
                }
                if word == "OPTIONAL" { Node::Optional } else { Node::Lateral }
            }
            "MINUS" => {
                if self.braces(word, &span) {
                    self.group();
                }
                Node::Minus
            }
            "GRAPH" | "SERVICE" => self.graph_or_service(word, &span),
            "FILTER" => {
                self.without_aggregates(&IN_FILTER, |p| p.constraint("FILTER"));
                Node::Filter
            }
            "BIND" => {
                self.bind();
                Node::Bind
            }
            "UNION" => {
                let help = "{ ... } UNION { ... }: put what is before it in braces, too";
                return self.stop(span, "UNION stands between two groups in braces", help);
            }
            _ => {
                let help = "{ SELECT ... WHERE { ... } }";
                return self.stop(span, "a sub-query stands in braces of its own", help);
            }
        };
        self.close_node(node, kind);
    }

    fn graph_or_service(&mut self, word: &'static str, span: &Range<usize>) -> Node {
        let is_graph = word == "GRAPH";
        if !is_graph {
            self.eat_keyword("SILENT");
        }
        let wanted =
            if is_graph { "the name of a graph, an IRI or a variable," } else { "the IRI of an endpoint" };
        self.variable_or_iri(wanted);
        if self.braces(word, span) {
            self.joined_group();
        }
        if is_graph { Node::Graph } else { Node::Service }
    }

    /// Whether a group follows.
    fn braces(&mut self, word: &str, span: &Range<usize>) -> bool {
        if !self.is_mark("{") && !self.stopped {
            self.stop(
                span.clone(),
                format!("the pattern of {word} stands in braces"),
                match word {
                    "GRAPH" => "GRAPH ?graph { ... }, or GRAPH <graph> { ... }".to_owned(),
                    "SERVICE" => "SERVICE <endpoint> { ... }".to_owned(),
                    _ => format!("{word} {{ ... }}"),
                },
            );
        }
        !self.stopped
    }

    fn union(&mut self) {
        let node = self.open();
        self.groups();
        self.close_node(node, Node::Union);
    }

    fn groups(&mut self) {
        loop {
            self.joined_group();
            if !self.is_keyword("UNION") {
                if self.kind() == Kind::Word && self.mark_at(1, "{") && !self.is_one_of(&PARTS) {
                    let word = self.word();
                    let help = match spelling::meant(word, ["UNION", "OPTIONAL", "MINUS"]) {
                        Some(meant) => format!("did you mean {meant}?"),
                        None => "between two groups stands UNION, MINUS or OPTIONAL".to_owned(),
                    };
                    self.tell(self.span(), format!("`{word}` has no meaning between groups"), help);
                    self.bump();
                    continue;
                }
                return;
            }
            let span = self.span();
            self.extent.operators += 1;
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
        self.without_aggregates(&IN_BIND, Self::expression);
        if self.is_mark(")") {
            return self.stop(
                open.start..self.span().end,
                "BIND without a name for the value",
                "BIND (... AS ?name)",
            );
        }
        if !self.eat_keyword("AS") {
            return self.missing_as("BIND (... AS ?name)");
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
        if self.mark_at(1, "(") && self.vocabulary.has(word) {
            return self.stop(
                span,
                "an expression among patterns",
                format!("conditions stand in FILTER ({word}(...)), values in BIND ({word}(...) AS ?x)"),
            );
        }
        let misspelt = spelling::meant(word, PARTS.into_iter().chain(BEHIND));
        if let Some(meant) = misspelt.filter(|_| !self.is_keyword("a")) {
            let message = format!("`{word}` begins no pattern");
            self.tell(span.clone(), message, format!("did you mean {meant}?"));
            if !self.explains || !PARTS.contains(&meant) || matches!(meant, "UNION" | "SELECT") {
                return self.stop_here();
            }
            return self.keyword_part(span, meant);
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

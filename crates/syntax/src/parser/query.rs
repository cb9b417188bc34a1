//! Queries: their prologue, forms, and what is selected.

use super::Parser;
use super::scope::bare;
use crate::spelling;
use crate::token::Kind;
use crate::tree::Node;
use std::collections::BTreeSet;
use std::ops::Range;

const FORMS: [&str; 4] = ["SELECT", "ASK", "CONSTRUCT", "DESCRIBE"];
pub(super) const UPDATES: [&str; 10] =
    ["INSERT", "DELETE", "LOAD", "CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY", "WITH"];
const PROLOGUE: [&str; 3] = ["PREFIX", "BASE", "VERSION"];

/// What a SELECT has.
#[derive(Default)]
struct Selection<'a> {
    star: Option<Range<usize>>,
    plain: Vec<(&'a str, Range<usize>)>,
    /// Names behind AS.
    named: Vec<(&'a str, Range<usize>)>,
    /// Variables of expressions outside of aggregates.
    outside: Vec<(&'a str, Range<usize>)>,
}

impl<'a> Parser<'a> {
    /// A whole query.
    pub(super) fn query(&mut self) {
        self.prologue();
        if self.is_keyword("SELECT") {
            self.select(true);
        } else if self.is_one_of(&FORMS) {
            self.form();
        } else {
            self.no_form();
        }
        self.end_of_query();
    }

    /// ASK, CONSTRUCT or DESCRIBE.
    fn form(&mut self) {
        let node = self.open();
        let kind = if self.eat_keyword("ASK") {
            self.dataset();
            self.where_clause("ASK");
            self.modifiers();
            Node::Ask
        } else if self.eat_keyword("CONSTRUCT") {
            self.construct();
            Node::Construct
        } else {
            self.bump();
            self.describe();
            Node::Describe
        };
        self.close_node(node, kind);
    }

    fn no_form(&mut self) {
        let (span, word) = (self.span(), self.word());
        if self.at_end() {
            let help = "a query begins with SELECT, ASK, CONSTRUCT or DESCRIBE";
            let what =
                if self.at == 0 { "there is no query" } else { "there is no query behind the declarations" };
            return self.stop(span, what, help);
        }
        if self.is_one_of(&UPDATES) {
            return self.stop(
                span,
                "this is an update, not a query",
                "lode update runs it, or a POST to /update (update=...)",
            );
        }
        if self.foreign_comment() {
            return;
        }
        if self.kind() != Kind::Word {
            return self.stop(
                span,
                format!("`{}` stands where a query begins", super::shortened(word)),
                "a query begins with SELECT, ASK, CONSTRUCT or DESCRIBE",
            );
        }
        let known = FORMS.into_iter().chain(PROLOGUE).chain(UPDATES);
        let help = match spelling::meant(word, known) {
            Some(known) => format!("did you mean {known}?"),
            None => "a query begins with SELECT, ASK, CONSTRUCT or DESCRIBE".to_owned(),
        };
        self.stop(span, format!("`{word}` begins no query"), help);
    }

    fn end_of_query(&mut self) {
        if self.at_end() {
            return;
        }
        let (span, word) = (self.span(), self.word());
        match word {
            ";" if self.peek(1).kind() == Kind::End => {
                self.stop(span, "a query ends without `;`", "leave it out")
            }
            "." if self.peek(1).kind() == Kind::End => {
                self.stop(span, "a query ends without a dot", "leave it out")
            }
            "}" => self.stop(
                span,
                "there is one `}` too many",
                "leave it out, or open the group before it with `{`",
            ),
            _ if self.is_one_of(&PROLOGUE) => {
                self.stop(span, "declarations stand before the query", "put it at the beginning of the text");
            }
            _ if self.is_one_of(&FORMS) || word == ";" => {
                self.stop(span, "there is more after the end of the query", "send one query at a time");
            }
            _ if self.is_keyword("UNION") => {
                let help = "both groups stand in the braces of the pattern: WHERE { { ... } UNION { ... } }";
                self.stop(span, "UNION stands behind the pattern of the query", help);
            }
            _ if self.is_keyword("WHERE") => {
                let help = "one WHERE { ... } stands before GROUP BY, ORDER BY and LIMIT";
                self.stop(span, "WHERE stands behind the pattern of the query", help);
            }
            _ if self.is_one_of(&["OPTIONAL", "FILTER", "BIND", "MINUS", "GRAPH", "SERVICE"]) => {
                let word = word.to_ascii_uppercase();
                self.stop(
                    span,
                    format!("{word} stands behind the pattern of the query"),
                    "put it in front of the last `}`",
                );
            }
            _ => self.unexpected("the end of the query"),
        }
    }

    /// PREFIX, BASE and VERSION.
    pub(super) fn prologue(&mut self) {
        loop {
            let node = self.place();
            let kind = if self.kind() == Kind::Name && self.word().eq_ignore_ascii_case("PREFIX:") {
                // The empty prefix, without a space before its colon.
                self.prefixes.insert("");
                self.bump();
                self.iri_in_brackets("the IRI of a prefix");
                Node::Prefix
            } else if self.eat_keyword("PREFIX") {
                self.prefix();
                Node::Prefix
            } else if self.eat_keyword("BASE") {
                self.iri_in_brackets("the base IRI");
                Node::Base
            } else if self.eat_keyword("VERSION") {
                self.version();
                Node::Version
            } else if self.kind() == Kind::LanguageTag && matches!(self.word(), "@prefix" | "@base") {
                self.declaration_of_turtle();
                continue;
            } else {
                return;
            };
            let node = self.wrap(node);
            self.close_node(node, kind);
            if self.is_mark(".") || self.is_mark(";") {
                self.tell(
                    self.span(),
                    format!("there is no `{}` after a declaration", self.word()),
                    "leave it out",
                );
                self.bump();
            }
        }
    }

    fn version(&mut self) {
        let word = self.word();
        let is_short = !(word.starts_with("\"\"\"") || word.starts_with("'''"));
        if self.kind() == Kind::String && is_short {
            return self.bump();
        }
        let help = "the version stands in quotes: VERSION \"1.2\"";
        self.stop(self.span(), "VERSION without a version", help);
    }

    fn declaration_of_turtle(&mut self) {
        let word = self.word()[1..].to_ascii_uppercase();
        self.tell(
            self.span(),
            format!("`{}` is of Turtle", self.word()),
            format!("SPARQL has {word} ... without `@`, and without a dot"),
        );
        self.bump();
        if word == "PREFIX" {
            self.prefix()
        } else {
            self.iri("the base IRI")
        }
        self.eat_mark(".");
    }

    fn prefix(&mut self) {
        let (word, span) = (self.word(), self.span());
        match self.kind() {
            Kind::Name if word.find(':') == Some(word.len() - 1) => {
                self.prefixes.insert(&word[..word.len() - 1]);
                self.bump();
            }
            Kind::Name => {
                return self.stop(
                    span,
                    format!("`{word}` is no prefix"),
                    "a prefix ends with its colon: PREFIX ex: <http://example.org/>",
                );
            }
            Kind::Word if self.peek(1).kind() == Kind::Iri => {
                self.tell(
                    span,
                    format!("the prefix `{word}` lacks its colon"),
                    format!("write PREFIX {word}: <...>"),
                );
                self.prefixes.insert(word);
                self.bump();
            }
            _ => return self.unexpected("a prefix, such as ex:,"),
        }
        if self.kind() == Kind::String {
            self.stop(
                self.span(),
                "an IRI in quotes",
                "an IRI stands in angle brackets: <http://example.org/>",
            );
        } else {
            self.iri_in_brackets("the IRI of a prefix in angle brackets");
        }
    }

    /// FROM and FROM NAMED.
    pub(super) fn dataset(&mut self) {
        self.graphs("FROM");
    }

    /// FROM or USING with graphs.
    pub(super) fn graphs(&mut self, word: &str) {
        while self.is_keyword(word) {
            let node = self.open();
            self.bump();
            self.eat_keyword("NAMED");
            self.iri("the IRI of a graph");
            self.close_node(node, Node::From);
        }
    }

    /// The pattern of a query; its variables.
    fn where_clause(&mut self, form: &str) -> BTreeSet<&'a str> {
        let has_where = self.eat_keyword("WHERE");
        if !self.is_mark("{") && !self.stopped {
            let (span, word) = (self.span(), self.word());
            if self.kind() == Kind::Word && self.mark_at(1, "{") && !has_where {
                let help = match spelling::meant(word, ["WHERE"]) {
                    Some(_) => "did you mean WHERE?",
                    None => "the pattern stands in braces: WHERE { ... }",
                };
                self.tell(span, format!("`{word}` stands where WHERE may"), help);
                self.bump();
            } else if self.at_end() {
                self.stop(
                    span,
                    format!("the pattern of {form} is missing"),
                    "it stands in braces: WHERE { ?s ?p ?o }",
                );
            } else {
                self.stop(span, "the pattern stands in braces", "WHERE { ... }");
            }
        }
        self.group()
    }

    /// A SELECT, also in a group; the variables that it gives.
    pub(super) fn select(&mut self, top: bool) -> Vec<&'a str> {
        let (node, clause) = (self.open(), self.open());
        self.bump();
        // Its aggregates are its own.
        let outside = self.no_aggregates.take();
        let aggregates = self.scope.aggregates;
        if !self.eat_keyword("DISTINCT") {
            self.eat_keyword("REDUCED");
        }
        let selection = self.selection();
        self.close_node(clause, Node::Selection);
        if top {
            self.dataset();
        }
        let inside = self.where_clause("SELECT");
        let keys = self.modifiers();
        self.close_node(node, Node::Select);
        self.no_aggregates = outside;
        if !self.explains {
            return Vec::new();
        }
        let is_grouped = keys.is_some() || self.scope.aggregates > aggregates;
        self.scope.aggregates = aggregates;
        if is_grouped {
            self.ungrouped(&selection, &keys.unwrap_or_default());
        }
        self.named_twice(&selection, &inside);
        match selection.star {
            Some(_) => inside.into_iter().collect(),
            None => selection.plain.iter().chain(&selection.named).map(|(name, _)| *name).collect(),
        }
    }

    /// Names of values that the pattern has already, or that another column has.
    fn named_twice(&mut self, selection: &Selection<'a>, inside: &BTreeSet<&'a str>) {
        let mut seen = BTreeSet::new();
        for (name, span) in selection.named.iter().filter(|(name, _)| inside.contains(name)) {
            self.tell(
                span.clone(),
                format!("?{name} has values in the pattern already"),
                "give the new value another name",
            );
        }
        let mut all: Vec<_> = selection.plain.iter().chain(&selection.named).collect();
        all.sort_by_key(|(_, span)| span.start);
        for (name, span) in all {
            if !seen.insert(*name) {
                self.tell(
                    span.clone(),
                    format!("?{name} is selected twice"),
                    "leave it out here, or give the value another name",
                );
            }
        }
    }

    fn ungrouped(&mut self, selection: &Selection<'a>, keys: &[&'a str]) {
        if let Some(star) = &selection.star {
            self.tell(
                star.clone(),
                "SELECT * with groups",
                "name the variables of GROUP BY, and aggregates: (COUNT(*) AS ?n)",
            );
        }
        let known =
            |name: &&str| keys.contains(name) || selection.named.iter().any(|(named, _)| named == name);
        for (name, span) in selection.plain.iter().chain(&selection.outside) {
            if !known(name) {
                self.tell(
                    span.clone(),
                    format!("?{name} is not grouped, so it has many values in a group"),
                    format!("add GROUP BY ?{name}, or take one of them: SAMPLE(?{name})"),
                );
            }
        }
    }

    fn selection(&mut self) -> Selection<'a> {
        let mut selection = Selection::default();
        let (start, first) = (self.span(), self.at);
        loop {
            let (span, word) = (self.span(), self.word());
            match self.kind() {
                Kind::Variable => {
                    selection.plain.push((bare(word), span));
                    self.variable("a variable");
                }
                Kind::Mark if word == "*" => {
                    selection.star = Some(span);
                    self.bump();
                }
                Kind::Mark if word == "(" => self.named_value(&mut selection),
                Kind::Mark if word == "," => self.comma("what is selected"),
                Kind::Mark if word == "?" || word == "$" => self.variable("a variable"),
                Kind::Word if self.is_one_of(&["WHERE", "FROM"]) => break,
                Kind::Word if self.mark_at(1, "{") && spelling::meant(word, ["WHERE"]).is_some() => break,
                Kind::Word => self.word_selected(),
                _ => break,
            }
        }
        let is_empty = selection.star.is_none() && selection.plain.is_empty() && selection.named.is_empty();
        if let Some(star) = selection.star.clone().filter(|_| self.at > first + 1) {
            self.tell(
                star,
                "`*` beside other columns",
                "`*` selects all variables: leave the others out, or `*`",
            );
        }
        if is_empty && !self.stopped {
            if self.at_end() || self.is_mark("{") || self.kind() == Kind::Word {
                self.stop(
                    start,
                    "it is not said what to select",
                    "SELECT * selects all variables, SELECT ?a ?b some",
                );
            } else {
                self.unexpected("what is selected");
            }
        }
        selection
    }

    /// A word where variables are selected.
    fn word_selected(&mut self) {
        let (span, word) = (self.span(), self.word());
        let upper = word.to_ascii_uppercase();
        if self.mark_at(1, "(") && self.vocabulary.has(word) {
            let end = self
                .text
                .get(span.start..)
                .and_then(|rest| rest.find(')'))
                .map_or(span.end, |at| span.start + at + 1);
            let call = super::shortened(self.text.get(span.start..end).unwrap_or(word));
            return self.stop(
                span,
                "a value that is selected needs parentheses and a name",
                format!("write ({call} AS ?{})", upper.to_ascii_lowercase()),
            );
        }
        if self.begins_clause() {
            let clause = if self.keyword_at(1, "BY") { format!("{upper} BY") } else { upper };
            let help = format!("put {clause} behind the `}}` of WHERE {{ ... }}");
            return self.stop(span, format!("{clause} stands before the pattern"), help);
        }
        if matches!(upper.as_str(), "DISTINCT" | "REDUCED") {
            return self.stop(
                span,
                format!("{upper} stands at the wrong place"),
                format!("it follows SELECT: SELECT {upper} ?x"),
            );
        }
        if let Some(meant) = spelling::meant(word, ["DISTINCT", "REDUCED"]) {
            return self.stop(span, format!("`{word}` is no variable"), format!("did you mean {meant}?"));
        }
        let elsewhere = match upper.as_str() {
            "TOP" => "the number of rows stands at the end: LIMIT 10",
            "ALL" => "leave it out: all solutions are given unless DISTINCT is written",
            "FILTER" | "OPTIONAL" | "BIND" => "patterns stand in braces: WHERE { ... }",
            _ => "",
        };
        if !elsewhere.is_empty() {
            return self.stop(span, format!("`{word}` has no meaning here"), elsewhere);
        }
        if upper == "AS" {
            return self.stop(span, "AS outside of parentheses", "write (?x AS ?y)");
        }
        self.stop(span, format!("`{word}` is no variable"), format!("a variable begins with `?`: ?{word}"));
    }

    /// `(expression AS ?name)`.
    fn named_value(&mut self, selection: &mut Selection<'a>) {
        let (node, open) = (self.open(), self.span());
        self.bump();
        let is_variable = self.kind() == Kind::Variable && self.mark_at(1, ")");
        let name = self.word();
        let before = self.scope.gather();
        self.expression();
        selection.outside.extend(self.scope.gathered(before));
        if self.is_mark(")") {
            let help = if is_variable {
                format!("a variable stands without parentheses: {name}")
            } else {
                "write (... AS ?name)".to_owned()
            };
            return self.stop(open.start..self.span().end, "a value that is selected needs a name", help);
        }
        if !self.eat_keyword("AS") {
            return self.missing_as("SELECT (... AS ?name)");
        }
        let (name, span) = (bare(self.word()), self.span());
        self.variable("a variable behind AS");
        selection.named.push((name, span));
        self.close(")", open);
        self.close_node(node, Node::As);
    }

    /// What stands where AS should.
    pub(super) fn missing_as(&mut self, example: &str) {
        if self.kind() == Kind::Variable && self.mark_at(1, ")") {
            let name = self.word();
            return self.stop(
                self.span(),
                format!("AS is missing before {name}"),
                format!("write {example}"),
            );
        }
        self.unexpected("an operator, or AS and a variable,")
    }

    fn construct(&mut self) {
        if self.is_mark("{") {
            self.template();
            self.dataset();
            self.where_clause("CONSTRUCT");
        } else if self.is_one_of(&["WHERE", "FROM"]) {
            self.dataset();
            if !self.eat_keyword("WHERE") || !self.is_mark("{") {
                self.stop(self.span(), "the pattern stands in braces", "CONSTRUCT WHERE { ... }");
            }
            self.template();
        } else {
            self.stop(
                self.span(),
                "what is constructed stands in braces",
                "CONSTRUCT { ?s ?p ?o } WHERE { ... }",
            );
        }
        self.modifiers();
    }

    fn describe(&mut self) {
        let start = self.at;
        if !self.eat_mark("*") {
            while matches!(self.kind(), Kind::Variable | Kind::Iri | Kind::Name) {
                self.variable_or_iri("a resource");
                self.comma("what is described");
            }
        }
        if self.at == start {
            return self.stop(
                self.span(),
                "it is not said what to describe",
                "DESCRIBE <iri>, DESCRIBE ?x WHERE { ... }",
            );
        }
        self.dataset();
        if self.is_keyword("WHERE") || self.is_mark("{") {
            self.where_clause("DESCRIBE");
        }
        self.modifiers();
    }
}

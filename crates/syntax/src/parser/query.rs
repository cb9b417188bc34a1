//! Queries: their prologue, forms, and what is selected.

use super::Parser;
use crate::spelling;
use crate::token::Kind;
use crate::tree::Node;
use std::collections::BTreeSet;

pub(super) const FORMS: [&str; 4] = ["SELECT", "ASK", "CONSTRUCT", "DESCRIBE"];
pub(super) const UPDATES: [&str; 10] =
    ["INSERT", "DELETE", "LOAD", "CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY", "WITH"];
pub(super) const PROLOGUE: [&str; 3] = ["PREFIX", "BASE", "VERSION"];

/// What ends what is selected, or begins a pattern without braces.
const BEFORE_PATTERNS: [&str; 6] = ["WHERE", "FROM", "FILTER", "OPTIONAL", "BIND", "GRAPH"];

impl<'a> Parser<'a> {
    /// A whole query.
    pub(super) fn query(&mut self) {
        self.prologue();
        let written = FORMS.into_iter().find(|form| self.is_keyword(form));
        if let Some(form) = written.or_else(|| self.no_form()) {
            self.form(form);
            self.end_of_query();
        }
    }

    /// What begins with the next token, which is the word of a form, or stands for it.
    fn form(&mut self, form: &str) {
        if form == "SELECT" {
            self.select(true);
            return;
        }
        let node = self.open();
        self.bump();
        let kind = match form {
            "ASK" => {
                self.dataset();
                self.where_clause("ASK");
                self.modifiers();
                Node::Ask
            }
            "CONSTRUCT" => {
                self.construct();
                Node::Construct
            }
            _ => {
                self.describe();
                Node::Describe
            }
        };
        self.close_node(node, kind);
    }

    /// The form that was meant where none stands.
    fn no_form(&mut self) -> Option<&'static str> {
        loop {
            let meant = self.meant_form()?;
            if FORMS.contains(&meant) {
                return Some(meant);
            }
            // A declaration.
            self.bump();
            self.declaration(meant);
            self.resume_in_prologue();
            self.prologue();
            if let Some(form) = FORMS.into_iter().find(|form| self.is_keyword(form)) {
                return Some(form);
            }
        }
    }

    /// The keyword that was meant where a query should begin, if it is one that a query may begin with.
    fn meant_form(&mut self) -> Option<&'static str> {
        let known = FORMS.into_iter().chain(PROLOGUE);
        let meant = spelling::meant(self.word(), known).filter(|_| self.kind() == Kind::Word);
        match meant {
            Some(meant) if self.explains && !self.is_one_of(&UPDATES) => {
                let message = format!("`{}` begins no query", self.word());
                self.tell(self.span(), message, format!("did you mean {meant}?"));
                Some(meant)
            }
            _ => {
                self.begins_no_query();
                None
            }
        }
    }

    fn begins_no_query(&mut self) {
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
        if self.kind() != Kind::Word || self.stopped {
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
        self.behind_query();
        // What is behind was told of as a whole, but for clauses.
        if !self.resume_at_once() {
            return;
        }
        while !self.at_end() && !self.is_mark(";") && !self.is_one_of(&FORMS) && !self.stopped {
            let start = self.at;
            self.quiet = self.tokens.len();
            self.parts_behind();
            if self.begins_clause() {
                self.quiet = 0;
                self.modifiers();
            }
            self.eat_mark("}");
            if self.at == start {
                self.bump();
            }
        }
    }

    /// Tells of what stands behind the end of the query.
    fn behind_query(&mut self) {
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
                self.prefixes.insert("", self.word_at(1));
                self.bump();
                self.iri_in_brackets("the IRI of a prefix");
                Node::Prefix
            } else if let Some(word) = PROLOGUE.into_iter().find(|word| self.is_keyword(word)) {
                self.bump();
                self.declaration(word)
            } else if self.kind() == Kind::LanguageTag && matches!(self.word(), "@prefix" | "@base") {
                self.declaration_of_turtle();
                self.resume_in_prologue();
                continue;
            } else {
                return;
            };
            let node = self.wrap(node);
            self.close_node(node, kind);
            self.resume_in_prologue();
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

    /// What is behind the word of a declaration.
    fn declaration(&mut self, word: &str) -> Node {
        match word {
            "PREFIX" => {
                self.prefix();
                Node::Prefix
            }
            "BASE" => {
                self.iri_in_brackets("the base IRI");
                Node::Base
            }
            _ => {
                self.version();
                Node::Version
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
                self.bump();
                self.prefixes.insert(&word[..word.len() - 1], self.word());
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
                self.bump();
                self.prefixes.insert(word, self.word());
            }
            _ => return self.unexpected("a prefix, such as ex:,"),
        }
        if self.kind() == Kind::String {
            let iri = super::shortened(self.word().trim_matches(['"', '\'']));
            self.stop(self.span(), "an IRI in quotes", format!("an IRI stands in angle brackets: <{iri}>"));
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
    pub(super) fn where_clause(&mut self, form: &str) -> BTreeSet<&'a str> {
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
                self.tell(span, "the pattern stands in braces", "WHERE { ... }");
                if self.explains && !self.pattern_begins_later() {
                    // Without WHERE, the last variable that was selected may be a subject.
                    self.at -= usize::from(!has_where && self.tokens[self.at - 1].kind() == Kind::Variable);
                    self.braceless = true;
                    self.resumed_here();
                    return self.group_without_brace();
                }
                self.stop_here();
                if self.resume_before_pattern() {
                    self.eat_keyword("WHERE");
                }
            }
        }
        self.group()
    }

    /// Whether a pattern begins before anything ends.
    fn pattern_begins_later(&self) -> bool {
        let ends = |at: &usize| {
            let ahead = *at;
            [".", "}", "{"].iter().any(|mark| self.mark_at(ahead, mark))
                || self.peek(ahead).kind() == Kind::End
                || BEFORE_PATTERNS.iter().any(|word| self.keyword_at(ahead, word))
        };
        let stop = (0..self.tokens.len()).find(ends).unwrap_or(0);
        !(self.mark_at(stop, ".") || self.mark_at(stop, "}") || self.begins_part_at(stop))
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
            let help = "CONSTRUCT { ?s ?p ?o } WHERE { ... }";
            self.stop(self.span(), "what is constructed stands in braces", help);
            if self.resume_before_pattern() && !self.at_end() {
                self.where_clause("CONSTRUCT");
            }
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
            let help = "DESCRIBE <iri>, DESCRIBE ?x WHERE { ... }";
            self.stop(self.span(), "it is not said what to describe", help);
        }
        self.resume_before_pattern();
        self.dataset();
        if self.is_keyword("WHERE") || self.is_mark("{") {
            self.where_clause("DESCRIBE");
        }
        self.modifiers();
    }
}

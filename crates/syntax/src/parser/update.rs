//! Updates.

use super::Parser;
use super::query::UPDATES;
use crate::spelling;
use crate::token::Kind;

impl Parser<'_> {
    /// A whole request.
    pub(super) fn update(&mut self) {
        loop {
            self.prologue();
            if self.at_end() {
                return;
            }
            self.operation();
            if self.stopped || self.at_end() {
                return;
            }
            if !self.eat_mark(";") {
                return self.after_operation();
            }
        }
    }

    fn after_operation(&mut self) {
        let span = self.span();
        if self.is_one_of(&UPDATES) {
            return self.stop(
                span,
                "a `;` is missing between two updates",
                "write `;` after each update but the last",
            );
        }
        if self.is_mark("}") {
            return self.stop(
                span,
                "there is one `}` too many",
                "leave it out, or open the group before it with `{`",
            );
        }
        self.unexpected("`;` or the end of the updates");
    }

    fn operation(&mut self) {
        let (span, word) = (self.span(), self.word());
        let upper = word.to_ascii_uppercase();
        if self.kind() != Kind::Word {
            return self.stop(
                span,
                format!("`{}` begins no update", super::shortened(word)),
                "an update begins with INSERT, DELETE, LOAD, CLEAR, DROP, CREATE, ADD, MOVE, COPY or WITH",
            );
        }
        match upper.as_str() {
            "INSERT" | "DELETE" | "WITH" => self.modify(),
            "LOAD" => {
                self.bump();
                self.eat_keyword("SILENT");
                self.iri("the IRI of a document");
                if self.eat_keyword("INTO") {
                    if !self.eat_keyword("GRAPH") {
                        return self.stop(
                            self.span(),
                            "GRAPH is missing behind INTO",
                            "LOAD <file> INTO GRAPH <graph>",
                        );
                    }
                    self.iri("the IRI of a graph");
                }
            }
            "CLEAR" | "DROP" | "CREATE" => self.graph_operation(&upper),
            "ADD" | "MOVE" | "COPY" => {
                self.bump();
                self.eat_keyword("SILENT");
                self.graph_or_default();
                if !self.eat_keyword("TO") {
                    return self.unexpected("TO");
                }
                self.graph_or_default();
            }
            "SELECT" | "ASK" | "CONSTRUCT" | "DESCRIBE" => {
                self.stop(
                    span,
                    "this is a query, not an update",
                    "lode query runs it, or a request to /query (query=...)",
                );
            }
            _ => {
                let help = match spelling::meant(word, UPDATES) {
                    Some(meant) => format!("did you mean {meant}?"),
                    None => "an update begins with INSERT, DELETE, LOAD, CLEAR, DROP, CREATE, ADD, MOVE, COPY or WITH".to_owned(),
                };
                self.stop(span, format!("`{word}` begins no update"), help);
            }
        }
    }

    fn graph_operation(&mut self, word: &str) {
        self.bump();
        self.eat_keyword("SILENT");
        if word != "CREATE" && self.is_one_of(&["DEFAULT", "NAMED", "ALL"]) {
            return self.bump();
        }
        if !self.eat_keyword("GRAPH") {
            let graphs = if word == "CREATE" { "" } else { ", DEFAULT, NAMED or ALL" };
            return self.stop(
                self.span(),
                format!("{word} needs to know what of"),
                format!("{word} GRAPH <graph>{graphs}"),
            );
        }
        self.iri("the IRI of a graph");
    }

    fn graph_or_default(&mut self) {
        if !self.eat_keyword("DEFAULT") {
            self.eat_keyword("GRAPH");
            self.iri("the IRI of a graph, or DEFAULT,");
        }
    }

    fn modify(&mut self) {
        if self.eat_keyword("WITH") {
            self.iri("the IRI of a graph");
        }
        let mut is_insert = false;
        if self.eat_keyword("DELETE") {
            if self.eat_keyword("DATA") {
                return self.quads(Some("DELETE DATA"));
            }
            if self.eat_keyword("WHERE") {
                return self.quads(None);
            }
            self.into("DELETE");
            self.quads(None);
        }
        if self.eat_keyword("INSERT") {
            if self.eat_keyword("DATA") {
                return self.quads(Some("INSERT DATA"));
            }
            is_insert = true;
            self.into("INSERT");
            self.quads(None);
        }
        while self.eat_keyword("USING") {
            self.eat_keyword("NAMED");
            self.iri("the IRI of a graph");
        }
        let span = self.span();
        if !self.eat_keyword("WHERE") && !self.stopped {
            let help = if is_insert {
                "INSERT DATA { ... } takes data; INSERT { ... } WHERE { ... } a pattern"
            } else {
                "DELETE DATA { ... } takes data; DELETE { ... } WHERE { ... } a pattern"
            };
            return self.stop(span, "WHERE { ... } is missing", help);
        }
        if !self.is_mark("{") && !self.stopped {
            return self.stop(self.span(), "the pattern stands in braces", "WHERE { ... }");
        }
        self.group();
    }

    /// `INSERT INTO <graph>` is of older languages.
    fn into(&mut self, word: &str) {
        if self.is_one_of(&["INTO", "FROM"]) {
            let help = format!(
                "name the graph inside: {word} DATA {{ GRAPH <graph> {{ ... }} }}, or before: WITH <graph> {word} {{ ... }} WHERE {{ ... }}"
            );
            self.stop(
                self.span(),
                format!("{word} {} is not SPARQL", self.word().to_ascii_uppercase()),
                help,
            );
        }
    }
}

//! Updates.

use super::Parser;
use super::query::UPDATES;
use crate::spelling;
use crate::token::Kind;
use crate::tree::Node;

impl Parser<'_> {
    /// A whole request.
    pub(super) fn update(&mut self) {
        loop {
            self.prologue();
            if self.at_end() {
                return;
            }
            let (index, start) = (self.entries.len(), self.at);
            self.operation();
            self.resume_at_operation(start);
            let node = self.entries.get(index).map(|entry| entry.node());
            let now = std::mem::take(&mut self.extent);
            let is_data = matches!(node, Some(Node::InsertData | Node::DeleteData));
            let now = if is_data { super::Extent { depth: now.depth, ..Default::default() } } else { now };
            self.most = self.most.or(now);
            if self.stopped || self.at_end() {
                return;
            }
            if !self.eat_mark(";") {
                let start = self.at;
                self.after_operation();
                if self.stopped && !self.resume_at_operation(start) {
                    return;
                }
                self.eat_mark(";");
            }
        }
    }

    fn after_operation(&mut self) {
        let span = self.span();
        if self.is_one_of(&UPDATES) {
            let help = "write `;` after each update but the last";
            return self.tell(span, "a `;` is missing between two updates", help);
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
            "LOAD" => self.load(),
            "CLEAR" | "DROP" | "CREATE" => self.graph_operation(&upper),
            "ADD" | "MOVE" | "COPY" => self.transfer(&upper),
            "SELECT" | "ASK" | "CONSTRUCT" | "DESCRIBE" => {
                self.stop(
                    span,
                    "this is a query, not an update",
                    "lode query runs it, or a request to /query (query=...)",
                );
            }
            "UPDATE" => {
                let help = "write DELETE { old triples } INSERT { new triples } WHERE { ... }";
                self.stop(span, "SPARQL has no UPDATE ... SET", help);
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

    fn load(&mut self) {
        let node = self.open();
        self.bump();
        self.eat_keyword("SILENT");
        self.iri("the IRI of a document");
        if self.eat_keyword("INTO") {
            if !self.eat_keyword("GRAPH") {
                let help = format!("write INTO GRAPH {}", self.graph_or("<graph>"));
                return self.stop(self.span(), "GRAPH is missing behind INTO", help);
            }
            self.iri("the IRI of a graph");
        }
        self.close_node(node, Node::Load);
    }

    fn transfer(&mut self, word: &str) {
        let node = self.open();
        self.bump();
        self.eat_keyword("SILENT");
        self.graph_or_default();
        if !self.eat_keyword("TO") {
            let is_graph = matches!(self.kind(), Kind::Iri | Kind::Name)
                || self.is_one_of(&["DEFAULT", "GRAPH", "INTO"]);
            if is_graph && !self.stopped {
                let help = format!("write {word} <graph> TO <other graph>");
                return self.stop(self.span(), format!("TO is missing between the graphs of {word}"), help);
            }
            if self.at_end() && !self.stopped && !self.is_cut() {
                let message = format!("TO, and the graph that {word} writes, are missing");
                return self.stop(self.span(), message, format!("write {word} <graph> TO <other graph>"));
            }
            return self.unexpected(&format!("TO, and the graph that {word} writes,"));
        }
        self.graph_or_default();
        self.close_node(node, Node::Transfer);
    }

    fn graph_operation(&mut self, word: &str) {
        let node = self.open();
        let kind = if word == "CREATE" { Node::Create } else { Node::Clear };
        self.bump();
        self.eat_keyword("SILENT");
        if word != "CREATE" && self.is_one_of(&["DEFAULT", "NAMED", "ALL"]) {
            self.bump();
            return self.close_node(node, kind);
        }
        if !self.eat_keyword("GRAPH") {
            let is_graph = matches!(self.kind(), Kind::Iri | Kind::Name);
            let others = if word == "CREATE" || is_graph { "" } else { ", DEFAULT, NAMED or ALL" };
            let message = match is_graph {
                true => format!("GRAPH is missing behind {word}"),
                false => format!("{word} needs to know what of"),
            };
            let help = format!("write {word} GRAPH {}{others}", self.graph_or("<graph>"));
            return self.stop(self.span(), message, help);
        }
        self.iri("the IRI of a graph");
        self.close_node(node, kind);
    }

    /// The graph that stands here, as it is written, or a word for one.
    fn graph_or(&self, other: &str) -> String {
        let is_graph = matches!(self.kind(), Kind::Iri | Kind::Name);
        if is_graph { super::shortened(self.word()) } else { other.to_owned() }
    }

    fn graph_or_default(&mut self) {
        let node = self.open();
        if !self.eat_keyword("DEFAULT") {
            self.eat_keyword("GRAPH");
            self.iri("the IRI of a graph, or DEFAULT,");
        }
        self.close_node(node, Node::Target);
    }

    fn modify(&mut self) {
        let node = self.open();
        let has_with = self.is_keyword("WITH");
        if has_with {
            let with = self.open();
            self.bump();
            self.iri("the IRI of a graph");
            self.close_node(with, Node::With);
            if !self.is_one_of(&["DELETE", "INSERT"]) && !self.stopped {
                return self.unexpected("DELETE or INSERT");
            }
        }
        let is_delete = self.is_keyword("DELETE");
        if is_delete {
            let clause = self.open();
            self.bump();
            let whole = match () {
                () if self.is_keyword("DATA") => Some((Node::DeleteData, Some("DELETE DATA"))),
                () if self.is_keyword("WHERE") => Some((Node::DeleteWhere, None)),
                () => None,
            };
            if let Some((kind, what)) = whole {
                self.short_form(has_with, "DELETE", what);
                // The clause is the whole of it.
                self.close_node(clause, Node::Delete);
                return self.close_node(node, kind);
            }
            self.into("DELETE");
            self.quads(None);
            self.close_node(clause, Node::Delete);
        }
        let is_insert = self.is_keyword("INSERT");
        if is_insert {
            let clause = self.open();
            self.bump();
            if self.is_keyword("DATA") {
                self.short_form(has_with || is_delete, "INSERT", Some("INSERT DATA"));
                self.close_node(clause, Node::Insert);
                return self.close_node(node, Node::InsertData);
            }
            let is_whole = self.into("INSERT");
            self.quads(None);
            self.close_node(clause, Node::Insert);
            if is_whole && !self.is_one_of(&["USING", "WHERE"]) {
                return self.close_node(node, Node::Modify);
            }
        }
        self.graphs("USING");
        self.pattern_of_modify(is_insert);
        self.close_node(node, Node::Modify);
    }

    /// DATA, or WHERE behind DELETE, which stand alone.
    fn short_form(&mut self, has_before: bool, word: &str, what: Option<&str>) {
        let second = self.word().to_ascii_uppercase();
        if has_before {
            let help = format!("{word} {second} stands alone; name graphs inside: GRAPH <graph> {{ ... }}");
            return self.stop(self.span(), format!("{word} {second} behind WITH or DELETE"), help);
        }
        self.bump();
        self.quads(what);
    }

    fn pattern_of_modify(&mut self, is_insert: bool) {
        let span = self.span();
        let is_misspelt = self.kind() == Kind::Word
            && self.mark_at(1, "{")
            && !self.is_keyword("WHERE")
            && spelling::meant(self.word(), ["WHERE"]).is_some();
        if is_misspelt {
            let message = format!("`{}` stands where WHERE should", self.word());
            self.tell(span, message, "did you mean WHERE?");
            self.bump();
        } else if !self.eat_keyword("WHERE") && !self.stopped {
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

    /// `INSERT INTO <graph>` is of older languages, which may take data behind it: whether it was there.
    fn into(&mut self, word: &str) -> bool {
        let is_one = self.is_one_of(&["INTO", "FROM"]);
        if is_one {
            let message = format!("{word} {} is not SPARQL", self.word().to_ascii_uppercase());
            let help = format!(
                "name the graph inside: {word} DATA {{ GRAPH <graph> {{ ... }} }}, or before: WITH <graph> {word} {{ ... }} WHERE {{ ... }}"
            );
            self.tell(self.span(), message, help);
            self.bump();
            self.eat_keyword("GRAPH");
            if matches!(self.kind(), Kind::Iri | Kind::Name) {
                self.iri("the IRI of a graph");
            }
        }
        is_one
    }
}

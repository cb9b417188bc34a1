//! Triples: subjects, properties, objects; also of templates and data.

use super::Parser;
use super::scope::bare;
use crate::token::Kind;

impl Parser<'_> {
    /// Triples, with dots between them.
    pub(super) fn triples_block(&mut self) {
        loop {
            self.triples_of_subject();
            while self.begins_term(0) && self.is_property_without_semicolon() {
                self.properties();
            }
            let has_dot = self.eat_mark(".");
            if !self.begins_term(0) || self.stopped {
                return;
            }
            if !has_dot {
                let at = self.before();
                let help = "a dot stands between triples: ?s ?p ?o . ?s2 ?p2 ?o2";
                self.tell(at.saturating_sub(1)..at, "a dot is missing after this triple", help);
            }
        }
    }

    /// Whether a property and an object follow another object: a semicolon is missing.
    fn is_property_without_semicolon(&mut self) -> bool {
        let at = self.before();
        let place = at.saturating_sub(1)..at;
        let is_missing = self.begins_verb(0) && self.ends_triple(2) && !self.ends_triple(1);
        if is_missing {
            self.tell(
                place,
                "a `;` is missing after this object",
                "`;` stands between the properties of one subject",
            );
        }
        is_missing
    }

    fn triples_of_subject(&mut self) {
        let may_stand_alone = ["[", "(", "<<"].iter().any(|mark| self.is_mark(mark));
        self.term("a subject");
        if self.stopped {
            return;
        }
        if self.begins_verb(0) || !may_stand_alone {
            self.properties();
        }
    }

    fn begins_verb(&self, ahead: usize) -> bool {
        match self.peek(ahead).kind {
            Kind::Variable | Kind::Iri | Kind::Name => true,
            Kind::Word => self.word_at(ahead) == "a",
            Kind::Mark => matches!(self.word_at(ahead), "^" | "!" | "("),
            _ => false,
        }
    }

    /// Properties and objects, with semicolons between them.
    fn properties(&mut self) {
        loop {
            self.verb();
            self.objects();
            if !self.is_mark(";") {
                return;
            }
            while self.eat_mark(";") {}
            if !self.begins_verb(0) {
                if self.kind() == Kind::Word
                    && !self.mark_at(1, "{")
                    && !self.mark_at(1, "(")
                    && self.begins_term(1)
                {
                    self.verb();
                }
                return;
            }
        }
    }

    fn verb(&mut self) {
        let (span, word) = (self.span(), self.word());
        match self.kind() {
            Kind::Variable => self.variable("a property"),
            Kind::Word if word == "a" && !self.mark_at(1, "/") && !self.mark_at(1, "|") => self.bump(),
            _ if self.begins_verb(0) => self.path(),
            Kind::String | Kind::Number => {
                self.stop(
                    span,
                    "a literal where the property stands",
                    "a property is an IRI, a path of IRIs, or a variable",
                );
            }
            Kind::Blank => self.stop(span, "a blank node where the property stands", "write a variable: ?p"),
            Kind::Word if word.eq_ignore_ascii_case("a") => {
                self.stop(span, format!("`{word}` is no property"), "rdf:type is `a`, in lower case");
            }
            Kind::Word => self.no_term("a property should stand"),
            Kind::Mark if matches!(word, "." | "}" | ";" | ",") => {
                self.stop(
                    span,
                    format!("property and object are missing before `{word}`"),
                    "a triple has three parts: ?subject ?property ?object",
                );
            }
            _ => self.unexpected("a property"),
        }
    }

    fn objects(&mut self) {
        loop {
            if [".", "}", ";", ","].iter().any(|mark| self.is_mark(mark)) && !self.stopped {
                let word = self.word();
                return self.stop(
                    self.span(),
                    format!("the object is missing before `{word}`"),
                    "a triple has three parts: ?subject ?property ?object",
                );
            }
            self.term("an object");
            self.annotations();
            let comma = self.span();
            if !self.eat_mark(",") {
                return;
            }
            if self.begins_verb(0) && self.begins_term(1) && self.ends_triple(2) {
                self.tell(
                    comma,
                    "a comma where `;` belongs",
                    "`,` stands between objects of one property, `;` between properties",
                );
                return self.properties();
            }
        }
    }

    /// Whether a triple has ended with what is before the token `ahead`.
    fn ends_triple(&self, ahead: usize) -> bool {
        self.peek(ahead).kind == Kind::End
            || [".", ";", "}", ","].iter().any(|mark| self.mark_at(ahead, mark))
    }

    /// `~ ?reifier` and `{| ?p ?o |}` (SPARQL 1.2).
    fn annotations(&mut self) {
        loop {
            if self.eat_mark("~") {
                if matches!(self.kind(), Kind::Variable | Kind::Iri | Kind::Name | Kind::Blank) {
                    self.term("a reifier");
                }
            } else if self.is_mark("{|") {
                let open = self.span();
                self.bump();
                self.properties();
                self.close("|}", open);
            } else {
                return;
            }
        }
    }

    /// A subject or an object.
    fn term(&mut self, wanted: &str) {
        let span = self.span();
        match self.kind() {
            Kind::Variable => self.variable(wanted),
            Kind::Iri | Kind::Name => self.iri(wanted),
            Kind::Blank => self.bump(),
            Kind::Mark if self.is_mark("[") => self.deeper(|p| {
                p.bump();
                if !p.is_mark("]") {
                    p.properties();
                }
                p.close("]", span);
            }),
            Kind::Mark if self.is_mark("(") => self.deeper(|p| {
                p.bump();
                while !p.is_mark(")") && !p.at_end() {
                    if p.is_mark(",") {
                        p.comma("members of a list");
                    } else {
                        p.term("a member of a list");
                    }
                }
                p.close(")", span);
            }),
            Kind::Mark if self.is_mark("<<(") => self.triple_term(),
            Kind::Mark if self.is_mark("<<") => self.reified_triple(),
            Kind::Mark if self.is_mark("?") || self.is_mark("$") => self.variable(wanted),
            Kind::Word if !self.is_one_of(&["true", "false"]) => {
                self.no_term(&format!("{wanted} should stand"))
            }
            _ if self.literal() => {}
            _ => self.unexpected(wanted),
        }
    }

    /// `<<( ?s ?p ?o )>>`.
    pub(super) fn triple_term(&mut self) {
        let open = self.span();
        self.deeper(|p| {
            p.bump();
            p.term("a subject");
            p.verb();
            p.term("an object");
            p.close(")>>", open);
        });
    }

    /// `<< ?s ?p ?o ~ ?reifier >>`.
    fn reified_triple(&mut self) {
        let open = self.span();
        self.deeper(|p| {
            p.bump();
            p.term("a subject");
            p.verb();
            p.term("an object");
            if p.eat_mark("~") && !p.is_mark(">>") {
                p.term("a reifier");
            }
            p.close(">>", open);
        });
    }

    /// A template in braces: what CONSTRUCT makes.
    pub(super) fn template(&mut self) {
        let open = self.span();
        self.bump();
        while self.begins_term(0) {
            self.triples_block();
        }
        if self.is_keyword("GRAPH") {
            return self.stop(
                self.span(),
                "CONSTRUCT makes triples, without graphs",
                "leave GRAPH out, or ask for quads with SELECT ?g ?s ?p ?o",
            );
        }
        if self.is_one_of(&["FILTER", "OPTIONAL", "BIND"]) {
            let word = self.word();
            return self.stop(
                self.span(),
                format!("{word} stands in what is constructed"),
                "put it in WHERE { ... }",
            );
        }
        if self.kind() == Kind::Word {
            return self.no_term("a triple begins");
        }
        self.close("}", open);
    }

    /// Data and templates of updates, with GRAPH; `what`: the operation, where they may have no variables.
    pub(super) fn quads(&mut self, what: Option<&str>) {
        let open = self.span();
        if !self.eat_mark("{") {
            return self.stop(open, "quads stand in braces", "{ :s :p :o . GRAPH :g { :s :p :o } }");
        }
        let start = self.at;
        loop {
            if self.begins_term(0) {
                self.triples_block();
            } else if self.eat_keyword("GRAPH") {
                self.variable_or_iri("the name of a graph");
                let inner = self.span();
                self.expect("{", "before the triples of a graph");
                while self.begins_term(0) {
                    self.triples_block();
                }
                self.close("}", inner);
            } else if !(self.is_mark(".") && self.at > start) {
                break;
            } else {
                self.bump();
            }
        }
        if self.is_one_of(&["FILTER", "OPTIONAL", "BIND", "VALUES", "MINUS", "SELECT"]) {
            let word = self.word();
            return self.stop(
                self.span(),
                format!("{word} stands among quads"),
                "patterns stand in WHERE { ... }: INSERT { ... } WHERE { ... }",
            );
        }
        if self.kind() == Kind::Word {
            return self.no_term("a triple begins");
        }
        self.close("}", open);
        if let Some(what) = what {
            self.no_variables(what, start);
        }
    }

    fn no_variables(&mut self, what: &str, start: usize) {
        let variable = self.tokens[start..self.at].iter().find(|token| token.kind == Kind::Variable);
        if let Some(token) = variable {
            let (span, name) = (token.span.clone(), bare(self.text.get(token.span.clone()).unwrap_or("")));
            self.tell(span, format!("{what} with a variable, ?{name}"), "it takes data only; INSERT { ... } WHERE { ... } and DELETE { ... } WHERE { ... } take variables");
        }
        if what == "DELETE DATA" {
            let blank = self.tokens[start..self.at].iter().find(|token| token.kind == Kind::Blank);
            if let Some(token) = blank {
                self.tell(
                    token.span.clone(),
                    "DELETE DATA with a blank node, which is no node of the data",
                    "find it: DELETE { ?s :p :o } WHERE { ?s :p :o }",
                );
            }
        }
    }
}

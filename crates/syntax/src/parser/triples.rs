//! Triples: subjects, properties, objects; also of templates and data.

use super::Parser;
use super::scope::bare;
use crate::token::Kind;
use crate::tree::Node;

/// Where a term stands, which decides what it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In triples.
    Triples,
    /// In a reified triple.
    Reified,
    /// In a triple term.
    Term,
    /// In a triple term of VALUES.
    Data,
    /// In a triple term of an expression.
    Value,
}

impl Place {
    fn has_blanks(self) -> bool {
        !matches!(self, Self::Data | Self::Value)
    }
}

impl Parser<'_> {
    /// Triples, with dots between them.
    pub(super) fn triples_block(&mut self) {
        loop {
            self.triples_of_subject();
            self.resume_behind_triple();
            self.term_too_many();
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

    /// A single term behind a triple.
    fn term_too_many(&mut self) {
        let is_one = matches!(
            self.kind(),
            Kind::Variable | Kind::Iri | Kind::Name | Kind::Blank | Kind::Number | Kind::String
        );
        if is_one && (self.ends_triple(1) && !self.mark_at(1, ";")) && !self.stopped {
            let message = format!("`{}` is one term too many for this triple", super::shortened(self.word()));
            let help =
                "a triple has three parts; `,` stands between several objects, a dot before another triple";
            self.tell(self.span(), message, help);
            self.bump();
            while self.eat_mark(",") && self.begins_term(0) {
                self.bump();
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
        let node = self.open();
        let is_empty = self.is_empty("[", "]") || self.is_empty("(", ")");
        let may_stand_alone = !is_empty && ["[", "(", "<<"].iter().any(|mark| self.is_mark(mark));
        self.term(Place::Triples, "a subject");
        if self.stopped {
            return;
        }
        if self.begins_verb(0) || !may_stand_alone {
            self.properties();
        }
        self.close_node(node, Node::Triples);
    }

    fn begins_verb(&self, ahead: usize) -> bool {
        match self.peek(ahead).kind() {
            Kind::Variable | Kind::Iri | Kind::Name => true,
            Kind::Word => self.word_at(ahead) == "a",
            Kind::Mark => matches!(self.word_at(ahead), "^" | "!" | "("),
            _ => false,
        }
    }

    /// Properties and objects, with semicolons between them.
    fn properties(&mut self) {
        loop {
            let (node, start) = (self.open(), self.at);
            self.verb();
            self.objects();
            self.close_node(node, Node::Property);
            self.resume_in_properties(start);
            if !self.is_mark(";") {
                return;
            }
            while self.eat_mark(";") {}
            if !self.begins_verb(0) {
                if self.kind() == Kind::Word
                    && !self.mark_at(1, "{")
                    && !self.mark_at(1, "(")
                    && !self.begins_part()
                    && self.begins_term(1)
                {
                    self.verb();
                }
                return;
            }
        }
    }

    /// The verb of a triple of a template or in a term: no path.
    fn simple_verb(&mut self) {
        match self.kind() {
            Kind::Variable => self.variable("a property"),
            Kind::Word if self.word() == "a" => self.leaf(Node::Type),
            Kind::Iri | Kind::Name => self.iri("a property"),
            Kind::Mark if matches!(self.word(), "^" | "!" | "(") => self.no_path(self.span()),
            _ => self.verb(),
        }
    }

    fn no_path(&mut self, span: std::ops::Range<usize>) {
        let help = "a path stands in patterns only: name the property by its IRI, or by a variable";
        self.stop(span, "a path where a property stands", help);
    }

    fn verb(&mut self) {
        let (span, word) = (self.span(), self.word());
        match self.kind() {
            Kind::Variable => self.variable("a property"),
            _ if self.begins_verb(0) && self.templates => {
                self.simple_verb();
                if !self.is_signed() && ["/", "|", "*", "+", "?"].iter().any(|mark| self.is_mark(mark)) {
                    self.no_path(span);
                }
            }
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
            self.term(Place::Triples, "an object");
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
        self.peek(ahead).kind() == Kind::End
            || [".", ";", "}", ","].iter().any(|mark| self.mark_at(ahead, mark))
    }

    /// `~ ?reifier` and `{| ?p ?o |}` (SPARQL 1.2).
    fn annotations(&mut self) {
        loop {
            if self.is_mark("~") {
                self.reifier();
            } else if self.is_mark("{|") {
                let open = self.span();
                self.deeper(|p| {
                    let node = p.open();
                    p.bump();
                    p.properties();
                    p.close("|}", open);
                    p.close_node(node, Node::Annotation);
                });
            } else {
                return;
            }
        }
    }

    fn reifier(&mut self) {
        let node = self.open();
        self.bump();
        let is_term = matches!(self.kind(), Kind::Variable | Kind::Iri | Kind::Name | Kind::Blank);
        if is_term || self.is_empty("[", "]") {
            self.term(Place::Reified, "a reifier");
        }
        self.close_node(node, Node::Reifier);
    }

    /// Whether brackets with nothing between them but white space are next: to the grammar these are one token.
    pub(super) fn is_empty(&self, open: &str, close: &str) -> bool {
        let between = self.peek(0).end()..self.peek(1).start();
        self.is_mark(open)
            && self.mark_at(1, close)
            && !self.text.get(between).is_some_and(|between| between.contains('#'))
    }

    /// Two tokens that are a node.
    fn empty(&mut self, node: Node) {
        let open = self.open();
        self.bump();
        self.bump();
        self.close_node(open, node);
    }

    /// A subject or an object.
    pub(super) fn term(&mut self, place: Place, wanted: &str) {
        let span = self.span();
        match self.kind() {
            Kind::Variable => self.variable(wanted),
            Kind::Iri | Kind::Name => self.iri(wanted),
            Kind::Blank if place.has_blanks() => self.leaf(Node::Blank),
            Kind::Mark if place.has_blanks() && self.is_empty("[", "]") => self.empty(Node::BlankProperties),
            Kind::Mark if place == Place::Triples && self.is_empty("(", ")") => self.empty(Node::Collection),
            Kind::Mark if place == Place::Triples && self.is_mark("[") => self.deeper(|p| {
                let node = p.open();
                p.bump();
                p.properties();
                p.close("]", span);
                p.close_node(node, Node::BlankProperties);
            }),
            Kind::Mark if place == Place::Triples && self.is_mark("(") => self.deeper(|p| {
                let node = p.open();
                p.bump();
                loop {
                    if p.is_mark(",") {
                        p.comma("members of a list");
                    } else {
                        p.term(place, "a member of a list");
                    }
                    if p.is_mark(")") || p.at_end() {
                        break;
                    }
                }
                p.close(")", span);
                p.close_node(node, Node::Collection);
            }),
            Kind::Mark if self.is_mark("<<(") => self.triple_term(place),
            Kind::Mark if self.is_mark("<<") && matches!(place, Place::Triples | Place::Reified) => {
                self.reified_triple()
            }
            Kind::Mark if self.is_mark("?") || self.is_mark("$") => self.variable(wanted),
            Kind::Word if !self.is_boolean() => self.no_term(&format!("{wanted} should stand")),
            _ if self.literal() => {}
            _ => self.unexpected(wanted),
        }
    }

    /// `<<( ?s ?p ?o )>>`.
    pub(super) fn triple_term(&mut self, place: Place) {
        let open = self.span();
        let inside = if matches!(place, Place::Triples | Place::Reified) { Place::Term } else { place };
        self.deeper(|p| {
            let node = p.open();
            p.bump();
            p.subject_of_term(inside);
            p.simple_verb();
            p.term(inside, "an object");
            p.close(")>>", open);
            p.close_node(node, Node::TripleTerm);
        });
    }

    /// In data and in expressions the subject of a triple term is no literal and no triple.
    fn subject_of_term(&mut self, place: Place) {
        let is_plain = matches!(self.kind(), Kind::Variable | Kind::Iri | Kind::Name);
        if matches!(place, Place::Data | Place::Value) && !is_plain && !self.stopped {
            let what = if self.kind() == Kind::Word || self.kind() == Kind::Bad { None } else { Some(()) };
            if what.is_some() {
                let help = "the subject of a triple term is an IRI, or a variable in an expression";
                let message = format!("`{}` stands where a subject should", super::shortened(self.word()));
                return self.stop(self.span(), message, help);
            }
        }
        self.term(place, "a subject");
    }

    /// `<< ?s ?p ?o ~ ?reifier >>`.
    fn reified_triple(&mut self) {
        let open = self.span();
        self.deeper(|p| {
            let node = p.open();
            p.bump();
            p.term(Place::Reified, "a subject");
            p.simple_verb();
            p.term(Place::Reified, "an object");
            if p.is_mark("~") {
                p.reifier();
            }
            p.close(">>", open);
            p.close_node(node, Node::ReifiedTriple);
        });
    }

    /// A template in braces: what CONSTRUCT makes.
    pub(super) fn template(&mut self) {
        let (node, open) = (self.open(), self.span());
        self.bump();
        let outside = std::mem::replace(&mut self.templates, true);
        if self.begins_term(0) {
            self.triples_block();
        }
        self.templates = outside;
        if self.is_keyword("GRAPH") {
            let help = "leave GRAPH out, or ask for quads with SELECT ?g ?s ?p ?o";
            self.stop(self.span(), "CONSTRUCT makes triples, without graphs", help);
        } else if self.is_one_of(&["FILTER", "OPTIONAL", "BIND"]) {
            let word = self.word();
            let message = format!("{word} stands in what is constructed");
            self.stop(self.span(), message, "put it in WHERE { ... }");
        } else if self.kind() == Kind::Word {
            self.no_term("a triple begins");
        } else {
            self.close("}", open);
            return self.close_node(node, Node::Template);
        }
        // What it is cannot be told: up to the last brace that is its own.
        if self.resume_behind_group() {
            self.eat_mark("}");
        }
        self.close_node(node, Node::Template);
    }

    /// Data and templates of updates, with GRAPH; `what`: the operation, where they may have no variables.
    pub(super) fn quads(&mut self, what: Option<&str>) {
        self.deeper(|p| p.quads_inside(what));
    }

    fn quads_inside(&mut self, what: Option<&str>) {
        let (node, open) = (self.open(), self.span());
        if !self.eat_mark("{") {
            return self.stop(open, "quads stand in braces", "{ :s :p :o . GRAPH :g { :s :p :o } }");
        }
        let start = self.at;
        let outside = std::mem::replace(&mut self.templates, true);
        let mut dot = false;
        loop {
            if self.begins_term(0) {
                self.triples_block();
                dot = false;
            } else if self.is_keyword("GRAPH") {
                self.quads_of_graph();
                dot = true;
            } else if dot && self.eat_mark(".") {
                dot = false;
            } else {
                break;
            }
        }
        self.templates = outside;
        if self.is_one_of(&["FILTER", "OPTIONAL", "BIND", "VALUES", "MINUS", "SELECT"]) {
            let word = self.word();
            let help = self.help_for_pattern(what, start);
            self.stop(self.span(), format!("{word} stands among quads"), help);
        } else if self.kind() == Kind::Word {
            self.no_term("a triple begins");
        } else {
            self.close("}", open);
        }
        if self.resume_behind_group() {
            self.eat_mark("}");
        }
        self.close_node(node, Node::Quads);
        if let Some(what) = what {
            self.no_variables(what, start);
        }
    }

    /// What to do with a pattern among the quads of an operation, which begin at a token.
    fn help_for_pattern(&self, what: Option<&str>, start: usize) -> String {
        let before = start.checked_sub(2).and_then(|at| self.tokens.get(at));
        let word = before.and_then(|token| self.text.get(token.span())).unwrap_or("");
        match what {
            Some(what) => {
                let operation = what.trim_end_matches(" DATA");
                format!("{what} takes data only; {operation} {{ ... }} WHERE {{ ... }} takes patterns")
            }
            None if word.eq_ignore_ascii_case("WHERE") => {
                "DELETE WHERE takes triples only: write DELETE { triples } WHERE { triples and patterns }"
                    .to_owned()
            }
            None => "patterns stand in WHERE { ... }, behind the braces of DELETE and INSERT".to_owned(),
        }
    }

    fn quads_of_graph(&mut self) {
        let node = self.open();
        self.bump();
        self.variable_or_iri("the name of a graph");
        let inner = self.span();
        self.expect("{", "before the triples of a graph");
        if self.begins_term(0) {
            self.triples_block();
        }
        self.close("}", inner);
        self.close_node(node, Node::QuadsOfGraph);
    }

    fn no_variables(&mut self, what: &str, start: usize) {
        let variable = self.tokens[start..self.at].iter().find(|token| token.kind() == Kind::Variable);
        if let Some(token) = variable {
            let (span, name) = (token.span(), bare(self.text.get(token.span()).unwrap_or("")));
            self.tell(span, format!("{what} with a variable, ?{name}"), "it takes data only; INSERT { ... } WHERE { ... } and DELETE { ... } WHERE { ... } take variables");
        }
        if what == "DELETE DATA" {
            let blank = self.tokens[start..self.at].iter().find(|token| token.kind() == Kind::Blank);
            if let Some(token) = blank {
                self.tell(
                    token.span(),
                    "DELETE DATA with a blank node, which is no node of the data",
                    "find it: DELETE { ?s :p :o } WHERE { ?s :p :o }",
                );
            }
        }
    }
}

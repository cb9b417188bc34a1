//! Property paths.

use super::Parser;
use crate::token::Kind;
use crate::tree::Node;

impl Parser<'_> {
    /// A path: alternatives of sequences of steps.
    pub(super) fn path(&mut self) {
        let place = self.place();
        self.sequence();
        let mut alternatives = None;
        loop {
            if self.is_mark("||") {
                self.tell(self.span(), "`||` in a path", "alternatives of a path are written with one `|`");
            } else if !self.is_mark("|") {
                break;
            }
            alternatives.get_or_insert_with(|| self.wrap(place));
            self.extent.operators += 1;
            self.bump();
            self.sequence();
        }
        if let Some(open) = alternatives {
            self.close_node(open, Node::Alternative);
        }
    }

    fn sequence(&mut self) {
        let place = self.place();
        self.step();
        if !self.is_mark("/") || self.foreign_comment() {
            return;
        }
        let open = self.wrap(place);
        while !self.foreign_comment() && self.eat_mark("/") {
            self.extent.operators += 1;
            self.step();
        }
        self.close_node(open, Node::Sequence);
    }

    fn step(&mut self) {
        if self.is_mark("^") {
            let open = self.open();
            self.bump();
            self.element();
            return self.close_node(open, Node::Inverse);
        }
        self.element();
    }

    fn element(&mut self) {
        let (span, place) = (self.span(), self.place());
        match self.kind() {
            Kind::Iri | Kind::Name => self.iri("a step of a path"),
            Kind::Word if self.word() == "a" => self.leaf(Node::Type),
            Kind::Mark if self.is_mark("!") => {
                let open = self.open();
                self.bump();
                self.negated();
                self.close_node(open, Node::Negated);
            }
            Kind::Mark if self.is_mark("(") => {
                let open = self.open();
                self.bump();
                self.deeper(Self::path);
                self.close(")", span);
                self.close_node(open, Node::Parentheses);
            }
            Kind::Variable => self.stop(
                span,
                "a variable in a path",
                "a path is made of IRIs; join two triples by a variable instead",
            ),
            Kind::Word => self.no_term("a step of a path should stand"),
            _ => self.unexpected("a step of a path"),
        }
        // `+1` is one token, a number.
        if ["*", "+", "?"].iter().any(|mark| self.is_mark(mark)) && !self.is_signed() {
            let open = self.wrap(place);
            self.bump();
            return self.close_node(open, Node::Repeated);
        }
        let brace = self.span();
        if self.pass_repetition() {
            let help = "write the steps: :p/:p, :p/:p?, or :p+";
            self.tell(brace, "SPARQL has no counted repetitions of paths", help);
        }
    }

    /// What `!` is before: an IRI, or several in parentheses.
    fn negated(&mut self) {
        let open = self.span();
        if !self.eat_mark("(") {
            return self.negated_one();
        }
        if !self.is_mark(")") {
            loop {
                self.negated_one();
                if !self.eat_mark("|") {
                    break;
                }
            }
        }
        self.close(")", open);
    }

    fn negated_one(&mut self) {
        if !self.is_mark("^") {
            return self.negated_iri();
        }
        let open = self.open();
        self.bump();
        self.negated_iri();
        self.close_node(open, Node::Inverse);
    }

    fn negated_iri(&mut self) {
        if self.kind() == Kind::Word && self.word() == "a" {
            self.leaf(Node::Type)
        } else {
            self.iri("an IRI behind `!`")
        }
    }
}

//! Property paths.

use super::Parser;
use crate::token::Kind;

impl Parser<'_> {
    /// A path: alternatives of sequences of steps.
    pub(super) fn path(&mut self) {
        self.deeper(|p| {
            loop {
                p.step();
                while p.eat_mark("/") {
                    p.step();
                }
                if p.is_mark("||") {
                    p.tell(p.span(), "`||` in a path", "alternatives of a path are written with one `|`");
                    p.bump();
                } else if !p.eat_mark("|") {
                    return;
                }
            }
        });
    }

    fn step(&mut self) {
        self.eat_mark("^");
        let span = self.span();
        match self.kind() {
            Kind::Iri | Kind::Name => self.iri("a step of a path"),
            Kind::Word if self.word() == "a" => self.bump(),
            Kind::Mark if self.is_mark("!") => {
                self.bump();
                self.negated();
            }
            Kind::Mark if self.is_mark("(") => {
                self.bump();
                self.path();
                self.close(")", span);
            }
            Kind::Variable => self.stop(
                span,
                "a variable in a path",
                "a path is made of IRIs; join two triples by a variable instead",
            ),
            Kind::Word => self.no_term("a step of a path should stand"),
            _ => self.unexpected("a step of a path"),
        }
        self.repetition();
    }

    fn repetition(&mut self) {
        if ["*", "+", "?"].iter().any(|mark| self.is_mark(mark)) {
            self.bump();
            return;
        }
        if self.is_mark("{") && (self.peek(1).kind == Kind::Number || self.mark_at(1, ",")) {
            self.stop(
                self.span(),
                "SPARQL has no counted repetitions of paths",
                "write the steps: :p/:p, :p/:p?, or :p+",
            );
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
        self.eat_mark("^");
        if self.kind() == Kind::Word && self.word() == "a" {
            self.bump()
        } else {
            self.iri("an IRI behind `!`")
        }
    }
}

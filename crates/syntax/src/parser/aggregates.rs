//! Aggregates.

use super::Parser;
use super::no_aggregates::{IN_AGGREGATE, NoAggregates};
use crate::token::Kind;

impl Parser<'_> {
    /// Reads what has no aggregates.
    pub(super) fn without_aggregates(&mut self, place: &'static NoAggregates, inner: impl FnOnce(&mut Self)) {
        let outside = self.no_aggregates.replace(place);
        inner(self);
        self.no_aggregates = outside;
    }

    /// Whether the IRI of an aggregate comes next, and its bracket.
    pub(super) fn is_aggregate_iri(&self) -> bool {
        if self.vocabulary.aggregate_iris.is_empty() || !self.mark_at(1, "(") {
            return false;
        }
        let written = self.word();
        if let Some(iri) = inside(written) {
            return self.vocabulary.is_aggregate_iri("", iri);
        }
        let Some((prefix, local)) = written.split_once(':') else { return false };
        let start = self.prefixes.get(prefix).and_then(|iri| inside(iri));
        start.is_some_and(|start| self.vocabulary.is_aggregate_iri(start, local))
    }

    /// An aggregate that is called by a keyword.
    pub(super) fn aggregate(&mut self) {
        let word = self.word();
        self.count_aggregate();
        self.bump();
        self.behind_name(word);
    }

    /// What is behind the IRI of an aggregate.
    pub(super) fn aggregate_of(&mut self, name: &str) {
        self.count_aggregate();
        self.behind_name(name);
    }

    fn count_aggregate(&mut self) {
        match self.no_aggregates {
            Some(place) => self.tell(self.span(), place.message, place.help),
            None => self.scope.aggregates += 1,
        }
    }

    fn behind_name(&mut self, word: &str) {
        let open = self.span();
        if !self.eat_mark("(") {
            return self.unexpected(&format!("`(` behind {word}"));
        }
        self.eat_keyword("DISTINCT");
        let outside = self.scope.pause();
        if self.is_mark("*") {
            if !word.eq_ignore_ascii_case("COUNT") {
                self.tell(
                    self.span(),
                    format!("only COUNT takes `*`, not {word}"),
                    format!("name what is meant: {word}(?x)"),
                );
            }
            self.bump();
        } else if self.is_mark(")") {
            self.tell(
                open.clone(),
                format!("{word} without what it is of"),
                "COUNT(*) counts rows, COUNT(?x) values",
            );
        } else {
            self.without_aggregates(&IN_AGGREGATE, Self::expression);
        }
        self.scope.resume(outside);
        if self.is_mark(";") && word.eq_ignore_ascii_case("GROUP_CONCAT") {
            self.bump();
            if !self.eat_keyword("SEPARATOR") {
                return self.stop(
                    self.span(),
                    "SEPARATOR should stand behind `;`",
                    "GROUP_CONCAT(?x; SEPARATOR=\", \")",
                );
            }
            self.expect("=", "behind SEPARATOR");
            if self.kind() != Kind::String {
                return self.unexpected("the separator in quotes");
            }
            self.bump();
        } else if self.is_mark(",") {
            let help = if word.eq_ignore_ascii_case("GROUP_CONCAT") {
                "the separator is named: GROUP_CONCAT(?x; SEPARATOR=\", \")"
            } else {
                "an aggregate is of one expression"
            };
            return self.stop(self.span(), format!("{word} takes one argument"), help);
        }
        self.close(")", open);
    }
}

/// What is in the brackets of an IRI.
fn inside(iri: &str) -> Option<&str> {
    iri.strip_prefix('<')?.strip_suffix('>')
}

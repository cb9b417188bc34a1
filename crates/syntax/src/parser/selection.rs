//! SELECT: what is selected, and what of it stands where it may not.

use super::Parser;
use super::scope::bare;
use crate::spelling;
use crate::token::Kind;
use crate::tree::Node;
use std::collections::BTreeSet;
use std::ops::Range;

/// What a SELECT has.
#[derive(Default)]
struct Selection<'a> {
    star: Option<Range<usize>>,
    plain: Vec<(&'a str, Range<usize>)>,
    /// Names behind AS.
    named: Vec<(&'a str, Range<usize>)>,
    /// Where values begin that have no name, which were told of.
    unnamed: Vec<usize>,
    /// Variables of expressions outside of aggregates.
    outside: Vec<(&'a str, Range<usize>)>,
}

impl<'a> Parser<'a> {
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
        let resumed = self.resumed;
        let selection = self.selection();
        self.resume_before_pattern();
        self.close_node(clause, Node::Selection);
        if top {
            self.dataset();
        }
        let in_pattern = self.resumed;
        let inside = self.where_clause("SELECT");
        let in_pattern = self.resumed - in_pattern;
        let keys = self.modifiers();
        self.close_node(node, Node::Select);
        self.no_aggregates = outside;
        if !self.explains {
            return Vec::new();
        }
        // Where something was passed over, names may be missing.
        let has_brace = !std::mem::take(&mut self.braceless);
        let is_whole = self.resumed - in_pattern == resumed && !self.stopped && has_brace;
        let is_grouped = keys.is_some() || self.scope.aggregates > aggregates;
        self.scope.aggregates = aggregates;
        if is_grouped && is_whole {
            self.ungrouped(&selection, &keys.unwrap_or_default());
        }
        if has_brace {
            self.named_twice(&selection, &inside);
        }
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
                    if selection.star.is_some() {
                        self.tell(
                            span.clone(),
                            "`*` stands twice",
                            "it selects all variables: leave one out",
                        );
                    }
                    selection.star = Some(span);
                    self.bump();
                }
                Kind::Mark if word == "(" => self.named_value(&mut selection),
                Kind::Mark if word == "," => self.comma("what is selected"),
                Kind::Mark if word == "?" || word == "$" => self.variable("a variable"),
                Kind::Word if self.is_one_of(&["WHERE", "FROM"]) => break,
                Kind::Word if self.mark_at(1, "{") && spelling::meant(word, ["WHERE"]).is_some() => break,
                Kind::Word => self.word_selected(&mut selection),
                _ => break,
            }
        }
        let is_empty = selection.star.is_none()
            && selection.plain.is_empty()
            && selection.named.is_empty()
            && selection.unnamed.is_empty();
        let has_others = self.at > first + 1 && selection.plain.len() + selection.named.len() > 0;
        if let Some(star) = selection.star.clone().filter(|_| has_others && self.begins_pattern()) {
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

    /// Whether a pattern follows, or what stands before it.
    fn begins_pattern(&self) -> bool {
        self.is_one_of(&["WHERE", "FROM"]) || self.is_mark("{") || !self.explains
    }

    /// A word where variables are selected.
    fn word_selected(&mut self, selection: &mut Selection<'a>) {
        let (span, word) = (self.span(), self.word());
        let upper = word.to_ascii_uppercase();
        if self.mark_at(1, "(") && self.vocabulary.has(word) {
            let end = self
                .text
                .get(span.start..)
                .and_then(|rest| rest.find(')'))
                .map_or(span.end, |at| span.start + at + 1);
            let call = super::shortened(self.text.get(span.start..end).unwrap_or(word));
            let help = format!("write ({call} AS ?{})", upper.to_ascii_lowercase());
            self.tell(span, "a value that is selected needs parentheses and a name", help);
            if !self.explains {
                return self.stop_here();
            }
            return self.unnamed_value(selection);
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

    /// `COUNT(?x)` or `COUNT(?x) AS ?n`, which need parentheses.
    fn unnamed_value(&mut self, selection: &mut Selection<'a>) {
        let (before, start) = (self.scope.gather(), self.span().start);
        self.expression();
        selection.outside.extend(self.scope.gathered(before));
        if self.eat_keyword("AS") && self.kind() == Kind::Variable {
            selection.named.push((bare(self.word()), self.span()));
            self.bump();
        } else {
            selection.unnamed.push(start);
        }
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
                let value = self.text.get(open.end..self.span().start).unwrap_or("...").trim();
                let function = value.split('(').next().filter(|word| self.vocabulary.has(word));
                let name = function.map_or_else(|| "value".to_owned(), str::to_ascii_lowercase);
                format!("write ({} AS ?{name})", super::shortened(value))
            };
            self.tell(open.start..self.span().end, "a value that is selected needs a name", help);
            selection.unnamed.push(open.start);
            return self.bump();
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
}

//! Terms: IRIs, prefixed names, literals, variables.

use super::Parser;
use super::scope::bare;
use crate::prefixes;
use crate::spelling;
use crate::token::Kind;
use crate::tree::Node;
use std::ops::Range;

/// Of XML Schema, those that people write without a prefix.
const DATATYPES: [&str; 11] =
    ["string", "integer", "int", "long", "decimal", "float", "double", "boolean", "date", "dateTime", "time"];

impl<'a> Parser<'a> {
    /// Whether the token `ahead` can begin a term of a triple.
    pub(super) fn begins_term(&self, ahead: usize) -> bool {
        match self.peek(ahead).kind() {
            Kind::Variable | Kind::Iri | Kind::Name | Kind::Blank | Kind::Number | Kind::String => true,
            Kind::Mark => matches!(self.word_at(ahead), "[" | "(" | "<<" | "<<(" | "+" | "-"),
            Kind::Word => self.keyword_at(ahead, "true") || self.keyword_at(ahead, "false"),
            Kind::LanguageTag | Kind::Bad | Kind::End => false,
        }
    }

    /// An IRI, in brackets or with a prefix.
    pub(super) fn iri(&mut self, wanted: &str) {
        match self.kind() {
            Kind::Iri => self.leaf(Node::Iri),
            Kind::Name => self.name(),
            _ if self.bare_url() => {}
            Kind::Word => {
                let word = self.word();
                let is_datatype = DATATYPES.contains(&word);
                let prefix = if is_datatype { "xsd" } else { "ex" };
                self.stop(
                    self.span(),
                    format!("`{word}` is no IRI, where {wanted} should stand"),
                    format!("an IRI stands in angle brackets, <http://example.org/{word}>, or has a prefix, {prefix}:{word}"),
                );
            }
            _ => self.unexpected(wanted),
        }
    }

    /// An IRI in brackets, as declarations have it.
    pub(super) fn iri_in_brackets(&mut self, wanted: &str) {
        if self.kind() == Kind::Name {
            if self.bare_url() {
                return;
            }
            return self.stop(
                self.span(),
                format!("`{}` stands where {wanted} should", super::shortened(self.word())),
                "declarations take an IRI in angle brackets: <http://example.org/>",
            );
        }
        self.iri(wanted);
    }

    /// A variable or an IRI.
    pub(super) fn variable_or_iri(&mut self, wanted: &str) {
        if self.kind() == Kind::Variable { self.variable(wanted) } else { self.iri(wanted) }
    }

    /// A variable that is in scope from here on.
    pub(super) fn variable(&mut self, wanted: &str) {
        if self.kind() == Kind::Variable {
            let name = bare(self.word());
            self.scope.add([name]);
            self.leaf(Node::Variable);
            self.hyphen();
            return;
        }
        if self.kind() == Kind::Word {
            let word = self.word();
            return self.stop(
                self.span(),
                format!("`{word}` is no variable"),
                format!("a variable begins with `?`: ?{word}"),
            );
        }
        if self.is_mark("?") || self.is_mark("$") {
            return self.stop(
                self.span(),
                "a variable without a name",
                "the name follows without a space: ?name",
            );
        }
        self.unexpected(wanted);
    }

    /// `?first-name` is a difference of something that is not there.
    fn hyphen(&mut self) {
        let joined = |a: &Range<usize>, b: &Range<usize>| a.end == b.start;
        if self.at == 0 || !self.is_mark("-") {
            return;
        }
        let (before, mark, after) = (self.tokens[self.at - 1].span(), self.span(), self.peek(1).span());
        if joined(&before, &mark)
            && joined(&mark, &after)
            && matches!(self.peek(1).kind(), Kind::Word | Kind::Name)
        {
            let whole = before.start..after.end;
            self.hyphen_in(whole);
            self.bump();
            self.bump();
        }
    }

    /// Tells of a name with a hyphen, once.
    pub(super) fn hyphen_in(&mut self, whole: Range<usize>) {
        let name = self.text.get(whole.clone()).unwrap_or("");
        if self.undeclared.insert(name) {
            let help = format!("names have letters, digits and `_`: {}", name.replace('-', "_"));
            self.tell(whole, "there is a hyphen in the name of a variable", help);
        }
    }

    /// A prefixed name.
    pub(super) fn name(&mut self) {
        if self.bare_url() {
            return;
        }
        let word = self.word();
        let prefix = word.split(':').next().unwrap_or("");
        if self.explains
            && self.knows_prefixes
            && !self.prefixes.contains_key(&prefix)
            && self.undeclared.insert(prefix)
        {
            let help = self.declaration_of(prefix, word);
            let span = self.span();
            self.tell(
                span.start..span.start + prefix.len() + 1,
                format!("the prefix `{prefix}:` is not declared"),
                help,
            );
        }
        self.leaf(Node::Name);
    }

    fn declaration_of(&self, prefix: &str, word: &str) -> String {
        let declaration = match prefixes::usual_of(prefix, word) {
            Some(iri) => format!("put before the query: PREFIX {prefix}: <{iri}>"),
            None => format!("put before the query: PREFIX {prefix}: <...> with the IRI that it stands for"),
        };
        match spelling::meant(prefix, self.prefixes.keys().copied().filter(|known| known.len() > 1)) {
            Some(known) if prefixes::usual(prefix).is_none() => format!("did you mean `{known}:`?"),
            _ => declaration,
        }
    }

    /// `http://...` without angle brackets.
    fn bare_url(&mut self) -> bool {
        let span = self.span();
        let word = self.word();
        let rest = self.text.get(span.end..).unwrap_or("");
        if self.kind() != Kind::Name || !word.ends_with(':') || !rest.starts_with("//") {
            return false;
        }
        let ends = |c: char| c.is_whitespace() || matches!(c, '>' | '"' | '{' | '}' | ')' | ';' | ',');
        let length = rest.find(ends).unwrap_or(rest.len());
        let end = span.end + rest[..length].trim_end_matches('.').len();
        let url = self.text.get(span.start..end).unwrap_or("");
        let help = format!("write <{}>", super::shortened(url));
        self.tell(span.start..end, "an IRI without angle brackets", help);
        while !self.at_end() && self.span().start < end {
            self.bump();
        }
        // What was a comment because of a `#` in it is on this line, and read as one.
        if self.is_mark(">") {
            self.bump();
        }
        true
    }

    /// A literal, if one is next.
    pub(super) fn literal(&mut self) -> bool {
        match self.kind() {
            Kind::Number => self.leaf(Node::Number),
            Kind::Mark if self.is_signed() => self.signed(),
            Kind::Mark if (self.is_mark("+") || self.is_mark("-")) && self.peek(1).kind() == Kind::Number => {
                let span = self.span().start..self.peek(1).end();
                let help = "the sign of a number stands before it without a space";
                self.stop(span, "a space behind a sign", help);
            }
            Kind::Word if self.is_boolean() => self.leaf(Node::Boolean),
            Kind::String => {
                let literal = self.open();
                self.bump();
                self.after_string();
                self.close_node(literal, Node::Literal);
            }
            _ => return false,
        }
        true
    }

    /// `true` or `false`.
    pub(super) fn is_boolean(&self) -> bool {
        self.is_keyword("true") || self.is_keyword("false")
    }

    /// Whether a sign and a number are next, as one.
    pub(super) fn is_signed(&self) -> bool {
        let number = self.peek(1);
        number.kind() == Kind::Number
            && number.start() == self.peek(0).end()
            && (self.is_mark("+") || self.is_mark("-"))
    }

    /// A number with its sign.
    pub(super) fn signed(&mut self) {
        let number = self.open();
        self.bump();
        self.bump();
        self.close_node(number, Node::Number);
    }

    /// A language tag or a datatype.
    fn after_string(&mut self) {
        if self.kind() == Kind::LanguageTag {
            let (tag, span) = (self.word(), self.span());
            if let Some((_, direction)) = tag.split_once("--").filter(|(_, d)| !matches!(*d, "ltr" | "rtl")) {
                let message = format!("`{direction}` is no direction");
                self.tell(span, message, "text runs --ltr, from left to right, or --rtl");
            }
            self.bump();
            if self.kind() == Kind::Word && self.word().starts_with('_') && self.span().start == self.before()
            {
                let help =
                    format!("parts of a language tag have hyphens between them: -{}", &self.word()[1..]);
                self.tell(self.span(), "a `_` in a language tag", help);
                self.bump();
            }
        } else if self.is_mark("@") {
            self.stop(
                self.span(),
                "a language tag without a language",
                "it follows without a space: \"text\"@en",
            );
        } else if self.eat_mark("^^") {
            self.iri("the IRI of a datatype");
        } else if self.is_mark("^") && self.mark_at(1, "^") {
            self.stop(self.span(), "a datatype stands behind `^^`, without a space", "\"1\"^^xsd:integer");
        }
    }
}

//! The grammar: rules, and what stands in their braces.

use super::body::{Body, Computed};
use super::builtins::{self, Builtin};
use super::lexer::{Kind, Token, tokens};
use super::wrong::Wrong;
use std::collections::BTreeMap;

/// Brackets may be so deep.
const DEPTH_MAX: usize = 64;

/// A rule as SPARQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Written {
    pub start: usize,
    pub text: String,
}

/// A term as SPARQL has it.
struct Term {
    text: String,
    /// Of a list, its members.
    members: Option<Vec<String>>,
    /// The variables in it.
    variables: Vec<String>,
}

pub(super) struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
    prefixes: BTreeMap<&'a str, &'a str>,
    base: Option<&'a str>,
    depth: usize,
}

impl<'a> Parser<'a> {
    pub fn new(text: &'a str) -> Result<Self, Wrong> {
        Ok(Self { tokens: tokens(text)?, at: 0, prefixes: BTreeMap::new(), base: None, depth: 0 })
    }

    /// All rules.
    pub fn rules(mut self) -> Result<Vec<Written>, Wrong> {
        let mut rules = Vec::new();
        loop {
            let token = self.peek();
            match (token.kind, token.text) {
                (Kind::End, _) => return Ok(rules),
                (Kind::At, "@prefix" | "@base") => {
                    self.declaration()?;
                    self.expect(".")?;
                }
                (Kind::Word, word)
                    if word.eq_ignore_ascii_case("PREFIX") || word.eq_ignore_ascii_case("BASE") =>
                {
                    self.declaration()?;
                }
                _ => rules.push(self.rule()?),
            }
        }
    }

    fn peek(&self) -> Token<'a> {
        let last = self.tokens.len().saturating_sub(1);
        self.tokens.get(self.at.min(last)).copied().unwrap_or(Token { kind: Kind::End, text: "", start: 0 })
    }

    fn take(&mut self) -> Token<'a> {
        let token = self.peek();
        self.at += 1;
        token
    }

    fn takes(&mut self, mark: &str) -> bool {
        let is = self.peek().is(mark);
        self.at += usize::from(is);
        is
    }

    fn wrong<T>(&self, token: Token<'_>, message: impl Into<String>) -> Result<T, Wrong> {
        Err(Wrong { at: token.start, message: message.into() })
    }

    fn unexpected<T>(&self, what: &str) -> Result<T, Wrong> {
        let token = self.peek();
        let found = match token.kind {
            Kind::End => "the end of the text".to_owned(),
            _ => format!("`{}`", token.text),
        };
        self.wrong(token, format!("expected {what}, found {found}"))
    }

    fn expect(&mut self, mark: &str) -> Result<(), Wrong> {
        if self.takes(mark) { Ok(()) } else { self.unexpected(&format!("`{mark}`")) }
    }

    fn declaration(&mut self) -> Result<(), Wrong> {
        let word = self.take().text.trim_start_matches('@').to_ascii_lowercase();
        if word == "prefix" {
            let name = self.take();
            let Some(prefix) = name.text.strip_suffix(':').filter(|_| name.kind == Kind::Name) else {
                return self.wrong(name, "expected a prefix with its colon, such as ex:");
            };
            let iri = self.iri()?;
            self.prefixes.insert(prefix, iri);
        } else {
            self.base = Some(self.iri()?);
        }
        Ok(())
    }

    fn iri(&mut self) -> Result<&'a str, Wrong> {
        if self.peek().kind == Kind::Iri { Ok(self.take().text) } else { self.unexpected("an IRI in < >") }
    }

    fn rule(&mut self) -> Result<Written, Wrong> {
        let first = self.peek();
        let left = self.side()?;
        let arrow = self.take();
        let is_implied = arrow.is("<=");
        let is_arrow = is_implied || arrow.is("=>") || self.is_implies(arrow)?;
        if !is_arrow {
            return self.wrong(arrow, "expected => and what follows: { ... } => { ... } .");
        }
        let right = self.side()?;
        self.expect(".")?;
        let (body, head) = if is_implied { (right, left) } else { (left, right) };
        let Side::Formula(body) = body else {
            return self.wrong(first, "a rule needs { ... } for what it follows from");
        };
        let rule = match head {
            Side::False => format!("ASK {{ {} }}", body.text()),
            Side::Formula(head) if head.computed.is_empty() && head.tests.is_empty() => {
                format!("CONSTRUCT {{ {} }} WHERE {{ {} }}", head.triples, body.text())
            }
            Side::Formula(_) => {
                return self.wrong(first, "what follows is triples: built-ins are for the other side");
            }
        };
        let base = self.base.map(|iri| format!("BASE {iri} ")).unwrap_or_default();
        let prefixes: String =
            self.prefixes.iter().map(|(name, iri)| format!("PREFIX {name}: {iri} ")).collect();
        Ok(Written { start: first.start, text: format!("{base}{prefixes}{rule}") })
    }

    fn is_implies(&self, token: Token<'_>) -> Result<bool, Wrong> {
        Ok(matches!(token.kind, Kind::Iri | Kind::Name) && self.builtin(token)? == Some(Builtin::Implies))
    }

    fn side(&mut self) -> Result<Side, Wrong> {
        let token = self.peek();
        match (token.kind, token.text) {
            (Kind::Mark, "{") => Ok(Side::Formula(self.formula()?)),
            (Kind::Word, "false") => {
                self.take();
                Ok(Side::False)
            }
            (Kind::Word, "true") => {
                self.take();
                Ok(Side::Formula(Body::default()))
            }
            (Kind::At, word) => self.wrong(token, format!("{word} is not known here: variables are ?x")),
            (Kind::Iri | Kind::Name | Kind::Blank, _) => self.wrong(
                token,
                "this is no rule: a rule is { ... } => { ... } . Facts belong into the data (lode load)",
            ),
            _ => self.unexpected("a rule: { ... } => { ... } ."),
        }
    }

    fn formula(&mut self) -> Result<Body, Wrong> {
        let open = self.peek();
        self.expect("{")?;
        self.deeper(open)?;
        let mut body = Body::default();
        while !self.takes("}") {
            if self.peek().kind == Kind::End {
                return self.wrong(open, "this { has no }");
            }
            self.statement(&mut body)?;
            if !self.takes(".") && !self.peek().is("}") {
                return self.unexpected("`.` or `}`");
            }
        }
        self.depth -= 1;
        Ok(body)
    }

    fn deeper(&mut self, token: Token<'_>) -> Result<(), Wrong> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return self.wrong(token, format!("brackets are deeper than {DEPTH_MAX}"));
        }
        Ok(())
    }

    fn statement(&mut self, body: &mut Body) -> Result<(), Wrong> {
        let is_alone = self.peek().is("[");
        // A formula is no term; before log:notIncludes it stands for what is asked, which is all there is.
        let subject = match self.peek().is("{") {
            true => {
                let token = self.peek();
                self.formula()?;
                let is_negation =
                    self.builtin(self.peek()).is_ok_and(|found| found == Some(Builtin::NotIncludes));
                if !is_negation {
                    return self.wrong(token, "a formula in a formula is for log:notIncludes only");
                }
                Term { text: String::new(), members: None, variables: Vec::new() }
            }
            false => self.term()?,
        };
        if is_alone && (self.peek().is(".") || self.peek().is("}")) {
            body.triples += &format!("{} . ", subject.text);
            subject.variables.iter().for_each(|name| body.bind(name));
            return Ok(());
        }
        loop {
            self.predicate(&subject, body)?;
            if !self.takes(";") {
                return Ok(());
            }
            while self.takes(";") {}
            if self.peek().is(".") || self.peek().is("}") {
                return Ok(());
            }
        }
    }

    fn predicate(&mut self, subject: &Term, body: &mut Body) -> Result<(), Wrong> {
        let token = self.peek();
        let builtin = self.builtin(token)?;
        if builtin == Some(Builtin::Implies) {
            return self.wrong(token, "a rule in a rule is not known here");
        }
        let (verb, variable) = self.verb()?;
        loop {
            match builtin {
                Some(Builtin::NotIncludes) => {
                    let inner = self.formula()?;
                    body.tests.push(format!("FILTER NOT EXISTS {{ {} }}", inner.text()));
                }
                Some(builtin) => {
                    let object = self.term()?;
                    self.compute(builtin, token, (subject, &object), body)?;
                }
                None => {
                    let object = self.term()?;
                    body.triples += &format!("{} {verb} {} . ", subject.text, object.text);
                    let names = subject.variables.iter().chain(&object.variables).chain(&variable);
                    names.for_each(|name| body.bind(name));
                }
            }
            if !self.takes(",") {
                return Ok(());
            }
        }
    }

    /// A predicate as SPARQL has it, and its name where it is a variable.
    fn verb(&mut self) -> Result<(String, Option<String>), Wrong> {
        let token = self.peek();
        match (token.kind, token.text) {
            (Kind::Word, "a") => {
                self.take();
                Ok(("a".to_owned(), None))
            }
            (Kind::Mark, "=") => {
                self.take();
                Ok(("<http://www.w3.org/2002/07/owl#sameAs>".to_owned(), None))
            }
            (Kind::Iri | Kind::Name | Kind::Variable, _) => {
                let term = self.term()?;
                Ok((term.text, term.variables.into_iter().next()))
            }
            (Kind::Mark, "=>" | "<=") => self.wrong(token, "a rule in a rule is not known here"),
            _ => self.unexpected("a predicate"),
        }
    }

    fn compute(
        &mut self,
        builtin: Builtin,
        token: Token<'_>,
        (subject, object): (&Term, &Term),
        body: &mut Body,
    ) -> Result<(), Wrong> {
        let list = |count: Option<usize>| match &subject.members {
            Some(members) if count.map_or(members.len() > 1, |count| members.len() == count) => {
                Ok(members.clone())
            }
            _ => {
                let many = count.map_or("two members or more", |_| "two members");
                let message = format!("{} is of a list with {many}: (?a ?b) {} ?c", token.text, token.text);
                Err(Wrong { at: token.start, message })
            }
        };
        let filled = |text: &str| text.replace("{s}", &subject.text).replace("{o}", &object.text);
        let (mut of, mut result) = (subject.variables.clone(), object.text.clone());
        let expression = match builtin {
            Builtin::Test(text) => {
                body.tests.push(format!("FILTER({})", filled(text)));
                return Ok(());
            }
            Builtin::Fold(operator) => list(None)?.join(&format!(" {operator} ")),
            Builtin::Two(operator) => list(Some(2))?.join(&format!(" {operator} ")),
            Builtin::Concatenation => {
                let texts: Vec<_> = list(None)?.iter().map(|member| format!("STR({member})")).collect();
                format!("CONCAT({})", texts.join(", "))
            }
            Builtin::Function(text) => filled(text),
            // Whichever is known makes the other.
            Builtin::Uri if subject.text.starts_with('?') && !self.is_read(body, &subject.text) => {
                (of, result) = (object.variables.clone(), subject.text.clone());
                format!("IRI({})", object.text)
            }
            Builtin::Uri => format!("STR({})", subject.text),
            Builtin::NotIncludes | Builtin::Implies => {
                return self.wrong(token, "this is no built-in of terms");
            }
        };
        if object.members.is_some() {
            return self.wrong(token, "what is computed is no list");
        }
        body.computed.push(Computed { expression, of, result });
        Ok(())
    }

    /// Whether triples read a variable, before here or after it in the same braces.
    fn is_read(&self, body: &Body, name: &str) -> bool {
        if body.bound.iter().any(|known| known == name) {
            return true;
        }
        let mut depth = 0_usize;
        for (at, token) in self.tokens.iter().enumerate().skip(self.at) {
            match (token.kind, token.text) {
                (Kind::Mark, "{") => depth += 1,
                (Kind::Mark, "}") if depth == 0 => return false,
                (Kind::Mark, "}") => depth -= 1,
                (Kind::Variable, text) if depth == 0 && text == name => {
                    // Beside a built-in it is not looked up.
                    let beside = [at.checked_sub(1), at.checked_add(1)].into_iter().flatten();
                    let others = beside.filter_map(|at| self.tokens.get(at));
                    let is_computed = others
                        .into_iter()
                        .any(|token| self.builtin(*token).is_ok_and(|found| found.is_some()));
                    if !is_computed {
                        return true;
                    }
                }
                _ => {}
            }
        }
        false
    }

    /// The built-in that a token names.
    fn builtin(&self, token: Token<'_>) -> Result<Option<Builtin>, Wrong> {
        let iri = match token.kind {
            Kind::Iri => token.text.trim_start_matches('<').trim_end_matches('>').to_owned(),
            Kind::Name => {
                let (prefix, local) = token.text.split_once(':').unwrap_or((token.text, ""));
                let Some(iri) = self.prefixes.get(prefix) else { return Ok(None) };
                format!("{}{local}", iri.trim_start_matches('<').trim_end_matches('>'))
            }
            _ => return Ok(None),
        };
        builtins::of(&iri).map_err(|message| Wrong { at: token.start, message })
    }

    fn term(&mut self) -> Result<Term, Wrong> {
        let token = self.peek();
        let of = |text: &str| Term { text: text.to_owned(), members: None, variables: Vec::new() };
        let term = match (token.kind, token.text) {
            (Kind::Iri | Kind::Blank | Kind::Number, text) => of(text),
            (Kind::Word, text @ ("true" | "false")) => of(text),
            (Kind::Variable, text) => Term { variables: vec![text.to_owned()], ..of(text) },
            (Kind::Name, text) => {
                let prefix = text.split(':').next().unwrap_or("");
                if !self.prefixes.contains_key(prefix) {
                    return self.wrong(
                        token,
                        format!("the prefix {prefix}: is not declared: write @prefix {prefix}: <...> ."),
                    );
                }
                of(text)
            }
            (Kind::Text, _) => return self.literal(),
            (Kind::Mark, "(") => return self.list(),
            (Kind::Mark, "[") => return self.anonymous(),
            (Kind::Mark, "{") => {
                return self.wrong(token, "a formula in a formula is for log:notIncludes only");
            }
            _ => return self.unexpected("a term"),
        };
        self.take();
        if self.peek().is("!") || self.peek().is("^") {
            return self.wrong(self.peek(), "paths are not known here: write a triple for each step");
        }
        Ok(term)
    }

    fn literal(&mut self) -> Result<Term, Wrong> {
        let mut text = self.take().text.to_owned();
        if self.peek().kind == Kind::At {
            text += self.take().text;
        } else if self.takes("^^") {
            match self.peek().kind {
                Kind::Iri | Kind::Name => text += &format!("^^{}", self.term()?.text),
                _ => return self.unexpected("a datatype"),
            }
        }
        Ok(Term { text, members: None, variables: Vec::new() })
    }

    fn list(&mut self) -> Result<Term, Wrong> {
        let open = self.take();
        self.deeper(open)?;
        let (mut members, mut variables) = (Vec::new(), Vec::new());
        while !self.takes(")") {
            if self.peek().kind == Kind::End {
                return self.wrong(open, "this ( has no )");
            }
            let member = self.term()?;
            variables.extend(member.variables);
            members.push(member.text);
        }
        self.depth -= 1;
        Ok(Term { text: format!("( {} )", members.join(" ")), members: Some(members), variables })
    }

    fn anonymous(&mut self) -> Result<Term, Wrong> {
        let open = self.take();
        self.deeper(open)?;
        let (mut text, mut variables) = ("[ ".to_owned(), Vec::new());
        while !self.takes("]") {
            let token = self.peek();
            if token.kind == Kind::End {
                return self.wrong(open, "this [ has no ]");
            }
            if self.builtin(token)?.is_some() {
                return self.wrong(token, "built-ins are not for what is in [ ]: give it a variable");
            }
            let (verb, variable) = self.verb()?;
            variables.extend(variable);
            let mut objects = Vec::new();
            loop {
                let object = self.term()?;
                variables.extend(object.variables);
                objects.push(object.text);
                if !self.takes(",") {
                    break;
                }
            }
            text += &format!("{verb} {} ; ", objects.join(" , "));
            while self.takes(";") {}
        }
        self.depth -= 1;
        Ok(Term { text: text + "]", members: None, variables })
    }
}

/// One side of an arrow.
enum Side {
    Formula(Body),
    False,
}

//! Random queries.

use super::Random;
use super::ast::{Column, Element, Expr, Form, Group, Query, Select, Triple, Values};
use super::data::{GRAPHS, Vocabulary};

/// The variables that patterns share.
const VARIABLES: &[&str] = &["?a", "?b", "?c", "?d", "?e", "?g"];

/// Writes one query.
pub(super) struct Generator<'a> {
    pub(super) random: &'a mut Random,
    pub(super) vocabulary: &'a Vocabulary,
    /// How much deeper groups may nest.
    pub(super) depth: usize,
    /// How many more elements the query may have.
    budget: usize,
    fresh: usize,
    /// Variables assigned by BIND and the like so far.
    assigned: Vec<String>,
    /// Whether other endpoints may be asked.
    has_services: bool,
    /// How many LATERALs are around what is written.
    laterals: usize,
}

impl<'a> Generator<'a> {
    pub(super) fn new(random: &'a mut Random, vocabulary: &'a Vocabulary) -> Self {
        // Each element makes rows rarer, and an answer without any shows little.
        let budget = 1 + random.below(6);
        let (fresh, assigned, has_services, laterals) = (0, Vec::new(), false, 0);
        Self { random, vocabulary, depth: 3, budget, fresh, assigned, has_services, laterals }
    }

    /// The pattern of an update.
    pub(super) fn pattern(mut self) -> String {
        let least = 1 + self.random.below(2);
        Element::Group(self.group(least)).to_string()
    }

    pub(super) fn query(mut self) -> Query {
        self.has_services = self.random.chance(25);
        let form = self.random.weighted(&[80, 6, 8, 6]);
        let mut select = self.select(true);
        let mut query_form = Form::Select;
        if form > 0 {
            // The other forms have no columns, so no aggregates either.
            select = Select { pattern: select.pattern, values: select.values, ..Select::default() };
            query_form = match form {
                1 => Form::Ask,
                2 => Form::Construct(self.template()),
                _ => {
                    let mut what: Vec<_> = (0..=self.random.below(2)).map(|_| self.described()).collect();
                    what.dedup();
                    Form::Describe(what)
                }
            };
        }
        let mut query = Query { form: query_form, from: Vec::new(), from_named: Vec::new(), select };
        if self.random.chance(12) {
            query.from = self.graphs();
            query.from_named = self.graphs();
            // A name that no quad has.
            query.from_named.extend(self.random.chance(30).then(|| ":none".to_owned()));
        }
        query
    }

    fn graphs(&mut self) -> Vec<String> {
        let count = self.random.below(3);
        let mut names: Vec<String> = (0..count).map(|_| self.random.word(GRAPHS).to_owned()).collect();
        names.dedup();
        names
    }

    fn described(&mut self) -> String {
        if self.random.chance(70) { self.variable() } else { self.vocabulary.node(self.random).to_owned() }
    }

    /// A template of CONSTRUCT or of an update.
    pub(super) fn template(&mut self) -> Vec<Triple> {
        (0..=self.random.below(3))
            .map(|_| {
                let blank = |g: &mut Self| format!("_:t{}", g.random.below(2));
                let subject = if self.random.chance(25) { blank(self) } else { self.subject() };
                let object = if self.random.chance(20) { blank(self) } else { self.object() };
                let predicate = self.simple_predicate();
                Triple { subject: without_anonymous(subject), predicate, object: without_anonymous(object) }
            })
            .collect()
    }

    pub(super) fn variable(&mut self) -> String {
        if !self.assigned.is_empty() && self.random.chance(15) {
            return self.random.pick(&self.assigned).clone();
        }
        self.random.word(VARIABLES).to_owned()
    }

    fn fresh_variable(&mut self) -> String {
        self.fresh += 1;
        format!("?n{}", self.fresh)
    }

    /// A group with at least one element.
    pub(super) fn group(&mut self, least: usize) -> Group {
        self.depth -= 1;
        let mut group = Vec::new();
        // Mostly a group starts with triples, so that what follows has something to work on.
        if self.random.chance(85) {
            group.push(self.triples());
        }
        let count = least.max(1) + self.random.below(3);
        while group.len() < count && self.budget > 0 {
            let element = self.element();
            group.push(element);
        }
        self.depth += 1;
        if group.is_empty() {
            group.push(self.triples());
        }
        group
    }

    fn element(&mut self) -> Element {
        self.budget = self.budget.saturating_sub(1);
        let nested = if self.depth > 0 { 1 } else { 0 };
        let weights = [
            14,
            20 * nested,
            12 * nested,
            4 * nested,
            12,
            10,
            5,
            4 * nested,
            3 * nested,
            8 * nested,
            5 * nested,
            if self.has_services { 25 * nested } else { 0 },
            4 * nested,
        ];
        match self.random.weighted(&weights) {
            1 => {
                let mut group = self.group(1);
                if self.random.chance(35) {
                    group.push(Element::Filter(self.condition(1)));
                }
                Element::Optional(group)
            }
            2 => Element::Union((0..2 + self.random.below(2)).map(|_| self.group(1)).collect()),
            3 => Element::Minus(self.group(1)),
            4 => Element::Filter(self.condition(2)),
            5 => {
                let expr = if self.random.chance(25) { self.condition(1) } else { self.value(2) };
                let variable = self.fresh_variable();
                self.assigned.push(variable.clone());
                Element::Bind(expr, variable)
            }
            6 => Element::Values(self.values()),
            7 => {
                let name = if self.random.chance(60) {
                    "?g".to_owned()
                } else {
                    self.random.word(GRAPHS).to_owned()
                };
                let group = if self.random.chance(6) { Vec::new() } else { self.group(1) };
                Element::Graph(name, group)
            }
            8 => Element::Group(self.group(1)),
            9 => Element::Sub(Box::new(self.select(false))),
            10 => self.dependent(),
            11 => {
                let is_there = self.random.chance(90);
                Element::Service(is_there, self.group(1))
            }
            12 => {
                self.laterals += 1;
                let group = match self.random.chance(50) {
                    true => vec![Element::Sub(Box::new(self.select(false)))],
                    false => self.group(1),
                };
                self.laterals -= 1;
                Element::Lateral(group)
            }
            _ => self.triples(),
        }
    }

    /// What is evaluated for each row or in each graph: an EXISTS that is no semi-join, a path or a sub-select in a GRAPH.
    fn dependent(&mut self) -> Element {
        match self.random.below(4) {
            0 => {
                let variable = self.fresh_variable();
                let exists = self.exists();
                self.assigned.push(variable.clone());
                Element::Bind(exists, variable)
            }
            1 => {
                let (exists, other) = (self.exists(), self.condition(1));
                // Both of two conditions are rarely met, and an answer without rows shows little.
                let operator = self.random.word(&["&&", "||", "||"]);
                Element::Filter(Expr::Infix(operator, Box::new(exists), Box::new(other)))
            }
            2 => {
                let (subject, predicate) = (self.subject(), self.path(2));
                let object = if self.random.chance(60) { self.fresh_variable() } else { self.object() };
                let path = Triple { subject, predicate, object };
                Element::Graph("?g".to_owned(), vec![Element::Triples(vec![path])])
            }
            _ => {
                let select = self.select(false);
                Element::Graph("?g".to_owned(), vec![Element::Sub(Box::new(select))])
            }
        }
    }

    /// A variable of VALUES: in a LATERAL one that no row before it can have.
    fn inline_variable(&mut self) -> String {
        if self.laterals == 0 {
            return self.variable();
        }
        let variable = self.fresh_variable();
        self.assigned.push(variable.clone());
        variable
    }

    fn values(&mut self) -> Values {
        let mut variables = vec![self.inline_variable()];
        if self.random.chance(50) {
            let other = self.inline_variable();
            if other != variables[0] {
                variables.push(other);
            }
        }
        let rows = (0..self.random.below(4))
            .map(|_| {
                variables
                    .iter()
                    .map(|_| match self.random.weighted(&[20, 45, 35]) {
                        0 => "UNDEF".to_owned(),
                        1 => self.vocabulary.literal(self.random).to_owned(),
                        _ => self.vocabulary.node(self.random).to_owned(),
                    })
                    .collect()
            })
            .collect();
        Values { variables, rows }
    }

    /// Triple patterns, now and then in a cycle, or very many: those are joined in ways of their own.
    fn triples(&mut self) -> Element {
        match self.random.below(100) {
            0..3 => return Element::Triples(self.cycle()),
            3..5 => return Element::Triples(self.many()),
            _ => {}
        }
        let count = 1 + self.random.weighted(&[62, 30, 8]);
        Element::Triples((0..count).map(|_| self.triple()).collect())
    }

    fn cycle(&mut self) -> Vec<Triple> {
        let corners = VARIABLES.get(..3 + self.random.below(2)).unwrap_or_default();
        let next = corners.iter().cycle().skip(1);
        let common = self.simple_predicate();
        let edge = |(from, to): (&&str, &&str)| {
            let (from, to) = if self.random.chance(50) { (from, to) } else { (to, from) };
            let predicate = if self.random.chance(20) { self.simple_predicate() } else { common.clone() };
            Triple { subject: (*from).to_owned(), predicate, object: (*to).to_owned() }
        };
        corners.iter().zip(next).map(edge).collect()
    }

    /// More patterns than the planner tries all sequences of, with and without common variables, most of them of few rows.
    fn many(&mut self) -> Vec<Triple> {
        let mut names: Vec<String> = Vec::new();
        (0..6 + self.random.below(11))
            .map(|_| {
                let subject = self.end(&mut names, 35);
                let predicate = self.simple_predicate();
                Triple { subject, predicate, object: self.end(&mut names, 25) }
            })
            .collect()
    }

    /// A node, an earlier or else a new variable, which takes a place in `names`; so many of a hundred are nodes.
    fn end(&mut self, names: &mut Vec<String>, nodes: usize) -> String {
        if self.random.chance(nodes) {
            return self.vocabulary.node(self.random).to_owned();
        }
        if names.is_empty() || self.random.chance(20) {
            let name = if self.random.chance(30) { self.variable() } else { self.fresh_variable() };
            names.push(name);
        }
        self.random.pick(names).clone()
    }

    fn triple(&mut self) -> Triple {
        let subject = self.subject();
        let predicate = if self.random.chance(22) { self.path(2) } else { self.simple_predicate() };
        Triple { subject, predicate, object: self.object() }
    }

    fn simple_predicate(&mut self) -> String {
        if self.random.chance(18) {
            self.variable()
        } else {
            self.vocabulary.predicate(self.random).to_owned()
        }
    }

    fn subject(&mut self) -> String {
        match self.random.weighted(&[84, 12, 4]) {
            0 => self.variable(),
            1 => self.vocabulary.node(self.random).to_owned(),
            _ => "[]".to_owned(),
        }
    }

    fn object(&mut self) -> String {
        match self.random.weighted(&[78, 8, 6, 4, 4]) {
            0 => self.variable(),
            1 => self.vocabulary.node(self.random).to_owned(),
            2 => self.vocabulary.literal(self.random).to_owned(),
            3 => "[]".to_owned(),
            _ => {
                let (s, o) = (without_anonymous(self.subject()), without_anonymous(self.object()));
                format!("<<( {s} {} {o} )>>", self.simple_predicate())
            }
        }
    }

    fn path(&mut self, depth: usize) -> String {
        if depth == 0 || self.random.chance(12) {
            return self.vocabulary.predicate(self.random).to_owned();
        }
        let inner = self.path(depth - 1);
        match self.random.weighted(&[16, 16, 10, 14, 14, 12, 18]) {
            0 => format!("({inner}/{})", self.path(depth - 1)),
            1 => format!("({inner}|{})", self.path(depth - 1)),
            2 => format!("(^{inner})"),
            3 => format!("({inner}*)"),
            4 => format!("({inner}+)"),
            5 => format!("({inner}?)"),
            _ => {
                let parts: Vec<_> = (0..=self.random.below(2))
                    .map(|_| {
                        let inverse = if self.random.chance(30) { "^" } else { "" };
                        format!("{inverse}{}", self.vocabulary.predicate(self.random))
                    })
                    .collect();
                format!("!({})", parts.join("|"))
            }
        }
    }

    /// A SELECT. Inside of a query, one with a LIMIT has rows that are totally ordered, so that its answer is determined.
    fn select(&mut self, top: bool) -> Select {
        if !top && self.random.chance(25) {
            return self.limited();
        }
        if top {
            self.depth += 1;
        }
        let pattern = self.group(if top { 2 } else { 1 });
        if top {
            self.depth -= 1;
        }
        let mut select = Select { pattern, ..Select::default() };
        if self.random.chance(22) {
            self.aggregate(&mut select);
        } else {
            self.project(&mut select, top);
        }
        select.modifier = if self.random.chance(23) { "DISTINCT" } else { "" };
        if top && self.random.chance(25) {
            self.order(&mut select);
        }
        if top && self.random.chance(12) {
            select.limit = self.random.chance(85).then(|| self.random.below(6));
            select.offset = self.random.chance(40).then(|| self.random.below(4));
        }
        if top
            && select.modifier.is_empty()
            && select.limit.is_none()
            && select.offset.is_none()
            && self.random.chance(3)
        {
            select.modifier = "REDUCED";
        }
        if self.random.chance(6) {
            // Variables that the SELECT clause assigns cannot stand there.
            let assigned = std::mem::take(&mut self.assigned);
            select.values = Some(self.values());
            self.assigned = assigned;
        }
        select
    }

    fn project(&mut self, select: &mut Select, top: bool) {
        if self.random.chance(if top { 55 } else { 25 }) {
            return;
        }
        for _ in 0..=self.random.below(3) {
            let variable = self.variable();
            if !select.columns.iter().any(|c| matches!(c, Column::Variable(v) if *v == variable)) {
                select.columns.push(Column::Variable(variable));
            }
        }
        if self.random.chance(25) {
            let expr = self.value(2);
            let variable = self.fresh_variable();
            self.assigned.push(variable.clone());
            select.columns.push(Column::As(expr, variable));
        }
    }

    fn order(&mut self, select: &mut Select) {
        for _ in 0..=self.random.below(2) {
            let variable = match select.columns.as_slice() {
                [] => self.variable(),
                columns => match self.random.pick(columns) {
                    Column::Variable(v) | Column::As(_, v) => v.clone(),
                },
            };
            let key = if select.keys.is_empty() && self.random.chance(20) {
                format!("({})", self.value(2))
            } else {
                variable
            };
            select.order.push((key, self.random.chance(40)));
        }
    }

    fn aggregate(&mut self, select: &mut Select) {
        for _ in 0..self.random.below(3) {
            let key = self.variable();
            if select.keys.iter().any(|k| k.name() == key) {
                continue;
            }
            // The parser forgets the name of a key that is a mere variable.
            let expr = self.random.chance(20).then(|| self.value(1)).filter(|e| !matches!(e, Expr::Atom(_)));
            if let Some(expr) = expr {
                let name = self.fresh_variable();
                select.keys.push(Column::As(expr, name.clone()));
                select.columns.push(Column::Variable(name));
            } else {
                select.keys.push(Column::Variable(key.clone()));
                select.columns.push(Column::Variable(key));
            }
        }
        for _ in 0..=self.random.below(2) {
            let expr = self.set_function(&select.keys);
            let variable = self.fresh_variable();
            self.assigned.push(variable.clone());
            select.columns.push(Column::As(expr, variable));
        }
        if self.random.chance(25) {
            let count = if self.random.chance(50) {
                Box::new(Expr::Aggregate("COUNT(*", None, ")"))
            } else {
                Box::new(self.set_function(&select.keys))
            };
            let bound = Box::new(Expr::Atom(self.random.word(&["0", "1", "2"]).to_owned()));
            select.having = Some(Expr::Infix(self.random.word(&[">", "<=", "="]), count, bound));
        }
    }

    /// Only set functions whose value is determined: MIN and MAX over values of one kind, the length of a concatenation.
    fn set_function(&mut self, keys: &[Column]) -> Expr {
        let variable = Box::new(Expr::Atom(self.variable()));
        let text = Box::new(Expr::Call("STR".into(), vec![(*variable).clone()]));
        let number = Box::new(Expr::Call("xsd:decimal".into(), vec![(*variable).clone()]));
        match self.random.below(14) {
            0 | 1 => Expr::Aggregate("COUNT(*", None, ")"),
            2 => Expr::Aggregate("COUNT(DISTINCT *", None, ")"),
            3 => Expr::Aggregate("COUNT(", Some(variable), ")"),
            4 => Expr::Aggregate("COUNT(DISTINCT ", Some(variable), ")"),
            5 => Expr::Aggregate("SUM(", Some(variable), ")"),
            6 => Expr::Aggregate("SUM(DISTINCT ", Some(number), ")"),
            7 => Expr::Aggregate("AVG(", Some(number), ")"),
            8 => Expr::Aggregate("MIN(", Some(text), ")"),
            9 => Expr::Aggregate("MAX(", Some(number), ")"),
            10 => Expr::Aggregate("MAX(DISTINCT ", Some(text), ")"),
            11 => Expr::Aggregate("STRLEN(GROUP_CONCAT(", Some(text), "; SEPARATOR=\", \"))"),
            12 => match keys.first() {
                Some(key) => {
                    Expr::Aggregate("SAMPLE(", Some(Box::new(Expr::Atom(key.name().to_owned()))), ")")
                }
                None => Expr::Aggregate("SUM(", Some(number), ")"),
            },
            _ => {
                let value = Box::new(self.value(1));
                Expr::Aggregate("COUNT(", Some(value), ")")
            }
        }
    }

    /// A sub-select with a LIMIT whose order is total: distinct predicates, or equal rows.
    fn limited(&mut self) -> Select {
        let limit = Some(1 + self.random.below(3));
        let descending = self.random.chance(40);
        let triple = |s: String, p: &str, o: String| {
            Element::Triples(vec![Triple { subject: s, predicate: p.to_owned(), object: o }])
        };
        if self.random.chance(50) {
            let predicate = if self.random.chance(60) { "?c" } else { "?b" };
            let pattern = vec![triple(self.subject(), predicate, "?o".into())];
            return Select {
                modifier: "DISTINCT",
                columns: vec![Column::Variable(predicate.into())],
                pattern,
                order: vec![(predicate.into(), descending)],
                limit,
                ..Select::default()
            };
        }
        let key = self.variable();
        let pattern = vec![self.triples()];
        let variable = self.fresh_variable();
        self.assigned.push(variable.clone());
        Select {
            columns: vec![Column::As(Expr::Aggregate("COUNT(*", None, ")"), variable.clone())],
            pattern,
            keys: vec![Column::Variable(key)],
            order: vec![(variable, descending)],
            limit,
            ..Select::default()
        }
    }
}

/// `[]` means nothing inside a triple term or a template that is filled in: a variable instead.
fn without_anonymous(term: String) -> String {
    if term.contains("[]") { "?a".to_owned() } else { term }
}

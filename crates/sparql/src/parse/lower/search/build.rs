//! Patterns of searches, and of the triples around them.

use super::super::links::{Link, pattern, triple_of};
use super::super::wanted::{Given, Search, Subjects, Wanted};
use super::super::{Lowering, Result, Wrong, visible};
use crate::text_search::{MATCHES, SCORE, SNIPPET, SearchOption};
use lode_rdf::{BlankNode, Literal, NamedNode, Variable};
use lode_text::Dialect;
use spargebra::algebra::{Expression, Function, GraphPattern, OrderExpression};
use spargebra::term::{GroundTerm, NamedNodePattern, TermPattern, TriplePattern};
use std::collections::{HashMap, HashSet};

impl Lowering<'_> {
    /// The pattern of a block of triples with searches among them. Variables that it needs for itself stay in it.
    pub(in crate::parse::lower) fn with_searches(&mut self, links: Vec<Link>) -> Result<GraphPattern> {
        let (mut others, mut searches) = (Vec::new(), Vec::new());
        for link in links {
            match link {
                Link::Search(search) => searches.push(*search),
                other => others.push(other),
            }
        }
        let mut hidden = self.named_blanks(&mut others, &mut searches);
        let bound: HashSet<Variable> = others.iter().filter_map(object_variable).collect();
        let (mut patterns, mut conditions, mut values) = (vec![pattern(others)], Vec::new(), Vec::new());
        let (mut texts, mut options) = (Vec::new(), Vec::new());
        for search in searches {
            match search.wanted {
                Wanted::Subjects(said) => patterns.push(self.subjects(&search.subjects, &said, &mut hidden)),
                Wanted::Text { .. } => texts.push(search),
                Wanted::Option(..) => options.push(search),
            }
        }
        for search in texts {
            let text = self.text_search(search, &mut options)?;
            match &text.of {
                TermPattern::Variable(variable) if !bound.contains(variable) || text.limit.is_some() => {
                    patterns.push(self.texts(variable, &text, &mut hidden));
                }
                of => {
                    let of = term_expression(of);
                    values.extend(
                        text.score.clone().map(|score| (score, call(SCORE, of.clone(), &text.query))),
                    );
                    conditions.push(call(MATCHES, of, &text.query));
                }
            }
        }
        if let Some(lost) = options.first() {
            let message = "this is said of no search".to_owned();
            let help = "bds:search has to stand beside it, of the same variable".to_owned();
            return Err(Box::new(Wrong { span: lost.span.clone(), message, help }));
        }
        let joined = patterns.into_iter().filter(|pattern| *pattern != GraphPattern::default());
        let mut all = joined
            .reduce(|left, right| GraphPattern::Join { left: Box::new(left), right: Box::new(right) })
            .unwrap_or_default();
        if let Some(expr) = conditions.into_iter().reduce(|a, b| Expression::And(Box::new(a), Box::new(b))) {
            all = GraphPattern::Filter { expr, inner: Box::new(all) };
        }
        for (variable, expression) in values {
            all = GraphPattern::Extend { inner: Box::new(all), variable, expression };
        }
        Ok(projected(all, &hidden))
    }

    /// Variables in place of blank nodes that are searched for: filters and sub-selects know no blank nodes of others.
    fn named_blanks(&mut self, others: &mut [Link], searches: &mut [Search]) -> HashSet<Variable> {
        let mut names: HashMap<BlankNode, Variable> = HashMap::new();
        for term in searches.iter_mut().flat_map(|search| &mut search.subjects) {
            if let TermPattern::BlankNode(node) = term {
                let name = match names.get(node) {
                    Some(name) => name.clone(),
                    None => self.fresh(),
                };
                names.insert(node.clone(), name.clone());
                *term = name.into();
            }
        }
        let rename = |term: &mut TermPattern| renamed(term, &names);
        for link in others {
            match link {
                Link::Triple(triple) => {
                    [&mut triple.subject, &mut triple.object].into_iter().for_each(rename)
                }
                Link::Path { subject, object, .. } => [subject, object].into_iter().for_each(rename),
                Link::Search(_) => {}
            }
        }
        names.into_values().collect()
    }

    /// `(?subject ?score ?text ?graph ?property) text:query (...)`.
    fn subjects(
        &mut self,
        asked: &[TermPattern],
        said: &Subjects,
        hidden: &mut HashSet<Variable>,
    ) -> GraphPattern {
        let variable = |place: usize| match asked.get(place) {
            Some(TermPattern::Variable(variable)) if place == 0 || !hidden.contains(variable) => {
                Some(variable.clone())
            }
            _ => None,
        };
        let [score, text, graph, property] = [1, 2, 3, 4].map(variable);
        let mut own = || {
            let made = self.fresh();
            hidden.insert(made.clone());
            made
        };
        // A text with marks is another than the one that is searched.
        let shown = text.clone().filter(|_| said.highlight.is_some());
        let text = text.filter(|_| shown.is_none()).unwrap_or_else(&mut own);
        let predicate: NamedNodePattern = match (said.properties.as_slice(), &property) {
            ([one], None) => one.clone().into(),
            (_, Some(property)) => property.clone().into(),
            _ => own().into(),
        };
        let score = score.or_else(|| said.limit.is_some().then(&mut own));
        let subject = asked.first().cloned().unwrap_or_else(|| own().into());
        let triple = triple_of(subject, predicate.clone(), text.clone());
        let mut found = GraphPattern::Bgp { patterns: vec![triple] };
        if let (NamedNodePattern::Variable(predicate), false) = (predicate, said.properties.is_empty()) {
            found = join(properties(predicate, &said.properties), found);
        }
        if let Some(name) = graph {
            found = GraphPattern::Graph { name: name.into(), inner: Box::new(found) };
        }
        let mut expr = call(MATCHES, text.clone().into(), &said.query);
        if let Some(range) = &said.language {
            expr = Expression::And(Box::new(in_language(&text, range)), Box::new(expr));
        }
        found = GraphPattern::Filter { expr, inner: Box::new(found) };
        if let Some(variable) = &score {
            let expression = call(SCORE, text.clone().into(), &said.query);
            found = GraphPattern::Extend { inner: Box::new(found), variable: variable.clone(), expression };
        }
        if let (Some(limit), Some(score)) = (said.limit, &score) {
            found = best(found, score, limit, hidden, &[&text]);
        }
        if let (Some(variable), Some(marks)) = (shown, &said.highlight) {
            let mut expression = call(SNIPPET, text.into(), &said.query);
            if let Expression::FunctionCall(_, arguments) = &mut expression {
                let marks = [&marks.start, &marks.end].map(|mark| Literal::new_simple_literal(mark).into());
                arguments.extend(marks);
                arguments.push(Literal::from(marks_chars(said)).into());
            }
            found = GraphPattern::Extend { inner: Box::new(found), variable, expression };
        }
        found
    }

    /// A search for texts with what is said of it, which is taken out of `options`.
    fn text_search(&mut self, search: Search, options: &mut Vec<Search>) -> Result<TextSearch> {
        let Search { subjects, wanted: Wanted::Text { query, is_blazegraph }, span } = search else {
            return Ok(TextSearch::default());
        };
        let of = subjects.into_iter().next().unwrap_or_else(|| self.fresh().into());
        let mut found = TextSearch { of, query, ..TextSearch::default() };
        if !is_blazegraph {
            return Ok(found);
        }
        let (mut all, mut exact) = (false, false);
        options.retain(|said| {
            if said.subjects.first() != Some(&found.of) {
                return true;
            }
            match &said.wanted {
                Wanted::Option(SearchOption::MatchAllTerms, Given::Switch(on)) => all = *on,
                Wanted::Option(_, Given::Switch(on)) => exact = *on,
                Wanted::Option(_, Given::Number(limit)) => found.limit = Some(*limit),
                Wanted::Option(_, Given::Variable(variable)) => found.score = Some(variable.clone()),
                _ => {}
            }
            false
        });
        if exact {
            found.query = format!("\"{}\"", found.query.replace(['"', '\\'], " "));
        }
        let dialect = if all { Dialect::AllWords } else { Dialect::Lucene };
        let read = lode_text::parse(&found.query, dialect)
            .map_err(|error| Box::new(Wrong { span, message: error.message, help: error.help.to_owned() }))?;
        found.query = read.to_string();
        Ok(found)
    }

    /// Texts that match, each once.
    fn texts(
        &mut self,
        variable: &Variable,
        text: &TextSearch,
        hidden: &mut HashSet<Variable>,
    ) -> GraphPattern {
        let [subject, predicate] = [(); 2].map(|()| {
            let made = self.fresh();
            hidden.insert(made.clone());
            made
        });
        let triple = triple_of(subject.into(), predicate, variable.clone());
        let inner = Box::new(GraphPattern::Bgp { patterns: vec![triple] });
        let found = GraphPattern::Filter { expr: call(MATCHES, variable.clone().into(), &text.query), inner };
        let found = GraphPattern::Project { inner: Box::new(found), variables: vec![variable.clone()] };
        let mut found = GraphPattern::Distinct { inner: Box::new(found) };
        let score = text.score.clone().or_else(|| {
            text.limit.is_some().then(|| {
                let made = self.fresh();
                hidden.insert(made.clone());
                made
            })
        });
        if let Some(variable_of_score) = &score {
            let expression = call(SCORE, variable.clone().into(), &text.query);
            found = GraphPattern::Extend {
                inner: Box::new(found),
                variable: variable_of_score.clone(),
                expression,
            };
        }
        match (text.limit, &score) {
            (Some(limit), Some(score)) => best(found, score, limit, hidden, &[]),
            _ => found,
        }
    }
}

/// A search for texts.
#[derive(Debug)]
struct TextSearch {
    of: TermPattern,
    query: String,
    score: Option<Variable>,
    limit: Option<usize>,
}

impl Default for TextSearch {
    fn default() -> Self {
        let of = TermPattern::Literal(Literal::new_simple_literal(""));
        Self { of, query: String::new(), score: None, limit: None }
    }
}

fn call(function: &str, text: Expression, query: &str) -> Expression {
    let query = Literal::new_simple_literal(query).into();
    Expression::FunctionCall(Function::Custom(NamedNode::new_unchecked(function)), vec![text, query])
}

fn marks_chars(said: &Subjects) -> i64 {
    said.highlight.as_ref().and_then(|marks| i64::try_from(marks.chars).ok()).unwrap_or(i64::MAX)
}

fn in_language(text: &Variable, range: &str) -> Expression {
    let tag = Expression::FunctionCall(Function::Lang, vec![text.clone().into()]);
    let range_literal: Expression = Literal::new_simple_literal(range).into();
    if range.is_empty() {
        return Expression::Equal(Box::new(tag), Box::new(range_literal));
    }
    Expression::FunctionCall(Function::LangMatches, vec![tag, range_literal])
}

/// The rows with the best scores, without variables that only the search needs, but for those of `also`.
fn best(
    found: GraphPattern,
    score: &Variable,
    limit: usize,
    hidden: &HashSet<Variable>,
    also: &[&Variable],
) -> GraphPattern {
    let ordered = GraphPattern::OrderBy {
        inner: Box::new(found),
        expression: vec![OrderExpression::Desc(score.clone().into())],
    };
    let kept: HashSet<Variable> = hidden.iter().filter(|made| !also.contains(made)).cloned().collect();
    let inner = Box::new(projected(ordered, &kept));
    GraphPattern::Slice { inner, start: 0, length: Some(limit) }
}

/// The same without some of its variables.
fn projected(inner: GraphPattern, hidden: &HashSet<Variable>) -> GraphPattern {
    let mut variables = Vec::new();
    let mut seen = HashSet::new();
    visible::each(&inner, &mut |variable| {
        if !hidden.contains(variable) && seen.insert(variable.clone()) {
            variables.push(variable.clone());
        }
    });
    GraphPattern::Project { inner: Box::new(inner), variables }
}

fn properties(variable: Variable, names: &[NamedNode]) -> GraphPattern {
    let mut known = HashSet::new();
    let names = names.iter().filter(|name| known.insert(*name));
    let bindings = names.map(|name| vec![Some(GroundTerm::NamedNode(name.clone()))]).collect();
    GraphPattern::Values { variables: vec![variable], bindings }
}

fn join(left: GraphPattern, right: GraphPattern) -> GraphPattern {
    GraphPattern::Join { left: Box::new(left), right: Box::new(right) }
}

fn object_variable(link: &Link) -> Option<Variable> {
    match link {
        Link::Triple(TriplePattern { object: TermPattern::Variable(variable), .. }) => Some(variable.clone()),
        _ => None,
    }
}

fn term_expression(term: &TermPattern) -> Expression {
    match term {
        TermPattern::Variable(variable) => variable.clone().into(),
        TermPattern::Literal(literal) => literal.clone().into(),
        TermPattern::NamedNode(name) => name.clone().into(),
        // No text: the search finds nothing there.
        TermPattern::BlankNode(_) | TermPattern::Triple(_) => Expression::Coalesce(Vec::new()),
    }
}

fn renamed(term: &mut TermPattern, names: &HashMap<BlankNode, Variable>) {
    match term {
        TermPattern::BlankNode(node) => {
            if let Some(name) = names.get(node) {
                *term = name.clone().into();
            }
        }
        TermPattern::Triple(triple) => {
            crate::stack::room(|| {
                [&mut triple.subject, &mut triple.object].into_iter().for_each(|term| renamed(term, names))
            });
        }
        _ => {}
    }
}

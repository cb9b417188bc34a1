//! The walk over queries for calls and constants that are warned of.

use super::arguments::{Given, given, is_resource, shown_argument};
use super::shown::shown;
use super::{Argument, GivenPattern, NamedFunction, PlanWarning, WARNINGS_MAX};
use crate::function::{Function, Meaning};
use crate::operands;
use crate::place_search::{is_geometry, place_relation};
use crate::stack;
use spargebra::Query;
use spargebra::algebra::{
    AggregateExpression, Expression, Function as Keyword, GraphPattern, OrderExpression,
    PropertyPathExpression,
};
use spargebra::term::{Literal, NamedNodePattern, TermPattern};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The namespace of XML Schema's types, whose names are functions as well: casts.
const XSD: &str = "http://www.w3.org/2001/XMLSchema#";
/// Patterns of a query that are looked at, and bytes of them: each may have to be compiled, as it has to be when the query runs.
const PATTERNS_MAX: usize = 128;
const PATTERN_BYTES_MAX: usize = 1 << 18;
/// Bytes of constant geometries that are looked at.
const GEOMETRY_BYTES_MAX: usize = 1 << 16;
/// Arguments that are variables of which it is looked up in the pattern what they can be.
const VARIABLES_MAX: usize = 32;

/// The function of a name, if there is one.
pub type FunctionOf<'a> = &'a dyn Fn(&str) -> Option<&'static Function>;

/// A constant with a datatype in the place of a geometry that a property relates.
const NO_PLACE: &str = "has no datatype of a geometry (geo:wktLiteral and others), so that nothing is related to it but what data says";
/// A constant pattern of geof:relate that is none.
const NO_MATRIX: &str = "is no pattern of geof:relate, which is nine of T, F, *, 0, 1 and 2";

/// What is known of functions and of what they are given.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// The function of a name.
    pub function_of: FunctionOf<'a>,
    /// The function that is most likely meant by a name that none has.
    pub nearest: &'a dyn Fn(&str) -> Option<&'static str>,
    /// What is wrong with a text that is no regular expression with flags.
    pub pattern_problem: &'a dyn Fn(&str, &str) -> Option<String>,
    /// What is the matter with a pattern with flags, and the text that REPLACE puts there: whether it is the pattern, and what.
    pub replace_problem: &'a dyn Fn(&str, &str, &str) -> Option<(bool, &'static str)>,
    /// What is the matter with a literal of this text and datatype where functions take it for a geometry.
    pub geometry_problem: &'a dyn Fn(&str, &str) -> Option<String>,
    /// Why each call of a function with this in such a place, counted from 0, is an error.
    pub argument_problem: &'a dyn Fn(&str, usize, Given<'_>) -> Option<String>,
}

/// The warnings of queries, each once, in the order of the functions' IRIs, then of the patterns and geometries. What a SERVICE evaluates is not looked at.
pub fn of_queries<'a>(queries: impl IntoIterator<Item = &'a Query>, known: Known<'a>) -> Arc<[PlanWarning]> {
    let Known { function_of, nearest, pattern_problem, replace_problem, geometry_problem, argument_problem } =
        known;
    let mut calls = Calls {
        function_of,
        argument_problem,
        errors: BTreeSet::new(),
        arguments: BTreeSet::new(),
        variables: 0,
        around: [None; 2],
        patterns: BTreeSet::new(),
        replaced: BTreeSet::new(),
        no_strings: BTreeSet::new(),
        pattern_bytes: 0,
        geometries: BTreeSet::new(),
        related: BTreeSet::new(),
        matrices: BTreeSet::new(),
        geometry_bytes: 0,
    };
    for query in queries {
        let (Query::Select { pattern, .. }
        | Query::Construct { pattern, .. }
        | Query::Describe { pattern, .. }
        | Query::Ask { pattern, .. }) = query;
        calls.pattern(pattern);
    }
    let mut warnings: Vec<PlanWarning> = calls.errors.into_iter().map(|call| call.warning(nearest)).collect();
    let wrong = |(argument, why): (Argument, Arc<str>)| PlanWarning::WrongArgument(argument, why);
    warnings.extend(calls.arguments.into_iter().map(wrong));
    warnings.extend(calls.patterns.into_iter().filter_map(|(pattern, flags)| {
        let problem = shown(&pattern_problem(pattern, flags)?);
        Some(PlanWarning::NoPattern(GivenPattern { pattern: shown(pattern), flags: shown(flags), problem }))
    }));
    warnings.extend(calls.replaced.into_iter().filter_map(|(pattern, flags, with)| {
        let (is_of_pattern, why) = replace_problem(pattern, flags, with)?;
        Some(PlanWarning::WrongText(shown(if is_of_pattern { pattern } else { with }), why.into()))
    }));
    let no_string = "is no string without a language, which REGEX and REPLACE want";
    warnings.extend(
        calls.no_strings.into_iter().map(|text| PlanWarning::WrongText(shown(text), no_string.into())),
    );
    warnings
        .extend(calls.matrices.into_iter().map(|text| PlanWarning::WrongText(shown(text), NO_MATRIX.into())));
    let no_place = |(text, _): (&str, &str)| PlanWarning::NoGeometry(shown(text), NO_PLACE.into());
    let related = calls.related.into_iter();
    warnings.extend(related.filter(|(_, datatype)| !is_geometry(datatype)).map(no_place));
    let geometries = calls.geometries.into_iter();
    warnings.extend(geometries.filter_map(|(text, datatype)| {
        let problem = geometry_problem(text, datatype)?;
        Some(PlanWarning::NoGeometry(shown(text), problem.into()))
    }));
    if warnings.len() > WARNINGS_MAX {
        let more = warnings.len() - WARNINGS_MAX;
        warnings.truncate(WARNINGS_MAX);
        warnings.push(PlanWarning::More(more));
    }
    warnings.into()
}

/// A call that is always an error.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Call {
    function: NamedFunction,
    kind: CallKind,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum CallKind {
    Function,
    Cast,
    CastOfOther,
    Arguments(String),
}

impl Call {
    fn of(iri: &str, function: Option<&Function>, arguments: usize) -> Option<Self> {
        let kind = match function {
            None if iri.starts_with(XSD) => CallKind::Cast,
            None => CallKind::Function,
            Some(function) if function.takes(arguments) => return None,
            Some(Function { meaning: Meaning::Cast | Meaning::CanonicalText, .. }) => CallKind::CastOfOther,
            Some(function) => CallKind::Arguments(format!("{}, not {arguments}", function.arguments())),
        };
        Some(Self { function: NamedFunction::new(iri), kind })
    }

    fn warning(self, nearest: &dyn Fn(&str) -> Option<&'static str>) -> PlanWarning {
        match self.kind {
            CallKind::Function => {
                let meant = nearest(&self.function.0);
                PlanWarning::UnknownFunction(self.function, meant)
            }
            CallKind::Cast => PlanWarning::UnknownCast(self.function),
            CallKind::CastOfOther => PlanWarning::CastOfOther(self.function),
            CallKind::Arguments(told) => PlanWarning::WrongArguments(self.function, told.into()),
        }
    }
}

/// Calls that may be looked into, each once.
struct Calls<'a> {
    function_of: FunctionOf<'a>,
    argument_problem: &'a dyn Fn(&str, usize, Given<'_>) -> Option<String>,
    /// Those that are always errors.
    errors: BTreeSet<Call>,
    /// Arguments that are, and why.
    arguments: BTreeSet<(Argument, Arc<str>)>,
    /// Variables among arguments that were looked up.
    variables: usize,
    /// The patterns whose solutions an expression has.
    around: [Option<&'a GraphPattern>; 2],
    /// Constant patterns and their flags.
    patterns: BTreeSet<(&'a str, &'a str)>,
    /// The same of REPLACE, with what is put there.
    replaced: BTreeSet<(&'a str, &'a str, &'a str)>,
    /// Constants in the place of a pattern, flags or what is put there that are no simple strings.
    no_strings: BTreeSet<&'a str>,
    pattern_bytes: usize,
    /// Constants with a datatype, and this.
    geometries: BTreeSet<(&'a str, &'a str)>,
    /// Constants in the place of what a property of places relates, and their datatypes.
    related: BTreeSet<(&'a str, &'a str)>,
    /// Constant patterns of relations that are none.
    matrices: BTreeSet<&'a str>,
    geometry_bytes: usize,
}

impl<'a> Calls<'a> {
    fn pattern(&mut self, pattern: &'a GraphPattern) {
        stack::room(|| self.pattern_here(pattern));
    }

    fn pattern_here(&mut self, pattern: &'a GraphPattern) {
        match pattern {
            GraphPattern::Join { left, right }
            | GraphPattern::Union { left, right }
            | GraphPattern::Lateral { left, right }
            | GraphPattern::Minus { left, right } => {
                self.pattern(left);
                self.pattern(right);
            }
            GraphPattern::LeftJoin { left, right, expression } => {
                self.pattern(left);
                self.pattern(right);
                expression.iter().for_each(|expr| self.over([Some(left), Some(right)], expr));
            }
            GraphPattern::Filter { expr, inner } => {
                self.over([Some(inner), None], expr);
                self.pattern(inner);
            }
            GraphPattern::Extend { inner, expression, .. } => {
                self.over([Some(inner), None], expression);
                self.pattern(inner);
            }
            GraphPattern::OrderBy { inner, expression } => {
                for OrderExpression::Asc(expr) | OrderExpression::Desc(expr) in expression {
                    self.over([Some(inner), None], expr);
                }
                self.pattern(inner);
            }
            GraphPattern::Group { inner, aggregates, .. } => {
                for (_, aggregate) in aggregates {
                    if let AggregateExpression::FunctionCall { expr, .. } = aggregate {
                        self.over([Some(inner), None], expr);
                    }
                }
                self.pattern(inner);
            }
            GraphPattern::Graph { inner, .. }
            | GraphPattern::Project { inner, .. }
            | GraphPattern::Distinct { inner }
            | GraphPattern::Reduced { inner }
            | GraphPattern::Slice { inner, .. } => self.pattern(inner),
            GraphPattern::Bgp { patterns } => {
                for triple in patterns {
                    if let (NamedNodePattern::NamedNode(property), TermPattern::Literal(literal)) =
                        (&triple.predicate, &triple.object)
                        && place_relation(property.as_str()).is_some()
                    {
                        self.related(literal);
                    }
                }
            }
            GraphPattern::Path { path, object: TermPattern::Literal(literal), .. } if relates(path) => {
                self.related(literal);
            }
            // Patterns without expressions, and what is evaluated elsewhere.
            _ => {}
        }
    }

    /// A constant that is related to places.
    fn related(&mut self, literal: &'a Literal) {
        let bytes = self.geometry_bytes + literal.value().len();
        if bytes <= GEOMETRY_BYTES_MAX {
            self.geometry_bytes = bytes;
            self.related.insert((literal.value(), literal.datatype().as_str()));
            self.geometries.insert((literal.value(), literal.datatype().as_str()));
        }
    }

    /// An expression of the solutions of patterns.
    fn over(&mut self, patterns: [Option<&'a GraphPattern>; 2], expr: &'a Expression) {
        let around = std::mem::replace(&mut self.around, patterns);
        self.expression(expr);
        self.around = around;
    }

    fn expression(&mut self, expr: &'a Expression) {
        stack::room(|| match expr {
            Expression::Exists(pattern) => self.pattern(pattern),
            other => {
                match other {
                    Expression::FunctionCall(Keyword::Custom(iri), arguments) => {
                        let function = (self.function_of)(iri.as_str());
                        self.errors.extend(Call::of(iri.as_str(), function, arguments.len()));
                        for (at, argument) in arguments.iter().enumerate() {
                            self.geometry(argument);
                            self.argument(iri.as_str(), at, argument);
                        }
                        if iri.as_str() == RELATE
                            && let Some(pattern) = arguments.get(2).and_then(constant)
                            && !is_matrix(pattern)
                        {
                            self.matrices.insert(pattern);
                        }
                    }
                    Expression::FunctionCall(Keyword::Regex, arguments) => {
                        self.given(arguments.get(1), arguments.get(2));
                    }
                    Expression::FunctionCall(Keyword::Replace, arguments) => {
                        self.given(arguments.get(1), arguments.get(3));
                        self.replaced(arguments.get(1), arguments.get(2), arguments.get(3));
                    }
                    _ => {}
                }
                operands::each(other, &mut |operand| self.expression(operand));
            }
        });
    }

    /// An argument that may be none of a function.
    fn argument(&mut self, function: &str, at: usize, argument: &'a Expression) {
        let found = given(argument).and_then(|given| (self.argument_problem)(function, at, given));
        let (Some(problem), Some(shown)) = (found, shown_argument(argument)) else { return };
        if let Expression::Variable(variable) = argument {
            self.variables += 1;
            let is_one = self.variables <= VARIABLES_MAX
                && self.around.iter().flatten().any(|pattern| is_resource(pattern, variable));
            if !is_one {
                return;
            }
        }
        self.arguments.insert((shown, problem.into()));
    }

    /// A constant that may have to be a geometry.
    fn geometry(&mut self, argument: &'a Expression) {
        let Expression::Literal(literal) = argument else { return };
        let bytes = self.geometry_bytes + literal.value().len();
        if !lode_rdf::is_string(literal.as_ref()) && bytes <= GEOMETRY_BYTES_MAX {
            self.geometry_bytes = bytes;
            self.geometries.insert((literal.value(), literal.datatype().as_str()));
        }
    }

    /// A pattern, with its flags if there are any, where both are constants.
    fn given(&mut self, pattern: Option<&'a Expression>, flags: Option<&'a Expression>) {
        self.no_strings.extend([pattern, flags].into_iter().flatten().filter_map(no_string));
        let flags = flags.map_or(Some(""), constant);
        if let (Some(pattern), Some(flags)) = (pattern.and_then(constant), flags)
            && self.has_room(pattern.len() + flags.len())
        {
            self.patterns.insert((pattern, flags));
        }
    }

    /// The same of REPLACE, and what is put there.
    fn replaced(
        &mut self,
        pattern: Option<&'a Expression>,
        with: Option<&'a Expression>,
        flags: Option<&'a Expression>,
    ) {
        self.no_strings.extend(with.and_then(no_string));
        let flags = flags.map_or(Some(""), constant);
        if let (Some(pattern), Some(with), Some(flags)) =
            (pattern.and_then(constant), with.and_then(constant), flags)
            && self.has_room(pattern.len() + with.len() + flags.len())
        {
            self.replaced.insert((pattern, flags, with));
        }
    }

    fn has_room(&mut self, bytes: usize) -> bool {
        let all = self.pattern_bytes + bytes;
        let has = all <= PATTERN_BYTES_MAX && self.patterns.len() + self.replaced.len() < PATTERNS_MAX;
        self.pattern_bytes = if has { all } else { self.pattern_bytes };
        has
    }
}

/// The function that is given a pattern of the matrix of two geometries.
const RELATE: &str = "http://www.opengis.net/def/function/geosparql/relate";

fn is_matrix(pattern: &str) -> bool {
    pattern.len() == 9 && pattern.bytes().all(|byte| b"TF*012".contains(&byte))
}

/// Whether places are related by one of the ways of a path.
fn relates(path: &PropertyPathExpression) -> bool {
    use PropertyPathExpression as Path;
    match path {
        Path::NamedNode(property) => place_relation(property.as_str()).is_some(),
        Path::Alternative(one, other) => stack::room(|| relates(one) || relates(other)),
        Path::Sequence(_, last) => stack::room(|| relates(last)),
        _ => false,
    }
}

/// The text of a constant string.
fn constant(expr: &Expression) -> Option<&str> {
    let Expression::Literal(literal) = expr else { return None };
    lode_rdf::is_string(literal.as_ref()).then(|| literal.value())
}

/// The text of a constant that is no string, or one with a language.
fn no_string(expr: &Expression) -> Option<&str> {
    match expr {
        Expression::Literal(literal) if !lode_rdf::is_string(literal.as_ref()) => Some(literal.value()),
        Expression::NamedNode(iri) => Some(iri.as_str()),
        _ => None,
    }
}

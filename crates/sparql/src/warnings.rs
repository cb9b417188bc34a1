//! What is no error of a query, but most likely not meant: calls of functions that nobody defines, regular expressions and geometries that are none.
//! Each such call is an error of its expression, so that a FILTER drops its rows and a BIND leaves its variable unbound, without a word.

use crate::function::{Function, Meaning};
use crate::operands;
use crate::parse::hints::Hint;
use crate::place_search::{is_geometry, place_relation};
use crate::stack;
use spargebra::Query;
use spargebra::algebra::{
    AggregateExpression, Expression, Function as Keyword, GraphPattern, OrderExpression,
    PropertyPathExpression,
};
use spargebra::term::{Literal, NamedNodePattern, TermPattern};
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The namespace of XML Schema's types, whose names are functions as well: casts.
const XSD: &str = "http://www.w3.org/2001/XMLSchema#";
/// Warnings that a query has at most, and the note that there are more.
const WARNINGS_MAX: usize = 8;
/// Patterns of a query that are looked at, and bytes of them: each may have to be compiled, as it has to be when the query runs.
const PATTERNS_MAX: usize = 128;
const PATTERN_BYTES_MAX: usize = 1 << 18;
/// Bytes of constant geometries that are looked at.
const GEOMETRY_BYTES_MAX: usize = 1 << 16;
/// Characters that are shown of an IRI or a pattern.
const IRI_CHARS_MAX: usize = 200;

/// Something of a query that most likely is not meant. Its text is one line.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlanWarning {
    /// A function is called that nobody defines; and the one that is most likely meant.
    UnknownFunction(NamedFunction, Option<&'static str>),
    /// A cast to a type that values cannot be cast to.
    UnknownCast(NamedFunction),
    /// A cast of several values, or of none.
    CastOfOther(NamedFunction),
    /// A call with fewer or more arguments than the function takes, and how many it takes.
    WrongArguments(NamedFunction, Arc<str>),
    /// What REGEX or REPLACE are given is no regular expression.
    NoPattern(GivenPattern),
    /// A constant that REGEX or REPLACE are given can never be right: its text, and what is the matter.
    WrongText(Arc<str>, Arc<str>),
    /// A constant that a function is given is no geometry, or not one for all functions: its text, and what is the matter.
    NoGeometry(Arc<str>, Arc<str>),
    /// Something in the text, which may be looked up in the data.
    Hint(Hint),
    /// What was inferred is not what follows from the data of the version that is asked, whose number this is: it is of an older one, if that is known.
    InferencesBehind {
        /// Of which.
        of: Option<u64>,
        /// The number of the version that is asked.
        version: u64,
    },
    /// The index of words has some texts only, and not those that a search asks for.
    TextsRead,
    /// So many others.
    More(usize),
}

/// The IRI of a function, as much of it as is shown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamedFunction(Arc<str>);

impl NamedFunction {
    fn new(iri: &str) -> Self {
        Self(shown(iri))
    }
}

/// A regular expression and its flags, as much of them as is shown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct GivenPattern {
    pattern: Arc<str>,
    flags: Arc<str>,
    /// What is wrong with it.
    problem: Arc<str>,
}

/// A text on one line, or its beginning.
fn shown(text: &str) -> Arc<str> {
    let shown = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    let mut start: String = text.chars().take(IRI_CHARS_MAX).map(shown).collect();
    if start.len() < text.len() {
        start.push_str("...");
    }
    start.into()
}

impl fmt::Display for PlanWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const ERROR: &str = "each call is an error: FILTER drops its rows, BIND leaves its variable unbound";
        match self {
            Self::UnknownFunction(NamedFunction(iri), None) => {
                write!(f, "no function <{iri}> is known; {ERROR}")
            }
            Self::UnknownFunction(NamedFunction(iri), Some(meant)) => {
                write!(f, "no function <{iri}> is known, did you mean <{meant}>? {ERROR}")
            }
            Self::UnknownCast(NamedFunction(iri)) => write!(f, "nothing can be cast to <{iri}>; {ERROR}"),
            Self::CastOfOther(NamedFunction(iri)) => {
                write!(f, "the cast <{iri}> takes one value, not several or none; {ERROR}")
            }
            Self::WrongArguments(NamedFunction(iri), told) => {
                write!(f, "the function <{iri}> takes {told}; {ERROR}")
            }
            Self::NoPattern(GivenPattern { pattern, flags, problem }) if flags.is_empty() => {
                write!(f, "\"{pattern}\" is no regular expression: {problem}; {ERROR}")
            }
            Self::NoPattern(GivenPattern { pattern, flags, problem }) => write!(
                f,
                "\"{pattern}\" with the flags \"{flags}\" is no regular expression: {problem}; {ERROR}"
            ),
            Self::WrongText(text, why) => write!(f, "\"{text}\" {why}; {ERROR}"),
            Self::NoGeometry(text, why) => write!(f, "\"{text}\" {why}"),
            Self::Hint(Hint { message, help, .. }) if help.is_empty() => f.write_str(message),
            Self::Hint(Hint { message, help, .. }) => write!(f, "{message}; {help}"),
            Self::InferencesBehind { of: Some(of), version } => write!(
                f,
                "what was inferred is of version {of} of the data, and this is version {version}: what follows from later changes is not there yet"
            ),
            Self::InferencesBehind { of: None, .. } => f.write_str(
                "what was inferred is stale: what follows from later changes is not there, until a server has added it in the background, or lode materialise",
            ),
            Self::TextsRead => f.write_str(
                "the index of words does not have all texts that are searched: they are read (lode stats tells which it has, lode text has others indexed, or all)",
            ),
            Self::More(count) => write!(f, "and {count} more warnings"),
        }
    }
}

impl PlanWarning {
    /// The name of its kind in reports.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownFunction(..) => "unknown-function",
            Self::UnknownCast(_) => "unknown-cast",
            Self::CastOfOther(_) | Self::WrongArguments(..) => "wrong-arguments",
            Self::NoPattern(_) | Self::WrongText(..) => "no-pattern",
            Self::NoGeometry(..) => "no-geometry",
            Self::Hint(hint) => hint.kind.code(),
            Self::InferencesBehind { .. } => "inferences-behind",
            Self::TextsRead => "texts-read",
            Self::More(_) => "more",
        }
    }

    /// Its bytes of the text, where it has a place.
    pub fn span(&self) -> Option<Range<usize>> {
        match self {
            Self::Hint(hint) => Some(hint.span.clone()),
            _ => None,
        }
    }

    /// The beginning of the IRI, or of the text, that it is of, where it has no place.
    pub fn about(&self) -> Option<&str> {
        match self {
            Self::UnknownFunction(NamedFunction(iri), _)
            | Self::UnknownCast(NamedFunction(iri))
            | Self::CastOfOther(NamedFunction(iri))
            | Self::WrongArguments(NamedFunction(iri), _) => Some(iri),
            Self::NoPattern(GivenPattern { pattern, .. }) => Some(pattern),
            Self::NoGeometry(text, _) | Self::WrongText(text, _) => Some(text),
            Self::Hint(_) | Self::InferencesBehind { .. } | Self::TextsRead | Self::More(_) => None,
        }
    }

    /// What is the matter, without what may be meant.
    pub fn message(&self) -> String {
        match self {
            Self::Hint(hint) => hint.message.clone(),
            other => other.to_string(),
        }
    }

    /// What may be meant; empty where that is not known.
    pub fn help(&self) -> &str {
        match self {
            Self::Hint(hint) => &hint.help,
            _ => "",
        }
    }

    /// These warnings, and that what was inferred is of an older version than is asked.
    #[must_use]
    pub fn with_inferences(warnings: &[Self], of: Option<u64>, version: u64) -> Arc<[Self]> {
        std::iter::once(Self::InferencesBehind { of, version }).chain(warnings.iter().cloned()).collect()
    }

    /// These warnings, and that texts are read which the index of words does not have.
    #[must_use]
    pub fn with_texts_read(warnings: &[Self]) -> Arc<[Self]> {
        std::iter::once(Self::TextsRead).chain(warnings.iter().cloned()).collect()
    }

    /// These warnings and hints, as many as are told.
    pub fn with_hints(warnings: &[Self], hints: Vec<Hint>) -> Arc<[Self]> {
        let (is_more, before) = match warnings.last() {
            Some(Self::More(count)) => (*count, &warnings[..warnings.len() - 1]),
            _ => (0, warnings),
        };
        let mut all: Vec<Self> = before.iter().cloned().chain(hints.into_iter().map(Self::Hint)).collect();
        let more = is_more + all.len().saturating_sub(WARNINGS_MAX);
        all.truncate(WARNINGS_MAX);
        all.extend((more > 0).then_some(Self::More(more)));
        all.into()
    }
}

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
}

/// The warnings of queries, each once, in the order of the functions' IRIs, then of the patterns and geometries. What a SERVICE evaluates is not looked at.
pub fn of_queries<'a>(queries: impl IntoIterator<Item = &'a Query>, known: Known<'a>) -> Arc<[PlanWarning]> {
    let Known { function_of, nearest, pattern_problem, replace_problem, geometry_problem } = known;
    let mut calls = Calls {
        function_of,
        errors: BTreeSet::new(),
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
    /// Those that are always errors.
    errors: BTreeSet<Call>,
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
                expression.iter().for_each(|expr| self.expression(expr));
            }
            GraphPattern::Filter { expr, inner } => {
                self.expression(expr);
                self.pattern(inner);
            }
            GraphPattern::Extend { inner, expression, .. } => {
                self.expression(expression);
                self.pattern(inner);
            }
            GraphPattern::OrderBy { inner, expression } => {
                for OrderExpression::Asc(expr) | OrderExpression::Desc(expr) in expression {
                    self.expression(expr);
                }
                self.pattern(inner);
            }
            GraphPattern::Group { inner, aggregates, .. } => {
                for (_, aggregate) in aggregates {
                    if let AggregateExpression::FunctionCall { expr, .. } = aggregate {
                        self.expression(expr);
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

    fn expression(&mut self, expr: &'a Expression) {
        stack::room(|| match expr {
            Expression::Exists(pattern) => self.pattern(pattern),
            other => {
                match other {
                    Expression::FunctionCall(Keyword::Custom(iri), arguments) => {
                        let function = (self.function_of)(iri.as_str());
                        self.errors.extend(Call::of(iri.as_str(), function, arguments.len()));
                        arguments.iter().for_each(|argument| self.geometry(argument));
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

#[cfg(test)]
mod tests {
    //! What is warned of, and how long warnings are.
    use super::{Known, XSD, of_queries};
    use crate::function::{Function, Meaning, ValueType};
    use crate::parse_query;

    /// The casts of the queries below.
    fn cast(name: &str) -> Option<&'static Function> {
        static CAST: Function =
            Function::new("a cast", &[ValueType::Term], ValueType::Literal, &()).meaning(Meaning::Cast);
        let name = name.strip_prefix(XSD)?;
        ["integer", "unsignedByte", "dayTimeDuration"].contains(&name).then_some(&CAST)
    }

    fn warnings(text: &str) -> Vec<String> {
        let text = format!("PREFIX : <http://x/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> {text}");
        let pattern_problem = |pattern: &str, flags: &str| {
            (pattern.starts_with('(') || flags == "z").then(|| "it is none".to_owned())
        };
        let geometry_problem = |text: &str, datatype: &str| {
            (datatype == "http://x/place" && text != "here").then(|| "is not here".to_owned())
        };
        let known = Known {
            function_of: &cast,
            nearest: &|_| None,
            pattern_problem: &pattern_problem,
            replace_problem: &|pattern, _, _| (pattern == "x*").then_some((true, "is found in every place")),
            geometry_problem: &geometry_problem,
        };
        let warnings = of_queries([&parse_query(&text, None).unwrap()], known);
        warnings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn functions_that_nobody_defines() {
        let place = |call: &str| {
            [
                format!("SELECT ({call} AS ?y) {{ ?x :p ?o }}"),
                format!("ASK {{ ?x :p ?o FILTER(1 + {call} = 2 || ?o) }}"),
                format!("CONSTRUCT {{ ?y :p 1 }} WHERE {{ ?x :p ?o BIND(IF(?o, 1, {call}) AS ?y) }}"),
                format!(
                    "DESCRIBE ?x {{ ?x :p ?o FILTER NOT EXISTS {{ GRAPH ?g {{ ?x :q ?y FILTER({call}) }} }} }}"
                ),
                format!("SELECT * {{ ?x :p ?o OPTIONAL {{ ?x :q ?y FILTER({call}) }} }}"),
                format!("SELECT ?x {{ ?x :p ?o }} ORDER BY DESC({call})"),
                format!("SELECT (SUM({call}) AS ?n) {{ ?x :p ?o MINUS {{ ?x :q 1 }} }}"),
                format!("SELECT ?k {{ ?x :p ?o }} GROUP BY ({call} AS ?k)"),
                format!("SELECT (1 AS ?one) {{ ?x :p ?o }} GROUP BY ?x HAVING({call})"),
                format!(
                    "SELECT ?o {{ {{ SELECT DISTINCT ?o {{ ?x :p ?o FILTER(?o IN (1, {call})) }} LIMIT 1 }} UNION {{}} }}"
                ),
            ]
        };
        let error = "each call is an error: FILTER drops its rows, BIND leaves its variable unbound";
        for (call, warning) in [
            (":f(?x)", "no function <http://x/f> is known"),
            ("xsd:anyURI(?x)", "nothing can be cast to <http://www.w3.org/2001/XMLSchema#anyURI>"),
            (
                "xsd:integer(?x, 2)",
                "the cast <http://www.w3.org/2001/XMLSchema#integer> takes one value, not several or none",
            ),
        ] {
            for text in place(call) {
                assert_eq!(warnings(&text), [format!("{warning}; {error}")], "{text}");
            }
        }
        for call in ["xsd:integer(?x)", "xsd:unsignedByte(?x)", "xsd:dayTimeDuration(?x)", "STR(?x)", "?x"] {
            for text in place(call) {
                assert!(warnings(&text).is_empty(), "{text}");
            }
        }
        assert!(warnings("SELECT * { SERVICE <http://e/> { ?x :p ?o FILTER(:f(?x)) } }").is_empty());
    }

    #[test]
    fn geometries_that_are_none() {
        let found =
            warnings("ASK { ?x :p ?o FILTER(xsd:integer('there'^^:place) || xsd:integer('here'^^:place)) }");
        assert_eq!(found, ["\"there\" is not here"]);
        assert!(warnings("ASK { ?x :p 'there'^^:place FILTER(?x = 'there'^^:place) }").is_empty());
    }

    #[test]
    fn constants_beside_relations_of_places() {
        let geo = "PREFIX geo: <http://www.opengis.net/ont/geosparql#> PREFIX geof: <http://www.opengis.net/def/function/geosparql/>";
        let of = |pattern: &str| warnings(&format!("{geo} ASK {{ {pattern} }}"));
        let no_place = "\"POINT(1 2)\" has no datatype of a geometry (geo:wktLiteral and others), so that nothing is related to it but what data says";
        assert_eq!(of("?x geo:sfWithin 'there'^^:place")[1], "\"there\" is not here");
        for relation in ["geo:sfWithin", "geo:rcc8eq|:near", ":part/geo:ehMeet"] {
            assert_eq!(of(&format!("?x {relation} 'POINT(1 2)'")), [no_place], "{relation}");
        }
        for pattern in [
            "?x geo:sfWithin 'POINT(1 2)'^^geo:wktLiteral",
            "?x :near 'POINT(1 2)'",
            "?x geo:sfWithin ?y",
            "?x geo:asWKT 'POINT(1 2)'",
        ] {
            assert!(of(pattern).is_empty(), "{pattern}");
        }
        let relate = |pattern: &str| of(&format!("?x :p ?o FILTER(geof:relate(?o, ?o, {pattern}))"));
        for pattern in ["'XYZ'", "'TF*012TF'", "'tf*012tf*'"] {
            let told = relate(pattern);
            assert!(told.iter().any(|told| told.contains("is no pattern of geof:relate")), "{told:?}");
        }
        let is_of_matrix = |told: &String| told.contains("geof:relate,");
        assert!(!relate("'TF*012TF*'").iter().any(is_of_matrix) && !relate("?o").iter().any(is_of_matrix));
    }

    #[test]
    fn patterns_that_are_none() {
        let error = "is no regular expression: it is none; each call is an error: FILTER drops its rows, BIND leaves its \
                     variable unbound";
        let found = warnings(
            "SELECT (REPLACE(?o, \"(\\n\", \"\") AS ?y) { ?x :p ?o FILTER(REGEX(?o, \"a\") && REGEX(?o, \"(a\") || REGEX(?o, \"a\", \"z\")) }",
        );
        let expected = [
            format!("\"(\u{FFFD}\" {error}"),
            format!("\"(a\" {error}"),
            format!("\"a\" with the flags \"z\" {error}"),
        ];
        assert_eq!(found, expected);
        for text in [
            "REGEX(?o, ?o)",
            "REGEX(?o, \"a\", ?o)",
            "REGEX(?o, STR(\"(\"))",
            "REGEX(\"(\", \"a\")",
            "CONTAINS(?o, \"(\")",
        ] {
            assert!(warnings(&format!("ASK {{ ?x :p ?o FILTER({text}) }}")).is_empty(), "{text}");
        }
        let found = warnings(
            "ASK { ?x :p ?o FILTER(REGEX(?o, \"a\"@en) || REPLACE(?o, \"x*\", 7) = REPLACE(?o, \"x*\", \"\")) }",
        );
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(
            found[0].starts_with("\"x*\" is found") && found[1].starts_with("\"7\" is no string"),
            "{found:?}"
        );
        let deep = format!("ASK {{ ?x :p ?o FILTER(REGEX(?o, \"{}\")) }}", "(".repeat(3000));
        assert_eq!(warnings(&deep).len(), 1);
        let many: String = (0..200).map(|n| format!("REGEX(?o, \"({n}\") || ")).collect();
        assert_eq!(warnings(&format!("ASK {{ ?x :p ?o FILTER({many} false) }}")).len(), 9);
    }

    #[test]
    fn warnings_are_few_and_short() {
        let calls: String = (0..50).map(|n| format!(":f{n}(:f{n}(1)), ")).collect();
        let found = warnings(&format!("ASK {{ FILTER(COALESCE({calls} 1)) }}"));
        assert_eq!((found.len(), found[8].as_str()), (9, "and 42 more warnings"));
        let found = warnings(&format!("ASK {{ FILTER(<http://é.example/{}>(1)) }}", "ü".repeat(5000)));
        assert!(found[0].chars().count() < 400 && found[0].contains("üü...> is known"), "{found:?}");
        // As deep as expressions may be.
        let deep = format!("ASK {{ FILTER({}1{}) }}", ":f(".repeat(900), ")".repeat(900));
        assert_eq!(warnings(&deep).len(), 1);
    }
}

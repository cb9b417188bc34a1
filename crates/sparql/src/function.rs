//! Functions: what the planner and the executor know of each, in one place.
//!
//! A function is an entry of a list that the planner asks by name ([`Statistics::function`](crate::Statistics::function)). What computes it
//! belongs to the executor and is opaque here.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// What an argument or a result is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueType {
    /// Any term.
    Term,
    /// An IRI.
    Iri,
    /// A blank node.
    Blank,
    /// A literal of any type.
    Literal,
    /// A string, with a language or without.
    String,
    /// `xsd:boolean`.
    Boolean,
    /// `xsd:integer` and the types derived from it.
    Integer,
    /// A number of any type.
    Number,
    /// `xsd:float` or `xsd:double`, for which sums may be made in parts.
    Floating,
    /// A date, a time, or a part of these.
    Calendar,
    /// A duration.
    Duration,
    /// A triple term.
    Triple,
}

/// How long the result for the same arguments stays the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Volatility {
    /// Always.
    Immutable,
    /// Throughout a query.
    Query,
    /// For one solution: the same label is another blank node in the next one.
    Solution,
    /// Each call may give another.
    Call,
}

/// What a call costs beside looking a result up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    /// Less: each row is computed.
    Cheap,
    /// More, for instance because texts are read: worth computing once per distinct argument.
    PerTerm,
}

/// What planner and executor know of a function beyond its types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// Nothing.
    Other,
    /// The text of an IRI or a literal.
    Text,
    /// The same, of the canonical form where a literal has a value.
    CanonicalText,
    /// Whether a text begins with another.
    StartsWith,
    /// Whether a text matches a regular expression.
    Matches,
    /// A cast to another type.
    Cast,
}

/// A function.
pub struct Function {
    /// Its name in a query: a keyword or an IRI.
    pub name: &'static str,
    /// Arguments that every call has.
    pub required: &'static [ValueType],
    /// Further ones that it may have.
    pub optional: &'static [ValueType],
    /// What any number of further ones are.
    pub rest: Option<ValueType>,
    /// What it gives.
    pub result: ValueType,
    /// How long a result stays the same.
    pub volatility: Volatility,
    /// What a call costs.
    pub cost: Cost,
    /// What is known of it beyond its types.
    pub meaning: Meaning,
    /// What computes it, for the executor.
    pub implementation: &'static (dyn Any + Send + Sync),
}

impl Function {
    /// An immutable function of as many arguments as it has types in `required`.
    pub const fn new(
        name: &'static str,
        required: &'static [ValueType],
        result: ValueType,
        implementation: &'static (dyn Any + Send + Sync),
    ) -> Self {
        Self {
            name,
            required,
            optional: &[],
            rest: None,
            result,
            volatility: Volatility::Immutable,
            cost: Cost::PerTerm,
            meaning: Meaning::Other,
            implementation,
        }
    }

    /// The same with arguments that may be left out.
    pub const fn optional(self, optional: &'static [ValueType]) -> Self {
        Self { optional, ..self }
    }

    /// The same with any number of further arguments.
    pub const fn rest(self, rest: ValueType) -> Self {
        Self { rest: Some(rest), ..self }
    }

    /// The same with another volatility.
    pub const fn volatility(self, volatility: Volatility) -> Self {
        Self { volatility, ..self }
    }

    /// The same with another cost.
    pub const fn cost(self, cost: Cost) -> Self {
        Self { cost, ..self }
    }

    /// The same with a known meaning.
    pub const fn meaning(self, meaning: Meaning) -> Self {
        Self { meaning, ..self }
    }

    /// How many arguments a call has, in words.
    pub fn arguments(&self) -> String {
        let (least, most) = (self.required.len(), self.required.len() + self.optional.len());
        let many =
            |count: usize| if count == 1 { "1 argument".to_owned() } else { format!("{count} arguments") };
        match self.rest {
            Some(_) if least == 0 => "any number of arguments".to_owned(),
            Some(_) => format!("{} or more", many(least)),
            None if least == most => many(least),
            None => format!("{least} to {most} arguments"),
        }
    }

    /// Whether a call may have so many arguments.
    pub fn takes(&self, arguments: usize) -> bool {
        let required = self.required.len();
        arguments >= required && (self.rest.is_some() || arguments <= required + self.optional.len())
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// What a call calls.
#[derive(Debug, Clone)]
pub enum Callee {
    /// A function of the list.
    Known(&'static Function),
    /// A name that the list lacks: each call is an error.
    Unknown(Arc<str>),
}

impl Callee {
    /// The function of this name, if there is one.
    pub fn new(name: &str, function: Option<&'static Function>) -> Self {
        function.map_or_else(|| Self::Unknown(name.into()), Self::Known)
    }

    /// Its name in a query.
    pub fn name(&self) -> &str {
        match self {
            Self::Known(function) => function.name,
            Self::Unknown(name) => name,
        }
    }

    /// The function; `None`: each call is an error.
    pub fn function(&self) -> Option<&'static Function> {
        match self {
            Self::Known(function) => Some(function),
            Self::Unknown(_) => None,
        }
    }

    /// How long a result stays the same; an error always does.
    pub fn volatility(&self) -> Volatility {
        self.function().map_or(Volatility::Immutable, |function| function.volatility)
    }

    /// Whether two calls for the same arguments can differ, so that the number of calls matters.
    pub fn is_volatile(&self) -> bool {
        matches!(self.volatility(), Volatility::Solution | Volatility::Call)
    }

    /// What is known of it beyond its types.
    pub fn meaning(&self) -> Meaning {
        self.function().map_or(Meaning::Other, |function| function.meaning)
    }
}

impl PartialEq for Callee {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl fmt::Display for Callee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name();
        if name.contains(':') { write!(f, "<{name}>") } else { f.write_str(name) }
    }
}

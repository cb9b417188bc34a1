//! What is no error of a query, but most likely not meant: calls of functions that nobody defines, regular expressions and geometries that are none.
//! Each such call is an error of its expression, so that a FILTER drops its rows and a BIND leaves its variable unbound, without a word.

mod arguments;
mod calls;
mod places;
mod shown;
#[cfg(test)]
mod tests;

pub use arguments::Given;
pub use calls::{FunctionOf, Known, of_queries};

use crate::parse::hints::{BYTES_MAX, Hint};
use crate::parse::line_and_column;
use lode_syntax::Form;
use places::{About, Places};
use shown::shown;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Warnings that a query has at most, and the note that there are more.
const WARNINGS_MAX: usize = 8;

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
    /// An argument of a call can never be right: as it is written, and what is the matter.
    WrongArgument(Argument, Arc<str>),
    /// Something in the text, which may be looked up in the data.
    Hint(Hint),
    /// One of these that is not, and its bytes of the text.
    At(Box<Self>, Range<usize>),
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

/// An argument of a call, as much of it as is shown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Argument {
    /// The text of a literal.
    Text(Arc<str>),
    /// An IRI.
    Iri(Arc<str>),
    /// The name of a variable.
    Variable(Arc<str>),
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "\"{text}\""),
            Self::Iri(iri) => write!(f, "<{iri}>"),
            Self::Variable(name) => write!(f, "?{name}"),
        }
    }
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
            Self::WrongArgument(argument, why) => write!(f, "{argument} {why}; {ERROR}"),
            Self::At(other, _) => other.fmt(f),
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
            Self::CastOfOther(_) | Self::WrongArguments(..) | Self::WrongArgument(..) => "wrong-arguments",
            Self::NoPattern(_) | Self::WrongText(..) => "no-pattern",
            Self::NoGeometry(..) => "no-geometry",
            Self::Hint(hint) => hint.kind.code(),
            Self::At(other, _) => other.code(),
            Self::InferencesBehind { .. } => "inferences-behind",
            Self::TextsRead => "texts-read",
            Self::More(_) => "more",
        }
    }

    /// Its bytes of the text, where it has a place.
    pub fn span(&self) -> Option<Range<usize>> {
        match self {
            Self::Hint(hint) => Some(hint.span.clone()),
            Self::At(_, span) => Some(span.clone()),
            _ => None,
        }
    }

    /// What of the text it is of, where it has no place.
    fn about(&self) -> Option<About<'_>> {
        match self {
            Self::UnknownFunction(NamedFunction(iri), _)
            | Self::UnknownCast(NamedFunction(iri))
            | Self::CastOfOther(NamedFunction(iri))
            | Self::WrongArguments(NamedFunction(iri), _) => Some(About::Called(iri)),
            Self::NoPattern(GivenPattern { pattern, .. }) => Some(About::Text(pattern)),
            Self::NoGeometry(text, _) | Self::WrongText(text, _) => Some(About::Text(text)),
            Self::WrongArgument(argument, _) => Some(match argument {
                Argument::Text(text) => About::Text(text),
                Argument::Iri(iri) => About::Iri(iri),
                Argument::Variable(name) => About::Variable(name),
            }),
            Self::Hint(_)
            | Self::At(..)
            | Self::InferencesBehind { .. }
            | Self::TextsRead
            | Self::More(_) => None,
        }
    }

    /// Its line and its column, both from 1, in a text before which so many bytes were put, where it has a place there.
    pub fn line_and_column(&self, text: &str, before: usize) -> Option<(usize, usize)> {
        let start = self.span()?.start.checked_sub(before)?;
        Some(line_and_column(text, start))
    }

    /// These warnings with their places in the text that they are of.
    pub fn placed(warnings: &Arc<[Self]>, text: &str, form: Form) -> Arc<[Self]> {
        if text.len() > BYTES_MAX || warnings.iter().all(|warning| warning.about().is_none()) {
            return Arc::clone(warnings);
        }
        let places = Places::of(text, form);
        let placed = |warning: &Self| match warning.about().and_then(|about| places.find(about)) {
            Some(span) => Self::At(Box::new(warning.clone()), span),
            None => warning.clone(),
        };
        warnings.iter().map(placed).collect()
    }

    /// What is the matter, without what may be meant.
    pub fn message(&self) -> String {
        match self {
            Self::Hint(hint) => hint.message.clone(),
            Self::At(other, _) => other.message(),
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

//! Conditions on texts that know nothing of words: `CONTAINS`, `STRENDS`, `REGEX`, and what a text in lower case is or begins with. Which texts may pass them is known to who has an
//! index of words.

use crate::expr::Expr;
use crate::variable::VarId;
use lode_rdf::Term;

/// A condition on the text of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextCondition<'e> {
    /// What is asked of the text.
    pub test: TextTest<'e>,
    /// Whether it is asked of texts of terms that are no strings, too.
    pub of_any_term: bool,
}

/// What is asked of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextTest<'e> {
    /// That it has a string, perhaps in lower case.
    Has {
        /// The string.
        text: &'e str,
        /// At its start,
        at_start: bool,
        /// or end.
        at_end: bool,
    },
    /// That it, perhaps in lower case, matches an expression.
    Matches {
        /// The expression,
        pattern: &'e str,
        /// and its flags.
        flags: &'e str,
    },
    /// All of these.
    All(Vec<TextTest<'e>>),
    /// One of these.
    Any(Vec<TextTest<'e>>),
}

impl<'e> TextCondition<'e> {
    /// The variable and what is asked of its text, if a condition is one.
    pub(crate) fn of(filter: &'e Expr) -> Option<(VarId, Self)> {
        let (var, test, of_any_term) = match filter {
            Expr::Or(parts) => of_all(parts, TextTest::Any, false)?,
            Expr::And(parts) => of_all(parts, TextTest::All, true)?,
            Expr::Equal(a, b) => {
                let (text, other) = if matches!(**a, Expr::Const(_)) { (b, a) } else { (a, b) };
                let Subject { var, of_any_term, is_bare, .. } = Subject::of(text)?;
                let test = TextTest::Has { text: string(other)?, at_start: true, at_end: true };
                // What a variable itself is, is looked up.
                (!is_bare).then_some((var, test, of_any_term))?
            }
            Expr::Call(callee, arguments) => of_call(callee.name(), arguments)?,
            _ => return None,
        };
        Some((var, Self { test, of_any_term }))
    }
}

type Found<'e> = (VarId, TextTest<'e>, bool);

/// Conditions on the same variable; others may be passed over if `some`.
fn of_all<'e>(
    parts: &'e [Expr],
    joined: impl Fn(Vec<TextTest<'e>>) -> TextTest<'e>,
    some: bool,
) -> Option<Found<'e>> {
    let found: Vec<Option<(VarId, TextCondition<'e>)>> = parts.iter().map(TextCondition::of).collect();
    let (var, _) = found.iter().flatten().next()?;
    let var = *var;
    let is_other = |part: &Option<(VarId, TextCondition<'e>)>| part.as_ref().is_none_or(|part| part.0 != var);
    if !some && found.iter().any(is_other) {
        return None;
    }
    let own: Vec<TextCondition<'e>> =
        found.into_iter().flatten().filter(|part| part.0 == var).map(|part| part.1).collect();
    let of_any_term = own.iter().any(|part| part.of_any_term);
    Some((var, joined(own.into_iter().map(|part| part.test).collect()), of_any_term))
}

fn of_call<'e>(name: &str, arguments: &'e [Expr]) -> Option<Found<'e>> {
    let (text, test, is_looked_up) = match (name, arguments) {
        ("CONTAINS", [text, part]) => {
            (text, TextTest::Has { text: string(part)?, at_start: false, at_end: false }, false)
        }
        ("STRENDS", [text, part]) => {
            (text, TextTest::Has { text: string(part)?, at_start: false, at_end: true }, false)
        }
        ("STRSTARTS", [text, part]) => {
            (text, TextTest::Has { text: string(part)?, at_start: true, at_end: false }, true)
        }
        ("REGEX", [text, pattern]) => {
            let pattern = string(pattern)?;
            (text, TextTest::Matches { pattern, flags: "" }, pattern.starts_with('^'))
        }
        ("REGEX", [text, pattern, flags]) => {
            let (pattern, flags) = (string(pattern)?, string(flags)?);
            let is_looked_up = matches!(flags, "" | "s") && pattern.starts_with('^');
            (text, TextTest::Matches { pattern, flags }, is_looked_up)
        }
        _ => return None,
    };
    let Subject { var, of_any_term, is_lower, .. } = Subject::of(text)?;
    // Beginnings of texts are ranges of ids, which is faster still.
    (is_lower || !is_looked_up).then_some((var, test, of_any_term))
}

/// Whose text is asked for, and in which form.
struct Subject {
    var: VarId,
    of_any_term: bool,
    is_lower: bool,
    /// Whether the variable itself is meant.
    is_bare: bool,
}

impl Subject {
    /// Of `?var`, `STR(?var)`, `LCASE(?var)` and so on.
    fn of(expr: &Expr) -> Option<Self> {
        match expr {
            Expr::Var(var) => Some(Self { var: *var, of_any_term: false, is_lower: false, is_bare: true }),
            Expr::Call(callee, arguments) => {
                let [inner] = arguments.as_slice() else { return None };
                let inner = Self::of(inner)?;
                match callee.name() {
                    "STR" => Some(Self { of_any_term: true, is_bare: false, ..inner }),
                    "LCASE" => Some(Self { is_lower: true, is_bare: false, ..inner }),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// The text of a constant string, with or without a language.
fn string(expr: &Expr) -> Option<&str> {
    let Expr::Const(Term::Literal(literal)) = expr else { return None };
    let is_string = literal.language().is_some() || lode_rdf::is_string(literal.as_ref());
    is_string.then(|| literal.value())
}

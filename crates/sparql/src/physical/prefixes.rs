//! Tests for the beginning of a text: `STRSTARTS(?title, "un")`, `REGEX(?title, "^un.*ing$")`.

use crate::expr::Expr;
use crate::function::Meaning;
use crate::plan::VarId;
use lode_rdf::Term;

/// The beginning of a text.
pub(super) struct Prefix {
    pub text: String,
    /// Whether the condition asks for nothing else.
    pub exact: bool,
}

/// The variable and the beginning that its text has where the condition holds.
pub(super) fn of(condition: &Expr) -> Option<(VarId, Prefix)> {
    let Expr::Call(callee, arguments) = condition else { return None };
    let exact = callee.meaning() == Meaning::StartsWith;
    let (prefix, text) = match (callee.meaning(), arguments.as_slice()) {
        (Meaning::StartsWith, [text, start]) => (simple(start)?.to_owned(), text),
        (Meaning::Matches, [text, pattern]) => (regex_prefix(simple(pattern)?)?, text),
        // Dots that match line ends change nothing here; all other flags may.
        (Meaning::Matches, [text, pattern, flags]) if matches!(simple(flags)?, "" | "s") => {
            (regex_prefix(simple(pattern)?)?, text)
        }
        _ => return None,
    };
    let var = match text {
        Expr::Var(var) => *var,
        Expr::Call(inner, arguments) if inner.meaning() == Meaning::Text => match arguments.as_slice() {
            [Expr::Var(var)] => *var,
            _ => return None,
        },
        _ => return None,
    };
    (!prefix.is_empty()).then_some((var, Prefix { text: prefix, exact }))
}

/// The text of a literal without a language.
fn simple(expr: &Expr) -> Option<&str> {
    let Expr::Const(Term::Literal(literal)) = expr else { return None };
    lode_rdf::is_string(literal.as_ref()).then(|| literal.value())
}

/// What every text that matches an XPath expression begins with, as far as the expression says it letter by letter.
fn regex_prefix(pattern: &str) -> Option<String> {
    let rest = pattern.strip_prefix('^')?;
    if rest.contains('|') {
        return None;
    }
    let special =
        |c: char| matches!(c, '.' | '\\' | '?' | '*' | '+' | '{' | '}' | '(' | ')' | '[' | ']' | '^' | '$');
    let end = rest.find(special).unwrap_or(rest.len());
    let (letters, after) = rest.split_at_checked(end)?;
    let mut letters = letters.to_owned();
    if after.starts_with(['?', '*', '{']) {
        // The last letter may occur not at all.
        letters.pop();
    }
    Some(letters)
}

#[cfg(test)]
mod tests {
    use super::regex_prefix;

    #[test]
    fn letters_before_anything_special() {
        for (pattern, expected) in [
            ("^abc", Some("abc")),
            ("^ab+", Some("ab")),
            ("^ab*c", Some("a")),
            ("^ab?", Some("a")),
            ("^ab{0,1}", Some("a")),
            ("^ab(c)?", Some("ab")),
            ("^ab[cd]", Some("ab")),
            ("^ab.*", Some("ab")),
            ("^ab$", Some("ab")),
            ("^a\\.b", Some("a")),
            ("^日本?", Some("日")),
            ("^", Some("")),
            ("^ab|c", None),
            ("abc", None),
            ("", None),
        ] {
            assert_eq!(regex_prefix(pattern).as_deref(), expected, "{pattern}");
        }
    }
}

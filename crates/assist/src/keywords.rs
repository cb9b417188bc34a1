//! Keywords that may come next.

use lode_syntax::{Token, TokenKind};

const FORMS: &[&str] = &[
    "SELECT",
    "PREFIX",
    "CONSTRUCT",
    "ASK",
    "DESCRIBE",
    "BASE",
    "INSERT",
    "DELETE",
    "WITH",
    "LOAD",
    "CLEAR",
    "DROP",
    "CREATE",
    "COPY",
    "MOVE",
    "ADD",
];
const PATTERNS: &[&str] =
    &["FILTER", "OPTIONAL", "BIND", "VALUES", "GRAPH", "MINUS", "SERVICE", "LATERAL", "SELECT"];
const BEHIND_GROUP: &[&str] =
    &["UNION", "FILTER", "OPTIONAL", "BIND", "VALUES", "GRAPH", "MINUS", "SERVICE", "LATERAL"];
const MODIFIERS: &[&str] = &["ORDER BY", "LIMIT", "GROUP BY", "HAVING", "OFFSET", "VALUES"];
const BEHIND_SELECTION: &[&str] = &["WHERE", "FROM"];
const EXPRESSIONS: &[&str] = &["EXISTS", "NOT EXISTS", "true", "false"];
const BEHIND_VALUE: &[&str] = &["IN", "NOT IN", "AS"];

/// What may come behind the tokens before a place.
pub(crate) fn at(text: &str, before: &[Token]) -> &'static [&'static str] {
    let written = |back: usize| {
        let token = before.len().checked_sub(back).and_then(|at| before.get(at));
        token.and_then(|token| text.get(token.span())).unwrap_or("")
    };
    let word = written(1).to_ascii_uppercase();
    let depth = depth(text, before);
    match word.as_str() {
        "" => FORMS,
        "SELECT" => &["DISTINCT", "REDUCED", "*", "WHERE"],
        "DISTINCT" | "REDUCED" if depth == (0, 0) => &["*", "WHERE"],
        "GROUP" | "ORDER" => &["BY"],
        "BY" => &["ASC", "DESC"],
        "INSERT" => &["DATA", "{"],
        "DELETE" => &["WHERE", "DATA", "{"],
        "NOT" => &["EXISTS", "IN"],
        "FILTER" => &["EXISTS", "NOT EXISTS"],
        "CONSTRUCT" => &["WHERE", "{"],
        "ASK" => &["WHERE", "FROM"],
        "FROM" => &["NAMED"],
        "CLEAR" | "DROP" => &["GRAPH", "DEFAULT", "NAMED", "ALL", "SILENT"],
        "CREATE" => &["GRAPH", "SILENT"],
        "LOAD" | "ADD" | "MOVE" | "COPY" | "SERVICE" => &["SILENT"],
        "USING" => &["NAMED"],
        "{" | "." if depth.1 == 0 => PATTERNS,
        "}" if depth == (0, 0) => MODIFIERS,
        "}" => BEHIND_GROUP,
        "(" | "," | "&&" | "||" | "!" | "=" | "!=" | "<" | ">" | "<=" | ">=" | "+" | "-" if depth.1 > 0 => {
            EXPRESSIONS
        }
        _ if depth.1 > 0 => BEHIND_VALUE,
        _ if depth.0 > 0 => PATTERNS,
        _ if is_prologue(text, before) => FORMS,
        _ if before.iter().any(|token| text.get(token.span()) == Some("}")) => {
            &["ASC", "DESC", "ORDER BY", "LIMIT", "GROUP BY", "HAVING", "OFFSET", "VALUES"]
        }
        _ => BEHIND_SELECTION,
    }
}

/// How many braces and how many parentheses in the innermost of them are open.
fn depth(text: &str, tokens: &[Token]) -> (usize, usize) {
    let mut open = vec![0_usize];
    for token in tokens.iter().filter(|token| token.kind() == TokenKind::Mark) {
        match text.get(token.span()).unwrap_or("") {
            "{" => open.push(0),
            "}" if open.len() > 1 => drop(open.pop()),
            "(" => open.iter_mut().last().into_iter().for_each(|count| *count += 1),
            ")" => open.iter_mut().last().into_iter().for_each(|count| *count = count.saturating_sub(1)),
            _ => {}
        }
    }
    (open.len() - 1, open.last().copied().unwrap_or(0))
}

/// Whether there are only declarations.
fn is_prologue(text: &str, tokens: &[Token]) -> bool {
    let mut words = tokens.iter().filter(|token| token.kind() == TokenKind::Word);
    words.all(|token| {
        let word = text.get(token.span()).unwrap_or("");
        ["PREFIX", "BASE", "VERSION"].iter().any(|known| known.eq_ignore_ascii_case(word))
    })
}

#[cfg(test)]
mod tests {
    use super::at;
    use lode_syntax::Form;

    #[test]
    fn keywords_behind_what_stands_there() {
        for (text, first) in [
            ("", "SELECT"),
            ("PREFIX a: <b>", "SELECT"),
            ("SELECT", "DISTINCT"),
            ("SELECT ?x", "WHERE"),
            ("SELECT ?x {", "FILTER"),
            ("SELECT ?x { ?s ?p ?o", "FILTER"),
            ("SELECT ?x { { ?s ?p ?o }", "UNION"),
            ("SELECT ?x { ?s ?p ?o }", "ORDER BY"),
            ("SELECT ?x { ?s ?p ?o } ORDER", "BY"),
            ("SELECT ?x { FILTER(", "EXISTS"),
            ("SELECT ?x { FILTER(?x", "IN"),
            ("DELETE", "WHERE"),
        ] {
            let parsed = lode_syntax::parse(text, Form::Query, lode_sparql::parse::vocabulary());
            let tokens = parsed.tree.tokens();
            let before = tokens.get(..tokens.len() - 1).unwrap();
            assert_eq!(at(text, before).first(), Some(&first), "{text}");
        }
    }
}

//! Makes a whole text of one that is being written: something is put at the place, what is open is closed, and what cannot be read is left out.

use crate::context::{Patterns, patterns};
use crate::names::Names;
use crate::place::{Fragment, Typed};
use crate::role::{Role, path_to, role_of};
use lode_syntax::{Form, Parsed, Token, TokenKind};

/// Stands at the place: what no text has.
const IRI: &str = "<urn:x-lode:here>";
const VARIABLE: &str = "?lode_here";
/// What may follow to make the place part of a whole.
const TAILS: [&str; 6] = ["", " .", " ?lode_o", " ?lode_o .", " ?lode_p ?lode_o", " ?lode_p ?lode_o ."];
/// Of longer texts only the statement around the place is looked at.
const BYTES_MAX: usize = 32 << 10;
/// So many bytes of a statement are looked at.
const STATEMENT_BYTES_MAX: usize = 4 << 10;

/// What is known of a place.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub role: Role,
    /// What stands around it, to ask what gives answers.
    pub patterns: Option<Patterns>,
}

/// A text that may be whole.
struct Attempt<'a> {
    before: &'a str,
    after: &'a str,
    marker: &'static str,
    tail: &'static str,
    form: Form,
}

/// What may stand at the place where something was typed.
pub(crate) fn found(text: &str, tokens: &[Token], typed: &Typed, names: &Names) -> Option<Found> {
    if let Some(role) = in_prefix(text, tokens, typed) {
        return Some(Found { role, patterns: None });
    }
    let before = text.get(..typed.from)?;
    let form = form_of(text, tokens);
    if text.len() <= BYTES_MAX
        && let Some(form) = form
    {
        let before = format!("{}{before}", names.missing());
        for after in afters(text, tokens, typed) {
            if let Some(found) = attempts(&before, &after, typed, form, names) {
                return Some(found);
            }
        }
    }
    let Some(statement) = statement(text, tokens, typed) else { return in_parentheses(before) };
    let parsed = lode_syntax::parse(statement, Form::Query, lode_sparql::parse::vocabulary());
    let used = names.declarations(&Names::of(statement, parsed.tree.tokens()));
    let before = format!("{used}SELECT * {{ {statement}");
    let after = closing(&before, None);
    attempts(&before, &after, typed, Form::Query, names)
}

/// Tries what may stand at the place.
fn attempts(before: &str, after: &str, typed: &Typed, form: Form, names: &Names) -> Option<Found> {
    let markers: &[&'static str] = match typed.fragment {
        Fragment::Variable(_) => &[VARIABLE],
        Fragment::Nothing | Fragment::Word(_) => &[IRI, VARIABLE],
        _ => &[IRI],
    };
    for marker in markers {
        for tail in TAILS {
            let attempt = Attempt { before, after, marker, tail, form };
            if let Some(found) = attempt.found(names) {
                return Some(found);
            }
        }
    }
    None
}

impl Attempt<'_> {
    fn found(&self, names: &Names) -> Option<Found> {
        let Self { before, after, marker, tail, form } = *self;
        // In a path the object follows its parentheses.
        let rest = after.trim_start_matches([' ', ')']);
        let (closing, rest) = after.split_at_checked(after.len() - rest.len()).unwrap_or(("", after));
        let text = format!("{before} {marker} {closing} {tail} {rest}");
        let parsed = lode_syntax::parse(&text, form, lode_sparql::parse::vocabulary());
        if !parsed.diagnostics.is_empty() {
            return None;
        }
        let start = before.len() + 1;
        let token = parsed.tree.tokens().partition_point(|token| token.start() < start);
        let path = path_to(&parsed.tree, token);
        let role = role_of(&path, &|written| expanded(written, names))?;
        // A variable stands where an IRI cannot.
        let role = match role {
            Role::Graph { .. } if marker == VARIABLE => return None,
            role => role,
        };
        Some(Found { role, patterns: patterns(&path, start..start + marker.len()) })
    }
}

/// The IRI of a text that is one or a name.
fn expanded(written: &str, names: &Names) -> Option<String> {
    let kind = if written.starts_with('<') { TokenKind::Iri } else { TokenKind::Name };
    names.expanded(kind, written)
}

/// Outside of groups parentheses have expressions in them.
fn in_parentheses(before: &str) -> Option<Found> {
    let is_open = closing(before, None).starts_with(" )");
    is_open.then_some(Found { role: Role::Expression { aggregates: true }, patterns: None })
}

/// Whether it is in a declaration.
fn in_prefix(text: &str, tokens: &[Token], typed: &Typed) -> Option<Role> {
    let before = tokens.partition_point(|token| token.end() <= typed.from && token.kind() != TokenKind::End);
    let at = |back: usize| before.checked_sub(back).and_then(|at| tokens.get(at));
    let written = |token: &Token| text.get(token.span()).unwrap_or("");
    let is_prefix =
        |token: &&Token| token.kind() == TokenKind::Word && written(token).eq_ignore_ascii_case("PREFIX");
    if at(1).filter(is_prefix).is_some() {
        return Some(Role::PrefixName);
    }
    let name = at(1).filter(|token| token.kind() == TokenKind::Name)?;
    at(2).filter(is_prefix)?;
    Some(Role::PrefixIri(written(name).trim_end_matches(':').to_owned()))
}

/// What a text is, by its first word that is no declaration; none where there is none.
pub(crate) fn form_of(text: &str, tokens: &[Token]) -> Option<Form> {
    const QUERIES: [&str; 4] = ["SELECT", "CONSTRUCT", "DESCRIBE", "ASK"];
    const UPDATES: [&str; 10] =
        ["INSERT", "DELETE", "LOAD", "CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY", "WITH"];
    let mut words = tokens.iter().filter(|token| token.kind() == TokenKind::Word);
    words.find_map(|token| {
        let word = text.get(token.span())?;
        let is_one_of = |words: &[&str]| words.iter().any(|known| known.eq_ignore_ascii_case(word));
        if is_one_of(&QUERIES) { Some(Form::Query) } else { is_one_of(&UPDATES).then_some(Form::Update) }
    })
}

/// What may stand behind the place: all that does, with what is missing at its end; the same without the rest of the statement; nothing but what is missing.
fn afters(text: &str, tokens: &[Token], typed: &Typed) -> Vec<String> {
    let after = text.get(typed.to..).unwrap_or("");
    let before = text.get(..typed.from).unwrap_or("");
    let mut afters = vec![format!("{after} {}", closing(before, Some(after)))];
    if let Some(rest) = next_statement(text, tokens, typed.to) {
        afters.push(format!("{rest} {}", closing(before, Some(rest))));
    }
    afters.push(closing(before, None));
    afters.dedup();
    afters
}

/// What follows the statement around a place: from its full stop, or the brace that ends it.
fn next_statement<'t>(text: &'t str, tokens: &[Token], from: usize) -> Option<&'t str> {
    let mut depth = 0_usize;
    let first = tokens.partition_point(|token| token.start() < from);
    for token in tokens.get(first..)? {
        match text.get(token.span())? {
            "." | "}" if depth == 0 => return text.get(token.start()..),
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// The brackets that are open at the end of both texts together, closed.
fn closing(before: &str, after: Option<&str>) -> String {
    let mut open = Vec::new();
    for text in [Some(before), after].into_iter().flatten() {
        let parsed: Parsed<'_> = lode_syntax::parse(text, Form::Query, lode_sparql::parse::vocabulary());
        for token in parsed.tree.tokens().iter().filter(|token| token.kind() == TokenKind::Mark) {
            let mark = text.get(token.span()).unwrap_or("");
            if let Some(close) = closes(mark) {
                open.push(close);
            } else if open.last() == Some(&mark) {
                open.pop();
            }
        }
    }
    open.into_iter().rev().flat_map(|close| [" ", close]).collect()
}

fn closes(mark: &str) -> Option<&'static str> {
    Some(match mark {
        "{" => "}",
        "(" => ")",
        "[" => "]",
        "<<" => ">>",
        "<<(" => ")>>",
        "{|" => "|}",
        _ => return None,
    })
}

/// The beginning of the statement around a place.
fn statement<'t>(text: &'t str, tokens: &[Token], typed: &Typed) -> Option<&'t str> {
    let before = tokens.partition_point(|token| token.end() <= typed.from && token.kind() != TokenKind::End);
    let is =
        |token: &&Token, mark: &str| token.kind() == TokenKind::Mark && text.get(token.span()) == Some(mark);
    let count = |mark: &str| tokens.iter().take(before).filter(|token| is(token, mark)).count();
    if count("{") <= count("}") {
        return None;
    }
    let mut start = typed.from;
    for token in tokens.get(..before)?.iter().rev() {
        let is_end = token.kind() == TokenKind::Mark && matches!(text.get(token.span())?, "." | "{" | "}");
        if is_end {
            return text.get(start..typed.from);
        }
        start = token.start();
        if typed.from - start > STATEMENT_BYTES_MAX {
            return None;
        }
    }
    // Nothing that a statement can stand in is open.
    None
}

#[cfg(test)]
mod tests {
    use super::found;
    use crate::names::Names;
    use crate::place::typed;
    use crate::role::Role;
    use lode_syntax::Form;

    /// The role of the mark `|`.
    fn role(marked: &str) -> Option<Role> {
        let at = marked.find('|').unwrap();
        let text = marked.replacen('|', "", 1);
        let parsed = lode_syntax::parse(&text, Form::Query, lode_sparql::parse::vocabulary());
        let tokens = parsed.tree.tokens();
        let typed = typed(&text, tokens, at)?;
        found(&text, tokens, &typed, &Names::of(&text, tokens)).map(|found| found.role)
    }

    #[test]
    fn roles_of_unfinished_texts() {
        let knows = || Role::Object(Some("http://xmlns.com/foaf/0.1/knows".into()));
        let (predicate, path) = (Role::Predicate { in_path: false }, Role::Predicate { in_path: true });
        for (text, expected) in [
            ("SELECT * { |", Role::Subject),
            ("SELECT * { ?s | }", predicate.clone()),
            ("SELECT * { ?s foaf:na| ", predicate.clone()),
            ("SELECT * { ?s | . ?s ?p ?o }", predicate.clone()),
            ("SELECT * { ?s |\n ?t foaf:name ?n . }", predicate.clone()),
            ("SELECT * { ?s a | ; foaf:name ?n } LIMIT 5", Role::Class),
            ("SELECT * { ?s rdf:type |", Role::Class),
            ("SELECT * { ?s foaf:knows |", knows()),
            ("SELECT * { ?s foaf:knows ?a, |", knows()),
            ("SELECT * { ?s foaf:knows/| ?o }", path.clone()),
            ("SELECT * { ?s ^(foaf:knows/|", path),
            ("SELECT * { ?s a foaf:Person ; |", predicate.clone()),
            ("SELECT * { ?s a foaf:Person . | ?s ?p ?o }", Role::Subject),
            ("SELECT * { GRAPH | { ?s ?p ?o } }", Role::Graph { or_variable: true }),
            ("SELECT * FROM | { ?s ?p ?o }", Role::Graph { or_variable: false }),
            ("SELECT * { ?s ?p ?o FILTER(|", Role::Expression { aggregates: false }),
            ("SELECT * { ?s ?p ?o FILTER(?o > |)", Role::Expression { aggregates: false }),
            ("SELECT (| { ?s ?p ?o }", Role::Expression { aggregates: true }),
            ("SELECT | { ?s ?p ?o }", Role::Variable),
            ("SELECT * { OPTIONAL { ?s | } ?s a ?c }", predicate.clone()),
            ("SELECT * { { SELECT ?x { ?x | ", predicate.clone()),
            ("PREFIX |", Role::PrefixName),
            ("PREFIX foaf: |", Role::PrefixIri("foaf".into())),
            ("INSERT DATA { <a:s> | }", predicate.clone()),
            ("DELETE { ?s ?p ?o } WHERE { ?s | }", predicate.clone()),
            ("SELCT ?x WHRE { ?x | }", predicate.clone()),
            ("SELECT * { ?s ?? ?x . ?s a ?c ; | ; ?x ?y }", predicate),
            ("CLEAR GRAPH |", Role::Graph { or_variable: false }),
            ("DESCRIBE |", Role::Resource),
            ("SELECT * { VALUES ?x { | } ?x ?p ?o }", Role::Value),
        ] {
            assert_eq!(role(text), Some(expected), "{text}");
        }
    }
}

//! A text of rules: an update request of nothing but `INSERT ... WHERE`, where `CONSTRUCT` may stand for `INSERT`.
//!
//! It is read as such a request, with the words of the same length in place, so that whatever is wrong with it is told as for updates, and at its place.

use super::atom::Atom;
use super::delta::without_blank_nodes;
use super::reads::Reads;
use super::{Rule, RuleError, shape};
use crate::parse::{parse_update, vocabulary};
use crate::update::{Modify, Operation, QuadTemplate, TermTemplate, TripleTemplate};
use lode_syntax::{Form, TokenKind};
use spargebra::Query;
use spargebra::algebra::GraphPattern;
use std::collections::HashSet;

/// A text may have so many: each is compared with each.
pub const RULES_MAX: usize = 1000;
/// What the comment before a rule begins with that names it.
const NAME: &str = "rule ";

/// The rules of a text.
///
/// # Errors
/// [`RuleError`] where it is not of that form, or a rule says what no rule may: a head with a variable that the body does not bind, a blank node or a
/// graph, or a body with something whose answer is not the same each time.
pub fn parse_rules(text: &str) -> Result<Vec<Rule>, RuleError> {
    let (request, starts) = as_request(text);
    let update = parse_update(&request, None).map_err(|error| RuleError::Syntax(Box::new(error)))?;
    if update.operations.len() > RULES_MAX {
        let message = format!("{} rules, of which a text may have {RULES_MAX}", update.operations.len());
        return Err(RuleError::Text(message));
    }
    let mut rules = Vec::with_capacity(update.operations.len());
    for (number, operation) in update.operations.into_iter().enumerate() {
        let start = starts.get(number).copied().unwrap_or(0);
        let line = text.get(..start).unwrap_or(text).matches('\n').count() + 1;
        let name = name_before(text, start).unwrap_or_else(|| (number + 1).to_string());
        let rule =
            match operation {
                Operation::Modify(modify) => rule(*modify, &name, line),
                _ => Err("a rule is CONSTRUCT { ... } WHERE { ... }, or INSERT in the place of CONSTRUCT"
                    .to_owned()),
            };
        rules.push(rule.map_err(|message| RuleError::of(&name, line, message))?);
    }
    if rules.is_empty() {
        return Err(RuleError::Text("there is no rule: write CONSTRUCT { ... } WHERE { ... }".to_owned()));
    }
    Ok(rules)
}

/// The text as an update request, and where its operations begin.
fn as_request(text: &str) -> (String, Vec<usize>) {
    let parsed = lode_syntax::parse(text, Form::Update, vocabulary());
    let (mut bytes, mut starts) = (text.as_bytes().to_vec(), Vec::new());
    let (mut depth, mut needs_mark) = (0_usize, false);
    for token in parsed.tree.tokens() {
        let word = text.get(token.span()).unwrap_or("");
        match (token.kind(), word) {
            (TokenKind::Mark, "{") => depth += 1,
            (TokenKind::Mark, "}") => {
                depth = depth.saturating_sub(1);
                needs_mark |= depth == 0;
            }
            (TokenKind::Mark, ";") if depth == 0 => needs_mark = false,
            (TokenKind::Word, word) if depth == 0 && word.eq_ignore_ascii_case("WHERE") => needs_mark = false,
            (TokenKind::Word, word) if depth == 0 && word.eq_ignore_ascii_case("CONSTRUCT") => {
                starts.push(token.start());
                // As long as the word.
                let instead: &[u8; 9] = if needs_mark { b";INSERT  " } else { b"INSERT   " };
                if let Some(place) = bytes.get_mut(token.span()) {
                    place.copy_from_slice(instead);
                }
                needs_mark = false;
            }
            (TokenKind::Word, word) if depth == 0 && is_operation(word) => {
                starts.push(token.start());
                needs_mark = false;
            }
            _ => {}
        }
    }
    (String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned()), starts)
}

/// Words with which operations begin that are no rules, and the one that is.
fn is_operation(word: &str) -> bool {
    let words = ["INSERT", "DELETE", "LOAD", "CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY", "WITH"];
    words.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// The name that a comment right before gives: `# rule NAME`.
fn name_before(text: &str, start: usize) -> Option<String> {
    let comment = text.get(..start)?.lines().rev().find(|line| !line.trim().is_empty())?;
    let name = comment.trim().strip_prefix('#')?.trim_start().strip_prefix(NAME)?.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

fn rule(modify: Modify, name: &str, line: usize) -> Result<Rule, String> {
    let Modify { delete, insert: head, variables, query, .. } = modify;
    if !delete.is_empty() {
        return Err("DELETE is for updates: a rule only adds".to_owned());
    }
    let Query::Select { dataset, pattern, base_iri } = query else {
        return Err("its WHERE is no pattern".to_owned());
    };
    if dataset.is_some() {
        return Err(
            "USING, WITH and FROM are for requests: a rule reads the default graph, and others by GRAPH"
                .to_owned(),
        );
    }
    let mut body = inner(pattern);
    without_blank_nodes(&mut body);
    let mut bound = HashSet::new();
    body.on_in_scope_variable(|variable| {
        bound.insert(variable.clone());
    });
    if let Some(free) = variables.iter().find(|variable| !bound.contains(*variable)) {
        return Err(format!("{free} is in its head, and nothing in its WHERE binds it"));
    }
    if head.is_empty() {
        return Err("its head has no triple".to_owned());
    }
    head.iter().try_for_each(check_head)?;
    let reads = Reads::of(&body)?;
    let writes = head.iter().map(Atom::of_template).collect();
    let shape = shape::of(&body, &head, &variables);
    let name = name.to_owned();
    Ok(Rule { name, line, head, variables, body, base_iri, writes, reads, shape })
}

/// What the projection of a request's columns is over.
fn inner(pattern: GraphPattern) -> GraphPattern {
    match pattern {
        GraphPattern::Reduced { inner: project } => match *project {
            GraphPattern::Project { inner, .. } => *inner,
            other => other,
        },
        GraphPattern::Project { inner, .. } => *inner,
        other => other,
    }
}

fn check_head(quad: &QuadTemplate) -> Result<(), String> {
    let TripleTemplate { subject, predicate, object } = &quad.triple;
    if quad.graph.is_some() {
        return Err("GRAPH is in its head: what follows is in the default graph".to_owned());
    }
    for term in [subject, predicate, object] {
        match term {
            TermTemplate::Blank(_) => {
                return Err("a blank node is in its head: it would be a new one each time, without end. Make an IRI of what the body binds, \
                            by BIND(IRI(...) AS ?x)"
                    .to_owned());
            }
            TermTemplate::Triple(_) => return Err("a triple term with variables is in its head".to_owned()),
            TermTemplate::Const(_) | TermTemplate::Column(_) => {}
        }
    }
    Ok(())
}

//! A text of rules: an update request of nothing but `INSERT ... WHERE`, where `CONSTRUCT` may stand for `INSERT`; and `ASK ...` for what must not be.
//!
//! It is read as such a request, with the words of the same length in place, so that whatever is wrong with it is told as for updates, and at its place.

use super::atom::Atom;
use super::delta::without_blank_nodes;
use super::reads::Reads;
use super::{Rule, RuleError, shape};
use crate::parse::{ParseError, parse_query, parse_update, vocabulary};
use crate::update::{Modify, Operation, QuadTemplate, TermTemplate, TripleTemplate};
use lode_syntax::{Form, TokenKind};
use spargebra::Query;
use spargebra::algebra::GraphPattern;
use std::collections::HashSet;

/// A text may have so many: each is compared with each.
pub const RULES_MAX: usize = 1000;
/// What the comment before a rule begins with that names it.
const NAME: &str = "rule ";
const FORM: &str = "a rule is CONSTRUCT { ... } WHERE { ... }, or INSERT in the place of CONSTRUCT; or ASK { ... } for what must not be";
/// Files of this kind may begin with it; it says nothing.
pub(super) const BYTE_ORDER_MARK: char = '\u{feff}';

/// The rules of a text.
///
/// # Errors
/// [`RuleError`] where it is not of that form, or a rule says what no rule may: a head with a variable that the body does not bind, a blank node or a
/// graph, or a body with something whose answer is not the same each time.
pub fn parse_rules(text: &str) -> Result<Vec<Rule>, RuleError> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let Request { text: request, pieces } = Request::of(text);
    let update =
        parse_update(&request, None).map_err(|error| RuleError::Syntax(Box::new(of_rules(text, error))))?;
    let asks = pieces.iter().filter(|piece| piece.is_ask).count();
    let count = update.operations.len() + asks;
    if count > RULES_MAX {
        return Err(RuleError::Text(format!("{count} rules, of which a text may have {RULES_MAX}")));
    }
    let (mut rules, mut operations) = (Vec::with_capacity(count), update.operations.into_iter());
    for (number, piece) in pieces.iter().enumerate() {
        let line = text.get(..piece.start).unwrap_or(text).matches('\n').count() + 1;
        let name = name_before(text, piece.start).unwrap_or_else(|| (number + 1).to_string());
        let rule = match piece.is_ask {
            true => {
                let query = parse_query(&alone(text, &pieces, number), None);
                contradiction(query.map_err(|error| RuleError::Syntax(Box::new(error)))?, &name, line)
            }
            false => match operations.next() {
                Some(Operation::Modify(modify)) => rule(*modify, &name, line),
                Some(_) => Err(FORM.to_owned()),
                None => continue,
            },
        };
        rules.push(rule.map_err(|message| RuleError::of(&name, line, message))?);
    }
    if rules.is_empty() {
        return Err(RuleError::Text("there is no rule: write CONSTRUCT { ... } WHERE { ... }".to_owned()));
    }
    Ok(rules)
}

/// What is wrong with a text, for who wants rules: help about updates and queries leads elsewhere.
fn of_rules(text: &str, mut error: ParseError) -> ParseError {
    const N3: &str = "these seem to be rules in N3: the name of a file of such ends with .n3";
    let is_n3 =
        text.trim_start().starts_with('@') || ["} =>", "}=>"].iter().any(|arrow| text.contains(arrow));
    if is_n3 {
        (error.help, error.more) = (N3.into(), Box::default());
    } else if error.message.starts_with("this is a query") {
        (error.message, error.help) = ("this is a query, and no rule".to_owned(), FORM.into());
    } else if error.help.starts_with("an update begins with") {
        error.message = error.message.replace("begins no update", "begins no rule");
        error.help = FORM.into();
    }
    error
}

/// A rule in a text.
#[derive(Debug, Clone, Copy)]
struct Piece {
    start: usize,
    /// Behind its last bracket.
    end: usize,
    is_ask: bool,
}

/// A text as an update request of its rules, but for those with ASK, and where all of them are.
struct Request {
    text: String,
    pieces: Vec<Piece>,
}

impl Request {
    fn of(text: &str) -> Self {
        let parsed = lode_syntax::parse(text, Form::Update, vocabulary());
        let (mut bytes, mut pieces): (_, Vec<Piece>) = (text.as_bytes().to_vec(), Vec::new());
        let (mut depth, mut needs_mark, mut after_ask) = (0_usize, false, false);
        for token in parsed.tree.tokens() {
            let (word, span) = (text.get(token.span()).unwrap_or(""), token.span());
            let is = |known: &str| token.kind() == TokenKind::Word && word.eq_ignore_ascii_case(known);
            match (token.kind(), word) {
                (TokenKind::Mark, "{") => depth += 1,
                (TokenKind::Mark, "}") => {
                    depth = depth.saturating_sub(1);
                    let last = pieces.last_mut().filter(|_| depth == 0);
                    after_ask = last.as_ref().is_some_and(|piece| piece.is_ask);
                    needs_mark |= depth == 0 && !after_ask;
                    if let Some(piece) = last {
                        piece.end = span.end;
                    }
                }
                (TokenKind::Mark, ";") if depth == 0 => {
                    // Behind what is not there it would be one too many.
                    if after_ask && !needs_mark {
                        blank(&mut bytes, span);
                    }
                    (needs_mark, after_ask) = (false, false);
                }
                (TokenKind::Word, _) if depth == 0 && is("WHERE") => needs_mark = false,
                (TokenKind::Word, _) if depth == 0 && is("CONSTRUCT") => {
                    pieces.push(Piece { start: span.start, end: span.end, is_ask: false });
                    // As long as the word.
                    let instead: &[u8; 9] = if needs_mark { b";INSERT  " } else { b"INSERT   " };
                    if let Some(place) = bytes.get_mut(span) {
                        place.copy_from_slice(instead);
                    }
                    (needs_mark, after_ask) = (false, false);
                }
                (TokenKind::Word, word) if depth == 0 && (is("ASK") || is_operation(word)) => {
                    let is_ask = is("ASK");
                    pieces.push(Piece { start: span.start, end: span.end, is_ask });
                    needs_mark &= is_ask;
                    after_ask = false;
                }
                _ => {}
            }
        }
        let asks = pieces.iter().filter(|piece| piece.is_ask);
        asks.for_each(|piece| blank(&mut bytes, piece.start..piece.end));
        Self { text: String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned()), pieces }
    }
}

/// The text up to the end of a rule with no other rule in it, only what is declared for it, each at its place.
fn alone(text: &str, pieces: &[Piece], number: usize) -> String {
    let end = pieces.get(number).map_or(text.len(), |piece| piece.end);
    let mut bytes = text.as_bytes().get(..end).unwrap_or_default().to_vec();
    for (at, piece) in pieces.iter().enumerate().take(number + 1) {
        if at < number {
            blank(&mut bytes, piece.start..piece.end);
        }
        let from = at.checked_sub(1).and_then(|before| pieces.get(before)).map_or(0, |before| before.end);
        // What parts rules.
        let between = text.get(from..piece.start).unwrap_or("");
        if let Some(mark) = between.bytes().position(|byte| byte == b';').filter(|_| at > 0) {
            blank(&mut bytes, from + mark..from + mark + 1);
        }
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// Puts spaces in the place of bytes, but for ends of lines.
fn blank(bytes: &mut [u8], span: std::ops::Range<usize>) {
    for byte in bytes.get_mut(span).unwrap_or_default() {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}

/// What must not be: a rule whose head is false.
fn contradiction(query: Query, name: &str, line: usize) -> Result<Rule, String> {
    let Query::Ask { dataset, pattern: mut body, base_iri } = query else {
        return Err("what must not be is ASK { ... }".to_owned());
    };
    if dataset.is_some() {
        return Err("FROM is for queries: a rule reads the default graph, and others by GRAPH".to_owned());
    }
    without_blank_nodes(&mut body);
    let mut variables = Vec::new();
    body.on_in_scope_variable(|variable| {
        if !variables.contains(variable) {
            variables.push(variable.clone());
        }
    });
    let (reads, name) = (Reads::of(&body)?, name.to_owned());
    let (head, writes) = (Vec::new(), Vec::new());
    Ok(Rule { name, line, head, variables, body, base_iri, writes, reads, shape: shape::Shape::Usual })
}

/// Words with which operations begin that are no rules, and the one that is.
fn is_operation(word: &str) -> bool {
    let words = ["INSERT", "DELETE", "LOAD", "CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY", "WITH"];
    words.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// The name that a comment right before gives: `# rule NAME`.
pub(super) fn name_before(text: &str, start: usize) -> Option<String> {
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

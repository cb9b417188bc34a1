//! The part of a query that goes into ours, with prefixed names as IRIs, blank nodes of its own, and pre-bound variables handed on.

use super::rules;
use lode_sparql::syntax::{At, Form, Node, TokenKind, Tree, parse};
use std::collections::BTreeSet;
use std::fmt::Write;

/// What goes into a LATERAL of our query.
#[derive(Debug)]
pub struct Body {
    /// With its braces.
    pub text: String,
    /// What of the pre-bound variables it mentions.
    pub mentioned: BTreeSet<String>,
    /// What it selects; nothing of an ASK.
    pub selected: BTreeSet<String>,
}

/// Reads a query whose text may have `prefixes`. `bound` are the names of variables that have values; `number` tells its blank nodes from those of
/// other queries.
pub fn body(
    text: &str,
    is_ask: bool,
    prefixes: &[(String, String)],
    bound: &[&str],
    number: usize,
) -> Result<Body, String> {
    let mut full = String::new();
    for (prefix, namespace) in prefixes {
        let _ = writeln!(full, "PREFIX {prefix}: <{namespace}>");
    }
    full.push_str(text);
    lode_sparql::parse_query(&full, None).map_err(|error| error.to_string())?;
    let parsed = parse(&full, Form::Query, lode_sparql::parse::vocabulary());
    let root = parsed.tree.root();
    let (form, node) = if is_ask { ("an ASK", Node::Ask) } else { ("a SELECT", Node::Select) };
    let Some(top) = root.child(node) else { return Err(format!("the query is not {form}")) };
    if root.child(Node::Base).is_some() {
        return Err("BASE is not supported here: write IRIs in full, or with prefixes".into());
    }
    if root.child(Node::Values).is_some() {
        return Err("VALUES is not allowed: write FILTER (... IN ...)".into());
    }
    if top.child(Node::From).is_some() {
        return Err("FROM is not allowed: the query is about the graph that is validated".into());
    }
    let checked: Vec<&str> = bound.iter().copied().filter(|name| !is_optional(name)).collect();
    if let Some(problem) = rules::broken(top, &checked) {
        return Err(problem);
    }
    Writer { tree: &parsed.tree, prefixes: declared(root), number, bound }.body(top, is_ask)
}

/// Sub-selects need not hand these on.
fn is_optional(name: &str) -> bool {
    name == "currentShape" || name == "shapesGraph"
}

/// The prefixes of a query, with their namespaces as written.
fn declared<'t>(root: At<'t>) -> Vec<(&'t str, &'t str)> {
    let prefix = |at: At<'t>| {
        let iri = at.children().last()?.text();
        Some((at.token(1).strip_suffix(':')?, iri.strip_prefix('<')?.strip_suffix('>')?))
    };
    root.children().filter(|at| at.node() == Node::Prefix).filter_map(prefix).collect()
}

struct Writer<'t> {
    tree: &'t Tree<'t>,
    prefixes: Vec<(&'t str, &'t str)>,
    number: usize,
    bound: &'t [&'t str],
}

impl Writer<'_> {
    fn body(&self, top: At<'_>, is_ask: bool) -> Result<Body, String> {
        let mentioned = self.mentioned(top);
        if is_ask {
            let [group] = top.children().collect::<Vec<_>>()[..] else {
                return Err("an ASK has a group here, and nothing behind it".into());
            };
            let text = self.text(group, &[])?;
            return Ok(Body { text, mentioned, selected: BTreeSet::new() });
        }
        let selected: BTreeSet<String> = rules::selected(top).into_iter().map(str::to_owned).collect();
        if !selected.contains("this") {
            return Err("the query has to select $this".into());
        }
        let handed_on = self.handed_on(top, &mentioned, &selected)?;
        let text = format!("{{ {} }}", self.text(top, &handed_on)?);
        Ok(Body { text, mentioned, selected })
    }

    /// Which of the pre-bound variables are in the text.
    fn mentioned(&self, top: At<'_>) -> BTreeSet<String> {
        let names = top.tokens().filter_map(|token| self.tree.token_text(token).strip_prefix(['?', '$']));
        names.filter(|name| self.bound.contains(name)).map(str::to_owned).collect()
    }

    /// What is put behind tokens, so that the query as a sub-select knows all variables that have values.
    fn handed_on(
        &self,
        top: At<'_>,
        mentioned: &BTreeSet<String>,
        selected: &BTreeSet<String>,
    ) -> Result<Vec<(usize, String)>, String> {
        let missing: Vec<String> = mentioned.difference(selected).map(|name| format!(" ?{name}")).collect();
        if missing.is_empty() {
            return Ok(Vec::new());
        }
        let missing = missing.concat();
        let Some(selection) = top.child(Node::Selection) else { return Ok(Vec::new()) };
        if selection.first().is_none() {
            return Err("name the variables instead of SELECT *: parameters must be told from others".into());
        }
        let mut behind = vec![(selection.tokens().end, missing.clone())];
        behind.extend(top.child(Node::GroupBy).map(|group| (group.tokens().end, missing)));
        Ok(behind)
    }

    /// The text of a node. `before` has texts that come before tokens.
    fn text(&self, at: At<'_>, before: &[(usize, String)]) -> Result<String, String> {
        let mut out = String::new();
        for token in at.tokens() {
            if let Some((_, text)) = before.iter().find(|(place, _)| *place == token) {
                out.push_str(text);
            }
            out.push(' ');
            let text = self.tree.token_text(token);
            match self.tree.tokens().get(token).map(|token| token.kind()) {
                Some(TokenKind::Name) => self.write_name(text, &mut out)?,
                Some(TokenKind::Blank) => {
                    let _ = write!(out, "{text}_q{}", self.number);
                }
                // A language tag or a datatype is one with its string.
                Some(TokenKind::LanguageTag) => {
                    out.pop();
                    out.push_str(text);
                }
                _ => out.push_str(text),
            }
        }
        let end = at.tokens().end;
        before.iter().filter(|(place, _)| *place == end).for_each(|(_, text)| out.push_str(text));
        Ok(out)
    }

    fn write_name(&self, name: &str, out: &mut String) -> Result<(), String> {
        let (prefix, local) = name.split_once(':').unwrap_or((name, ""));
        let known = self.prefixes.iter().rev().find(|(known, _)| *known == prefix);
        let Some((_, namespace)) = known else {
            return Err(format!(
                "the prefix {prefix}: is not declared: sh:prefixes refers to what has sh:declare"
            ));
        };
        let local: String = local.replace('\\', "");
        let _ = write!(out, "<{namespace}{local}>");
        Ok(())
    }
}

//! Variables that have no value where they stand, and those that are spelt as another one nearly is.

use super::found::{FOUND_MAX, HintKind};
use super::walk::{Around, Names, Place, Unbound, Walk, name};
use lode_syntax::{At, Node, TokenKind, Tree};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

impl<'t> Walk<'t> {
    /// A variable is used where these have values.
    pub(super) fn used(&mut self, at: At<'t>, names: &Names<'t>, others: Option<&Names<'t>>, place: Place) {
        let name = name(at);
        let is_bound = names.contains(name) || others.is_some_and(|others| others.contains(name));
        if !is_bound && self.unbound.len() < FOUND_MAX {
            self.unbound.push(Unbound { name, span: at.span(), place });
        }
    }

    /// All variables of an expression, where these have values.
    pub(super) fn expression(
        &mut self,
        at: At<'t>,
        names: &Names<'t>,
        around: &Around<'_, 't>,
        place: Place,
    ) {
        match at.node() {
            Node::Variable => self.used(at, names, Some(around.substituted), place),
            Node::Exists => {
                // Its variables are substituted, however deep they stand.
                let mut visible = names.clone();
                visible.extend(around.substituted);
                if let Some(group) = at.first() {
                    self.group(group, &Around { substituted: &visible, is_required: false, ..*around });
                }
            }
            node => {
                if node == Node::Comparison {
                    self.comparison(at);
                }
                for child in at.children() {
                    crate::stack::room(|| self.expression(child, names, around, place));
                }
            }
        }
    }

    /// Tells of variables without a value, each once.
    pub(super) fn told_unbound(&mut self) {
        let mut told = BTreeSet::new();
        for Unbound { name, span, place } in std::mem::take(&mut self.unbound) {
            if !told.insert(name) {
                continue;
            }
            let near = lode_syntax::nearest(name, self.bound.iter().copied().filter(|other| *other != name));
            let help = near.map(|near| format!("did you mean ?{near}?")).unwrap_or_default();
            let (message, help) = match place {
                _ if !self.bound.contains(name) => match place {
                    Place::Selected => (format!("?{name} is selected, and nothing gives it a value"), help),
                    Place::Made => {
                        (format!("nothing gives ?{name} a value, so nothing is made with it"), help)
                    }
                    Place::Deleted => {
                        (format!("nothing gives ?{name} a value, so nothing is deleted with it"), help)
                    }
                    _ => (format!("nothing gives ?{name} a value"), help),
                },
                Place::Bind => (
                    format!("?{name} has no value here: BIND sees what its own group has before it"),
                    "put BIND behind what gives the value".to_owned(),
                ),
                Place::Filter => (
                    format!("?{name} has no value here: FILTER sees what its own group gives values"),
                    "put the FILTER into the group that does".to_owned(),
                ),
                _ => (
                    format!(
                        "?{name} has no value here: only MINUS, EXISTS or an inner query that does not select it has one"
                    ),
                    String::new(),
                ),
            };
            self.found.hint(HintKind::UnboundVariable, span, message, help);
        }
    }

    /// Tells of variables of triples that are used once among these tokens, and nearly spelt as another one that is used more.
    pub(super) fn misspelt(&mut self, tree: &'t Tree<'t>, tokens: Range<usize>) {
        let mut uses: BTreeMap<&str, (usize, Range<usize>)> = BTreeMap::new();
        let tokens = tree.tokens().get(tokens).unwrap_or_default();
        for token in tokens.iter().filter(|token| token.kind() == TokenKind::Variable) {
            let name = tree.text().get(token.start() + 1..token.end()).unwrap_or("");
            uses.entry(name).or_insert_with(|| (0, token.span())).0 += 1;
        }
        let once = uses.iter().filter(|(name, (count, _))| *count == 1 && self.in_triples.contains(*name));
        let told: BTreeSet<String> = self
            .found
            .hints
            .iter()
            .filter_map(|hint| hint.help.strip_prefix("did you mean ?"))
            .map(str::to_owned)
            .collect();
        let mut found = Vec::new();
        for (name, (_, span)) in once.take(FOUND_MAX) {
            let others = uses.iter().filter(|(other, (count, _))| *count > 1 && is_misspelt(name, other));
            // That of a variable without a value is told of there.
            if let Some((other, _)) = others.min_by_key(|(other, _)| other.len())
                && !told.contains(&format!("{name}?"))
            {
                found.push((
                    span.clone(),
                    format!("?{name} stands here only"),
                    format!("did you mean ?{other}?"),
                ));
            }
        }
        for (span, message, help) in found {
            self.found.hint(HintKind::MisspeltVariable, span, message, help);
        }
    }
}

/// Whether a name is another one with letters exchanged, one more, one less, or one that differs: not at its ends, and no digit, which is how names
/// are told from each other.
fn is_misspelt(name: &str, other: &str) -> bool {
    if name.eq_ignore_ascii_case(other) {
        return name != other;
    }
    let (a, b): (Vec<char>, Vec<char>) = (name.chars().collect(), other.chars().collect());
    let is_long = a.len().min(b.len()) >= 4 && a.len().max(b.len()) <= 32;
    if !is_long
        || a.first() != b.first()
        || a.last() != b.last()
        || name.contains(|c: char| c.is_ascii_digit() || c == '_')
    {
        return false;
    }
    let start = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let end = a[start..].iter().rev().zip(b[start..].iter().rev()).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[start..a.len() - end], &b[start..b.len() - end]);
    match (a, b) {
        ([x, y], [z, w]) => x == w && y == z,
        // A capital begins another word.
        ([x], []) | ([], [x]) => x.is_lowercase(),
        ([x], [y]) => x.is_lowercase() && y.is_lowercase() && name.len() >= 6,
        _ => false,
    }
}

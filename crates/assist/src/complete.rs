//! What may stand at a place.

use crate::answer::{Completion, Item, ItemKind};
use crate::ask::Data;
use crate::candidates::{Candidate, Wanted};
use crate::context::Patterns;
use crate::items;
use crate::labels::Labels;
use crate::names::Names;
use crate::place::{Fragment, Typed, typed};
use crate::position::{byte_at, position_of};
use crate::repair::found;
use crate::role::Role;
use crate::schema::{Schema, TYPE};
use lode_engine::store::StoreError;
use lode_rdf::Term;
use lode_syntax::{Form, Token};

/// Longer texts are not looked at.
pub(crate) const TEXT_BYTES_MAX: usize = 1 << 20;

/// What may stand at a place of a text; `data` where there is some.
pub(crate) fn complete(
    text: &str,
    position: usize,
    limit: usize,
    data: Option<(&Data<'_>, &Schema)>,
) -> Result<Completion, StoreError> {
    let at = byte_at(text, position);
    let position = position_of(text, at);
    let nothing = Completion { from: position, to: position, ..Completion::default() };
    if text.len() > TEXT_BYTES_MAX {
        return Ok(Completion { incomplete: true, ..nothing });
    }
    let parsed = lode_syntax::parse(text, Form::Query, lode_sparql::parse::vocabulary());
    let tokens = parsed.tree.tokens();
    let Some(typed) = typed(text, tokens, at) else { return Ok(nothing) };
    let names = Names::of(text, tokens).over(data.map(|(data, _)| data.prefixes()).unwrap_or_default());
    let found = found(text, tokens, &typed, &names);
    let (role, patterns) = found.map_or((Role::Keyword, None), |found| (found.role, found.patterns));
    let mut call =
        Call { text, tokens, typed: &typed, names: &names, limit, data, items: Vec::new(), is_part: false };
    call.fill(&role, patterns.as_ref())?;
    let (from, to) = (position_of(text, typed.from), position_of(text, typed.to));
    let incomplete = call.is_part || call.items.len() > limit;
    call.items.truncate(limit);
    Ok(Completion { from, to, items: call.items, incomplete })
}

/// A call on its way.
struct Call<'a> {
    text: &'a str,
    tokens: &'a [Token],
    typed: &'a Typed,
    names: &'a Names,
    limit: usize,
    data: Option<(&'a Data<'a>, &'a Schema)>,
    items: Vec<Item>,
    is_part: bool,
}

impl Call<'_> {
    fn fill(&mut self, role: &Role, patterns: Option<&Patterns>) -> Result<(), StoreError> {
        let none = Schema::default();
        let schema = self.data.map_or(&none, |(_, schema)| schema);
        let fragment = &self.typed.fragment;
        match role {
            Role::PrefixName => self.items = items::declarations(fragment, self.names, schema),
            Role::PrefixIri(name) => self.items = items::declared_iri(name, fragment, self.names),
            Role::Datatype => self.items = items::datatypes(fragment, self.names),
            Role::Keyword => self.keywords(),
            Role::Variable => {
                self.variables(None);
                self.keywords();
                // A call without parentheses around it.
                if matches!(fragment, Fragment::Word(_)) {
                    self.items.extend(items::functions(fragment, true));
                }
            }
            Role::Expression { aggregates } => {
                self.variables(None);
                self.items.extend(items::functions(fragment, *aggregates));
                self.keywords();
                if !matches!(fragment, Fragment::Nothing | Fragment::Word(_)) {
                    self.terms(role, None, 0)?;
                }
                self.items.extend(items::prefixes(fragment, self.names, schema));
            }
            Role::Subject => {
                self.variables(patterns);
                self.keywords();
                self.terms(role, patterns, 0)?;
                self.items.extend(items::prefixes(fragment, self.names, schema));
            }
            Role::Predicate { .. }
            | Role::Class
            | Role::Object(_)
            | Role::Graph { .. }
            | Role::Value
            | Role::Resource => {
                let takes_variables = !matches!(
                    role,
                    Role::Predicate { in_path: true } | Role::Value | Role::Graph { or_variable: false }
                );
                self.terms(role, patterns, if takes_variables { self.limit / 4 } else { 0 })?;
                if takes_variables {
                    self.variables(patterns);
                }
                self.items.extend(items::prefixes(fragment, self.names, schema));
            }
        }
        Ok(())
    }

    fn keywords(&mut self) {
        self.items.extend(items::keywords(self.text, self.tokens, self.typed));
    }

    /// Variables; of a place among patterns those with which they are known to have answers. Who has begun one gets those that may have, too.
    fn variables(&mut self, patterns: Option<&Patterns>) {
        let mut variables = items::variables(self.text, self.tokens, self.typed);
        if let (Some(patterns), Some((data, _))) = (patterns, self.data) {
            let is_begun = matches!(self.typed.fragment, Fragment::Variable(_));
            variables.retain(|item| {
                let mut answers = patterns.asks(&item.insert).into_iter().map(|ask| data.ask(&ask));
                answers.all(|answer| answer.unwrap_or(is_begun))
            });
        }
        self.items.extend(variables);
    }

    /// Terms, with room for `others`.
    fn terms(&mut self, role: &Role, patterns: Option<&Patterns>, others: usize) -> Result<(), StoreError> {
        let Some((data, schema)) = self.data else { return Ok(()) };
        let limit = self.limit.saturating_sub(others);
        let wanted = Wanted { role, patterns, fragment: &self.typed.fragment, names: self.names, limit };
        let candidates = wanted.candidates(data, schema)?;
        self.is_part |= candidates.is_part;
        let labels = Labels::new(&data.snapshot)?;
        for candidate in candidates.best.into_iter().take(limit) {
            let item = self.item(role, candidate, data, &labels)?;
            self.items.push(item);
        }
        Ok(())
    }

    fn item(
        &self,
        role: &Role,
        candidate: Candidate,
        data: &Data<'_>,
        labels: &Labels<'_>,
    ) -> Result<Item, StoreError> {
        let kind = match role {
            Role::Predicate { .. } => ItemKind::Predicate,
            Role::Class => ItemKind::Class,
            Role::Graph { .. } => ItemKind::Graph,
            _ => ItemKind::Term,
        };
        let (count, unproven) = (candidate.count.filter(|count| *count > 0), candidate.is_unproven);
        let Term::NamedNode(node) = &candidate.term else {
            return Ok(Item { count, unproven, ..Item::new(candidate.term.to_string(), kind) });
        };
        let iri = node.as_str();
        let label = match candidate.label {
            Some(label) => Some(label),
            None => labels.of(iri, &data.clock)?,
        };
        // `a` says it, unless a name was begun.
        let is_type = iri == TYPE
            && kind == ItemKind::Predicate
            && matches!(self.typed.fragment, Fragment::Nothing | Fragment::Word(_));
        if is_type {
            let detail = Some(label.unwrap_or_else(|| "rdf:type".to_owned()));
            let iri = Some(iri.to_owned());
            return Ok(Item { detail, iri, count, unproven, ..Item::new("a", kind) });
        }
        let written = match &self.typed.fragment {
            Fragment::Iri(_) => crate::names::Written { text: format!("<{iri}>"), prefix: None },
            _ => self.names.write(iri),
        };
        Ok(Item {
            detail: label,
            iri: Some(iri.to_owned()),
            count,
            unproven,
            prefix: written.prefix,
            ..Item::new(written.text, kind)
        })
    }
}

//! Items that need no candidates: variables, keywords, functions, prefixes.

use crate::answer::{Item, ItemKind, Prefix};
use crate::keywords;
use crate::names::Names;
use crate::place::{Fragment, Typed};
use crate::schema::Schema;
use crate::words;
use lode_syntax::{Token, TokenKind};
use std::collections::BTreeSet;

/// Datatypes that literals usually have.
const DATATYPES: [&str; 12] = [
    "string", "integer", "decimal", "double", "boolean", "dateTime", "date", "time", "float", "gYear",
    "duration", "anyURI",
];
/// Variables that are offered.
const VARIABLES_MAX: usize = 100;
const XSD: &str = "http://www.w3.org/2001/XMLSchema#";

/// Whether a text begins as was typed, in any case of letters.
fn begins(text: &str, typed: &str) -> bool {
    text.get(..typed.len()).is_some_and(|start| start.eq_ignore_ascii_case(typed))
}

/// The word that was typed; none where something else was.
fn word(fragment: &Fragment) -> Option<&str> {
    match fragment {
        Fragment::Nothing => Some(""),
        Fragment::Word(word) => Some(word),
        _ => None,
    }
}

/// The variables of a text that begin as was typed.
pub(crate) fn variables(text: &str, tokens: &[Token], typed: &Typed) -> Vec<Item> {
    let start = match &typed.fragment {
        Fragment::Nothing => "",
        Fragment::Variable(start) => start.as_str(),
        _ => return Vec::new(),
    };
    let (mut names, mut seen) = (Vec::new(), BTreeSet::new());
    for token in tokens.iter().filter(|token| token.kind() == TokenKind::Variable) {
        let name = text.get(token.span()).and_then(|written| written.get(1..)).unwrap_or("");
        let is_typed = token.start() == typed.from && typed.fragment != Fragment::Nothing;
        if !is_typed && name.starts_with(start) && names.len() < VARIABLES_MAX && seen.insert(name) {
            names.push(name);
        }
    }
    names.into_iter().map(|name| Item::new(format!("?{name}"), ItemKind::Variable)).collect()
}

/// The keywords that may come next.
pub(crate) fn keywords(text: &str, tokens: &[Token], typed: &Typed) -> Vec<Item> {
    let Some(start) = word(&typed.fragment) else { return Vec::new() };
    let before = tokens.partition_point(|token| token.end() <= typed.from && token.kind() != TokenKind::End);
    let words = keywords::at(text, tokens.get(..before).unwrap_or(&[]));
    let words = words.iter().filter(|word| begins(word, start));
    let item = |word: &&str| {
        let first = word.split(' ').next().unwrap_or(word);
        let detail = words::keyword(first).map(|(_, detail)| detail.to_owned());
        Item { detail, ..Item::new(*word, ItemKind::Keyword) }
    };
    words.map(item).collect()
}

/// Functions, and aggregates where they may be.
pub(crate) fn functions(fragment: &Fragment, aggregates: bool) -> Vec<Item> {
    let Some(start) = word(fragment) else { return Vec::new() };
    let vocabulary = lode_sparql::parse::vocabulary();
    let aggregates = vocabulary.aggregates.iter().copied().filter(|_| aggregates);
    let names = aggregates.chain(vocabulary.functions.iter().map(|function| function.name));
    let item = |name: &str| {
        let detail = words::function(name);
        Item {
            label: name.to_owned(),
            detail: detail.map(|(name, arguments, detail)| format!("{name}{arguments}: {detail}")),
            ..Item::new(format!("{name}("), ItemKind::Function)
        }
    };
    names.filter(|name| begins(name, start)).map(item).collect()
}

/// Datatypes.
pub(crate) fn datatypes(fragment: &Fragment, names: &Names) -> Vec<Item> {
    let items = DATATYPES.iter().map(|name| {
        let iri = format!("{XSD}{name}");
        let written = names.write(&iri);
        Item { iri: Some(iri), prefix: written.prefix, ..Item::new(written.text, ItemKind::Term) }
    });
    let start = match fragment {
        Fragment::Nothing => String::new(),
        Fragment::Word(word) => word.clone(),
        Fragment::Name(prefix, local) => format!("{prefix}:{local}"),
        _ => return Vec::new(),
    };
    items.filter(|item| begins(&item.insert, &start)).collect()
}

/// Prefixes that a name may begin with.
pub(crate) fn prefixes(fragment: &Fragment, names: &Names, schema: &Schema) -> Vec<Item> {
    let Fragment::Word(start) = fragment else { return Vec::new() };
    let item = |name: &str, iri: &str, prefix: Option<Prefix>| Item {
        detail: Some(iri.to_owned()),
        prefix,
        ..Item::new(format!("{name}:"), ItemKind::Prefix)
    };
    let declared = names.declared().map(|(name, iri)| item(name, iri, None));
    let is_free = |name: &str| !names.is_declared(name) && names.kept().all(|(kept, _)| kept != name);
    let used: Vec<(&str, &str)> = schema.prefixes.iter().copied().filter(|(name, _)| is_free(name)).collect();
    let known = names
        .kept()
        .chain(used)
        .map(|(name, iri)| item(name, iri, Some(Prefix { name: name.to_owned(), iri: iri.to_owned() })));
    declared.chain(known).filter(|item| begins(&item.insert, start)).collect()
}

/// Declarations of prefixes: those that are kept with the data first, then those that it uses.
pub(crate) fn declarations(fragment: &Fragment, names: &Names, schema: &Schema) -> Vec<Item> {
    let start = match fragment {
        Fragment::Nothing => "",
        Fragment::Word(word) => word.as_str(),
        Fragment::Name(prefix, _) => prefix.as_str(),
        _ => return Vec::new(),
    };
    let is_used = |name: &str| schema.prefixes.iter().any(|(used, _)| *used == name);
    let rest = lode_syntax::usual_prefixes().filter(|(name, _)| !is_used(name));
    let is_kept = |name: &str| names.kept().any(|(kept, _)| kept == name);
    let usual = schema.prefixes.iter().copied().chain(rest).filter(|(name, _)| !is_kept(name));
    let usual: Vec<(&str, &str)> = usual.collect();
    let all = names.kept().chain(usual);
    let fitting = all.filter(|(name, _)| !names.is_declared(name) && begins(name, start));
    let item = |(name, iri): (&str, &str)| Item {
        label: format!("{name}:"),
        detail: Some(iri.to_owned()),
        ..Item::new(format!("{name}: <{iri}>"), ItemKind::Prefix)
    };
    fitting.map(item).collect()
}

/// What a prefix stands for by the data, or usually.
pub(crate) fn declared_iri(prefix: &str, fragment: &Fragment, names: &Names) -> Vec<Item> {
    let start = match fragment {
        Fragment::Nothing => "",
        Fragment::Iri(start) => start.as_str(),
        _ => return Vec::new(),
    };
    let iri = names.known_iri_of(prefix).filter(|iri| iri.starts_with(start));
    iri.map(|iri| Item { iri: Some(iri.to_owned()), ..Item::new(format!("<{iri}>"), ItemKind::Prefix) })
        .into_iter()
        .collect()
}

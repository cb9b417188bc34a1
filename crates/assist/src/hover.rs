//! What is known of what stands at a place.

use crate::answer::{Counts, Hover, Named};
use crate::ask::Data;
use crate::complete::TEXT_BYTES_MAX;
use crate::labels::Labels;
use crate::names::Names;
use crate::position::{byte_at, position_of};
use crate::schema::TYPE;
use crate::words;
use lode_engine::Order;
use lode_engine::store::StoreError;
use lode_rdf::{NamedNode, Term, ValueId};
use lode_syntax::{Form, TokenKind};
use std::fmt::Write as _;

/// Classes that are told of a term.
const TYPES_MAX: usize = 10;

/// What is known of what stands at a place; none where that is nothing.
pub(crate) fn hover(
    text: &str,
    position: usize,
    data: Option<&Data<'_>>,
) -> Result<Option<Hover>, StoreError> {
    if text.len() > TEXT_BYTES_MAX {
        return Ok(None);
    }
    let at = byte_at(text, position);
    let parsed = lode_syntax::parse(text, Form::Query, lode_sparql::parse::vocabulary());
    let tokens = parsed.tree.tokens();
    let token = tokens.iter().find(|token| token.start() <= at && at < token.end()).or_else(|| {
        // The place may be just behind a word.
        tokens.iter().find(|token| token.end() == at && token.start() < at)
    });
    let Some(token) = token else { return Ok(None) };
    let written = text.get(token.span()).unwrap_or("");
    let place = Hover {
        from: position_of(text, token.start()),
        to: position_of(text, token.end()),
        ..Hover::default()
    };
    if token.kind() == TokenKind::Word {
        return Ok(of_word(written).map(|text| Hover { text, ..place }));
    }
    let names = Names::of(text, tokens).over(data.map(Data::prefixes).unwrap_or_default());
    match names.expanded(token.kind(), written) {
        Some(iri) => of_iri(iri, place, data).map(Some),
        None => Ok(None),
    }
}

fn of_word(word: &str) -> Option<String> {
    let function =
        words::function(word).map(|(name, arguments, what)| format!("`{name}{arguments}`\n\n{what}"));
    function.or_else(|| {
        let is_type = word == "a";
        let (name, what) = words::keyword(word).filter(|_| is_type || !word.eq_ignore_ascii_case("a"))?;
        Some(if is_type { what.to_owned() } else { format!("`{name}`\n\n{what}") })
    })
}

fn of_iri(iri: String, place: Hover, data: Option<&Data<'_>>) -> Result<Hover, StoreError> {
    let mut hover = place;
    if let Some(data) = data {
        let term = Term::from(NamedNode::new_unchecked(iri.as_str()));
        let labels = Labels::new(&data.snapshot)?;
        let id = data.snapshot.id_of(&term)?;
        hover.counts = Some(match id {
            Some(id) => counts(data, id)?,
            None => Counts::default(),
        });
        hover.label = labels.of(&iri, &data.clock)?;
        hover.comment = labels.comment(&iri, &data.clock)?;
        if let Some(id) = id {
            hover.types = types(data, &labels, id)?;
        }
    }
    hover.text = markdown(&iri, &hover);
    hover.iri = Some(iri);
    Ok(hover)
}

fn counts(data: &Data<'_>, id: ValueId) -> Result<Counts, StoreError> {
    let count = |order| data.snapshot.count(order, &[id]);
    Ok(Counts {
        subject: count(Order::Spog)?,
        predicate: count(Order::Psog)?,
        object: count(Order::Ospg)?,
        graph: count(Order::Gspo)?,
    })
}

fn types(data: &Data<'_>, labels: &Labels<'_>, id: ValueId) -> Result<Vec<Named>, StoreError> {
    let Some(type_of) = data.snapshot.id_of(&Term::from(NamedNode::new_unchecked(TYPE)))? else {
        return Ok(Vec::new());
    };
    let mut scan = data.snapshot.scan(Order::Spog, &[id, type_of], 0b0100)?;
    let mut columns: [Vec<ValueId>; 4] = Default::default();
    scan.next(TYPES_MAX, &mut columns)?;
    let [_, _, mut classes, _] = columns;
    classes.dedup();
    let mut iris = Vec::new();
    data.snapshot.terms::<StoreError>(&classes, &mut |_, term| {
        if let Term::NamedNode(node) = term {
            iris.push(node.into_string());
        }
        Ok(())
    })?;
    let named = iris.into_iter().map(|iri| Ok(Named { label: labels.of(&iri, &data.clock)?, iri }));
    named.collect()
}

/// All that is known, as Markdown. What comes from the data is shown as it is, never as mark-up.
fn markdown(iri: &str, hover: &Hover) -> String {
    let mut text = String::new();
    if let Some(label) = &hover.label {
        let _ = write!(text, "**{}**\n\n", escaped(label));
    }
    let _ = write!(text, "`{}`", iri.replace('`', "%60"));
    if let Some(comment) = &hover.comment {
        let _ = write!(text, "\n\n{}", escaped(comment));
    }
    if !hover.types.is_empty() {
        let names = hover.types.iter().map(|class| escaped(class.label.as_deref().unwrap_or(&class.iri)));
        let _ = write!(text, "\n\nClass: {}", names.collect::<Vec<_>>().join(", "));
    }
    if let Some(Counts { subject, predicate, object, graph }) = hover.counts {
        let places = [("subject", subject), ("predicate", predicate), ("object", object), ("graph", graph)];
        let used = places.into_iter().filter(|(_, count)| *count > 0);
        let used: Vec<String> = used.map(|(place, count)| format!("{place} of {count}")).collect();
        let used = if used.is_empty() { "in no quad".to_owned() } else { used.join(", ") + " quads" };
        let _ = write!(text, "\n\n{used}");
    }
    text
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if "\\`*_{}[]()<>#+-!|".contains(c) {
            escaped.push('\\');
        }
        escaped.push(if c.is_control() { ' ' } else { c });
    }
    escaped
}

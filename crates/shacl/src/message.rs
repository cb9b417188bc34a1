//! What a result says to people: the messages of shapes and constraints, and what violates by itself.

use crate::model::{Constraint, Rule, Shape};
use crate::read::Shapes;
use lode_rdf::{Literal, Term};
use std::collections::BTreeMap;

/// Members of lists in a message.
const MEMBERS_MAX: usize = 10;

/// Whether a message has a variable in it, as `{?name}` or `{$name}`.
pub fn mentions(message: &str, name: &str) -> bool {
    message.contains(&format!("{{?{name}}}")) || message.contains(&format!("{{${name}}}"))
}

/// The messages of a result. `row` has the values of its query by variable.
pub fn of(
    shapes: &Shapes,
    shape: &Shape,
    constraint: &Constraint,
    row: &BTreeMap<&str, &Term>,
) -> Vec<Literal> {
    if let Rule::Sparql(rule) = &constraint.rule {
        if let Some(Term::Literal(own)) = row.get("message") {
            return vec![own.clone()];
        }
        let parameters = rule.parameters.iter().map(|(name, term)| (name.as_str(), term));
        let values: BTreeMap<&str, &Term> =
            parameters.chain(row.iter().map(|(name, term)| (*name, *term))).collect();
        let messages = if shape.messages.is_empty() || rule.is_constraint && !rule.messages.is_empty() {
            &rule.messages
        } else {
            &shape.messages
        };
        if !messages.is_empty() {
            return messages.iter().map(|message| filled(message, &values)).collect();
        }
    }
    if shape.messages.is_empty() {
        vec![Literal::new_simple_literal(by_itself(shapes, constraint))]
    } else {
        shape.messages.clone()
    }
}

/// A message with values in the place of variables.
fn filled(message: &Literal, values: &BTreeMap<&str, &Term>) -> Literal {
    let mut text = message.value().to_owned();
    for (name, term) in values {
        if mentions(&text, name) {
            let shown = shown(term);
            text = text.replace(&format!("{{?{name}}}"), &shown).replace(&format!("{{${name}}}"), &shown);
        }
    }
    match message.language() {
        Some(language) => Literal::new_language_tagged_literal_unchecked(text, language),
        None => Literal::new_simple_literal(text),
    }
}

fn shown(term: &Term) -> String {
    match term {
        Term::Literal(literal) => literal.value().to_owned(),
        other => other.to_string(),
    }
}

fn list<T: ToString>(members: &[T]) -> String {
    let mut texts: Vec<String> = members.iter().take(MEMBERS_MAX).map(ToString::to_string).collect();
    if members.len() > MEMBERS_MAX {
        texts.push(format!("and {} more", members.len() - MEMBERS_MAX));
    }
    texts.join(", ")
}

fn by_itself(shapes: &Shapes, constraint: &Constraint) -> String {
    let name = |id: &crate::model::ShapeId| shapes.get(*id).node.to_string();
    let names = |ids: &[crate::model::ShapeId]| list(&ids.iter().map(name).collect::<Vec<_>>());
    match &constraint.rule {
        Rule::Class(class) => format!("is no instance of {class}"),
        Rule::Datatype(datatype) => format!("is no literal of {datatype}"),
        Rule::NodeKind(kind) => {
            let kinds = [(kind.iris, "IRI"), (kind.blank_nodes, "blank node"), (kind.literals, "literal")];
            let allowed: Vec<&str> = kinds.into_iter().filter(|(is, _)| *is).map(|(_, name)| name).collect();
            format!("is no {}", allowed.join(" or "))
        }
        Rule::MinCount(count) => format!("has fewer than {count} {}", values(*count)),
        Rule::MaxCount(count) => format!("has more than {count} {}", values(*count)),
        Rule::Range(comparison, limit) => format!("is not {} {limit}", comparison.sign()),
        Rule::MinLength(length) => format!("is shorter than {length} characters"),
        Rule::MaxLength(length) => format!("is longer than {length} characters"),
        Rule::Pattern { pattern, .. } => format!("does not match {pattern}"),
        Rule::LanguageIn(languages) => format!("has none of the languages {}", list(languages)),
        Rule::UniqueLang => "has two values of one language".into(),
        Rule::Equals(other) => format!("is a value of only one of the path and {other}"),
        Rule::Disjoint(other) => format!("is a value of {other}, too"),
        Rule::LessThan(comparison, other) => format!("is not {} a value of {other}", comparison.sign()),
        Rule::Not(shape) => format!("conforms to {}", name(shape)),
        Rule::And(shapes) => format!("does not conform to all of {}", names(shapes)),
        Rule::Or(shapes) => format!("conforms to none of {}", names(shapes)),
        Rule::Xone(shapes) => format!("does not conform to exactly one of {}", names(shapes)),
        Rule::Node(shape) | Rule::Property(shape) => format!("does not conform to {}", name(shape)),
        Rule::Qualified { shape, count, is_least, .. } => {
            let which = if *is_least { "fewer" } else { "more" };
            format!("has {which} than {count} {} that conform to {}", values(*count), name(shape))
        }
        Rule::Closed(_) => "has a property that the closed shape does not have".into(),
        Rule::HasValue(term) => format!("does not have the value {term}"),
        Rule::In(terms) => format!("is none of {}", list(terms)),
        Rule::Sparql(_) => format!("violates {}", constraint.component),
    }
}

fn values(count: u64) -> &'static str {
    if count == 1 { "value" } else { "values" }
}

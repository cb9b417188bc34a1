//! Which shapes say of a node only what its own triples tell: where none of these has changed, a node that conformed still does.
//!
//! A node's own triples have it as their subject or object; those with `rdf:type` are among them, but not what is said of its classes, or of its values.

use crate::model::{Rule, Shape, ShapeId};
use crate::path::Path;
use crate::read::Shapes;

/// Whether a shape is one of these.
pub fn is_local(shapes: &Shapes, shape: &Shape) -> bool {
    let is_own_path = match &shape.path {
        None => true,
        Some(Path::Predicate(_)) => true,
        Some(Path::Inverse(inner)) => matches!(**inner, Path::Predicate(_)),
        Some(_) => false,
    };
    let has_path = shape.path.is_some();
    is_own_path
        && shape.constraints.iter().all(|constraint| is_local_rule(shapes, &constraint.rule, has_path))
}

fn is_local_rule(shapes: &Shapes, rule: &Rule, has_path: bool) -> bool {
    // What is said of values by other shapes must be told by the values themselves.
    let fits = |id: &ShapeId| {
        let inner = shapes.get(*id);
        if has_path { is_of_terms(shapes, inner) } else { is_local(shapes, inner) }
    };
    match rule {
        Rule::MinCount(_)
        | Rule::MaxCount(_)
        | Rule::UniqueLang
        | Rule::Equals(_)
        | Rule::Disjoint(_)
        | Rule::LessThan(..)
        | Rule::HasValue(_) => true,
        Rule::Class(_) | Rule::Closed(_) => !has_path,
        Rule::Property(inner) => !has_path && is_local(shapes, shapes.get(*inner)),
        Rule::Not(inner) | Rule::Node(inner) => fits(inner),
        Rule::And(all) | Rule::Or(all) | Rule::Xone(all) => all.iter().all(fits),
        Rule::Qualified { shape, others, .. } => fits(shape) && others.iter().all(fits),
        Rule::Sparql(_) => false,
        _ => is_rule_of_terms(shapes, rule),
    }
}

/// Whether a shape is about nothing but the terms themselves.
fn is_of_terms(shapes: &Shapes, shape: &Shape) -> bool {
    shape.path.is_none()
        && shape.constraints.iter().all(|constraint| is_rule_of_terms(shapes, &constraint.rule))
}

fn is_rule_of_terms(shapes: &Shapes, rule: &Rule) -> bool {
    let fits = |id: &ShapeId| is_of_terms(shapes, shapes.get(*id));
    match rule {
        Rule::Datatype(_)
        | Rule::NodeKind(_)
        | Rule::Range(..)
        | Rule::MinLength(_)
        | Rule::MaxLength(_)
        | Rule::Pattern { .. }
        | Rule::LanguageIn(_)
        | Rule::In(_) => true,
        Rule::Not(inner) | Rule::Node(inner) => fits(inner),
        Rule::And(all) | Rule::Or(all) | Rule::Xone(all) => all.iter().all(fits),
        _ => false,
    }
}

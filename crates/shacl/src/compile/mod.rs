//! Shapes as queries: one for each constraint and way to it, which finds all that violates it, for all focus nodes at once.
//!
//! What other shapes say of values (sh:node, sh:not, sh:or, ...) becomes an expression with EXISTS, which the engine answers for many rows together.

mod classes;
mod conforms;
mod datatypes;
mod finds;
mod focus;
mod local;
mod looked;
mod names;
mod queries;

pub use classes::Classes;
use focus::Focus;
use names::Names;

use crate::error::ShaclError;
use crate::model::{Rule, Shape, ShapeId};
use crate::read::Shapes;
use lode_rdf::NamedNode;
use lode_sparql::syntax::BYTES_MAX as TEXT_BYTES_MAX;

/// More bytes of queries than this are refused: shapes that refer to shapes may become very many.
const BYTES_MAX: usize = 16 << 20;
/// And more queries.
const CHECKS_MAX: usize = 20_000;

/// A query for what violates a constraint: each of its rows is a result.
#[derive(Debug)]
pub struct Check {
    /// Whose constraint it is.
    pub shape: ShapeId,
    /// Which of its constraints.
    pub rule: usize,
    /// A SELECT of `?this`, and maybe `?value`, `?path`, `?message` and others that messages are made of.
    pub query: String,
}

/// What queries are made from.
#[derive(Clone, Copy)]
pub struct Sources<'s> {
    /// The shapes.
    pub shapes: &'s Shapes,
    /// The classes below those that shapes name.
    pub classes: &'s Classes,
    /// The graph of the database that has the shapes, if one has.
    pub shapes_graph: Option<&'s NamedNode>,
    /// Nodes beyond which nothing has changed since all conformed: of shapes to which others do not matter, only these are looked at.
    pub within: Option<&'s [String]>,
}

/// The queries for all shapes with targets.
pub fn checks(sources: Sources<'_>) -> Result<Vec<Check>, ShaclError> {
    const { assert!(BYTES_MAX < TEXT_BYTES_MAX) };
    let mut compiler = Compiler { sources, names: Names::default(), bytes: 0, checks: Vec::new() };
    for root in &sources.shapes.roots {
        let shape = sources.shapes.get(*root);
        if let Some(mut focus) = compiler.of_targets(&shape.targets) {
            if let Some(nodes) = sources.within.filter(|_| local::is_local(sources.shapes, shape)) {
                let values = format!("VALUES {} {{ {} }} ", focus.variable(), nodes.join(" "));
                focus.pattern.insert_str(0, &values);
            }
            compiler.shape(*root, &focus)?;
        }
    }
    Ok(compiler.checks)
}

struct Compiler<'s> {
    sources: Sources<'s>,
    names: Names,
    /// Of all queries, and of all parts of them.
    bytes: usize,
    checks: Vec<Check>,
}

impl<'s> Compiler<'s> {
    fn get(&self, id: ShapeId) -> &'s Shape {
        self.sources.shapes.get(id)
    }

    /// The queries for what a shape says of focus nodes.
    fn shape(&mut self, id: ShapeId, focus: &Focus) -> Result<(), ShaclError> {
        let shape = self.get(id);
        if shape.is_deactivated {
            return Ok(());
        }
        for (rule, constraint) in shape.constraints.iter().enumerate() {
            if let Rule::Property(inner) = &constraint.rule {
                let values = match &shape.path {
                    None => focus.clone(),
                    Some(path) => self.values(focus, path).into_focus(),
                };
                self.shape(*inner, &values)?;
                continue;
            }
            for query in self.finds(shape, constraint, focus)? {
                self.count(&query)?;
                self.checks.push(Check { shape: id, rule, query });
            }
            if self.checks.len() > CHECKS_MAX {
                return Err(ShaclError::TooLarge(format!(
                    "the shapes refer to each other in so many ways that they are more than {CHECKS_MAX} queries: \
                     name what is needed often as a shape with a target of its own"
                )));
            }
        }
        Ok(())
    }

    /// Counts a text that was made.
    fn count(&mut self, text: &str) -> Result<(), ShaclError> {
        self.bytes += text.len();
        if self.bytes <= BYTES_MAX {
            return Ok(());
        }
        Err(ShaclError::TooLarge(format!(
            "the shapes become queries of more than {} MiB: shapes refer to shapes in too many ways, or sh:in has too \
             many members (a class and sh:class do better then)",
            BYTES_MAX >> 20
        )))
    }
}

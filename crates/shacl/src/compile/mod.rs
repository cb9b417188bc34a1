//! Shapes as queries: one for each constraint and way to it, which finds all that violates it, for all focus nodes at once.
//!
//! What other shapes say of values (sh:node, sh:not, sh:or, ...) becomes an expression with EXISTS, which the engine answers for many rows together.

mod classes;
mod compiler;
mod conforms;
mod datatypes;
mod finds;
mod focus;
mod local;
mod looked;
mod names;
mod patterns;
mod queries;

pub use classes::Classes;
pub use compiler::{Check, Sources};

use crate::error::ShaclError;
use crate::model::{Rule, ShapeId};
use compiler::Compiler;
use focus::Focus;

/// More queries than this are refused: shapes that refer to shapes may become very many.
const CHECKS_MAX: usize = 20_000;

/// The queries for all shapes with targets.
pub fn checks(sources: Sources<'_>) -> Result<Vec<Check>, ShaclError> {
    let mut compiler = Compiler::new(sources);
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

/// For each shape with targets, a query with a row where there is any focus node.
pub fn any_focus(sources: Sources<'_>) -> Vec<(ShapeId, String)> {
    let mut compiler = Compiler::new(sources);
    let roots = sources.shapes.roots.iter().filter(|root| !sources.shapes.get(**root).is_deactivated);
    let query = |root: &ShapeId| {
        let focus = compiler.of_targets(&sources.shapes.get(*root).targets)?;
        Some((*root, format!("SELECT {} {{ {} }} LIMIT 1", focus.variable(), focus.pattern)))
    };
    roots.filter_map(query).collect()
}

impl Compiler<'_> {
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
}

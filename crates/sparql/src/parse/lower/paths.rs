//! Property paths.

use super::chain::together;
use super::{Lowering, Result, Wrong};
use lode_syntax::{At, Node};
use spargebra::algebra::PropertyPathExpression as Path;

impl<'t> Lowering<'t> {
    pub(super) fn path(&mut self, at: At<'t>) -> Result<Path> {
        match at.node() {
            Node::Parentheses => self.first_path(at),
            Node::Alternative => self.chain(at, Path::Alternative),
            Node::Sequence => self.chain(at, Path::Sequence),
            Node::Inverse => Ok(Path::Reverse(Box::new(self.first_path(at)?))),
            Node::Repeated => {
                let path = Box::new(self.first_path(at)?);
                Ok(match at.token(at.tokens().len().saturating_sub(1)) {
                    "?" => Path::ZeroOrOne(path),
                    "*" => Path::ZeroOrMore(path),
                    _ => Path::OneOrMore(path),
                })
            }
            Node::Negated => self.negated(at),
            _ => Ok(self.iri(at)?.into()),
        }
    }

    fn first_path(&mut self, at: At<'t>) -> Result<Path> {
        let inner = at.first().ok_or_else(|| Wrong::at(at, "a path without a step"))?;
        self.path(inner)
    }

    fn chain(&mut self, at: At<'t>, join: fn(Box<Path>, Box<Path>) -> Path) -> Result<Path> {
        let steps = at.children().map(|step| self.path(step)).collect::<Result<Vec<_>>>()?;
        together(steps, join).ok_or_else(|| Wrong::at(at, "a path without a step"))
    }

    fn negated(&mut self, at: At<'t>) -> Result<Path> {
        let (mut direct, mut inverse) = (Vec::new(), Vec::new());
        for step in at.children() {
            match step.node() {
                Node::Inverse => inverse.extend(step.first().map(|iri| self.iri(iri)).transpose()?),
                _ => direct.push(self.iri(step)?),
            }
        }
        let against = |inverse| Path::Reverse(Box::new(Path::NegatedPropertySet(inverse)));
        Ok(match (direct.is_empty(), inverse.is_empty()) {
            (_, true) => Path::NegatedPropertySet(direct),
            (true, false) => against(inverse),
            (false, false) => {
                Path::Alternative(Box::new(Path::NegatedPropertySet(direct)), Box::new(against(inverse)))
            }
        })
    }
}

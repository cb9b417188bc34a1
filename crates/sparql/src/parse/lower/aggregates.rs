//! Aggregates, which belong to the SELECT, or the other form, whose group they are of.

use super::level::Level;
use super::terms::string_value;
use super::{Lowering, Result, Wrong};
use lode_rdf::Variable;
use lode_syntax::At;
use spargebra::algebra::{AggregateExpression, AggregateFunction};

impl<'t> Lowering<'t> {
    /// Does something where no aggregate may stand.
    pub(super) fn without_aggregates<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.aggregates.push(Level::None);
        let done = work(self);
        self.aggregates.pop();
        done
    }

    /// The variable that stands for an aggregate.
    pub(super) fn aggregate(&mut self, at: At<'t>) -> Result<Variable> {
        // The parser has told of those that people write.
        if !matches!(self.aggregates.last(), Some(Level::Group(_))) {
            return Err(Wrong::at(at, "an aggregate where none may stand"));
        }
        let made = self.without_aggregates(|lowering| lowering.aggregate_of(at))?;
        if let Some(Level::Group(known)) = self.aggregates.last()
            && let Some((variable, _)) = known.iter().find(|(_, aggregate)| *aggregate == made)
        {
            return Ok(variable.clone());
        }
        let variable = self.fresh();
        match self.aggregates.last_mut() {
            Some(Level::Group(known)) => known.push((variable.clone(), made)),
            _ => return Err(Wrong::at(at, "an aggregate where none may stand")),
        }
        Ok(variable)
    }

    fn aggregate_of(&mut self, at: At<'t>) -> Result<AggregateExpression> {
        let distinct = at.has_word(2, "DISTINCT");
        if let Some(name) = at.first().filter(|first| first.tokens().start == at.tokens().start) {
            let argument = at.children().nth(1).ok_or_else(|| Wrong::at(at, "an aggregate of nothing"))?;
            let (name, expr) = (AggregateFunction::Custom(self.iri(name)?), self.expression(argument)?);
            return Ok(AggregateExpression::FunctionCall { name, expr, distinct });
        }
        let Some(argument) = at.first() else { return Ok(AggregateExpression::CountSolutions { distinct }) };
        let expr = self.expression(argument)?;
        let name = at.token(0);
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        let name = match () {
            () if is("COUNT") => AggregateFunction::Count,
            () if is("SUM") => AggregateFunction::Sum,
            () if is("MIN") => AggregateFunction::Min,
            () if is("MAX") => AggregateFunction::Max,
            () if is("AVG") => AggregateFunction::Avg,
            () if is("SAMPLE") => AggregateFunction::Sample,
            () => {
                let behind = argument.tokens().end - at.tokens().start;
                let separator = match at.token(behind) {
                    // `; SEPARATOR = "..."`
                    ";" => string_value(at.token(behind + 3)),
                    _ => None,
                };
                AggregateFunction::GroupConcat { separator }
            }
        };
        Ok(AggregateExpression::FunctionCall { name, expr, distinct })
    }
}

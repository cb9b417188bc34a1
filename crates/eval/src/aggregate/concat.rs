//! GROUP_CONCAT: the texts of literals and IRIs in order of arrival.

use super::grow::grow;
use super::state::{Kernel, State, same};
use crate::context::EvalContext;
use crate::error::ExecError;
use crate::expr::texts::TextLimit;
use crate::expr::{decode, value_id};
use crate::functions::terms;
use crate::values::value::Value;
use lode_rdf::ValueId;
use lode_scheduler::steps::steps;
use lode_sparql::AggregateFunction;
use lode_sparql::function::ValueType;

/// The entry.
pub static GROUP_CONCAT: AggregateFunction =
    AggregateFunction::new("GROUP_CONCAT", ValueType::Term, ValueType::String, &Kernel(Concats::of));

/// A text so far.
#[derive(Debug, Clone)]
enum Text {
    Empty,
    Some(String),
    Error,
}

impl Text {
    fn len(&self) -> usize {
        if let Self::Some(text) = self { text.len() } else { 0 }
    }
}

/// Texts, one per group.
#[derive(Debug)]
struct Concats {
    separator: String,
    texts: Vec<Text>,
    text_bytes: usize,
}

impl Concats {
    fn of(separator: Option<&str>) -> Box<dyn State> {
        let separator = separator.unwrap_or(" ").to_owned();
        Box::new(Self { separator, texts: Vec::new(), text_bytes: 0 })
    }

    fn append(&mut self, group: u32, part: Option<&str>, limit: &TextLimit) {
        let Some(text) = self.texts.get_mut(group as usize) else { return };
        let (before, more) = (text.len(), part.map_or(0, |part| self.separator.len() + part.len()));
        if limit.allow(before + more).is_none() {
            return;
        }
        match (&mut *text, part) {
            (Text::Error, _) => {}
            (_, None) => *text = Text::Error,
            (Text::Empty, Some(part)) => {
                self.text_bytes += part.len();
                *text = Text::Some(part.to_owned());
            }
            (Text::Some(text), Some(part)) => {
                self.text_bytes += self.separator.len() + part.len();
                text.push_str(&self.separator);
                text.push_str(part);
            }
        }
    }
}

impl State for Concats {
    fn resize(&mut self, groups: usize) {
        grow(&mut self.texts, groups, Text::Empty);
    }

    fn update(&mut self, cx: &EvalContext, groups: &[u32], values: &[ValueId]) -> Result<(), ExecError> {
        let (parts, _texts) = match decode::map_terms(cx, values, terms::str) {
            // Where there is no memory for all, half of them first.
            Err(ExecError::OutOfMemory(_)) if values.len() > 1 => {
                let (first, others) = values.split_at(values.len() / 2);
                let (first_groups, other_groups) = groups.split_at(first.len().min(groups.len()));
                self.update(cx, first_groups, first)?;
                return self.update(cx, other_groups, others);
            }
            parts => parts?,
        };
        let limit = TextLimit::new(cx);
        for (group, part) in groups.iter().zip(parts) {
            self.append(*group, part.as_ref().and_then(Value::simple).map(|text| &**text), &limit);
        }
        limit.check("GROUP_CONCAT")
    }

    fn merge(&mut self, cx: &EvalContext, other: Box<dyn State>, groups: &[u32]) -> Result<(), ExecError> {
        let Some(other) = same::<Self>(other) else { return Ok(()) };
        let limit = TextLimit::new(cx);
        for step in steps(groups.len().min(other.texts.len()), &cx.cancel) {
            let step = step?;
            for (group, theirs) in groups[step.clone()].iter().zip(&other.texts[step]) {
                match theirs {
                    Text::Empty => {}
                    Text::Some(text) => self.append(*group, Some(text), &limit),
                    Text::Error => self.append(*group, None, &limit),
                }
            }
        }
        limit.check("GROUP_CONCAT")
    }

    /// The text; empty of nothing.
    fn finish(&self, cx: &EvalContext, group: usize) -> Result<ValueId, ExecError> {
        let text = match self.texts.get(group) {
            None | Some(Text::Empty) => Some(Value::string("")),
            Some(Text::Some(text)) => Some(Value::string(text.as_str())),
            Some(Text::Error) => None,
        };
        value_id(cx, text.as_ref())
    }

    fn bytes(&self) -> usize {
        // Strings grow by doubling.
        self.texts.capacity() * size_of::<Text>() + self.text_bytes * 2
    }
}

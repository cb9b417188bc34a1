//! GROUP_CONCAT: the texts of literals and IRIs in order of arrival.

use super::grow;
use crate::context::QueryContext;
use crate::error::ExecError;
use crate::expr::decode;
use crate::expr::terms;
use crate::expr::value::Value;
use crate::steps::steps;
use lode_base::cancel::{CancelToken, Cancelled};
use lode_rdf::ValueId;

/// A text so far.
#[derive(Debug, Clone)]
enum Text {
    Empty,
    Some(String),
    Error,
}

/// Texts, one per group.
#[derive(Debug)]
pub(super) struct Concats {
    separator: String,
    texts: Vec<Text>,
    text_bytes: usize,
}

impl Concats {
    pub fn new(separator: &str) -> Self {
        Self { separator: separator.to_owned(), texts: Vec::new(), text_bytes: 0 }
    }

    pub fn resize(&mut self, groups: usize) {
        grow(&mut self.texts, groups, Text::Empty);
    }

    pub fn update(&mut self, cx: &QueryContext, groups: &[u32], values: &[ValueId]) -> Result<(), ExecError> {
        let parts = decode::map_terms(cx, values, terms::str)?;
        for (group, part) in groups.iter().zip(parts) {
            self.append(*group, part.as_ref().and_then(Value::simple).map(|text| &**text));
        }
        Ok(())
    }

    fn append(&mut self, group: u32, part: Option<&str>) {
        let Some(text) = self.texts.get_mut(group as usize) else { return };
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

    pub fn merge(&mut self, other: &Self, groups: &[u32], cancel: &CancelToken) -> Result<(), Cancelled> {
        for step in steps(groups.len().min(other.texts.len()), cancel) {
            let step = step?;
            for (group, theirs) in groups[step.clone()].iter().zip(&other.texts[step]) {
                match theirs {
                    Text::Empty => {}
                    Text::Some(text) => self.append(*group, Some(text)),
                    Text::Error => self.append(*group, None),
                }
            }
        }
        Ok(())
    }

    /// The text; empty of nothing.
    pub fn get(&self, group: usize) -> Option<Value> {
        match self.texts.get(group) {
            None | Some(Text::Empty) => Some(Value::string("")),
            Some(Text::Some(text)) => Some(Value::string(text.as_str())),
            Some(Text::Error) => None,
        }
    }

    pub fn bytes(&self) -> usize {
        // Strings grow by doubling.
        self.texts.capacity() * size_of::<Text>() + self.text_bytes * 2
    }
}

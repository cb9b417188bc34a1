//! Reads JSON results without keeping them: each solution is handed on as it comes.

use anyhow::{Context, bail};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::io::Read;
use std::marker::PhantomData;

/// What kind of answer it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Solutions,
    Boolean(bool),
}

/// Reads a document to its end. Fails where it is cut, or is something else.
pub fn read<S>(body: impl Read, each: &mut dyn FnMut(S)) -> anyhow::Result<Kind>
where
    S: for<'de> Deserialize<'de>,
{
    let mut kind = None;
    let mut reader = serde_json::Deserializer::from_reader(body);
    let level = Level { each, kind: &mut kind, solution: PhantomData };
    let outcome = level.deserialize(&mut reader).and_then(|()| reader.end());
    outcome.context("the answer is cut or not JSON results")?;
    let Some(kind) = kind else { bail!("the answer has neither results nor a boolean") };
    Ok(kind)
}

/// The document, its `results`, or their `bindings`.
struct Level<'a, S> {
    each: &'a mut dyn FnMut(S),
    kind: &'a mut Option<Kind>,
    solution: PhantomData<S>,
}

impl<'de, S: Deserialize<'de>> DeserializeSeed<'de> for Level<'_, S> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, S: Deserialize<'de>> Visitor<'de> for Level<'_, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SPARQL results")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<String>()? {
            match name.as_str() {
                "results" | "bindings" => members.next_value_seed(Level {
                    each: &mut *self.each,
                    kind: &mut *self.kind,
                    solution: PhantomData,
                })?,
                "boolean" => *self.kind = Some(Kind::Boolean(members.next_value()?)),
                _ => {
                    members.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut solutions: A) -> Result<(), A::Error> {
        *self.kind = Some(Kind::Solutions);
        while let Some(solution) = solutions.next_element()? {
            (self.each)(solution);
        }
        Ok(())
    }
}

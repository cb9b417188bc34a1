//! From ids to terms and values: inline ids in place, dictionary ids once per distinct id and in sorted batches.

use super::column::{Column, Constant, Operand};
use super::texts::{TextCounter, Texts};
use crate::context::EvalContext;
use crate::error::ExecError;
use crate::hash::spread;
use crate::text_bytes::TextBytes;
use crate::values::value::{LangString, Value};
use hashbrown::HashTable;
use lode_rdf::key::{self, KeyError};
use lode_rdf::value_id::Section;
use lode_rdf::{Kind, TermRef, ValueId};

/// The distinct ids of a column, and for each row which of them it has.
pub struct Distinct {
    pub ids: Vec<ValueId>,
    pub rows: Vec<u32>,
}

/// Finds the distinct ids of a column.
pub fn distinct(column: &[ValueId]) -> Distinct {
    let mut ids: Vec<ValueId> = Vec::new();
    let mut rows = Vec::with_capacity(column.len());
    let mut table: HashTable<u32> = HashTable::with_capacity(column.len().min(1024));
    let mut last = None;
    for &id in column {
        // Sorted columns are common: a run costs one look-up.
        if let Some((last_id, at)) = last
            && last_id == id
        {
            rows.push(at);
            continue;
        }
        let same = |at: &u32| ids.get(*at as usize) == Some(&id);
        let at = match table.find(spread(id), same) {
            Some(at) => *at,
            None => {
                let at = u32::try_from(ids.len()).unwrap_or(u32::MAX);
                ids.push(id);
                table.insert_unique(spread(id), at, |at| ids.get(*at as usize).map_or(0, |id| spread(*id)));
                at
            }
        };
        rows.push(at);
        last = Some((id, at));
    }
    Distinct { ids, rows }
}

/// Whether the id is looked up in the store's dictionary.
fn in_dictionary(id: ValueId) -> Option<Section> {
    id.kind().and_then(Kind::section)
}

/// The values of ids; `None` for unbound. Whoever keeps them accounts for them.
pub(crate) fn values(cx: &EvalContext, ids: &[ValueId]) -> Result<Vec<Option<Value>>, ExecError> {
    Ok(values_and_texts(cx, ids)?.0)
}

/// The values of ids, and the memory of their texts; `None` for unbound.
fn values_and_texts(cx: &EvalContext, ids: &[ValueId]) -> Result<(Vec<Option<Value>>, Texts), ExecError> {
    let mut texts = TextCounter::new(cx);
    let mut out: Vec<Option<Value>> = Vec::with_capacity(ids.len());
    let mut pending = Vec::new();
    let mut pending_rows = Vec::new();
    for (row, &id) in ids.iter().enumerate() {
        if in_dictionary(id).is_some() {
            pending.push(id);
            pending_rows.push(row);
            out.push(None);
        } else {
            let value = direct_value(cx, id)?;
            texts.add(value.as_ref().map_or(0, Value::text_bytes))?;
            out.push(value);
        }
    }
    if pending.is_empty() {
        return Ok((out, texts.finish()));
    }
    let distinct = distinct(&pending);
    let decoded = dictionary_values(cx, &distinct.ids, &mut texts)?;
    for (&row, &at) in pending_rows.iter().zip(&distinct.rows) {
        if let (Some(slot), Some(value)) = (out.get_mut(row), decoded.get(at as usize)) {
            slot.clone_from(value);
        }
    }
    Ok((out, texts.finish()))
}

/// The value of one id; `None` for unbound.
pub(crate) fn value(cx: &EvalContext, id: ValueId) -> Result<Option<Value>, ExecError> {
    Ok(values(cx, &[id])?.pop().flatten())
}

/// The value of an id that is not in the dictionary.
fn direct_value(cx: &EvalContext, id: ValueId) -> Result<Option<Value>, ExecError> {
    if let Some(value) = Value::from_inline(id) {
        return Ok(Some(value));
    }
    match id.kind() {
        Some(Kind::Blank) => Ok(Some(Value::Blank(format!("b{}", id.payload()).into()))),
        Some(Kind::Local) => cx.local.with_term(id, |term| Value::from_term(term.as_ref())),
        Some(Kind::Special) => Ok(None),
        // Bits that no encoder makes: let the store say that they are damaged.
        _ => Ok(Some(Value::from_term(cx.snapshot.term(id)?.as_ref()))),
    }
}

fn dictionary_values(
    cx: &EvalContext,
    ids: &[ValueId],
    texts: &mut TextCounter<'_>,
) -> Result<Vec<Option<Value>>, ExecError> {
    let mut out = vec![None; ids.len()];
    let mut damaged = None;
    cx.snapshot.keys::<ExecError>(ids, &mut |at, bytes| {
        texts.add(bytes.len())?;
        let section = ids.get(at).and_then(|id| in_dictionary(*id));
        match section.map(|section| key_value(section, bytes)) {
            Some(Ok(value)) => {
                if let Some(slot) = out.get_mut(at) {
                    *slot = Some(value);
                }
            }
            _ => damaged = damaged.or(Some(at)),
        }
        Ok(())
    })?;
    if let Some(id) = damaged.and_then(|at| ids.get(at)) {
        // The store's own decoder meets the same bytes and reports where they lie.
        cx.snapshot.term(*id)?;
    }
    Ok(out)
}

/// What the term with this dictionary key means.
pub(crate) fn key_value(section: Section, bytes: &[u8]) -> Result<Value, KeyError> {
    Ok(match section {
        Section::Iri => Value::Iri(text(bytes)?.into()),
        Section::String => Value::String(text(bytes)?.into()),
        Section::LangString => {
            let (lexical, tag) = key::unescape(bytes)?;
            let (language, direction) = key::split_tag(text(tag)?);
            Value::LangString(LangString {
                text: text(&lexical)?.into(),
                language: language.into(),
                direction,
            })
        }
        Section::TypedLiteral => {
            let (datatype, lexical) = key::unescape(bytes)?;
            Value::from_typed(text(lexical)?, text(&datatype)?)
        }
        Section::TripleTerm => Value::from_term(key::decode(section, bytes)?.as_ref()),
    })
}

fn text(bytes: &[u8]) -> Result<&str, KeyError> {
    std::str::from_utf8(bytes).map_err(|_| KeyError::Utf8)
}

/// Calls `f` with the term of every bound id, once per distinct id, and spreads the results over the rows; with the memory of their texts.
pub(crate) fn map_terms<T: Clone + TextBytes>(
    cx: &EvalContext,
    ids: &[ValueId],
    mut f: impl FnMut(TermRef<'_>) -> Option<T>,
) -> Result<(Vec<Option<T>>, Texts), ExecError> {
    let distinct = distinct(ids);
    let mut texts = TextCounter::new(cx);
    let mut results: Vec<Option<T>> = vec![None; distinct.ids.len()];
    let mut stored = Vec::new();
    let mut stored_at = Vec::new();
    for (at, &id) in distinct.ids.iter().enumerate() {
        let result = match id.kind() {
            Some(Kind::Special) => None,
            Some(Kind::Local) => cx.local.with_term(id, |term| f(term.as_ref()))?.flatten(),
            _ => match key::inline_term(id) {
                Some(term) => f(term.as_ref()),
                None => {
                    stored.push(id);
                    stored_at.push(at);
                    None
                }
            },
        };
        texts.add(result.as_ref().map_or(0, T::text_bytes))?;
        if let Some(slot) = results.get_mut(at) {
            *slot = result;
        }
    }
    if !stored.is_empty() {
        cx.snapshot.term_refs::<ExecError>(&stored, &mut |at, term| {
            let result = f(term);
            texts.add(result.as_ref().map_or(0, T::text_bytes))?;
            if let Some(slot) = stored_at.get(at).and_then(|at| results.get_mut(*at)) {
                *slot = result;
            }
            Ok(())
        })?;
    }
    let rows = distinct.rows.iter().map(|at| results.get(*at as usize).cloned().flatten()).collect();
    Ok((rows, texts.finish()))
}

/// The values of a column.
pub(crate) fn operand<'c>(cx: &EvalContext, column: &'c Column<'_>) -> Result<Operand<'c>, ExecError> {
    Ok(match column {
        Column::Ids(ids) => {
            let (values, texts) = values_and_texts(cx, ids)?;
            Operand::Decoded(values, texts)
        }
        Column::Bools(bools) => Operand::Bools(bools),
        Column::Values(values, _) => Operand::Rows(values),
        Column::Constant(Constant::Term(term)) => Operand::One(Some(Value::from_term(term.as_ref()))),
        Column::Constant(Constant::Value(value)) => Operand::One(value.clone()),
    })
}

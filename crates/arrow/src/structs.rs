//! Columns of structs, which hold any terms: kind, value, datatype and language.

use crate::dictionary::{self, Texts, bound, dictionary};
use crate::memory::BatchMemory;
use arrow_array::types::Int8Type;
use arrow_array::{Array, ArrayRef, DictionaryArray, Int8Array, Int32Array, StringArray, StructArray};
use arrow_schema::{DataType, Field, Fields};
use lode_engine::{Columns, EngineError, ExecError};
use lode_rdf::serialize::write_term_ntriples;
use lode_rdf::{BaseDirection, LiteralRef, TermRef, ValueId};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

/// What a term can be.
const KINDS: [&str; 4] = ["iri", "bnode", "literal", "triple"];
/// Bytes of keys of a row, and of what is known of a distinct term.
const ROW_BYTES: usize = 16;
const TERM_BYTES: usize = 32;

static FIELDS: LazyLock<Fields> = LazyLock::new(|| {
    let kind = DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8));
    let text = |name| Field::new(name, dictionary::data_type(), true);
    vec![Field::new("kind", kind, true), text("value"), text("datatype"), text("language")].into()
});
static KIND_TEXTS: LazyLock<Arc<StringArray>> =
    LazyLock::new(|| Arc::new(StringArray::from_iter_values(KINDS)));

/// The type of such a column.
pub fn data_type() -> DataType {
    DataType::Struct(FIELDS.clone())
}

/// What is known of a distinct term: places in dictionaries.
#[derive(Clone, Copy, Default)]
struct Parts {
    kind: Option<i8>,
    value: Option<i32>,
    datatype: Option<i32>,
    language: Option<i32>,
}

/// Texts of which there are few.
#[derive(Default)]
struct Names {
    texts: Texts,
    places: HashMap<String, i32>,
}

impl Names {
    fn place(&mut self, name: &str, memory: &mut BatchMemory) -> Result<i32, ExecError> {
        if let Some(place) = self.places.get(name) {
            return Ok(*place);
        }
        memory.add(name.len() + TERM_BYTES)?;
        let place = self.texts.push(memory, |out| out.extend_from_slice(name.as_bytes()))?;
        self.places.insert(name.to_owned(), place);
        Ok(place)
    }
}

/// The column of such structs.
pub fn column(columns: &Columns, ids: &[ValueId], memory: &mut BatchMemory) -> Result<ArrayRef, EngineError> {
    memory.add(ids.len() * (ROW_BYTES + TERM_BYTES))?;
    let distinct = Columns::distinct(ids);
    let mut parts = vec![Parts::default(); distinct.ids.len()];
    let (mut values, mut datatypes, mut languages) = (Texts::default(), Names::default(), Names::default());
    columns.terms(&distinct.ids, &mut |at, term| {
        let value = values.push(memory, |out| value(term, out))?;
        let mut made = Parts { kind: Some(kind(term)), value: Some(value), ..Parts::default() };
        if let TermRef::Literal(literal) = term {
            made.datatype = Some(datatypes.place(literal.datatype().as_str(), memory)?);
            if let Some(language) = language(literal) {
                made.language = Some(languages.place(&language, memory)?);
            }
        }
        if let Some(slot) = parts.get_mut(at) {
            *slot = made;
        }
        Ok(())
    })?;
    let of_row = |row: &u32| parts.get(*row as usize).copied().unwrap_or_default();
    let rows = || distinct.rows.iter().map(of_row);
    let kinds: Int8Array = rows().map(|parts| parts.kind).collect();
    let column = |keys: Int32Array, texts: Texts| -> Result<ArrayRef, EngineError> {
        let texts = texts.finish().map_err(crate::output::error)?;
        Ok(Arc::new(dictionary(keys, Arc::new(texts))?))
    };
    let kinds = DictionaryArray::<Int8Type>::try_new(kinds, Arc::clone(&KIND_TEXTS) as Arc<dyn Array>);
    let fields: Vec<ArrayRef> = vec![
        Arc::new(kinds.map_err(crate::output::error)?),
        column(rows().map(|parts| parts.value).collect(), values)?,
        column(rows().map(|parts| parts.datatype).collect(), datatypes.texts)?,
        column(rows().map(|parts| parts.language).collect(), languages.texts)?,
    ];
    let made = StructArray::try_new(FIELDS.clone(), fields, bound(ids));
    Ok(Arc::new(made.map_err(crate::output::error)?))
}

/// The place of a term's kind in [`KINDS`].
fn kind(term: TermRef<'_>) -> i8 {
    match term {
        TermRef::NamedNode(_) => 0,
        TermRef::BlankNode(_) => 1,
        TermRef::Literal(_) => 2,
        TermRef::Triple(_) => 3,
    }
}

/// The name of a term's kind.
pub fn kind_name(term: TermRef<'_>) -> &'static str {
    KINDS.get(usize::try_from(kind(term)).unwrap_or_default()).copied().unwrap_or_default()
}

/// IRIs, labels, lexical forms; triple terms as in N-Triples.
pub fn value(term: TermRef<'_>, out: &mut Vec<u8>) {
    match term {
        TermRef::NamedNode(iri) => out.extend_from_slice(iri.as_str().as_bytes()),
        TermRef::BlankNode(node) => out.extend_from_slice(node.as_str().as_bytes()),
        TermRef::Literal(literal) => out.extend_from_slice(literal.value().as_bytes()),
        TermRef::Triple(_) => write_term_ntriples(term, out),
    }
}

/// The same with `_:` before labels, so that they are no IRIs.
pub fn text(term: TermRef<'_>, out: &mut Vec<u8>) {
    if let TermRef::BlankNode(_) = term {
        out.extend_from_slice(b"_:");
    }
    value(term, out);
}

/// The language tag, with the base direction where there is one, as RDF 1.2 writes both.
pub fn language(literal: LiteralRef<'_>) -> Option<String> {
    let direction = match literal.direction() {
        Some(BaseDirection::Ltr) => "--ltr",
        Some(BaseDirection::Rtl) => "--rtl",
        None => "",
    };
    literal.language().map(|language| format!("{language}{direction}"))
}

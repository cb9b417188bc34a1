//! Rows as tuples of terms: each distinct term of a batch becomes one object.

use crate::terms::{PyTriple, to_python};
use lode_engine::{EngineError, QueryResults, TermBatch};
use lode_rdf::Term;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use std::collections::HashMap;

/// Rows that are read at once: so many that a call costs little beside them, so few that they take little memory.
const ROWS: usize = 16 << 10;

/// Reads the next rows or triples; nothing at the end.
///
/// # Errors
/// Those of the engine.
pub fn read(results: &mut QueryResults, is_first: bool) -> Result<Vec<TermBatch>, EngineError> {
    let (mut batches, mut rows) = (Vec::new(), 0);
    loop {
        let next = match results {
            QueryResults::Solutions(solutions) => solutions.next_batch()?,
            QueryResults::Graph(triples) => triples.next_batch()?,
            QueryResults::Boolean(_) => None,
        };
        let Some(batch) = next else { return Ok(batches) };
        rows += batch.rows();
        batches.push(batch);
        // Who looks at the first rows only need not wait for more.
        if rows >= ROWS || is_first {
            return Ok(batches);
        }
    }
}

/// Rows as tuples.
///
/// # Errors
/// Where there is no memory.
pub fn tuples<'py>(py: Python<'py>, batches: &[TermBatch], columns: usize) -> PyResult<Bound<'py, PyList>> {
    let rows = PyList::empty(py);
    for batch in batches {
        let mut known = HashMap::new();
        for row in 0..batch.rows() {
            let terms = (0..columns).map(|column| known_term(py, batch.get(row, column), &mut known));
            rows.append(PyTuple::new(py, terms.collect::<PyResult<Vec<_>>>()?)?)?;
        }
    }
    Ok(rows)
}

type Known<'py> = HashMap<*const Term, Bound<'py, PyAny>>;

/// The object of a term, which is the same for all rows of a batch that have it.
fn known_term<'py>(
    py: Python<'py>,
    term: Option<&Term>,
    known: &mut Known<'py>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(term) = term else { return Ok(None) };
    if let Some(object) = known.get(&std::ptr::from_ref(term)) {
        return Ok(Some(object.clone()));
    }
    let object = to_python(py, term)?;
    known.insert(std::ptr::from_ref(term), object.clone());
    Ok(Some(object))
}

/// Triples.
///
/// # Errors
/// Where there is no memory.
pub fn triples<'py>(py: Python<'py>, batches: &[TermBatch]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for triple in batches.iter().flat_map(TermBatch::triples) {
        list.append(PyTriple::of(triple.into_owned()))?;
    }
    Ok(list)
}

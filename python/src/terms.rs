//! Triples as Python has them, and any terms on their way to Python and back.

use crate::failure;
use crate::literal::PyLiteral;
use crate::nodes::{Blank, Iri};
use lode_rdf::{GraphName, NamedNode, NamedOrBlankNode, Term, Triple};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyList;

/// Triple terms of triple terms may be so deep.
const DEPTH_MAX: usize = 64;

/// A triple: a row of a CONSTRUCT, or a term.
#[pyclass(frozen, eq, hash, name = "Triple", module = "lodestore", skip_from_py_object)]
#[derive(PartialEq, Eq, Hash)]
pub struct PyTriple(Triple);

#[pymethods]
impl PyTriple {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str) {
        ("subject", "predicate", "object")
    }

    #[new]
    fn new(
        subject: &Bound<'_, PyAny>,
        predicate: &Bound<'_, PyAny>,
        object: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let triple = Triple { subject: node(subject)?, predicate: iri(predicate)?, object: term(object)? };
        let (mut depth, mut inner) = (1, &triple.object);
        while let Term::Triple(next) = inner {
            (depth, inner) = (depth + 1, &next.object);
        }
        if depth > DEPTH_MAX {
            return Err(PyValueError::new_err(format!("triple terms nest more than {DEPTH_MAX} deep")));
        }
        Ok(Self(triple))
    }

    #[getter]
    fn subject<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.0.subject.clone().into())
    }

    #[getter]
    fn predicate(&self) -> Iri {
        Iri(self.0.predicate.clone())
    }

    #[getter]
    fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.0.object)
    }

    fn __len__(&self) -> usize {
        3
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyIterator>> {
        let parts = (self.subject(py)?, self.predicate(), self.object(py)?);
        parts.into_pyobject(py)?.try_iter()
    }

    fn __str__(&self) -> String {
        format!("<<( {} )>>", self.0)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (subject, object) = (self.subject(py)?.repr()?, self.object(py)?.repr()?);
        Ok(format!("Triple({subject}, {}, {object})", self.predicate().__repr__(py)?))
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Iri, Bound<'py, PyAny>)> {
        Ok((self.subject(py)?, self.predicate(), self.object(py)?))
    }
}

/// A term for Python.
pub fn to_python<'py>(py: Python<'py>, term: &Term) -> PyResult<Bound<'py, PyAny>> {
    Ok(match term {
        Term::NamedNode(name) => Bound::new(py, Iri(name.clone()))?.into_any(),
        Term::BlankNode(node) => Bound::new(py, Blank(node.clone()))?.into_any(),
        Term::Literal(literal) => Bound::new(py, PyLiteral(literal.clone()))?.into_any(),
        Term::Triple(triple) => Bound::new(py, PyTriple((**triple).clone()))?.into_any(),
    })
}

/// Terms for Python.
pub fn list<'py>(py: Python<'py>, terms: &[Term]) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, terms.iter().map(|term| to_python(py, term)).collect::<PyResult<Vec<_>>>()?)
}

/// A term of Python.
pub fn term(value: &Bound<'_, PyAny>) -> PyResult<Term> {
    if let Ok(iri) = value.cast::<Iri>() {
        return Ok(iri.get().0.clone().into());
    }
    if let Ok(node) = value.cast::<Blank>() {
        return Ok(node.get().0.clone().into());
    }
    if let Ok(literal) = value.cast::<PyLiteral>() {
        return Ok(literal.get().0.clone().into());
    }
    if let Ok(triple) = value.cast::<PyTriple>() {
        return Ok(Term::Triple(Box::new(triple.get().0.clone())));
    }
    let name = value.get_type().name()?;
    Err(PyTypeError::new_err(format!("{name} is no term: give an IRI, BlankNode, Literal or Triple")))
}

/// A subject or the name of a graph.
pub fn node(value: &Bound<'_, PyAny>) -> PyResult<NamedOrBlankNode> {
    match term(value)? {
        Term::NamedNode(name) => Ok(name.into()),
        Term::BlankNode(node) => Ok(node.into()),
        other => Err(PyTypeError::new_err(format!("{other} stands where an IRI or a BlankNode must"))),
    }
}

/// An IRI.
pub fn iri(value: &Bound<'_, PyAny>) -> PyResult<NamedNode> {
    match term(value)? {
        Term::NamedNode(name) => Ok(name),
        other => Err(PyTypeError::new_err(format!("{other} stands where an IRI must"))),
    }
}

/// An IRI that was given as a text.
///
/// # Errors
/// `ValueError` where it is none.
pub fn iri_of_text(py: Python<'_>, what: &str, text: &str) -> PyResult<NamedNode> {
    let wrong =
        |error| failure::new(py, "QueryError", &format!("{what} <{text}> is no absolute IRI: {error}"));
    NamedNode::new(text).map_err(wrong)
}

impl PyTriple {
    /// A row of a CONSTRUCT.
    pub fn of(triple: Triple) -> Self {
        Self(triple)
    }
}

/// The name of a graph; of the default graph, which has none.
pub fn graph(value: Option<&Bound<'_, PyAny>>) -> PyResult<GraphName> {
    Ok(value.map(node).transpose()?.map_or(GraphName::DefaultGraph, GraphName::from))
}

//! IRIs and blank nodes as Python has them: small immutable classes, which compare and hash by what they are.

use lode_rdf::{BlankNode, NamedNode};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// An IRI.
#[pyclass(frozen, eq, ord, hash, name = "IRI", module = "lodestore", skip_from_py_object)]
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Iri(pub NamedNode);

#[pymethods]
impl Iri {
    #[classattr]
    fn __match_args__() -> (&'static str,) {
        ("value",)
    }

    /// The IRI of this text.
    ///
    /// # Errors
    /// `ValueError` where it is none.
    #[new]
    pub fn new(value: &str) -> PyResult<Self> {
        let wrong = |error| PyValueError::new_err(format!("<{value}> is no absolute IRI: {error}"));
        NamedNode::new(value).map(Self).map_err(wrong)
    }

    #[getter]
    fn value(&self) -> &str {
        self.0.as_str()
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    /// As Python writes it.
    ///
    /// # Errors
    /// Where there is no memory.
    pub fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("IRI({})", quoted(py, self.0.as_str())?))
    }

    fn __getnewargs__(&self) -> (&str,) {
        (self.0.as_str(),)
    }
}

/// A blank node.
#[pyclass(frozen, eq, ord, hash, name = "BlankNode", module = "lodestore", skip_from_py_object)]
#[derive(PartialEq, Eq, Hash)]
pub struct Blank(pub BlankNode);

impl PartialOrd for Blank {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.0.as_str().cmp(other.0.as_str()))
    }
}

#[pymethods]
impl Blank {
    #[classattr]
    fn __match_args__() -> (&'static str,) {
        ("value",)
    }

    #[new]
    #[pyo3(signature = (value = None))]
    fn new(value: Option<&str>) -> PyResult<Self> {
        let Some(label) = value else { return Ok(Self(BlankNode::default())) };
        let wrong = |error| PyValueError::new_err(format!("{label:?} is no label of a blank node: {error}"));
        BlankNode::new(label).map(Self).map_err(wrong)
    }

    #[getter]
    fn value(&self) -> &str {
        self.0.as_str()
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("BlankNode({})", quoted(py, self.0.as_str())?))
    }

    fn __getnewargs__(&self) -> (&str,) {
        (self.0.as_str(),)
    }
}

/// The text as Python writes it.
///
/// # Errors
/// Where there is no memory.
pub fn quoted(py: Python<'_>, text: &str) -> PyResult<String> {
    PyString::new(py, text).repr()?.extract()
}

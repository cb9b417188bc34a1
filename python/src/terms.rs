//! Terms as Python has them: small immutable classes, which compare and hash by what they are.

use crate::failure;
use lode_rdf::{BaseDirection, BlankNode, GraphName, Literal, NamedNode, NamedOrBlankNode, Term, Triple};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

/// Triple terms of triple terms may be so deep.
const DEPTH_MAX: usize = 64;
/// Datatypes of literals with a language.
const OF_LANGUAGE: [&str; 2] = [
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString",
];

/// An IRI.
#[pyclass(frozen, eq, ord, hash, name = "IRI", module = "lodestore", skip_from_py_object)]
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Iri(NamedNode);

#[pymethods]
impl Iri {
    #[classattr]
    fn __match_args__() -> (&'static str,) {
        ("value",)
    }

    #[new]
    fn new(value: &str) -> PyResult<Self> {
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

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("IRI({})", quoted(py, self.0.as_str())?))
    }

    fn __getnewargs__(&self) -> (&str,) {
        (self.0.as_str(),)
    }
}

/// A blank node.
#[pyclass(frozen, eq, ord, hash, name = "BlankNode", module = "lodestore", skip_from_py_object)]
#[derive(PartialEq, Eq, Hash)]
pub struct Blank(BlankNode);

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

/// A literal.
#[pyclass(frozen, eq, hash, name = "Literal", module = "lodestore", skip_from_py_object)]
#[derive(PartialEq, Eq, Hash)]
pub struct PyLiteral(Literal);

#[pymethods]
impl PyLiteral {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str) {
        ("value", "datatype", "language")
    }

    #[new]
    #[pyo3(signature = (value, datatype = None, language = None, direction = None))]
    fn new(
        value: &Bound<'_, PyAny>,
        datatype: Option<&Bound<'_, PyAny>>,
        language: Option<&str>,
        direction: Option<&str>,
    ) -> PyResult<Self> {
        let py = value.py();
        let Ok(text) = value.cast::<PyString>() else {
            if datatype.is_some() || language.is_some() || direction.is_some() {
                let message = "a datatype, language or direction goes with a text (str): its lexical form";
                return Err(PyTypeError::new_err(message));
            }
            let made = py.import("lodestore._values")?.call_method1("literal_parts", (value,))?;
            let (text, datatype): (String, String) = made.extract()?;
            return Ok(Self(Literal::new_typed_literal(text, NamedNode::new_unchecked(datatype))));
        };
        let text = text.to_cow()?.into_owned();
        match (datatype, language) {
            (None, None) if direction.is_some() => {
                Err(PyValueError::new_err("a direction goes with a language"))
            }
            (None, None) => Ok(Self(Literal::new_simple_literal(text))),
            (Some(_), Some(_)) => {
                Err(PyValueError::new_err("a literal has a datatype or a language, not both"))
            }
            (Some(datatype), None) => typed(text, datatype),
            (None, Some(language)) => of_language(text, language, direction),
        }
    }

    #[getter]
    fn value(&self) -> &str {
        self.0.value()
    }

    #[getter]
    fn datatype(&self) -> Iri {
        Iri(self.0.datatype().into_owned())
    }

    #[getter]
    fn language(&self) -> Option<&str> {
        self.0.language()
    }

    #[getter]
    fn direction(&self) -> Option<&'static str> {
        self.0.direction().map(|direction| match direction {
            BaseDirection::Ltr => "ltr",
            BaseDirection::Rtl => "rtl",
        })
    }

    fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let parts = (self.0.value(), self.0.datatype().as_str());
        py.import("lodestore._values")?.call_method1("python_value", parts)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let mut text = format!("Literal({}", quoted(py, self.0.value())?);
        if let Some(language) = self.0.language() {
            text += &format!(", language={}", quoted(py, language)?);
        } else if !lode_rdf::is_string(self.0.as_ref()) {
            text += &format!(", datatype={}", quoted(py, self.0.datatype().as_str())?);
        }
        if let Some(direction) = self.direction() {
            text += &format!(", direction='{direction}'");
        }
        Ok(text + ")")
    }

    fn __getnewargs__(&self) -> (&str, Option<Iri>, Option<&str>, Option<&'static str>) {
        let datatype = self.0.language().is_none().then(|| self.datatype());
        (self.0.value(), datatype, self.0.language(), self.direction())
    }
}

fn typed(text: String, datatype: &Bound<'_, PyAny>) -> PyResult<PyLiteral> {
    let datatype = match datatype.cast::<Iri>() {
        Ok(iri) => iri.get().0.clone(),
        Err(_) => Iri::new(&datatype.extract::<String>()?)?.0,
    };
    if OF_LANGUAGE.contains(&datatype.as_str()) {
        return Err(PyValueError::new_err("a literal of this datatype has a language: give that instead"));
    }
    Ok(PyLiteral(Literal::new_typed_literal(text, datatype)))
}

fn of_language(text: String, language: &str, direction: Option<&str>) -> PyResult<PyLiteral> {
    let wrong = |error: &dyn std::fmt::Display| {
        PyValueError::new_err(format!("{language:?} is no language tag: {error}"))
    };
    let direction = match direction {
        None => {
            let made = Literal::new_language_tagged_literal(text, language);
            return made.map(PyLiteral).map_err(|error| wrong(&error));
        }
        Some("ltr") => BaseDirection::Ltr,
        Some("rtl") => BaseDirection::Rtl,
        Some(_) => return Err(PyValueError::new_err("a direction is 'ltr' or 'rtl'")),
    };
    let made = Literal::new_directional_language_tagged_literal(text, language, direction);
    made.map(PyLiteral).map_err(|error| wrong(&error))
}

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

/// The text as Python writes it.
fn quoted(py: Python<'_>, text: &str) -> PyResult<String> {
    PyString::new(py, text).repr()?.extract()
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

//! Literals as Python has them.

use crate::nodes::{Iri, quoted};
use lode_rdf::{BaseDirection, Literal, NamedNode};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

/// Datatypes of literals with a language.
const OF_LANGUAGE: [&str; 2] = [
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString",
];

/// A literal.
#[pyclass(frozen, eq, hash, name = "Literal", module = "lodestore", skip_from_py_object)]
#[derive(PartialEq, Eq, Hash)]
pub struct PyLiteral(pub Literal);

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

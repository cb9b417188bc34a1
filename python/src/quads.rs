//! Quads by pattern, for programs that think in statements and not in queries.

use crate::failure;
use crate::held::Held;
use crate::interruptible;
use crate::terms;
use lode_engine::store::Snapshot;
use lode_engine::{CancelToken, EngineError, GraphRules, QuadPattern, Quads};
use lode_rdf::{GraphName, Quad, Term};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

/// Terms of a pattern; what is not given may be any.
pub type Given<'py> = Option<Bound<'py, PyAny>>;

/// A pattern, in the words of the package.
#[derive(FromPyObject)]
pub struct PatternOfTerms<'py> {
    subject: Given<'py>,
    predicate: Given<'py>,
    object: Given<'py>,
    /// `None` among them is the default graph; all where none is named.
    graphs: Vec<Given<'py>>,
}

impl PatternOfTerms<'_> {
    /// For the engine.
    ///
    /// # Errors
    /// Where something is no term.
    pub fn pattern(&self) -> PyResult<QuadPattern> {
        let term = |given: &Given<'_>| given.as_ref().map(terms::term).transpose();
        let graphs = self.graphs.iter().map(|graph| terms::graph(graph.as_ref()));
        Ok(QuadPattern {
            subject: term(&self.subject)?,
            predicate: term(&self.predicate)?,
            object: term(&self.object)?,
            graphs: graphs.collect::<PyResult<_>>()?,
        })
    }
}

/// The quads of a pattern in a version.
#[pyclass(frozen, module = "lodestore._lodestore")]
pub struct QuadReader {
    quads: Held<Quads>,
    cancel: CancelToken,
}

impl QuadReader {
    /// Begins to read.
    ///
    /// # Errors
    /// Where a file cannot be read or is damaged.
    pub fn new(snapshot: &Snapshot, pattern: &QuadPattern) -> Result<Self, EngineError> {
        let cancel = CancelToken::default();
        let quads = pattern.quads(snapshot, &GraphRules::default(), &cancel)?;
        Ok(Self { quads: Held::new(quads, "the reader"), cancel })
    }
}

#[pymethods]
impl QuadReader {
    /// The next ones; none at the end.
    fn next_quads<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let mut quads = self.quads.take(py)?;
        let ran = interruptible::run(py, &self.cancel, || {
            let read = quads.next_quads();
            (quads, read)
        });
        let (quads, read) = ran.inspect_err(|_| self.quads.is_gone())?;
        self.quads.put(quads);
        let read = read.map_err(|error| failure::of_engine(py, &error))?;
        let list = PyList::empty(py);
        for quad in &read {
            list.append(tuple(py, quad)?)?;
        }
        Ok(list)
    }
}

fn tuple<'py>(py: Python<'py>, quad: &Quad) -> PyResult<Bound<'py, PyTuple>> {
    let subject = terms::to_python(py, &quad.subject.clone().into())?;
    let predicate = terms::to_python(py, &quad.predicate.clone().into())?;
    let graph = match &quad.graph_name {
        GraphName::DefaultGraph => None,
        GraphName::NamedNode(name) => Some(terms::to_python(py, &name.clone().into())?),
        GraphName::BlankNode(node) => Some(terms::to_python(py, &node.clone().into())?),
    };
    (subject, predicate, terms::to_python(py, &quad.object)?, graph).into_pyobject(py)
}

/// The names of the graphs of a version, without the default graph.
///
/// # Errors
/// Where a file cannot be read or is damaged.
pub fn graphs(snapshot: &Snapshot) -> Result<Vec<Term>, EngineError> {
    let ids = snapshot.named_graphs()?;
    Ok(ids.into_iter().map(|id| snapshot.term(id)).collect::<Result<_, _>>()?)
}

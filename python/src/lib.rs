//! The extension module below the Python package `lodestore`: the engine, its columns and its server, with as little on this side as there
//! can be. What users see, and its documentation, is in the package's own files (`lodestore/*.py`).

mod answer;
mod batches;
mod database;
mod failure;
mod held;
mod interruptible;
mod literal;
mod load;
mod nodes;
mod open;
mod quads;
mod rows;
mod serve;
mod settings;
mod terms;
mod transaction;

use pyo3::prelude::*;

/// A query is made of many small allocations, some freed by other threads than made them; the interpreter's own are not touched.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What the package takes from here.
#[pymodule]
fn _lodestore(module: &Bound<'_, PyModule>) -> PyResult<()> {
    lode_engine::raise_descriptor_limit();
    module.add_class::<nodes::Iri>()?;
    module.add_class::<nodes::Blank>()?;
    module.add_class::<literal::PyLiteral>()?;
    module.add_class::<terms::PyTriple>()?;
    module.add_class::<database::NativeDatabase>()?;
    module.add_class::<answer::Answer>()?;
    module.add_class::<batches::Batches>()?;
    module.add_class::<quads::QuadReader>()?;
    module.add_class::<transaction::NativeTransaction>()?;
    module.add_class::<serve::NativeServer>()?;
    module.add_function(wrap_pyfunction!(load::is_loadable_name, module)?)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}

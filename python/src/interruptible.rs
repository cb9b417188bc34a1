//! Work of the engine: the interpreter's lock is released meanwhile, and Ctrl-C cancels it.
//!
//! Signals are for the interpreter's main thread, which runs their handlers when it looks for them. So that it can, the work of a call from
//! there is done by another thread.

use lode_engine::CancelToken;
use pyo3::prelude::*;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// How often signals are looked for.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Does the work. Other threads than the main one have no signals to look for, and do it themselves.
///
/// # Errors
/// What the handler of a signal has raised, such as `KeyboardInterrupt`; the work was cancelled, and has ended.
pub fn run<T: Send>(py: Python<'_>, cancel: &CancelToken, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    if !is_main_thread(py)? {
        return Ok(py.detach(work));
    }
    run_with(py, cancel, || Ok(()), work)
}

/// Does the work, and calls `tick` now and then meanwhile.
///
/// # Errors
/// Like [`run`], and what `tick` raises.
pub fn run_with<T: Send>(
    py: Python<'_>,
    cancel: &CancelToken,
    tick: impl Fn() -> PyResult<()>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    std::thread::scope(|scope| {
        let (done, result) = channel();
        scope.spawn(move || {
            // Nobody waits any more: the scope has ended in a panic.
            let _ = done.send(work());
        });
        wait(py, cancel, &tick, result)
    })
}

fn wait<T: Send>(
    py: Python<'_>,
    cancel: &CancelToken,
    tick: &impl Fn() -> PyResult<()>,
    mut result: Receiver<T>,
) -> PyResult<T> {
    loop {
        let received;
        (result, received) = py.detach(move || {
            let received = result.recv_timeout(LOOK_EVERY);
            (result, received)
        });
        match received {
            Ok(value) => return Ok(value),
            Err(RecvTimeoutError::Disconnected) => return Err(panicked()),
            Err(RecvTimeoutError::Timeout) => {
                if let Err(raised) = py.check_signals().and_then(|()| tick()) {
                    cancel.cancel();
                    // It ends soon; what it was given must not be dropped before.
                    py.detach(move || drop(result.recv()));
                    return Err(raised);
                }
            }
        }
    }
}

fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import(pyo3::intern!(py, "threading"))?;
    let main = threading.call_method0(pyo3::intern!(py, "main_thread"))?;
    let own: u64 = threading.call_method0(pyo3::intern!(py, "get_ident"))?.extract()?;
    Ok(main.getattr(pyo3::intern!(py, "ident"))?.extract::<Option<u64>>()? == Some(own))
}

/// The scope panics as soon as this is returned.
fn panicked() -> PyErr {
    pyo3::exceptions::PyRuntimeError::new_err("a thread of the engine has failed")
}

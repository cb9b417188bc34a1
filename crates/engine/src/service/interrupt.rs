//! Connections whose reads end soon after nobody wants the answer any more, however long the endpoint is silent.

use super::pipe::Pipe;
use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};
use ureq::unversioned::transport::{Buffers, ConnectionDetails, Connector, NextTimeout, Transport, time};
use ureq::{Error, Timeout};

/// A thread that waits for an endpoint looks so often whether anybody still wants the answer.
const LOOK_EVERY: Duration = Duration::from_millis(50);

thread_local! {
    /// For whom this thread talks to an endpoint. Connections are kept for others, so they cannot know.
    static READER: RefCell<Option<Arc<Pipe>>> = const { RefCell::new(None) };
}

/// All that this thread reads within `talk` is for the reader of `pipe`.
pub(super) fn reading_for<T>(pipe: &Arc<Pipe>, talk: impl FnOnce() -> T) -> T {
    READER.set(Some(Arc::clone(pipe)));
    let result = talk();
    READER.set(None);
    result
}

fn is_wanted() -> bool {
    READER.with_borrow(|reader| reader.as_ref().is_none_or(|pipe| !pipe.is_closed()))
}

/// Makes the connections that it is given end so.
#[derive(Debug)]
pub(super) struct Interruptible;

impl<In: Transport> Connector<In> for Interruptible {
    type Out = InterruptibleTransport<In>;

    fn connect(&self, _: &ConnectionDetails<'_>, chained: Option<In>) -> Result<Option<Self::Out>, Error> {
        Ok(chained.map(InterruptibleTransport))
    }
}

/// A connection.
#[derive(Debug)]
pub(super) struct InterruptibleTransport<T>(T);

impl<T: Transport> Transport for InterruptibleTransport<T> {
    fn buffers(&mut self) -> &mut dyn Buffers {
        self.0.buffers()
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        self.0.transmit_output(amount, timeout)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        let timeout = timeout.for_read();
        let began = Instant::now();
        loop {
            if !is_wanted() {
                return Err(std::io::Error::other("nobody wants the answer").into());
            }
            let left = timeout.after.saturating_sub(began.elapsed());
            if left.is_zero() {
                return Err(Error::Timeout(timeout.reason));
            }
            let after = time::Duration::Exact(left.min(LOOK_EVERY));
            let step = NextTimeout { after, reason: Timeout::PerRead, per_read: None, per_write: None };
            match T::await_input(&mut self.0, step) {
                Err(Error::Timeout(_)) => {}
                result => return result,
            }
        }
    }

    fn is_open(&mut self) -> bool {
        self.0.is_open()
    }

    fn is_tls(&self) -> bool {
        self.0.is_tls()
    }
}

//! Connections that end soon after nobody wants the answer any more, however long the server is silent.

use lode_engine::CancelToken;
use std::cell::RefCell;
use std::time::{Duration, Instant};
use ureq::unversioned::transport::{Buffers, ConnectionDetails, Connector, NextTimeout, Transport, time};
use ureq::{Error, Timeout};

/// How often is looked whether anybody still wants the answer.
const LOOK_EVERY: Duration = Duration::from_millis(50);

thread_local! {
    /// What cancels all that this thread reads.
    static TOKEN: RefCell<Option<CancelToken>> = const { RefCell::new(None) };
}

/// From now on, what this thread reads ends when the token says so.
pub fn read_with(token: &CancelToken) {
    TOKEN.set(Some(token.clone()));
}

fn is_wanted() -> bool {
    TOKEN.with_borrow(|token| token.as_ref().is_none_or(|token| token.check().is_ok()))
}

/// Makes the connections that it is given end so.
#[derive(Debug)]
pub struct Cancellable;

impl<In: Transport> Connector<In> for Cancellable {
    type Out = CancellableTransport<In>;

    fn connect(&self, _: &ConnectionDetails<'_>, chained: Option<In>) -> Result<Option<Self::Out>, Error> {
        Ok(chained.map(CancellableTransport))
    }
}

/// A connection.
#[derive(Debug)]
pub struct CancellableTransport<T>(T);

impl<T: Transport> Transport for CancellableTransport<T> {
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

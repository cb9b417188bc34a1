//! Connections whose reads end soon after nobody wants the answer any more, however long the other side is silent.

use std::cell::RefCell;
use std::time::{Duration, Instant};
use ureq::unversioned::transport::{Buffers, ConnectionDetails, Connector, NextTimeout, Transport, time};
use ureq::{Error, Timeout};

/// A thread that waits for an answer looks so often whether anybody still wants it.
const LOOK_EVERY: Duration = Duration::from_millis(50);

type IsWanted = Box<dyn Fn() -> bool>;

thread_local! {
    /// Whether somebody wants what this thread reads. Connections are kept for others, so they cannot know.
    static IS_WANTED: RefCell<Option<IsWanted>> = const { RefCell::new(None) };
}

/// From now on, what this thread reads ends once nobody wants it.
pub fn read_while(is_wanted: impl Fn() -> bool + 'static) {
    IS_WANTED.set(Some(Box::new(is_wanted)));
}

/// From now on, what this thread reads is wanted.
pub fn read_all() {
    IS_WANTED.set(None);
}

/// What this thread reads within `work` ends once nobody wants it. Before and after, it is as it was.
pub fn read_while_in<T>(is_wanted: impl Fn() -> bool + 'static, work: impl FnOnce() -> T) -> T {
    struct Restore(Option<IsWanted>);
    impl Drop for Restore {
        fn drop(&mut self) {
            IS_WANTED.set(self.0.take());
        }
    }
    let _before = Restore(IS_WANTED.replace(Some(Box::new(is_wanted))));
    work()
}

fn is_wanted() -> bool {
    IS_WANTED.with_borrow(|is_wanted| is_wanted.as_ref().is_none_or(|is_wanted| is_wanted()))
}

/// Makes the connections that it is given end so.
#[derive(Debug)]
pub struct Interruptible;

impl<In: Transport> Connector<In> for Interruptible {
    type Out = InterruptibleTransport<In>;

    fn connect(&self, _: &ConnectionDetails<'_>, chained: Option<In>) -> Result<Option<Self::Out>, Error> {
        Ok(chained.map(InterruptibleTransport))
    }
}

/// A connection.
#[derive(Debug)]
pub struct InterruptibleTransport<T>(T);

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

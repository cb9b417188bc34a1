//! Calls of heads at a worker: each task of a query has one, which is open as long as the query runs. What runs for a task ends with its call, whatever
//! else holds on to it: an exchange keeps reading from a leaf whose rows nobody wants any more until the next rows come, and that may be long.

use crate::queues::Queues;
use http::{HeaderMap, HeaderName, HeaderValue};
use http_body::{Body as HttpBody, Frame, SizeHint};
use lode_base::cancel::CancelToken;
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use tokio::task::AbortHandle;
use tonic::body::Body;

/// Under this name a call's number comes to its task. Whatever a client sends under it is overwritten.
const NUMBER: HeaderName = HeaderName::from_static("lode-call");

/// A call, and what runs for it.
#[derive(Debug, Default)]
pub struct Call(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    has_ended: bool,
    running: Vec<Running>,
}

/// What runs: whoever asks the token stops by it; who waits for rows of others, once nobody gets these any more.
#[derive(Debug)]
pub struct Running {
    pub token: CancelToken,
    pub inputs: Vec<AbortHandle>,
    /// What is made for others, of whom some may not have come.
    pub queues: Option<Arc<Queues>>,
}

impl Running {
    fn end(self) {
        self.token.cancel();
        self.inputs.iter().for_each(AbortHandle::abort);
        if let Some(queues) = self.queues {
            queues.close();
        }
    }
}

impl Call {
    /// One that is over.
    fn ended() -> Arc<Self> {
        Arc::new(Self(Mutex::new(State { has_ended: true, running: Vec::new() })))
    }

    /// This is called off at the end of the call.
    pub fn ends(&self, running: Running) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match state.has_ended {
            true => running.end(),
            false => state.running.push(running),
        }
    }

    fn end(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.has_ended = true;
        state.running.drain(..).for_each(Running::end);
    }
}

/// The calls that are open.
#[derive(Debug, Default)]
pub struct Calls(Mutex<Open>);

#[derive(Debug, Default)]
struct Open {
    next: u64,
    calls: HashMap<u64, Arc<Call>>,
}

impl Calls {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call begins, and ends with its body.
    pub fn begin(self: &Arc<Self>, headers: &mut HeaderMap, body: Body) -> Body {
        let mut open = self.open();
        let number = open.next;
        open.next += 1;
        open.calls.insert(number, Arc::default());
        headers.insert(NUMBER, HeaderValue::from(number));
        Body::new(UntilEnd { body, _call: OpenCall { calls: Arc::clone(self), number } })
    }

    /// The call that came with these headers.
    pub fn of(&self, headers: &HeaderMap) -> Arc<Call> {
        let number = headers.get(NUMBER).and_then(|number| number.to_str().ok()?.parse().ok());
        let found = number.and_then(|number: u64| self.open().calls.get(&number).cloned());
        found.unwrap_or_else(Call::ended)
    }

    /// How many there are.
    #[cfg(test)]
    fn count(&self) -> usize {
        self.open().calls.len()
    }
}

/// Ends a call.
#[derive(Debug)]
struct OpenCall {
    calls: Arc<Calls>,
    number: u64,
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        let call = self.calls.open().calls.remove(&self.number);
        if let Some(call) = call {
            call.end();
        }
    }
}

/// The body of a call.
#[derive(Debug)]
struct UntilEnd {
    body: Body,
    _call: OpenCall,
}

impl HttpBody for UntilEnd {
    type Data = <Body as HttpBody>::Data;
    type Error = <Body as HttpBody>::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    //! Calls that end, before and after something is begun for them.
    use super::*;

    #[derive(Debug)]
    struct Endless;

    impl HttpBody for Endless {
        type Data = <Body as HttpBody>::Data;
        type Error = std::convert::Infallible;

        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
            Poll::Pending
        }
    }

    #[test]
    fn what_runs_ends_with_its_call() {
        let calls = Arc::new(Calls::default());
        let (mut one, mut two) = (HeaderMap::new(), HeaderMap::new());
        // What a client says of calls is not believed.
        two.insert(NUMBER, HeaderValue::from(0_u64));
        let first = calls.begin(&mut one, Body::new(Endless));
        let second = calls.begin(&mut two, Body::new(Endless));
        let (running, other) = (CancelToken::new(None), CancelToken::new(None));
        let only = |token: &CancelToken| Running { token: token.clone(), inputs: Vec::new(), queues: None };
        calls.of(&one).ends(only(&running));
        calls.of(&two).ends(only(&other));
        assert_eq!(calls.count(), 2);
        drop(first);
        assert!(running.check().is_err() && other.check().is_ok());
        let late = CancelToken::new(None);
        calls.of(&one).ends(only(&late));
        assert!(late.check().is_err(), "its call was over");
        drop(second);
        assert!(other.check().is_err());
        assert_eq!(calls.count(), 0);
        let nobody = CancelToken::new(None);
        calls.of(&HeaderMap::new()).ends(only(&nobody));
        assert!(nobody.check().is_err());
    }

    /// Who waits for rows that do not come is woken.
    #[test]
    fn what_gets_rows_for_it_ends_as_well() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let calls = Arc::new(Calls::default());
        let mut headers = HeaderMap::new();
        let call = calls.begin(&mut headers, Body::new(Endless));
        for _ in 0..2 {
            let mut pumps = tokio::task::JoinSet::new();
            let pump = pumps.spawn_on(std::future::pending::<()>(), runtime.handle());
            let token = CancelToken::new(None);
            calls.of(&headers).ends(Running { token, inputs: vec![pump], queues: None });
            calls.open().calls.values().for_each(|call| call.end());
            assert!(runtime.block_on(pumps.join_next()).unwrap().unwrap_err().is_cancelled());
        }
        drop(call);
    }
}

//! SERVICE: rows from elsewhere, joined with the input's.
//!
//! Rows of the input are collected in blocks; a block's distinct bindings go with its request, and its rows are joined with the answer as
//! that comes. Some requests are on their way at once; answers are read in the order of the requests, so that one is held back by no more
//! than what a connection holds ([why and how](../../../../docs/design/031-service.md)).

use super::service_answer::{AnswerJoin, Asked};
use super::service_block::{Added, Block, Blocks};
use super::{BoxOp, Operator};
use crate::context::QueryContext;
use crate::profile::NodeCounters;
use crate::service::{Federation, Place, ServiceRequest};
use lode_eval::batch::{Batch, position};
use lode_eval::error::ExecError;
use lode_rdf::{Term, ValueId};
use lode_sparql::plan::TermSlot;
use lode_sparql::{Expr, JoinKind, ServiceCall, VarId};
use std::collections::VecDeque;
use std::sync::Arc;

/// Bindings that are sent at least, however few rows the planner expects of a request without any.
const SENT_BINDINGS_MIN: usize = 10_000;

/// With less memory left, a request waits for the answer to the one before.
const AHEAD_BYTES_MIN: usize = 2 << 20;

/// The operator.
pub(crate) struct Service {
    cx: Arc<QueryContext>,
    counters: Arc<NodeCounters>,
    /// None: there are no more rows.
    input: Option<BoxOp>,
    call: Arc<ServiceCall>,
    endpoint: End,
    /// Names of the wanted variables, and of those that the input has, too.
    names: Vec<String>,
    shared_names: Vec<String>,
    left: Batch,
    row: usize,
    blocks: Blocks,
    asked: VecDeque<Asked>,
    join: AnswerJoin,
}

enum End {
    Const(ValueId),
    Left(Option<usize>),
}

impl Service {
    /// Joins `input` (without: one row without columns) with what an endpoint answers.
    pub(crate) fn new(
        cx: &Arc<QueryContext>,
        counters: &Arc<NodeCounters>,
        input: Option<(BoxOp, &[VarId])>,
        (call, (kind, filter)): (&Arc<ServiceCall>, (JoinKind, Option<&Expr>)),
        vars: &Arc<[VarId]>,
    ) -> Result<Self, ExecError> {
        let (input, left_vars) = match input {
            Some((input, vars)) => (Some(input), vars),
            None => (None, &[] as &[VarId]),
        };
        let endpoint = match &call.endpoint {
            TermSlot::Const(term) => End::Const(cx.intern(term)?),
            TermSlot::Var(var) => End::Left(position(left_vars, *var)),
        };
        let name = |var: &VarId| cx.vars.name(*var).to_owned();
        let mut left = Batch::new(left_vars.into());
        left.rows = usize::from(input.is_none());
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate")]
        let sent_max = (call.rows as usize).max(SENT_BINDINGS_MIN);
        Ok(Self {
            cx: Arc::clone(cx),
            counters: Arc::clone(counters),
            input,
            endpoint,
            names: call.columns.iter().map(name).collect(),
            shared_names: call.columns.iter().filter(|var| left_vars.contains(var)).map(name).collect(),
            left,
            row: 0,
            blocks: Blocks::new(
                cx,
                (left_vars, matches!(kind, JoinKind::Inner | JoinKind::Semi)),
                call,
                sent_max,
            ),
            asked: VecDeque::new(),
            join: AnswerJoin::new(cx, counters, (left_vars, call), (kind, filter), vars),
            call: Arc::clone(call),
        })
    }

    /// The endpoint of a left row.
    fn endpoint(&self, row: usize) -> ValueId {
        match &self.endpoint {
            End::Const(id) => *id,
            End::Left(Some(column)) => self.left.columns[*column][row],
            End::Left(None) => ValueId::UNDEF,
        }
    }

    /// Sends blocks while there are any and requests may go out; `false`: there is nothing left to send, or to wait for.
    fn send(&mut self) -> Result<bool, ExecError> {
        loop {
            let is_first = self.asked.is_empty();
            if !is_first && self.cx.budget.free() < AHEAD_BYTES_MIN {
                return Ok(true);
            }
            let place = match &self.cx.service {
                Some(federation) => federation.place(is_first),
                None => None,
            };
            if place.is_none() && !is_first {
                return Ok(true);
            }
            let Some(block) = self.next_block()? else { return Ok(!self.asked.is_empty()) };
            let asked = self.ask(block, place)?;
            self.asked.push_back(asked);
        }
    }

    /// The next block that is full, or the last ones.
    fn next_block(&mut self) -> Result<Option<Block>, ExecError> {
        loop {
            if let Some(block) = self.blocks.take_ready() {
                return Ok(Some(block));
            }
            while self.row < self.left.rows {
                let added = self.blocks.add(self.endpoint(self.row), &self.left, self.row)?;
                self.row += usize::from(added != Added::NoRoom);
                if added != Added::Waits {
                    return Ok(self.blocks.take_ready());
                }
            }
            self.cx.cancel.check()?;
            self.row = 0;
            let more = match &mut self.input {
                Some(input) => input.next(&mut self.left)?,
                None => false,
            };
            if !more {
                self.input = None;
                self.left.rows = 0;
                return Ok(self.blocks.take_any());
            }
        }
    }

    fn ask(&mut self, block: Block, place: Option<Place>) -> Result<Asked, ExecError> {
        if block.is_hopeless() {
            return Ok(Asked::none(&self.join, block));
        }
        let id = block.endpoint;
        let term = if id.is_undef() { None } else { Some(self.cx.term(id)?) };
        let endpoint = match &term {
            Some(Term::NamedNode(name)) => name.as_str().to_owned(),
            _ => String::new(),
        };
        let wrong = match &self.cx.service {
            _ if endpoint.is_empty() => Some("the endpoint is no IRI".to_owned()),
            None => Some(Federation::refusal(&endpoint)),
            Some(_) => None,
        };
        if let Some(message) = wrong {
            if self.call.silent {
                return Ok(Asked::failed(&self.join, block));
            }
            return Err(ExecError::Service { endpoint, message });
        }
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let shared: Vec<&str> = self.shared_names.iter().map(String::as_str).collect();
        let query = self.call.query(&names, &block.values(&shared));
        self.counters.request(query.len());
        let request = ServiceRequest {
            endpoint: endpoint.clone(),
            query,
            cancel: self.cx.cancel.clone(),
            budget: self.cx.budget.clone(),
        };
        let answer = self.cx.service.as_ref().map(|federation| federation.ask(request));
        let (Some(answer), Some(place)) = (answer, place) else {
            return Err(ExecError::Internal("a request without a place".into()));
        };
        Ok(Asked::new(&self.join, block, endpoint, (answer, place)))
    }
}

impl Operator for Service {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        self.join.reset(out);
        while self.send()? {
            let Some(first) = self.asked.front_mut() else { break };
            while out.rows == 0 {
                self.cx.cancel.check()?;
                if !first.next(&mut self.join, out)? {
                    self.asked.pop_front();
                    break;
                }
            }
            if out.rows > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

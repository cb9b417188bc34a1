//! What a match may cost.

use crate::context::EvalContext;
use crate::error::ExecError;
use lode_base::cancel::CancelToken;
use lode_base::memory_budget::{MemoryBudget, Reservation};
use std::cell::{Cell, RefCell};

/// Steps that one text may take, however short it is,
const STEPS_MIN: u64 = 20_000_000;
/// and how many more for each of its bytes: so many take all expressions that do not go back far.
const STEPS_PER_BYTE: u64 = 64;
/// Steps between two looks at the cancel token: some milliseconds at most.
const STEPS_UNCHECKED: u64 = 1 << 14;
/// Bytes of texts, searched without going back, between two looks at the cancel token,
const BYTES_UNCHECKED: usize = 1 << 18;
/// and as how many any search counts besides.
const SEARCH_BYTES: usize = 64;
/// The longest beginning of an expression that an error shows, in characters.
const SHOWN_CHARS: usize = 80;

/// What matches of a query may cost, and whether one cost more: then the query ends.
#[derive(Debug)]
pub(crate) struct MatchLimit {
    cancel: CancelToken,
    budget: MemoryBudget,
    failure: RefCell<Option<ExecError>>,
    /// Bytes that were looked at since the last look at the cancel token.
    unchecked: Cell<usize>,
}

impl MatchLimit {
    /// That of a query.
    pub fn new(cx: &EvalContext) -> Self {
        Self {
            cancel: cx.cancel.clone(),
            budget: cx.budget.clone(),
            failure: RefCell::default(),
            unchecked: Cell::new(0),
        }
    }

    /// The error, if a match has ended with one; nothing that was found then is to be believed.
    pub fn check(&self) -> Result<(), ExecError> {
        self.failure.take().map_or(Ok(()), Err)
    }

    /// A text of so many bytes is searched, without going back, or copied. `None` when that may not go on.
    #[inline]
    pub fn spend(&self, bytes: usize) -> Option<()> {
        let unchecked = self.unchecked.get().saturating_add(bytes).saturating_add(SEARCH_BYTES);
        self.unchecked.set(unchecked);
        if unchecked < BYTES_UNCHECKED { Some(()) } else { self.listen() }
    }

    #[cold]
    fn listen(&self) -> Option<()> {
        self.unchecked.set(0);
        self.cancel.check().or_else(|error| self.fail(error).ok_or(())).ok()
    }

    fn fail(&self, error: impl Into<ExecError>) -> Option<()> {
        self.failure.borrow_mut().get_or_insert(error.into());
        None
    }
}

/// What the search of one text may still cost. Its functions give `None` when it may not go on.
#[derive(Debug)]
pub(super) struct Effort<'l> {
    limit: &'l MatchLimit,
    pattern: &'l str,
    text_bytes: usize,
    steps_left: u64,
    unchecked: u64,
    stack: Reservation,
}

impl<'l> Effort<'l> {
    /// That of one text. `None` after an earlier text's failure.
    pub fn new(limit: &'l MatchLimit, pattern: &'l str, text: &str) -> Option<Self> {
        if limit.failure.borrow().is_some() {
            return None;
        }
        let steps_left =
            STEPS_MIN.saturating_add(STEPS_PER_BYTE.saturating_mul(u64::try_from(text.len()).ok()?));
        let stack = limit.budget.reserve_empty();
        Some(Self { limit, pattern, text_bytes: text.len(), steps_left, unchecked: 0, stack })
    }

    /// Something that costs `1 + bytes / 16` steps.
    #[inline]
    pub fn spend(&mut self, bytes: usize) -> Option<()> {
        let steps = 1 + (bytes as u64 >> 4);
        self.unchecked += steps;
        if self.unchecked < STEPS_UNCHECKED { Some(()) } else { self.account() }
    }

    #[cold]
    fn account(&mut self) -> Option<()> {
        let steps = std::mem::take(&mut self.unchecked);
        match self.steps_left.checked_sub(steps) {
            Some(left) => self.steps_left = left,
            None => {
                return self.limit.fail(ExecError::PatternTooComplex {
                    pattern: self.pattern.chars().take(SHOWN_CHARS).collect(),
                    text_bytes: self.text_bytes,
                });
            }
        }
        self.limit.listen()
    }

    /// The stack has so many bytes from now on.
    pub fn stack(&mut self, bytes: usize) -> Option<()> {
        self.stack.resize(bytes).or_else(|error| self.limit.fail(error).ok_or(())).ok()
    }
}

//! What a search in an index of words may take.

use crate::error::StoreError;
use lode_base::cancel::CancelToken;
use lode_base::memory_budget::{MemoryBudget, OutOfBudget, Reservation};
use lode_packed::PackedError;
use lode_text::index::Means;
use std::cell::{Cell, RefCell};

/// Work between two looks at the cancel token.
const WORK_UNCHECKED: usize = 1 << 18;

/// Whether an index is of no use, since it is damaged or of another version.
pub(super) fn is_damage(error: &PackedError) -> bool {
    matches!(error, PackedError::Corruption { .. } | PackedError::Version { .. })
}

/// What a search may take: of a budget, and until it is cancelled.
pub(super) struct Limits<'c> {
    cancel: &'c CancelToken,
    work: Cell<usize>,
    pub(super) room: RefCell<Reservation>,
    refused: RefCell<Option<OutOfBudget>>,
    is_over: Cell<bool>,
}

impl<'c> Limits<'c> {
    pub(super) fn new(budget: &MemoryBudget, cancel: &'c CancelToken) -> Self {
        Self {
            cancel,
            work: Cell::new(0),
            room: RefCell::new(budget.reserve_empty()),
            refused: RefCell::new(None),
            is_over: Cell::new(false),
        }
    }

    /// Why it had to end, if it had to.
    pub(super) fn finish(&self) -> Result<(), StoreError> {
        self.cancel.check()?;
        self.refused.borrow_mut().take().map_or(Ok(()), |refused| Err(StoreError::OutOfMemory(refused)))
    }

    pub(super) fn goes_on(&self) -> bool {
        !self.is_over.get()
    }

    pub(super) fn spend(&self, work: usize) -> Option<()> {
        let all = self.work.get().saturating_add(work);
        self.work.set(all);
        if all >= WORK_UNCHECKED {
            self.work.set(0);
            self.is_over.set(self.is_over.get() || self.cancel.check().is_err());
        }
        self.goes_on().then_some(())
    }
}

impl Means for Limits<'_> {
    fn work(&self, bytes: usize) -> bool {
        self.spend(bytes).is_some()
    }

    fn hold(&self, bytes: usize) -> bool {
        if let Err(refused) = self.room.borrow_mut().grow(bytes) {
            *self.refused.borrow_mut() = Some(refused);
            self.is_over.set(true);
        }
        self.goes_on()
    }

    fn release(&self, bytes: usize) {
        let mut room = self.room.borrow_mut();
        let rest = room.bytes().saturating_sub(bytes);
        room.shrink(rest);
    }
}

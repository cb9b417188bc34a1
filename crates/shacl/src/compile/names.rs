//! Names of variables that no query of a shapes graph has.

/// The next name.
#[derive(Debug, Default)]
pub struct Names {
    next: usize,
}

impl Names {
    /// A variable that was not there before.
    pub fn variable(&mut self) -> String {
        self.next += 1;
        format!("?shacl__{}", self.next)
    }

    /// A number that was not there before.
    pub fn number(&mut self) -> usize {
        self.next += 1;
        self.next
    }
}

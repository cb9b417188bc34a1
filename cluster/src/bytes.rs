//! Numbers and lists as bytes, read from who may send anything.

/// Writes.
#[derive(Debug, Default)]
pub struct Writer(pub Vec<u8>);

impl Writer {
    pub fn number(&mut self, number: u64) {
        self.0.extend(number.to_le_bytes());
    }

    pub fn wide(&mut self, number: u128) {
        self.0.extend(number.to_le_bytes());
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }
}

/// Reads; `None` where there is less than it says.
#[derive(Debug)]
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    pub fn number(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub fn wide(&mut self) -> Option<u128> {
        self.array().map(u128::from_le_bytes)
    }

    /// A number that is at most this.
    pub fn count(&mut self, max: usize) -> Option<usize> {
        usize::try_from(self.number()?).ok().filter(|count| *count <= max)
    }

    /// So many bytes at most.
    pub fn bytes(&mut self, max: usize) -> Option<&'a [u8]> {
        let length = self.count(max)?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    pub fn end(&self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}

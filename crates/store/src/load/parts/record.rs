//! What tasks tell each other: numbers and bytes in a file with a checksum.

use crate::error::StoreError;
use lode_base::checksum::checksum;
use lode_base::frame_file::{FrameWriter, read_frame};
use lode_base::varint::{read_varint, write_varint};
use lode_base::vfs::Vfs;
use std::path::{Path, PathBuf};

/// Numbers and bytes, one after the other.
#[derive(Debug, Default)]
pub struct Record(Vec<u8>);

impl Record {
    /// Appends a number.
    pub fn number(&mut self, number: u64) {
        write_varint(&mut self.0, number);
    }

    /// Appends bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// Appends a list of numbers.
    pub fn numbers(&mut self, numbers: impl ExactSizeIterator<Item = u64>) {
        self.number(numbers.len() as u64);
        numbers.for_each(|number| self.number(number));
    }

    /// Appends something or nothing.
    pub fn option<T>(&mut self, value: Option<T>, put: impl FnOnce(&mut Self, T)) {
        self.number(u64::from(value.is_some()));
        if let Some(value) = value {
            put(self, value);
        }
    }

    /// Writes all to a new file.
    pub fn write(&self, vfs: &dyn Vfs, path: &Path) -> Result<(), StoreError> {
        let mut file = FrameWriter::new(vfs.create(path).map_err(StoreError::io(path))?);
        file.frame(&self.0).and_then(|_| file.flush()).map_err(StoreError::io(path))
    }

    /// The bytes, and the checksum of these.
    pub fn into_sealed_bytes(mut self) -> Vec<u8> {
        let sum = checksum(&self.0);
        self.0.extend_from_slice(&sum.to_le_bytes());
        self.0
    }
}

/// Reads a [`Record`].
#[derive(Debug)]
pub struct RecordReader {
    path: PathBuf,
    bytes: Vec<u8>,
    at: usize,
}

impl RecordReader {
    /// Reads that of a file.
    pub fn open(vfs: &dyn Vfs, path: &Path) -> Result<Self, StoreError> {
        let file = vfs.open(path).map_err(StoreError::io(path))?;
        let mut bytes = Vec::new();
        read_frame(&*file, 0, &mut bytes).map_err(StoreError::io(path))?;
        Ok(Self::new(path, bytes))
    }

    /// Reads these bytes of a file.
    pub fn new(path: &Path, bytes: Vec<u8>) -> Self {
        Self { path: path.to_owned(), bytes, at: 0 }
    }

    /// Reads what [`Record::into_sealed_bytes`] made, from a file.
    pub fn sealed(path: &Path, mut bytes: Vec<u8>) -> Result<Self, StoreError> {
        let sum = bytes.last_chunk().map(|sum| u64::from_le_bytes(*sum));
        bytes.truncate(bytes.len().saturating_sub(size_of::<u64>()));
        if sum != Some(checksum(&bytes)) {
            return Err(StoreError::corruption(path, 0, "the bytes are not what was written for this load"));
        }
        Ok(Self::new(path, bytes))
    }

    fn damaged(&self) -> StoreError {
        StoreError::corruption(&self.path, self.at as u64, "not what a task of a load writes")
    }

    /// The next number.
    pub fn number(&mut self) -> Result<u64, StoreError> {
        let mut rest = self.bytes.get(self.at..).unwrap_or_default();
        let number = read_varint(&mut rest).ok_or_else(|| self.damaged())?;
        self.at = self.bytes.len() - rest.len();
        Ok(number)
    }

    /// The next number, of things that each take a byte at least.
    pub fn count(&mut self) -> Result<usize, StoreError> {
        let count = self.number()?;
        let left = (self.bytes.len() - self.at) as u64;
        if count > left { Err(self.damaged()) } else { Ok(count as usize) }
    }

    /// The next bytes.
    pub fn bytes(&mut self) -> Result<Vec<u8>, StoreError> {
        let count = self.count()?;
        let bytes = self.bytes.get(self.at..self.at + count).unwrap_or_default().to_vec();
        self.at += count;
        Ok(bytes)
    }

    /// The next bytes, which are text.
    pub fn text(&mut self) -> Result<String, StoreError> {
        let bytes = self.bytes()?;
        String::from_utf8(bytes).map_err(|_| self.damaged())
    }

    /// The next list of numbers.
    pub fn numbers(&mut self) -> Result<Vec<u64>, StoreError> {
        (0..self.count()?).map(|_| self.number()).collect()
    }

    /// So many numbers.
    pub fn array<const N: usize>(&mut self) -> Result<[u64; N], StoreError> {
        let mut numbers = [0; N];
        for number in &mut numbers {
            *number = self.number()?;
        }
        Ok(numbers)
    }

    /// The next something or nothing.
    pub fn option<T>(
        &mut self,
        take: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        match self.number()? {
            0 => Ok(None),
            1 => take(self).map(Some),
            _ => Err(self.damaged()),
        }
    }
}

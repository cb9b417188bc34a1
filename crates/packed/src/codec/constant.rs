//! One value for all rows.

use super::Mini;
use super::tags::CONSTANT;
use crate::bytes::Reader;
use crate::error::Damage;

/// The value.
#[derive(Debug)]
pub(crate) struct Constant(u64);

pub(super) fn encode(value: u64, out: &mut Vec<u8>) {
    out.push(CONSTANT);
    out.extend_from_slice(&value.to_le_bytes());
}

impl Constant {
    pub(super) fn parse(reader: &mut Reader<'_>) -> Result<Self, Damage> {
        Ok(Self(reader.u64()?))
    }

    pub(super) fn value(&self) -> u64 {
        self.0
    }

    #[expect(clippy::unnecessary_wraps, reason = "the shape all codecs have")]
    pub(super) fn decode(&self, out: &mut Mini) -> Result<(), Damage> {
        *out = [self.0; _];
        Ok(())
    }
}

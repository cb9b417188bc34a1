//! Codec numbers, part of the format.

pub(super) const CONSTANT: u8 = 0;
pub(super) const RUNS: u8 = 1;
pub(super) const AFFINE: u8 = 2;
pub(super) const TABLE: u8 = 3;
pub(super) const PHRASES: u8 = 4;
pub(super) const CLASSES: u8 = 5;
pub(super) const DENSE: u8 = 6;

//! Drops quads that the database has already from the sorted rows of a load.

use crate::error::StoreError;
use crate::segment_builder::{Layout, PackedRow, RowShape};
use crate::version::{SegmentQuads, Version};
use lode_packed::Position;

/// Looks for quads, given in ascending order, in the segments of a version.
#[derive(Debug)]
pub struct ExistingQuads(SegmentQuads);

impl ExistingQuads {
    /// Looks in all segments of `version`.
    pub fn new(version: &Version) -> Self {
        Self(SegmentQuads::new(&version.segments))
    }

    /// Removes from `rows` (sorted, of shape `shape`) those that exist already.
    pub fn drop_from<R: PackedRow>(
        &mut self,
        rows: &mut Vec<R>,
        layout: &Layout,
        shape: RowShape,
    ) -> Result<(), StoreError> {
        if self.0.is_empty() {
            return Ok(());
        }
        let mut result = Ok(());
        rows.retain(|row| {
            let fields = shape.fields(*row);
            if result.is_err() || !layout.may_exist(fields) {
                return true;
            }
            let positions = [Position::S, Position::P, Position::O, Position::G];
            let mut quad = [0; 4];
            for ((id, field), position) in quad.iter_mut().zip(fields).zip(positions) {
                *id = layout.id(position, field);
            }
            match self.0.contains(quad) {
                Ok(found) => !found,
                Err(error) => {
                    result = Err(error);
                    true
                }
            }
        });
        result
    }
}

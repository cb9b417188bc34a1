//! Which blocks are read as one request.

use crate::device::Device;
use std::ops::Range;

/// A request: the blocks that it is for, and the bytes from the first to the last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Extent {
    pub bytes: Range<u64>,
    pub blocks: Vec<Range<u64>>,
}

/// Makes requests of blocks that ascend and do not overlap. A block that is longer than a request may be is one by itself.
pub(super) fn merge(blocks: impl IntoIterator<Item = Range<u64>>, device: &Device) -> Vec<Extent> {
    let mut extents: Vec<Extent> = Vec::new();
    for block in blocks {
        if let Some(last) = extents.last_mut()
            && block.start.saturating_sub(last.bytes.end) <= device.gap_bytes_max
            && block.end - last.bytes.start <= device.request_bytes_max
        {
            last.bytes.end = block.end;
            last.blocks.push(block);
        } else {
            extents.push(Extent { bytes: block.clone(), blocks: vec![block] });
        }
    }
    extents
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEVICE: Device = Device { parallel: 4, gap_bytes_max: 10, request_bytes_max: 100, ..Device::LOCAL };

    fn bytes(blocks: &[Range<u64>]) -> Vec<Range<u64>> {
        merge(blocks.iter().cloned(), &DEVICE).into_iter().map(|extent| extent.bytes).collect()
    }

    #[test]
    fn near_neighbours_are_one_request() {
        assert_eq!(bytes(&[0..10, 10..20, 30..40, 51..60]), [0..40, 51..60]);
        assert_eq!(bytes(&[0..10, 21..30]), [0..10, 21..30]);
        assert_eq!(bytes(&[0..60, 60..100, 100..110]), [0..100, 100..110]);
        assert_eq!(bytes(&[0..500, 500..510]), [0..500, 500..510]);
        assert!(bytes(&[]).is_empty());
    }
}

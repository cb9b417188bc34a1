//! Boxes in memory, packed into a tree: for joins, which look up many boxes among many once.
//!
//! Boxes are sorted into strips by the middle of one axis and within them by that of the other (sort-tile-recursive), sixteen to a node. Sides may be
//! infinite, so that it is not `rstar`'s, which takes middles for numbers that can be compared.

use crate::window::{Bounds, Windows};

/// Boxes of a node.
const NODE: usize = 16;
/// Bytes of a box in a tree, with its part of the levels above.
pub(crate) const BOX_BYTES: usize = (size_of::<Bounds>() + size_of::<u32>()) * NODE / (NODE - 1) + 1;

/// The tree.
#[derive(Debug)]
pub(crate) struct BoxTree {
    /// What the boxes are of, in the order of the lowest level.
    numbers: Vec<u32>,
    /// The boxes of each level, the lowest first; the highest has a node's at most.
    levels: Vec<Vec<Bounds>>,
}

impl BoxTree {
    /// One of these boxes and what they are of.
    pub(crate) fn new(mut boxes: Vec<(Bounds, u32)>) -> Self {
        let middle = |bounds: &Bounds, axis: usize| bounds.min[axis] / 2.0 + bounds.max[axis] / 2.0;
        let by = |axis| {
            move |a: &(Bounds, u32), b: &(Bounds, u32)| middle(&a.0, axis).total_cmp(&middle(&b.0, axis))
        };
        boxes.sort_unstable_by(by(0));
        let strip = boxes.len().div_ceil(NODE).isqrt().max(1) * NODE;
        boxes.chunks_mut(strip).for_each(|strip| strip.sort_unstable_by(by(1)));
        let numbers = boxes.iter().map(|(_, number)| *number).collect();
        let mut level: Vec<Bounds> = boxes.iter().map(|(bounds, _)| *bounds).collect();
        drop(boxes);
        let mut levels = Vec::new();
        while level.len() > NODE {
            let above = level.chunks(NODE).filter_map(around).collect();
            levels.push(std::mem::replace(&mut level, above));
        }
        levels.push(level);
        Self { numbers, levels }
    }

    /// Appends what boxes that meet one of the windows are of.
    pub(crate) fn meeting(&self, windows: &Windows, found: &mut Vec<u32>) {
        let windows = match windows {
            Windows::Everywhere => return found.extend(&self.numbers),
            Windows::Boxes(windows) => windows,
        };
        let top = self.levels.len() - 1;
        let all = self.levels.get(top).map_or(0, Vec::len);
        let mut open = vec![(top, 0..all)];
        while let Some((level, range)) = open.pop() {
            let Some(boxes) = self.levels.get(level).and_then(|boxes| boxes.get(range.clone())) else {
                continue;
            };
            for (at, bounds) in range.zip(boxes) {
                if !windows.iter().any(|window| window.meets(bounds)) {
                    continue;
                }
                match level.checked_sub(1) {
                    Some(below) => {
                        let end = self.levels.get(below).map_or(0, Vec::len).min((at + 1) * NODE);
                        open.push((below, at * NODE..end));
                    }
                    None => found.extend(self.numbers.get(at)),
                }
            }
        }
    }
}

fn around(boxes: &[Bounds]) -> Option<Bounds> {
    boxes.iter().copied().reduce(|a, b| Bounds {
        min: [a.min[0].min(b.min[0]), a.min[1].min(b.min[1])],
        max: [a.max[0].max(b.max[0]), a.max[1].max(b.max[1])],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_found_as_by_looking_at_all() {
        let mut state = 7_u64;
        let mut next = |end: f64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f64 / (1_u64 << 24) as f64 * end
        };
        for count in [0_u32, 1, 15, 16, 17, 256, 257, 4096, 5000] {
            let mut boxes = Vec::new();
            for number in 0..count {
                let (x, y, w, h) = (next(100.0), next(100.0), next(3.0), next(3.0));
                let (west, east) = match number % 97 {
                    96 => (f64::NEG_INFINITY, f64::INFINITY),
                    _ => (x, x + w),
                };
                boxes.push((Bounds { min: [west, y], max: [east, y + h] }, number));
            }
            let tree = BoxTree::new(boxes.clone());
            for _ in 0..50 {
                let window = |x: f64, y: f64| Bounds { min: [x, y], max: [x + 5.0, y + 5.0] };
                let windows =
                    Windows::Boxes(vec![window(next(100.0), next(100.0)), window(next(100.0), next(100.0))]);
                let mut found = Vec::new();
                tree.meeting(&windows, &mut found);
                found.sort_unstable();
                let meeting = boxes.iter().filter(|(bounds, _)| windows.meet(bounds));
                assert_eq!(found, meeting.map(|(_, number)| *number).collect::<Vec<_>>());
            }
            let mut all = Vec::new();
            tree.meeting(&Windows::Everywhere, &mut all);
            assert_eq!(all.len(), count as usize);
        }
    }
}

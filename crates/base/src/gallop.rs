//! Search from a place that is likely near.

/// The first of `start..end` for which `before` fails, given that it holds for a leading part: steps of growing width, then halving.
#[inline(always)]
pub fn gallop(start: usize, end: usize, before: impl Fn(usize) -> bool) -> usize {
    let mut low = start;
    let mut step = 1;
    let mut high = loop {
        let probe = low.saturating_add(step - 1);
        if probe >= end {
            break end;
        }
        if !before(probe) {
            break probe;
        }
        low = probe + 1;
        step *= 2;
    };
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

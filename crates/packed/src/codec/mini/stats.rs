//! What the choice of an encoding needs to know about the values of one mini-block.

/// Gathered in one pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MiniStats {
    pub first: u64,
    pub last: u64,
    pub min: u64,
    pub max: u64,
    /// No value is less than the one before it.
    pub ascending: bool,
    /// Least and greatest difference of neighbours; meaningful when ascending.
    pub delta_min: u64,
    pub delta_max: u64,
    /// Stretches of equal values.
    pub runs: usize,
}

impl MiniStats {
    pub(super) fn of(values: &[u64]) -> Self {
        let first = values.first().copied().unwrap_or(0);
        let mut stats = Self {
            first,
            last: first,
            min: first,
            max: first,
            ascending: true,
            delta_min: u64::MAX,
            delta_max: 0,
            runs: 1,
        };
        let mut descents = 0;
        for &value in values.iter().skip(1) {
            let delta = value.wrapping_sub(stats.last);
            descents += usize::from(value < stats.last);
            stats.runs += usize::from(delta != 0);
            stats.delta_min = stats.delta_min.min(delta);
            stats.delta_max = stats.delta_max.max(delta);
            stats.min = stats.min.min(value);
            stats.max = stats.max.max(value);
            stats.last = value;
        }
        stats.ascending = descents == 0;
        stats
    }
}

//! Times of many runs in a few figures.

use std::time::Duration;

/// Seconds of many.
pub struct Times {
    pub mean: f64,
    pub geometric: f64,
    pub median: f64,
    pub min: f64,
    pub max: f64,
}

impl Times {
    /// None where there is none.
    pub fn of(times: &[Duration]) -> Option<Self> {
        let mut seconds: Vec<f64> = times.iter().map(Duration::as_secs_f64).collect();
        seconds.sort_unstable_by(f64::total_cmp);
        let count = seconds.len() as f64;
        Some(Self {
            mean: seconds.iter().sum::<f64>() / count,
            // A clock that stood still must not make it zero.
            geometric: (seconds.iter().map(|time| time.max(1e-9).ln()).sum::<f64>() / count).exp(),
            median: *seconds.get(seconds.len() / 2)?,
            min: *seconds.first()?,
            max: *seconds.last()?,
        })
    }
}

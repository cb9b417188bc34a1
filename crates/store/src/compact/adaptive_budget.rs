//! The memory that background merges count on: less where a merge turned out not to fit, and step by step all of it again.
//!
//! What fits is estimated, and an estimate can be wrong for the data of one time and right for those of another. So the budget is
//! halved by each failure and grows by a fixed part with each success, as the window of TCP does (Jacobson, *Congestion Avoidance and Control*,
//! SIGCOMM 1988). It also grows with time: of too little memory nothing is merged, and so nothing succeeds.

use crate::compact::merge_budget::MergeBudget;
use std::time::{Duration, Instant};

/// Steps from nothing to all of the budget.
const STEPS: u64 = 16;
/// After so long a step is given back without a success.
const STEP_AFTER: Duration = Duration::from_secs(60);

/// A budget that learns from failures.
#[derive(Debug, Clone, Copy)]
pub struct AdaptiveBudget {
    all: MergeBudget,
    /// How much of it merges count on, in steps.
    steps: u64,
    /// When that changed last.
    since: Option<Instant>,
}

impl AdaptiveBudget {
    /// Begins with all of it.
    pub fn new(all: MergeBudget) -> Self {
        Self { all, steps: STEPS, since: None }
    }

    /// What merges may count on at this moment.
    pub fn at(&mut self, now: Instant) -> MergeBudget {
        if self.since.is_some_and(|since| now.saturating_duration_since(since) >= STEP_AFTER) {
            self.succeeded(now);
        }
        self.all.share(self.steps, STEPS)
    }

    /// A merge took more memory than was thought.
    pub fn failed(&mut self, now: Instant) {
        (self.steps, self.since) = (self.steps / 2, Some(now));
    }

    /// A merge came to its end.
    pub fn succeeded(&mut self, now: Instant) {
        (self.steps, self.since) = ((self.steps + 1).min(STEPS), Some(now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_halves_it_and_successes_give_it_back() {
        let (all, now) = (MergeBudget::new(1 << 30, 2), Instant::now());
        let mut budget = AdaptiveBudget::new(all);
        budget.succeeded(now);
        assert_eq!(budget.at(now), all, "never more than all");
        budget.failed(now);
        assert_eq!(budget.at(now), all.share(1, 2));
        budget.failed(now);
        assert_eq!(budget.at(now), all.share(1, 4));
        budget.succeeded(now);
        assert_eq!(budget.at(now), all.share(5, 16));
        (0..11).for_each(|_| budget.succeeded(now));
        assert_eq!(budget.at(now), all);
    }

    #[test]
    fn time_gives_it_back_where_nothing_fits() {
        let (all, mut now) = (MergeBudget::new(1 << 30, 2), Instant::now());
        let mut budget = AdaptiveBudget::new(all);
        (0..9).for_each(|_| budget.failed(now));
        assert_eq!(budget.at(now), all.share(0, 1));
        for steps in 0..STEPS {
            assert_eq!(budget.at(now + STEP_AFTER / 2), all.share(steps, STEPS));
            now += STEP_AFTER;
        }
        assert_eq!(budget.at(now + STEP_AFTER), all);
    }
}

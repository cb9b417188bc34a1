//! A mix as one client asks it.

use crate::args::Mix;
use lode_bench::bsbm::{self, ParameterPools, Random};

/// Failures that each client tells in words.
pub const FAILURES_TOLD: u64 = 10;

/// The queries of one mix, with parameters of their own. Those of the update mix are those of Explore.
pub fn queries_of_mix(mix: Mix, pools: &ParameterPools, random: &mut Random) -> Vec<(&'static str, String)> {
    match mix {
        Mix::Explore | Mix::Update => bsbm::explore_mix(pools, random),
        Mix::Bi => bsbm::bi_mix(pools, random),
    }
}

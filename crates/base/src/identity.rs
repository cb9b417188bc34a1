//! Random numbers that tell databases, segments and files apart.

use std::hash::{BuildHasher, Hasher, RandomState};

/// A number that nothing else has.
pub fn random_identity() -> u128 {
    let random = || u128::from(RandomState::new().build_hasher().finish());
    random() << 64 | random()
}

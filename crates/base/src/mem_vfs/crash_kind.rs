//! The kinds of power cut, and the dice that decide where one leaves a choice.

/// What a crash leaves of changes that were not made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrashKind {
    /// None of them.
    LoseAll,
    /// All of them.
    KeepAll,
    /// A choice of them that depends on the seed. Of a file's later bytes, a prefix. Of changed names, either all up to some moment, as
    /// journaling file systems have it, or any of them, as POSIX allows: two changes of one name keep their order, and a
    /// rename is whole or not at all.
    Torn(u64),
    /// The same, but of a file's later bytes any small pieces, in no order: zeros, or what was there before a cut, where
    /// one is lost.
    Scattered(u64),
}

/// The dice of a torn crash (SplitMix64); none: they always fall on 0.
pub(super) struct Dice(Option<u64>);

impl Dice {
    pub fn of(kind: CrashKind) -> Self {
        Self(match kind {
            CrashKind::LoseAll | CrashKind::KeepAll => None,
            CrashKind::Torn(seed) | CrashKind::Scattered(seed) => Some(seed),
        })
    }

    pub fn roll(&mut self) -> u64 {
        let Some(state) = &mut self.0 else { return 0 };
        *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = *state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn yes(&mut self) -> bool {
        self.roll() >> 63 == 1
    }

    /// From 0 to `most`.
    pub fn up_to(&mut self, most: usize) -> usize {
        usize::try_from(self.roll() % (most as u64 + 1)).unwrap_or(0)
    }
}

//! The kinds of mini-blocks, and the tags that name them on disk.

/// Tags. Widths are added to the first three.
const FRAME: u8 = 0;
const DELTA: u8 = 65;
const BITMAP: u8 = 164;
const RUNS: u8 = 165;

/// Deltas are at most this wide; wider ones gain nothing over a frame.
pub(super) const DELTA_WIDTH_MAX: u32 = 32;
const DELTA_TAGS: u8 = DELTA_WIDTH_MAX as u8 + 1;

/// The kinds of mini-block, as the tag names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `base + packed`.
    Frame { width: u32 },
    /// `base`, then each the one before plus a step plus a packed number.
    Delta { step: Step, width: u32 },
    /// Strictly ascending: a bit per number of the span after `base`.
    Bitmap,
    /// Each value repeated.
    Runs { lengths: Lengths, values: Values },
}

impl Kind {
    pub fn tag(self) -> u8 {
        match self {
            Self::Frame { width } => FRAME + width as u8,
            Self::Delta { step, width } => DELTA + step as u8 * DELTA_TAGS + width as u8,
            Self::Bitmap => BITMAP,
            Self::Runs { lengths, values } => RUNS + 2 * lengths as u8 + values as u8,
        }
    }

    pub fn from_tag(tag: u8) -> Option<Self> {
        Some(match tag {
            0..DELTA => Self::Frame { width: u32::from(tag) },
            DELTA..=163 => {
                let step = match (tag - DELTA) / DELTA_TAGS {
                    0 => Step::Zero,
                    1 => Step::One,
                    _ => Step::Stored,
                };
                Self::Delta { step, width: u32::from((tag - DELTA) % DELTA_TAGS) }
            }
            BITMAP => Self::Bitmap,
            165 => Self::Runs { lengths: Lengths::Packed, values: Values::Frame },
            166 => Self::Runs { lengths: Lengths::Packed, values: Values::Delta },
            167 => Self::Runs { lengths: Lengths::Bits, values: Values::Frame },
            168 => Self::Runs { lengths: Lengths::Bits, values: Values::Delta },
            _ => return None,
        })
    }
}

/// What every difference has at least.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing.
    Zero = 0,
    /// One: strictly ascending values.
    One = 1,
    /// A number in front of the payload.
    Stored = 2,
}

/// How the ends of runs are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lengths {
    /// Count, first length, least length, width, packed lengths.
    Packed = 0,
    /// A bit for every row, set where a run starts.
    Bits = 1,
}

/// How the values are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Values {
    /// Packed differences to the least, which is the base.
    Frame = 0,
    /// Ascending: packed differences of neighbours less one; the base is the first.
    Delta = 1,
}

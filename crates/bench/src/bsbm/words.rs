//! The words of labels, comments and reviews, and the names of reviewers.
//!
//! Built once from parts of words: a list of stems with prefixes and suffixes makes English-looking words of
//! the average length of the original lists (about 9 letters), syllables make names. The lists do not
//! depend on the seed. Each word lies in a slot of 16 bytes, so that copying one is a fixed-size move.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::random::Random;

/// Bits that select a word: 2^14 words.
const INDEX_BITS: u32 = 14;
const WORD_COUNT: usize = 1 << INDEX_BITS;
const SLOT_BYTES: usize = 16;
/// The longest word; there must be room for the space that follows it.
const LETTERS_MAX: usize = 13;
const _: () = assert!(LETTERS_MAX < SLOT_BYTES, "a slot holds a word and a space");
const LETTERS_MIN: usize = 3;

/// The words of all texts.
pub(super) static WORDS: LazyLock<WordList> = LazyLock::new(|| WordList::collect(0x776F_7264, compose_word));

/// The names of reviewers.
pub(super) static NAMES: LazyLock<WordList> = LazyLock::new(|| WordList::collect(0x6E61_6D65, compose_name));

const PREFIXES: [&str; 16] = [
    "un", "re", "over", "fore", "out", "under", "mis", "inter", "up", "sub", "non", "dis", "be", "pre",
    "mid", "en",
];

const SUFFIXES: [&str; 24] = [
    "er", "ing", "ed", "ness", "able", "less", "ful", "ly", "ment", "ish", "like", "ward", "some", "ship",
    "s", "ery", "y", "ings", "ers", "al", "land", "work", "en", "ism",
];

#[rustfmt::skip]
const STEMS: [&str; 300] = [
    "amber", "anchor", "apple", "arch", "arrow", "ash", "autumn", "badger", "bake", "balm", "banner", "bark", "barley", "basin",
    "beacon", "beam", "bell", "bend", "berry", "birch", "blade", "blaze", "bloom", "board", "boat", "bolt", "bond", "book",
    "bough", "bow", "bramble", "branch", "brass", "bread", "breeze", "brick", "bridge", "bright", "brook", "brush", "bucket", "burn",
    "button", "cabin", "cable", "candle", "canvas", "carve", "cask", "cast", "cedar", "chalk", "chart", "chest", "chime", "chisel",
    "cinder", "circle", "clay", "clear", "cliff", "cloak", "clock", "cloud", "clover", "coal", "coast", "cobble", "comb", "compass",
    "copper", "coral", "cord", "cork", "corn", "cotton", "cove", "crane", "crest", "crisp", "crown", "crystal", "current", "curve",
    "dance", "dapple", "dawn", "deck", "deep", "delta", "dew", "dome", "door", "draft", "dream", "drift", "drum", "dune",
    "dusk", "eagle", "early", "earth", "east", "echo", "ember", "fable", "falcon", "farm", "feather", "fern", "ferry", "fiddle",
    "field", "fig", "finch", "firm", "flame", "flax", "fleet", "flint", "float", "flood", "flour", "flow", "flute", "fog",
    "fold", "forest", "forge", "fort", "fresh", "frost", "fruit", "garden", "garnet", "gate", "gather", "gentle", "ginger", "glade",
    "glass", "gleam", "globe", "glow", "gold", "grain", "granite", "grape", "grass", "gravel", "green", "grove", "guard", "guide",
    "gull", "hammer", "harbor", "harp", "harvest", "haven", "hawk", "hazel", "hearth", "heather", "hedge", "helm", "herb", "heron",
    "hill", "hollow", "honey", "hook", "horn", "ink", "iron", "island", "ivory", "ivy", "jade", "jasper", "jewel", "juniper",
    "keel", "kettle", "kiln", "kite", "knot", "lace", "ladder", "lake", "lamp", "lantern", "larch", "lark", "leaf", "ledge",
    "lemon", "light", "lilac", "linen", "loam", "lodge", "loft", "loom", "lumen", "maple", "marble", "market", "marsh", "mast",
    "meadow", "mellow", "metal", "mill", "mint", "mirror", "mist", "moon", "morning", "moss", "mount", "murmur", "nectar", "needle",
    "nest", "noble", "north", "oak", "oar", "oat", "ocean", "olive", "orbit", "orchard", "otter", "paddle", "paint", "paper",
    "parcel", "path", "pearl", "pebble", "petal", "pigment", "pillar", "pine", "plain", "plank", "plant", "plow", "plum", "pocket",
    "pollen", "pond", "poplar", "porch", "quarry", "quartz", "quill", "quilt", "rain", "ramble", "raven", "reed", "reef", "ribbon",
    "ridge", "river", "robin", "root", "rope", "rose", "rustle", "saddle", "saffron", "sage", "sail", "salt", "sand", "sapling",
    "shade", "shell", "shore", "silk", "silver", "sketch", "slate", "smooth", "snow", "spark", "spring", "sprout", "spruce", "stable",
    "star", "steam", "stream", "summer", "sun", "timber",
];

const ONSETS: [&str; 24] = [
    "b", "br", "c", "d", "dr", "f", "g", "gr", "h", "j", "k", "l", "m", "n", "p", "r", "s", "sh", "t", "th",
    "tr", "v", "w", "z",
];
const VOWELS: [&str; 10] = ["a", "e", "i", "o", "u", "ai", "ea", "ia", "io", "ou"];
const CODAS: [&str; 10] = ["", "", "", "n", "l", "r", "s", "m", "nd", "th"];

fn pick<'a>(random: &mut Random, from: &[&'a str]) -> &'a str {
    from[random.below(from.len() as u64) as usize]
}

/// A stem, mostly with a suffix and now and then with a prefix.
fn compose_word(random: &mut Random) -> String {
    let mut word = String::with_capacity(2 * SLOT_BYTES);
    if random.percent(25) {
        word.push_str(pick(random, &PREFIXES));
    }
    word.push_str(pick(random, &STEMS));
    if random.percent(85) {
        let suffix = pick(random, &SUFFIXES);
        if word.ends_with('e') && suffix.starts_with(['a', 'e', 'i']) {
            word.pop();
        }
        word.push_str(suffix);
    }
    word
}

/// Two to four syllables.
fn compose_name(random: &mut Random) -> String {
    let mut name = String::with_capacity(2 * SLOT_BYTES);
    for _ in 0..random.between(2, 4) {
        name.push_str(pick(random, &ONSETS));
        name.push_str(pick(random, &VOWELS));
        name.push_str(pick(random, &CODAS));
    }
    name[..1].make_ascii_uppercase();
    name
}

/// A list of distinct words.
pub(super) struct WordList {
    /// The letters of a word, a space, and undefined bytes.
    slots: Vec<[u8; SLOT_BYTES]>,
    lengths: Vec<u8>,
}

impl WordList {
    fn collect(seed: u64, compose: fn(&mut Random) -> String) -> Self {
        let random = &mut Random::new(seed);
        let mut seen = HashSet::with_capacity(WORD_COUNT);
        let mut list =
            Self { slots: Vec::with_capacity(WORD_COUNT), lengths: Vec::with_capacity(WORD_COUNT) };
        while list.slots.len() < WORD_COUNT {
            let word = compose(random);
            if (LETTERS_MIN..=LETTERS_MAX).contains(&word.len()) && !seen.contains(&word) {
                let mut slot = [b' '; SLOT_BYTES];
                slot[..word.len()].copy_from_slice(word.as_bytes());
                list.slots.push(slot);
                list.lengths.push(word.len() as u8);
                seen.insert(word);
            }
        }
        list
    }

    /// Appends random words, separated by spaces.
    pub(super) fn put_sentence(&self, to: &mut Vec<u8>, random: &mut Random, count: u64) {
        to.reserve(count as usize * SLOT_BYTES);
        let mut left = count;
        while left > 0 {
            let mut bits = random.bits();
            for _ in 0..left.min(4) {
                let index = bits as usize % WORD_COUNT;
                bits >>= INDEX_BITS;
                let end = to.len() + usize::from(self.lengths[index]) + 1;
                to.extend_from_slice(&self.slots[index]);
                to.truncate(end);
            }
            left = left.saturating_sub(4);
        }
        if count > 0 {
            to.pop();
        }
    }

    /// A random word.
    #[cfg(test)]
    pub(super) fn word(&self, random: &mut Random) -> String {
        let mut bytes = Vec::with_capacity(SLOT_BYTES);
        self.put_sentence(&mut bytes, random, 1);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

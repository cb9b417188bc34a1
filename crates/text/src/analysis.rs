//! The words of a text: where they are (Unicode's rules, UAX 29), what of their spelling counts (neither case nor accents), and their stems by language.
//!
//! Scripts without spaces between words, as Han, have each character for a word: a longer query of them is a phrase, so that it finds any part of a text.

use crate::segments::Words;
use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::char::decompose_compatible;

/// A word that is longer, folded, is none: no query finds it.
pub const WORD_BYTES_MAX: usize = 255;

/// The words of a text as they are written, with the byte at which each begins.
pub fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    Words::of(text)
}

/// Writes a word over `out` without case, accents and other ways of writing the same letters.
pub fn fold(word: &str, out: &mut String) {
    out.clear();
    if word.is_ascii() {
        out.push_str(word);
        out.make_ascii_lowercase();
        return;
    }
    for c in word.chars() {
        fold_char(c, out);
    }
}

/// The folded form of a word.
pub fn folded(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    fold(word, &mut out);
    out
}

/// Writes a character at the end of `out`, folded.
pub(crate) fn fold_char(c: char, out: &mut String) {
    // Syllables of Hangul are characters of their own to whoever reads them: a prefix must not end within one.
    if ('\u{ac00}'..='\u{d7a3}').contains(&c) {
        out.push(c);
        return;
    }
    decompose_compatible(c, |part| {
        for lower in part.to_lowercase() {
            match lower {
                c if is_accent(c) => {}
                'ß' => out.push_str("ss"),
                'æ' => out.push_str("ae"),
                'œ' => out.push_str("oe"),
                'þ' => out.push_str("th"),
                'ø' => out.push('o'),
                'ł' => out.push('l'),
                'đ' | 'ð' => out.push('d'),
                'ħ' => out.push('h'),
                'ı' => out.push('i'),
                'ς' => out.push('σ'),
                '’' => out.push('\''),
                c => out.push(c),
            }
        }
    });
}

/// Marks that a spelling may leave out: those of Latin, Greek and Cyrillic, vowel signs of Arabic and Hebrew. Vowel signs of Indic scripts are letters.
fn is_accent(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}'..='\u{5c2}' | '\u{5c4}'..='\u{5c5}' | '\u{5c7}'
        | '\u{640}' | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

/// Whether a character is a word by itself, since its script has no spaces between words.
pub(crate) fn stands_alone(c: char) -> bool {
    matches!(u32::from(c), 0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff | 0x3005..=0x3007 | 0x3040..=0x309f | 0x3400..=0x4dbf
        | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x3ffff)
}

/// How words of a language are reduced to stems: by the algorithms of Snowball, or not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Language(u8);

/// Primary subtags, by algorithm.
const LANGUAGES: [(&[&str], Algorithm); 18] = [
    (&["ar"], Algorithm::Arabic),
    (&["da"], Algorithm::Danish),
    (&["nl"], Algorithm::Dutch),
    (&["en"], Algorithm::English),
    (&["fi"], Algorithm::Finnish),
    (&["fr"], Algorithm::French),
    (&["de"], Algorithm::German),
    (&["el"], Algorithm::Greek),
    (&["hu"], Algorithm::Hungarian),
    (&["it"], Algorithm::Italian),
    (&["no", "nb", "nn"], Algorithm::Norwegian),
    (&["pt"], Algorithm::Portuguese),
    (&["ro"], Algorithm::Romanian),
    (&["ru"], Algorithm::Russian),
    (&["es"], Algorithm::Spanish),
    (&["sv"], Algorithm::Swedish),
    (&["ta"], Algorithm::Tamil),
    (&["tr"], Algorithm::Turkish),
];

impl Language {
    /// No language: words are not reduced.
    pub const NONE: Self = Self(0);
    /// How many there are, with [`Self::NONE`].
    pub const COUNT: usize = LANGUAGES.len() + 1;

    /// That of a language tag. One without an algorithm is as none.
    pub fn of_tag(tag: &str) -> Self {
        let primary = tag.split('-').next().unwrap_or_default();
        let same =
            |(tags, _): &(&[&str], Algorithm)| tags.iter().any(|tag| tag.eq_ignore_ascii_case(primary));
        let place = LANGUAGES.iter().position(same).and_then(|place| u8::try_from(place + 1).ok());
        place.map_or(Self::NONE, Self)
    }

    /// The one at a place among all.
    pub(crate) fn at(index: u8) -> Option<Self> {
        (usize::from(index) < Self::COUNT).then_some(Self(index))
    }

    /// All of them.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        (0..).map_while(Self::at)
    }

    /// Its place among all.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// Whether the stem of a word that begins with a letter of ASCII begins with the same: those that take prefixes away are left out.
    pub(crate) fn keeps_first_letters(self) -> bool {
        let algorithm =
            self.index().checked_sub(1).and_then(|at| LANGUAGES.get(at)).map(|(_, algorithm)| algorithm);
        !matches!(algorithm, Some(Algorithm::Arabic | Algorithm::Tamil))
    }

    /// Its stemmer.
    pub(crate) fn stemmer(self) -> Option<Stemmer> {
        let (_, algorithm) = LANGUAGES.get(self.index().checked_sub(1)?)?;
        Some(Stemmer::create(*algorithm))
    }
}

/// Writes the folded stem of a word over `out`.
pub(crate) fn stem(stemmer: &Stemmer, word: &str, out: &mut String) {
    // Digits have no stems, and words of many characters are none of a language.
    if word.len() > WORD_BYTES_MAX || !word.chars().all(char::is_alphabetic) {
        fold(word, out);
        return;
    }
    let lower = word.to_lowercase();
    fold(&stemmer.stem(&lower), out);
}

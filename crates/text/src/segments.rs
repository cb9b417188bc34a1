//! Where the words of a text are, by Unicode's rules (UAX 29): by a table where a text is ASCII, which most of most texts is, and by the library elsewhere.
//!
//! Between a space and another character of ASCII every text may be cut, since no rule looks beyond: so what is not ASCII is given to the library with the words around it, and no more.

use unicode_segmentation::{UnicodeSegmentation, UnicodeWordIndices};

/// What words are made of: letters, digits, and the line that joins them.
const CORE: [bool; 256] = {
    let mut core = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        core[byte] = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_';
        byte += 1;
    }
    core
};

/// The words of a text, each with the byte at which it begins.
pub(crate) struct Words<'t> {
    text: &'t str,
    /// Where it goes on,
    at: usize,
    /// and where what is ASCII ends there.
    ascii_end: usize,
    /// A part that is not, and where it begins.
    other: Option<(usize, UnicodeWordIndices<'t>)>,
}

impl<'t> Words<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        let mut words = Self { text, at: 0, ascii_end: 0, other: None };
        words.begin();
        words
    }

    /// Looks what begins at the present place: something of ASCII, or something else.
    fn begin(&mut self) {
        let bytes = self.text.as_bytes();
        let rest = bytes.get(self.at..).unwrap_or_default();
        let ascii = ascii_len(rest);
        if ascii == rest.len() {
            self.ascii_end = bytes.len();
            return;
        }
        // The last place before at which it may be cut, or the first behind.
        let before = rest.get(..ascii).unwrap_or_default().windows(2).rposition(is_cut);
        if let Some(place) = before {
            self.ascii_end = self.at + place + 1;
            return;
        }
        let behind = rest.get(ascii..).unwrap_or_default().windows(2).position(is_cut);
        let end = behind.map_or(bytes.len(), |place| self.at + ascii + place + 1);
        let part = self.text.get(self.at..end).unwrap_or_default();
        self.other = Some((self.at, part.unicode_word_indices()));
        (self.at, self.ascii_end) = (end, end);
    }

    fn next_ascii(&mut self) -> Option<(usize, &'t str)> {
        let bytes = self.text.as_bytes().get(..self.ascii_end)?;
        let mut at = self.at;
        loop {
            while bytes.get(at).is_some_and(|byte| !CORE[usize::from(*byte)]) {
                at += 1;
            }
            let (start, first) = (at, *bytes.get(at)?);
            at = core_end(bytes, at + 1);
            while joins(bytes, at) {
                at = core_end(bytes, at + 1);
            }
            self.at = at;
            if first != b'_' || bytes.get(start..at)?.iter().any(u8::is_ascii_alphanumeric) {
                return self.text.get(start..at).map(|word| (start, word));
            }
        }
    }
}

impl<'t> Iterator for Words<'t> {
    type Item = (usize, &'t str);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((start, words)) = &mut self.other {
                if let Some((at, word)) = words.next() {
                    return Some((*start + at, word));
                }
                self.other = None;
            } else {
                if let Some(word) = self.next_ascii() {
                    return Some(word);
                }
                if self.ascii_end >= self.text.len() {
                    return None;
                }
                self.at = self.ascii_end;
            }
            self.begin();
        }
    }
}

/// Where what words are made of ends, from a place on: eight bytes of ASCII at a time.
#[inline]
fn core_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(eight) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let core = core_of(u64::from_le_bytes(*eight));
        if core != HIGH {
            return at + ((core ^ HIGH).trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while bytes.get(at).is_some_and(|byte| CORE[usize::from(*byte)]) {
        at += 1;
    }
    at
}

/// A byte eight times.
const fn eight(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// The highest bits of bytes.
const HIGH: u64 = eight(0x80);

/// The highest bit of each of eight bytes of ASCII that words are made of. Sums reach that bit where a byte is at least as much, and never the next byte.
const fn core_of(bytes: u64) -> u64 {
    let lower = bytes | eight(0x20);
    let letters = (lower + eight(0x80 - b'a')) & !(lower + eight(0x80 - (b'z' + 1)));
    let digits = (bytes + eight(0x80 - b'0')) & !(bytes + eight(0x80 - (b'9' + 1)));
    let line = !((bytes ^ eight(b'_')) + eight(0x7F));
    (letters | digits | line) & HIGH
}

/// How many bytes of ASCII there are first.
fn ascii_len(bytes: &[u8]) -> usize {
    if bytes.is_ascii() {
        return bytes.len();
    }
    bytes.iter().position(|byte| !byte.is_ascii()).unwrap_or(bytes.len())
}

/// Whether a text may be cut between two bytes: spaces stay together.
fn is_cut(pair: &[u8]) -> bool {
    matches!(pair, [b' ', next] if next.is_ascii() && *next != b' ')
}

/// Whether a sign joins what is around it to one word: signs in numbers, and between letters (rules WB6, 7, 11 and 12).
fn joins(bytes: &[u8], at: usize) -> bool {
    let (Some(before), Some(next)) = (at.checked_sub(1).and_then(|at| bytes.get(at)), bytes.get(at + 1))
    else {
        return false;
    };
    match bytes.get(at) {
        Some(b'.' | b'\'') => {
            before.is_ascii_digit() && next.is_ascii_digit()
                || before.is_ascii_alphabetic() && next.is_ascii_alphabetic()
        }
        Some(b',' | b';') => before.is_ascii_digit() && next.is_ascii_digit(),
        Some(b':') => before.is_ascii_alphabetic() && next.is_ascii_alphabetic(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{CORE, Words, core_of};
    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation;

    #[test]
    fn eight_bytes_are_told_as_one_by_one() {
        for byte in 0..128_u8 {
            for at in 0..8 {
                let mut bytes = [b' ', 0x7F, b'a', b'_', 0, b'9', b'/', b'Z'];
                bytes[at] = byte;
                let expected: Vec<bool> = bytes.iter().map(|byte| CORE[usize::from(*byte)]).collect();
                let told = core_of(u64::from_le_bytes(bytes)).to_le_bytes();
                assert_eq!(told.map(|byte| byte == 0x80).to_vec(), expected, "{bytes:?}");
            }
        }
    }

    fn is_same(text: &str) {
        let expected: Vec<(usize, &str)> = text.unicode_word_indices().collect();
        let found: Vec<(usize, &str)> = Words::of(text).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn all_short_texts_of_what_rules_name() {
        // Of each class of UAX 29, and several of what may stand around a place where texts are cut.
        let letters = [
            "a",
            "Z",
            "1",
            "_",
            " ",
            "'",
            ".",
            ",",
            ":",
            ";",
            "\"",
            "-",
            "\r",
            "\n",
            "\t",
            "é",
            "日",
            "ア",
            "א",
            "\u{301}",
            "\u{93f}",
            "\u{200d}",
            "\u{ad}",
            "\u{2019}",
            "\u{1f1e9}",
            "\u{1f600}",
            "\u{3000}",
            "٣",
            "ß",
        ];
        for a in letters {
            for b in letters {
                for c in letters {
                    is_same(&[a, b, c].concat());
                    for d in [" ", "a", "1", "'", ".", "é", "\u{301}", "\u{200d}"] {
                        is_same(&[a, b, c, d].concat());
                        is_same(&["a", a, b, c, d, " b"].concat());
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn words_are_those_of_the_library(text in "[a-cZ0-2_ '.,:;\"\r\n\té日アא\u{301}\u{93f}\u{200d}\u{2019}\u{1f1e9}\u{1f600}-]{0,40}") {
            is_same(&text);
        }

        #[test]
        fn of_any_characters(text in any::<String>(), more in "[ a-z'.]{0,9}") {
            is_same(&format!("{more}{text}{more}{text}"));
        }

        #[test]
        fn of_ascii(text in "[ -~\t\r\n]{0,60}") {
            is_same(&text);
        }
    }
}

//! Texts on their way to a terminal, without what controls it.

use std::io::{self, Write};

/// Hands on what is written; characters that control a terminal, or the direction of what it shows, are shown by others. Line feeds and tabs go through,
/// and so do carriage returns before a line feed.
pub struct Clean<W> {
    out: W,
    /// The last bytes, where the next one decides what becomes of them: a carriage return, or the beginning of a character that may control something.
    held: Held,
    buffer: Vec<u8>,
}

#[derive(Clone, Copy)]
enum Held {
    Nothing,
    Return,
    /// The first bytes of characters of more than one, in UTF-8.
    One(u8),
    Two(u8, u8),
}

/// The first byte of the characters of C1, of the Arabic letter mark, and of all others that change the direction or end a line.
const C1: u8 = 0xC2;
const ARABIC: u8 = 0xD8;
const GENERAL: u8 = 0xE2;

impl<W: Write> Clean<W> {
    pub fn new(out: W) -> Self {
        Self { out, held: Held::Nothing, buffer: Vec::new() }
    }

    fn push(&mut self, byte: u8) {
        match (std::mem::replace(&mut self.held, Held::Nothing), byte) {
            (Held::One(C1), 0x80..0xA0) => return self.buffer.extend_from_slice("\u{FFFD}".as_bytes()),
            (Held::One(ARABIC), 0x9C) => return self.escape('\u{61C}'),
            (Held::One(GENERAL), 0x80 | 0x81) => {
                self.held = Held::Two(GENERAL, byte);
                return;
            }
            (Held::Two(first, second), last) => match directed(second, last) {
                Some(c) => return self.escape(c),
                None => self.buffer.extend([first, second]),
            },
            (Held::One(first), _) => self.buffer.push(first),
            (Held::Return, b'\n') => self.buffer.push(b'\r'),
            (Held::Return, _) => self.picture(b'\r'),
            (Held::Nothing, _) => {}
        }
        match byte {
            b'\r' => self.held = Held::Return,
            C1 | ARABIC | GENERAL => self.held = Held::One(byte),
            b'\n' | b'\t' => self.buffer.push(byte),
            0..0x20 | 0x7F => self.picture(byte),
            _ => self.buffer.push(byte),
        }
    }

    /// A character by its code, as RDF and JSON write it.
    fn escape(&mut self, c: char) {
        self.buffer.extend_from_slice(format!("\\u{:04X}", u32::from(c)).as_bytes());
    }

    /// The picture that Unicode has for a control character.
    fn picture(&mut self, control: u8) {
        let picture = if control == 0x7F { '\u{2421}' } else { '\u{2400}' };
        let code = if control == 0x7F { 0 } else { u32::from(control) };
        let picture = char::from_u32(u32::from(picture) + code).unwrap_or('\u{FFFD}');
        self.buffer.extend_from_slice(picture.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

/// The character of the general punctuation with these bytes behind the first, if it changes the direction or ends a line.
fn directed(second: u8, last: u8) -> Option<char> {
    let low = (u32::from(second) & 0x3F) << 6 | u32::from(last) & 0x3F;
    let c = char::from_u32(0x2000 | low)?;
    let is_directed =
        matches!(c, '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    (is_directed && last & 0xC0 == 0x80).then_some(c)
}

impl<W: Write> Write for Clean<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.clear();
        bytes.iter().for_each(|byte| self.push(*byte));
        self.out.write_all(&self.buffer)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_are_shown() {
        for (text, shown) in [
            ("a\tb\r\nc\n", "a\tb\r\nc\n"),
            ("\u{1B}[31mred\u{7}", "␛[31mred␇"),
            ("x\ry\u{7F}", "x␍y␡"),
            ("é ü\u{9B}31m 漢", "é ü\u{FFFD}31m 漢"),
            ("a\u{202E}b\u{2066}c\u{61C}d\u{2028}\u{200F}", r"a\u202Eb\u2066c\u061Cd\u2028\u200F"),
            ("– “x” ؛ … ⁊ €\n", "– “x” ؛ … ⁊ €\n"),
        ] {
            for step in 1..4 {
                let mut clean = Clean::new(Vec::new());
                for part in text.as_bytes().chunks(step) {
                    clean.write_all(part).unwrap();
                }
                assert_eq!(String::from_utf8(clean.out).unwrap(), shown, "{text:?}");
            }
        }
    }
}

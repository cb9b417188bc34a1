//! Texts on their way to a terminal, without what controls it.

use std::io::{self, Write};

/// Hands on what is written; characters that control a terminal are shown by others. Line feeds and tabs go through, and so do carriage returns
/// before a line feed.
pub struct Clean<W> {
    out: W,
    /// The last byte, where the next one decides what becomes of it: a carriage return, or the first byte of a control character.
    held: Option<u8>,
    buffer: Vec<u8>,
}

/// The first byte of the characters of C1, in UTF-8.
const C1: u8 = 0xC2;

impl<W: Write> Clean<W> {
    pub fn new(out: W) -> Self {
        Self { out, held: None, buffer: Vec::new() }
    }

    fn push(&mut self, byte: u8) {
        match self.held.take() {
            Some(C1) if (0x80..0xA0).contains(&byte) => {
                return self.buffer.extend_from_slice("\u{FFFD}".as_bytes());
            }
            Some(C1) => self.buffer.push(C1),
            Some(_) if byte == b'\n' => self.buffer.push(b'\r'),
            Some(control) => self.picture(control),
            None => {}
        }
        match byte {
            b'\r' | C1 => self.held = Some(byte),
            b'\n' | b'\t' => self.buffer.push(byte),
            0..0x20 | 0x7F => self.picture(byte),
            _ => self.buffer.push(byte),
        }
    }

    /// The picture that Unicode has for a control character.
    fn picture(&mut self, control: u8) {
        let picture = if control == 0x7F { '\u{2421}' } else { '\u{2400}' };
        let code = if control == 0x7F { 0 } else { u32::from(control) };
        let picture = char::from_u32(u32::from(picture) + code).unwrap_or('\u{FFFD}');
        self.buffer.extend_from_slice(picture.encode_utf8(&mut [0; 4]).as_bytes());
    }
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

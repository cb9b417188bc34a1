//! Turns a stream of another encoding into UTF-8, piece by piece, and says where its bytes are none of that encoding.

use super::encoding::TextEncoding;
use encoding_rs::{Decoder, DecoderResult, Encoding};
use memchr::{memchr_iter, memrchr};
use std::io::{self, Read};

/// Bytes that are decoded at a time.
const RAW_BYTES: usize = 64 << 10;
/// What they may become: three bytes of UTF-8 for each.
const TEXT_BYTES: usize = 3 * RAW_BYTES + 16;

/// Bytes that mean nothing in their encoding.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset} of the (unpacked) file is not valid {encoding}")]
pub struct MalformedText {
    /// The encoding.
    pub encoding: &'static str,
    /// The byte's offset in the file, from 0.
    pub offset: u64,
    /// Its line in the decoded text, from 1.
    pub line: u64,
    /// Its column in characters, from 1.
    pub column: u64,
}

impl MalformedText {
    /// The error behind one of reading, if it is such a one.
    pub fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

/// A text, in UTF-8 as it is or made so.
pub enum TextReader<R> {
    /// Nothing to do.
    Plain(R),
    /// Decoded.
    Transcoded(Box<Transcoder<R>>),
}

impl<R: Read> TextReader<R> {
    /// Reads a text that begins here, behind `mark_bytes` that have been read.
    pub fn new(inner: R, encoding: TextEncoding, mark_bytes: usize) -> Self {
        match encoding {
            TextEncoding::Utf8 => Self::Plain(inner),
            other => Self::Transcoded(Box::new(Transcoder::new(inner, other, mark_bytes))),
        }
    }
}

impl<R: Read> Read for TextReader<R> {
    #[inline]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(inner) => inner.read(buffer),
            Self::Transcoded(transcoder) => transcoder.read(buffer),
        }
    }
}

enum Decode {
    Latin1,
    Ascii,
    Standard(Decoder),
}

/// What a step of decoding did.
struct Step {
    read: usize,
    written: usize,
    /// How many of the bytes read, at their end, are invalid.
    invalid: Option<usize>,
}

/// Decodes what it reads.
pub struct Transcoder<R> {
    inner: R,
    encoding: TextEncoding,
    decode: Decode,
    /// Bytes that have been read, of which those before `used` have been decoded.
    raw: Vec<u8>,
    used: usize,
    at_end: bool,
    /// Decoded text, of which what is before `taken` has been given out.
    text: Vec<u8>,
    taken: usize,
    /// Bytes decoded in all, and lines and characters of the last line that they were.
    offset: u64,
    lines: u64,
    columns: u64,
    malformed: Option<MalformedText>,
}

impl<R: Read> Transcoder<R> {
    fn new(inner: R, encoding: TextEncoding, mark_bytes: usize) -> Self {
        let decode = match encoding {
            TextEncoding::Latin1 => Decode::Latin1,
            TextEncoding::Utf8 | TextEncoding::Ascii => Decode::Ascii,
            TextEncoding::Other(encoding) => Decode::Standard(encoding.new_decoder_without_bom_handling()),
        };
        Self {
            inner,
            encoding,
            decode,
            raw: Vec::new(),
            used: 0,
            at_end: false,
            text: Vec::new(),
            taken: 0,
            offset: mark_bytes as u64,
            lines: 0,
            columns: 0,
            malformed: None,
        }
    }

    /// What it reads from.
    pub fn into_inner(self) -> R {
        self.inner
    }

    /// Decodes some more; whether there is any text.
    fn fill(&mut self) -> io::Result<bool> {
        (self.taken, self.text) = (0, std::mem::take(&mut self.text));
        self.text.clear();
        while self.text.is_empty() {
            if let Some(malformed) = &self.malformed {
                return Err(io::Error::new(io::ErrorKind::InvalidData, malformed.clone()));
            }
            if self.at_end && self.used == self.raw.len() {
                return Ok(false);
            }
            if self.used == self.raw.len() {
                self.read_raw()?;
            }
            self.decode();
        }
        Ok(true)
    }

    fn read_raw(&mut self) -> io::Result<()> {
        self.raw.resize(RAW_BYTES, 0);
        self.used = RAW_BYTES;
        let read = self.inner.read(&mut self.raw)?;
        self.raw.truncate(read);
        (self.used, self.at_end) = (0, read == 0);
        Ok(())
    }

    fn decode(&mut self) {
        self.text.resize(TEXT_BYTES, 0);
        let raw = self.raw.get(self.used..).unwrap_or_default();
        let step = self.decode.step(raw, &mut self.text, self.at_end);
        self.text.truncate(step.written);
        self.used += step.read;
        self.offset += step.read as u64;
        self.count_lines();
        if let Some(invalid) = step.invalid {
            self.malformed = Some(MalformedText {
                encoding: self.encoding.name(),
                offset: self.offset.saturating_sub(invalid as u64),
                line: self.lines + 1,
                column: self.columns + 1,
            });
        }
    }

    fn count_lines(&mut self) {
        let last_line = match memrchr(b'\n', &self.text) {
            Some(at) => {
                self.lines += memchr_iter(b'\n', &self.text).count() as u64;
                self.columns = 0;
                self.text.get(at + 1..).unwrap_or_default()
            }
            None => &self.text,
        };
        self.columns += last_line.iter().filter(|&&byte| byte & 0xC0 != 0x80).count() as u64;
    }
}

impl Decode {
    fn step(&mut self, raw: &[u8], text: &mut [u8], at_end: bool) -> Step {
        match self {
            Self::Latin1 => {
                let written = encoding_rs::mem::convert_latin1_to_utf8(raw, text);
                Step { read: raw.len(), written, invalid: None }
            }
            Self::Ascii => {
                let valid = Encoding::ascii_valid_up_to(raw);
                if let (Some(from), Some(to)) = (raw.get(..valid), text.get_mut(..valid)) {
                    to.copy_from_slice(from);
                }
                let invalid = usize::from(valid < raw.len());
                Step { read: valid + invalid, written: valid, invalid: (invalid > 0).then_some(invalid) }
            }
            Self::Standard(decoder) => {
                let (result, read, written) = decoder.decode_to_utf8_without_replacement(raw, text, at_end);
                let invalid = match result {
                    DecoderResult::Malformed(invalid, after) => {
                        Some(usize::from(invalid) + usize::from(after))
                    }
                    DecoderResult::InputEmpty | DecoderResult::OutputFull => None,
                };
                Step { read, written, invalid }
            }
        }
    }
}

impl<R: Read> Read for Transcoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.text.len() && !self.fill()? {
            return Ok(0);
        }
        let read = self.text.get(self.taken..).unwrap_or_default().read(buffer)?;
        self.taken += read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    //! Texts in many encodings, read as it comes, and bytes that mean nothing.
    use super::*;

    struct Pieces<'a>(&'a [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let piece = self.0.len().min(self.1).min(buffer.len());
            self.0.read(&mut buffer[..piece])
        }
    }

    fn read(bytes: &[u8], label: &str, piece: usize) -> io::Result<String> {
        let encoding = TextEncoding::of_label(label.as_bytes()).unwrap();
        let mut text = String::new();
        TextReader::new(Pieces(bytes, piece), encoding, 0).read_to_string(&mut text).map(|_| text)
    }

    fn utf16(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    #[test]
    fn encodings_are_decoded_whatever_the_pieces() {
        let text = "é\u{80}x 😀\n".repeat(40_000);
        for piece in [1, 3, 70_000] {
            assert!(read(&utf16(&text), "utf-16le", piece).unwrap() == text, "{piece}");
        }
        let bytes: Vec<u8> = (1..=255).collect();
        let latin1: String = (1..=255_u8).map(char::from).collect();
        assert_eq!(read(&bytes, "iso-8859-1", 7).unwrap(), latin1);
        assert_eq!(read(b"\x80\xE9", "windows-1252", 1).unwrap(), "€é");
        assert_eq!(read(b"\x82\xA0", "shift_jis", 1).unwrap(), "あ");
        assert_eq!(read(b"", "utf-16be", 1).unwrap(), "");
    }

    #[track_caller]
    fn malformed(bytes: &[u8], label: &str) -> (u64, u64, u64) {
        let error = read(bytes, label, 5).unwrap_err();
        let found = MalformedText::of(&error).unwrap();
        (found.offset, found.line, found.column)
    }

    #[test]
    fn invalid_bytes_are_told_with_their_place() {
        let lone = [utf16("é\nab"), vec![0, 0xD8], utf16("c\n")].concat();
        assert_eq!(malformed(&lone, "utf-16le"), (8, 2, 3));
        let odd = [utf16("ab\n"), vec![b'c']].concat();
        assert_eq!(malformed(&odd, "utf-16le"), (6, 2, 1));
        assert_eq!(malformed(b"ab\nc\xE9", "us-ascii"), (4, 2, 2));
        assert_eq!(malformed(b"a\xFF", "shift_jis"), (1, 1, 2));
    }
}

//! Names of RDF/XML that are none (`rdf:ID="1"`), for lenient parsing: the parser refuses them, so on the way to it each character that
//! may not stand there is replaced by one that may and that no text has, and put back in what the parser makes of it.

use super::turtle::{is_base_char, is_name_char};
use memchr::memmem;
use std::borrow::Cow;
use std::io::{self, Read};

/// A character of a plane of Unicode that has none, allowed in names of XML; for U+0000, others follow.
const STAND_INS: u32 = 0xD_0000;
/// The longest tag that is looked at.
const TAG_BYTES_MAX: usize = 1 << 20;
/// How much is read at a time.
const READ_BYTES: usize = 1 << 16;
/// Attributes whose values are names, behind their prefixes.
const NAME_ATTRIBUTES: [&str; 3] = [":ID", ":nodeID", ":bagID"];

/// Replaces what may not stand in names.
pub(super) struct NameMender<R> {
    inner: R,
    /// Read, of which all before `given` has been given out, and all before `mended` looked at.
    text: Vec<u8>,
    given: usize,
    mended: usize,
    at_end: bool,
}

impl<R: Read> NameMender<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, text: Vec::new(), given: 0, mended: 0, at_end: false }
    }

    /// Reads more, and looks at the tags that are whole by then.
    fn fill(&mut self) -> io::Result<()> {
        self.text.drain(..self.given);
        (self.mended, self.given) = (self.mended - self.given, 0);
        let read = self.inner.by_ref().take(READ_BYTES as u64).read_to_end(&mut self.text)?;
        self.at_end = read < READ_BYTES;
        let fresh = self.text.split_off(self.mended);
        let mut rest = fresh.as_slice();
        while let Some(start) = memchr::memchr(b'<', rest) {
            let (before, tag) = rest.split_at(start);
            self.text.extend_from_slice(before);
            let length = match tag_length(tag) {
                Some(length) => length,
                None if self.at_end || tag.len() > TAG_BYTES_MAX => tag.len(),
                None => {
                    self.mended = self.text.len();
                    self.text.extend_from_slice(tag);
                    return Ok(());
                }
            };
            let (tag, after) = tag.split_at(length);
            self.text.extend_from_slice(&mend_tag(tag));
            rest = after;
        }
        self.text.extend_from_slice(rest);
        self.mended = self.text.len();
        Ok(())
    }
}

impl<R: Read> Read for NameMender<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.mended && !self.at_end {
            self.fill()?;
        }
        let read = self.text.get(self.given..self.mended).unwrap_or_default().read(buffer)?;
        self.given += read;
        Ok(read)
    }
}

/// The length of a tag, or of a comment and the like, past its closing bracket.
fn tag_length(tag: &[u8]) -> Option<usize> {
    const OTHER: [(&[u8], &[u8]); 3] = [(b"<!--", b"-->"), (b"<?", b"?>"), (b"<![CDATA[", b"]]>")];
    if let Some((_, end)) = OTHER.iter().find(|(start, _)| tag.starts_with(start)) {
        return memmem::find(tag, end).map(|at| at + end.len());
    }
    let mut quote = None;
    for (at, &byte) in tag.iter().enumerate() {
        match (byte, quote) {
            // What begins a comment may have been cut.
            (b'>', None) if at >= 8 || !tag.starts_with(b"<!") => return Some(at + 1),
            (b'"' | b'\'', None) => quote = Some(byte),
            (_, Some(open)) if open == byte => quote = None,
            _ => {}
        }
    }
    None
}

fn mend_tag(tag: &[u8]) -> Cow<'_, [u8]> {
    let Some(text) = std::str::from_utf8(tag).ok().filter(|text| text.contains("ID")) else {
        return Cow::Borrowed(tag);
    };
    if tag.starts_with(b"<!") || tag.starts_with(b"<?") {
        return Cow::Borrowed(tag);
    }
    let mut mended = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, value, after)) = next_value(rest) {
        mended.push_str(before);
        let is_name = NAME_ATTRIBUTES.iter().any(|name| attribute(before).ends_with(name));
        if is_name && !value.contains('&') {
            mended.extend(value.char_indices().map(|(at, c)| stand_in(c, at == 0)));
        } else {
            mended.push_str(value);
        }
        mended.extend(before.chars().next_back());
        rest = after;
    }
    mended.push_str(rest);
    Cow::Owned(mended.into_bytes())
}

/// The text up to and with the next opening quote, what is in quotes, and what is behind the closing one.
fn next_value(text: &str) -> Option<(&str, &str, &str)> {
    let start = text.find(['"', '\''])?;
    let (before, rest) = text.split_at_checked(start + 1)?;
    let (value, after) = rest.split_once(before.chars().next_back()?)?;
    Some((before, value, after))
}

/// The name of an attribute before its value's quote.
fn attribute(before: &str) -> &str {
    let name = before.trim_end_matches(['"', '\'']).trim_end().trim_end_matches('=').trim_end();
    name.rsplit(|c: char| c.is_whitespace()).next().unwrap_or(name)
}

fn stand_in(c: char, is_first: bool) -> char {
    let is_fine = is_base_char(c) || c == '_' || (!is_first && (is_name_char(c) || c == '.'));
    match char::from_u32(STAND_INS + u32::from(c)) {
        Some(other) if !is_fine && u32::from(c) < 0x1_0000 => other,
        _ => c,
    }
}

/// A text with the characters put back, if any was replaced.
pub(super) fn put_back(text: &str) -> Option<String> {
    // In UTF-8 those characters begin so.
    memchr::memchr2(0xF3, 0xF4, text.as_bytes())?;
    let back = |c: char| {
        let code = u32::from(c);
        let is_stand_in = (STAND_INS..STAND_INS + 0x1_0000).contains(&code);
        if is_stand_in { char::from_u32(code - STAND_INS).unwrap_or(c) } else { c }
    };
    let restored: String = text.chars().map(back).collect();
    (restored != text).then_some(restored)
}

#[cfg(test)]
mod tests {
    //! Names that are replaced, and all else that is not.
    use super::*;

    fn mended(xml: &str, piece: usize) -> String {
        struct Pieces<'a>(&'a [u8], usize);
        impl Read for Pieces<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let piece = self.1.min(self.0.len()).min(buffer.len());
                self.0.read(&mut buffer[..piece])
            }
        }
        let mut text = String::new();
        NameMender::new(Pieces(xml.as_bytes(), piece)).read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn only_names_are_replaced() {
        let filling = "<!-- don't rdf:ID=\"1\" -->".repeat(6000);
        let xml = format!(
            "<?xml version=\"1.0\"?>{filling}<x rdf:ID=\"1 a\" about='don>' r:nodeID = 'ok.é'>ID='1'<![CDATA[<x r:ID='1'>]]></x>"
        );
        for piece in [1, 100_000] {
            let text = mended(&xml, piece);
            assert_eq!(text.replace("\u{D0031}\u{D0020}a", "1 a"), xml);
            assert!(text.contains("rdf:ID=\"\u{D0031}\u{D0020}a\""));
        }
        assert_eq!(put_back("http://e/#\u{D0031}\u{D0020}a").as_deref(), Some("http://e/#1 a"));
        assert_eq!(put_back("é 😀"), None);
    }
}

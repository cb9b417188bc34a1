//! Which characters the bytes of a text stand for. RDF is UTF-8; what is not, says so by a byte order mark or, in XML, by a declaration.

use std::fmt;
use std::ops::Range;

/// The encoding of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextEncoding {
    /// UTF-8, which needs no work.
    Utf8,
    /// ISO-8859-1: bytes are code points. (The Encoding Standard takes windows-1252 for it, the XML standard does not.)
    Latin1,
    /// US-ASCII.
    Ascii,
    /// Another encoding of the Encoding Standard.
    Other(&'static encoding_rs::Encoding),
}

impl TextEncoding {
    /// The encoding that a byte order mark tells, and the bytes of the mark.
    pub fn of_mark(head: &[u8]) -> Option<(Self, usize)> {
        let (encoding, bytes) = encoding_rs::Encoding::for_bom(head)?;
        Some((Self::of_standard(encoding), bytes))
    }

    /// UTF-16 without a mark, by how XML begins (XML, appendix F).
    pub fn of_xml_bytes(head: &[u8]) -> Option<Self> {
        match head {
            [b'<', 0, b'?', 0, ..] => Some(Self::Other(encoding_rs::UTF_16LE)),
            [0, b'<', 0, b'?', ..] => Some(Self::Other(encoding_rs::UTF_16BE)),
            _ => None,
        }
    }

    /// The encoding of a name as in an XML declaration.
    pub fn of_label(label: &[u8]) -> Option<Self> {
        let name = String::from_utf8_lossy(label).trim().to_ascii_lowercase();
        let encoding = encoding_rs::Encoding::for_label(name.as_bytes())?;
        Some(match name.as_str() {
            "windows-1252" | "cp1252" | "x-cp1252" => Self::of_standard(encoding),
            "ascii" | "us-ascii" | "ansi_x3.4-1968" => Self::Ascii,
            _ if encoding == encoding_rs::WINDOWS_1252 => Self::Latin1,
            _ => Self::of_standard(encoding),
        })
    }

    fn of_standard(encoding: &'static encoding_rs::Encoding) -> Self {
        if encoding == encoding_rs::UTF_8 { Self::Utf8 } else { Self::Other(encoding) }
    }

    /// Whether characters take two bytes, also those of ASCII.
    pub fn is_utf16(self) -> bool {
        matches!(self, Self::Other(encoding)
            if encoding == encoding_rs::UTF_16LE || encoding == encoding_rs::UTF_16BE)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Latin1 => "ISO-8859-1",
            Self::Ascii => "US-ASCII",
            Self::Other(encoding) => encoding.name(),
        }
    }
}

impl fmt::Display for TextEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Where an XML declaration names an encoding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredEncoding {
    /// The whole of `encoding="..."`.
    pub attribute: Range<usize>,
    /// The name in it.
    pub name: Range<usize>,
}

impl DeclaredEncoding {
    /// Finds it at the beginning of a document.
    pub fn find(head: &[u8]) -> Option<Self> {
        let inside = head.strip_prefix(b"<?xml").filter(|rest| rest.first().is_some_and(is_space))?;
        let end = memchr::memmem::find(inside, b"?>")?;
        let from = head.len() - inside.len();
        let declaration = head.get(..from + end)?;
        let start = from + memchr::memmem::find(declaration.get(from..)?, b"encoding")?;
        let at = skip_space(declaration, start + b"encoding".len());
        if declaration.get(at) != Some(&b'=') {
            return None;
        }
        let at = skip_space(declaration, at + 1);
        let quote = *declaration.get(at).filter(|quote| matches!(quote, b'"' | b'\''))?;
        let length = memchr::memchr(quote, declaration.get(at + 1..)?)?;
        let name = at + 1..at + 1 + length;
        Some(Self { attribute: start..name.end + 1, name })
    }

    /// Blanks it out, because the text is UTF-8 now; nothing else moves.
    pub fn remove(&self, head: &mut [u8]) {
        if let Some(attribute) = head.get_mut(self.attribute.clone()) {
            attribute.fill(b' ');
        }
    }
}

fn is_space(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

fn skip_space(text: &[u8], from: usize) -> usize {
    from + text.get(from..).unwrap_or_default().iter().take_while(|byte| is_space(byte)).count()
}

#[cfg(test)]
mod tests {
    //! Marks, declarations, names.
    use super::*;

    fn declared(head: &str) -> Option<&str> {
        DeclaredEncoding::find(head.as_bytes()).map(|found| &head[found.name])
    }

    #[test]
    fn declarations_are_found_and_blanked_out() {
        assert_eq!(declared("<?xml version='1.0' encoding = 'a-b' ?><x/>"), Some("a-b"));
        assert_eq!(declared("<?xml version=\"1.0\"\nencoding=\"\"?>"), Some(""));
        for none in
            ["", "<?xml version='1.0'?><x encoding='a'/>", "<?xmlx encoding='a'?>", " <?xml encoding='a'?>"]
        {
            assert_eq!(declared(none), None, "{none}");
        }
        let mut head = b"<?xml version='1.0' encoding='a'?><x/>".to_vec();
        DeclaredEncoding::find(&head).unwrap().remove(&mut head);
        assert_eq!(head, b"<?xml version='1.0'             ?><x/>");
    }

    #[test]
    fn names_and_marks() {
        let name = |label: &str| TextEncoding::of_label(label.as_bytes()).map(TextEncoding::name);
        assert_eq!(name("ISO-8859-1"), Some("ISO-8859-1"));
        assert_eq!(name("latin1"), Some("ISO-8859-1"));
        assert_eq!(name("Windows-1252"), Some("windows-1252"));
        assert_eq!(name("us-ascii"), Some("US-ASCII"));
        assert_eq!(name("utf8"), Some("UTF-8"));
        assert_eq!(name("klingon"), None);
        assert_eq!(TextEncoding::of_mark(b"\xEF\xBB\xBFa"), Some((TextEncoding::Utf8, 3)));
        assert!(
            TextEncoding::of_mark(b"\xFF\xFEa\0").is_some_and(|(found, mark)| found.is_utf16() && mark == 2)
        );
        assert!(TextEncoding::of_xml_bytes(b"\0<\0?\0x").is_some_and(TextEncoding::is_utf16));
        assert_eq!(TextEncoding::of_mark(b"<http"), None);
    }
}

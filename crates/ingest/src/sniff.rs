//! Sniffs the first bytes of a source: whether it is something else than RDF that people load by mistake, and whether its text
//! looks like another format than the one it is read as.

use crate::archive::is_archive;
use crate::error::IngestError;
use crate::source_list::SourceList;
use lode_rdf::RdfFormat;
use lode_rdf::input::{Compression, DeclaredEncoding, MalformedText, TextEncoding, TextReader};
use std::io::{self, Chain, Cursor, Read};

/// First bytes that are sniffed.
pub(crate) const SNIFF_BYTES: usize = 4 << 10;
/// First bytes that tell the format of a source of which nothing else does.
const HEAD_BYTES: usize = 64 << 10;
/// Byte order marks of an encoding that nobody uses for files.
const UTF_32: [&[u8]; 2] = [b"\xFF\xFE\0\0", b"\0\0\xFE\xFF"];

/// What is known of a source before it is sniffed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    /// Its number in the list.
    pub number: usize,
    /// How it is compressed.
    pub compression: Compression,
    /// The format that somebody has set.
    pub set: Option<RdfFormat>,
    /// The format that was told along with the bytes.
    pub told: Option<RdfFormat>,
}

/// A source whose first bytes have been sniffed.
pub(crate) struct Sniffed<R> {
    /// Its format; none: it is an archive.
    pub format: Option<RdfFormat>,
    /// What it begins with: text in UTF-8, or an archive's bytes.
    pub head: Vec<u8>,
    /// What follows.
    pub rest: TextReader<Chain<Cursor<Vec<u8>>, R>>,
}

/// Sniffs the first bytes of a source, and notes its format: the one that was set, that its name tells, that was told, or that it looks
/// like; and its encoding: that of its byte order mark, or that an XML declaration names.
pub(crate) fn sniff<R: Read>(
    known: Known,
    list: &SourceList,
    mut input: R,
) -> Result<Sniffed<R>, IngestError> {
    let name = list.name(known.number);
    let failed = |error| IngestError::input(&name, error);
    let wrong =
        |message: &str| Err(IngestError::Format { source_name: name.clone(), message: message.to_owned() });
    let mut head = Vec::new();
    read(SNIFF_BYTES, &mut input, &mut head).map_err(failed)?;
    if is_archive(&name, &head) {
        return Ok(Sniffed { format: None, head, rest: TextReader::Plain(Cursor::default().chain(input)) });
    }
    if UTF_32.iter().any(|mark| head.starts_with(mark)) {
        return wrong("is UTF-32: convert it first (iconv -f UTF-32 -t UTF-8)");
    }
    let marked =
        TextEncoding::of_mark(&head).or_else(|| TextEncoding::of_xml_bytes(&head).map(|found| (found, 0)));
    let (mut encoding, mark_bytes) = marked.unwrap_or((TextEncoding::Utf8, 0));
    head.drain(..mark_bytes);
    let mut rest = decode(&mut head, input, encoding, mark_bytes).map_err(failed)?;
    if let Some(what) = foreign(&head) {
        return wrong(what);
    }
    let named_compressed = RdfFormat::without_compression(&name).len() < name.len();
    if head.is_empty() && known.compression == Compression::None && named_compressed {
        return wrong("is empty, but not even an archive of nothing is: it has been cut");
    }
    let certain = known.set.or_else(|| RdfFormat::from_file_name(&name)).or(known.told);
    let format = match certain {
        Some(format) => format,
        None => {
            read(HEAD_BYTES, &mut rest, &mut head).map_err(failed)?;
            RdfFormat::guess_from_content(&head).unwrap_or(RdfFormat::NTriples)
        }
    };
    if format == RdfFormat::RdfXml
        && let Some(declared) = DeclaredEncoding::find(&head)
    {
        let label = head.get(declared.name.clone()).unwrap_or_default();
        let Some(label) = TextEncoding::of_label(label) else {
            let label = String::from_utf8_lossy(label);
            return wrong(&format!(
                "is declared to be in the encoding '{label}', which is not known: convert it to UTF-8 first"
            ));
        };
        // What reads as ASCII so far is not UTF-16, whatever it says, and a mark is certain.
        if marked.is_none() && label != TextEncoding::Utf8 && !label.is_utf16() {
            encoding = label;
            rest = decode(&mut head, plain(rest), encoding, 0).map_err(failed)?;
        }
        if label != TextEncoding::Utf8 {
            declared.remove(&mut head);
        }
    }
    let looks_like = looks_like(format, &head);
    list.note(known.number, |report| {
        (report.format, report.looks_like, report.guessed) = (Some(format), looks_like, certain.is_none());
        report.encoding = Some(encoding.name()).filter(|_| encoding != TextEncoding::Utf8);
    });
    Ok(Sniffed { format: Some(format), head, rest })
}

fn read(bytes: usize, input: &mut impl Read, head: &mut Vec<u8>) -> io::Result<()> {
    input.take(bytes as u64).read_to_end(head).map(drop)
}

/// Decodes a text whose first bytes have been read, and those bytes.
fn decode<R: Read>(
    head: &mut Vec<u8>,
    input: R,
    encoding: TextEncoding,
    mark_bytes: usize,
) -> io::Result<TextReader<Chain<Cursor<Vec<u8>>, R>>> {
    if encoding == TextEncoding::Utf8 {
        return Ok(TextReader::Plain(Cursor::default().chain(input)));
    }
    let raw = Cursor::new(std::mem::take(head)).chain(input);
    let mut text = TextReader::new(raw, encoding, mark_bytes);
    // Bytes that mean nothing are told where they are read.
    match read(SNIFF_BYTES, &mut text, head) {
        Err(error) if !head.is_empty() && MalformedText::of(&error).is_some() => Ok(text),
        result => result.map(|()| text),
    }
}

/// What is behind the first bytes of a text that needed no decoding.
fn plain<R: Read>(text: TextReader<Chain<Cursor<Vec<u8>>, R>>) -> R {
    match text {
        TextReader::Plain(chain) => chain.into_inner().1,
        TextReader::Transcoded(transcoder) => transcoder.into_inner().into_inner().1,
    }
}

/// Says what a text is that cannot be RDF, and what to do.
fn foreign(head: &[u8]) -> Option<&'static str> {
    const MAGIC: [(&[u8], &str); 5] = [
        (b"PK\x03\x04", "is a zip archive: unpack it first"),
        (b"7z\xBC\xAF\x27\x1C", "is a 7z archive: unpack it first"),
        (b"Rar!", "is a rar archive: unpack it first"),
        (b"$HDT", "is an HDT file: convert it to N-Triples first (hdt2rdf)"),
        (b"%PDF-", "is a PDF document, not RDF"),
    ];
    if let Some((_, what)) = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Some(what);
    }
    let text = head.trim_ascii_start();
    let starts_with =
        |tag: &str| text.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag.as_bytes()));
    (starts_with("<!doctype html") || starts_with("<html")).then_some(
        "is an HTML page, not RDF: perhaps a page about the data, or an error message, was downloaded in its place",
    )
}

/// The format that a text looks like, if what is in it would be wrong in the format it is read as.
fn looks_like(format: RdfFormat, head: &[u8]) -> Option<RdfFormat> {
    use RdfFormat::{NQuads, NTriples, TriG, Turtle};
    let seen = RdfFormat::guess_from_content(head)?;
    // A bad line alone does not make another format of a text.
    let declares = || {
        let text = String::from_utf8_lossy(head).to_ascii_lowercase();
        let starts = ["@prefix", "@base", "prefix ", "base "];
        text.lines().any(|line| starts.iter().any(|start| line.trim_start().starts_with(start)))
    };
    let fits = match format {
        NTriples | NQuads if matches!(seen, Turtle | TriG) => !declares(),
        NTriples => seen == NTriples,
        NQuads => matches!(seen, NTriples | NQuads),
        Turtle => matches!(seen, NTriples | Turtle),
        TriG => matches!(seen, NTriples | Turtle | TriG),
        other => seen == other,
    };
    (!fits).then_some(seen)
}

#[cfg(test)]
mod tests {
    //! What people load by mistake.
    use super::*;
    use RdfFormat::{NQuads, NTriples, RdfXml, Turtle};

    #[test]
    fn foreign_files_are_recognised() {
        assert!(foreign(b"\n <!DOCTYPE html>\n<html>").unwrap().contains("HTML"));
        assert!(foreign(b"<HTML lang=\"en\">").unwrap().contains("HTML"));
        assert!(foreign(b"PK\x03\x04...").unwrap().contains("zip"));
        for rdf in ["", "<http://e/a> <http://e/b> 1 .", "<?xml version=\"1.0\"?><rdf:RDF/>", "<htm"] {
            assert_eq!(foreign(rdf.as_bytes()), None, "{rdf}");
        }
    }

    #[test]
    fn texts_of_another_format_are_recognised() {
        let turtle = b"@prefix : <http://e/> .\n:a :b :c .\n";
        let triples = b"<http://e/a> <http://e/b> <http://e/c> .\n";
        let quads = b"<http://e/a> <http://e/b> <http://e/c> <http://e/d> .\n";
        assert_eq!(looks_like(NTriples, turtle), Some(Turtle));
        assert_eq!(looks_like(NTriples, quads), Some(NQuads));
        assert_eq!(looks_like(NTriples, b"bad line\n"), None);
        assert_eq!(looks_like(Turtle, triples), None);
        assert_eq!(looks_like(NQuads, triples), None);
        assert_eq!(looks_like(Turtle, b"<?xml version=\"1.0\"?>\n<rdf:RDF"), Some(RdfXml));
        assert_eq!(looks_like(Turtle, b""), None);
    }
}

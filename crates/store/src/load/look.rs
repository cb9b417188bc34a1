//! A look at the first bytes of a source: whether it is something else than RDF that people load by mistake, and whether its text
//! looks like another format than the one it is read as.

use lode_rdf::RdfFormat;

/// First bytes that are looked at.
pub(crate) const LOOK_BYTES: usize = 4 << 10;

/// Says what a text is that cannot be RDF, and what to do.
pub(crate) fn foreign(head: &[u8]) -> Option<&'static str> {
    const MAGIC: [(&[u8], &str); 7] = [
        (b"PK\x03\x04", "is a zip archive: unpack it first"),
        (b"7z\xBC\xAF\x27\x1C", "is a 7z archive: unpack it first"),
        (b"Rar!", "is a rar archive: unpack it first"),
        (b"$HDT", "is an HDT file: convert it to N-Triples first (hdt2rdf)"),
        (b"\xFF\xFE", "is UTF-16, but RDF is UTF-8: convert it first (iconv -f UTF-16 -t UTF-8)"),
        (b"\xFE\xFF", "is UTF-16, but RDF is UTF-8: convert it first (iconv -f UTF-16 -t UTF-8)"),
        (b"%PDF-", "is a PDF document, not RDF"),
    ];
    if let Some((_, what)) = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Some(what);
    }
    let text = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head).trim_ascii_start();
    let starts_with =
        |tag: &str| text.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag.as_bytes()));
    (starts_with("<!doctype html") || starts_with("<html")).then_some(
        "is an HTML page, not RDF: perhaps a page about the data, or an error message, was downloaded in its place",
    )
}

/// The format that a text looks like, if what is in it would be wrong in the format it is read as.
pub(crate) fn looks_like(format: RdfFormat, head: &[u8]) -> Option<RdfFormat> {
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

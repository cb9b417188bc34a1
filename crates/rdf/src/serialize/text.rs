//! Terms as N-Triples writes them, from terms, from ids and from keys.

use crate::inline;
use crate::key::{KeyError, decode, unescape};
use crate::value_id::{Kind, Section, ValueId};
use oxrdf::{LiteralRef, TermRef};
use std::io::Write as _;

/// Appends a term.
pub fn write_term_ntriples(term: TermRef<'_>, out: &mut Vec<u8>) {
    match term {
        TermRef::NamedNode(node) => write_iri(node.as_str(), out),
        TermRef::BlankNode(node) => {
            out.extend_from_slice(b"_:");
            out.extend_from_slice(node.as_str().as_bytes());
        }
        TermRef::Literal(literal) => write_literal(literal, out),
        TermRef::Triple(triple) => {
            out.extend_from_slice(b"<<( ");
            write_term_ntriples(triple.subject.as_ref().into(), out);
            out.push(b' ');
            write_iri(triple.predicate.as_str(), out);
            out.push(b' ');
            write_term_ntriples(triple.object.as_ref(), out);
            out.extend_from_slice(b" )>>");
        }
    }
}

/// Appends an IRI in angle brackets. Valid IRIs need no escapes; what lenient loads have kept may.
#[inline]
pub fn write_iri(iri: &str, out: &mut Vec<u8>) {
    out.push(b'<');
    if is_plain(iri.as_bytes()) {
        out.extend_from_slice(iri.as_bytes());
    } else {
        write_escaped_iri(iri, out);
    }
    out.push(b'>');
}

/// Appends an IRI with escapes for what the grammar does not let stand between angle brackets.
#[cold]
pub(super) fn write_escaped_iri(iri: &str, out: &mut Vec<u8>) {
    for character in iri.chars() {
        if character.is_ascii() && needs_escape(character as u8) {
            // Writing to a vector cannot fail.
            let _ = write!(out, "\\u{:04X}", u32::from(character));
        } else {
            let mut buffer = [0; 4];
            out.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
        }
    }
}

/// Whether a byte may not stand between angle brackets: `[#x00-#x20<>"{}|^`\]`. Without branches or tables, so that it works on many
/// bytes at a time.
#[inline(always)]
const fn needs_escape(byte: u8) -> bool {
    // Angle brackets differ in one bit, and so do backslash and circumflex; the braces are beside the bar.
    (byte <= b' ')
        | (byte == b'"')
        | (byte | 2 == b'>')
        | (byte | 2 == b'^')
        | (byte == b'`')
        | (byte.wrapping_sub(b'{') < 3)
}

/// Whether nothing in an IRI needs an escape.
#[inline]
pub(super) fn is_plain(bytes: &[u8]) -> bool {
    const LANES: usize = 16;
    let lanes = |chunk: &[u8; LANES]| chunk.iter().fold(false, |any, &byte| any | needs_escape(byte));
    let (chunks, rest) = bytes.as_chunks::<LANES>();
    let any = chunks.iter().fold(false, |any, chunk| any | lanes(chunk));
    // The last bytes as a whole chunk again, which overlaps.
    !match bytes.last_chunk::<LANES>() {
        Some(last) => any | lanes(last),
        None => rest.iter().any(|&byte| needs_escape(byte)),
    }
}

fn write_literal(literal: LiteralRef<'_>, out: &mut Vec<u8>) {
    write_quoted(literal.value(), out);
    if let Some(language) = literal.language() {
        out.push(b'@');
        out.extend_from_slice(language.as_bytes());
        if let Some(direction) = literal.direction() {
            out.extend_from_slice(b"--");
            out.extend_from_slice(direction.to_string().as_bytes());
        }
        return;
    }
    let datatype = literal.datatype();
    if datatype != oxrdf::vocab::xsd::STRING {
        out.extend_from_slice(b"^^");
        write_iri(datatype.as_str(), out);
    }
}

/// Whether a byte of a string is written otherwise than as itself, or begins a character that may be.
static ESCAPED: [bool; 256] = {
    let mut escaped = [false; 256];
    let mut at = 0;
    while at < 0x20 {
        escaped[at] = true;
        at += 1;
    }
    escaped[b'"' as usize] = true;
    escaped[b'\\' as usize] = true;
    escaped[0x7F] = true;
    // U+FFFE and U+FFFF begin with this byte.
    escaped[0xEF] = true;
    escaped
};

/// Appends a string in quotes, with the escapes of canonical N-Triples.
pub fn write_quoted(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| ESCAPED[usize::from(byte)]) {
        let (plain, tail) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.extend_from_slice(plain.as_bytes());
        let mut chars = tail.chars();
        if let Some(character) = chars.next() {
            write_escaped(character, out);
        }
        rest = chars.as_str();
    }
    out.extend_from_slice(rest.as_bytes());
    out.push(b'"');
}

fn write_escaped(character: char, out: &mut Vec<u8>) {
    let short: &[u8] = match character {
        '"' => b"\\\"",
        '\\' => b"\\\\",
        '\n' => b"\\n",
        '\r' => b"\\r",
        '\t' => b"\\t",
        '\u{8}' => b"\\b",
        '\u{C}' => b"\\f",
        '\0'..='\u{1F}' | '\u{7F}' | '\u{FFFE}' | '\u{FFFF}' => {
            // Writing to a vector cannot fail.
            let _ = write!(out, "\\u{:04X}", u32::from(character));
            return;
        }
        _ => {
            let mut buffer = [0; 4];
            out.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
            return;
        }
    };
    out.extend_from_slice(short);
}

/// Appends the term of an inline or blank id; `false` (and nothing appended) for other ids.
pub fn write_inline_ntriples(id: ValueId, out: &mut Vec<u8>) -> bool {
    let Some(kind) = id.kind() else { return false };
    if kind == Kind::Blank {
        // Writing to a vector cannot fail.
        let _ = write!(out, "_:b{}", id.payload());
        return true;
    }
    let Some(datatype) = inline::datatype_iri(kind) else { return false };
    let start = out.len();
    out.push(b'"');
    if !inline::write_lexical(id, out) {
        out.truncate(start);
        return false;
    }
    out.extend_from_slice(b"\"^^");
    write_iri(datatype, out);
    true
}

/// Appends the term of a dictionary key, without building the term (except triple terms).
///
/// # Errors
///
/// [`KeyError`] where no encoder writes such a key. A part may have been appended then.
pub fn write_key_ntriples(section: Section, key: &[u8], out: &mut Vec<u8>) -> Result<(), KeyError> {
    let text = |bytes| std::str::from_utf8(bytes).map_err(|_| KeyError::Utf8);
    match section {
        Section::Iri => write_iri(text(key)?, out),
        Section::String => write_quoted(text(key)?, out),
        Section::LangString => {
            let (lexical, tag) = unescape(key)?;
            let (lexical, tag) = (text(&lexical)?, std::str::from_utf8(tag).map_err(|_| KeyError::Utf8)?);
            write_quoted(lexical, out);
            out.push(b'@');
            out.extend_from_slice(tag.as_bytes());
        }
        Section::TypedLiteral => {
            let (datatype, lexical) = unescape(key)?;
            let (datatype, lexical) =
                (text(&datatype)?, std::str::from_utf8(lexical).map_err(|_| KeyError::Utf8)?);
            write_quoted(lexical, out);
            out.extend_from_slice(b"^^");
            write_iri(datatype, out);
        }
        Section::TripleTerm => write_term_ntriples(decode(section, key)?.as_ref(), out),
    }
    Ok(())
}

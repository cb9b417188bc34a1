//! A temporary file of terms: where those of a query go that its memory has no room for.
//!
//! A record is its length (u32), then the term: a tag and its texts, each with its length (u32) before it. What is read back is compared with the
//! hash that the term had.

use super::temporary_file::TemporaryFile;
use lode_rdf::{BaseDirection, BlankNode, Literal, NamedNode, NamedOrBlankNode, Term, Triple};
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// So much is read at first: most terms are shorter. As much follows the last record, so that it can be.
const READ_BYTES: usize = 512;

/// A file of terms.
#[derive(Debug)]
pub struct TermFile {
    file: TemporaryFile,
    /// Where it ends; held while terms are appended.
    end: Mutex<u64>,
}

impl TermFile {
    /// An empty one in a folder.
    pub fn in_folder(folder: &Path) -> io::Result<Self> {
        Ok(Self { file: TemporaryFile::in_folder(folder)?, end: Mutex::new(0) })
    }

    /// Appends terms; where each is.
    pub fn append<'a>(&self, terms: impl Iterator<Item = &'a Term>) -> io::Result<Vec<u64>> {
        let (mut bytes, mut places) = (Vec::new(), Vec::new());
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        // Where writing fails, the file ends where it did.
        let mut at = *end;
        for term in terms {
            places.push(at + bytes.len() as u64);
            let length_at = bytes.len();
            bytes.extend([0; 4]);
            encode(term, &mut bytes)?;
            let length = u32::try_from(bytes.len() - length_at - 4).map_err(io::Error::other)?;
            bytes[length_at..length_at + 4].copy_from_slice(&length.to_le_bytes());
            if bytes.len() >= 1 << 20 {
                self.file.write_all_at(&bytes, at)?;
                at += bytes.len() as u64;
                bytes.clear();
            }
        }
        bytes.resize(bytes.len() + READ_BYTES, 0);
        self.file.write_all_at(&bytes, at)?;
        *end = at + bytes.len() as u64;
        Ok(places)
    }

    /// The term at a place.
    pub fn read(&self, place: u64) -> io::Result<Term> {
        let mut head = [0; READ_BYTES];
        self.file.read_exact_at(&mut head, place)?;
        let (length, rest) = head.split_at(4);
        let length = length.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
        let decoded = match rest.get(..length) {
            Some(record) => decode(&mut &*record),
            None => {
                let mut record = vec![0; length];
                self.file.read_exact_at(&mut record, place + 4)?;
                decode(&mut record.as_slice())
            }
        };
        decoded.ok_or_else(damaged)
    }
}

/// The error of a record that was not written here.
pub fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a temporary file of terms is damaged")
}

const IRI: u8 = 0;
const BLANK: u8 = 1;
const STRING: u8 = 2;
const TYPED: u8 = 3;
const TAGGED: u8 = 4;
const TAGGED_LTR: u8 = 5;
const TAGGED_RTL: u8 = 6;
const TRIPLE: u8 = 7;

fn encode(term: &Term, out: &mut Vec<u8>) -> io::Result<()> {
    match term {
        Term::NamedNode(node) => texts(IRI, &[node.as_str()], out),
        Term::BlankNode(node) => texts(BLANK, &[node.as_str()], out),
        Term::Literal(literal) => match (literal.language(), literal.direction()) {
            (None, _) if lode_rdf::is_string(literal.as_ref()) => texts(STRING, &[literal.value()], out),
            (None, _) => texts(TYPED, &[literal.value(), literal.datatype().as_str()], out),
            (Some(tag), None) => texts(TAGGED, &[literal.value(), tag], out),
            (Some(tag), Some(BaseDirection::Ltr)) => texts(TAGGED_LTR, &[literal.value(), tag], out),
            (Some(tag), Some(BaseDirection::Rtl)) => texts(TAGGED_RTL, &[literal.value(), tag], out),
        },
        Term::Triple(triple) => {
            out.push(TRIPLE);
            encode(&triple.subject.clone().into(), out)?;
            encode(&Term::NamedNode(triple.predicate.clone()), out)?;
            encode(&triple.object, out)
        }
    }
}

fn texts(tag: u8, texts: &[&str], out: &mut Vec<u8>) -> io::Result<()> {
    out.push(tag);
    for text in texts {
        out.extend(u32::try_from(text.len()).map_err(io::Error::other)?.to_le_bytes());
        out.extend(text.as_bytes());
    }
    Ok(())
}

fn decode(bytes: &mut &[u8]) -> Option<Term> {
    let (&tag, rest) = bytes.split_first()?;
    *bytes = rest;
    let tagged = |value, tag, direction| match direction {
        None => Literal::new_language_tagged_literal_unchecked(value, tag),
        Some(direction) => Literal::new_directional_language_tagged_literal_unchecked(value, tag, direction),
    };
    Some(match tag {
        IRI => NamedNode::new_unchecked(text(bytes)?).into(),
        BLANK => BlankNode::new_unchecked(text(bytes)?).into(),
        STRING => Literal::new_simple_literal(text(bytes)?).into(),
        TYPED => Literal::new_typed_literal(text(bytes)?, NamedNode::new_unchecked(text(bytes)?)).into(),
        TAGGED => tagged(text(bytes)?, text(bytes)?, None).into(),
        TAGGED_LTR => tagged(text(bytes)?, text(bytes)?, Some(BaseDirection::Ltr)).into(),
        TAGGED_RTL => tagged(text(bytes)?, text(bytes)?, Some(BaseDirection::Rtl)).into(),
        TRIPLE => {
            let subject = match decode(bytes)? {
                Term::NamedNode(node) => NamedOrBlankNode::NamedNode(node),
                Term::BlankNode(node) => NamedOrBlankNode::BlankNode(node),
                _ => return None,
            };
            let Term::NamedNode(predicate) = decode(bytes)? else { return None };
            Triple { subject, predicate, object: decode(bytes)? }.into()
        }
        _ => return None,
    })
}

fn text(bytes: &mut &[u8]) -> Option<String> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (text, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    *bytes = rest;
    String::from_utf8(text.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    //! Terms come back as they were.
    use super::*;

    #[test]
    fn terms_of_all_kinds_and_lengths_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let file = TermFile::in_folder(folder.path()).unwrap();
        let node = NamedNode::new_unchecked("http://example.org/a");
        let long = "é".repeat(700_000);
        let tagged = |direction| {
            Literal::new_directional_language_tagged_literal_unchecked("ab", "en", direction).into()
        };
        let mut terms: Vec<Term> = vec![
            node.clone().into(),
            BlankNode::new_unchecked("q1").into(),
            Literal::new_simple_literal("").into(),
            Literal::new_simple_literal(long.as_str()).into(),
            Literal::new_typed_literal("1", node.clone()).into(),
            Literal::new_language_tagged_literal_unchecked("\u{0}", "de").into(),
            tagged(BaseDirection::Ltr),
            tagged(BaseDirection::Rtl),
        ];
        terms.extend((490..520).map(|length| Term::from(Literal::new_simple_literal("x".repeat(length)))));
        let blank = BlankNode::new_unchecked("b");
        let triple = Triple { subject: blank.into(), predicate: node, object: terms[3].clone() };
        terms.push(triple.into());
        for terms in [&terms[..], &terms[5..6], &[], &terms[3..]] {
            let places = file.append(terms.iter()).unwrap();
            let read: Vec<Term> = places.iter().map(|place| file.read(*place).unwrap()).collect();
            assert_eq!(read, terms);
        }
        assert!(file.read(1).is_err() && file.read(1 << 40).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "its name");
    }
}

//! Dictionary keys: every term that is not inline as a section and bytes, such that comparing bytes orders the terms.
//!
//! | section | key |
//! |---|---|
//! | Iri | the IRI |
//! | String | the string |
//! | LangString | esc(lexical form) `00 01` language tag, then `--ltr` or `--rtl` for a direction |
//! | TypedLiteral | esc(datatype IRI) `00 01` lexical form |
//! | TripleTerm | nesting depth (1 for a triple term without another), then subject, predicate, object |
//!
//! A component of a triple term is a tag (the number of its [`Kind`]) and either esc(its key) `00 01` or, for inline
//! literals and blank nodes, the 8 bytes of its id, big-endian. `esc` writes `00` as `00 FF`, so the terminator `00 01`
//! sorts before every continuation and keys sort as their parts do.
//!
//! Blank nodes have no key: their ids are numbers that the store gives out. Inside triple terms the number is part of
//! the key, so whoever encodes a triple term must map labels to ids first: [`encode_with`] takes the mapping.

use crate::inline;
use crate::value_id::{Kind, Section, ValueId};
use memchr::memchr;
use oxrdf::{
    BaseDirection, BlankNode, Literal, LiteralRef, NamedNode, NamedNodeRef, NamedOrBlankNode,
    NamedOrBlankNodeRef, Term, TermRef, Triple,
};
use thiserror::Error;

#[cfg(test)]
mod tests;

/// How deep triple terms may nest.
pub const TRIPLE_DEPTH_MAX: usize = 64;

const TERMINATOR: [u8; 2] = [0x00, 0x01];
const ESCAPE: u8 = 0xFF;

/// How a term is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoded {
    /// The term is this id.
    Inline(ValueId),
    /// The dictionary section of the term; its key was written.
    Key(Section),
    /// A blank node, or a triple term around a blank node that the mapping does not know: the blank node's label was
    /// written as the key.
    Blank,
}

/// Why bytes are not a key. Only damaged files have such bytes.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum KeyError {
    /// Text that is not UTF-8.
    #[error("the text of a term is not UTF-8")]
    Utf8,
    /// The end of a part is missing.
    #[error("a key ends inside one of its parts")]
    Truncated,
    /// Bytes that no encoder writes.
    #[error("a key holds {0}")]
    Malformed(&'static str),
    /// Triple terms inside triple terms, more than [`TRIPLE_DEPTH_MAX`] deep.
    #[error("triple terms nest more than {TRIPLE_DEPTH_MAX} deep")]
    TooDeep,
}

/// Writes the key of a term (clearing `key` first) or tells that it needs none.
///
/// Blank nodes inside triple terms must have the labels that the store shows (`b<number>`).
pub fn encode(term: TermRef<'_>, key: &mut Vec<u8>) -> Encoded {
    encode_with(term, key, &mut blank_from_label)
}

/// Like [`encode`], with the ids of blank nodes inside triple terms from `blank`. Where `blank` gives `None` the result
/// is [`Encoded::Blank`]. A blank node by itself is not mapped.
pub fn encode_with(
    term: TermRef<'_>,
    key: &mut Vec<u8>,
    blank: &mut dyn FnMut(&str) -> Option<ValueId>,
) -> Encoded {
    key.clear();
    match term {
        TermRef::NamedNode(node) => encode_iri(node.as_str(), key),
        TermRef::BlankNode(node) => {
            key.extend_from_slice(node.as_str().as_bytes());
            Encoded::Blank
        }
        TermRef::Literal(literal) => encode_literal_into(literal, key),
        TermRef::Triple(triple) => match encode_triple(triple, key, blank) {
            Ok(()) => Encoded::Key(Section::TripleTerm),
            Err(label) => {
                key.clear();
                key.extend_from_slice(label.as_bytes());
                Encoded::Blank
            }
        },
    }
}

/// Writes the key of an IRI.
#[inline]
pub fn encode_iri(iri: &str, key: &mut Vec<u8>) -> Encoded {
    key.clear();
    key.extend_from_slice(iri.as_bytes());
    Encoded::Key(Section::Iri)
}

/// Writes the key of an `xsd:string`.
#[inline]
pub fn encode_string(lexical: &str, key: &mut Vec<u8>) -> Encoded {
    key.clear();
    key.extend_from_slice(lexical.as_bytes());
    Encoded::Key(Section::String)
}

/// Writes the key of a language string; the tag must be in lower case.
#[inline]
pub fn encode_lang_string(
    lexical: &str,
    language: &str,
    direction: Option<BaseDirection>,
    key: &mut Vec<u8>,
) -> Encoded {
    key.clear();
    escape(lexical.as_bytes(), key);
    key.extend_from_slice(&TERMINATOR);
    key.extend_from_slice(language.as_bytes());
    match direction {
        Some(BaseDirection::Ltr) => key.extend_from_slice(b"--ltr"),
        Some(BaseDirection::Rtl) => key.extend_from_slice(b"--rtl"),
        None => {}
    }
    Encoded::Key(Section::LangString)
}

/// Writes the key of a literal with a datatype, or gives its inline id. `xsd:string` becomes [`encode_string`].
#[inline]
pub fn encode_typed_literal(lexical: &str, datatype: &str, key: &mut Vec<u8>) -> Encoded {
    if let Some(id) = inline::encode_literal(lexical, datatype) {
        return Encoded::Inline(id);
    }
    if datatype == "http://www.w3.org/2001/XMLSchema#string" {
        return encode_string(lexical, key);
    }
    key.clear();
    escape(datatype.as_bytes(), key);
    key.extend_from_slice(&TERMINATOR);
    key.extend_from_slice(lexical.as_bytes());
    Encoded::Key(Section::TypedLiteral)
}

fn encode_literal_into(literal: LiteralRef<'_>, key: &mut Vec<u8>) -> Encoded {
    match (literal.language(), literal.direction()) {
        (Some(language), direction) => encode_lang_string(literal.value(), language, direction, key),
        (None, _) => encode_typed_literal(literal.value(), literal.datatype().as_str(), key),
    }
}

/// Writes a triple term; the error is the label of a blank node without id.
fn encode_triple(
    triple: &Triple,
    key: &mut Vec<u8>,
    blank: &mut dyn FnMut(&str) -> Option<ValueId>,
) -> Result<(), String> {
    // Only objects nest, so the depth is a chain, and the innermost triple is written first.
    let mut chain = vec![triple];
    while let Some(Term::Triple(inner)) = chain.last().map(|outer| &outer.object) {
        chain.push(inner);
    }
    let mut scratch = Vec::new();
    let mut inner = Vec::new();
    for (at, triple) in chain.iter().rev().enumerate() {
        inner.clear();
        std::mem::swap(&mut inner, key);
        key.push(u8::try_from(at + 1).unwrap_or(u8::MAX));
        let subject: NamedOrBlankNodeRef<'_> = triple.subject.as_ref();
        encode_component(subject.into(), key, &mut scratch, blank)?;
        encode_component(triple.predicate.as_ref().into(), key, &mut scratch, blank)?;
        if triple.object.is_triple() {
            encode_part(Kind::TripleTerm, &inner, key);
        } else {
            encode_component(triple.object.as_ref(), key, &mut scratch, blank)?;
        }
    }
    Ok(())
}

fn encode_component(
    term: TermRef<'_>,
    key: &mut Vec<u8>,
    scratch: &mut Vec<u8>,
    blank: &mut dyn FnMut(&str) -> Option<ValueId>,
) -> Result<(), String> {
    if let TermRef::BlankNode(node) = term {
        let id = blank(node.as_str()).ok_or_else(|| node.as_str().to_owned())?;
        encode_id(id, key);
        return Ok(());
    }
    match encode_with(term, scratch, blank) {
        Encoded::Inline(id) => encode_id(id, key),
        Encoded::Key(section) => encode_part(section.kind(), scratch, key),
        Encoded::Blank => return Err(String::from_utf8_lossy(scratch).into_owned()),
    }
    Ok(())
}

fn encode_id(id: ValueId, key: &mut Vec<u8>) {
    key.push(id.kind_byte());
    key.extend_from_slice(&id.to_bits().to_be_bytes());
}

fn encode_part(kind: Kind, part: &[u8], key: &mut Vec<u8>) {
    key.push(kind as u8);
    escape(part, key);
    key.extend_from_slice(&TERMINATOR);
}

/// Appends `text` with every `00` as `00 FF`.
#[inline]
pub fn escape(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = memchr(0, rest) {
        let (head, tail) = rest.split_at_checked(at + 1).unwrap_or((rest, b""));
        out.extend_from_slice(head);
        out.push(ESCAPE);
        rest = tail;
    }
    out.extend_from_slice(rest);
}

/// Splits off a part that [`escape`] wrote and a terminator ended: the part in plain bytes, and what follows.
///
/// # Errors
///
/// [`KeyError::Truncated`] where the terminator is missing, [`KeyError::Malformed`] where an escape is none.
#[inline]
pub fn unescape(bytes: &[u8]) -> Result<(std::borrow::Cow<'_, [u8]>, &[u8]), KeyError> {
    let mut owned: Option<Vec<u8>> = None;
    let mut from = 0;
    loop {
        let rest = bytes.get(from..).unwrap_or_default();
        let at = from + memchr(0, rest).ok_or(KeyError::Truncated)?;
        match bytes.get(at + 1) {
            Some(1) => {
                let last = bytes.get(from..at).unwrap_or_default();
                let after = bytes.get(at + 2..).unwrap_or_default();
                return Ok(match owned {
                    None => (last.into(), after),
                    Some(mut text) => {
                        text.extend_from_slice(last);
                        (text.into(), after)
                    }
                });
            }
            Some(&ESCAPE) => {
                // The zero itself stays, the escape goes.
                owned.get_or_insert_default().extend_from_slice(bytes.get(from..=at).unwrap_or_default());
                from = at + 2;
            }
            Some(_) => return Err(KeyError::Malformed("an unknown escape")),
            None => return Err(KeyError::Truncated),
        }
    }
}

/// The term of a key.
///
/// # Errors
///
/// [`KeyError`] where no encoder writes such a key.
pub fn decode(section: Section, key: &[u8]) -> Result<Term, KeyError> {
    decode_nested(section, key, 0)
}

/// Calls `f` with the term of a key, which borrows from the key where it can.
///
/// # Errors
///
/// [`KeyError`] where no encoder writes such a key.
pub fn with_term<R>(section: Section, key: &[u8], f: impl FnOnce(TermRef<'_>) -> R) -> Result<R, KeyError> {
    Ok(match section {
        Section::Iri => f(NamedNodeRef::new_unchecked(text(key)?).into()),
        Section::String => f(LiteralRef::new_simple_literal(text(key)?).into()),
        Section::LangString => {
            let (lexical, tag) = unescape(key)?;
            f(lang_string(text(&lexical)?, text(tag)?).into())
        }
        Section::TypedLiteral => {
            let (datatype, lexical) = unescape(key)?;
            let datatype = NamedNodeRef::new_unchecked(text(&datatype)?);
            f(LiteralRef::new_typed_literal(text(lexical)?, datatype).into())
        }
        Section::TripleTerm => f(decode(section, key)?.as_ref()),
    })
}

/// The term of an id that needs no dictionary: inline literals, and blank nodes as `_:b<number>`.
#[inline]
pub fn inline_term(id: ValueId) -> Option<Term> {
    match id.kind()? {
        Kind::Blank => Some(blank_node(id).into()),
        _ => inline::decode(id).map(Term::from),
    }
}

/// The blank node that the store shows for an id.
pub fn blank_node(id: ValueId) -> BlankNode {
    BlankNode::new_unchecked(format!("b{}", id.payload()))
}

/// The id of a blank node with a label that the store shows: `b` and a number without leading zeros.
pub fn blank_from_label(label: &str) -> Option<ValueId> {
    let digits = label.strip_prefix('b')?;
    let canonical =
        matches!(digits.as_bytes(), [b'0'] | [b'1'..=b'9', ..]) && digits.bytes().all(|b| b.is_ascii_digit());
    let number: u64 = if canonical { digits.parse().ok()? } else { return None };
    (number <= crate::value_id::PAYLOAD_MAX).then(|| ValueId::new(Kind::Blank, number))
}

fn text(bytes: &[u8]) -> Result<&str, KeyError> {
    std::str::from_utf8(bytes).map_err(|_| KeyError::Utf8)
}

fn decode_nested(section: Section, key: &[u8], depth: usize) -> Result<Term, KeyError> {
    Ok(match section {
        Section::Iri => NamedNode::new_unchecked(text(key)?).into(),
        Section::String => Literal::new_simple_literal(text(key)?).into(),
        Section::LangString => {
            let (lexical, tag) = unescape(key)?;
            lang_string(text(&lexical)?, text(tag)?).into_owned().into()
        }
        Section::TypedLiteral => {
            let (datatype, lexical) = unescape(key)?;
            Literal::new_typed_literal(text(lexical)?, NamedNodeRef::new_unchecked(text(&datatype)?)).into()
        }
        Section::TripleTerm => decode_triple(key, depth + 1)?.into(),
    })
}

fn lang_string<'a>(lexical: &'a str, tag: &'a str) -> LiteralRef<'a> {
    match split_tag(tag) {
        (language, Some(direction)) => {
            LiteralRef::new_directional_language_tagged_literal_unchecked(lexical, language, direction)
        }
        (language, None) => LiteralRef::new_language_tagged_literal_unchecked(lexical, language),
    }
}

/// A tag as keys have it: the language, and RDF 1.2's base direction behind two hyphens.
pub fn split_tag(tag: &str) -> (&str, Option<BaseDirection>) {
    if let Some(language) = tag.strip_suffix("--ltr") {
        (language, Some(BaseDirection::Ltr))
    } else if let Some(language) = tag.strip_suffix("--rtl") {
        (language, Some(BaseDirection::Rtl))
    } else {
        (tag, None)
    }
}

fn decode_triple(key: &[u8], depth: usize) -> Result<Triple, KeyError> {
    if depth > TRIPLE_DEPTH_MAX {
        return Err(KeyError::TooDeep);
    }
    let (_, rest) = key.split_first().ok_or(KeyError::Truncated)?;
    let (subject, rest) = decode_component(rest, depth)?;
    let (predicate, rest) = decode_component(rest, depth)?;
    let (object, rest) = decode_component(rest, depth)?;
    if !rest.is_empty() {
        return Err(KeyError::Malformed("bytes after a triple term"));
    }
    let subject: NamedOrBlankNode = match subject {
        Term::NamedNode(node) => node.into(),
        Term::BlankNode(node) => node.into(),
        _ => return Err(KeyError::Malformed("a subject that is neither an IRI nor a blank node")),
    };
    let Term::NamedNode(predicate) = predicate else {
        return Err(KeyError::Malformed("a predicate that is no IRI"));
    };
    Ok(Triple { subject, predicate, object })
}

fn decode_component(bytes: &[u8], depth: usize) -> Result<(Term, &[u8]), KeyError> {
    let (&tag, rest) = bytes.split_first().ok_or(KeyError::Truncated)?;
    let kind = Kind::from_byte(tag).ok_or(KeyError::Malformed("an unknown tag"))?;
    if let Some(section) = kind.section() {
        let (part, rest) = unescape(rest)?;
        return Ok((decode_nested(section, &part, depth)?, rest));
    }
    let (bits, rest) = rest.split_first_chunk::<8>().ok_or(KeyError::Truncated)?;
    let id = ValueId::from_bits(u64::from_be_bytes(*bits));
    if id.kind_byte() != tag {
        return Err(KeyError::Malformed("an id of another kind than its tag"));
    }
    Ok((inline_term(id).ok_or(KeyError::Malformed("an id that is no inline term"))?, rest))
}

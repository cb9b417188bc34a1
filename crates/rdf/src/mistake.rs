//! Mistakes that lenient parsing can live with, and what tells them from those that cost a statement.

/// A kind of mistake that need not cost a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mistake {
    /// An IRI with characters or escapes that no IRI may have.
    Iri,
    /// A relative IRI where there is nothing to resolve it against.
    RelativeIri,
    /// A language tag that is none.
    Language,
    /// An escape in a string that is none; its backslash is kept.
    Escape,
    /// A name (`rdf:ID`, `rdf:nodeID`) of RDF/XML that is none.
    Name,
}

impl Mistake {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Iri, Self::RelativeIri, Self::Language, Self::Escape, Self::Name];

    /// What it is, in the plural.
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Iri => "invalid IRIs",
            Self::RelativeIri => "relative IRIs without a base",
            Self::Language => "invalid language tags",
            Self::Escape => "invalid escapes",
            Self::Name => "invalid rdf:ID or rdf:nodeID",
        }
    }

    /// Its name for programs.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Iri => "iri",
            Self::RelativeIri => "relative_iri",
            Self::Language => "language",
            Self::Escape => "escape",
            Self::Name => "name",
        }
    }

    /// What an invalid IRI is.
    pub(crate) fn of_iri(iri: &str) -> Self {
        if has_scheme(iri) { Self::Iri } else { Self::RelativeIri }
    }
}

/// Whether an IRI begins with a scheme: then it is not relative.
pub(crate) fn has_scheme(iri: &str) -> bool {
    let Some((scheme, _)) = iri.split_once(':') else { return false };
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
}

/// Whether a text can be kept as an IRI: what stands between angle brackets and holds none, nor a line's end.
pub(crate) fn can_be_kept(iri: &str) -> bool {
    !iri.is_empty() && !iri.bytes().any(|byte| byte < b' ' || byte == b'<' || byte == b'>')
}

/// A language tag that the standard allows, in whatever case.
pub(crate) fn is_language(tag: &str) -> bool {
    oxrdf::Literal::new_language_tagged_literal("", tag).is_ok()
}

/// Whether a tag can be kept as a language: letters, digits, `-` and `_`, and nothing that reads as a direction.
pub(crate) fn can_be_language(tag: &str) -> bool {
    tag.starts_with(|c: char| c.is_ascii_alphabetic()) && !tag.contains("--") && !tag.ends_with('-')
}

/// The character of two escapes `\uD83D\uDE00` as other systems write one beyond U+FFFF; `rest` is behind the first backslash.
pub(crate) fn surrogate_pair(rest: &[u8]) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let digits = std::str::from_utf8(rest.get(at..at + 4)?).ok()?;
        u16::from_str_radix(digits, 16).ok()
    };
    if rest.first() != Some(&b'u') || rest.get(5..7) != Some(b"\\u") {
        return None;
    }
    let c = char::decode_utf16([unit(1)?, unit(7)?]).next()?.ok()?;
    (u32::from(c) > 0xFFFF).then_some((c, 11))
}

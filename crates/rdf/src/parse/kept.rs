//! What lenient parsing keeps although the standards forbid it: told by kind, counted, with examples.

use super::ParseOptions;
use super::error::excerpt;
use crate::raw::RawQuad;
use oxrdf::QuadRef;

/// Examples of each kind that are kept.
const EXAMPLES_MAX: usize = 3;

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

/// A place where something was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptExample {
    /// What is wrong.
    pub mistake: Mistake,
    /// The line, from 1.
    pub line: u64,
    /// The column in characters, from 1; 0 where only the line is known, and about.
    pub column: u64,
    /// The text in question.
    pub text: String,
}

/// All that was kept of a document or of a part of one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kept {
    counts: [u64; Mistake::ALL.len()],
    examples: Vec<KeptExample>,
}

impl Kept {
    /// How many mistakes of a kind there were.
    pub fn count(&self, mistake: Mistake) -> u64 {
        self.counts.get(mistake as usize).copied().unwrap_or(0)
    }

    /// How many mistakes there were.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The first of each kind, as they were found.
    pub fn examples(&self) -> &[KeptExample] {
        &self.examples
    }

    /// Counts a mistake; `place` is asked for line and column where it is an example.
    pub(crate) fn add(&mut self, mistake: Mistake, text: &str, place: impl FnOnce() -> (u64, u64)) {
        if let Some(count) = self.counts.get_mut(mistake as usize) {
            *count += 1;
        }
        if self.wants(mistake) {
            let (line, column) = place();
            self.examples.push(KeptExample { mistake, line, column, text: excerpt(text.as_bytes()) });
        }
    }

    fn wants(&self, mistake: Mistake) -> bool {
        self.examples.iter().filter(|example| example.mistake == mistake).count() < EXAMPLES_MAX
    }

    /// Adds what was kept elsewhere.
    pub fn merge(&mut self, other: Self) {
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count += more;
        }
        for example in other.examples {
            if self.wants(example.mistake) {
                self.examples.push(example);
            }
        }
    }
}

/// What a parser has to say besides its quads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParseNotes {
    /// Whether there were relative IRIs that were resolved against the document's own address.
    pub used_own_address: bool,
    /// What was kept.
    pub kept: Kept,
}

impl ParseNotes {
    /// Notes whether a quad shows that relative IRIs were resolved against the document's own address.
    pub(crate) fn see_address(&mut self, options: &ParseOptions, quad: QuadRef<'_>) {
        if let Some(files) = options.own_files().filter(|_| !self.used_own_address) {
            self.used_own_address = RawQuad::from(quad).iris().any(|iri| iri.starts_with(files));
        }
    }

    /// Adds the notes on another part of the document.
    pub fn merge(&mut self, other: Self) {
        self.used_own_address |= other.used_own_address;
        self.kept.merge(other.kept);
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

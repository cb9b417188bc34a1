//! An index of the words of a segment's texts: which texts have a word, so that a search for words does not read all of them.
//!
//! It is two files beside the segment's own that no manifest names: a dictionary of words and names ([`lode_text::index`]), and rows of a word, a text and how often it has the word. A text is
//! its place in the segment's dictionary, first strings, then strings with a language, so that the index stays right when numbers before the segment change. Both are
//! made of the segment alone, so what is missing, damaged or of another version of the analysis costs time and no answer: those texts are read.

mod best;
mod build;
mod coverage;
mod ids;
mod limits;
mod lists;
mod postings;
mod search;
mod settings;
mod tokens;
mod vocabulary;

pub use best::{BestTexts, RowsOf};
pub(crate) use build::index_in_turn;
pub use build::{WordsOptions, WordsReport, drop_words, index_words, keeps_words};
pub use coverage::TextScope;
pub use search::TextHits;
pub use settings::{WordsOf, keep_words_of, words_of};

use crate::version::OpenSegment;
use lode_rdf::TermRef;
use lode_rdf::key::with_term;
use lode_rdf::value_id::Section;
use lode_text::analysis::Language;

/// How many texts of each kind a segment's dictionary has.
fn texts_of(segment: &OpenSegment) -> [u64; 2] {
    let count = |section| segment.dictionary().map_or(0, |dictionary| dictionary.len(section));
    [count(Section::String), count(Section::LangString)]
}

/// Calls `f` with the text of a key and its language; none for what is no text.
fn with_text<R>(section: Section, key: &[u8], f: impl FnOnce(&str, Language) -> R) -> Option<R> {
    let of_term = |term: TermRef<'_>| match term {
        TermRef::Literal(literal) => {
            Some(f(literal.value(), literal.language().map_or(Language::NONE, Language::of_tag)))
        }
        _ => None,
    };
    with_term(section, key, of_term).ok().flatten()
}

//! An index of the words of a segment's texts: which texts have a word, so that a search for words does not read all of them.
//!
//! It is two files beside the segment's own that no manifest names: a dictionary of words and names ([`lode_text::index`]), and rows of a word and a text. A text is
//! its place in the segment's dictionary, first strings, then strings with a language, so that the index stays right when numbers before the segment change. Both are
//! made of the segment alone, so what is missing, damaged or of another version of the analysis costs time and no answer: those texts are read.

mod build;
mod search;

pub(crate) use build::index_in_turn;
pub use build::{WordsOptions, WordsReport, drop_words, index_words, keeps_words};
pub use search::TextHits;

use crate::version::OpenSegment;
use lode_rdf::value_id::Section;

/// How many texts of each kind a segment's dictionary has.
fn texts_of(segment: &OpenSegment) -> [u64; 2] {
    let count = |section| segment.dictionary().map_or(0, |dictionary| dictionary.len(section));
    [count(Section::String), count(Section::LangString)]
}

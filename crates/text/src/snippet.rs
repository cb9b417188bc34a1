//! A part of a text that shows why it was found: where most of the words are that were looked for, with marks around them.

use crate::analysis::Language;
use crate::matcher::Matcher;
use crate::prepared::Prepared;
use std::ops::Range;

/// Words that are marked, at most: those further on are not looked at.
const PLACES_MAX: usize = 4096;
/// What stands where a text was cut.
const CUT: &str = "…";

/// What a snippet looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marks<'m> {
    /// What stands before a word that was looked for,
    pub start: &'m str,
    /// and behind it.
    pub end: &'m str,
    /// About how many characters of the text are shown.
    pub chars: usize,
}

impl Default for Marks<'_> {
    fn default() -> Self {
        Self { start: "↦", end: "↤", chars: 160 }
    }
}

impl Marks<'_> {
    /// The snippet of a text; its beginning where it has none of the words. `spend` is told what was done, as in [`Matcher::is_match`], and is asked by `allow`
    /// whether a snippet may have so many bytes.
    pub fn snippet(
        &self,
        query: &Prepared,
        text: &str,
        language: Language,
        spend: impl Fn(usize) -> Option<()>,
        allow: impl Fn(usize) -> Option<()>,
    ) -> Option<String> {
        let mut places = Vec::new();
        Matcher::new(query).each_place(text, language, &spend, |place| {
            places.push(place);
            places.len() < PLACES_MAX
        })?;
        let shown = self.window(text, &places);
        let inside = places.iter().filter(|place| shown.start <= place.start && place.end <= shown.end);
        let marks = inside.clone().count() * (self.start.len() + self.end.len());
        allow(shown.len() + marks + 2 * CUT.len())?;
        spend(shown.len() + marks)?;
        let mut out = String::with_capacity(shown.len() + marks + 2 * CUT.len());
        if shown.start > 0 {
            out.push_str(CUT);
        }
        let mut copied = shown.start;
        for place in inside {
            out.push_str(text.get(copied..place.start).unwrap_or_default());
            out.push_str(self.start);
            out.push_str(text.get(place.clone()).unwrap_or_default());
            out.push_str(self.end);
            copied = place.end;
        }
        out.push_str(text.get(copied..shown.end).unwrap_or_default());
        if shown.end < text.len() {
            out.push_str(CUT);
        }
        Some(out)
    }

    /// The part of the text that has most of the places, with some of what is before the first of them.
    fn window(&self, text: &str, places: &[Range<usize>]) -> Range<usize> {
        if text.chars().nth(self.chars).is_none() {
            return 0..text.len();
        }
        // A character has one byte or more, so this is no less than is asked for in most texts; the cut below is exact.
        let (mut best, mut most, mut last) = (0, 0, 0);
        for (first, place) in places.iter().enumerate() {
            while places.get(last).is_some_and(|next| next.end <= place.start + self.chars) {
                last += 1;
            }
            if last.saturating_sub(first) > most {
                (best, most) = (first, last - first);
            }
        }
        let begin = places.get(best).map_or(0, |place| place.start);
        let before = text.get(..begin).unwrap_or_default();
        let lead = before.char_indices().rev().take(self.chars / 4).last().map_or(begin, |(at, _)| at);
        let start = word_start(text, lead, begin);
        let rest = text.get(start..).unwrap_or_default();
        let end = rest.char_indices().nth(self.chars).map_or(text.len(), |(at, _)| start + at);
        let first = places.get(best).map_or(start, |place| place.end);
        start..word_end(text, end).max(first)
    }
}

/// Where the first word begins from `from` on, no further than `limit`.
fn word_start(text: &str, from: usize, limit: usize) -> usize {
    if from == 0 {
        return 0;
    }
    let part = text.get(from..limit).unwrap_or_default();
    part.find(char::is_whitespace)
        .map_or(from, |at| limit - part.get(at..).unwrap_or_default().trim_start().len())
}

/// Where the last word ends before `end`, if a word is cut there.
fn word_end(text: &str, end: usize) -> usize {
    if text.get(end..).is_none_or(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace)) {
        return end;
    }
    let before = text.get(..end).unwrap_or_default();
    // One word alone is cut where it is.
    before
        .rfind(char::is_whitespace)
        .filter(|at| end - at < 64)
        .map_or(end, |at| before.get(..at).unwrap_or_default().trim_end().len())
}

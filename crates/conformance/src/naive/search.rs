//! Functions of full-text search, straight from what the guide says of them: a text is the list of its words, and a query is evaluated while it is read.

use super::datatypes::{boolean, double, string_literal, text};
use oxrdf::{Literal, Term};
use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

/// The function's value; nothing for an error.
pub(super) fn apply(name: &str, args: &[Term]) -> Option<Term> {
    let (literal, query) = (string_literal(args.first()?)?, string_literal(args.get(1)?)?.value());
    let found = Reader::over(literal, query)?;
    match name {
        "matches" if args.len() == 2 => Some(boolean(found.is_some())),
        "score" if args.len() == 2 => {
            Some(double(found.unwrap_or_default().iter().fold(0.0, |sum, part| sum + part).into()))
        }
        // The oracle knows short texts only, of which all is shown.
        "snippet" if literal.value().chars().count() <= 160 => {
            let mark = |at: usize, default: &str| {
                args.get(at)
                    .map_or(Some(default.to_owned()), |mark| Some(string_literal(mark)?.value().to_owned()))
            };
            let end = if args.len() == 3 { String::new() } else { mark(3, "↤")? };
            Some(text(marked(literal, query, &mark(2, "↦")?, &end)?))
        }
        _ => None,
    }
}

/// A word of a text: as it is written, folded, and its stem.
struct Word {
    at: usize,
    written: String,
    folded: String,
    stem: String,
}

fn folded(word: &str) -> String {
    let accent = |c: &char| matches!(*c, '\u{300}'..='\u{36f}');
    let hangul = |c: char| ('\u{ac00}'..='\u{d7a3}').contains(&c);
    let mut out = String::new();
    for c in word.chars() {
        if hangul(c) {
            out.push(c);
        } else {
            out.extend(c.nfkd().flat_map(char::to_lowercase).filter(|c| !accent(c)));
        }
    }
    out.replace('ß', "ss").replace('ø', "o").replace('ł', "l").replace('æ', "ae").replace('ς', "σ")
}

fn stemmer(literal: &Literal) -> Option<Stemmer> {
    let algorithm = match literal.language()?.split('-').next()? {
        "en" => Algorithm::English,
        "de" => Algorithm::German,
        "fr" => Algorithm::French,
        _ => return None,
    };
    Some(Stemmer::create(algorithm))
}

fn words(text: &str, stemmer: Option<&Stemmer>) -> Vec<Word> {
    let word = |(at, word): (usize, &str)| {
        let stem = match stemmer {
            Some(stemmer) if word.chars().all(char::is_alphabetic) => {
                folded(&stemmer.stem(&word.to_lowercase()))
            }
            _ => folded(word),
        };
        Word { at, written: word.to_owned(), folded: folded(word), stem }
    };
    text.unicode_word_indices().map(word).collect()
}

fn same(query: &Word, word: &Word) -> bool {
    query.folded == word.folded || query.stem == word.stem
}

/// What parts of a query add to the score; nothing where they are not found.
type Found = Option<Vec<f64>>;

struct Reader<'t> {
    words: Vec<Word>,
    stemmer: Option<Stemmer>,
    rest: &'t str,
    /// Places of words that are looked for.
    places: Vec<usize>,
}

impl<'t> Reader<'t> {
    fn over(literal: &Literal, query: &'t str) -> Option<Found> {
        let mut reader = Self::new(literal, query);
        let found = reader.alternatives()?;
        reader.rest.is_empty().then_some(found)
    }

    fn new(literal: &Literal, rest: &'t str) -> Self {
        let stemmer = stemmer(literal);
        Self { words: words(literal.value(), stemmer.as_ref()), stemmer, rest, places: Vec::new() }
    }

    fn take(&mut self, token: &str) -> bool {
        let rest = self.rest.trim_start();
        let taken = rest.strip_prefix(token);
        let is_word = token.starts_with(char::is_alphabetic);
        let taken = taken
            .filter(|rest| !is_word || rest.starts_with([' ', '(', '"', '+', '-', '!']) || rest.is_empty());
        self.rest = taken.unwrap_or(rest);
        taken.is_some()
    }

    fn is_at_end(&mut self) -> bool {
        self.rest = self.rest.trim_start();
        self.rest.is_empty() || self.rest.starts_with(')')
    }

    /// None: no query.
    fn alternatives(&mut self) -> Option<Found> {
        let mut group = Group::default();
        while !self.is_at_end() {
            if self.take("OR") || self.take("||") {
                if group.is_empty() || self.is_at_end() {
                    return None;
                }
                continue;
            }
            let mut parts = vec![self.signed()?];
            while self.take("AND") || self.take("&&") {
                parts.push(self.signed()?);
            }
            if parts.len() == 1 {
                parts.into_iter().flatten().for_each(|(sign, found)| group.put(sign, found));
            } else {
                let mut all = Group::default();
                parts
                    .into_iter()
                    .flatten()
                    .for_each(|(sign, found)| all.put(if sign == '-' { '-' } else { '+' }, found));
                group.put(' ', all.found()?);
            }
        }
        group.found()
    }

    fn signed(&mut self) -> Option<Option<(char, Found)>> {
        let mut sign = ' ';
        loop {
            if self.take("+") {
                sign = '+';
            } else if self.take("-") || self.take("!") || self.take("NOT") {
                sign = '-';
            } else {
                break;
            }
        }
        if self.is_at_end() {
            return None;
        }
        let found = if self.take("(") {
            let found = self.alternatives()?;
            if !self.take(")") {
                return None;
            }
            Some(found)
        } else if self.take("\"") {
            let (inside, rest) = self.rest.split_once('"')?;
            self.rest = rest;
            let slop = self.number('~').unwrap_or(0.0);
            self.phrase(inside, slop)
        } else {
            let end = self
                .rest
                .find(|c: char| c.is_whitespace() || "()\"^~".contains(c))
                .unwrap_or(self.rest.len());
            let (word, rest) = self.rest.split_at(end);
            if word.is_empty() || word.contains([':', '\\', '[', '{', '/']) {
                return None;
            }
            self.rest = rest;
            if word.contains(['*', '?']) {
                let pattern = folded(word);
                if !word.contains(char::is_alphanumeric) {
                    return None;
                }
                Some(self.count(|word| {
                    globbed(&pattern.chars().collect::<Vec<_>>(), &word.folded.chars().collect::<Vec<_>>())
                }))
            } else {
                self.phrase(word, 0.0)
            }
        };
        let boost = self.number('^').unwrap_or(1.0);
        let boosted = |found: Found| found.map(|parts| parts.into_iter().map(|part| part * boost).collect());
        Some(found.map(|found| (sign, boosted(found))))
    }

    fn number(&mut self, sign: char) -> Option<f64> {
        let rest = self.rest.strip_prefix(sign)?;
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        self.rest = &rest[end..];
        rest[..end].parse().ok()
    }

    fn weight(&self, count: usize) -> Found {
        let (count, length) = (count as f64, self.words.len() as f64 / 64.0);
        (count > 0.0).then(|| vec![count * (1.2 + 1.0) / (count + 1.2 * (1.0 - 0.75 + 0.75 * length))])
    }

    fn count(&mut self, is: impl Fn(&Word) -> bool) -> Found {
        let places: Vec<usize> = (0..self.words.len()).filter(|at| is(&self.words[*at])).collect();
        self.places.extend(&places);
        self.weight(places.len())
    }

    /// None: there are no words in it.
    fn phrase(&mut self, text: &str, slop: f64) -> Option<Found> {
        let wanted = words(text, self.stemmer.as_ref());
        match wanted.as_slice() {
            [] => None,
            [one] => Some(self.count(|word| same(one, word))),
            all => {
                let n = self.words.len();
                self.places.extend((0..n).filter(|at| all.iter().any(|one| same(one, &self.words[*at]))));
                // Ends of windows that have all of them.
                let ends = (0..n).filter(|end| {
                    if slop == 0.0 {
                        return *end + 1 >= all.len()
                            && all.iter().zip(&self.words[end + 1 - all.len()..]).all(|(a, b)| same(a, b));
                    }
                    let first = (end + 1).saturating_sub(all.len() + slop as usize);
                    all.iter().any(|one| same(one, &self.words[*end]))
                        && all.iter().all(|one| self.words[first..=*end].iter().any(|word| same(one, word)))
                });
                let count = ends.count();
                Some(self.weight(count))
            }
        }
    }
}

#[derive(Default)]
struct Group {
    must: Vec<Found>,
    should: Vec<Found>,
    not: Vec<Found>,
}

impl Group {
    fn is_empty(&self) -> bool {
        self.must.is_empty() && self.should.is_empty() && self.not.is_empty()
    }

    fn put(&mut self, sign: char, found: Found) {
        match sign {
            '+' => self.must.push(found),
            '-' => self.not.push(found),
            _ => self.should.push(found),
        }
    }

    /// None: it looks for nothing.
    fn found(self) -> Option<Found> {
        let Self { must, should, not } = self;
        if must.is_empty() && should.is_empty() {
            return None;
        }
        let holds = must.iter().all(Option::is_some)
            && (!must.is_empty() || should.iter().any(Option::is_some))
            && !not.iter().any(Option::is_some);
        Some(holds.then(|| must.into_iter().chain(should).flatten().flatten().collect()))
    }
}

fn globbed(pattern: &[char], word: &[char]) -> bool {
    match (pattern, word) {
        ([], []) => true,
        (['*', rest @ ..], _) => (0..=word.len()).any(|from| globbed(rest, &word[from..])),
        (['?', rest @ ..], [_, word @ ..]) => globbed(rest, word),
        ([c, rest @ ..], [d, word @ ..]) => c == d && globbed(rest, word),
        _ => false,
    }
}

fn marked(literal: &Literal, query: &str, start: &str, end: &str) -> Option<String> {
    let mut reader = Reader::new(literal, query);
    reader.alternatives()?;
    let mut out = String::new();
    let mut copied = 0;
    for (number, word) in reader.words.iter().enumerate() {
        if reader.places.contains(&number) {
            out += &literal.value()[copied..word.at];
            out += &format!("{start}{}{end}", word.written);
            copied = word.at + word.written.len();
        }
    }
    Some(out + &literal.value()[copied..])
}

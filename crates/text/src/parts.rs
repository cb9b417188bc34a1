//! Strings that a text has somewhere in it, as conditions on texts ask for them that know nothing of words, and which whole words, or parts of words, a text
//! has that has such a string: so an index of words tells which texts may have it.
//!
//! It is told of letters only that Unicode's rules (UAX 29) never put into different words where they stand beside each other, and of characters that are words by themselves. What
//! else is in a string, such as signs and letters of other scripts, is passed over: there are more texts then that may have it, and never fewer.

/// Strings that a text must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parts {
    /// All of these; nothing is known where there are none.
    All(Vec<Parts>),
    /// One of these.
    Any(Vec<Parts>),
    /// This.
    Part(Part),
}

/// A string that a text, or the same in lower case, has in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Part {
    /// The string.
    pub text: String,
    /// Whether the text begins with it.
    pub at_start: bool,
    /// Whether the text ends with it.
    pub at_end: bool,
    /// Whether small letters may stand for capital ones, and the other way round.
    pub any_case: bool,
}

/// Letters that stand in one word, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    pub letters: String,
    /// Whether the word begins with them.
    pub begins: bool,
    /// Whether it ends with them.
    pub ends: bool,
    /// Whether a long s stands for an s.
    pub any_case: bool,
}

impl Piece {
    /// Whether a word in lower case has these letters there.
    pub fn is_in(&self, word: &str) -> bool {
        let long_s = self.any_case && word.contains('ſ');
        let replaced = if long_s { word.replace('ſ', "s") } else { String::new() };
        let word = if long_s { replaced.as_str() } else { word };
        match (self.begins, self.ends) {
            (true, true) => word == self.letters,
            (true, false) => word.starts_with(&self.letters),
            (false, true) => word.ends_with(&self.letters),
            (false, false) => has(word.as_bytes(), self.letters.as_bytes()),
        }
    }

    /// Whether all words that it may be in begin with its letters.
    pub fn is_beginning(&self) -> bool {
        self.begins && !(self.any_case && self.letters.contains('s'))
    }
}

/// Words are short: to make ready what finds a string fast takes longer than to look.
fn has(word: &[u8], letters: &[u8]) -> bool {
    let Some(first) = letters.first() else { return true };
    let last = word.len().checked_sub(letters.len());
    let Some(starts) = last.and_then(|last| word.get(..=last)) else { return false };
    let is_there = |at: usize| word.get(at..at + letters.len()) == Some(letters);
    starts.iter().enumerate().any(|(at, byte)| byte == first && is_there(at))
}

impl Part {
    /// What of it stands in single words, the longest first.
    pub(crate) fn pieces(&self) -> Vec<Piece> {
        let mut pieces: Vec<Piece> = Vec::new();
        // What is before the next character: nothing of the text, a space, or something else.
        let (mut before, mut open) =
            (if self.at_start { Before::Edge } else { Before::Unknown }, None::<Piece>);
        for c in self.text.chars() {
            match self.class(c) {
                Class::Joins(lower) => match &mut open {
                    Some(piece) => piece.letters.push(lower),
                    None => {
                        open = Some(Piece {
                            letters: lower.into(),
                            begins: before == Before::Edge,
                            ends: false,
                            any_case: self.any_case,
                        });
                    }
                },
                class => {
                    pieces.extend(open.take().map(|piece| Piece { ends: class == Class::Space, ..piece }));
                    if class == Class::Alone {
                        let (letters, any_case) = (c.into(), self.any_case);
                        pieces.push(Piece { letters, begins: false, ends: false, any_case });
                    }
                    before = if class == Class::Space { Before::Edge } else { Before::Unknown };
                }
            }
        }
        pieces.extend(open.map(|piece| Piece { ends: self.at_end, ..piece }));
        pieces.sort_by_key(|piece| std::cmp::Reverse((piece.letters.len(), piece.begins, piece.ends)));
        pieces
    }

    fn class(&self, c: char) -> Class {
        match c {
            ' ' | '\t' | '\n' | '\r' => Class::Space,
            c if c.is_ascii_alphanumeric() => Class::Joins(c.to_ascii_lowercase()),
            c if c.is_ascii() => Class::Other,
            // Letters of which each has one other, and stays itself wherever it stands in a word.
            '\u{c0}'..='\u{24f}' | '\u{391}'..='\u{3c9}' | '\u{400}'..='\u{45f}' if !self.any_case => {
                let mut lower = c.to_lowercase();
                match (lower.next(), lower.next()) {
                    (Some(lower), None) if c.is_alphabetic() && !matches!(c, 'Σ' | 'σ' | 'ς') => {
                        Class::Joins(lower)
                    }
                    _ => Class::Other,
                }
            }
            '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => Class::Alone,
            _ => Class::Other,
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Before {
    Edge,
    Unknown,
}

#[derive(Clone, Copy, PartialEq)]
enum Class {
    /// A letter or a digit, in lower case: beside another it stands in the same word.
    Joins(char),
    /// A letter that is looked for by itself.
    Alone,
    /// In no word, and words end there.
    Space,
    /// Whatever else.
    Other,
}

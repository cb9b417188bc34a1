//! Update requests cut into their operations.
//!
//! Declarations (PREFIX, BASE, VERSION) may stand before every operation, but the parser takes them at the beginning only; and of COPY,
//! MOVE and ADD it keeps what they amount to, but not what they were. So each operation is parsed by itself, behind the declarations
//! that hold for it.

use super::limits::tokens;
use std::ops::Range;

/// A request, cut.
#[derive(Debug, Default)]
pub(super) struct Request {
    /// Declarations, in the order of the text.
    declarations: Vec<Range<usize>>,
    parts: Vec<Part>,
}

/// An operation, or nothing behind the last declarations.
#[derive(Debug)]
struct Part {
    /// How many of the declarations hold.
    declarations: usize,
    body: Range<usize>,
    words: [Range<usize>; 2],
}

/// One operation behind its declarations.
#[derive(Debug)]
pub(super) struct Operation {
    /// The text to be parsed.
    pub text: String,
    /// Where the operation begins in the request.
    pub offset: usize,
    /// Its first two words in lower case.
    pub words: [String; 2],
    /// Where pieces of the text begin, in it and in the request.
    pieces: Vec<(usize, usize)>,
}

impl Operation {
    /// Where in the request something is that is here in the operation's text.
    pub fn offset_in_request(&self, offset: usize) -> usize {
        let piece = self.pieces.iter().rev().find(|(here, _)| *here <= offset);
        piece.map_or(0, |(here, there)| there + (offset - here))
    }
}

impl Request {
    /// Cuts a request at the semicolons between operations. An error is where one of these ends nothing.
    pub fn cut(text: &str) -> Result<Self, usize> {
        let mut request = Self::default();
        let (mut segment, mut depth) = (Segment::default(), 0_usize);
        for range in tokens(text) {
            let token = text.get(range.clone()).unwrap_or("");
            if token.trim().is_empty() || token.starts_with('#') {
                continue;
            }
            match token {
                "{" => depth += 1,
                "}" => depth = depth.saturating_sub(1),
                ";" if depth == 0 => {
                    if segment.body.is_none() {
                        return Err(range.start);
                    }
                    request.push(std::mem::take(&mut segment));
                    continue;
                }
                _ => {}
            }
            segment.token(token, range);
        }
        if segment.body.is_some() || !segment.declarations.is_empty() {
            request.push(segment);
        }
        Ok(request)
    }

    fn push(&mut self, segment: Segment) {
        self.declarations.extend(segment.declarations);
        let declarations = self.declarations.len();
        self.parts.push(Part { declarations, body: segment.body.unwrap_or(0..0), words: segment.words });
    }

    /// The operations, ready to be parsed.
    pub fn operations(&self, text: &str) -> impl Iterator<Item = Operation> {
        self.parts.iter().map(move |part| {
            let (mut composed, mut pieces) = (String::new(), Vec::new());
            let declarations = self.declarations.get(..part.declarations).unwrap_or(&[]);
            for range in declarations.iter().chain([&part.body]) {
                if !composed.is_empty() {
                    composed.push('\n');
                }
                pieces.push((composed.len(), range.start));
                composed.push_str(text.get(range.clone()).unwrap_or(""));
            }
            let word = |range: &Range<usize>| text.get(range.clone()).unwrap_or("").to_ascii_lowercase();
            let words = part.words.each_ref().map(word);
            Operation { text: composed, offset: part.body.start, words, pieces }
        })
    }
}

/// What is between two semicolons.
#[derive(Debug, Default)]
struct Segment {
    declarations: Vec<Range<usize>>,
    /// Inside of a declaration.
    declaring: bool,
    body: Option<Range<usize>>,
    words: [Range<usize>; 2],
    count: usize,
}

impl Segment {
    fn token(&mut self, token: &str, range: Range<usize>) {
        if let Some(body) = &mut self.body {
            body.end = range.end;
        } else if self.declaring {
            // A declaration ends with its IRI, or the string of a version.
            self.declaring = !(token.len() > 1 && token.starts_with(['<', '"', '\'']));
            if let Some(last) = self.declarations.last_mut() {
                last.end = range.end;
            }
            return;
        } else if ["prefix", "base", "version"].iter().any(|word| token.eq_ignore_ascii_case(word)) {
            self.declarations.push(range);
            self.declaring = true;
            return;
        } else {
            self.body = Some(range.clone());
        }
        if let Some(word) = self.words.get_mut(self.count) {
            *word = range;
            self.count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    //! Where requests are cut.
    use super::Request;

    fn texts(text: &str) -> Vec<String> {
        let request = Request::cut(text).expect("well-formed");
        request.operations(text).map(|operation| operation.text).collect()
    }

    #[test]
    fn declarations_hold_for_all_that_follows() {
        let text =
            "PREFIX a: <x> # ;\n CLEAR ALL; BASE <y;z> PREFIX b.c-d: <z> INSERT DATA { a:b ';' 1 ; a:c 2 } ;";
        assert_eq!(
            texts(text),
            [
                "PREFIX a: <x>\nCLEAR ALL",
                "PREFIX a: <x>\nBASE <y;z>\nPREFIX b.c-d: <z>\nINSERT DATA { a:b ';' 1 ; a:c 2 }"
            ]
        );
        assert!(texts(" # nothing\n").is_empty());
        assert_eq!(texts("CLEAR ALL; PREFIX a: <x>"), ["CLEAR ALL", "PREFIX a: <x>\n"]);
    }

    #[test]
    fn a_semicolon_that_ends_nothing_is_found() {
        assert_eq!(Request::cut("CLEAR ALL ;;").expect_err("two"), 11);
        assert_eq!(Request::cut(";").expect_err("one"), 0);
    }

    #[test]
    fn places_are_those_of_the_request() {
        let text = "PREFIX a: <x> CLEAR ALL; PREFIX b: <y> DROP all";
        let request = Request::cut(text).expect("well-formed");
        let last = request.operations(text).last().expect("two");
        for word in ["b:", "DROP", "all"] {
            let here = last.text.find(word).expect(word);
            assert_eq!(last.offset_in_request(here), text.find(word).expect(word), "{word}");
        }
        assert_eq!(last.words, ["drop", "all"]);
    }
}

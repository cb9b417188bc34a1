//! Update requests cut into their operations.
//!
//! Declarations (PREFIX, BASE, VERSION) may stand before every operation, but the parser takes them at the beginning only; and of COPY,
//! MOVE and ADD it keeps what they amount to, but not what they were. So each operation is parsed by itself, behind the declarations
//! that hold for it.

use super::limits::tokens;
use std::ops::Range;

/// Declarations are repeated for each operation; more bytes of them than this are refused.
const REPEATED_BYTES_MAX: usize = 64 << 20;

/// A request, cut.
#[derive(Debug, Default)]
pub(super) struct Request {
    parts: Vec<Segment>,
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
                    request.parts.push(std::mem::take(&mut segment));
                    continue;
                }
                _ => {}
            }
            segment.token(token, range);
        }
        if segment.body.is_some() || !segment.declarations.is_empty() {
            request.parts.push(segment);
        }
        Ok(request)
    }

    /// The operations, ready to be parsed. An error is where so many declarations hold for so many operations that it is too much.
    pub fn operations(self, text: &str) -> impl Iterator<Item = Result<Operation, usize>> {
        let (mut in_force, mut repeated) = (Declarations::default(), 0);
        self.parts.into_iter().map(move |segment| {
            for declaration in segment.declarations {
                in_force.add(declaration, text);
            }
            let body = segment.body.unwrap_or(0..0);
            let (mut composed, mut pieces) = (String::new(), Vec::new());
            for range in in_force.0.iter().map(|declaration| &declaration.range).chain([&body]) {
                if !composed.is_empty() {
                    composed.push('\n');
                }
                pieces.push((composed.len(), range.start));
                composed.push_str(text.get(range.clone()).unwrap_or(""));
            }
            repeated += composed.len() - body.len();
            if repeated > REPEATED_BYTES_MAX {
                return Err(body.start);
            }
            let word = |range: &Range<usize>| text.get(range.clone()).unwrap_or("").to_ascii_lowercase();
            let words = segment.words.each_ref().map(word);
            Ok(Operation { text: composed, offset: body.start, words, pieces })
        })
    }
}

/// A declaration.
#[derive(Debug, Clone)]
struct Declaration {
    range: Range<usize>,
    /// What it declares: a prefix with its colon, the version, or nothing for a base.
    name: String,
}

/// Those that hold.
#[derive(Debug, Default)]
struct Declarations(Vec<Declaration>);

impl Declarations {
    /// A prefix takes the place of one of the same name, which nothing else depends on. A base stays, because prefixes before the next
    /// one may be relative to it; the same once more is none.
    fn add(&mut self, new: Declaration, text: &str) {
        if new.name.is_empty() {
            let last = self.0.iter().rev().find(|declaration| declaration.name.is_empty());
            let text_of = |declaration: &Declaration| text.get(declaration.range.clone());
            let is_absolute = text_of(&new).is_some_and(|base| base.contains("://"));
            if is_absolute && last.is_some_and(|last| text_of(last) == text_of(&new)) {
                return;
            }
        } else {
            self.0.retain(|declaration| declaration.name != new.name);
        }
        self.0.push(new);
    }
}

/// What is between two semicolons.
#[derive(Debug, Default)]
struct Segment {
    declarations: Vec<Declaration>,
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
        } else if let Some(last) = self.declarations.last_mut().filter(|_| self.declaring) {
            // A declaration ends with its IRI, or the string of a version.
            self.declaring = !(token.len() > 1 && token.starts_with(['<', '"', '\'']));
            last.range.end = range.end;
            if self.declaring {
                last.name.push_str(token);
            }
            return;
        } else if ["prefix", "base", "version"].iter().any(|word| token.eq_ignore_ascii_case(word)) {
            let name = if token.eq_ignore_ascii_case("version") { "version" } else { "" };
            self.declarations.push(Declaration { range, name: name.to_owned() });
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
        request.operations(text).map(|operation| operation.expect("little").text).collect()
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
    fn declarations_take_the_place_of_earlier_ones() {
        let text = "BASE <http://a/> PREFIX x: <1> PREFIX y: <2> CLEAR ALL ; BASE <http://a/> PREFIX x: <3> DROP ALL ; \
                    BASE <b/> PREFIX y: <4> DROP ALL";
        assert_eq!(
            texts(text)[1..],
            [
                "BASE <http://a/>\nPREFIX y: <2>\nPREFIX x: <3>\nDROP ALL",
                "BASE <http://a/>\nPREFIX x: <3>\nBASE <b/>\nPREFIX y: <4>\nDROP ALL"
            ]
        );
    }

    #[test]
    fn declarations_are_not_repeated_without_end() {
        let text: String =
            (0..9_000).map(|i| format!("PREFIX p{i}: <http://example.org/> CLEAR ALL ; ")).collect();
        let request = Request::cut(&text).expect("well-formed");
        assert!(request.operations(&text).any(|operation| operation.is_err()));
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
        let last = request.operations(text).last().expect("two").expect("little");
        for word in ["b:", "DROP", "all"] {
            let here = last.text.find(word).expect(word);
            assert_eq!(last.offset_in_request(here), text.find(word).expect(word), "{word}");
        }
        assert_eq!(last.words, ["drop", "all"]);
    }
}

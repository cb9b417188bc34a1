//! Refuses hostile XML before it reaches the parser: entities that grow when they are expanded, and endless nesting.
//!
//! A document of a kilobyte may define entities that expand to terabytes, and triple terms nest with elements. The guard
//! reads just enough XML to follow tags, and expands the sizes of entities instead of their texts.

use super::window::Guard;
use std::collections::HashMap;

/// How deep elements may nest in a document of data.
const DEPTH_MAX: usize = 4096;
/// How long an entity may be once expanded.
const ENTITY_BYTES_MAX: usize = 1 << 16;
/// How long a document type declaration may be.
const DOCTYPE_BYTES_MAX: usize = 1 << 20;

enum State {
    Text,
    /// After `<`: the bytes up to where the kind of markup is known.
    Markup(Vec<u8>),
    /// In a start tag: the open quote, and whether the last byte was a slash.
    StartTag {
        quote: Option<u8>,
        slash: bool,
    },
    EndTag,
    /// Until these bytes: the end of a comment, a CDATA section or a processing instruction; and how many were seen.
    Until {
        end: &'static [u8],
        tail: Vec<u8>,
    },
    /// A document type declaration: its bytes, brackets open, the open quote.
    Doctype {
        text: Vec<u8>,
        depth: usize,
        quote: Option<u8>,
    },
}

/// The scanner's state between reads.
pub(super) struct XmlGuard {
    state: State,
    depth: usize,
    depth_max: usize,
}

impl XmlGuard {
    pub(super) const fn new() -> Self {
        Self::with_depth(DEPTH_MAX)
    }

    /// Elements nest no deeper than this.
    pub(super) const fn with_depth(depth_max: usize) -> Self {
        Self { state: State::Text, depth: 0, depth_max }
    }

    fn step(&mut self, byte: u8) -> Result<(), String> {
        let next = match &mut self.state {
            State::Text if byte == b'<' => Some(State::Markup(Vec::new())),
            State::Text => None,
            State::Markup(seen) => {
                seen.push(byte);
                markup(seen)
            }
            State::StartTag { quote: Some(open), .. } if *open != byte => None,
            State::StartTag { quote, slash } => match (byte, *quote) {
                (_, Some(_)) => {
                    *quote = None;
                    None
                }
                (b'"' | b'\'', None) => {
                    *quote = Some(byte);
                    *slash = false;
                    None
                }
                (b'>', None) => {
                    self.depth += usize::from(!*slash);
                    Some(State::Text)
                }
                _ => {
                    *slash = byte == b'/';
                    None
                }
            },
            State::EndTag if byte == b'>' => {
                self.depth = self.depth.saturating_sub(1);
                Some(State::Text)
            }
            State::EndTag => None,
            State::Until { end, tail } => {
                tail.push(byte);
                if tail.len() > end.len() {
                    tail.remove(0);
                }
                (tail.as_slice() == *end).then_some(State::Text)
            }
            State::Doctype { text, depth, quote } => {
                text.push(byte);
                if text.len() > DOCTYPE_BYTES_MAX {
                    return Err(format!(
                        "the document type declaration has more than {DOCTYPE_BYTES_MAX} bytes"
                    ));
                }
                match (byte, *quote) {
                    (_, Some(open)) if open == byte => *quote = None,
                    (_, Some(_)) => {}
                    (b'"' | b'\'', None) => *quote = Some(byte),
                    (b'<', None) => *depth += 1,
                    (b'>', None) => *depth -= 1,
                    _ => {}
                }
                if *depth == 0 {
                    check_entities(text)?;
                    Some(State::Text)
                } else {
                    None
                }
            }
        };
        if let Some(next) = next {
            self.state = next;
        }
        if self.depth > self.depth_max {
            return Err(format!("elements nest more than {} deep", self.depth_max));
        }
        Ok(())
    }
}

/// What kind of markup begins with these bytes, once that is known.
fn markup(seen: &[u8]) -> Option<State> {
    match seen {
        [b'?'] => Some(State::Until { end: b"?>", tail: Vec::new() }),
        [b'/'] => Some(State::EndTag),
        [b'>'] => Some(State::Text),
        [b'!'] | [b'!', b'-'] => None,
        [b'!', b'-', b'-'] => Some(State::Until { end: b"-->", tail: Vec::new() }),
        [b'!', b'[', ..] if b"![CDATA[".starts_with(seen) => {
            (seen.len() == 8).then_some(State::Until { end: b"]]>", tail: Vec::new() })
        }
        [b'!', b'>', ..] => Some(State::Text),
        [b'!', ..] => Some(State::Doctype { text: seen.to_vec(), depth: 1, quote: None }),
        _ => Some(State::StartTag { quote: None, slash: false }),
    }
}

/// Adds up what the entities of a declaration expand to. It reads them as the parser does: every `<!ENTITY`, whatever
/// is around it.
fn check_entities(doctype: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(doctype);
    let mut sizes: HashMap<&str, usize> = HashMap::new();
    for declaration in text.split("<!ENTITY").skip(1) {
        let declaration = declaration.trim_start();
        let declaration = declaration.strip_prefix('%').unwrap_or(declaration).trim_start();
        let Some((name, rest)) = declaration.split_once(|c: char| c.is_ascii_whitespace()) else { continue };
        let Some((_, value)) = rest.split_once('"') else { continue };
        let value = value.split('"').next().unwrap_or_default();
        let mut size = value.len();
        for reference in value.split('&').skip(1) {
            let referred = reference.split(';').next().unwrap_or_default();
            size = size.saturating_add(sizes.get(referred).copied().unwrap_or(0));
        }
        if size > ENTITY_BYTES_MAX {
            return Err(format!("the entity '{name}' expands to more than {ENTITY_BYTES_MAX} bytes"));
        }
        sizes.insert(name, size);
    }
    Ok(())
}

impl Guard for XmlGuard {
    fn check(&mut self, bytes: &[u8]) -> Result<(), (usize, String)> {
        for (at, &byte) in bytes.iter().enumerate() {
            self.step(byte).map_err(|message| (at, message))?;
        }
        Ok(())
    }

    fn end(&self) -> Result<(), String> {
        if self.depth > 0 {
            return Err("the document ends inside an element: it has been cut".to_owned());
        }
        Ok(())
    }
}

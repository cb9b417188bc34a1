//! Refuses Turtle and TriG whose triple terms nest too deep, before a parser builds terms that no code could walk, and whose brackets do,
//! for each of which a parser holds a kilobyte.
//!
//! It reads just enough of the grammar to know what is a string, an IRI or a comment.

use super::library::too_deep_message;
use super::window::Guard;
use crate::key::TRIPLE_DEPTH_MAX;

/// How deep blank nodes in brackets and lists may nest: as deep as elements of RDF/XML.
pub(super) const BRACKETS_DEPTH_MAX: usize = 4096;

#[derive(Clone, Copy)]
enum State {
    Text,
    /// After `<`, and after `<<`.
    Less(u8),
    /// After `)`, and after `)>`.
    Close(u8),
    Iri,
    Comment,
    /// After a quote, or two.
    Open {
        quote: u8,
        count: u8,
    },
    Short(u8),
    /// Inside a long string, after so many closing quotes.
    Long {
        quote: u8,
        count: u8,
    },
    /// After a backslash: back to the state before it.
    Escape(Inner),
}

#[derive(Clone, Copy)]
enum Inner {
    Text,
    Iri,
    Short(u8),
    Long(u8),
}

/// The scanner's state between reads.
pub(super) struct NestingGuard {
    state: State,
    depth: usize,
    brackets: usize,
}

impl NestingGuard {
    pub(super) const fn new() -> Self {
        Self { state: State::Text, depth: 0, brackets: 0 }
    }

    #[inline]
    fn step(&mut self, byte: u8) {
        self.state = match (self.state, byte) {
            (State::Text, _) => self.text(byte),
            (State::Less(1), b'<') => State::Less(2),
            (State::Less(2), b'(') => {
                self.depth += 1;
                self.brackets += 1;
                State::Text
            }
            (State::Less(2), _) => self.text(byte),
            (State::Less(_) | State::Iri, b'>') | (State::Comment, b'\n' | b'\r') => State::Text,
            (State::Less(_) | State::Iri, b'\\') => State::Escape(Inner::Iri),
            (State::Less(_) | State::Iri, _) => State::Iri,
            (State::Close(1), b'>') => State::Close(2),
            (State::Close(2), b'>') => {
                self.depth = self.depth.saturating_sub(1);
                State::Text
            }
            (State::Close(_), _) => self.text(byte),
            (State::Comment, _) => State::Comment,
            (State::Open { quote, count: 1 }, _) if byte == quote => State::Open { quote, count: 2 },
            (State::Open { quote, count: 2 }, _) if byte == quote => State::Long { quote, count: 0 },
            (State::Open { count: 2, .. }, _) => self.text(byte),
            (State::Open { quote, .. } | State::Short(quote), b'\\') => State::Escape(Inner::Short(quote)),
            (State::Short(quote), _) if byte == quote => State::Text,
            (State::Open { quote, .. } | State::Short(quote), _) => State::Short(quote),
            (State::Long { quote, count: 2 }, _) if byte == quote => State::Text,
            (State::Long { quote, count }, _) if byte == quote => State::Long { quote, count: count + 1 },
            (State::Long { quote, .. }, b'\\') => State::Escape(Inner::Long(quote)),
            (State::Long { quote, .. }, _) => State::Long { quote, count: 0 },
            (State::Escape(Inner::Text), _) => State::Text,
            (State::Escape(Inner::Iri), _) => State::Iri,
            (State::Escape(Inner::Short(quote)), _) => State::Short(quote),
            (State::Escape(Inner::Long(quote)), _) => State::Long { quote, count: 0 },
        };
    }

    #[inline]
    fn text(&mut self, byte: u8) -> State {
        match byte {
            b'[' | b'(' => self.brackets += 1,
            b']' | b')' => self.brackets = self.brackets.saturating_sub(1),
            _ => {}
        }
        match byte {
            b'<' => State::Less(1),
            b')' => State::Close(1),
            b'#' => State::Comment,
            b'"' | b'\'' => State::Open { quote: byte, count: 1 },
            b'\\' => State::Escape(Inner::Text),
            _ => State::Text,
        }
    }
}

impl Guard for NestingGuard {
    fn check(&mut self, bytes: &[u8]) -> Result<(), (usize, String)> {
        for (at, &byte) in bytes.iter().enumerate() {
            self.step(byte);
            if self.depth > TRIPLE_DEPTH_MAX {
                return Err((at.saturating_sub(2), too_deep_message()));
            }
            if self.brackets > BRACKETS_DEPTH_MAX {
                return Err((at, format!("brackets nest more than {BRACKETS_DEPTH_MAX} deep")));
            }
        }
        Ok(())
    }
}

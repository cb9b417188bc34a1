//! Tries one way after the other through an expression.

use super::class::{Class, same_but_for_case};
use super::limit::Effort;
use super::{MatchLimit, Program, Step};
use regex_syntax::hir::Look;

/// The place of a slot that has none.
const NOWHERE: usize = usize::MAX;
/// The least room of the stack, in frames.
const FRAMES_MIN: usize = 64;

/// Searches one text.
#[derive(Debug)]
pub(crate) struct Matcher<'a> {
    program: &'a Program,
    text: &'a str,
    effort: Effort<'a>,
    slots: Vec<usize>,
    stack: Vec<Frame>,
}

/// What to do where the present way fails.
#[derive(Debug)]
enum Frame {
    /// To try another way.
    Goto { step: usize, at: usize },
    /// To undo what was remembered.
    Restore { slot: usize, place: usize },
    /// To try one character less.
    Less { step: usize, least: usize, at: usize },
    /// To try one character more, up to so many.
    More { step: usize, at: usize, left: u32 },
}

impl<'a> Matcher<'a> {
    /// A search of `text`; `pattern` is for errors. `None` once a match has cost too much: the limit knows.
    pub fn new(program: &'a Program, pattern: &'a str, text: &'a str, limit: &'a MatchLimit) -> Option<Self> {
        let effort = Effort::new(limit, pattern, text)?;
        Some(Self { program, text, effort, slots: vec![NOWHERE; program.slots], stack: Vec::new() })
    }

    /// Whether there is a match that begins at `from` or later. `None` where that cost too much.
    pub fn find(&mut self, from: usize) -> Option<bool> {
        if self.program.anchored && from > 0 {
            return Some(false);
        }
        self.effort.spend(size_of_val(&*self.slots))?;
        self.slots.fill(NOWHERE);
        self.stack.clear();
        let mut begin = from;
        loop {
            if self.matches_at(begin)? {
                return Some(true);
            }
            let Some(c) = self.char_at(begin).filter(|_| !self.program.anchored) else { return Some(false) };
            begin += c.len_utf8();
        }
    }

    /// Where a group of the last match is; the whole is the first.
    pub fn group(&self, group: usize) -> Option<std::ops::Range<usize>> {
        if group > self.program.groups {
            return None;
        }
        let (start, end) = (*self.slots.get(2 * group)?, *self.slots.get(2 * group + 1)?);
        (start != NOWHERE && end != NOWHERE).then_some(start..end)
    }

    /// A failure leaves the stack empty and so no slot with a place.
    fn matches_at(&mut self, begin: usize) -> Option<bool> {
        let (mut step, mut at) = (0, begin);
        loop {
            self.effort.spend(0)?;
            if let Some(Step::Match) = self.program.steps.get(step) {
                if let [start, end, ..] = self.slots.as_mut_slice() {
                    (*start, *end) = (begin, at);
                }
                return Some(true);
            }
            let next = match self.advance(step, at)? {
                Some(next) => next,
                None => match self.retreat()? {
                    Some(next) => next,
                    None => return Some(false),
                },
            };
            (step, at) = next;
        }
    }

    /// The next step and place; `Some(None)` where this way fails.
    fn advance(&mut self, step: usize, at: usize) -> Option<Option<(usize, usize)>> {
        let next = step + 1;
        Some(match self.program.steps.get(step)? {
            Step::Literal(bytes) => self.rest(at).starts_with(bytes).then(|| (next, at + bytes.len())),
            Step::Class(class) => {
                self.char_at(at).filter(|c| class.contains(*c)).map(|c| (next, at + c.len_utf8()))
            }
            Step::Repeat { class, min, max, greedy } => {
                let Some(least) = self.take(class, at, *min)? else { return Some(None) };
                let left = max - min;
                if *greedy {
                    let most = self.take_all(class, least, left)?;
                    if most > least {
                        self.push(Frame::Less { step: next, least, at: most })?;
                    }
                    return Some(Some((next, most)));
                }
                if left > 0 {
                    self.push(Frame::More { step, at: least, left })?;
                }
                Some((next, least))
            }
            Step::Look(look) => self.looks(*look, at).then_some((next, at)),
            Step::Save(slot) => {
                self.set(*slot, at)?;
                Some((next, at))
            }
            Step::Split(first, second) => {
                self.push(Frame::Goto { step: *second, at })?;
                Some((*first, at))
            }
            Step::Jump(step) => Some((*step, at)),
            Step::Again { iteration, first, begin } => {
                let begun_here = |slot: &usize| self.slots.get(*slot) == Some(&at);
                match first {
                    _ if !begun_here(iteration) => Some((*begin, at)),
                    Some(first) if begun_here(first) => Some((next, at)),
                    _ => None,
                }
            }
            Step::BackReference(group) => self.again(*group, at)?.map(|at| (next, at)),
            Step::Match => None,
        })
    }

    /// Where to go on after a failure; `Some(None)` where all ways have been tried.
    fn retreat(&mut self) -> Option<Option<(usize, usize)>> {
        loop {
            let Some(frame) = self.stack.pop() else { return Some(None) };
            match frame {
                Frame::Goto { step, at } => return Some(Some((step, at))),
                Frame::Restore { slot, place } => {
                    self.effort.spend(0)?;
                    if let Some(slot) = self.slots.get_mut(slot) {
                        *slot = place;
                    }
                }
                Frame::Less { step, least, at } => {
                    let last = self.text.get(..at).and_then(|text| text.chars().next_back());
                    let at = at - last.map_or(0, char::len_utf8);
                    if at > least {
                        self.push(Frame::Less { step, least, at })?;
                    }
                    return Some(Some((step, at)));
                }
                Frame::More { step, at, left } => {
                    self.effort.spend(0)?;
                    let Some(Step::Repeat { class, .. }) = self.program.steps.get(step) else { continue };
                    let Some(c) = self.char_at(at).filter(|c| class.contains(*c)) else { continue };
                    let at = at + c.len_utf8();
                    if left > 1 {
                        self.push(Frame::More { step, at, left: left - 1 })?;
                    }
                    return Some(Some((step + 1, at)));
                }
            }
        }
    }

    fn push(&mut self, frame: Frame) -> Option<()> {
        if self.stack.len() == self.stack.capacity() {
            let frames = (self.stack.len() * 2).max(FRAMES_MIN);
            self.effort.stack(frames.saturating_mul(size_of::<Frame>()))?;
            self.stack.reserve_exact(frames - self.stack.len());
        }
        self.stack.push(frame);
        Some(())
    }

    /// Remembers a place, and what to put back.
    fn set(&mut self, slot: usize, at: usize) -> Option<()> {
        let place = std::mem::replace(self.slots.get_mut(slot)?, at);
        self.push(Frame::Restore { slot, place })
    }

    fn rest(&self, at: usize) -> &'a [u8] {
        self.text.as_bytes().get(at..).unwrap_or_default()
    }

    fn char_at(&self, at: usize) -> Option<char> {
        self.text.get(at..)?.chars().next()
    }

    /// The place after exactly so many characters of a class; `Some(None)` where there are fewer.
    fn take(&mut self, class: &Class, mut at: usize, count: u32) -> Option<Option<usize>> {
        for _ in 0..count {
            self.effort.spend(0)?;
            let Some(c) = self.char_at(at).filter(|c| class.contains(*c)) else { return Some(None) };
            at += c.len_utf8();
        }
        Some(Some(at))
    }

    /// The place after as many characters of a class as there are, up to so many.
    fn take_all(&mut self, class: &Class, mut at: usize, mut left: u32) -> Option<usize> {
        while left > 0 {
            let Some(c) = self.char_at(at).filter(|c| class.contains(*c)) else { break };
            self.effort.spend(0)?;
            at += c.len_utf8();
            // Without an upper bound there is nothing to count.
            left -= u32::from(left < u32::MAX);
        }
        Some(at)
    }

    fn looks(&self, look: Look, at: usize) -> bool {
        match look {
            Look::Start => at == 0,
            Look::End => at == self.text.len(),
            Look::StartLF => at == 0 || self.text.as_bytes().get(at - 1) == Some(&b'\n'),
            Look::EndLF => at == self.text.len() || self.text.as_bytes().get(at) == Some(&b'\n'),
            _ => false,
        }
    }

    /// The place after a group's text, if that follows.
    fn again(&mut self, group: usize, at: usize) -> Option<Option<usize>> {
        let Some(text) = self.group(group).and_then(|range| self.text.get(range)) else {
            return Some(Some(at));
        };
        self.effort.spend(text.len())?;
        if !self.program.ignore_case {
            return Some(self.rest(at).starts_with(text.as_bytes()).then(|| at + text.len()));
        }
        let mut end = at;
        for c in text.chars() {
            self.effort.spend(0)?;
            let Some(other) = self.char_at(end).filter(|other| same_but_for_case(c, *other)) else {
                return Some(None);
            };
            end += other.len_utf8();
        }
        Some(Some(end))
    }
}

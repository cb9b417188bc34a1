//! Strings that every text has that matches an expression, as far as it says them letter by letter.

use super::{Flags, translate};
use lode_text::{Part, Parts};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind, Look};

/// Levels of an expression that are looked into.
const DEPTH_MAX: usize = 64;

/// The strings of all texts that match an XPath expression; `None` where it is none, or has back-references.
pub(crate) fn regex_parts(pattern: &str, flags: &str) -> Option<Parts> {
    let flags = Flags::parse(flags)?;
    if flags.literal {
        let part = Part { text: pattern.to_owned(), any_case: flags.ignore_case, ..Part::default() };
        return Some(Parts::Part(part));
    }
    let translated = translate::translate(pattern, flags.free_spacing)?;
    if translated.groups.references > 0 {
        return None;
    }
    // Letters are letters here, and that their case does not matter is told of each.
    let hir = ParserBuilder::new()
        .dot_matches_new_line(flags.dot_all)
        .multi_line(flags.multi_line)
        .build()
        .parse(&translated.text)
        .ok()?;
    let mut found = Found { parts: Vec::new(), run: Part::default(), any_case: flags.ignore_case };
    found.visit(&hir, 0);
    found.end_run(false);
    Some(Parts::All(found.parts))
}

struct Found {
    parts: Vec<Parts>,
    /// What stands beside each other so far.
    run: Part,
    any_case: bool,
}

impl Found {
    fn end_run(&mut self, at_end: bool) {
        let part = std::mem::take(&mut self.run);
        if !part.text.is_empty() {
            self.parts.push(Parts::Part(Part { at_end, any_case: self.any_case, ..part }));
        }
    }

    /// What is found in a part of an expression by itself.
    fn inside(&self, hir: &Hir, depth: usize) -> Vec<Parts> {
        let mut inside = Self { parts: Vec::new(), run: Part::default(), any_case: self.any_case };
        inside.visit(hir, depth);
        inside.end_run(false);
        inside.parts
    }

    fn visit(&mut self, hir: &Hir, depth: usize) {
        if depth > DEPTH_MAX {
            return self.end_run(false);
        }
        match hir.kind() {
            HirKind::Empty => {}
            HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
                Ok(text) => self.run.text.push_str(text),
                Err(_) => self.end_run(false),
            },
            HirKind::Concat(parts) => parts.iter().for_each(|part| self.visit(part, depth + 1)),
            HirKind::Capture(capture) => self.visit(&capture.sub, depth + 1),
            HirKind::Look(Look::Start) => {
                self.end_run(false);
                self.run.at_start = true;
            }
            HirKind::Look(Look::End) => self.end_run(true),
            HirKind::Look(_) | HirKind::Class(_) => self.end_run(false),
            HirKind::Repetition(repetition) => {
                self.end_run(false);
                if repetition.min > 0 {
                    let inside = self.inside(&repetition.sub, depth + 1);
                    self.parts.extend(inside);
                }
            }
            HirKind::Alternation(ways) => {
                self.end_run(false);
                let ways = ways.iter().map(|way| Parts::All(self.inside(way, depth + 1))).collect();
                self.parts.push(Parts::Any(ways));
            }
        }
    }
}

//! From the parsed expression to the steps of the matcher.

use super::class::Class;
use super::{Program, Step};
use regex_syntax::hir::{Capture, Hir, HirKind, Look, Repetition};

/// Bytes a program may take.
const PROGRAM_BYTES_MAX: usize = 2 << 20;
/// What the name of a group begins with that stands for a back-reference: XPath has no groups with names.
const REFERENCE: &str = "to";

/// The group that stands for the `count`th back-reference of an expression, for the parser that has none. It is not empty, because
/// parsers drop repetitions of what is.
pub(in super::super) fn reference(group: usize, count: usize) -> String {
    format!("(?P<{REFERENCE}{group}_{count}>x)")
}

impl Program {
    /// The program of an expression with [`reference()`]s; `groups`: the parser's numbers of the groups that capture, ascending.
    /// `None` if it is too large, or has what XPath has not.
    pub fn new(hir: &Hir, groups: &[u32], ignore_case: bool) -> Option<Self> {
        let mut compiler = Compiler { steps: Vec::new(), bytes: 0, groups, slots: 2 * (groups.len() + 1) };
        compiler.compile(hir)?;
        compiler.push(Step::Match)?;
        let anchored = hir.properties().look_set_prefix().contains(Look::Start);
        Some(Self {
            steps: compiler.steps,
            groups: groups.len(),
            slots: compiler.slots,
            ignore_case,
            anchored,
        })
    }
}

/// The group that a capture's name refers to.
fn referred(capture: &Capture) -> Option<usize> {
    capture.name.as_deref()?.strip_prefix(REFERENCE)?.split_once('_')?.0.parse().ok()
}

struct Compiler<'g> {
    steps: Vec<Step>,
    /// What the steps take.
    bytes: usize,
    groups: &'g [u32],
    slots: usize,
}

impl Compiler<'_> {
    fn push(&mut self, step: Step) -> Option<usize> {
        self.bytes += size_of::<Step>() + step.heap_bytes();
        if self.bytes > PROGRAM_BYTES_MAX {
            return None;
        }
        self.steps.push(step);
        Some(self.steps.len() - 1)
    }

    /// The depth of recursion is that of the parser's.
    fn compile(&mut self, hir: &Hir) -> Option<()> {
        match hir.kind() {
            HirKind::Empty => {}
            HirKind::Literal(literal) => {
                self.push(Step::Literal(literal.0.clone()))?;
            }
            HirKind::Class(class) => {
                self.push(Step::Class(Class::of(class)?))?;
            }
            HirKind::Look(look @ (Look::Start | Look::End | Look::StartLF | Look::EndLF)) => {
                self.push(Step::Look(*look))?;
            }
            HirKind::Look(_) => return None,
            HirKind::Capture(capture) => self.capture(capture)?,
            HirKind::Repetition(repetition) => self.repetition(repetition)?,
            HirKind::Concat(parts) => {
                for part in parts {
                    self.compile(part)?;
                }
            }
            HirKind::Alternation(parts) => self.alternation(parts)?,
        }
        Some(())
    }

    fn capture(&mut self, capture: &Capture) -> Option<()> {
        if let Some(group) = referred(capture) {
            self.push(Step::BackReference(group))?;
            return Some(());
        }
        let group = self.groups.binary_search(&capture.index).ok()? + 1;
        self.push(Step::Save(2 * group))?;
        self.compile(&capture.sub)?;
        self.push(Step::Save(2 * group + 1))?;
        Some(())
    }

    fn alternation(&mut self, parts: &[Hir]) -> Option<()> {
        let (last, others) = parts.split_last()?;
        let mut ends = Vec::with_capacity(others.len());
        for part in others {
            let split = self.push(Step::Split(0, 0))?;
            self.compile(part)?;
            ends.push(self.push(Step::Jump(0))?);
            *self.steps.get_mut(split)? = Step::Split(split + 1, self.steps.len());
        }
        self.compile(last)?;
        let end = self.steps.len();
        for jump in ends {
            *self.steps.get_mut(jump)? = Step::Jump(end);
        }
        Some(())
    }

    fn repetition(&mut self, repetition: &Repetition) -> Option<()> {
        let Repetition { min, max, greedy, sub } = repetition;
        if let Some(class) = one_character(sub) {
            self.push(Step::Repeat { class, min: *min, max: max.unwrap_or(u32::MAX), greedy: *greedy })?;
            return Some(());
        }
        for _ in 0..*min {
            self.compile(sub)?;
        }
        match max {
            None => self.endless(sub, *min, *greedy),
            Some(max) => self.optional(sub, max.checked_sub(*min)?, *greedy),
        }
    }

    /// Any number of iterations, after `before` ones.
    fn endless(&mut self, sub: &Hir, before: u32, greedy: bool) -> Option<()> {
        let iteration = self.slot();
        let first = (before == 0).then(|| self.slot());
        if let Some(first) = first {
            self.push(Step::Save(first))?;
        }
        let begin = self.push(Step::Split(0, 0))?;
        self.push(Step::Save(iteration))?;
        self.compile(sub)?;
        self.push(Step::Again { iteration, first, begin })?;
        self.set_split(begin, greedy)
    }

    fn slot(&mut self) -> usize {
        self.slots += 1;
        self.slots - 1
    }

    /// Up to so many iterations.
    fn optional(&mut self, sub: &Hir, count: u32, greedy: bool) -> Option<()> {
        let mut splits = Vec::new();
        for _ in 0..count {
            splits.push(self.push(Step::Split(0, 0))?);
            self.compile(sub)?;
        }
        splits.into_iter().try_for_each(|split| self.set_split(split, greedy))
    }

    /// Makes a split into what follows it and what is compiled next.
    fn set_split(&mut self, split: usize, greedy: bool) -> Option<()> {
        let (inside, outside) = (split + 1, self.steps.len());
        let step = if greedy { Step::Split(inside, outside) } else { Step::Split(outside, inside) };
        *self.steps.get_mut(split)? = step;
        Some(())
    }
}

/// The set of an expression that is always one character.
fn one_character(hir: &Hir) -> Option<Class> {
    match hir.kind() {
        HirKind::Class(class) => Class::of(class),
        HirKind::Literal(literal) => {
            let mut chars = std::str::from_utf8(&literal.0).ok()?.chars();
            chars.next().filter(|_| chars.next().is_none()).map(Class::one)
        }
        _ => None,
    }
}

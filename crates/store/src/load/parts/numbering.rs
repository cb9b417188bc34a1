//! From numbers of terms in their parts to those in the database, and to the codes of packed rows: sums over the parts before, which every task finds for
//! itself.

use super::context::TaskContext;
use super::cut::PartBounds;
use super::task::{Phase, Task};
use super::terms::PartTerms;
use crate::load::error::LoadError;
use crate::load::lay_out::lay_out;
use crate::segment_builder::{Class, ClassCounts, InlineValues, Layout, TermIndex};
use lode_rdf::value_id::Section;

/// The numbers that the terms of all parts have.
#[derive(Debug)]
pub struct Numbering {
    /// What is known of the terms of each part, and behind these of triple terms that have a segment of their own.
    pub parts: Vec<PartTerms>,
    /// New terms of each class in the parts before each part, and at the end in all.
    before: Vec<[u64; Class::COUNT]>,
    /// Terms that the database had before, by section.
    old: [u64; Section::COUNT],
    /// Whether all inline values are listed, so that they have ranks.
    is_ranked: bool,
    /// How rows are packed.
    pub layout: Layout,
    /// Parts that have rows.
    with_rows: usize,
}

impl Numbering {
    /// That of all terms.
    pub fn read(context: &TaskContext<'_>) -> Result<Self, LoadError> {
        let triples = PartBounds::read(context)?.has_open_triples.then_some(Task::new(Phase::Triples, 0));
        Self::of(triples, context)
    }

    /// That of the parts, without triple terms that have a segment of their own.
    pub fn of_parts(context: &TaskContext<'_>) -> Result<Self, LoadError> {
        Self::of(None, context)
    }

    fn of(triples: Option<Task>, context: &TaskContext<'_>) -> Result<Self, LoadError> {
        let with_rows = context.plan.parts;
        let tasks = (0..with_rows).map(|part| Task::new(Phase::Terms, part)).chain(triples);
        let parts = tasks.map(|task| PartTerms::of_task(task, context)).collect::<Result<Vec<_>, _>>()?;
        let mut before = vec![[0_u64; Class::COUNT]];
        for part in &parts {
            let mut sums = before.last().copied().unwrap_or_default();
            sums.iter_mut().zip(part.new).for_each(|(sum, count)| *sum = sum.saturating_add(count));
            before.push(sums);
        }
        let all = before.last().copied().unwrap_or_default();
        let inline_max = context.working_bytes / 8 / size_of::<u64>();
        let is_ranked =
            parts.iter().all(|part| part.spans.is_none()) && all[Class::Inline as usize] <= inline_max as u64;
        let mut counts = ClassCounts {
            inline: inline_values(&parts, is_ranked),
            blank_base: context.plan.first_blank(),
            ..ClassCounts::default()
        };
        for class in [Class::Blank, Class::Inline] {
            counts.counts[class as usize] = all[class as usize];
        }
        let given = Section::ALL.map(|section| all[Class::of(section) as usize]);
        let old = context.plan.old_terms();
        let names = [0, 1].map(|which| names(&parts, &before, &old, which));
        let layout = lay_out(counts, names, old, given);
        Ok(Self { parts, before, old, is_ranked, layout, with_rows })
    }

    /// New terms of a class in the parts before one.
    pub fn before(&self, part: usize, class: Class) -> u64 {
        self.before.get(part).map_or(0, |counts| counts[class as usize])
    }

    /// New terms of a class in all parts.
    pub fn all(&self, class: Class) -> u64 {
        self.before(self.parts.len(), class)
    }

    /// Terms of each section that come before the new ones of a part.
    pub fn bases(&self, part: usize) -> [u64; Section::COUNT] {
        Section::ALL.map(|section| self.old[section as usize] + self.before(part, Class::of(section)))
    }

    /// A term of a part among those of all parts.
    #[inline]
    pub fn index(&self, part: usize, index: TermIndex) -> TermIndex {
        match index.class() {
            Class::Inline if !self.is_ranked => {
                let listed = self.parts.get(part).map_or(&[][..], |part| &part.inline);
                TermIndex::value(index.inline_id(listed))
            }
            class => shifted(index, &self.old, self.before(part, class)),
        }
    }

    /// The code, as a resource, of the term of a number.
    fn resource(&self, class: Class, number: u64) -> u64 {
        let terms = &self.layout.terms;
        terms.resource(terms.code(TermIndex::new(class, number)))
    }

    /// The code, as a resource, of the first IRI of all, which may be one that the database had before.
    pub fn first_iri(&self) -> u64 {
        self.resource(Class::Iri, 0)
    }

    /// The codes, as resources, of the first new blank nodes or IRIs of the parts that have rows.
    pub fn first_resources(&self, class: Class) -> Vec<u64> {
        let old = class.section().map_or(0, |section| self.old[section as usize]);
        (0..self.with_rows).map(|part| self.resource(class, old + self.before(part, class))).collect()
    }
}

fn inline_values(parts: &[PartTerms], is_ranked: bool) -> InlineValues {
    if is_ranked {
        return InlineValues::of_list(parts.iter().flat_map(|part| part.inline.iter().copied()).collect());
    }
    // None is listed; only the first and the last of each kind matter.
    let mut values = InlineValues::new(0);
    for part in parts {
        for value in part.spans.as_ref().unwrap_or(&part.inline) {
            values.push(*value);
        }
    }
    values
}

/// A term of a part among those of all, where the parts before have so many new ones of its class. What the database had before has its number already.
#[inline]
fn shifted(index: TermIndex, old: &[u64; Section::COUNT], before: u64) -> TermIndex {
    let class = index.class();
    let is_old = class.section().is_some_and(|section| index.number() < old[section as usize]);
    if is_old { index } else { TermIndex::new(class, before + index.number()) }
}

/// The predicates or the graph names of all parts; those of classes before come first.
fn names(
    parts: &[PartTerms],
    before: &[[u64; Class::COUNT]],
    old: &[u64; Section::COUNT],
    which: usize,
) -> Option<Vec<TermIndex>> {
    let mut all = Vec::new();
    for (part, before) in parts.iter().zip(before) {
        let names = part.names[which].as_ref()?;
        all.extend(names.iter().map(|name| shifted(*name, old, before[name.class() as usize])));
    }
    all.sort_unstable();
    Some(all)
}

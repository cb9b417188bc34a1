//! From numbers of terms in their parts to those in the database, and to the codes of packed rows: sums over the parts before, which every task finds for
//! itself.

use super::context::TaskContext;
use super::terms::PartTerms;
use crate::load::error::LoadError;
use crate::load::lay_out::lay_out;
use crate::segment_builder::{Class, ClassCounts, InlineValues, Layout, TermIndex};
use lode_rdf::value_id::Section;

/// The numbers that the terms of all parts have.
#[derive(Debug)]
pub struct Numbering {
    /// What is known of the terms of each part.
    pub parts: Vec<PartTerms>,
    /// Terms of each class in the parts before each part, and at the end in all.
    before: Vec<[u64; Class::COUNT]>,
    /// Whether all inline values are listed, so that they have ranks.
    is_ranked: bool,
    /// How rows are packed.
    pub layout: Layout,
}

impl Numbering {
    /// That of all parts.
    pub fn read(context: &TaskContext<'_>) -> Result<Self, LoadError> {
        let count = context.plan.parts;
        let parts = (0..count).map(|part| PartTerms::read(part, context)).collect::<Result<Vec<_>, _>>()?;
        let mut before = vec![[0_u64; Class::COUNT]];
        for part in &parts {
            let mut sums = before.last().copied().unwrap_or_default();
            sums.iter_mut().zip(part.distinct).for_each(|(sum, count)| *sum = sum.saturating_add(count));
            before.push(sums);
        }
        let all = before.last().copied().unwrap_or_default();
        let inline_max = context.working_bytes / 8 / size_of::<u64>();
        let is_ranked =
            parts.iter().all(|part| part.spans.is_none()) && all[Class::Inline as usize] <= inline_max as u64;
        let mut counts = ClassCounts { inline: inline_values(&parts, is_ranked), ..ClassCounts::default() };
        for class in [Class::Blank, Class::Inline] {
            counts.counts[class as usize] = all[class as usize];
        }
        let given = Section::ALL.map(|section| all[Class::of(section) as usize]);
        let names = [0, 1].map(|which| names(&parts, &before, which));
        let layout = lay_out(counts, names, [0; Section::COUNT], given);
        Ok(Self { parts, before, is_ranked, layout })
    }

    /// Terms of a class in the parts before one.
    pub fn before(&self, part: usize, class: Class) -> u64 {
        self.before.get(part).map_or(0, |counts| counts[class as usize])
    }

    /// Terms of a class in all parts.
    pub fn all(&self, class: Class) -> u64 {
        self.before(self.parts.len(), class)
    }

    /// Terms of each section in the parts before one.
    pub fn bases(&self, part: usize) -> [u64; Section::COUNT] {
        Section::ALL.map(|section| self.before(part, Class::of(section)))
    }

    /// A term of a part among those of all parts.
    #[inline]
    pub fn index(&self, part: usize, index: TermIndex) -> TermIndex {
        match index.class() {
            Class::Inline if !self.is_ranked => {
                let listed = self.parts.get(part).map_or(&[][..], |part| &part.inline);
                TermIndex::value(index.inline_id(listed))
            }
            class => TermIndex::new(class, self.before(part, class) + index.number()),
        }
    }

    /// The codes, as resources, of the first blank nodes and of the first IRIs of the parts.
    pub fn first_resources(&self, class: Class) -> Vec<u64> {
        let terms = &self.layout.terms;
        let code = |part| terms.resource(terms.code(TermIndex::new(class, self.before(part, class))));
        (0..self.parts.len()).map(code).collect()
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

/// The predicates or the graph names of all parts; those of classes before come first.
fn names(parts: &[PartTerms], before: &[[u64; Class::COUNT]], which: usize) -> Option<Vec<TermIndex>> {
    let mut all = Vec::new();
    for (part, before) in parts.iter().zip(before) {
        let names = part.names[which].as_ref()?;
        all.extend(names.iter().map(|name| {
            let class = name.class();
            TermIndex::new(class, before[class as usize] + name.number())
        }));
    }
    all.sort_unstable();
    Some(all)
}

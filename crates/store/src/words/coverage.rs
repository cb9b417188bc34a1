//! The texts that an index has, where it has not all of a segment: those that stood behind some properties, or in some graphs, when it was made.
//!
//! Nobody has to keep that up. Whatever changes, a search asks for texts in quads of one property, or of one graph, and looks over these whether there are any that no index has: they are
//! read, if they are few, and else all are read as without an index. So an index of some texts never makes an answer smaller, and what it was made for is told by it alone.

use super::ids::Ids;
use super::limits::{Limits, is_damage};
use super::settings::{DEFAULT_GRAPH, WordsOf};
use crate::error::StoreError;
use crate::snapshot::Snapshot;
use crate::version::{OpenSegment, Uncovered};
use lode_base::cancel::CancelToken;
use lode_packed::Order;
use lode_rdf::{NamedNode, ValueId};
use lode_text::index::{Means, TextSet, Union};
use std::sync::Arc;

/// Rows that are looked at between two looks at the cancel token.
const ROWS_AT_ONCE: usize = 1 << 14;

/// The quads in which texts are searched: those with this property, if any, in this graph, if any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TextScope {
    /// The property.
    pub predicate: Option<ValueId>,
    /// The graph.
    pub graph: Option<ValueId>,
}

/// A segment, and the texts of it that its index has.
struct Part {
    ids: Ids,
    covered: Arc<TextSet>,
}

impl Snapshot {
    /// Whether an index of words has not all texts of its segment.
    pub fn has_words_of_some(&self) -> bool {
        self.version().segments.iter().any(|segment| {
            segment.has_words()
                && segment.words().ok().flatten().is_some_and(|words| words.covered().is_some())
        })
    }

    /// Texts in such quads that their segments' indexes do not have, ascending; none where they are more than so many, or it has to end. Who asks again is told what was found before.
    pub(super) fn uncovered(
        &self,
        scope: TextScope,
        most: u64,
        limits: &Limits<'_>,
    ) -> Result<Option<Arc<[ValueId]>>, StoreError> {
        let mut parts = Vec::new();
        for segment in self.version().segments.iter().filter(|segment| segment.has_words()) {
            let words = match segment.words() {
                Err(error) if is_damage(&error) => return Ok(None),
                words => words?,
            };
            if let Some(covered) = words.and_then(|words| words.covered().cloned()) {
                parts.push(Part { ids: Ids::new(segment), covered });
            }
        }
        let all: u64 = parts.iter().map(|part| part.ids.texts().saturating_sub(part.covered.len())).sum();
        if all == 0 {
            return Ok(Some([].into()));
        }
        let Some(predicate) = scope.predicate else {
            if all > most {
                return Ok(None);
            }
            let mut found = Vec::new();
            for part in &parts {
                let others = (0..part.ids.texts()).filter(|text| !part.covered.has(*text));
                found.extend(others.map(|text| part.ids.of(text)));
            }
            found.sort_unstable();
            return Ok(Some(found.into()));
        };
        let kept = &self.version().kept_texts;
        // A set of texts lives as long as its segment, which the version has.
        let indexes = parts.iter().map(|part| Arc::as_ptr(&part.covered).addr()).collect();
        let place = (Some(predicate), scope.graph, indexes);
        match kept.get(&place, most) {
            Some(Uncovered::All(found)) => return Ok((found.len() as u64 <= most).then_some(found)),
            Some(Uncovered::MoreThan(_)) => return Ok(None),
            None => {}
        }
        let found = self.uncovered_of(&parts, predicate, scope.graph, most, limits)?;
        match &found {
            Some(found) => kept.keep(place, Uncovered::All(Arc::clone(found))),
            None if limits.goes_on() => kept.keep(place, Uncovered::MoreThan(most)),
            None => {}
        }
        Ok(found)
    }

    /// By a scan of the quads of a property.
    fn uncovered_of(
        &self,
        parts: &[Part],
        predicate: ValueId,
        graph: Option<ValueId>,
        most: u64,
        limits: &Limits<'_>,
    ) -> Result<Option<Arc<[ValueId]>>, StoreError> {
        let mut found = Vec::new();
        let is_uncovered = |id: ValueId| {
            parts.iter().any(|part| part.ids.text(id).is_some_and(|text| !part.covered.has(text)))
        };
        let mut quads = Objects::of(self, Order::Posg, &[predicate], graph.as_slice())?;
        while let Some(objects) = quads.next()? {
            for id in objects {
                if found.last() != Some(id) && is_uncovered(*id) {
                    found.push(*id);
                }
            }
            if found.len() as u64 > most || !limits.work(size_of_val(objects)) {
                return Ok(None);
            }
        }
        Ok(Some(found.into()))
    }

    /// The texts of a segment that an index of these has.
    pub(super) fn covered_by(
        &self,
        of: &WordsOf,
        segment: &OpenSegment,
        cancel: &CancelToken,
    ) -> Result<TextSet, StoreError> {
        let ids = Ids::new(segment);
        let mut union = Union::new(ids.texts());
        let graphs = self.ids_of(&of.graphs)?;
        if graphs.is_empty() && !of.graphs.is_empty() {
            return Ok(union.finish());
        }
        let mut add = |order, prefix: &[ValueId]| {
            let mut quads = Objects::of(self, order, prefix, &graphs)?;
            let mut texts = Vec::new();
            while let Some(objects) = quads.next()? {
                cancel.check()?;
                texts.clear();
                texts.extend(objects.iter().filter_map(|id| ids.text(*id)));
                texts.dedup();
                union.add(&texts);
            }
            Ok::<_, StoreError>(())
        };
        if of.predicates.is_empty() {
            add(Order::Ospg, &[])?;
        }
        for predicate in self.ids_of(&of.predicates)? {
            add(Order::Posg, &[predicate])?;
        }
        Ok(union.finish())
    }

    /// The ids of IRIs, and of the default graph, that there are.
    fn ids_of(&self, iris: &[String]) -> Result<Vec<ValueId>, StoreError> {
        let mut ids = Vec::new();
        for iri in iris {
            if iri == DEFAULT_GRAPH {
                ids.push(ValueId::DEFAULT_GRAPH);
            } else {
                ids.extend(self.id_of(&NamedNode::new_unchecked(iri.as_str()).into())?);
            }
        }
        Ok(ids)
    }
}

/// The objects of quads under a prefix of an order, in some graphs, or in all; some at a time.
struct Objects<'g> {
    scan: crate::snapshot::Scan,
    graphs: &'g [ValueId],
    column: usize,
    columns: [Vec<ValueId>; 4],
}

impl<'g> Objects<'g> {
    fn of(
        snapshot: &Snapshot,
        order: Order,
        prefix: &[ValueId],
        graphs: &'g [ValueId],
    ) -> Result<Self, StoreError> {
        let column = usize::from(order == Order::Posg);
        let columns = 1 << column | if graphs.is_empty() { 0 } else { 0b1000 };
        let scan = snapshot.scan(order, prefix, columns)?;
        Ok(Self { scan, graphs, column, columns: Default::default() })
    }

    /// The next ones; none at the end.
    fn next(&mut self) -> Result<Option<&[ValueId]>, StoreError> {
        self.columns.iter_mut().for_each(Vec::clear);
        if self.scan.next(ROWS_AT_ONCE, &mut self.columns)? == 0 {
            return Ok(None);
        }
        let graphs = std::mem::take(&mut self.columns[3]);
        let objects = &mut self.columns[self.column];
        if !self.graphs.is_empty() {
            let mut of_row = graphs.iter();
            objects.retain(|_| of_row.next().is_some_and(|graph| self.graphs.contains(graph)));
        }
        Ok(Some(objects))
    }
}

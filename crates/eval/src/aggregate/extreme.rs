//! MIN and MAX: the first and the last value in ORDER BY's order, so terms of any kind have them.

use super::grow::grow;
use super::state::{Kernel, State, same};
use crate::batch::BATCH_ROWS;
use crate::context::EvalContext;
use crate::error::ExecError;
use crate::expr::{OrderKey, break_tie, compare_ids, order_key, order_keys};
use lode_rdf::ValueId;
use lode_sparql::AggregateFunction;
use lode_sparql::aggregate::InParts;
use lode_sparql::function::ValueType;
use std::cmp::Ordering;

/// `MIN`.
pub static MIN: AggregateFunction = extreme("MIN", &Kernel(|_| Extremes::of(Ordering::Less)));
/// `MAX`.
pub static MAX: AggregateFunction = extreme("MAX", &Kernel(|_| Extremes::of(Ordering::Greater)));

const fn extreme(name: &'static str, kernel: &'static Kernel) -> AggregateFunction {
    AggregateFunction::new(name, ValueType::Term, ValueType::Term, kernel)
        .of_a_set()
        .of_distinct_values()
        .in_parts(InParts::Same)
}

/// Values, each of which may have to be compared by its text, between two looks at the cancel token.
const CHECK_EVERY: usize = 256;

/// The best value of each group so far.
#[derive(Debug)]
struct Extremes {
    /// How a better value compares to the best one.
    better: Ordering,
    best: Vec<Best>,
    key_bytes: usize,
}

#[derive(Debug, Clone, Default)]
struct Best {
    id: ValueId,
    /// The key of `id`, once it was needed.
    key: Option<Box<OrderKey>>,
}

impl Extremes {
    fn of(better: Ordering) -> Box<dyn State> {
        Box::new(Self { better, best: Vec::new(), key_bytes: 0 })
    }
}

impl State for Extremes {
    fn resize(&mut self, groups: usize) {
        grow(&mut self.best, groups, Best::default());
    }

    fn update(&mut self, cx: &EvalContext, groups: &[u32], values: &[ValueId]) -> Result<(), ExecError> {
        let mut open = Vec::new();
        let mut open_groups = Vec::new();
        for (at, (&group, &id)) in groups.iter().zip(values).enumerate() {
            if at % CHECK_EVERY == 0 {
                cx.cancel.check()?;
            }
            let Some(best) = self.best.get_mut(group as usize) else { continue };
            if best.id.is_undef() {
                best.id = id;
            } else if best.id != id && !id.is_undef() {
                match compare_ids(id, best.id, &cx.snapshot) {
                    Some(ordering) => {
                        if strictly(cx, ordering, id, best.id)? == self.better {
                            self.key_bytes -= best.replace(id, None);
                        }
                    }
                    None => {
                        open.push(id);
                        open_groups.push(group);
                    }
                }
            }
        }
        if open.is_empty() {
            return Ok(());
        }
        let keys = order_keys(cx, &open)?;
        for (at, ((&id, group), key)) in open.iter().zip(open_groups).zip(keys).enumerate() {
            if at % CHECK_EVERY == 0 {
                cx.cancel.check()?;
            }
            let Some(best) = self.best.get_mut(group as usize) else { continue };
            let ordering = match &best.key {
                Some(best_key) => key.cmp(best_key),
                None => {
                    let best_key = Box::new(order_key(cx, best.id)?);
                    self.key_bytes += key_bytes(&best_key);
                    let ordering = key.cmp(&best_key);
                    best.key = Some(best_key);
                    ordering
                }
            };
            if strictly(cx, ordering, id, best.id)? == self.better {
                self.key_bytes += key_bytes(&key);
                self.key_bytes -= best.replace(id, Some(Box::new(key)));
            }
        }
        Ok(())
    }

    fn merge(&mut self, cx: &EvalContext, other: Box<dyn State>, groups: &[u32]) -> Result<(), ExecError> {
        let Some(other) = same::<Self>(other) else { return Ok(()) };
        for (groups, theirs) in groups.chunks(BATCH_ROWS).zip(other.best.chunks(BATCH_ROWS)) {
            let theirs: Vec<ValueId> = theirs.iter().map(|best| best.id).collect();
            self.update(cx, groups, &theirs)?;
        }
        Ok(())
    }

    /// The result; unbound for no values.
    fn finish(&self, _: &EvalContext, group: usize) -> Result<ValueId, ExecError> {
        Ok(self.best.get(group).map_or(ValueId::UNDEF, |best| best.id))
    }

    fn bytes(&self) -> usize {
        self.best.capacity() * size_of::<Best>() + self.key_bytes
    }
}

impl Best {
    /// Gives back the bytes of the key that went.
    fn replace(&mut self, id: ValueId, key: Option<Box<OrderKey>>) -> usize {
        self.id = id;
        std::mem::replace(&mut self.key, key).map_or(0, |key| key_bytes(&key))
    }
}

/// Breaks ties by text: values may arrive in any order, and the result must not depend on it.
fn strictly(cx: &EvalContext, ordering: Ordering, a: ValueId, b: ValueId) -> Result<Ordering, ExecError> {
    if ordering == Ordering::Equal { break_tie(cx, a, b) } else { Ok(ordering) }
}

fn key_bytes(key: &OrderKey) -> usize {
    size_of::<OrderKey>() + key.heap_bytes()
}

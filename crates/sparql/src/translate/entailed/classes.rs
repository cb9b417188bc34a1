//! The classes below one, and the scans that find what is stated to be an instance of any of them.

use super::{Triple, with_table};
use crate::expr::Expr;
use crate::id_set::IdSet;
use crate::logical::Logical;
use crate::plan::TermSlot;
use crate::schema::Schema;
use crate::translate::translator::Translator;
use lode_packed::Order;
use lode_rdf::{Term, ValueId};
use std::sync::Arc;

/// So many classes are looked at one by one for instances;
const LOOKED_AT_MAX: usize = 64;
/// and so many that have some are scans of their own, which are merged.
const SCANS_MAX: usize = 16;
/// Classes whose instances are counted, for an estimate of those of all.
const COUNTED_MAX: usize = 64;
/// What a look-up of a class costs, in rows that are scanned and tested;
const LOOKUP_ROWS: f64 = 100.0;
/// and a row that is looked up and put into a hash table of distinct ones.
const TABLE_ROW_ROWS: f64 = 12.0;

/// A class and those below it, as far as the data has them.
pub(super) struct SubClasses<'a>(Vec<(&'a Term, ValueId)>);

impl SubClasses<'_> {
    /// Their names.
    pub fn names(&self) -> Vec<Term> {
        self.0.iter().map(|(class, _)| (*class).clone()).collect()
    }

    /// Their ids.
    pub fn ids(&self) -> IdSet {
        self.0.iter().map(|(_, id)| *id).collect()
    }
}

impl Translator<'_> {
    /// The class and those below it.
    pub(super) fn sub_classes<'a>(&self, schema: &'a Schema, class: &'a Term) -> SubClasses<'a> {
        let known =
            |(class, id): (&'a Term, Option<ValueId>)| Some((class, id.or_else(|| self.stats.id_of(class))?));
        SubClasses(schema.sub_classes(class).into_iter().filter_map(known).collect())
    }

    /// What a property states to be an instance of one of these classes.
    pub(super) fn stated_instances(
        &mut self,
        property: &Term,
        classes: &SubClasses<'_>,
        triple: &Triple<'_>,
    ) -> Vec<Logical> {
        let Some(id) = self.stats.id_of(property) else { return Vec::new() };
        if let Some(used) = self.used(id, classes) {
            return used
                .into_iter()
                .map(|class| self.typed(property, TermSlot::Const(class), triple))
                .collect();
        }
        let total = self.counted(Order::Psog, &[id]);
        let instances = self.instances_counted(id, classes).min(total);
        if LOOKUP_ROWS * classes.0.len() as f64 + TABLE_ROW_ROWS * instances < total {
            let (class, table) = self.one_of(classes.names(), "class");
            return vec![with_table(table, self.typed(property, class, triple))];
        }
        let class = self.fresh("class");
        let ids = Arc::new(classes.ids().keeping(instances / total.max(1.0)));
        let typed = self.typed(property, TermSlot::Var(class), triple);
        vec![Logical::filter(typed, vec![Expr::Among(Box::new(Expr::Var(class)), ids)])]
    }

    fn typed(&mut self, property: &Term, class: TermSlot, triple: &Triple<'_>) -> Logical {
        self.scan(triple.subject.clone(), TermSlot::Const(property.clone()), class, triple.graph)
    }

    /// The classes that have instances, where they are few.
    fn used(&self, property: ValueId, classes: &SubClasses<'_>) -> Option<Vec<Term>> {
        if classes.0.len() > LOOKED_AT_MAX {
            return None;
        }
        let has_instances = |class: &ValueId| self.stats.holds(Order::Posg, &[property, *class]);
        let used = classes.0.iter().filter(|(_, id)| has_instances(id));
        let used: Vec<Term> = used.map(|(class, _)| (*class).clone()).collect();
        (used.len() <= SCANS_MAX).then_some(used)
    }

    /// How many quads state instances of these classes: an estimate by some of them.
    fn instances_counted(&self, property: ValueId, classes: &SubClasses<'_>) -> f64 {
        let step = classes.0.len().div_ceil(COUNTED_MAX).max(1);
        let counted = classes.0.iter().step_by(step);
        counted.map(|(_, class)| self.counted(Order::Posg, &[property, *class])).sum::<f64>() * step as f64
    }

    fn counted(&self, order: Order, prefix: &[ValueId]) -> f64 {
        self.stats.count(order, prefix) as f64
    }
}

//! `rdf:type`: instances of a class are those of the classes below it, and what properties with such a class as domain or range relate.

use super::{Triple, in_direction, pairs, with_table};
use crate::logical::Logical;
use crate::plan::{TermSlot, VarId};
use crate::schema::{Directed, Schema, unique, vocabulary::rdf};
use crate::translate::translator::Translator;
use lode_packed::Order;
use lode_rdf::Term;

impl Translator<'_> {
    /// Parts of the solutions of `?x a C`.
    pub(super) fn instances(&mut self, schema: &Schema, triple: &Triple<'_>) -> Vec<Logical> {
        let classes = schema.properties_below(&rdf("type"));
        match &triple.object {
            TermSlot::Const(class) => self.instances_of(schema, &classes, &class.clone(), triple),
            TermSlot::Var(class) => self.classified(schema, &classes, *class, triple),
        }
    }

    fn instances_of(
        &mut self,
        schema: &Schema,
        stating: &[Directed],
        class: &Term,
        triple: &Triple<'_>,
    ) -> Vec<Logical> {
        let below = self.sub_classes(schema, class);
        let mut branches = Vec::new();
        for Directed { property, inverse } in stating {
            if !inverse {
                branches.extend(self.stated_instances(property, &below, triple));
                continue;
            }
            let (object, table) = self.one_of(below.names(), "class");
            let ends = (triple.subject.clone(), object);
            let scan = self.scan_directed(TermSlot::Const(property.clone()), true, ends, triple.graph);
            branches.push(with_table(table, scan));
        }
        let typing = schema.typing();
        if typing.is_empty() {
            return branches;
        }
        let below = below.ids();
        let is_below = |class: &Term| self.stats.id_of(class).is_some_and(|id| below.contains(id));
        let typing = typing.into_iter().filter(|(_, class)| is_below(class));
        let typing = unique(typing.map(|(p, _)| p).filter(|p| self.is_used(&p.property)));
        for inverse in [false, true] {
            let properties = in_direction(&typing, inverse);
            if !properties.is_empty() {
                let (property, table) = self.one_of(properties, "property");
                let ends = (triple.subject.clone(), TermSlot::Var(self.fresh("value")));
                let scan = self.scan_directed(property, inverse, ends, triple.graph);
                branches.push(with_table(table, scan));
            }
        }
        branches
    }

    /// `?x a ?class`: what is stated, and the classes above that.
    fn classified(
        &mut self,
        schema: &Schema,
        stating: &[Directed],
        class: VarId,
        triple: &Triple<'_>,
    ) -> Vec<Logical> {
        let mut branches = Vec::new();
        for directed @ Directed { property, inverse } in stating {
            let property = TermSlot::Const(property.clone());
            let ends = (triple.subject.clone(), triple.object.clone());
            branches.push(self.scan_directed(property.clone(), *inverse, ends, triple.graph));
            let above = self.pairs_above(schema, directed);
            if !above.is_empty() {
                let below = self.fresh("class");
                let ends = (triple.subject.clone(), TermSlot::Var(below));
                let scan = self.scan_directed(property, *inverse, ends, triple.graph);
                branches.push(with_table(Some(pairs([below, class], above)), scan));
            }
        }
        let typing = schema.typing().into_iter().filter(|(p, _)| self.is_used(&p.property));
        let (turned, forward): (Vec<_>, Vec<_>) = typing.partition(|(p, _)| p.inverse);
        for (inverse, used) in [(false, forward), (true, turned)] {
            let above = |(p, class): &(Directed, Term)| {
                let above = schema.classes_above(class).into_iter();
                above.map(|above| (p.property.clone(), above)).collect()
            };
            let rows = unique(self.pairs(&used, above, "class"));
            if !rows.is_empty() {
                let property = self.fresh("property");
                let ends = (triple.subject.clone(), TermSlot::Var(self.fresh("value")));
                let scan = self.scan_directed(TermSlot::Var(property), inverse, ends, triple.graph);
                branches.push(with_table(Some(pairs([property, class], rows)), scan));
            }
        }
        branches
    }

    /// Classes, each with those above it but itself: of those that have instances, as far as a property states them.
    fn pairs_above(&mut self, schema: &Schema, stating: &Directed) -> Vec<(Term, Term)> {
        let property = self.stats.id_of(&stating.property);
        let has_instances = |class: &&Term| {
            let ids = property.zip(self.stats.id_of(class));
            // Turned round, classes are subjects.
            stating.inverse || ids.is_some_and(|(p, class)| self.stats.holds(Order::Posg, &[p, class]))
        };
        let lower: Vec<&Term> = schema.lower_classes().filter(has_instances).collect();
        let above = |class: &&Term| {
            let above = schema.classes_above(class).into_iter().skip(1);
            above.map(|above| ((*class).clone(), above)).collect()
        };
        self.pairs(&lower, above, "class")
    }
}

//! Other properties: what is related by a property below one is related by it, the other way round by its inverse, in several steps where it is
//! transitive.

use super::{Triple, in_direction, pairs, with_table};
use crate::logical::Logical;
use crate::plan::{Path, TermSlot, TypeStep, VarId};
use crate::schema::{Directed, Schema, vocabulary::rdf};
use crate::translate::translator::Translator;
use crate::typing::Typing;
use lode_rdf::{NamedNode, Term, ValueId};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Translator<'_> {
    /// Parts of the solutions of `?x :p ?y`.
    pub(super) fn related(&mut self, schema: &Schema, property: &Term, triple: &Triple<'_>) -> Vec<Logical> {
        let below = schema.properties_below(property);
        let (subject, object) = (triple.subject.clone(), triple.object.clone());
        if below.iter().any(|p| schema.is_transitive(&p.property)) {
            let path = self.path_of(schema, property);
            // Else what two of its ways lead to is there twice.
            let is_set = matches!(path, Path::OneOrMore(_));
            let search = self.search(subject.clone(), path, object, triple.graph);
            let search = if is_set { search } else { Logical::distinct(search) };
            let turns = below.iter().any(|p| p.inverse);
            return vec![if turns { self.subjects_only(search, &subject) } else { search }];
        }
        let mut branches = Vec::new();
        for inverse in [false, true] {
            let properties = in_direction(&below, inverse);
            for property in properties.into_iter().filter(|p| self.stats.id_of(p).is_some()) {
                let ends = (subject.clone(), object.clone());
                branches.push(self.scan_directed(TermSlot::Const(property), inverse, ends, triple.graph));
            }
        }
        branches
    }

    /// Parts of the solutions of `?x ?p ?y`.
    pub(super) fn related_by_any(
        &mut self,
        schema: &Schema,
        var: VarId,
        triple: &Triple<'_>,
    ) -> Vec<Logical> {
        let (subject, object) = (triple.subject.clone(), triple.object.clone());
        let mut branches =
            vec![self.scan(subject.clone(), triple.predicate.clone(), object.clone(), triple.graph)];
        for inverse in [false, true] {
            let rows = self.pairs_of_properties(schema, inverse);
            if !rows.is_empty() {
                let below = self.fresh("property");
                let ends = (subject.clone(), object.clone());
                let scan = self.scan_directed(TermSlot::Var(below), inverse, ends, triple.graph);
                branches.push(with_table(Some(pairs([below, var], rows)), scan));
            }
        }
        let is_used =
            |p: &&Term| schema.properties_below(p).iter().any(|below| self.is_used(&below.property));
        for property in schema.transitive().filter(is_used).cloned().collect::<Vec<_>>() {
            branches.extend(self.steps_of(schema, &property, var, triple));
        }
        let types = Triple { predicate: TermSlot::Const(rdf("type")), ..triple.clone() };
        let name = Logical::values(vec![var], vec![vec![Some(rdf("type"))]]);
        let instances = self.instances(schema, &types);
        branches.extend(instances.into_iter().map(|branch| with_table(Some(name.clone()), branch)));
        branches
    }

    /// Properties that relate in this direction, each with those above it but itself.
    fn pairs_of_properties(&mut self, schema: &Schema, inverse: bool) -> Vec<(Term, Term)> {
        let is_used = |p: &&Directed| p.inverse == inverse && self.is_used(&p.property);
        let lower: Vec<&Directed> = schema.lower_properties().filter(is_used).collect();
        let above = |p: &&Directed| {
            let forward = schema.properties_above(p).into_iter().skip(1).filter(|above| !above.inverse);
            forward.map(|above| (p.property.clone(), above.property)).collect()
        };
        self.pairs(&lower, above, "property")
    }

    /// What a transitive property relates, by it and by those above it.
    fn steps_of(
        &mut self,
        schema: &Schema,
        property: &Term,
        var: VarId,
        triple: &Triple<'_>,
    ) -> Vec<Logical> {
        let above = schema.properties_above(&Directed::forward(property.clone()));
        let mut branches = Vec::new();
        for inverse in [false, true] {
            let rows: Vec<_> = in_direction(&above, inverse).into_iter().map(|p| vec![Some(p)]).collect();
            if rows.is_empty() {
                continue;
            }
            let path = self.path_of(schema, property);
            let (subject, object) = (triple.subject.clone(), triple.object.clone());
            let (from, to) = if inverse { (object, subject.clone()) } else { (subject.clone(), object) };
            let search = self.search(from, path, to, triple.graph);
            let search = self.subjects_only(search, &subject);
            branches.push(with_table(Some(Logical::values(vec![var], rows)), search));
        }
        branches
    }

    /// What a property relates, as a path over what is stated.
    pub(in crate::translate) fn path_of(&self, schema: &Schema, property: &Term) -> Path {
        if *property == rdf("type") {
            return self.type_step(schema);
        }
        let below = schema.properties_below(property);
        if schema.is_transitive(property) {
            return Path::OneOrMore(Box::new(self.stated(&below)));
        }
        let step = |p: &Directed| {
            let path = if schema.is_transitive(&p.property) {
                Path::OneOrMore(Box::new(self.stated(&schema.properties_below(&p.property))))
            } else {
                Path::Predicate(self.stats.id_of(&p.property))
            };
            if p.inverse { Path::Reverse(Box::new(path)) } else { path }
        };
        alternatives(below.iter().map(step))
    }

    /// What properties other than these relate, as a path.
    pub(in crate::translate) fn path_of_others(&self, schema: &Schema, excluded: &[NamedNode]) -> Path {
        let excluded: Vec<Term> = excluded.iter().map(|p| Term::from(p.clone())).collect();
        let is_other = |p: &Term| !excluded.contains(p);
        let is_below_other = |p: &Directed| {
            schema.properties_above(p).iter().any(|above| !above.inverse && is_other(&above.property))
        };
        let none = |p: &&Term| !is_below_other(&Directed::forward((*p).clone()));
        let none = excluded.iter().filter(none).filter_map(|p| self.stats.id_of(p)).collect();
        let turned = schema.lower_properties().filter(|p| p.inverse && is_below_other(p));
        let turned = turned
            .filter(|p| self.is_used(&p.property))
            .map(|p| Path::Reverse(Box::new(Path::Predicate(self.stats.id_of(&p.property)))));
        let several = schema.transitive().cloned().chain([rdf("type")]).filter(is_other);
        let several = several.map(|property| self.path_of(schema, &property));
        alternatives([Path::Negated(none)].into_iter().chain(turned).chain(several))
    }

    /// `rdf:type`, one step of a path.
    fn type_step(&self, schema: &Schema) -> Path {
        let stated = self.stated(&schema.properties_below(&rdf("type")));
        let mut typing: BTreeMap<(ValueId, bool), Vec<ValueId>> = BTreeMap::new();
        for (Directed { property, inverse }, class) in schema.typing() {
            let used = Some(&property).filter(|property| self.is_used(property));
            let property = used.and_then(|property| self.stats.id_of(property));
            if let Some((property, class)) = property.zip(self.stats.id_of(&class)) {
                typing.entry((property, inverse)).or_default().push(class);
            }
        }
        let typing = typing.into_iter();
        let typing =
            typing.map(|((property, inverse), classes)| Typing { property, inverse, classes }).collect();
        let classes = schema.class_edges();
        Path::Type(Arc::new(TypeStep { stated, typing, classes }))
    }

    fn stated(&self, properties: &[Directed]) -> Path {
        let step = |p: &Directed| {
            let path = Path::Predicate(self.stats.id_of(&p.property));
            if p.inverse { Path::Reverse(Box::new(path)) } else { path }
        };
        alternatives(properties.iter().map(step))
    }
}

fn alternatives(paths: impl Iterator<Item = Path>) -> Path {
    let joined = paths.reduce(|a, b| Path::Alternative(Box::new(a), Box::new(b)));
    joined.unwrap_or(Path::Predicate(None))
}

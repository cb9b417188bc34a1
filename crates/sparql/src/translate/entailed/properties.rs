//! Other properties: what is related by a property below one is related by it, the other way round by its inverse, in several steps where it is
//! transitive.

use super::{Triple, in_direction, pairs, with_table};
use crate::logical::Logical;
use crate::plan::{Path, TermSlot, VarId};
use crate::schema::{Directed, Schema, vocabulary::rdf};
use crate::translate::translator::Translator;
use lode_rdf::Term;

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

    /// What a property relates, as a path over what is stated. Of `rdf:type` that is without domains and ranges.
    pub(in crate::translate) fn path_of(&self, schema: &Schema, property: &Term) -> Path {
        if *property == rdf("type") {
            let above = self.path_of(schema, &crate::schema::vocabulary::rdfs("subClassOf"));
            let stated = self.stated(&schema.properties_below(property));
            return Path::Sequence(Box::new(stated), Box::new(Path::ZeroOrMore(Box::new(above))));
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

//! SHACL Core node by node, straight from its definitions: slow, and sharing no code with what is tested.

use lode_rdf::{Literal, Term, Triple};
use std::collections::BTreeSet;

const SH: &str = "http://www.w3.org/ns/shacl#";
const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const RDFS: &str = "http://www.w3.org/2000/01/rdf-schema#";

/// A graph, with a few ways to look at it.
pub struct Graph(pub Vec<Triple>);

type Terms = BTreeSet<String>;

/// A result: focus node, value or nothing, component, severity left out.
pub type Found = (String, String, String);

impl Graph {
    pub fn objects(&self, subject: &str, predicate: &str) -> Vec<Term> {
        let of = |t: &&Triple| t.subject.to_string() == subject && t.predicate.as_str() == predicate;
        self.0.iter().filter(of).map(|t| t.object.clone()).collect()
    }

    fn sh(&self, shape: &str, local: &str) -> Vec<Term> {
        self.objects(shape, &format!("{SH}{local}"))
    }

    fn list(&self, head: &Term) -> Vec<Term> {
        let mut members = Vec::new();
        let mut at = head.to_string();
        while at != format!("<{RDF}nil>") {
            members.push(self.objects(&at, &format!("{RDF}first"))[0].clone());
            at = self.objects(&at, &format!("{RDF}rest"))[0].to_string();
        }
        members
    }

    fn along(&self, from: &Terms, shapes: &Graph, path: &Term) -> Terms {
        let node = path.to_string();
        let only = |local: &str| shapes.sh(&node, local).first().cloned();
        if let Term::NamedNode(name) = path {
            let step = |at: &String| self.objects(at, name.as_str());
            return from.iter().flat_map(step).map(|term| term.to_string()).collect();
        }
        if !shapes.objects(&node, &format!("{RDF}first")).is_empty() {
            return shapes.list(path).iter().fold(from.clone(), |at, step| self.along(&at, shapes, step));
        }
        if let Some(inverse) = only("inversePath") {
            // A node that is not in the graph may lead to itself.
            let known = self.0.iter().flat_map(|t| [t.subject.to_string(), t.object.to_string()]);
            let all: Terms = known.chain(from.iter().cloned()).collect();
            let reaches = |node: &&String| {
                let there = self.along(&BTreeSet::from([(*node).clone()]), shapes, &inverse);
                !there.is_disjoint(from)
            };
            return all.iter().filter(reaches).cloned().collect();
        }
        if let Some(list) = only("alternativePath") {
            return shapes.list(&list).iter().flat_map(|one| self.along(from, shapes, one)).collect();
        }
        if let Some(inner) = only("zeroOrOnePath") {
            return from.union(&self.along(from, shapes, &inner)).cloned().collect();
        }
        let (inner, mut seen) = match (only("zeroOrMorePath"), only("oneOrMorePath")) {
            (Some(inner), _) => (inner, from.clone()),
            (None, Some(inner)) => (inner.clone(), self.along(from, shapes, &inner)),
            (None, None) => panic!("no path"),
        };
        loop {
            let next: Terms = seen.union(&self.along(&seen, shapes, &inner)).cloned().collect();
            if next == seen {
                return seen;
            }
            seen = next;
        }
    }

    fn is_instance(&self, node: &str, class: &str) -> bool {
        let mut open: Vec<String> =
            self.objects(node, &format!("{RDF}type")).iter().map(ToString::to_string).collect();
        let mut seen = Terms::new();
        while let Some(found) = open.pop() {
            if found == class {
                return true;
            }
            if seen.insert(found.clone()) {
                open.extend(
                    self.objects(&found, &format!("{RDFS}subClassOf")).iter().map(ToString::to_string),
                );
            }
        }
        false
    }

    fn terms(&self) -> Vec<Term> {
        let mut terms = Vec::new();
        for triple in &self.0 {
            terms.push(triple.subject.clone().into());
            terms.push(triple.object.clone());
        }
        terms
    }
}

/// Data, shapes, and the results.
pub struct Naive<'g> {
    pub data: &'g Graph,
    pub shapes: &'g Graph,
}

fn literal(term: &Term) -> Option<&Literal> {
    match term {
        Term::Literal(literal) => Some(literal),
        _ => None,
    }
}

fn integer(term: &Term) -> Option<i64> {
    literal(term).filter(|l| l.datatype().as_str().ends_with("#integer"))?.value().parse().ok()
}

fn text(term: &Term) -> Option<String> {
    match term {
        Term::NamedNode(name) => Some(name.as_str().to_owned()),
        Term::Literal(literal) => Some(literal.value().to_owned()),
        _ => None,
    }
}

/// Whether a value is less than another one, where they can be compared.
fn less(a: &Term, b: &Term, or_equal: bool) -> bool {
    let ordering = match (integer(a), integer(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => match (literal(a), literal(b)) {
            (Some(a), Some(b)) if lode_rdf::is_string(a.as_ref()) && lode_rdf::is_string(b.as_ref()) => {
                a.value().cmp(b.value())
            }
            _ => return false,
        },
    };
    ordering.is_lt() || (or_equal && ordering.is_eq())
}

impl Naive<'_> {
    /// All results.
    pub fn validate(&self) -> Vec<Found> {
        let mut found = Vec::new();
        let shapes: BTreeSet<String> = self.shapes.0.iter().map(|t| t.subject.to_string()).collect();
        for shape in shapes {
            let mut focus: Terms =
                self.shapes.sh(&shape, "targetNode").iter().map(ToString::to_string).collect();
            for triple in &self.data.0 {
                let (subject, object) = (triple.subject.to_string(), triple.object.to_string());
                for class in self.shapes.sh(&shape, "targetClass") {
                    if self.data.is_instance(&subject, &class.to_string()) {
                        focus.insert(subject.clone());
                    }
                }
                let predicate: Term = triple.predicate.clone().into();
                if self.shapes.sh(&shape, "targetSubjectsOf").contains(&predicate) {
                    focus.insert(subject);
                }
                if self.shapes.sh(&shape, "targetObjectsOf").contains(&predicate) {
                    focus.insert(object);
                }
            }
            focus.iter().for_each(|node| self.shape(node, &shape, &mut found));
        }
        found.sort();
        found
    }

    fn conforms(&self, node: &str, shape: &Term) -> bool {
        let mut found = Vec::new();
        self.shape(node, &shape.to_string(), &mut found);
        found.is_empty()
    }

    fn shape(&self, focus: &str, shape: &str, found: &mut Vec<Found>) {
        if self
            .shapes
            .sh(shape, "deactivated")
            .iter()
            .any(|t| literal(t).is_some_and(|l| l.value() == "true"))
        {
            return;
        }
        let path = self.shapes.sh(shape, "path").first().cloned();
        let here = BTreeSet::from([focus.to_owned()]);
        let values = path.as_ref().map_or(here.clone(), |path| self.data.along(&here, self.shapes, path));
        for value in &values {
            self.value(focus, value, shape, found);
        }
        self.all_values(focus, &values, shape, path.is_some(), found);
    }

    fn term(&self, text: &str) -> Term {
        let known = self.data.terms().into_iter().chain(self.shapes.terms());
        known.into_iter().find(|term| term.to_string() == text).unwrap()
    }

    fn value(&self, focus: &str, value: &str, shape: &str, found: &mut Vec<Found>) {
        let term = self.term(value);
        let mut say = |component: &str, value: &str| {
            found.push((focus.to_owned(), value.to_owned(), component.to_owned()));
        };
        let each = |local: &str| self.shapes.sh(shape, local);
        let mut test = |local: &str, component: &str, holds: &dyn Fn(&Term) -> bool| {
            each(local).iter().filter(|parameter| !holds(parameter)).for_each(|_| say(component, value));
        };
        test("class", "Class", &|class| self.data.is_instance(value, &class.to_string()));
        test("datatype", "Datatype", &|datatype| {
            let own = literal(&term).map(|l| Term::from(l.datatype().into_owned()));
            let is_well_formed = !datatype.to_string().contains("integer") || integer(&term).is_some();
            own.as_ref() == Some(datatype) && is_well_formed
        });
        test("nodeKind", "NodeKind", &|kind| {
            let kind = kind.to_string();
            match term {
                Term::NamedNode(_) => kind.contains("IRI"),
                Term::BlankNode(_) => kind.contains("BlankNode"),
                _ => kind.contains("Literal"),
            }
        });
        test("minInclusive", "MinInclusive", &|limit| less(limit, &term, true));
        test("minExclusive", "MinExclusive", &|limit| less(limit, &term, false));
        test("maxInclusive", "MaxInclusive", &|limit| less(&term, limit, true));
        test("maxExclusive", "MaxExclusive", &|limit| less(&term, limit, false));
        let length = |limit: &Term, or: fn(i64, i64) -> bool| {
            text(&term).is_some_and(|t| or(t.chars().count() as i64, integer(limit).unwrap()))
        };
        test("minLength", "MinLength", &|limit| length(limit, |a, b| a >= b));
        test("maxLength", "MaxLength", &|limit| length(limit, |a, b| a <= b));
        test("languageIn", "LanguageIn", &|list| {
            let own = literal(&term).and_then(Literal::language);
            own.is_some_and(|own| self.shapes.list(list).iter().any(|l| text(l).as_deref() == Some(own)))
        });
        test("in", "In", &|list| self.shapes.list(list).contains(&term));
        test("equals", "Equals", &|other| self.data.objects(focus, &text(other).unwrap()).contains(&term));
        test("disjoint", "Disjoint", &|other| {
            !self.data.objects(focus, &text(other).unwrap()).contains(&term)
        });
        test("node", "Node", &|inner| self.conforms(value, inner));
        test("not", "Not", &|inner| !self.conforms(value, inner));
        let many =
            |list: &Term| self.shapes.list(list).iter().filter(|one| self.conforms(value, one)).count();
        test("and", "And", &|list| many(list) == self.shapes.list(list).len());
        test("or", "Or", &|list| many(list) > 0);
        test("xone", "Xone", &|list| many(list) == 1);
        for (local, component, or_equal) in
            [("lessThan", "LessThan", false), ("lessThanOrEquals", "LessThanOrEquals", true)]
        {
            for other in each(local) {
                let others = self.data.objects(focus, &text(&other).unwrap());
                others
                    .iter()
                    .filter(|other| !less(&term, other, or_equal))
                    .for_each(|_| say(component, value));
            }
        }
        if !each("closed").is_empty() {
            let allowed: Terms = each("property")
                .iter()
                .flat_map(|p| self.shapes.sh(&p.to_string(), "path"))
                .chain(each("ignoredProperties").iter().flat_map(|list| self.shapes.list(list)))
                .map(|path| path.to_string())
                .collect();
            for triple in self.data.0.iter().filter(|t| t.subject.to_string() == value) {
                if !allowed.contains(&triple.predicate.to_string()) {
                    say("Closed", &triple.object.to_string());
                }
            }
        }
        each("property").iter().for_each(|inner| self.shape(value, &inner.to_string(), found));
    }

    fn all_values(&self, focus: &str, values: &Terms, shape: &str, has_path: bool, found: &mut Vec<Found>) {
        let mut say = |component: &str, value: &str| {
            found.push((focus.to_owned(), value.to_owned(), component.to_owned()));
        };
        let each = |local: &str| self.shapes.sh(shape, local);
        for other in each("equals") {
            for object in self.data.objects(focus, &text(&other).unwrap()) {
                if !values.contains(&object.to_string()) {
                    say("Equals", &object.to_string());
                }
            }
        }
        for value in each("hasValue") {
            if !values.contains(&value.to_string()) {
                say("HasValue", "");
            }
        }
        if !has_path {
            return;
        }
        let count = values.len() as i64;
        let wrong = |local: &str, wrong: fn(i64, i64) -> bool, count: i64| {
            each(local).iter().any(|limit| wrong(count, integer(limit).unwrap()))
        };
        if wrong("minCount", |count, limit| count < limit, count) {
            say("MinCount", "");
        }
        if wrong("maxCount", |count, limit| count > limit, count) {
            say("MaxCount", "");
        }
        if !each("uniqueLang").is_empty() {
            let languages: Vec<String> = values
                .iter()
                .filter_map(|value| {
                    literal(&self.term(value)).and_then(Literal::language).map(str::to_lowercase)
                })
                .collect();
            let distinct: Terms = languages.iter().cloned().collect();
            for language in distinct {
                if languages.iter().filter(|other| **other == language).count() > 1 {
                    say("UniqueLang", "");
                }
            }
        }
        for qualified in each("qualifiedValueShape") {
            let siblings = if each("qualifiedValueShapesDisjoint").is_empty() {
                Vec::new()
            } else {
                self.beside(shape, &qualified)
            };
            let counts = |value: &&String| {
                self.conforms(value, &qualified) && !siblings.iter().any(|other| self.conforms(value, other))
            };
            let count = values.iter().filter(counts).count() as i64;
            if wrong("qualifiedMinCount", |count, limit| count < limit, count) {
                say("QualifiedMinCount", "");
            }
            if wrong("qualifiedMaxCount", |count, limit| count > limit, count) {
                say("QualifiedMaxCount", "");
            }
        }
    }

    fn beside(&self, shape: &str, own: &Term) -> Vec<Term> {
        let is_parent =
            |t: &&Triple| t.predicate.as_str() == format!("{SH}property") && t.object.to_string() == shape;
        let parents = self.shapes.0.iter().filter(is_parent).map(|t| t.subject.to_string());
        let siblings = parents.flat_map(|parent| self.shapes.sh(&parent, "property"));
        let shapes = siblings.flat_map(|one| self.shapes.sh(&one.to_string(), "qualifiedValueShape"));
        shapes.filter(|one| one != own).collect()
    }
}

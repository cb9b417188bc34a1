//! What a shape says of its values: the constraint components of SHACL Core.

use super::Reader;
use super::components::{Found, named};
use super::parameters::{self, iri, list, literal, messages, number, only, text, wrong};
use crate::error::ShaclError;
use crate::graph::as_node;
use crate::model::{Comparison, Constraint, Rule, ShapeId, SparqlRule};
use crate::vocabulary::sh;
use lode_rdf::{NamedNode, NamedOrBlankNode, Term};
use std::collections::HashSet;

const XSD: &str = "http://www.w3.org/2001/XMLSchema#";
/// The datatypes that XML Schema 1.1 defines, and that literals may have.
#[rustfmt::skip]
const DATATYPES: [&str; 44] = [
    "anyURI", "base64Binary", "boolean", "byte", "date", "dateTime", "dateTimeStamp", "dayTimeDuration",
    "decimal", "double", "duration", "ENTITY", "float", "gDay", "gMonth", "gMonthDay", "gYear",
    "gYearMonth", "hexBinary", "ID", "IDREF", "int", "integer", "language", "long", "Name", "NCName",
    "negativeInteger", "NMTOKEN", "nonNegativeInteger", "nonPositiveInteger", "normalizedString",
    "NOTATION", "positiveInteger", "QName", "short", "string", "time", "token", "unsignedByte",
    "unsignedInt", "unsignedLong", "unsignedShort", "yearMonthDuration",
];

impl Reader<'_> {
    /// All that a shape says.
    pub(super) fn constraints(
        &mut self,
        node: &NamedOrBlankNode,
        has_path: bool,
    ) -> Result<Vec<Constraint>, ShaclError> {
        let mut found = Vec::new();
        self.of_types(node, &mut found)?;
        if has_path {
            self.of_counts(node, &mut found)?;
        } else {
            self.refuse_without_path(node)?;
        }
        self.of_ranges(node, &mut found)?;
        self.of_texts(node, &mut found)?;
        self.of_pairs(node, has_path, &mut found)?;
        self.of_shapes(node, has_path, &mut found)?;
        self.of_others(node, &mut found)?;
        self.of_sparql(node, &mut found)?;
        super::components::of(self.graph, &self.components, node, has_path, &mut found)?;
        Ok(found)
    }

    fn of_types(&mut self, node: &NamedOrBlankNode, found: &mut Found) -> Result<(), ShaclError> {
        for class in self.graph.of(node, "class") {
            if as_node(class).is_none() {
                return Err(wrong(node, "class", format!("{class} is no class")));
            }
            found.push(named("Class", Rule::Class(class.clone())));
        }
        if let Some(value) = only(self.graph, node, "datatype")? {
            let datatype = iri(node, "datatype", value)?;
            self.warn_of_unknown(node, &datatype);
            found.push(named("Datatype", Rule::Datatype(datatype)));
        }
        if let Some(value) = only(self.graph, node, "nodeKind")? {
            found.push(named("NodeKind", Rule::NodeKind(parameters::node_kind(node, value)?)));
        }
        Ok(())
    }

    /// Warns of a datatype that XML Schema's namespace does not have: nothing conforms to it.
    fn warn_of_unknown(&mut self, node: &NamedOrBlankNode, datatype: &NamedNode) {
        let Some(local) = datatype.as_str().strip_prefix(XSD).filter(|local| !DATATYPES.contains(local))
        else {
            return;
        };
        let meant = lode_sparql::syntax::nearest(local, DATATYPES.iter().copied());
        let help = meant.map_or_else(String::new, |name| format!("; did you mean xsd:{name}?"));
        let shape = self.graph.places().shape(node);
        self.shapes.warn(format!("{shape}: there is no datatype xsd:{local}: no value conforms to it{help}"));
    }

    fn of_counts(&self, node: &NamedOrBlankNode, found: &mut Found) -> Result<(), ShaclError> {
        if let Some(count) = number(self.graph, node, "minCount")?
            && count > 0
        {
            found.push(named("MinCount", Rule::MinCount(count)));
        }
        if let Some(count) = number(self.graph, node, "maxCount")? {
            found.push(named("MaxCount", Rule::MaxCount(count)));
        }
        if parameters::flag(self.graph, node, "uniqueLang")? {
            found.push(named("UniqueLang", Rule::UniqueLang));
        }
        Ok(())
    }

    /// What counts or compares values of a path makes no sense of a node shape.
    fn refuse_without_path(&mut self, node: &NamedOrBlankNode) -> Result<(), ShaclError> {
        const OF_PATHS: [&str; 5] = ["minCount", "maxCount", "uniqueLang", "lessThan", "lessThanOrEquals"];
        const WITHOUT_MEANING: [&str; 2] = ["qualifiedMinCount", "qualifiedMaxCount"];
        const WHY: &str = "it is of property shapes, and this is none: it has no sh:path; write sh:property [ sh:path ... ]";
        if let Some(local) = OF_PATHS.into_iter().find(|local| !self.graph.of(node, local).is_empty()) {
            return Err(wrong(node, local, WHY));
        }
        // That these are ignored is what the W3C's suite asks for.
        for local in WITHOUT_MEANING.into_iter().filter(|local| !self.graph.of(node, local).is_empty()) {
            let shape = self.graph.places().shape(node);
            self.shapes.warn(format!("{shape}: sh:{local} is ignored: {WHY}"));
        }
        Ok(())
    }

    fn of_ranges(&self, node: &NamedOrBlankNode, found: &mut Found) -> Result<(), ShaclError> {
        let ranges = [
            ("minExclusive", "MinExclusive", Comparison::Greater),
            ("minInclusive", "MinInclusive", Comparison::GreaterOrEqual),
            ("maxExclusive", "MaxExclusive", Comparison::Less),
            ("maxInclusive", "MaxInclusive", Comparison::LessOrEqual),
        ];
        for (local, component, comparison) in ranges {
            if let Some(limit) = literal(self.graph, node, local)? {
                found.push(named(component, Rule::Range(comparison, limit)));
            }
        }
        Ok(())
    }

    fn of_texts(&self, node: &NamedOrBlankNode, found: &mut Found) -> Result<(), ShaclError> {
        if let Some(length) = number(self.graph, node, "minLength")? {
            found.push(named("MinLength", Rule::MinLength(length)));
        }
        if let Some(length) = number(self.graph, node, "maxLength")? {
            found.push(named("MaxLength", Rule::MaxLength(length)));
        }
        let flags = only(self.graph, node, "flags")?.map(|value| text(node, "flags", value)).transpose()?;
        for value in self.graph.of(node, "pattern") {
            let rule = Rule::Pattern {
                pattern: text(node, "pattern", value)?,
                flags: flags.clone().unwrap_or_default(),
            };
            found.push(named("Pattern", rule));
        }
        if let Some(value) = only(self.graph, node, "languageIn")? {
            let languages = list(self.graph, node, "languageIn", value)?;
            let languages = languages.into_iter().map(|language| text(node, "languageIn", language));
            found.push(named("LanguageIn", Rule::LanguageIn(languages.collect::<Result<_, _>>()?)));
        }
        Ok(())
    }

    fn of_pairs(&self, node: &NamedOrBlankNode, has_path: bool, found: &mut Found) -> Result<(), ShaclError> {
        for value in self.graph.of(node, "equals") {
            found.push(named("Equals", Rule::Equals(iri(node, "equals", value)?)));
        }
        for value in self.graph.of(node, "disjoint") {
            found.push(named("Disjoint", Rule::Disjoint(iri(node, "disjoint", value)?)));
        }
        if !has_path {
            return Ok(());
        }
        for value in self.graph.of(node, "lessThan") {
            let rule = Rule::LessThan(Comparison::Less, iri(node, "lessThan", value)?);
            found.push(named("LessThan", rule));
        }
        for value in self.graph.of(node, "lessThanOrEquals") {
            let rule = Rule::LessThan(Comparison::LessOrEqual, iri(node, "lessThanOrEquals", value)?);
            found.push(named("LessThanOrEquals", rule));
        }
        Ok(())
    }

    fn of_shapes(
        &mut self,
        node: &NamedOrBlankNode,
        has_path: bool,
        found: &mut Found,
    ) -> Result<(), ShaclError> {
        for value in self.graph.of(node, "not") {
            found.push(named("Not", Rule::Not(self.shape_of(node, "not", value)?)));
        }
        let lists: [(&str, &str, fn(Vec<ShapeId>) -> Rule); 3] =
            [("and", "And", Rule::And), ("or", "Or", Rule::Or), ("xone", "Xone", Rule::Xone)];
        for (local, component, made) in lists {
            for value in self.graph.of(node, local) {
                let members = list(self.graph, node, local, value)?;
                let members = members.into_iter().map(|member| self.shape_of(node, local, member));
                let members = members.collect::<Result<_, _>>()?;
                found.push(named(component, made(members)));
            }
        }
        for value in self.graph.of(node, "node") {
            found.push(named("Node", Rule::Node(self.shape_of(node, "node", value)?)));
        }
        for value in self.graph.of(node, "property") {
            let id = self.shape_of(node, "property", value)?;
            if self.shapes.get(id).path.is_none() {
                let problem = format!("{value} is no property shape: it has no sh:path");
                return Err(wrong(node, "property", problem));
            }
            found.push(named("Property", Rule::Property(id)));
        }
        if has_path { self.of_qualified(node, found) } else { Ok(()) }
    }

    fn of_qualified(&mut self, node: &NamedOrBlankNode, found: &mut Found) -> Result<(), ShaclError> {
        let counts = [
            ("qualifiedMinCount", "QualifiedMinCount", true),
            ("qualifiedMaxCount", "QualifiedMaxCount", false),
        ];
        for value in self.graph.of(node, "qualifiedValueShape") {
            let shape = self.shape_of(node, "qualifiedValueShape", value)?;
            let others = match parameters::flag(self.graph, node, "qualifiedValueShapesDisjoint")? {
                true => self.beside(node, value)?,
                false => Vec::new(),
            };
            for (local, component, is_least) in counts {
                let Some(count) = number(self.graph, node, local)? else { continue };
                if count > 0 || !is_least {
                    let others = others.clone();
                    found.push(named(component, Rule::Qualified { shape, others, count, is_least }));
                }
            }
        }
        Ok(())
    }

    /// The shapes of qualified values of property shapes that stand beside this one.
    fn beside(&mut self, node: &NamedOrBlankNode, own: &Term) -> Result<Vec<ShapeId>, ShaclError> {
        let graph = self.graph;
        let this = Term::from(node.clone());
        let parents = self.parents.get(&this).cloned().unwrap_or_default();
        let mut seen = HashSet::new();
        let mut others = Vec::new();
        for sibling in parents.into_iter().flat_map(|parent| graph.of(parent, "property")).filter_map(as_node)
        {
            for value in graph.of(&sibling, "qualifiedValueShape") {
                if value != own && seen.insert(value) {
                    others.push(self.shape_of(&sibling, "qualifiedValueShape", value)?);
                }
            }
        }
        Ok(others)
    }

    fn of_others(&self, node: &NamedOrBlankNode, found: &mut Found) -> Result<(), ShaclError> {
        if parameters::flag(self.graph, node, "closed")? {
            let mut allowed = self.allowed_by_properties(node);
            if let Some(ignored) = only(self.graph, node, "ignoredProperties")? {
                for value in list(self.graph, node, "ignoredProperties", ignored)? {
                    allowed.push(iri(node, "ignoredProperties", value)?);
                }
            }
            found.push(named("Closed", Rule::Closed(allowed)));
        }
        for value in self.graph.of(node, "hasValue") {
            found.push(named("HasValue", Rule::HasValue(value.clone())));
        }
        if let Some(value) = only(self.graph, node, "in")? {
            let members = list(self.graph, node, "in", value)?;
            found.push(named("In", Rule::In(members.into_iter().cloned().collect())));
        }
        Ok(())
    }

    /// The properties that the property shapes of a closed shape are about.
    fn allowed_by_properties(&self, node: &NamedOrBlankNode) -> Vec<NamedNode> {
        let properties = self.graph.of(node, "property").into_iter().filter_map(as_node);
        let paths = properties.flat_map(|property| self.graph.of(&property, "path"));
        let name = |path: &Term| match path {
            Term::NamedNode(name) => Some(name.clone()),
            _ => None,
        };
        paths.filter_map(name).collect()
    }

    fn of_sparql(&self, node: &NamedOrBlankNode, found: &mut Found) -> Result<(), ShaclError> {
        for value in self.graph.of(node, "sparql") {
            let Some(constraint) = as_node(value) else {
                return Err(wrong(node, "sparql", format!("{value} is no constraint")));
            };
            if parameters::flag(self.graph, &constraint, "deactivated")? {
                continue;
            }
            let Some(select) = only(self.graph, &constraint, "select")? else {
                return Err(wrong(
                    node,
                    "sparql",
                    format!("{value} has no sh:select with the text of a query"),
                ));
            };
            let rule = SparqlRule {
                text: text(&constraint, "select", select)?,
                is_ask: false,
                is_constraint: true,
                prefixes: super::custom::prefixes(self.graph, &constraint)?,
                parameters: Vec::new(),
                messages: messages(self.graph, &constraint)?,
                node: constraint,
            };
            let component = sh("SPARQLConstraintComponent");
            found.push(Constraint { component, rule: Rule::Sparql(rule) });
        }
        Ok(())
    }
}

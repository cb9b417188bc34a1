//! From the shapes graph to shapes, with what is wrong with them.

mod components;
mod custom;
mod parameters;
mod rules;
mod targets;

use crate::error::ShaclError;
use crate::graph::{ShapesGraph, as_node, shown};
use crate::model::{Shape, ShapeId};
use crate::path::Path;
use crate::places::Places;
use crate::vocabulary::{OTHERS, PARAMETERS, SH, sh};
use custom::Component;
use lode_engine::Reservation;
use lode_rdf::{NamedOrBlankNode, Term};
use std::collections::HashMap;

/// Shapes in shapes.
const DEPTH_MAX: usize = 100;
/// Warnings beyond these are not told.
const WARNINGS_MAX: usize = 100;

/// The shapes of a shapes graph that have targets, and those that they refer to.
#[derive(Debug, Default)]
pub struct Shapes {
    pub(crate) all: Vec<Shape>,
    /// Those with targets.
    pub(crate) roots: Vec<ShapeId>,
    warnings: Vec<String>,
    pub(crate) places: Places,
    /// What they take, where that is counted.
    _memory: Option<Reservation>,
}

impl Shapes {
    /// Reads the shapes of a graph.
    ///
    /// # Errors
    /// [`ShaclError::Shape`] where a shape that is used is none, or contains itself.
    pub fn read(graph: ShapesGraph) -> Result<Self, ShaclError> {
        let mut shapes = Self::of(&graph).map_err(|error| error.placed(graph.places()))?;
        (shapes.places, shapes._memory) = graph.into_parts();
        Ok(shapes)
    }

    fn of(graph: &ShapesGraph) -> Result<Self, ShaclError> {
        let components = custom::components(graph)?;
        let mut reader = Reader {
            graph,
            components,
            shapes: Self::default(),
            known: HashMap::new(),
            open: Vec::new(),
            parents: parents(graph),
        };
        for node in graph.subjects() {
            if targets::is_target_of_something(graph, node) {
                let id = reader.shape(node)?;
                reader.shapes.roots.push(id);
            }
        }
        let mut shapes = reader.shapes;
        for imported in graph.missing_imports() {
            shapes.warn(format!("owl:imports {imported} is not followed: give that document, too"));
        }
        if shapes.roots.is_empty() {
            shapes.warn(
                "no shape has a target (sh:targetClass, sh:targetNode, ...), so nothing is validated".into(),
            );
        }
        Ok(shapes)
    }

    pub(crate) fn get(&self, id: ShapeId) -> &Shape {
        &self.all[id.0]
    }

    /// How many shapes have targets.
    pub fn with_targets(&self) -> usize {
        self.roots.len()
    }

    /// What of the shapes is most likely not meant.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn warn(&mut self, warning: String) {
        if self.warnings.len() < WARNINGS_MAX && !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }
}

/// Where reading is.
struct Reader<'g> {
    graph: &'g ShapesGraph,
    components: Vec<Component>,
    shapes: Shapes,
    known: HashMap<NamedOrBlankNode, ShapeId>,
    /// The shapes that are being read, each for the one before it.
    open: Vec<NamedOrBlankNode>,
    /// Of each property shape, the shapes that have it.
    parents: HashMap<&'g Term, Vec<&'g NamedOrBlankNode>>,
}

fn parents(graph: &ShapesGraph) -> HashMap<&Term, Vec<&NamedOrBlankNode>> {
    let mut parents: HashMap<&Term, Vec<&NamedOrBlankNode>> = HashMap::new();
    for node in graph.subjects() {
        for property in graph.of(node, "property") {
            parents.entry(property).or_default().push(node);
        }
    }
    parents
}

impl Reader<'_> {
    /// The shape of a node; read when it is first referred to.
    fn shape(&mut self, node: &NamedOrBlankNode) -> Result<ShapeId, ShaclError> {
        if let Some(id) = self.known.get(node) {
            return Ok(*id);
        }
        if let Some(at) = self.open.iter().position(|open| open == node) {
            let circle: Vec<String> = self.open[at..].iter().chain([node]).map(ToString::to_string).collect();
            return Err(ShaclError::shape(
                node,
                "its shapes",
                format!(
                    "it refers to itself ({}): what recursive shapes mean is not defined, and they are not \
                     supported; express the repetition by a path such as [ sh:zeroOrMorePath ex:property ]",
                    circle.join(", which refers to ")
                ),
            ));
        }
        if self.open.len() >= DEPTH_MAX {
            return Err(ShaclError::TooLarge(format!(
                "the shape {node} is nested deeper than {DEPTH_MAX} levels of shapes"
            )));
        }
        self.open.push(node.clone());
        let shape = self.read_shape(node)?;
        self.open.pop();
        let id = ShapeId(self.shapes.all.len());
        self.shapes.all.push(shape);
        self.known.insert(node.clone(), id);
        Ok(id)
    }

    fn read_shape(&mut self, node: &NamedOrBlankNode) -> Result<Shape, ShaclError> {
        self.look_for_mistakes(node);
        let path = match self.graph.of(node, "path").as_slice() {
            [] => None,
            [term] => Some(
                Path::read(self.graph, term)
                    .map_err(|problem| ShaclError::shape(node, "sh:path", problem))?,
            ),
            _ => return Err(ShaclError::shape(node, "sh:path", "a property shape has one path")),
        };
        let severity = match self.graph.of(node, "severity").as_slice() {
            [] => sh("Violation"),
            [Term::NamedNode(name)] => name.clone(),
            _ => {
                return Err(ShaclError::shape(node, "sh:severity", "expected one IRI, such as sh:Warning"));
            }
        };
        Ok(Shape {
            node: node.clone(),
            targets: targets::of(self.graph, node)?,
            severity,
            messages: parameters::messages(self.graph, node)?,
            is_deactivated: parameters::flag(self.graph, node, "deactivated")?,
            constraints: self.constraints(node, path.is_some())?,
            path,
        })
    }

    /// The shape that a value of a property is.
    fn shape_of(
        &mut self,
        node: &NamedOrBlankNode,
        local: &str,
        value: &Term,
    ) -> Result<ShapeId, ShaclError> {
        let Some(inner) = as_node(value) else {
            let problem = format!("{} is no shape: expected an IRI or [ ... ]", shown(value));
            return Err(ShaclError::shape(node, format!("sh:{local}"), problem));
        };
        if self.graph.said(&inner).is_empty() {
            self.shapes.warn(format!(
                "{}: sh:{local} refers to {inner}, of which the shapes graph says nothing: all nodes conform to it",
                self.graph.places().shape(node)
            ));
        }
        self.shape(&inner)
    }

    /// Warns of what is of SHACL's namespace and is not in it, and of what has no effect.
    fn look_for_mistakes(&mut self, node: &NamedOrBlankNode) {
        self.look_for_what_has_no_effect(node);
        for (property, _) in self.graph.said(node) {
            let Some(local) = property.as_str().strip_prefix(SH) else { continue };
            if PARAMETERS.contains(&local) || OTHERS.contains(&local) {
                continue;
            }
            let known = PARAMETERS.iter().chain(&OTHERS).copied();
            let meant = lode_sparql::syntax::nearest(local, known);
            let help = meant.map_or_else(String::new, |name| format!("; did you mean sh:{name}?"));
            let shape = self.graph.places().shape(node);
            self.shapes.warn(format!("{shape}: there is no sh:{local} for shapes{help}"));
        }
    }

    /// Warns of parameters that say nothing without another one, and of booleans that are not read as such.
    fn look_for_what_has_no_effect(&mut self, node: &NamedOrBlankNode) {
        const NEEDS: [(&str, &[&str]); 6] = [
            ("ignoredProperties", &["closed"]),
            ("flags", &["pattern"]),
            ("qualifiedMinCount", &["qualifiedValueShape"]),
            ("qualifiedMaxCount", &["qualifiedValueShape"]),
            ("qualifiedValueShapesDisjoint", &["qualifiedValueShape"]),
            ("qualifiedValueShape", &["qualifiedMinCount", "qualifiedMaxCount"]),
        ];
        let has = |local: &str| !self.graph.of(node, local).is_empty();
        let shape = self.graph.places().shape(node);
        let mut warnings = Vec::new();
        for (local, needs) in NEEDS {
            if has(local) && !needs.iter().copied().any(has) {
                let needs = needs.iter().map(|other| format!("sh:{other}")).collect::<Vec<_>>().join(" or ");
                warnings.push(format!("{shape}: sh:{local} has no effect without {needs}"));
            }
        }
        for local in parameters::FLAGS {
            let values = self.graph.of(node, local);
            if values.into_iter().any(|value| parameters::boolean(value) == Some("1")) {
                warnings.push(format!(
                    "{shape}: sh:{local} 1 has no effect (the W3C's tests want it so): write true"
                ));
            }
        }
        warnings.into_iter().for_each(|warning| self.shapes.warn(warning));
    }
}

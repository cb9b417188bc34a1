//! What is below the classes that shapes name, looked up before queries are made: nearly always nothing or little, and then an instance is found by
//! one pattern instead of a path.

use crate::model::{Rule, Target};
use crate::read::Shapes;
use crate::words::constant;
use lode_rdf::{NamedNode, Term};
use std::collections::{BTreeMap, BTreeSet};

/// With more classes below one, a path finds them.
const BELOW_MAX: usize = 100;
/// In all; what was not looked up is found by paths.
const ROWS_MAX: usize = 100_000;

const TYPE: &str = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
const SUB_CLASS: &str = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>";

/// For each class, those below it; those that are not here are found by paths.
#[derive(Debug, Default)]
pub struct Classes {
    below: BTreeMap<String, BTreeSet<String>>,
}

/// All classes that shapes name.
fn named(shapes: &Shapes) -> BTreeSet<String> {
    let mut classes = BTreeSet::new();
    for shape in &shapes.all {
        for target in &shape.targets {
            if let Target::Class(class) = target {
                classes.insert(class.to_string());
            }
        }
        for constraint in &shape.constraints {
            if let Rule::Class(class) = &constraint.rule {
                classes.extend(constant(class));
            }
        }
    }
    classes
}

impl Classes {
    /// The query for them: `?class`, and `?below` of it. `None` where shapes name no class.
    pub fn query(shapes: &Shapes) -> Option<String> {
        let classes: Vec<String> = named(shapes).into_iter().collect();
        (!classes.is_empty()).then(|| {
            format!(
                "SELECT ?class ?below {{ VALUES ?class {{ {} }} ?below {SUB_CLASS}+ ?class }} LIMIT {}",
                classes.join(" "),
                ROWS_MAX + 1
            )
        })
    }

    /// Takes what the query found.
    pub fn new(shapes: &Shapes, rows: Vec<(Term, Term)>) -> Self {
        if rows.len() > ROWS_MAX {
            return Self::default();
        }
        let mut below: BTreeMap<String, Option<BTreeSet<String>>> =
            named(shapes).into_iter().map(|class| (class, Some(BTreeSet::new()))).collect();
        for (class, found) in rows {
            let Some(known) = below.get_mut(&class.to_string()) else { continue };
            let Some(name) = constant(&found) else {
                *known = None;
                continue;
            };
            if let Some(all) = known {
                all.insert(name);
                if all.len() > BELOW_MAX {
                    *known = None;
                }
            }
        }
        Self { below: below.into_iter().filter_map(|(class, all)| Some((class, all?))).collect() }
    }

    /// The pattern of instances of a class, and whether it has each instance once. `fresh` is a variable for the class.
    pub fn instances(
        &self,
        variable: &str,
        class: &NamedNode,
        fresh: impl FnOnce() -> String,
    ) -> (String, bool) {
        let class = class.to_string();
        match self.below.get(&class) {
            Some(below) if below.iter().all(|other| *other == class) => {
                (format!("{variable} {TYPE} {class} ."), true)
            }
            Some(below) => {
                let kind = fresh();
                let all: BTreeSet<&String> = below.iter().chain([&class]).collect();
                let all: Vec<&str> = all.into_iter().map(String::as_str).collect();
                (format!("{variable} {TYPE} {kind} . VALUES {kind} {{ {} }}", all.join(" ")), false)
            }
            None => (format!("{variable} {TYPE}/{SUB_CLASS}* {class} ."), false),
        }
    }
}

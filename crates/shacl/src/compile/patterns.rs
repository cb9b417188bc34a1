//! Focus nodes and values: the patterns that the queries begin with.

use super::compiler::Compiler;
use super::focus::{Focus, Values};
use crate::model::Target;
use crate::path::Path;
use crate::words::constant;

impl Compiler<'_> {
    /// The focus nodes of targets; none where there are no targets.
    pub(super) fn of_targets(&mut self, targets: &[Target]) -> Option<Focus> {
        let variable = self.names.variable();
        let mut parts: Vec<(String, bool)> = Vec::new();
        let mut nodes = Vec::new();
        for target in targets {
            match target {
                Target::Node(term) => nodes.extend(constant(term)),
                Target::Class(class) => {
                    let names = &mut self.names;
                    parts.push(self.sources.classes.instances(&variable, class, || names.variable()));
                }
                Target::SubjectsOf(property) => {
                    parts.push((format!("{variable} {property} {} .", self.names.variable()), false));
                }
                Target::ObjectsOf(property) => {
                    parts.push((format!("{} {property} {variable} .", self.names.variable()), false));
                }
            }
        }
        nodes.sort();
        nodes.dedup();
        if !nodes.is_empty() {
            parts.push((format!("VALUES {variable} {{ {} }}", nodes.join(" ")), true));
        }
        let pattern = match parts.as_slice() {
            [] => return None,
            [(only, true)] => only.clone(),
            _ => {
                let union: Vec<String> = parts.iter().map(|(part, _)| format!("{{ {part} }}")).collect();
                format!("{{ SELECT DISTINCT {variable} {{ {} }} }}", union.join(" UNION "))
            }
        };
        Some(Focus { pattern, chain: vec![variable] })
    }

    /// The values of focus nodes along a path.
    pub(super) fn values(&mut self, focus: &Focus, path: &Path) -> Values {
        let value = self.names.variable();
        let step = format!("{} {path} {value} .", focus.variable());
        let steps = if path.may_be_empty() {
            format!("{} LATERAL {{ {step} }}", focus.pattern)
        } else {
            format!("{} {step}", focus.pattern)
        };
        let pattern = if path.is_plain() {
            steps
        } else {
            format!("{{ SELECT DISTINCT {} {value} {{ {steps} }} }}", focus.chain.join(" "))
        };
        Values { pattern, chain: focus.chain.clone(), value }
    }
}

//! How deep a plan is, with its expressions, its paths and the patterns planned while it runs; found without recursion.

use crate::expr::Expr;
use crate::parse::depth;
use crate::plan::{Path, PlanNode, PlanOp, SubPattern};

/// A part of a plan.
enum Part<'a> {
    Node(&'a PlanNode),
    Expr(&'a Expr),
    Path(&'a Path),
    Pattern(&'a SubPattern),
}

/// The levels below and with `root`.
pub(crate) fn of(root: &PlanNode) -> usize {
    let mut most = 0;
    let mut open = vec![(Part::Node(root), 1)];
    while let Some((part, level)) = open.pop() {
        most = most.max(level);
        let below = level + 1;
        match part {
            Part::Node(node) => {
                open.extend(node.children().into_iter().map(|child| (Part::Node(child), below)));
                open.extend(node.exprs().into_iter().map(|expr| (Part::Expr(expr), below)));
                open.extend(node.pattern().map(|pattern| (Part::Pattern(pattern), below)));
                if let PlanOp::Path { path, .. } = &node.op {
                    open.push((Part::Path(path), below));
                }
            }
            Part::Expr(Expr::Exists(pattern)) => open.push((Part::Pattern(pattern), below)),
            // Most lists are of constants.
            Part::Expr(Expr::Const(_) | Expr::Var(_) | Expr::Bound(_)) => {}
            Part::Expr(expr) => {
                open.extend(expr.children().into_iter().map(|child| (Part::Expr(child), below)));
            }
            Part::Path(path) => match path {
                Path::Predicate(_) | Path::Negated(_) => {}
                Path::Type(step) => open.push((Part::Path(&step.stated), below)),
                Path::Reverse(inner)
                | Path::ZeroOrMore(inner)
                | Path::OneOrMore(inner)
                | Path::ZeroOrOne(inner) => open.push((Part::Path(inner), below)),
                Path::Sequence(a, b) | Path::Alternative(a, b) => {
                    open.extend([(Part::Path(a), below), (Part::Path(b), below)]);
                }
            },
            Part::Pattern(pattern) => {
                most = most.max(level + depth::of_pattern(&pattern.algebra).for_plans())
            }
        }
    }
    most
}

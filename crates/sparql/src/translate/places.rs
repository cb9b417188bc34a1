//! Query rewriting of GeoSPARQL 1.1 (its section 11): `?a geo:sfWithin ?b` has what is stated and what follows by its rules from geometries, as a set.
//!
//! Either side is a geometry, by what it has as text, or a feature, by its default geometry; a feature that has none by `geo:hasGeometry`, which the rules do
//! not ask for and people write. A constant literal stands for itself.
//!
//! What follows is made as of all pairs; what other patterns of its group say of a side is asked before, so that not all geometries of the data are compared.

use super::translator::Translator;
use crate::expr::Expr;
use crate::function::{Callee, Function};
use crate::logical::{Logical, LogicalOp, graph_var, term_slot_var};
use crate::place_search::{GEOMETRY_TEXTS, place_relation};
use crate::plan::{GraphScope, TermSlot, VarId};
use crate::var_set::VarSet;
use lode_packed::Order;
use lode_rdf::{NamedNode, Term};

const GEO: &str = "http://www.opengis.net/ont/geosparql#";

/// A triple pattern with a relation for its predicate.
pub(super) struct PlaceRelation {
    slots: [TermSlot; 3],
    function: &'static Function,
}

/// One side: a plan that has its geometries, and what these are.
struct Side {
    rows: Logical,
    geometry: Expr,
}

fn geo(name: &str) -> TermSlot {
    named(&format!("{GEO}{name}"))
}

fn named(iri: &str) -> TermSlot {
    TermSlot::Const(Term::NamedNode(NamedNode::new_unchecked(iri)))
}

impl Translator<'_> {
    /// The relation that a pattern asks for; none where it is none, or nothing can follow.
    pub(super) fn place_relation(&self, slots: &[TermSlot; 3]) -> Option<PlaceRelation> {
        if !self.dataset.relates_places {
            return None;
        }
        let TermSlot::Const(Term::NamedNode(predicate)) = &slots[1] else { return None };
        let function = self.stats.function(&place_relation(predicate.as_str())?)?;
        let slots = slots.clone();
        self.serializations().next().map(|_| PlaceRelation { slots, function })
    }

    /// What is stated of a relation, and what follows; `beside`: what else is asked for in the group.
    pub(super) fn related_places(
        &mut self,
        relation: PlaceRelation,
        graph: &GraphScope,
        beside: &[Logical],
    ) -> Logical {
        let PlaceRelation { slots: [subject, predicate, object], function } = relation;
        let ends = [term_slot_var(&subject), term_slot_var(&object)];
        let columns: VarSet = ends.into_iter().flatten().chain(graph_var(graph)).collect();
        let columns: Vec<VarId> = columns.as_slice().to_vec();
        let first = self.side(&subject, graph);
        let second = self.side(&object, graph);
        let stated = self.triples(subject, predicate, object, graph);
        let sides = [(first.rows, ends[0], ends[1]), (second.rows, ends[1], ends[0])];
        let graph = graph_var(graph);
        let sides = sides.map(|(rows, own, other)| match own {
            Some(own) => confined(rows, (own, other), graph, beside),
            None => rows,
        });
        let call =
            Expr::Call(Callee::new(function.name, Some(function)), vec![first.geometry, second.geometry]);
        let follows = Logical::join(sides.into(), vec![call]);
        let branches = [stated, follows].map(|branch| Logical::project(branch, columns.clone()));
        Logical::distinct(Logical::union(branches.into()))
    }

    fn serializations(&self) -> impl Iterator<Item = TermSlot> {
        GEOMETRY_TEXTS.into_iter().map(named).filter(|property| self.is_in_use(property))
    }

    fn is_in_use(&self, property: &TermSlot) -> bool {
        let TermSlot::Const(property) = property else { return false };
        self.stats.id_of(property).is_some_and(|id| self.stats.holds(Order::Posg, &[id]))
    }

    /// The geometries of one end.
    fn side(&mut self, end: &TermSlot, graph: &GraphScope) -> Side {
        if let TermSlot::Const(literal @ Term::Literal(_)) = end {
            return Side { rows: self.scoped_unit(graph), geometry: Expr::Const(literal.clone()) };
        }
        let geometry = self.fresh("geometry");
        let columns: Vec<VarId> =
            term_slot_var(end).into_iter().chain([geometry]).chain(graph_var(graph)).collect();
        let (has, has_default) = (geo("hasGeometry"), geo("hasDefaultGeometry"));
        let mut branches = vec![self.texts(end, geometry, graph)];
        if self.is_in_use(&has_default) {
            branches.push(self.of_feature(end, &has_default, geometry, graph));
        }
        if self.is_in_use(&has) {
            let any = self.of_feature(end, &has, geometry, graph);
            let default = TermSlot::Var(self.fresh("default"));
            let default = self.triples(end.clone(), has_default, default, graph);
            branches.push(Logical::exists(any, default, None, true));
        }
        let branches = branches.into_iter().map(|branch| Logical::project(branch, columns.clone())).collect();
        Side { rows: Logical::union(branches), geometry: Expr::Var(geometry) }
    }

    /// The geometries of a feature.
    fn of_feature(
        &mut self,
        feature: &TermSlot,
        property: &TermSlot,
        geometry: VarId,
        graph: &GraphScope,
    ) -> Logical {
        let node = TermSlot::Var(self.fresh("node"));
        let has = self.triples(feature.clone(), property.clone(), node.clone(), graph);
        let texts = self.texts(&node, geometry, graph);
        Logical::join(vec![has, texts], Vec::new())
    }

    /// What a geometry has as text.
    fn texts(&mut self, of: &TermSlot, geometry: VarId, graph: &GraphScope) -> Logical {
        let properties: Vec<TermSlot> = self.serializations().collect();
        let texts = properties
            .into_iter()
            .map(|property| self.triples(of.clone(), property, TermSlot::Var(geometry), graph));
        let mut texts: Vec<Logical> = texts.collect();
        if texts.len() == 1 { texts.swap_remove(0) } else { Logical::union(texts) }
    }
}

/// One side's rows of ends that other patterns have, too: those with a variable that is connected with this end, and not only through the other.
fn confined(
    rows: Logical,
    (own, other): (VarId, Option<VarId>),
    graph: Option<VarId>,
    beside: &[Logical],
) -> Logical {
    let mut reached: VarSet = std::iter::once(own).collect();
    let mut open: Vec<&Logical> =
        beside.iter().filter(|member| matches!(member.op, LogicalOp::Scan(_))).collect();
    let mut members = Vec::new();
    while let Some(at) = open.iter().position(|member| !member.vars.is_disjoint(&reached)) {
        let member = open.swap_remove(at);
        if other.is_none_or(|other| other == own || !member.vars.contains(other)) {
            // All are in the same graph, which connects nothing.
            reached.extend(&member.vars.iter().filter(|var| Some(*var) != graph).collect());
            members.push(member.clone());
        }
    }
    if members.is_empty() {
        return rows;
    }
    let known = Logical::project(Logical::join(members, Vec::new()), vec![own]);
    Logical::exists(rows, known, None, false)
}

//! Requests: the operations of an update.

use super::level::Level;
use super::{Lowering, Result, Wrong};
use crate::update::{Graph, GraphTarget, Transfer, TransferKind};
use lode_rdf::NamedNode;
use lode_syntax::{At, Node};
use oxiri_of_oxttl::Iri;
use spargebra::algebra::{GraphPattern, QueryDataset};
use spargebra::term::{
    GraphName, GraphNamePattern, GroundQuad, GroundQuadPattern, NamedNodePattern, Quad, QuadPattern,
    TriplePattern,
};

/// An operation, in the terms of the algebra.
#[derive(Debug)]
pub(crate) enum Lowered {
    InsertData(Vec<Quad>),
    DeleteData(Vec<GroundQuad>),
    Modify(Box<Modified>),
    Load {
        silent: bool,
        source: NamedNode,
        into: Graph,
    },
    Clear(GraphTarget),
    Create {
        silent: bool,
        graph: NamedNode,
    },
    Transfer(Transfer),
    /// Nothing at all, such as a copy onto itself.
    Nothing,
}

/// DELETE and INSERT with a pattern.
#[derive(Debug)]
pub(crate) struct Modified {
    pub delete: Vec<GroundQuadPattern>,
    pub insert: Vec<QuadPattern>,
    pub using: Option<QueryDataset>,
    pub pattern: GraphPattern,
    pub base: Option<Iri<String>>,
}

impl<'t> Lowering<'t> {
    /// The operations of the request that the tree is, each with its place.
    pub fn update(&mut self) -> Result<Vec<(At<'t>, Lowered)>> {
        let mut operations = Vec::new();
        for at in self.tree.root().children() {
            match at.node() {
                Node::Base | Node::Prefix | Node::Version => self.declaration(at)?,
                _ => {
                    // Labels are of one operation.
                    self.labels.clear();
                    self.block = None;
                    operations.push((at, self.operation(at)?));
                }
            }
        }
        Ok(operations)
    }

    fn operation(&mut self, at: At<'t>) -> Result<Lowered> {
        let silent = at.has_word(1, "SILENT");
        let mut iris = at.children().filter(|part| matches!(part.node(), Node::Iri | Node::Name));
        Ok(match at.node() {
            Node::Load => {
                let source = iris.next().ok_or_else(|| Wrong::at(at, "a document is missing"))?;
                let into = iris.next().map(|graph| self.iri(graph)).transpose()?;
                Lowered::Load { silent, source: self.iri(source)?, into }
            }
            Node::Create => {
                let graph = iris.next().ok_or_else(|| Wrong::at(at, "a graph is missing"))?;
                Lowered::Create { silent, graph: self.iri(graph)? }
            }
            Node::Clear => Lowered::Clear(match iris.next() {
                Some(graph) => GraphTarget::One(Some(self.iri(graph)?)),
                None => match at.token(at.tokens().len().saturating_sub(1)) {
                    word if word.eq_ignore_ascii_case("DEFAULT") => GraphTarget::One(None),
                    word if word.eq_ignore_ascii_case("NAMED") => GraphTarget::Named,
                    _ => GraphTarget::All,
                },
            }),
            Node::Transfer => self.transfer(at, silent)?,
            Node::InsertData => Lowered::InsertData(self.quads_of_data(at)?),
            Node::DeleteData => {
                let ground = self
                    .quads_of_data(at)?
                    .into_iter()
                    .map(GroundQuad::try_from)
                    .collect::<std::result::Result<_, ()>>();
                Lowered::DeleteData(ground.map_err(|()| Wrong::at(at, "DELETE DATA with a blank node"))?)
            }
            Node::DeleteWhere => self.delete_where(at)?,
            _ => self.modify(at)?,
        })
    }

    fn transfer(&mut self, at: At<'t>, silent: bool) -> Result<Lowered> {
        let mut graphs = at.children().map(|target| target.first().map(|graph| self.iri(graph)).transpose());
        let (Some(from), Some(to)) = (graphs.next(), graphs.next()) else {
            return Err(Wrong::at(at, "a graph is missing"));
        };
        let (from, to) = (from?, to?);
        if from == to {
            return Ok(Lowered::Nothing);
        }
        let kind = match at.token(0) {
            word if word.eq_ignore_ascii_case("ADD") => TransferKind::Add,
            word if word.eq_ignore_ascii_case("COPY") => TransferKind::Copy,
            _ => TransferKind::Move,
        };
        Ok(Lowered::Transfer(Transfer { kind, from, to, silent }))
    }

    fn quads_in(&mut self, clause: At<'t>) -> Result<Vec<QuadPattern>> {
        let mut quads = Vec::new();
        let Some(all) = clause.child(Node::Quads) else { return Ok(quads) };
        for part in all.children() {
            if part.node() == Node::Triples {
                let triples = self.template(std::iter::once(part))?;
                quads.extend(triples.into_iter().map(|triple| quad(triple, GraphNamePattern::DefaultGraph)));
                continue;
            }
            let mut inside = part.children();
            let Some(name) = inside.next() else { continue };
            let graph = GraphNamePattern::from(self.name_or_variable(name)?);
            let triples = self.template(inside)?;
            quads.extend(triples.into_iter().map(|triple| quad(triple, graph.clone())));
        }
        Ok(quads)
    }

    fn quads_of_data(&mut self, at: At<'t>) -> Result<Vec<Quad>> {
        let Some(clause) = at.first() else { return Ok(Vec::new()) };
        let quads = self.quads_in(clause)?.into_iter().map(Quad::try_from);
        let message = "data with a variable, or with a literal or a triple as subject";
        quads.collect::<std::result::Result<_, ()>>().map_err(|()| Wrong::at(at, message))
    }

    fn deleted(&mut self, clause: At<'t>) -> Result<Vec<GroundQuadPattern>> {
        let quads = self.quads_in(clause)?;
        ground(quads).ok_or_else(|| {
            let help = "a new blank node is no node of the data: use a variable that WHERE binds";
            Wrong::at(clause, "DELETE with a blank node").help(help)
        })
    }

    fn delete_where(&mut self, at: At<'t>) -> Result<Lowered> {
        let Some(clause) = at.first() else { return Ok(Lowered::Nothing) };
        let quads = self.quads_in(clause)?;
        let mut joined = super::chain::Joined::default();
        for quad in &quads {
            let triple =
                super::links::triple_of(quad.subject.clone(), quad.predicate.clone(), quad.object.clone());
            let inner = Box::new(GraphPattern::Bgp { patterns: vec![triple] });
            joined.push(match &quad.graph_name {
                GraphNamePattern::DefaultGraph => *inner,
                GraphNamePattern::NamedNode(name) => {
                    GraphPattern::Graph { name: NamedNodePattern::NamedNode(name.clone()), inner }
                }
                GraphNamePattern::Variable(name) => {
                    GraphPattern::Graph { name: NamedNodePattern::Variable(name.clone()), inner }
                }
            });
        }
        let delete = ground(quads).ok_or_else(|| {
            let help = "a blank node is no node of the data: use a variable";
            Wrong::at(at, "DELETE WHERE with a blank node").help(help)
        })?;
        let (insert, using, pattern, base) = (Vec::new(), None, joined.take(), self.base.clone());
        Ok(Lowered::Modify(Box::new(Modified { delete, insert, using, pattern, base })))
    }

    fn modify(&mut self, at: At<'t>) -> Result<Lowered> {
        let with = at.child(Node::With).and_then(At::first).map(|graph| self.iri(graph)).transpose()?;
        let mut delete = match at.child(Node::Delete) {
            Some(clause) => self.deleted(clause)?,
            None => Vec::new(),
        };
        let mut insert = match at.child(Node::Insert) {
            Some(clause) => self.quads_in(clause)?,
            None => Vec::new(),
        };
        let mut using = self.dataset(at)?;
        self.aggregates.push(Level::Group(Vec::new()));
        let group = at.child(Node::Group).ok_or_else(|| Wrong::at(at, "a pattern is missing"))?;
        let pattern = self.group(group)?;
        self.aggregates.pop();
        if let Some(with) = with {
            let name = GraphNamePattern::from(GraphName::from(with.clone()));
            for quad in delete.iter_mut().filter(|quad| quad.graph_name == GraphNamePattern::DefaultGraph) {
                quad.graph_name = name.clone();
            }
            for quad in insert.iter_mut().filter(|quad| quad.graph_name == GraphNamePattern::DefaultGraph) {
                quad.graph_name = name.clone();
            }
            using = using.or(Some(QueryDataset { default: vec![with], named: None }));
        }
        let base = self.base.clone();
        Ok(Lowered::Modify(Box::new(Modified { delete, insert, using, pattern, base })))
    }
}

fn quad(triple: TriplePattern, graph_name: GraphNamePattern) -> QuadPattern {
    QuadPattern { subject: triple.subject, predicate: triple.predicate, object: triple.object, graph_name }
}

fn ground(quads: Vec<QuadPattern>) -> Option<Vec<GroundQuadPattern>> {
    quads.into_iter().map(GroundQuadPattern::try_from).collect::<std::result::Result<_, ()>>().ok()
}

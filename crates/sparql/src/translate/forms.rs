//! The four query forms: which columns the result needs.

use super::translator::Translator;
use crate::error::PlanError;
use crate::logical::Logical;
use crate::plan::{ConstructTerm, ConstructTriple, GraphScope, QueryForm, VarId};
use lode_rdf::Term;
use spargebra::Query;
use spargebra::algebra::GraphPattern;
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};
use std::collections::HashMap;

impl Translator<'_> {
    /// Translates a query: rows with exactly the columns that its form wants, in their order.
    pub fn query(&mut self, query: &Query) -> Result<(Logical, Vec<VarId>, QueryForm), PlanError> {
        let graph: GraphScope = self.dataset.default.clone();
        match query {
            Query::Select { pattern, .. } => {
                let (logical, columns) = self.root(pattern, &graph)?;
                Ok((logical, columns.clone(), QueryForm::Select(columns)))
            }
            Query::Describe { pattern, .. } => {
                let (logical, columns) = self.root(pattern, &graph)?;
                Ok((logical, columns.clone(), QueryForm::Describe(columns)))
            }
            Query::Ask { pattern, .. } => {
                let (logical, _) = self.root(pattern, &graph)?;
                Ok((Logical::slice(logical, 0, Some(1)), Vec::new(), QueryForm::Ask))
            }
            Query::Construct { template, pattern, .. } => {
                let (logical, _) = self.root(pattern, &graph)?;
                let mut columns = Vec::new();
                let template = self.template(template, &mut columns);
                Ok((logical, columns, QueryForm::Construct(template)))
            }
        }
    }

    /// The query's pattern and its result columns, in order.
    fn root(
        &mut self,
        pattern: &GraphPattern,
        graph: &GraphScope,
    ) -> Result<(Logical, Vec<VarId>), PlanError> {
        let logical = self.pattern(pattern, graph)?;
        let mut inner = pattern;
        loop {
            inner = match inner {
                GraphPattern::Slice { inner, .. }
                | GraphPattern::Distinct { inner }
                | GraphPattern::Reduced { inner }
                | GraphPattern::OrderBy { inner, .. } => inner,
                GraphPattern::Project { variables, .. } => {
                    let columns = variables.iter().map(|v| self.var(v.as_str())).collect();
                    return Ok((logical, columns));
                }
                other => {
                    let columns = self.visible_vars(other).as_slice().to_vec();
                    return Ok((logical, columns));
                }
            };
        }
    }

    fn template(&mut self, template: &[TriplePattern], columns: &mut Vec<VarId>) -> Vec<ConstructTriple> {
        let mut blanks = HashMap::new();
        template.iter().map(|t| self.template_triple(t, columns, &mut blanks)).collect()
    }

    fn template_triple(
        &mut self,
        triple: &TriplePattern,
        columns: &mut Vec<VarId>,
        blanks: &mut HashMap<String, u32>,
    ) -> ConstructTriple {
        let subject = self.template_term(&triple.subject, columns, blanks);
        let predicate = match &triple.predicate {
            NamedNodePattern::NamedNode(iri) => ConstructTerm::Const(iri.clone().into()),
            NamedNodePattern::Variable(v) => self.template_var(v.as_str(), columns),
        };
        let object = self.template_term(&triple.object, columns, blanks);
        ConstructTriple { subject, predicate, object }
    }

    fn template_term(
        &mut self,
        term: &TermPattern,
        columns: &mut Vec<VarId>,
        blanks: &mut HashMap<String, u32>,
    ) -> ConstructTerm {
        match term {
            TermPattern::NamedNode(iri) => ConstructTerm::Const(Term::from(iri.clone())),
            TermPattern::Literal(literal) => ConstructTerm::Const(Term::from(literal.clone())),
            TermPattern::BlankNode(node) => {
                let next = u32::try_from(blanks.len()).unwrap_or(u32::MAX);
                ConstructTerm::Blank(*blanks.entry(node.as_str().to_owned()).or_insert(next))
            }
            TermPattern::Variable(v) => self.template_var(v.as_str(), columns),
            TermPattern::Triple(triple) => {
                ConstructTerm::Triple(Box::new(self.template_triple(triple, columns, blanks)))
            }
        }
    }

    fn template_var(&mut self, name: &str, columns: &mut Vec<VarId>) -> ConstructTerm {
        let var = self.var(name);
        if !columns.contains(&var) {
            columns.push(var);
        }
        ConstructTerm::Var(var)
    }
}

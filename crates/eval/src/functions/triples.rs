//! Triple terms (SPARQL 1.2): making them, and their components.

use crate::error::ExecError;
use crate::expr::call::Kernel;
use crate::expr::column::Column;
use crate::expr::decode;
use crate::expr::eval::Evaluator;
use crate::expr::texts::Texts;
use lode_rdf::{NamedOrBlankNode, Term, TermRef, Triple, ValueId};
use lode_sparql::function::ValueType;
use lode_sparql::{Expr, Function};

/// The entries.
pub(super) static FUNCTIONS: [Function; 4] = [
    Function::new(
        "TRIPLE",
        &[ValueType::Term, ValueType::Iri, ValueType::Term],
        ValueType::Triple,
        &Kernel::Many(|rows, arguments| rows.triple(arguments)),
    ),
    Function::new(
        "SUBJECT",
        &[ValueType::Triple],
        ValueType::Term,
        &Kernel::One(|rows, a| rows.component(a, |triple| triple.subject.clone().into())),
    ),
    Function::new(
        "PREDICATE",
        &[ValueType::Triple],
        ValueType::Iri,
        &Kernel::One(|rows, a| rows.component(a, |triple| Term::NamedNode(triple.predicate.clone()))),
    ),
    Function::new(
        "OBJECT",
        &[ValueType::Triple],
        ValueType::Term,
        &Kernel::One(|rows, a| rows.component(a, |triple| triple.object.clone())),
    ),
];

impl Evaluator<'_> {
    /// `TRIPLE`: terms in, a term out, so lexical forms stay.
    fn triple<'e>(&self, arguments: &'e [Expr]) -> Result<Column<'e>, ExecError> {
        let [subject, predicate, object] = arguments else { return Ok(Column::ERROR) };
        let terms = |expr| -> Result<(Vec<Option<Term>>, Texts), ExecError> {
            let ids = self.eval(expr)?.into_ids(self.cx, self.rows())?;
            decode::map_terms(self.cx, &ids, |term| Some(term.into_owned()))
        };
        let (subjects, predicates, objects) = (terms(subject)?, terms(predicate)?, terms(object)?);
        let mut ids = Vec::with_capacity(self.rows());
        for ((subject, predicate), object) in subjects.0.into_iter().zip(predicates.0).zip(objects.0) {
            let triple = make_triple(subject, predicate, object);
            ids.push(
                triple
                    .map_or(Ok(ValueId::UNDEF), |triple| self.cx.intern(&Term::Triple(Box::new(triple))))?,
            );
        }
        Ok(Column::Ids(ids))
    }

    /// `SUBJECT`, `PREDICATE`, `OBJECT`: a component of a triple term.
    fn component<'e>(
        &self,
        a: &'e Expr,
        component: impl Fn(&Triple) -> Term,
    ) -> Result<Column<'e>, ExecError> {
        let ids = self.eval(a)?.into_ids(self.cx, self.rows())?;
        let (components, _texts) = decode::map_terms(self.cx, &ids, |term| match term {
            TermRef::Triple(triple) => Some(component(triple)),
            _ => None,
        })?;
        let intern = |term: Option<Term>| term.map_or(Ok(ValueId::UNDEF), |term| self.cx.intern(&term));
        Ok(Column::Ids(components.into_iter().map(intern).collect::<Result<_, _>>()?))
    }
}

fn make_triple(subject: Option<Term>, predicate: Option<Term>, object: Option<Term>) -> Option<Triple> {
    let subject = match subject? {
        Term::NamedNode(node) => NamedOrBlankNode::NamedNode(node),
        Term::BlankNode(node) => NamedOrBlankNode::BlankNode(node),
        _ => return None,
    };
    let Term::NamedNode(predicate) = predicate? else { return None };
    Some(Triple { subject, predicate, object: object? })
}

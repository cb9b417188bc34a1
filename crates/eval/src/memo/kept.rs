//! Results that outlast a query: pages of functions that depend on nothing but the term.
//!
//! `xsd:float(xsd:string(?price))` is asked for by one query after the other. A term never changes, so neither does the result, as
//! long as its id stays the same. Expressions with constants are not kept: those of the next query are others.

use super::pages::Pages;
use crate::shape;
use lode_base::memory_budget::MemoryBudget;
use lode_scheduler::lock;
use lode_sparql::{Expr, VarId};
use std::sync::{Arc, Mutex};

/// Expressions whose results are kept.
const EXPRESSIONS_MAX: usize = 16;
/// With less memory nothing is kept: queries have more of their own.
const BYTES_MIN: usize = 64 << 10;

/// Kept results of one database, within a budget.
#[derive(Debug)]
pub struct KeptResults {
    budget: MemoryBudget,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    /// What ids mean ([`lode_store::Snapshot::terms_number`]).
    terms_number: u64,
    /// Those used last are last.
    expressions: Vec<(Expr, Arc<Pages>)>,
}

impl KeptResults {
    /// Keeps results as long as there is memory.
    pub fn new(budget: MemoryBudget) -> Self {
        Self { budget, kept: Mutex::default() }
    }

    /// The pages of a function of `var`, where ids mean what they do in `terms_number`; none where they cannot be kept.
    pub(super) fn pages(&self, expr: &Expr, var: VarId, terms_number: u64) -> Option<Arc<Pages>> {
        if self.budget.limit() < BYTES_MIN || !shape::depends_on_the_term_only(expr) {
            return None;
        }
        let mut expr = expr.clone();
        expr.rename(var, VarId(0));
        lock(&self.kept).pages(expr, terms_number, &self.budget)
    }
}

impl Kept {
    fn pages(&mut self, expr: Expr, terms_number: u64, budget: &MemoryBudget) -> Option<Arc<Pages>> {
        if terms_number < self.terms_number {
            return None;
        }
        if terms_number > self.terms_number {
            *self = Self { terms_number, expressions: Vec::new() };
        }
        let known = self.expressions.iter().position(|(known, _)| *known == expr);
        let entry = match known {
            Some(at) => self.expressions.remove(at),
            None => {
                self.make_room(budget);
                (expr, Pages::new(budget))
            }
        };
        let pages = Arc::clone(&entry.1);
        self.expressions.push(entry);
        Some(pages)
    }

    /// Gives up what was not used for longest, where there are too many or memory is short.
    fn make_room(&mut self, budget: &MemoryBudget) {
        while self.expressions.len() >= EXPRESSIONS_MAX
            || (budget.free() < budget.limit() / 4 && !self.expressions.is_empty())
        {
            self.expressions.remove(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::pages::page_of;
    use super::{EXPRESSIONS_MAX, KeptResults, MemoryBudget};
    use crate::functions::find;
    use lode_rdf::{Kind, Literal, ValueId};
    use lode_sparql::{Callee, Expr, VarId};
    use std::sync::Arc;

    fn id(number: u64) -> ValueId {
        ValueId::new(Kind::Iri, number)
    }

    fn callee(name: &str) -> Callee {
        Callee::new(name, find(name))
    }

    fn call(name: &str, var: u32) -> Expr {
        Expr::Call(callee(name), vec![Expr::Var(VarId(var))])
    }

    fn fill(kept: &KeptResults, expr: &Expr, result: u64) {
        let pages = kept.pages(expr, VarId(0), 1).unwrap();
        pages.fill(page_of(id(1)), &[id(1)], &[id(result)], &mut Arc::default());
    }

    #[test]
    fn a_variable_by_another_name_has_the_same_results() {
        let kept = KeptResults::new(MemoryBudget::new(1 << 20));
        fill(&kept, &call("STRLEN", 0), 7);
        let pages = kept.pages(&call("STRLEN", 5), VarId(5), 1).unwrap();
        assert_eq!(pages.view().get(id(1)), Some(id(7)));
        let others = kept.pages(&call("STR", 0), VarId(0), 1).unwrap();
        assert_eq!(others.view().get(id(1)), None);
    }

    #[test]
    fn results_are_for_the_ids_of_their_time() {
        let kept = KeptResults::new(MemoryBudget::new(1 << 20));
        fill(&kept, &call("STRLEN", 0), 7);
        let expr = call("STRLEN", 0);
        assert!(kept.pages(&expr, VarId(0), 0).is_none(), "a snapshot from before");
        assert_eq!(kept.pages(&expr, VarId(0), 2).unwrap().view().get(id(1)), None);
        assert_eq!(kept.budget.used(), 0);
        assert!(kept.pages(&expr, VarId(0), 1).is_none());
    }

    #[test]
    fn what_depends_on_more_than_the_term_is_not_kept() {
        let kept = KeptResults::new(MemoryBudget::new(1 << 20));
        let constant = Expr::Const(Literal::from("a").into());
        let contains = Expr::Call(callee("CONTAINS"), vec![call("STR", 0), constant]);
        let now = Expr::Equal(Box::new(Expr::Call(callee("NOW"), vec![])), Box::new(call("STR", 0)));
        for expr in [contains, now, call("IRI", 0), call("BNODE", 0)] {
            assert!(kept.pages(&expr, VarId(0), 1).is_none(), "{expr:?}");
        }
    }

    #[test]
    fn memory_is_bounded() {
        let kept = KeptResults::new(MemoryBudget::new(64 << 10));
        let mut expr = call("STRLEN", 0);
        for n in 0..2 * EXPRESSIONS_MAX as u64 {
            fill(&kept, &expr, n);
            assert!(kept.budget.used() <= 64 << 10);
            assert_eq!(kept.pages(&expr, VarId(0), 1).unwrap().view().get(id(1)), Some(id(n)), "{n}");
            expr = Expr::Call(callee("ABS"), vec![expr]);
        }
    }
}

//! `CONTAINS(?text, "...")` and other conditions on the objects of a pattern that ask for strings, where there is an index of words: the texts that may have them are looked up when
//! the query is planned.
//!
//! As with words ([`super::texts`]) few of them are rows that are joined and many a set; the condition itself stays. All is as before: objects of patterns are terms of the data, and
//! a string that the index does not tell has not what is asked for. What is no string is an error of the condition, which drops the row, unless its text is asked for: then all objects
//! of the pattern have to be strings.

use super::candidates::{self, Candidates, Indexed};
use super::texts::{least_rows, objects, total};
use crate::expr::Expr;
use crate::logical::{Logical, QuadPattern};
use crate::plan::{Slot, VarId};
use crate::statistics::Statistics;
use crate::text_condition::{TextCondition, TextTest};
use lode_packed::Order;
use lode_rdf::{Kind, ValueId};

/// So many texts are read in less time than it takes to look for words.
const ROWS_MIN: f64 = 4096.0;

/// Looks up what conditions of joins and single patterns ask for.
pub(super) fn look_up(logical: Logical, stats: &dyn Statistics) -> Logical {
    candidates::look_up(logical, &Parts(stats))
}

struct Parts<'a>(&'a dyn Statistics);

impl Indexed for Parts<'_> {
    fn is_one(&self, condition: &Expr) -> bool {
        TextCondition::of(condition).is_some()
    }

    fn find(&self, conditions: &[Expr], members: &[Logical]) -> Vec<Candidates> {
        // All that is asked of one text is looked up at once.
        let mut asked: Vec<(VarId, Vec<TextCondition<'_>>)> = Vec::new();
        for (var, condition) in conditions.iter().filter_map(TextCondition::of) {
            match asked.iter_mut().find(|(other, _)| *other == var) {
                Some((_, own)) => own.push(condition),
                None => asked.push((var, vec![condition])),
            }
        }
        asked.into_iter().filter_map(|(var, own)| self.candidates(var, own, members)).collect()
    }
}

impl Parts<'_> {
    /// The objects that may pass conditions.
    fn candidates(
        &self,
        var: VarId,
        mut conditions: Vec<TextCondition<'_>>,
        members: &[Logical],
    ) -> Option<Candidates> {
        let pattern = members.iter().find_map(|member| objects(member, var))?;
        let (total, least) = (total(pattern, self.0), least_rows(members, self.0));
        let rows = total.min(least);
        if rows < ROWS_MIN {
            return None;
        }
        if conditions.iter().any(|condition| condition.of_any_term) && !has_texts_only(pattern, self.0) {
            conditions.retain(|condition| !condition.of_any_term);
        }
        let mut tests: Vec<TextTest<'_>> = conditions.into_iter().map(|condition| condition.test).collect();
        let test = match tests.len() {
            0 => return None,
            1 => tests.pop()?,
            _ => TextTest::All(tests),
        };
        let list = self.0.texts_with(&test, pattern.text_scope(), rows)?;
        Some(Candidates { var, total, least, list })
    }
}

/// Whether all objects of a pattern are strings, with a language or without.
fn has_texts_only(pattern: &QuadPattern, stats: &dyn Statistics) -> bool {
    let Slot::Const(predicate) = pattern.predicate else { return false };
    let texts = [Kind::String, Kind::LangString].map(|kind| {
        let first = ValueId::new(kind, 0);
        let end = ValueId::from_bits((u64::from(first.kind_byte()) + 1) << lode_rdf::value_id::PAYLOAD_BITS);
        stats.count_between(Order::Posg, &[predicate], &(first..end))
    });
    texts.iter().sum::<u64>() == stats.count(Order::Posg, &[predicate])
}

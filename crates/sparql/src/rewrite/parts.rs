//! `CONTAINS(?text, "...")` and other conditions on the objects of a pattern that ask for strings, where there is an index of words: the texts that may have them are looked up when
//! the query is planned.
//!
//! As with words ([`super::texts`]) few of them are rows that are joined and many a set; the condition itself stays. All is as before: objects of patterns are terms of the data, and
//! a string that the index does not tell has not what is asked for. What is no string is an error of the condition, which drops the row, unless its text is asked for: then all objects
//! of the pattern have to be strings.

use super::places::set_of;
use super::texts::{among, begins, least_rows, objects, total};
use crate::expr::Expr;
use crate::logical::{Logical, LogicalOp as Op, QuadPattern};
use crate::plan::Slot;
use crate::statistics::Statistics;
use crate::text_condition::TextCondition;
use lode_packed::Order;
use lode_rdf::{Kind, ValueId};

/// So many texts are read in less time than it takes to look for words.
const ROWS_MIN: f64 = 4096.0;

/// Looks up what conditions of joins and single patterns ask for.
pub(super) fn look_up(logical: Logical, stats: &dyn Statistics) -> Logical {
    let logical = logical.map_inputs(&mut |input| look_up(input, stats));
    match logical.op {
        Op::Join { members, filters } => narrowed(members, filters, stats),
        Op::Filter { input, exprs } if matches!(input.op, Op::Scan(_)) => {
            if exprs.iter().any(|expr| TextCondition::of(expr).is_some()) {
                narrowed(vec![*input], exprs, stats)
            } else {
                Logical::filter(*input, exprs)
            }
        }
        op => Logical { op, ..logical },
    }
}

/// The join of these, with the texts that may pass before each condition that asks for strings.
fn narrowed(mut members: Vec<Logical>, filters: Vec<Expr>, stats: &dyn Statistics) -> Logical {
    let mut kept = Vec::with_capacity(filters.len());
    for filter in filters {
        let found = TextCondition::of(&filter).and_then(|(var, condition)| {
            let pattern = members.iter().find_map(|member| objects(member, var))?;
            let (total, least) = (total(pattern, stats), least_rows(&members, stats));
            let rows = total.min(least);
            let is_worth_it = rows >= ROWS_MIN && (!condition.of_any_term || has_texts_only(pattern, stats));
            let list = is_worth_it.then(|| stats.texts_with(&condition.test, rows))??;
            Some((var, total, least, list))
        });
        if let Some((var, total, least, list)) = found {
            match begins(list.ids.len(), total, least) {
                true => members.push(Logical::ids(var, list)),
                false => kept.push(among(var, set_of(list), total)),
            }
        }
        kept.push(filter);
    }
    Logical::join(members, kept)
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

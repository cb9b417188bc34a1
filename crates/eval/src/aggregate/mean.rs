//! AVG: the quotient of a sum and of the number of values.

use super::count::COUNT_ROWS;
use super::state::Kernel;
use super::sum::{SUM, SUM_OF_COUNTS, Totals};
use lode_sparql::AggregateFunction;
use lode_sparql::aggregate::InParts;
use lode_sparql::function::ValueType;

/// `AVG`.
pub static AVG: AggregateFunction = AggregateFunction::new(
    "AVG",
    ValueType::Number,
    ValueType::Number,
    &Kernel(|_| Totals::of(Totals::average)),
)
.of_a_set()
.in_parts(InParts::Mean { sum: &SUM, rows: &COUNT_ROWS, all_rows: &SUM_OF_COUNTS });
